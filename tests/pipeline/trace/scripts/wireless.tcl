# Three mobile nodes in a row, with TCP and CBR from end to end through the middle one.
# Arguments: folder; routing (AODV, DSR, DSDV); format (old, new); "energy" or nothing.
lassign $argv folder routing format energy

set ns [new Simulator]
if {$format eq "new"} {
    $ns use-newtrace
}
set all [open $folder/all.tr w]
$ns trace-all $all
set ground [new Topography]
$ground load_flatgrid 600 600
create-god 3
set queue [expr {$routing eq "DSR" ? "CMUPriQueue" : "Queue/DropTail/PriQueue"}]
set energies {}
if {$energy eq "energy"} {
    set energies {-energyModel EnergyModel -initialEnergy 100 -rxPower 0.3 -txPower 0.6}
}
$ns node-config -adhocRouting $routing -llType LL -macType Mac/802_11 -ifqType $queue \
    -ifqLen 50 -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround \
    -phyType Phy/WirelessPhy -channel [new Channel/WirelessChannel] -topoInstance $ground \
    -agentTrace ON -routerTrace ON -macTrace ON -movementTrace ON {*}$energies
for {set i 0} {$i < 3} {incr i} {
    set node($i) [$ns node]
    $node($i) random-motion 0
    $node($i) set X_ [expr {20 + 200 * $i}]
    $node($i) set Y_ 50
    $node($i) set Z_ 0
}
$ns at 3.0 "$node(2) setdest 430.0 60.0 5.0"

set tcp [new Agent/TCP]
set sink [new Agent/TCPSink]
$ns attach-agent $node(0) $tcp
$ns attach-agent $node(2) $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
set udp [new Agent/UDP]
set null [new Agent/Null]
$ns attach-agent $node(2) $udp
$ns attach-agent $node(0) $null
$ns connect $udp $null
set cbr [new Application/Traffic/CBR]
$cbr attach-agent $udp
$cbr set rate_ 20Kb
$ns at 1.0 "$ftp start"
$ns at 1.5 "$cbr start"
$ns at 5.0 {
    $ns flush-trace
    close $all
    exit 0
}
$ns run
