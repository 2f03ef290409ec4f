# Standard TCP where the BDP is large (Appendix B, Figure 3): 622 Mbit/s, RTT 104 ms, buffer of
# 7,775 packets, packets traced (a full link writes 24 MB of trace a simulated second).
#
# Arguments: hstcp_type ?endtime (s)? ?DATADIR?; 150 s and a directory named like the protocol.
source [file join [file dirname [info script]] .. lib bdpbench.tcl]

::args::read [standard_tcp_args 150]
run_standard_tcp 622
