# A wireless LAN at the end of a chain: its last router is a base station, and the hosts there are
# stations, all in reach of one another. Extends chain.tcl, ends.tcl and both_ways.tcl through
# further.tcl.
#
#   -lan_mbps           Mbit/s, data rate of the LAN; without it, the last router is as the others
#   -lan_buffer_pkts    packets that the base station and each station hold for the LAN; only with
#                       lan_mbps
#
# The LAN is IEEE 802.11g without RTS and CTS: slots of 9 µs, contention windows from 15 to 1023, ACKs at
# 6 Mbit/s, and 20 µs before each frame. The delay of a host's link is that of its station's link layer;
# its rate has no effect. Routes are established when the first updates have been sent, within some 10 s.
# With -measured_from_s, report.txt counts from then on
#   run.lan_throughput      what base station and stations receive, Mbit/s
#   run.lan_loss_rate       packets to stations that they do not receive, %
#   run.lan_back_loss_rate  packets that stations send and the base station does not receive, %

namespace eval ::lan {
    variable keys {
        {lan_mbps positive Mbit/s ""}
        {lan_buffer_pkts count packets ""}
    }
    # Nodes with wires, and nodes of the LAN; ns-2 wants to know first how many there may be.
    variable most 100
    variable config {}
    variable base ""
    # Nodes of the LAN so far.
    variable nodes 0
    # "sent" or "received" -> monitor of what stations send or receive.
    array set monitors {}
    # Flow id of what stations tell each other of routes.
    variable routing_fid 1000000
}
::further::at_arguments ::lan::join_script

proc ::lan::join_script {} {
    lappend ::network::keys {*}$::lan::keys
    ::further::wrap ::network::headers ::lan::headers
    ::further::wrap ::network::run ::lan::run
    ::further::wrap ::chain::make ::lan::make
    ::further::wrap ::ends::host ::lan::host
    ::further::wrap ::both_ways::begin ::lan::begin
    ::further::wrap ::both_ways::write ::lan::write
}

proc ::lan::run {given} {
    variable config $given
    dict with given {}
    if {$lan_mbps eq "" && $lan_buffer_pkts ne ""} {
        ::args::fail "-lan_buffer_pkts is given, and -lan_mbps is not"
    }
    foreach i [::recorder::indices $backgrounds] source $backgrounds {
        if {$lan_mbps ne "" && [dict get $source kind] in {web packmime}} {
            ::args::fail "-background.$i.kind is '[dict get $source kind]', whose hosts need wires:\
                it does not go with -lan_mbps"
        }
    }
    foreach i [::recorder::indices $flows] flow $flows {
        if {$lan_mbps ne "" && ([dict get $flow loses] ne "" || [dict get $flow milestones])} {
            ::args::fail "-flow.$i.loses and -flow.$i.milestones do not go with -lan_mbps"
        }
    }
    [::further::inner ::lan::run] $given
}

proc ::lan::is_one {} {
    return [expr {[dict get $::lan::config lan_mbps] ne ""}]
}

proc ::lan::headers {given} {
    set headers [[::further::inner ::lan::headers] $given]
    return [expr {[dict get $given lan_mbps] eq "" ? $headers : "$headers LL Mac ARP Message"}]
}

# ---------------------------------------------------------------- its nodes

proc ::lan::make {links} {
    if {[is_one]} {
        make_nodes [llength $links]
    }
    [::further::inner ::lan::make] $links
}

# The base station, and nodes with wires for all others: ns-2 wants these to be made before stations.
# Addresses are hierarchical, which routes between wires and radio need: domain 0 has the wires, domain 1
# the LAN.
proc ::lan::make_nodes {links} {
    global ns
    variable most
    variable wired {}
    variable base
    # ns-2 makes no node with a radio unless there is a file for all traces.
    $ns trace-all [open /dev/null w]
    $ns node-config -addressType hierarchical
    AddrParams set domain_num_ 2
    AddrParams set cluster_num_ {1 1}
    AddrParams set nodes_num_ [list $most $most]
    for {set i 0} {$i < $most} {incr i} {
        lappend wired [$ns node 0.0.$i]
    }
    prepare_radio
    set base [radio_node ON]
    place $base 50 50
    set wired [linsert $wired $links $base]
    # What asks for a node without an address gets the next of them.
    $ns proc node args {
        return [expr {$args eq {} ? [::lan::next_wired] : [eval $self next $args]}]
    }
}

proc ::lan::next_wired {} {
    variable wired
    variable most
    if {$wired eq {}} {
        ::args::fail "-lan_mbps is given: besides the LAN there may be $most nodes, hosts included"
    }
    set wired [lassign $wired next]
    return $next
}

