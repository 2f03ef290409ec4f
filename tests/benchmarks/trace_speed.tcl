# Four TCP flows over a bottleneck of 40 Mbit/s, every link traced: about 84,000 lines per second.
# Arguments: the trace file to write; simulated time, s.
lassign $argv path duration_s

set ns [new Simulator]
set out [open $path w]
$ns trace-all $out
set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right 40Mb 20ms DropTail
$ns queue-limit $left $right 100
for {set i 0} {$i < 4} {incr i} {
    set from [$ns node]
    set to [$ns node]
    $ns duplex-link $from $left 100Mb 2ms DropTail
    $ns duplex-link $right $to 100Mb [expr {2 + 3 * $i}]ms DropTail
    set tcp [new Agent/TCP/Sack1]
    set sink [new Agent/TCPSink/Sack1]
    $tcp set fid_ [expr {$i + 1}]
    $tcp set packetSize_ 1000
    $tcp set window_ 1000
    $ns attach-agent $from $tcp
    $ns attach-agent $to $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at [expr {0.1 * $i}] "$ftp start"
}
$ns at $duration_s {
    $ns flush-trace
    close $out
    exit 0
}
$ns run
