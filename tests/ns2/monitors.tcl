# Monitors of every kind on one link, and everything that they and their flows count.
#
# host(i) -- router(0) -- router(1) -- target(i): a RED queue marks packets of TCP flows with ECN,
# and streams cross it. Two flow monitors, a queue monitor and a tagger watch the same link; they
# estimate rates, sample delays, integrate queues and count RTTs and sequence numbers. A script
# switches parts of that off and on, changes what flows are told apart by, and sets counters. All
# numbers are written every 9.7 ms; the trace of the queue monitor and the distributions of RTTs and
# sequence numbers are in stats.tr.
set ns [new Simulator]
foreach {name value} {thresh_ 4 maxthresh_ 12 gentle_ 1 setbit_ 1 q_weight_ 0.1 bytes_ false
        queue_in_bytes_ false} {
    Queue/RED set $name $value
}
Agent/TCP set ecn_ 1
Agent/TCP set window_ 60
foreach i {0 1} {set router($i) [$ns node]}
$ns duplex-link $router(0) $router(1) 4Mb 10ms RED
$ns queue-limit $router(0) $router(1) 25
foreach i {0 1 2} {
    set host($i) [$ns node]
    set target($i) [$ns node]
    $ns duplex-link $host($i) $router(0) 20Mb [expr {1 + $i}]ms DropTail
    $ns duplex-link $router(1) $target($i) 20Mb 2ms DropTail
    set tcp [$ns create-connection TCP/Sack1 $host($i) TCPSink/Sack1 $target($i) [expr {10 + $i}]]
    $ns at [expr {0.05 + 0.1 * $i}] "[$tcp attach-app FTP] start"
}
foreach i {0 1 2} {
    set udp [new Agent/UDP]
    $udp set fid_ [expr {20 + $i % 2}]
    $ns attach-agent $host($i) $udp
    set sink [new Agent/Null]
    $ns attach-agent $target([expr {2 - $i}]) $sink
    $ns connect $udp $sink
    set cbr [new Application/Traffic/CBR]
    $cbr set packetSize_ [expr {100 + 200 * $i}]
    $cbr set interval_ 0.006
    $cbr attach-agent $udp
    $ns at [expr {0.2 * $i}] "$cbr start"
}

set link [$ns link $router(0) $router(1)]
set back [$ns link $router(1) $router(0)]
set stats [open stats.tr w]
set queue_monitor [$ns monitor-queue $router(0) $router(1) $stats]
$link start-tracing
$queue_monitor set-delay-samples [new Samples]
foreach {name on kind} [list by_fid $link Fid by_pair $link SrcDest backwards $back SrcDestFid] {
    set $name [$ns makeflowmon $kind]
    $ns attach-fmon $on [set $name]
}
foreach monitor [list $by_fid $backwards] {
    $monitor set-bytes-integrator [new Integrator]
    $monitor set-pkts-integrator [new Integrator]
    $monitor set-delay-samples [new Samples]
}
foreach {name value} {keepRTTstats_ 1 keepSeqnoStats_ 1 binsPerSec_ 500 maxSeqno_ 2000} {
    $by_fid set $name $value
}
$by_fid traceDist $stats
set tagger [$ns maketbtagger Fid]
$ns attach-tagger $link $tagger
set tagged [new QueueMonitor/ED/Flow/TB]
$tagged set target_rate_ 500Kb
$tagged set bucket_depth_ 3000
$tagged set tbucket_ 3000
set classifier [$tagger classifier]
$classifier set-hash auto 0 0 20 [$classifier installNext $tagged]

# The flow of the monitor's that came first.
proc first {monitor} {return [lindex [$monitor flows] 0]}
$ns at 0.30 {$by_fid set estimate_rate_ 1; [first $by_fid] set estimate_rate_ 1}
$ns at 0.35 {[first $by_pair] set-bytes-integrator [new Integrator]}
$ns at 0.40 {$by_pair set enable_in_ 0}
$ns at 0.45 {$by_pair set enable_out_ 0}
$ns at 0.50 {$by_pair set enable_in_ 1}
$ns at 0.55 {$by_pair set enable_out_ 1}
$ns at 0.60 {[$by_fid classifier] set mask_ 0; [$by_pair classifier] set mask_ 0}
$ns at 0.65 {[$by_fid classifier] set mask_ -1; [$by_pair classifier] set mask_ -1}
$ns at 0.70 {[$by_pair classifier] set shift_ 2}
$ns at 0.75 {[$by_pair classifier] set shift_ 0}
$ns at 0.80 {$by_fid set estimate_rate_ 0; [first $by_fid] set parrivals_ 0}
$ns at 0.85 {[first $by_fid] set flowid_ 77; [first $by_pair] set src_ 88; $by_fid set size_ 5}
$ns at 0.90 {
    set moved [new QueueMonitor/ED/Flow]
    set classifier [$by_fid classifier]
    $classifier del-hash 0 0 11
    $classifier set-hash auto 0 0 11 [$classifier installNext $moved]
}
# A new flow in the place of the one that counts flow 12, without any change of the hash table.
$ns at 0.95 {
    set classifier [$by_fid classifier]
    set counted [$classifier lookup auto 0 0 12]
    for {set slot 0} {[$classifier slot $slot] ne $counted} {incr slot} {}
    $classifier install $slot [new QueueMonitor/ED/Flow]
}

proc counters {monitor} {
    set values {}
    foreach name {size_ pkts_ parrivals_ barrivals_ pdepartures_ bdepartures_ pdrops_ bdrops_
            pmarks_ qs_pkts_ first_pkt_ last_pkt_ estRate_ prevTime_} {
        lappend values [$monitor set $name]
    }
    set delays [$monitor get-delay-samples]
    if {$delays ne ""} {
        lappend values [$delays cnt] [expr {[$delays cnt] ? [$delays mean] : "-"}]
    }
    foreach integrator [list [$monitor get-bytes-integrator] [$monitor get-pkts-integrator]] {
        if {$integrator ne ""} {
            foreach name {lastx_ lasty_ sum_} {lappend values [$integrator set $name]}
        }
    }
    return $values
}
proc sample {} {
    global ns queue_monitor by_fid by_pair backwards tagger
    puts "[$ns now] queue [counters $queue_monitor]"
    foreach name {by_fid by_pair backwards tagger} {
        puts "$name [counters [set $name]]"
        foreach flow [[set $name] flows] {
            set is {}
            foreach variable {src_ dst_ flowid_} {lappend is [$flow set $variable]}
            puts "  $is [counters $flow]"
        }
    }
    $ns at [expr {[$ns now] + 0.0097}] sample
}
$ns at 0.01 sample
$ns at 1.2 {
    $by_fid printRTTs
    $by_fid printSeqnos
    close $stats
    exit 0
}
$ns run
