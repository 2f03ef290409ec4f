# Two TCP flows and a UDP flow over a bottleneck, traced to all.tr; then prints the counters of
# ns-2's own monitors and agents. One flow has random losses on its last link, and delayed ACKs.
set ns [new Simulator]
set trace [open all.tr w]
$ns trace-all $trace
ns-random 7

set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right 10Mb 20ms DropTail
$ns queue-limit $left $right 50
set queue_monitor [$ns monitor-queue $left $right ""]
set delays [new Samples]
$queue_monitor set-delay-samples $delays
set flow_monitor [$ns makeflowmon Fid]
$ns attach-fmon [$ns link $left $right] $flow_monitor

for {set i 0} {$i < 3} {incr i} {
    set sender($i) [$ns node]
    set receiver($i) [$ns node]
    $ns duplex-link $sender($i) $left 100Mb [expr {1 + $i}]ms DropTail
    $ns duplex-link $right $receiver($i) 100Mb 1ms DropTail
}

foreach {i agent kind} {0 TCP/Sack1 TCPSink/Sack1/DelAck 1 TCP/Newreno TCPSink} {
    set tcp($i) [new Agent/$agent]
    set sink($i) [new Agent/$kind]
    $tcp($i) set fid_ [expr {$i + 1}]
    $tcp($i) set window_ 500
    $tcp($i) set packetSize_ 1000
    $ns attach-agent $sender($i) $tcp($i)
    $ns attach-agent $receiver($i) $sink($i)
    $ns connect $tcp($i) $sink($i)
    $ns at [expr {0.1 + $i}] "[$tcp($i) attach-app FTP] start"
}
set errors [new ErrorModel]
$errors set rate_ 0.01
$errors ranvar [new RandomVariable/Uniform]
$ns link-lossmodel $errors $right $receiver(0)

set udp [new Agent/UDP]
set losses [new Agent/LossMonitor]
$udp set fid_ 3
$ns attach-agent $sender(2) $udp
$ns attach-agent $receiver(2) $losses
$ns connect $udp $losses
set cbr [new Application/Traffic/CBR]
$cbr set packetSize_ 500
$cbr set rate_ 1Mb
$cbr attach-agent $udp
$ns at 0.5 "$cbr start"

$ns at 8 {
    foreach i {0 1} {
        foreach counter {ndatapack_ ndatabytes_ nrexmitpack_ nrexmitbytes_} {
            puts "tcp$i.$counter [$tcp($i) set $counter]"
        }
        puts "sink$i.bytes_ [$sink($i) set bytes_]"
    }
    puts "losses.bytes_ [$losses set bytes_]"
    puts "losses.npkts_ [$losses set npkts_]"
    foreach counter {parrivals_ barrivals_ pdepartures_ bdepartures_ pdrops_ bdrops_ pkts_} {
        puts "queue.$counter [$queue_monitor set $counter]"
    }
    puts "queue.delay_s [$delays mean]"
    set integral [$queue_monitor get-pkts-integrator]
    puts "queue.area [expr {[$integral set sum_]
        + [$queue_monitor set pkts_] * (8 - [$integral set lastx_])}]"
    foreach flow [$flow_monitor flows] {
        foreach counter {parrivals_ barrivals_ pdrops_ bdrops_ bdepartures_} {
            puts "flow[$flow set flowid_].$counter [$flow set $counter]"
        }
    }
    close $trace
    exit 0
}
$ns run