proc ::lan::prepare_radio {} {
    variable most
    variable topography [new Topography]
    variable channel
    create-god $most
    $topography load_flatgrid 100 100
    set channel [new Channel/WirelessChannel]
    foreach {name value} {
        SlotTime_ 9e-6 SIFS_ 16e-6 CWMin_ 15 CWMax_ 1023 PreambleLength_ 96 PLCPHeaderLength_ 24
        PLCPDataRate_ 6e6 basicRate_ 6e6 RTSThreshold_ 3000
    } {
        Mac/802_11 set $name $value
    }
    Mac/802_11 set dataRate_ [dict get $::lan::config lan_mbps]Mb
    # Routes are kept even if updates are lost.
    Agent/DSDV set min_update_periods_ 100000
}

# A node of the LAN; is_base is ON for the base station, otherwise OFF.
proc ::lan::radio_node {is_base} {
    global ns
    variable most
    variable topography
    variable channel
    variable nodes
    if {$nodes == $most} {
        ::args::fail "-lan_mbps is given: base station and stations may be $most nodes"
    }
    set buffer_pkts [dict get $::lan::config lan_buffer_pkts]
    $ns node-config -adhocRouting DSDV -llType LL -macType Mac/802_11 \
        -ifqType Queue/DropTail/PriQueue -ifqLen [expr {$buffer_pkts eq "" ? 50 : $buffer_pkts}] \
        -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
        -channel $channel -topoInstance $topography -wiredRouting $is_base -agentTrace OFF \
        -routerTrace OFF -macTrace OFF -movementTrace OFF
    return [$ns node 1.0.[expr {[incr nodes] - 1}]]
}

# Put a node with a radio somewhere, and give what it tells of routes its flow id.
proc ::lan::place {node x y} {
    variable routing_fid
    [$node set ragent_] set fid_ $routing_fid
    $node random-motion 0
    $node set X_ $x
    $node set Y_ $y
    $node set Z_ 0
}

# A host at a router: a station, 10 m from the base station, if that is the router.
proc ::lan::host {router mbps delay_ms buffer_pkts} {
    variable base
    variable nodes
    if {$router ne $base} {
        return [[::further::inner ::lan::host] $router $mbps $delay_ms $buffer_pkts]
    }
    set angle $nodes
    set station [radio_node OFF]
    place $station [expr {50 + 10 * cos($angle)}] [expr {50 + 10 * sin($angle)}]
    $station base-station [AddrParams addr2id [$base node-addr]]
    set layer [$station set ll_(0)]
    $layer set delay_ [expr {1e-3 * $delay_ms}]
    $layer up-target [counted received [$layer up-target]]
    set agent [$station set ragent_]
    $agent target [counted sent [$agent target]]
    return $station
}

# ---------------------------------------------------------------- what is counted

# What counts packets on their way to a target.
proc ::lan::counted {what target} {
    global ns
    variable monitors
    if {![info exists monitors($what)]} {
        set monitors($what) [$ns makeflowmon Fid]
    }
    set counter [new SnoopQueue/In]
    $counter set-monitor $monitors($what)
    $counter target $target
    return $counter
}

# {packets bytes} that stations have sent or received so far, without what they tell of routes.
proc ::lan::of_stations {what} {
    variable monitors
    variable routing_fid
    if {![info exists monitors($what)]} {
        return {0 0}
    }
    set routing [::utils::flow_monitor $monitors($what) $routing_fid]
    return [lmap variable {parrivals_ barrivals_} {
        expr {[$monitors($what) set $variable] - ($routing eq "" ? 0 : [$routing set $variable])}
    }]
}

# Time, and packets and bytes so far: that the base station got for stations, that they received, that
# they sent, and that the base station received of it.
proc ::lan::counters {} {
    global ns
    set last [expr {[llength $::chain::routers] - 2}]
    set back $::recorder::monitors($last,back)
    return [list [$ns now] {*}[lrange [::utils::counters $::recorder::monitors($last,there)] 1 2] \
        {*}[of_stations received] {*}[of_stations sent] \
        [$back set parrivals_] [$back set barrivals_]]
}

proc ::lan::begin {args} {
    [::further::inner ::lan::begin] {*}$args
    if {[is_one]} {
        variable before [counters]
    }
}

proc ::lan::write {args} {
    variable before
    [::further::inner ::lan::write] {*}$args
    if {![is_one]} {
        return
    }
    lassign [lmap now [counters] then $before {expr {$now - $then}}] \
        s - there received received_bytes sent - back back_bytes
    set mbps [::utils::mbps [expr {$received_bytes + $back_bytes}] $s]
    ::utils::fact run.lan_throughput [format %.6f $mbps] Mbit/s
    foreach {name begun ended} [list loss_rate $there $received back_loss_rate $sent $back] {
        if {$begun > 0} {
            # What is on its way at the start may arrive later.
            ::utils::fact run.lan_$name [format %.6f [expr {max(0, 100.0 * ($begun - $ended) / $begun)}]] %
        }
    }
}
