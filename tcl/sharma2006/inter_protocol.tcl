# Two flows of any two protocols (Appendix H): RTT 100 ms, buffer of 1,555 packets.
#
# Arguments: endtime (s) flow1_type flow2_type FASTalpha (packets) flow2_start (s) run DATADIR
source [file join [file dirname [info script]] .. lib bdpbench.tcl]

::args::read [two_flows_args]
run_two_flows 48 1555 {1 1}
