# Equal flows, whose packets arrive at the same times, while a script changes their way.
#
# Arguments: keep_routes_ of Scheduler/Lanes; the number of equal flows; 1 if the first of them is
# traced (trace.tr); the interval of samples, s. Before each sample, which is an `at` event, all
# queues are brought up to date, so that rare samples show what happens without that.
#
# host(i) -- router(0) -- router(1) -- router(2) -- router(3) -- target(i), and a detour
# router(1) -- router(4) -- router(2). A sample shows the id of a new `at` event, which counts all
# events that were scheduled before, the states of the queues, and what the sinks got.
lassign $argv keep flows traced interval
catch {Scheduler/Lanes set keep_routes_ $keep} ;# not in every ns-2
set ns [new Simulator]
set links {}

proc join {a b mbps ms} {
    global ns links
    $ns duplex-link $a $b ${mbps}Mb ${ms}ms DropTail
    $ns queue-limit $a $b 20
    $ns queue-limit $b $a 20
    lappend links [$ns link $a $b] [$ns link $b $a]
}
for {set i 0} {$i < 5} {incr i} {set router($i) [$ns node]}
join $router(0) $router(1) 10 4
join $router(1) $router(2) 10 4
join $router(2) $router(3) 10 4
join $router(1) $router(4) 10 3
join $router(4) $router(2) 10 3
for {set i 0} {$i < $flows} {incr i} {
    set host($i) [$ns node]
    set target($i) [$ns node]
    join $host($i) $router(0) 10 2
    join $router(3) $target($i) 10 2
}
$ns rtmodel-at 0.52 down $router(2) $router(3)
$ns rtmodel-at 0.55 up $router(2) $router(3)
if {$traced} {
    set trace [open trace.tr w]
    $ns trace-queue $host(0) $router(0) $trace
    $ns trace-queue $router(1) $router(2) $trace
}

set sinks {}
proc stream {from to bytes interval ttl {fid 0}} {
    global ns sinks
    set udp [new Agent/UDP]
    $udp set ttl_ $ttl
    $udp set fid_ $fid
    $ns attach-agent $from $udp
    set sink [new Agent/LossMonitor]
    $ns attach-agent $to $sink
    $ns connect $udp $sink
    lappend sinks $sink
    set cbr [new Application/Traffic/CBR]
    $cbr set packetSize_ $bytes
    $cbr set interval_ $interval
    $cbr attach-agent $udp
    $ns at [expr {max(0.02, [$ns now])}] "$cbr start"
}
# A transfer that makes the next one when it ends, in the middle of the arrival of an ACK.
proc transfer {i packets} {
    global ns host target
    set tcp [$ns create-connection TCP/Sack1 $host($i) TCPSink/Sack1 $target($i) [expr {100 + $i}]]
    $tcp proc done {} "ended $i $tcp"
    set ftp [$tcp attach-app FTP]
    $ftp produce $packets
}
proc ended {i tcp} {
    global ns host target router
    puts "[$ns now] transfer $i ends"
    $ns detach-agent $host($i) $tcp
    # A new node's agents take a port that was free.
    transfer $i 25
}
for {set i 0} {$i < $flows} {incr i} {
    stream $host($i) $target($i) 500 0.004 32
    stream $target($i) $host($i) 200 0.003 32
    stream $host($i) $target($i) 100 0.007 [expr {1 + $i * 2}]
    $ns at 0.05 "transfer $i 40"
}
stream $host(0) $router(2) 300 0.005 2
stream $host(0) $router(2) 300 0.005 3

proc queue {from to} {global ns; return [[$ns link $from $to] queue]}
proc delay {from to} {global ns; return [[$ns link $from $to] link]}
proc head {from to} {global ns; return [[$ns link $from $to] head]}
proc entry {i} {global router; return [$router($i) entry]}
# Make a router's hash table name the slot of a neighbour for a node.
proc rehash {i to neighbour} {
    global router
    set slot [[entry $i] findslot [head $router($i) $neighbour]]
    [entry $i] del-hash 0 [$to id] 0
    [entry $i] set-hash 0 0 [$to id] 0 $slot
}
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
    set monitor [$ns makeflowmon Fid]
    $ns attach-fmon [$ns link $from $to] $monitor
    lappend monitors $monitor
}
# A monitor whose script leads packets another way when a new flow comes, or when it leaves.
proc watch_and_turn {from to comes} {
    global ns monitors
    watch $from $to
    set monitor [lindex $monitors end]
    $monitor set enable_in_ $comes
    [$monitor classifier] proc unknown-flow {src dst fid} "
        \$self set-hash auto \$src \$dst \$fid \[\$self installNext \[new QueueMonitor/ED/Flow\]\]
        turn [$ns link $from $to] $comes
    "
}
proc turn {link comes} {
    global ns router
    set snoop [$link set [expr {$comes ? "snoopIn_" : "snoopOut_"}]]
    set old [$snoop target]
    if {$comes} {
        $snoop target [$ns set nullAgent_]
    } else {
        $snoop target [delay $router(1) $router(4)]
    }
    $ns at [expr {[$ns now] + 0.002}] "$snoop target $old"
}

