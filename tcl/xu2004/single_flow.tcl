# One flow over a bottleneck with a two-way delay of 25 ms (chapter 3).
#
# Arguments: endtime (s) protocol mbps (Mbit/s, the bottleneck's) buffer (packets) DATADIR
source [file join [file dirname [info script]] .. lib bdpbench.tcl]

::args::read [list {endtime positive s} [list protocol [::xu2004::protocol_type] ""] \
    {mbps positive Mbit/s} {buffer count packets} {DATADIR directory ""}]
new_simulator 1
::xu2004::set_defaults
make_bottleneck $mbps 12.5 $buffer
lassign [::xu2004::host_pair 0] sender receiver
set agent [::xu2004::connect $protocol $sender $receiver 0]
::xu2004::record_bottleneck $DATADIR
::xu2004::record_sender $agent "" $DATADIR
::xu2004::run $agent 0
