# One flow as in single_flow.tcl, with every packet of its first seconds traced on all links:
# pckts.trq, which a run with `trace: stream` reduces as it is written.
#
# Arguments: endtime (s) protocol mbps (Mbit/s, the bottleneck's) buffer (packets) DATADIR
source [file join [file dirname [info script]] .. lib bdpbench.tcl]

::args::read [::xu2004::single_flow_args]
new_simulator 1
$ns trace-all [open $DATADIR/pckts.trq w]
::xu2004::run_single_flow
