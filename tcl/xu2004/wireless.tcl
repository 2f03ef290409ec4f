# One flow over a wired link to a base station and on over IEEE 802.11, whose frames are lost while
# a two-state Markov chain is in its bad state (sections 4.1 and 4.2).
#
# Arguments are pairs -key value, in any order (tcl/lib/args.tcl):
#   -duration_s s                -bottleneck_mbps Mbit/s, the radio's data rate
#   -access_mbps Mbit/s, of the wired link, whose delay is that of the flow's access link
#   -buffer_pkts packets, of every queue
#   -error_pct %, share of the time in the bad state, below 100
#   -bad_state_s s, mean stay in the bad state; only if there is one, i.e. error_pct is above 0
#   -sample_s s, of the sender, a multiple of 0.001
#   -substream 1, 2, ... of the random numbers                 -datadir directory of the output
#   -flows 1, and the keys of flow 0 and class defaults as tcl/lib/flows.tcl has them; the flow
#    should start after the routes are established, which takes 20 s
#
# Writes the files of common.tcl except queue.out and util.out.
source [file join [file dirname [info script]] .. lib args.tcl]
source [file join [file dirname [info script]] .. lib defaults.tcl]
source [file join [file dirname [info script]] .. lib agents.tcl]
source [file join [file dirname [info script]] .. lib topology.tcl]
source [file join [file dirname [info script]] .. lib flows.tcl]
source [file join [file dirname [info script]] .. lib traffic.tcl]
source [file join [file dirname [info script]] .. lib utils.tcl]
source [file join [file dirname [info script]] common.tcl]

namespace eval ::wireless {
    variable keys {
        {bottleneck_mbps positive Mbit/s}
        {access_mbps positive Mbit/s}
        {buffer_pkts count packets}
        {error_pct nonnegative %}
        {bad_state_s positive s ""}
        {sample_s {multiple 0.001} s}
        {substream {count 1000000} ""}
    }
}

# The arguments, with the two that describe the bad state made consistent.
proc ::wireless::read {} {
    variable keys
    set config [::flows::read $keys {one_of 1}]
    dict with config {}
    if {$error_pct >= 100} {
        ::args::fail "-error_pct is '$error_pct', expected less than 100 (%)"
    }
    if {$error_pct > 0 && $bad_state_s eq ""} {
        ::args::fail "-bad_state_s is missing"
    }
    if {$error_pct == 0 && $bad_state_s ne ""} {
        ::args::fail "-bad_state_s is the length of the bad state: with -error_pct 0 there is none"
    }
    return $config
}

# An error model for the mobile node's radio: all frames that reach it in the bad state arrive
# damaged, both data and the MAC's own. ns-2 calls it without arguments, see make_radio_nodes.
proc ::wireless::error_model {error_pct bad_state_s} {
    set good_s [expr {$bad_state_s * (100.0 / $error_pct - 1)}]
    return [new ErrorModel/TwoStateMarkov [list $good_s $bad_state_s] time]
}

# Give nodes hierarchical addresses, which ns-2 needs for routing between wires and radio: the wired
# host is domain 0, base station and mobile node are domain 1.
proc ::wireless::prepare {} {
    global ns
    # ns-2 makes no node with a radio unless there is a file for all traces.
    $ns trace-all [open /dev/null w]
    $ns node-config -addressType hierarchical
    AddrParams set domain_num_ 2
    AddrParams set cluster_num_ {1 1}
    AddrParams set nodes_num_ {1 2}
}

# Set the parts of a node with a radio, and the length of its queue in packets; wired is ON for the
# base station.
proc ::wireless::configure {topography channel buffer_pkts wired} {
    global ns
    $ns node-config -adhocRouting DSDV -llType LL -macType Mac/802_11 \
        -ifqType Queue/DropTail/PriQueue -ifqLen $buffer_pkts -antType Antenna/OmniAntenna \
        -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy -channel $channel \
        -topoInstance $topography -wiredRouting $wired -agentTrace OFF -routerTrace OFF \
        -macTrace OFF -movementTrace OFF
}

proc ::wireless::place {node x} {
    $node random-motion 0
    $node set X_ $x
    $node set Y_ 50
    $node set Z_ 0
}

# The base station and, 10 m away from it, the mobile node, as the configuration says.
proc ::wireless::make_radio_nodes {config} {
    global ns
    dict with config {}
    set topography [new Topography]
    $topography load_flatgrid 100 100
    create-god 2
    Mac/802_11 set dataRate_ ${bottleneck_mbps}Mb
    Mac/802_11 set basicRate_ 1Mb
    # Routes are kept even if updates are lost, as routing is not a subject of the study.
    Agent/DSDV set min_update_periods_ 100000
    set channel [new Channel/WirelessChannel]
    configure $topography $channel $buffer_pkts ON
    set base [$ns node 1.0.0]
    place $base 40
    configure $topography $channel $buffer_pkts OFF
    if {$error_pct > 0} {
        interp alias {} ::wireless::errors {} ::wireless::error_model $error_pct $bad_state_s
        $ns node-config -IncomingErrProc ::wireless::errors
    }
    set mobile [$ns node 1.0.1]
    place $mobile 50
    $mobile base-station [AddrParams addr2id [$base node-addr]]
    return [list $base $mobile]
}

# Build the network of a configuration and run it.
proc ::wireless::run {config} {
    global ns
    dict with config {}
    set flow [lindex $flows 0]
    new_simulator {Flags IP TCP LL Mac ARP SR Message}
    ::flows::prepare $config
    seed_random $substream
    prepare
    set host [$ns node 0.0.0]
    lassign [make_radio_nodes $config] base mobile
    join_nodes $host $base $access_mbps [dict get $flow access_delay_ms] $buffer_pkts
    set agent [::agents::connect $flow $host $mobile 0]
    ::xu2004::record_sender $agent "" [dict get $flow record] $sample_s $datadir
    ::xu2004::run [list $agent] $flows $duration_s
}

::wireless::run [::wireless::read]
