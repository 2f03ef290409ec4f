# Two terminals connected by a geostationary satellite, with CBR from one to the other.
# Arguments: folder; "tcphdr" or nothing.
lassign $argv folder header

if {$header eq "tcphdr"} {
    Trace set show_tcphdr_ 1
}
set ns [new Simulator]
set all [open $folder/all.tr w]
$ns trace-all $all
$ns node-config -satNodeType geo-repeater -phyType Phy/Repeater \
    -channelType Channel/Sat -downlinkBW 1.5Mb -wiredRouting OFF
set bird [$ns node]
$bird set-position -95
$ns node-config -satNodeType terminal -llType LL/Sat -ifqType Queue/DropTail -ifqLen 50 \
    -macType Mac/Sat -phyType Phy/Sat -channelType Channel/Sat -downlinkBW 1.5Mb
set west [$ns node]
$west set-position 37.9 -122.3
set east [$ns node]
$east set-position 42.3 -71.1
$west add-gsl geo LL/Sat Queue/DropTail 50 Mac/Sat 1.5Mb Phy/Sat \
    [$bird set downlink_] [$bird set uplink_]
$east add-gsl geo LL/Sat Queue/DropTail 50 Mac/Sat 1.5Mb Phy/Sat \
    [$bird set downlink_] [$bird set uplink_]
$ns trace-all-satlinks $all
set tcp [new Agent/TCP]
set sink [new Agent/TCPSink]
$ns attach-agent $west $tcp
$ns attach-agent $east $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
set router [new SatRouteObject]
$router compute_routes
$ns at 0.1 "$ftp start"
$ns at 5.0 {
    $ns flush-trace
    close $all
    exit 0
}
$ns run
