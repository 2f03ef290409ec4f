# Set-up of flows over a bottleneck, for any ns-2.35: hosts, links, agents, and no packet.
#
# Arguments: -flows N. Prints the agents' variables.
source [file join [file dirname [info script]] .. .. tcl lib args.tcl]
source [file join [file dirname [info script]] .. .. tcl lib topology.tcl]

set config [::args::read {{flows count {}}}]
new_simulator
make_bottleneck 622 20 1555 RED
for {set fid 0} {$fid < [dict get $config flows]} {incr fid} {
    lassign [make_hosts 1000 1 1 100000] sender receiver
    set agent [$ns create-connection TCP/Sack1 $sender TCPSink/Sack1 $receiver $fid]
    set app [$agent attach-app FTP]
    $agent set maxcwnd_ [expr {1000 + $fid}]
    puts "$agent $app [$agent set maxcwnd_] [$agent set window_] [$agent set minrto_]"
}
