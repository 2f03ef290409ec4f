# Nodes of 802.11 that move at random, with TCP and CBR between them.
# Arguments: routing protocol (AODV, DSR, DSDV), nodes, trace format (old, new, none), seconds,
# what is traced (router, mac), nam (0 or 1).
lassign $argv routing nodes format seconds traced nam
set side [expr {int(sqrt($nodes / 50.0) * 1000)}]
set ns [new Simulator]
if {$format eq "new"} {
    $ns use-newtrace
}
# ns-2 creates no wireless node without a file for dropped packets.
$ns trace-all [open [expr {$format eq "none" ? "/dev/null" : "wireless.tr"}] w]
if {$nam eq "1"} {
    set namtrace [open wireless.nam w]
    $ns namtrace-all-wireless $namtrace $side $side
}
set topography [new Topography]
$topography load_flatgrid $side $side
create-god $nodes
set shown [expr {$format eq "none" ? "OFF" : "ON"}]
$ns node-config -adhocRouting $routing -llType LL -macType Mac/802_11 \
    -ifqType [expr {$routing eq "DSR" ? "CMUPriQueue" : "Queue/DropTail/PriQueue"}] -ifqLen 50 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -topoInstance $topography -agentTrace $shown -routerTrace $shown -movementTrace OFF \
    -macTrace [expr {$traced eq "mac" ? "ON" : "OFF"}] -channel [new Channel/WirelessChannel]
if {$nam eq "1"} {
    $ns node-config -energyModel EnergyModel -initialEnergy 50 -rxPower 0.3 -txPower 0.6
}
set rng [new RNG]
$rng seed 7
proc place {} {
    global rng side
    return [$rng uniform 1 [expr {$side - 1}]]
}
for {set i 0} {$i < $nodes} {incr i} {
    set node($i) [$ns node]
    $node($i) random-motion 0
    $node($i) set X_ [place]
    $node($i) set Y_ [place]
    $node($i) set Z_ 0
    if {$nam eq "1"} {
        $ns initial_node_pos $node($i) 30
    }
    # A tenth of the nodes stay where they are.
    for {set t 1} {$i % 10 && $t < $seconds} {incr t 10} {
        $ns at $t "$node($i) setdest [place] [place] [$rng uniform 1 20]"
    }
}
for {set i 0} {$i < 10} {incr i} {
    set first [expr {int([$rng uniform 0 $nodes])}]
    set from $node($first)
    set to $node([expr {($first + 1 + int([$rng uniform 0 [expr {$nodes - 1}]])) % $nodes}])
    if {$i % 2} {
        lassign {Agent/UDP Agent/Null Application/Traffic/CBR} agent sink application
    } else {
        lassign {Agent/TCP Agent/TCPSink Application/FTP} agent sink application
    }
    set agent [new $agent]
    set sink [new $sink]
    $ns attach-agent $from $agent
    $ns attach-agent $to $sink
    $ns connect $agent $sink
    set application [new $application]
    $application attach-agent $agent
    if {$i % 2} {
        $application set packetSize_ 512
        $application set interval_ 0.1
        $application set random_ 1
    }
    $ns at [$rng uniform 0.5 2] "$application start"
}
$ns at $seconds {
    $ns flush-trace
    puts "[$ns now] [$node(1) set X_] [$node(1) set Y_]"
    exit 0
}
$ns run