$ns at 0.10 {[delay $router(1) $router(2)] set delay_ 1ms}
$ns at 0.12 {[delay $router(1) $router(2)] set delay_ 6ms}
$ns at 0.14 {[delay $router(0) $router(1)] set bandwidth_ 3Mb}
$ns at 0.16 {[delay $router(0) $router(1)] set bandwidth_ 30Mb}
$ns at 0.18 {[queue $router(1) $router(2)] target [delay $router(1) $router(4)]}
$ns at 0.20 {[queue $router(1) $router(2)] target [delay $router(1) $router(2)]}
$ns at 0.22 {[entry 1] install [$target(0) id] [head $router(1) $router(4)]}
$ns at 0.24 {[entry 1] install [$target(0) id] [head $router(1) $router(2)]}
$ns at 0.26 {rehash 1 $target(0) $router(4)}
$ns at 0.28 {[entry 1] install [$target(0) id] [head $router(1) $router(2)]}
$ns at 0.30 {[entry 1] set mask_ -2}
$ns at 0.32 {[entry 1] set mask_ -1}
$ns at 0.34 {$ns queue-limit $router(0) $router(1) 1}
$ns at 0.36 {$ns queue-limit $router(0) $router(1) 20}
$ns at 0.38 {watch $router(0) $router(1)}
$ns at 0.40 {watch $router(1) $router(2)}
$ns at 0.44 {loss $router(1) $router(2) 0.05}
$ns at 0.46 {[delay $router(0) $router(1)] target [entry 1]}
$ns at 0.48 {[queue $router(3) $target(0)] set unblock_on_resume_ false}
$ns at 0.50 {[queue $router(3) $target(0)] set unblock_on_resume_ true
             [queue $router(3) $target(0)] set blocked_ false}
$ns at 0.58 {[queue $router(2) $router(1)] set summarystats_ true}
$ns at 0.60 {stream $host(0) $target(0) 400 0.006 32}
$ns at 0.62 {$ns detach-agent $target(0) [lindex $sinks 0]}
$ns at 0.64 {watch_and_turn $router(0) $router(1) 1}
$ns at 0.68 {watch_and_turn $router(1) $router(0) 0}
$ns at 0.70 {$ns queue-limit $router(0) $router(1) 8
             [queue $router(0) $router(1)] set mean_pktsize_ 200
             [queue $router(0) $router(1)] set queue_in_bytes_ true
             [delay $router(0) $router(1)] set bandwidth_ 1Mb}
$ns at 0.72 {stream $router(3) $host(0) 150 0.004 32 50}
$ns at 0.74 {[queue $router(0) $router(1)] set queue_in_bytes_ false
             [queue $router(0) $router(1)] set summarystats_ true}
$ns at 0.78 {[queue $router(0) $router(1)] printstats
             [queue $router(0) $router(1)] set summarystats_ false
             [delay $router(0) $router(1)] set bandwidth_ 10Mb
             $ns queue-limit $router(0) $router(1) 60}
$ns at 0.82 {[queue $router(0) $router(1)] set unblock_on_resume_ false}
$ns at 0.84 {[queue $router(0) $router(1)] set unblock_on_resume_ true
             [queue $router(0) $router(1)] set blocked_ false}

proc sample {} {
    global ns links sinks monitors interval
    set id [$ns at 100 {}]
    $ns cancel $id
    set states {}
    foreach link $links {lappend states [[$link queue] set blocked_]}
    foreach sink $sinks {lappend states [$sink set bytes_] [$sink set lastPktTime_]}
    foreach monitor $monitors {
        lappend states [$monitor set pkts_] [$monitor set barrivals_] [$monitor set bdepartures_]
        foreach flow [$monitor flows] {lappend states [$flow set flowid_] [$flow set parrivals_]}
    }
    puts "[$ns now] $id $states"
    $ns at [expr {[$ns now] + $interval}] sample
}
$ns at 0.01 sample
$ns at 0.9 {
    if {$traced} {close $trace}
    exit 0
}
$ns run
