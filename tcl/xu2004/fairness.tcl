# Two flows of one protocol over a bottleneck of 10 Mbit/s (section 4.3): the first has an RTT of
# 25 ms, the second one of factor times 25 ms, by the delay of its sender's link.
#
# Arguments: endtime (s) protocol factor (of the RTTs, 1 or more) buffer (packets)
#            run (substream of the random numbers) DATADIR
source [file join [file dirname [info script]] .. lib bdpbench.tcl]

::args::read [list {endtime positive s} [list protocol [::xu2004::protocol_type] ""] \
    {factor positive ""} {buffer count packets} {run {count 1000000} ""} {DATADIR directory ""}]
if {$factor < 1} {
    ::args::fail "factor is '$factor', expected 1 or more"
}
new_simulator $run
::xu2004::set_defaults
# Without any randomness one flow's packets meet a full queue again and again and the other's never
# (phase effects, Floyd and Jacobson 1992). So a packet leaves its sender up to the time that a
# packet takes at the bottleneck later, 1,040 bytes at 10 Mbit/s.
Agent/TCP set overhead_ 0.000832
make_bottleneck 10 12.5 $buffer
set fmon [$ns makeflowmon Fid]
$ns attach-fmon [$ns link $n1 $n2] $fmon
set agents {}
foreach fid {0 1} rtt_ms [list 25 [expr {25.0 * $factor}]] {
    lassign [::xu2004::host_pair [expr {($rtt_ms - 25) / 2}]] sender receiver
    set agent [::xu2004::connect $protocol $sender $receiver $fid]
    ::xu2004::record_sender $agent $fid $DATADIR
    set tput_hs($fid) [open $DATADIR/throughput$fid.out w]
    set lastKBytes($fid) 0
    print-th-one $fid $fmon 1
    lappend agents $agent
}
::xu2004::record_bottleneck $DATADIR
::xu2004::run $agents 0
