# Two flows of any two protocols (Appendix H): RTT 100 ms, buffer of 1,555 packets; the other queue
# lengths that section 6.2 speaks of are had by a further argument.
#
# Arguments: endtime (s) flow1_type flow2_type FASTalpha (packets) flow2_start (s) run DATADIR
#            ?Qbuff (packets)?
source [file join [file dirname [info script]] .. lib bdpbench.tcl]

::args::read [concat [two_flows_args] {{Qbuff count packets 1555}}]
run_two_flows 48 $Qbuff {1 1}
