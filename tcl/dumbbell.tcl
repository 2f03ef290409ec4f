# Flows over one bottleneck, described wholly by arguments: the script of configurations that
# have no script of their own.
#
# Arguments are pairs -key value, in any order. Required:
#   -duration_s s                -bottleneck_mbps Mbit/s       -bottleneck_delay_ms ms (one way)
#   -access_mbps Mbit/s          -receiver_delay_ms ms         -buffer_pkts packets
#   -packet_bytes B of data      -flows number of flows        -datadir directory of the output
# and for each flow i = 0, 1, ...
#   -flow.<i>.agent TCP/Sack1    ns-2's agent, a kind of Agent/TCP
#   -flow.<i>.access_delay_ms ms
# Optional, with what they are when left out:
#   -sample_s 0.1                s between samples of cwnd and queue, a multiple of 0.01
#   -queue DropTail              or RED
#   -trace 0                     1: every packet at the bottleneck to pckts.trq
#   -seed 9999  -run 1           random numbers: seed, substream
#   -flow.<i>.sink TCPSink/Sack1 a kind of Agent/TCPSink
#   -flow.<i>.start_s 0
#   -flow.<i>.linux <name>       congestion control of agent TCP/Linux, e.g. cubic
#   -flow.<i>.set.<variable_> n  a variable of the agent, e.g. -flow.0.set.windowOption_ 8
#
# The RTT of flow i is 2 (access_delay + bottleneck_delay + receiver_delay). Agents have ns-2's
# defaults except that the receiver's window (window_) never limits a flow.
source [file join [file dirname [info script]] lib bdpbench.tcl]

namespace eval ::dumbbell {
    # Key, type, unit and, for optional keys, what it is when left out.
    variable keys {
        {duration_s positive s}
        {bottleneck_mbps positive Mbit/s}
        {bottleneck_delay_ms nonnegative ms}
        {access_mbps positive Mbit/s}
        {receiver_delay_ms nonnegative ms}
        {buffer_pkts count packets}
        {packet_bytes count B}
        {flows count ""}
        {datadir directory ""}
        {sample_s hundredths s 0.1}
        {queue {one_of DropTail RED} "" DropTail}
        {trace bit "" 0}
        {seed count "" 9999}
        {run {count 1000000} "" 1}
    }
    variable agent_name {matching ^[A-Za-z0-9/]+$ {the name of an ns-2 agent}}
    variable flow_keys [list \
        [list agent $agent_name ""] \
        {access_delay_ms nonnegative ms} \
        [list sink $agent_name "" TCPSink/Sack1] \
        {start_s nonnegative s 0} \
        {linux {matching ^[a-z0-9_]*$ {the name of a congestion control of TCP/Linux}} "" ""}]
    # Agents and sinks that need a peer, a sender of data or packet headers of another kind.
    variable unfit {TCP/FullTcp* TCP/BayFullTcp* TCP/SimpleTcp* TCP/Int* *XCP* *Asym*}
    # Variables that the script itself sets, to tell flows apart and packets where to go.
    variable reserved {fid_ agent_addr_ agent_port_ dst_addr_ dst_port_}
}

# The arguments as a dict key -> value, keys without their dash.
proc ::dumbbell::pairs {} {
    global argv
    set given [dict create]
    foreach {key value} $argv {
        if {![string match -* $key]} {
            ::args::fail "'$key' is not a key: arguments are pairs -key value"
        }
        set key [string range $key 1 end]
        if {[dict exists $given $key]} {
            ::args::fail "-$key is given twice"
        }
        dict set given $key $value
    }
    if {[llength $argv] % 2} {
        ::args::fail "[lindex $argv end] has no value: arguments are pairs -key value"
    }
    return $given
}

# Take the values of a table's keys out of a dict (a variable of the caller), checked; prefix is
# "" or "flow.<i>.".
proc ::dumbbell::take {given_name table prefix} {
    upvar $given_name given
    set taken [dict create]
    foreach row $table {
        lassign $row key type unit default
        set name $prefix$key
        if {[dict exists $given $name]} {
            dict set taken $key [::args::checked -$name $type $unit [dict get $given $name]]
        } elseif {[llength $row] == 4} {
            dict set taken $key $default
        } else {
            ::args::fail "-$name is missing"
        }
        dict unset given $name
    }
    return $taken
}

# Take what a flow's agent is to have set (-flow.<i>.set.*), as a dict variable -> number.
proc ::dumbbell::take_settings {given_name fid} {
    upvar $given_name given
    variable reserved
    set settings [dict create]
    dict for {key value} [dict filter $given key flow.$fid.set.*] {
        set variable [string range $key [string length flow.$fid.set.] end]
        if {![regexp {^[a-z][A-Za-z0-9_]*_$} $variable] || $variable in $reserved} {
            ::args::fail "-$key: '$variable' is not a variable that can be set"
        }
        dict set settings $variable [::args::checked -$key number "" $value]
        dict unset given $key
    }
    return $settings
}

