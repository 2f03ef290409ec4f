# Two flows with different RTTs (Appendix G): the bottleneck has 6 ms and a buffer of 2,519
# packets, 20 % of the BDP at 162 ms. One flow has an RTT of RTTdiff + 14 ms, the other 162 ms.
#
# Arguments: endtime (s) flow1_type flow2_type FASTalpha (packets) flow2_start (s) run DATADIR
#            RTTdiff (ms) which (0: the first flow has RTTdiff, 1: the second)
source [file join [file dirname [info script]] .. lib bdpbench.tcl]

::args::read [concat [two_flows_args] {{RTTdiff nonnegative ms} {which bit ""}}]
# Half of RTTdiff is the sender's access delay. The appendix rounds it down to whole ms, which
# none of its RTTdiffs, all even, shows.
set delays_ms {74 74}
lset delays_ms $which [expr {$RTTdiff / 2.0}]
run_two_flows 6 2519 $delays_ms
