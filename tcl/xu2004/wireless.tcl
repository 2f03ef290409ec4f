# One flow over a wired link to a base station and on over IEEE 802.11 at 2 Mbit/s, whose frames are
# lost while a two-state Markov chain is in its bad state (sections 4.1 and 4.2).
#
# Arguments: endtime (s) protocol error_pct (%, share of the time in the bad state, below 100)
#            bad_s (s, mean stay in the bad state) run (substream of the random numbers) DATADIR
source [file join [file dirname [info script]] .. lib bdpbench.tcl]

namespace eval ::wireless {
    variable start_s 20 ;# the flow's: by then the routes stand
}

# The error model of the mobile node's radio: all frames that reach it in the bad state arrive
# damaged, data as well as the MAC's own.
proc ::wireless::error_model {} {
    global error_pct bad_s
    set good_s [expr {$bad_s * (100.0 / $error_pct - 1)}]
    return [new ErrorModel/TwoStateMarkov [list $good_s $bad_s] time]
}

# Give nodes hierarchical addresses, which ns-2 needs to route between wires and radio: the wired
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

# Set up what a node with a radio is made of; wired is ON for the base station.
proc ::wireless::configure {topography channel wired} {
    global ns
    $ns node-config -adhocRouting DSDV -llType LL -macType Mac/802_11 \
        -ifqType Queue/DropTail/PriQueue -ifqLen 50 -antType Antenna/OmniAntenna \
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

# The base station and, 10 m from it, the mobile node.
proc ::wireless::make_radio_nodes {} {
    global ns error_pct
    set topography [new Topography]
    $topography load_flatgrid 100 100
    create-god 2
    Mac/802_11 set dataRate_ 2Mb
    Mac/802_11 set basicRate_ 1Mb
    # A route stays although updates are lost: the study is not of routing.
    Agent/DSDV set min_update_periods_ 100000
    set channel [new Channel/WirelessChannel]
    configure $topography $channel ON
    set base [$ns node 1.0.0]
    place $base 40
    configure $topography $channel OFF
    if {$error_pct > 0} {
        $ns node-config -IncomingErrProc ::wireless::error_model
    }
    set mobile [$ns node 1.0.1]
    place $mobile 50
    $mobile base-station [AddrParams addr2id [$base node-addr]]
    return [list $base $mobile]
}

::args::read [list {endtime positive s} [list protocol [::xu2004::protocol_type] ""] \
    {error_pct nonnegative %} {bad_s positive s} {run {count 1000000} ""} {DATADIR directory ""}]
if {$error_pct >= 100} {
    ::args::fail "error_pct is '$error_pct', expected less than 100 (%)"
}
if {$endtime <= $::wireless::start_s} {
    ::args::fail "endtime is '$endtime', expected more than $::wireless::start_s (s)"
}
new_simulator $run 9999 {Flags IP TCP LL Mac ARP SR Message}
::wireless::prepare
::xu2004::set_defaults
set host [$ns node 0.0.0]
lassign [::wireless::make_radio_nodes] base mobile
$ns duplex-link $host $base 10Mb 20ms DropTail
set agent [::xu2004::connect $protocol $host $mobile 0]
::xu2004::record_sender $agent "" $DATADIR
::xu2004::run $agent $::wireless::start_s
