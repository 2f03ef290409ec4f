# Flows described by arguments: -flows N, and for each flow i = 0, 1, ... the keys -flow.<i>.*.
# Needs args.tcl, defaults.tcl, agents.tcl, topology.tcl.
#
#   -flow.<i>.agent TCP/Sack1    ns-2's agent, a kind of Agent/TCP
#   -flow.<i>.sink TCPSink/Sack1 a kind of Agent/TCPSink
#   -flow.<i>.start_s            s, before the end of the run
#   -flow.<i>.access_delay_ms    ms, one way, of the sender's access link
# Optional:
#   -flow.<i>.linux <name>       congestion control of agent TCP/Linux, e.g. cubic
#   -flow.<i>.record "a_ b_"     variables of the agent that its cwnd file contains after cwnd
#   -flow.<i>.set.<variable_> n  a variable of the agent, e.g. -flow.0.set.windowOption_ 8
# and also the class defaults of defaults.tcl, for agents, sinks and the classes they inherit from.

namespace eval ::flows {
    variable agent_name {matching ^[A-Za-z0-9/]+$ {the name of an ns-2 agent}}
    variable keys [list \
        [list agent $agent_name ""] \
        [list sink $agent_name ""] \
        {start_s nonnegative s} \
        {access_delay_ms nonnegative ms} \
        {linux {matching ^[a-z0-9_]+$ {the name of a congestion control of TCP/Linux}} "" ""} \
        {record {matching {^[a-z]\w*_( [a-z]\w*_)*$} {names of variables between blanks}} "" {}}]
}

# The arguments of a script as a dict: duration_s and datadir, the keys of table; under flows, a
# list with a dict for each flow (its keys, and its settings as a dict); and under defaults, the
# class defaults.
#   number  type of -flows: how many flows the script may have
#   made    classes, other than agents and sinks, whose defaults may be set
proc ::flows::read {table {number count} {made {}}} {
    set given [::args::pairs]
    set config [::args::take given [concat \
        {{duration_s positive s} {datadir directory ""}} $table [list [list flows $number ""]]]]
    set count [dict get $config flows]
    dict set config flows {}
    for {set fid 0} {$fid < $count} {incr fid} {
        dict lappend config flows [take_flow given $fid [dict get $config duration_s]]
    }
    foreach flow [dict get $config flows] {
        lappend made Agent/[dict get $flow agent] Agent/[dict get $flow sink]
    }
    dict set config defaults [::defaults::take given $made]
    ::args::refuse_rest $given " (-flows is $count)"
    return $config
}

# Take the keys of one flow out of those given (a variable of the caller).
proc ::flows::take_flow {given_name fid duration_s} {
    upvar $given_name given
    variable keys
    set flow [::args::take given $keys flow.$fid.]
    ::agents::check_classes flow.$fid $flow
    if {[dict get $flow start_s] >= $duration_s} {
        ::args::fail "-flow.$fid.start_s is '[dict get $flow start_s]',\
            expected less than -duration_s, $duration_s (s)"
    }
    dict set flow settings [dict create]
    dict for {name value} [::args::take_prefixed given flow.$fid.set.] {
        set key -flow.$fid.set.$name
        if {![::defaults::may_set $name]} {
            ::args::fail "$key: '$name' is not a variable that can be set"
        }
        dict set flow settings $name [::args::checked $key number "" $value]
    }
    return $flow
}

# Make sure that the agents of a configuration accept their settings, with its class defaults. Call
# this after new_simulator, before any file is opened, and before seed_random, because new agents
# draw random numbers.
proc ::flows::prepare {config} {
    ::defaults::apply [dict get $config defaults]
    set fid 0
    foreach flow [dict get $config flows] {
        ::agents::check_variables flow.$fid $flow
        incr fid
    }
}

# Make the hosts of flow fid of a configuration, connect them and return the sending agent.
proc ::flows::add {config fid} {
    set flow [lindex [dict get $config flows] $fid]
    # No queue before the bottleneck may lose a packet: each holds all that a window can hold.
    lassign [make_hosts [dict get $config access_mbps] [dict get $flow access_delay_ms] \
        [dict get $config receiver_delay_ms] [::agents::window_pkts $flow]] from to
    return [::agents::connect $flow $from $to $fid]
}
