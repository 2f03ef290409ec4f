# Sends 600 packets of 10 MB over a fast link, as many over TCP, and as many to a link that drops
# them: 6e9 bytes each, more than 2^32. Then prints all byte counters.

set PACKETS 600
set BYTES 10000000

set ns [new Simulator]
foreach node {sender router receiver} {set $node [$ns node]}
$ns duplex-link $sender $router 10000Gb 1ms DropTail
$ns duplex-link $router $receiver 10000Gb 1ms DropTail
$ns queue-limit $sender $router 1000
$ns queue-limit $router $receiver 1000

set queue_monitor [$ns monitor-queue $sender $router ""]
set flow_monitor [$ns makeflowmon Fid]
$ns attach-fmon [$ns link $router $receiver] $flow_monitor

# Bytes that UDP delivers to a LossMonitor.
set udp [new Agent/UDP]
$udp set packetSize_ $BYTES
$udp set fid_ 7
set loss_monitor [new Agent/LossMonitor]
$ns attach-agent $sender $udp
$ns attach-agent $receiver $loss_monitor
$ns connect $udp $loss_monitor
$ns at 0.1 {for {set i 0} {$i < $PACKETS} {incr i} {$udp send $BYTES}}

# Bytes that TCP sends and its sink receives, over separate links.
set tcp_sender [$ns node]
set tcp_receiver [$ns node]
$ns duplex-link $tcp_sender $tcp_receiver 10000Gb 1ms DropTail
set tcp [$ns create-connection TCP/Sack1 $tcp_sender TCPSink/Sack1 $tcp_receiver 8]
$tcp set packetSize_ $BYTES
$tcp set window_ 20
$tcp trace ndatabytes_
$tcp attach [open tcp.trace w]
set sink [$tcp_receiver agent [$tcp set dst_port_]]
$ns at 0.1 {$tcp advance $PACKETS}

# Bytes dropped: a DropTail queue of one packet counts the arriving one, so it has no room for any.
set dead_end [$ns node]
$ns duplex-link $sender $dead_end 1Mb 1ms DropTail
$ns queue-limit $sender $dead_end 1
set drop_monitor [$ns makeflowmon Fid]
$ns attach-fmon [$ns link $sender $dead_end] $drop_monitor
set lost [new Agent/UDP]
$lost set packetSize_ $BYTES
$lost set fid_ 9
set null [new Agent/Null]
$ns attach-agent $sender $lost
$ns attach-agent $dead_end $null
$ns connect $lost $null
$ns at 0.1 {for {set i 0} {$i < $PACKETS} {incr i} {$lost send $BYTES}}

proc report {name value} {puts "$name $value"}

$ns at 10 {
    set flow [[$flow_monitor classifier] lookup auto 0 0 7]
    set lost_flow [[$drop_monitor classifier] lookup auto 0 0 9]
    report queue_arrivals [$queue_monitor set barrivals_]
    report queue_departures [$queue_monitor set bdepartures_]
    report link_departures [$flow_monitor set bdepartures_]
    report flow_arrivals [$flow set barrivals_]
    report flow_departures [$flow set bdepartures_]
    report flow_departures_as_double [ns-int64todbl [$flow set bdepartures_]]
    report link_drops [$drop_monitor set bdrops_]
    report flow_drops [$lost_flow set bdrops_]
    report loss_monitor [$loss_monitor set bytes_]
    report tcp_sent [$tcp set ndatabytes_]
    report sink [$sink set bytes_]
    $queue_monitor set bdepartures_ 0
    report after_reset [$queue_monitor set bdepartures_]
    $drop_monitor attach [open flows.txt w]
    $drop_monitor dump
    exit 0
}
$ns run
