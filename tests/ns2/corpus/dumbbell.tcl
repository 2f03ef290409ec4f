# Plain wired scripts: hosts on both sides of a bottleneck, without bdpbench's monitors.
# Arguments: what is sent (tcp, fulltcp, sctp, cbr, onoff, mixed), queue, pairs of hosts, seconds,
# traces (none, trace, nam, both, variables).
lassign $argv sent queue pairs seconds traces
set ns [new Simulator]
if {$traces in {trace both}} {
    $ns trace-all [open dumbbell.tr w]
}
if {$traces in {nam both}} {
    $ns namtrace-all [open dumbbell.nam w]
}
if {$traces eq "variables"} {
    set variables [open variables.tr w]
}
set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right 10Mb 20ms $queue
$ns queue-limit $left $right 50
proc connect {i} {
    global ns sent from to
    set kind [expr {$sent eq "mixed" ? [lindex {tcp cbr fulltcp onoff} [expr {$i % 4}]] : $sent}]
    lassign [dict get {
        tcp {Agent/TCP/Newreno Agent/TCPSink Application/FTP}
        fulltcp {Agent/TCP/FullTcp/Sack Agent/TCP/FullTcp/Sack Application/FTP}
        sctp {Agent/SCTP Agent/SCTP Application/FTP}
        cbr {Agent/UDP Agent/Null Application/Traffic/CBR}
        onoff {Agent/UDP Agent/LossMonitor Application/Traffic/Exponential}
    } $kind] agent sink application
    set agent [new $agent]
    set sink [new $sink]
    $agent set fid_ $i
    $sink set fid_ $i
    $ns attach-agent $from($i) $agent
    $ns attach-agent $to($i) $sink
    $ns connect $agent $sink
    if {[info exists ::variables]} {
        $agent attach $::variables
        foreach variable {cwnd_ ssthresh_ rtt_ srtt_ rttvar_ backoff_ dupacks_ maxseq_ ack_ t_seqno_ ndatabytes_} {
            $agent trace $variable
        }
    }
    if {$kind eq "fulltcp"} {
        $sink listen
    }
    set application [new $application]
    $application attach-agent $agent
    if {$kind eq "cbr"} {
        $application set interval_ 0.005
    } elseif {$kind eq "onoff"} {
        $application set rate_ 1Mb
    }
    $ns at [expr {0.1 + 0.05 * $i}] "$application start"
}
for {set i 0} {$i < $pairs} {incr i} {
    set from($i) [$ns node]
    set to($i) [$ns node]
    $ns duplex-link $from($i) $left 100Mb [expr {1 + $i % 7}]ms DropTail
    $ns duplex-link $right $to($i) 100Mb 2ms DropTail
    connect $i
}
$ns at $seconds {
    $ns flush-trace
    puts "[$ns now] [[[$ns link $left $right] queue] set limit_]"
    exit 0
}
$ns run