# The configuration: the global keys and, under senders, a list with a dict for each flow.
proc ::dumbbell::read {} {
    variable keys
    variable flow_keys
    set given [pairs]
    set config [take given $keys ""]
    for {set fid 0} {$fid < [dict get $config flows]} {incr fid} {
        set flow [take given $flow_keys flow.$fid.]
        dict set flow settings [take_settings given $fid]
        check_classes $fid $flow
        dict lappend config senders $flow
    }
    if {[dict size $given] > 0} {
        set key [lindex [dict keys $given] 0]
        ::args::fail "unknown key -$key (-flows is [dict get $config flows])"
    }
    return $config
}

# Make sure that a flow's agent and sink are classes of this ns-2, and of the right kind.
proc ::dumbbell::check_classes {fid flow} {
    variable unfit
    foreach {key parent} {agent Agent/TCP sink Agent/TCPSink} {
        set name [dict get $flow $key]
        if {![::agents::exists $name]} {
            ::args::fail "-flow.$fid.$key is '$name': this ns-2 has no Agent/$name"
        }
        if {$parent ni [concat Agent/$name [Agent/$name info heritage]]} {
            ::args::fail "-flow.$fid.$key is '$name', expected a kind of $parent"
        }
        if {[lsearch -exact [lmap each $unfit {string match $each $name}] 1] >= 0} {
            ::args::fail "-flow.$fid.$key is '$name': that needs a peer or packet headers that\
                this script does not have"
        }
    }
    if {[dict get $flow linux] ne "" && [dict get $flow agent] ne "TCP/Linux"} {
        ::args::fail "-flow.$fid.linux needs -flow.$fid.agent TCP/Linux"
    }
}

# Set a sender and its sink up as its flow says.
proc ::dumbbell::set_up {agent sink flow} {
    global ns
    dict for {name value} [dict get $flow settings] {
        if {![::agents::has $agent $name]} {
            ::args::fail "[$agent info class] of this ns-2 has no variable '$name'"
        }
        $agent set $name $value
    }
    if {[dict get $flow linux] ne ""} {
        check_algorithm [dict get $flow linux]
        # Linux's algorithms take their RTT samples from echoed timestamps (RFC 1323).
        $sink set ts_echo_rfc1323_ true
        # The agent takes its algorithm once it has been reset, which it is at time 0.
        $ns at 0 "$agent select_ca [dict get $flow linux]"
    }
}

# Make sure that TCP/Linux has a congestion control of this name. Of a name that it does not know
# the agent only prints a remark; a new agent that knows it sets its clock, tcpTick_, to Linux's.
proc ::dumbbell::check_algorithm {name} {
    set impossible 0.5 ;# s
    set probe [new Agent/TCP/Linux]
    $probe set tcpTick_ $impossible
    $probe select_ca $name
    if {[$probe set tcpTick_] == $impossible} {
        ::args::fail "Agent/TCP/Linux of this ns-2 has no congestion control '$name'"
    }
    delete $probe
}

# Add a flow with its hosts, its start and its records.
proc ::dumbbell::add_flow {fid flow config} {
    global ns
    dict with config {}
    # No queue before the bottleneck may lose a packet: room for all that a window can hold.
    lassign [make_hosts $access_mbps [dict get $flow access_delay_ms] $receiver_delay_ms \
        [Agent/TCP set window_]] from to
    lassign [$ns create-connection-list [dict get $flow agent] $from [dict get $flow sink] $to \
        $fid] agent sink
    set_up $agent $sink $flow
    start_transfer $agent [dict get $flow start_s]
    record_flow $agent $fid $fid "" $datadir $sample_s
}

# A window that never limits a flow, in packets: several times what path and buffer can hold.
proc ::dumbbell::ample_window {config} {
    dict with config {}
    set access_delays_ms [lmap flow $senders {dict get $flow access_delay_ms}]
    set access_delay_ms [tcl::mathfunc::max {*}$access_delays_ms]
    set rtt_ms [expr {2 * ($access_delay_ms + $bottleneck_delay_ms + $receiver_delay_ms)}]
    set bdp_pkts [expr {$bottleneck_mbps * $rtt_ms * 1000 / 8 / $packet_bytes}]
    return [expr {max(10000, int(4 * ($bdp_pkts + $buffer_pkts)))}]
}

# Build the network of a configuration and run it.
proc ::dumbbell::run {config} {
    global endtime bandwidth
    dict with config {}
    set endtime $duration_s
    set bandwidth $bottleneck_mbps
    open_report $datadir
    new_simulator $run $seed
    Agent/TCP set packetSize_ $packet_bytes
    Agent/TCP set window_ [ample_window $config]
    Queue/RED set mean_pktsize_ $packet_bytes
    make_bottleneck $bottleneck_mbps $bottleneck_delay_ms $buffer_pkts $queue
    if {$trace} {
        trace_packets $datadir
    }
    monitor_bottleneck $datadir $sample_s
    set fids {}
    foreach flow $senders {
        add_flow [llength $fids] $flow $config
        lappend fids [llength $fids]
    }
    run_to_end $fids
}

::dumbbell::run [::dumbbell::read]
