# One flow over a bottleneck with a two-way delay of 25 ms (chapter 3).
#
# Arguments: endtime (s) protocol mbps (Mbit/s, the bottleneck's) buffer (packets) DATADIR
source [file join [file dirname [info script]] .. lib bdpbench.tcl]

::args::read [::xu2004::single_flow_args]
new_simulator 1
::xu2004::run_single_flow
