# Everything that C++ writes into a file of the script. Each file is closed at a time of its own, 100 for
# never; `ends` says how long it was then. Later the memory of its channel gets other users.
set times $argv
set ns [new Simulator]
proc kept {name} {
    global channels
    set channels($name) [open $name w]
}
$ns trace-all [kept all.tr]
$ns namtrace-all [kept all.nam]
set a [$ns node]
set b [$ns node]
set c [$ns node]
$ns duplex-link $a $b 10Mb 1ms DropTail
$ns duplex-link $b $c 1Mb 10ms RED
$ns queue-limit $b $c 20
$ns trace-queue $b $c [kept queue.tr]
set red [[$ns link $b $c] queue]
$red trace curq_
$red trace ave_
$red attach [kept red.tr]
$ns monitor-queue $b $c [kept monitor.tr] 0.05
[$ns link $b $c] start-tracing
set flows [$ns makeflowmon Fid]
$ns attach-fmon [$ns link $b $c] $flows
$flows attach [kept flows.tr]
proc dump {} {
    global ns flows
    $flows dump
    $ns at [expr {[$ns now] + 0.05}] dump
}
$ns at 0.05 dump
foreach {i from} {0 TCP/Reno 1 TCP/Sack1} {
    set tcp($i) [new Agent/$from]
    set sink($i) [new Agent/TCPSink]
    $tcp($i) set fid_ $i
    $ns attach-agent $a $tcp($i)
    $ns attach-agent $c $sink($i)
    $ns connect $tcp($i) $sink($i)
    $tcp($i) trace cwnd_
    set ftp($i) [new Application/FTP]
    $ftp($i) attach-agent $tcp($i)
    $ns at 0 "$ftp($i) start"
}
$tcp(1) attach [kept tcp.tr]
$ns add-agent-trace $tcp(0) one
$ns monitor-agent-trace $tcp(0)
set ends [open ends w]
set others {}
proc end {name} {
    global ns channels ends others
    $ns flush-trace
    flush $channels($name)
    puts $ends "$name [tell $channels($name)]"
    close $channels($name)
    exec true &
    lappend others [open other[llength $others] w]
    puts [lindex $others end] $name
}
foreach name [lsort [array names channels]] time $times {
    $ns at $time [list end $name]
}
$ns at 3 {puts done; exit 0}
$ns run
