# One bottleneck in ns-2, with bulk flows of a class: what path.cc simulates in ns-3.
#
# Arguments: mbps rtt_ms buffer_pkts flows duration_s mark_pkts class, then names and values of
# the class's variables. mark_pkts is the queue from which packets are marked; 0: no ECN. The last two
# thirds of the duration are measured.

lassign $argv mbps rtt_ms buffer_pkts flows duration_s mark_pkts class
set ns [new Simulator]
set a [$ns node]
set b [$ns node]
set kind DropTail
if {$mark_pkts > 0} {
    set kind RED
    foreach {name value} {
        gentle_ true linterm_ 1 q_weight_ 1 mark_p_ 2 setbit_ true mean_pktsize_ 1000 bytes_ false
        queue_in_bytes_ false
    } {
        Queue/RED set $name $value
    }
    Queue/RED set thresh_ $mark_pkts
    Queue/RED set maxthresh_ [expr {$mark_pkts + 0.001}]
}
$ns duplex-link $a $b ${mbps}Mb [expr {$rtt_ms / 2.0}]ms $kind
$ns queue-limit $a $b $buffer_pkts
set monitor [$ns monitor-queue $a $b ""]
set warm_up_s [expr {$duration_s / 3.0}]
for {set i 0} {$i < $flows} {incr i} {
    set host [$ns node]
    $ns duplex-link $host $a [expr {10 * $mbps}]Mb 0.01ms DropTail
    $ns queue-limit $host $a 1000000
    set tcp($i) [new Agent/$class]
    $tcp($i) set window_ 1000000
    $tcp($i) set packetSize_ 960
    $tcp($i) set windowInit_ 10
    $tcp($i) set ecn_ [expr {$mark_pkts > 0}]
    foreach {name value} [lrange $argv 7 end] {
        $tcp($i) set $name $value
    }
    set sink($i) [new Agent/TCPSink/Sack1]
    $ns attach-agent $host $tcp($i)
    $ns attach-agent $b $sink($i)
    $ns connect $tcp($i) $sink($i)
    set ftp($i) [new Application/FTP]
    $ftp($i) attach-agent $tcp($i)
    $ns at $i "$ftp($i) start"
    set written($i) [open cwnd.$i w]
    $tcp($i) attach $written($i)
    $tcp($i) trace cwnd_
}
set sum 0.0
set samples 0
proc sample {} {
    global ns monitor sum samples
    set sum [expr {$sum + [$monitor set pkts_]}]
    incr samples
    $ns at [expr {[$ns now] + 0.001}] sample
}
$ns at $warm_up_s {
    sample
    for {set i 0} {$i < $flows} {incr i} {set before($i) [$tcp($i) set ack_]}
}
$ns at $duration_s {
    for {set i 0} {$i < $flows} {incr i} {
        close $written($i)
        set pkts [expr {[$tcp($i) set ack_] - $before($i)}]
        puts "goodput_mbps $i [expr {$pkts * 960 * 8e-6 / ($duration_s - $warm_up_s)}]"
    }
    puts "queue_pkts 0 [expr {$sum / $samples}]"
    exit 0
}
$ns run
