# Standard TCP where the BDP is small (Appendix A, Figure 2): 5 Mbit/s, RTT 104 ms, buffer of 62
# packets, packets traced.
#
# Arguments: hstcp_type ?endtime (s)? ?DATADIR?; 50 s and a directory named like the protocol.
source [file join [file dirname [info script]] .. lib bdpbench.tcl]

::args::read [standard_tcp_args 50]
run_standard_tcp 5
