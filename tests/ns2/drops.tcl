# Queues that overflow, and receivers of what remains, traced to drops.tr.
#
# Two senders of each kind share a slow link. Its RED queue first drops the packet that came last,
# later a random one, and finally the first one; its limit changes while packets wait in it. The
# link's delay changes as well, so that packets overtake others, and sinks report duplicates.
set ns [new Simulator]
Trace set show_tcphdr_ 1
set trace [open drops.tr w]
$ns trace-all $trace
foreach {name value} {thresh_ 5 maxthresh_ 15 gentle_ 0 use_mark_p_ 0 q_weight_ 0.3 bytes_ false
        queue_in_bytes_ false} {
    Queue/RED set $name $value
}
Agent/TCP set window_ 400
set near [$ns node]
set far [$ns node]
$ns duplex-link $near $far 5Mb 20ms RED
$ns queue-limit $near $far 20
set queue [[$ns link $near $far] queue]
set fid 0
foreach {kind sink} {TCP/Sack1 TCPSink/Sack1 TCP/Linux TCPSink/Sack1 TCP/Reno TCPSink
        TCP/Linux TCPSink/Sack1/DelAck} {
    foreach start {0 0.7} {
        set from [$ns node]
        set to [$ns node]
        $ns duplex-link $from $near 100Mb 1ms DropTail
        $ns duplex-link $far $to 100Mb 1ms DropTail
        set tcp [new Agent/$kind]
        set end [new Agent/$sink]
        $tcp set fid_ [incr fid]
        $end set generateDSacks_ [expr {$start > 0}]
        $end set maxSackBlocks_ [expr {2 + $fid % 2}]
        $ns attach-agent $from $tcp
        $ns attach-agent $to $end
        $ns connect $tcp $end
        $ns at $start "[$tcp attach-app FTP] start"
    }
}
$ns at 2 {$queue set limit_ 3}
$ns at 2.5 {$queue set limit_ 60; $queue set thresh_ 200; $queue set maxthresh_ 300}
$ns at 3 {$queue set drop_tail_ false; $queue set drop_rand_ true}
$ns at 3.5 {$queue set drop_rand_ false; $queue set drop_front_ true; $queue set limit_ 1}
$ns at 4 {$queue set drop_front_ false; $queue set drop_tail_ true; $queue set limit_ 2}
$ns at 4.2 {$queue set limit_ 40; [[$ns link $near $far] link] set delay_ 60ms}
$ns at 5 {[[$ns link $near $far] link] set delay_ 5ms}
$ns at 5.5 {[[$ns link $far $near] link] set delay_ 90ms}
$ns at 6 {[[$ns link $far $near] link] set delay_ 10ms}
$ns at 8 {close $trace; exit 0}
$ns run
