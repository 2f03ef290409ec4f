# Wired-cum-wireless: a wired host, a base station and a mobile node, with TCP from host to node.
# Arguments: folder; format (old, new).
lassign $argv folder format

set ns [new Simulator]
$ns set-address-format hierarchical
AddrParams set domain_num_ 2
AddrParams set cluster_num_ {1 1}
AddrParams set nodes_num_ {1 2}
if {$format eq "new"} {
    $ns use-newtrace
}
set all [open $folder/all.tr w]
$ns trace-all $all
set ground [new Topography]
$ground load_flatgrid 300 300
create-god 2
set host [$ns node 0.0.0]
$ns node-config -adhocRouting DSDV -llType LL -macType Mac/802_11 \
    -ifqType Queue/DropTail/PriQueue -ifqLen 50 -antType Antenna/OmniAntenna \
    -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $ground -wiredRouting ON \
    -agentTrace ON -routerTrace ON -macTrace ON
set station [$ns node 1.0.0]
$station random-motion 0
$station set X_ 50
$station set Y_ 50
$ns node-config -wiredRouting OFF
set mobile [$ns node 1.0.1]
$mobile random-motion 0
$mobile base-station [AddrParams addr2id [$station node-addr]]
$mobile set X_ 100
$mobile set Y_ 50
$ns duplex-link $host $station 5Mb 2ms DropTail

set tcp [new Agent/TCP]
set sink [new Agent/TCPSink]
$ns attach-agent $host $tcp
$ns attach-agent $mobile $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns at 20.0 "$ftp start"
$ns at 22.0 {
    $ns flush-trace
    close $all
    exit 0
}
$ns run
