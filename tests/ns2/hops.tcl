# Packets over untraced links with every kind of queue, while a script changes what is on their way.
#
# host(0), host(1) -- router(0) -- router(1) -- router(2) -- host(2), host(3), and streams that
# cross. States and counters are written every 3.7 ms, which reveals packets that take another path
# or arrive at another time.
set ns [new Simulator]
set links {}

proc join {a b mbps ms queue {limit 50}} {
    global ns links
    $ns duplex-link $a $b ${mbps}Mb ${ms}ms $queue
    $ns queue-limit $a $b $limit
    $ns queue-limit $b $a $limit
    lappend links [$ns link $a $b] [$ns link $b $a]
}

for {set i 0} {$i < 3} {incr i} {set router($i) [$ns node]}
for {set i 0} {$i < 4} {incr i} {set host($i) [$ns node]}
join $host(0) $router(0) 10 1 DropTail
join $host(1) $router(0) 10 2 DropTail
join $router(0) $router(1) 3 10 DropTail 8
join $router(1) $router(2) 2 5 RED 12
join $host(2) $router(2) 10 1 DropTail
join $host(3) $router(2) 10 3 SFQ

# Packets of all sizes that queues measure; some live for only two hops.
set sinks {}
proc stream {from to bytes interval ttl} {
    global ns sinks
    set udp [new Agent/UDP]
    $udp set ttl_ $ttl
    $udp set packetSize_ 2000
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
stream $host(0) $host(2) 500 0.0041 32
stream $host(1) $host(3) 1000 0.009 32
stream $host(3) $host(0) 200 0.003 32
stream $host(2) $host(1) 700 0.005 2
stream $host(0) $host(1) 100 0.002 32
foreach {kind sink} {TCP/Sack1 TCPSink/Sack1 TCP/Newreno TCPSink/DelAck} {
    set tcp [$ns create-connection $kind $host(1) $sink $host(2) 9]
    $ns at 0.1 "[$tcp attach-app FTP] produce 400"
}

proc queue {from to} {global ns; return [[$ns link $from $to] queue]}
proc loss {from to rate} {
    global ns
    set model [new ErrorModel]
    $model set rate_ $rate
    $model drop-target [new Agent/Null]
    $ns lossmodel $model $from $to
}
set monitors {}
proc watch {from to} {
    global ns monitors
    lappend monitors [$ns monitor-queue $from $to ""]
}
proc watch_flows {from to} {
    global ns monitors
    set monitor [$ns makeflowmon Fid]
    $ns attach-fmon [$ns link $from $to] $monitor
    lappend monitors $monitor
}
# Make a router forget the route to a host, and learn it again later.
proc misroute {router to} {
    global ns
    [$router entry] install [$to id] [$ns set nullAgent_]
}
proc route {router to next} {
    global ns
    [$router entry] install [$to id] [[$ns link $router $next] head]
}
$ns at 0.2 {watch $router(0) $router(1)}
$ns at 0.3 {watch_flows $router(1) $router(0)}
$ns at 0.4 {loss $router(0) $router(1) 0.05}
$ns at 0.5 {[queue $router(1) $router(0)] set limit_ 1}
$ns at 0.6 {[queue $router(1) $router(0)] set limit_ 8}
$ns at 0.7 {[queue $router(0) $router(1)] set queue_in_bytes_ true}
$ns at 0.8 {[queue $router(0) $router(1)] set drop_front_ true}
$ns at 0.9 {misroute $router(1) $host(2)}
$ns at 1.0 {route $router(1) $host(2) $router(2)}
$ns at 1.1 {[queue $host(0) $router(0)] set unblock_on_resume_ false}
$ns at 1.15 {[queue $host(0) $router(0)] set unblock_on_resume_ true
             [queue $host(0) $router(0)] set blocked_ false}
$ns at 1.2 {[[$ns link $router(0) $router(1)] link] set avoidReordering_ true}
$ns at 1.3 {[[$ns link $router(0) $router(1)] link] set delay_ 4ms}
$ns at 1.4 {[queue $host(1) $router(0)] set summarystats_ true}

proc sample {} {
    global ns links sinks monitors
    set states {}
    foreach link $links {lappend states [[$link queue] set blocked_]}
    foreach sink $sinks {lappend states [$sink set bytes_] [$sink set lastPktTime_]}
    foreach monitor $monitors {
        foreach counter {size_ pkts_ parrivals_ bdepartures_ pdrops_ last_pkt_} {
            lappend states [$monitor set $counter]
        }
    }
    puts "[$ns now] $states"
    $ns at [expr {[$ns now] + 0.0037}] sample
}
$ns at 0.01 sample
$ns at 1.8 {exit 0}
$ns run
