# HighSpeed TCP over 10 Gbit/s with an RTT of 94 ms and a buffer of a fifth of the BDP, without monitors.
# Arguments: flows, seconds.
lassign $argv flows seconds
set ns [new Simulator]
set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right 10Gb 45ms DropTail
$ns queue-limit $left $right 23500
for {set i 0} {$i < $flows} {incr i} {
    set from [$ns node]
    set to [$ns node]
    $ns duplex-link $from $left 10Gb 1ms DropTail
    $ns queue-limit $from $left 200000
    $ns duplex-link $right $to 10Gb 1ms DropTail
    set agent($i) [$ns create-connection TCP/Sack1 $from TCPSink/Sack1 $to $i]
    foreach {name value} {windowOption_ 8 window_ 200000 packetSize_ 960} {
        $agent($i) set $name $value
    }
    $ns at [expr {0.1 * $i}] "[$agent($i) attach-app FTP] start"
}
$ns at $seconds {
    for {set i 0} {$i < $flows} {incr i} {
        puts "$i [$agent($i) set ndatapack_] [$agent($i) set nrexmitpack_] [$agent($i) set cwnd_]"
    }
    exit 0
}
$ns run
