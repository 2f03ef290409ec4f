# Packets over many links at once, traced to links.tr, to compare schedulers.
#
# Arguments: scheduler (Lanes, Calendar, ...) reserve_resume (true or false)
#
# Eight routers form a ring, each with a host. Every host sends to the next three routers' hosts, so
# that packets meet on links that are sometimes idle and sometimes busy, some at exactly the same
# time: all links are equal, and so are the senders of each kind. Two links change their delay and
# bandwidth while packets are in flight, so that later packets overtake earlier ones; another link
# fails.
lassign $argv scheduler reserve_resume
set ns [new Simulator]
$ns use-scheduler $scheduler
catch {Queue/DropTail set reserve_resume_ $reserve_resume} ;# not in every ns-2

set trace [open links.tr w]
$ns trace-all $trace

set count 8
for {set i 0} {$i < $count} {incr i} {
    set router($i) [$ns node]
    set host($i) [$ns node]
    $ns duplex-link $host($i) $router($i) 10Mb 2ms DropTail
}
for {set i 0} {$i < $count} {incr i} {
    set next [expr {($i + 1) % $count}]
    $ns duplex-link $router($i) $router($next) 4Mb 20ms DropTail
    $ns queue-limit $router($i) $router($next) 6
}

# A stream of packets with the given bytes and interval in s.
proc stream {from to bytes interval} {
    global ns
    set udp [new Agent/UDP]
    $ns attach-agent $from $udp
    set sink [new Agent/Null]
    $ns attach-agent $to $sink
    $ns connect $udp $sink
    set cbr [new Application/Traffic/CBR]
    $cbr set packetSize_ $bytes
    $cbr set interval_ $interval
    $cbr attach-agent $udp
    $ns at 0.01 "$cbr start"
    $ns at 1.5 "$cbr stop"
}
for {set i 0} {$i < $count} {incr i} {
    stream $host($i) $host([expr {($i + 1) % $count}]) 500 0.004
    stream $host($i) $host([expr {($i + 2) % $count}]) 1000 0.011
    stream $host($i) $host([expr {($i + 3) % $count}]) 200 0.003
}
# What a transfer does after its end is also part of the order.
set tcp [$ns create-connection TCP/Sack1 $host(0) TCPSink/Sack1 $host(2) 9]
set ftp [$tcp attach-app FTP]
$ns at 0.2 "$ftp produce 200"

proc change {from to attribute value} {
    global ns
    [[$ns link $from $to] link] set $attribute $value
}
$ns at 0.5 {change $router(0) $router(1) delay_ 5ms}
$ns at 0.8 {change $router(0) $router(1) delay_ 40ms}
$ns at 0.9 {change $router(1) $router(2) bandwidth_ 40Mb}
$ns at 1.1 {change $router(0) $router(1) delay_ 1ms}
$ns rtmodel-at 1.2 down $router(3) $router(4)
$ns rtmodel-at 1.3 up $router(3) $router(4)

# The state of all queues, read while everything is going on.
proc sample {} {
    global ns router count
    set states {}
    for {set i 0} {$i < $count} {incr i} {
        set queue [[$ns link $router($i) $router([expr {($i + 1) % $count}])] queue]
        lappend states [$queue set blocked_]
    }
    puts "[$ns now] $states"
    $ns at [expr {[$ns now] + 0.0017}] sample
}
$ns at 0.01 sample
$ns at 2.5 {close $trace; exit 0}
$ns run
