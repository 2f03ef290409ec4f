# A small network whose packets are traced, for tests of the trace's channel.
#
# Arguments: none. The text of a test follows the text of this file: it opens the trace, calls
# topology and traffic, and ends. Two hosts send to a third over a RED queue that marks and drops.
set ns [new Simulator]
Queue/RED set bytes_ false
Queue/RED set setbit_ true
Queue/RED set thresh_ 1
Queue/RED set maxthresh_ 8
Queue/RED set q_weight_ 0.2

proc topology {{queue RED}} {
    global ns node
    foreach i {0 1 2 3} {
        set node($i) [$ns node]
    }
    $ns duplex-link $node(0) $node(2) 10Mb 1.234567ms DropTail
    $ns duplex-link $node(1) $node(2) 10Mb 0.3ms DropTail
    $ns duplex-link $node(2) $node(3) 2Mb 7ms $queue
    $ns queue-limit $node(2) $node(3) 10
}

# Marked TCP packets, a UDP stream with a priority, and bursts that overflow the queue.
proc traffic {{start 0.0}} {
    global ns node udp
    set tcp [$ns create-connection TCP/Sack1 $node(0) TCPSink/Sack1 $node(3) 1]
    $tcp set ecn_ 1
    $tcp set window_ 60
    set ftp [$tcp attach-app FTP]
    $ns at [expr {$start + 0.1}] "$ftp start"
    set udp [new Agent/UDP]
    $udp set fid_ -7
    $ns attach-agent $node(1) $udp
    set sink [new Agent/Null]
    $ns attach-agent $node(3) $sink
    $ns connect $udp $sink
    foreach at {0.00001 0.2 0.4 0.9} {
        $ns at [expr {$start + $at}] "foreach i {1 2 3 4 5 6} {$udp send 600}"
    }
}
