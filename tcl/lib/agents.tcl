# Agents of flows, described by the dict of flows.tcl. Needs args.tcl, defaults.tcl.

namespace eval ::agents {
    # Agents and sinks that need a different kind of peer, data source or packet header.
    variable unfit {TCP/FullTcp* TCP/BayFullTcp* TCP/SimpleTcp* TCP/Int* *XCP* *Asym*}
}

# Whether an agent has a variable. Tcl can set one that ns-2 does not bind, but to no effect.
proc ::agents::has {agent name} {
    return [expr {![catch {$agent set $name}]}]
}

# Make sure that a flow's agent and sink are classes of this ns-2, and of the right kind. key:
# flow.<i>, for messages.
proc ::agents::check_classes {key flow} {
    variable unfit
    foreach {role parent} {agent Agent/TCP sink Agent/TCPSink} {
        set name [dict get $flow $role]
        set said "-$key.$role is '$name'"
        if {![::defaults::is_class Agent/$name]} {
            ::args::fail "$said: this ns-2 has no Agent/$name"
        }
        if {$parent ni [::defaults::lineage Agent/$name]} {
            ::args::fail "$said, expected a kind of $parent"
        }
        if {[lsearch -exact [lmap each $unfit {string match $each $name}] 1] >= 0} {
            ::args::fail "$said: that needs a peer or packet headers that this script does not\
                have"
        }
    }
    if {[dict get $flow linux] ne "" && [dict get $flow agent] ne "TCP/Linux"} {
        ::args::fail "-$key.linux needs -$key.agent TCP/Linux"
    }
}

# Make sure that a flow's agent has the variables to be set and recorded, and its congestion
# control. An agent that takes no part in the simulation shows this.
proc ::agents::check_variables {key flow} {
    set class Agent/[dict get $flow agent]
    set probe [new $class]
    dict for {name value} [dict get $flow settings] {
        if {![has $probe $name]} {
            ::args::fail "-$key.set.$name: $class of this ns-2 has no variable '$name'"
        }
        # The congestion control may depend on it.
        $probe set $name $value
    }
    foreach name [dict get $flow record] {
        if {![has $probe $name]} {
            ::args::fail "-$key.record: $class of this ns-2 has no variable '$name'"
        }
    }
    delete $probe
    if {[dict get $flow linux] ne ""} {
        check_algorithm $key [dict get $flow linux]
    }
}

# Make sure that TCP/Linux has a congestion control of this name. For an unknown name the agent only
# prints a remark; for a known one a new agent sets its clock, tcpTick_, to that of Linux.
proc ::agents::check_algorithm {key name} {
    set impossible 0.5 ;# s
    set probe [new Agent/TCP/Linux]
    $probe set tcpTick_ $impossible
    $probe select_ca $name
    if {[$probe set tcpTick_] == $impossible} {
        ::args::fail "-$key.linux: Agent/TCP/Linux of this ns-2 has no congestion control '$name'"
    }
    delete $probe
}

# The receiver's window of a flow, in whole packets.
proc ::agents::window_pkts {flow} {
    set window [::defaults::value Agent/[dict get $flow agent] window_]
    if {[dict exists $flow settings window_]} {
        set window [dict get $flow settings window_]
    }
    return [expr {max(1, int(ceil($window)))}]
}

# Connect a flow's sender at one node to its sink at another and return the sender.
proc ::agents::connect {flow from to fid} {
    global ns
    lassign [$ns create-connection-list [dict get $flow agent] $from [dict get $flow sink] $to \
        $fid] agent sink
    dict for {name value} [dict get $flow settings] {
        $agent set $name $value
    }
    if {[dict get $flow linux] ne ""} {
        # Linux's algorithms take their RTT samples from echoed timestamps (RFC 1323).
        $sink set ts_echo_rfc1323_ true
        # The agent can take its algorithm only after its reset, which is at time 0.
        $ns at 0 "$agent select_ca [dict get $flow linux]"
    }
    return $agent
}
