# Streams over idle links that messages change, in the middle of a packet's arrival.
#
# Argument: keep_routes_ of Scheduler/Lanes.
#
# from -- router(0) -- router(1) -- to, and a link of their own for messages. What a script does in
# an `at` event happens after all queues have been brought up to date; a message arrives without
# that, and kept routes stay. Each message prints what has arrived, and makes the next change.
catch {Scheduler/Lanes set keep_routes_ [lindex $argv 0]} ;# not in every ns-2
set ns [new Simulator]
foreach name {from to caller called} {set $name [$ns node]}
foreach i {0 1} {set router($i) [$ns node]}
$ns duplex-link $from $router(0) 10Mb 1ms DropTail
$ns duplex-link $router(0) $router(1) 10Mb 3ms DropTail
$ns duplex-link $router(1) $to 10Mb 1ms DropTail
$ns duplex-link $caller $called 10Mb 7ms DropTail
foreach {bytes interval} {500 0.0013 200 0.0047} {
    set udp [new Agent/UDP]
    $ns attach-agent $from $udp
    set sink [new Agent/LossMonitor]
    $ns attach-agent $to $sink
    $ns connect $udp $sink
    lappend sinks $sink
    set cbr [new Application/Traffic/CBR]
    $cbr set packetSize_ $bytes
    $cbr set interval_ $interval
    $cbr attach-agent $udp
    $ns at 0.02 "$cbr start"
}

set queue [[$ns link $router(0) $router(1)] queue]
set link [[$ns link $router(0) $router(1)] link]
set entry [$router(0) entry]
set changes {
    {$queue set limit_ 1} {$queue set limit_ 20}
    {$queue set mean_pktsize_ 15; $queue set queue_in_bytes_ true} {$queue set queue_in_bytes_ false}
    {$queue set summarystats_ true} {$queue printstats; $queue set summarystats_ false}
    {$link set bandwidth_ 2Mb} {$link set bandwidth_ 10Mb}
    {$link set delay_ 9ms} {$link set delay_ 1ms} {$link set delay_ 6ms}
    {$link set avoidReordering_ true; $link set delay_ 1ms} {$link set avoidReordering_ false}
    {$entry set mask_ 0} {$entry set mask_ -1} {$entry set shift_ 4} {$entry set shift_ 0}
    {[$router(1) entry] set mask_ 0} {[$router(1) entry] set mask_ -1}
}
set sender [new Agent/Message]
set receiver [new Agent/Message]
$ns attach-agent $caller $sender
$ns attach-agent $called $receiver
$ns connect $sender $receiver
proc show {} {
    global ns sinks
    set states {}
    foreach sink $sinks {
        lappend states [$sink set bytes_] [$sink set nlost_] [$sink set lastPktTime_]
    }
    puts "[$ns now] $states"
}
$receiver proc recv {message} {
    global changes
    show
    uplevel #0 [lindex $changes $message]
}
for {set i 0} {$i < [llength $changes]} {incr i} {
    $ns at [expr {0.05 + 0.0311 * $i}] "$sender send $i"
}
$ns at 0.7 {
    show
    set id [$ns at 100 {}]
    puts $id
    exit 0
}
$ns run
