# Flows over one bottleneck, described wholly by arguments: the script of configurations that
# have no script of their own.
#
# Arguments are pairs -key value, in any order (lib/args.tcl). Required:
#   -duration_s s                -bottleneck_mbps Mbit/s       -bottleneck_delay_ms ms (one way)
#   -access_mbps Mbit/s          -receiver_delay_ms ms         -buffer_pkts packets
#   -packet_bytes B of data      -datadir directory of the output
#   -flows number of flows, and the keys of each as lib/flows.tcl has them
# Optional, with what they are when left out:
#   -sample_s 0.1                s between samples of cwnd, a multiple of 0.01
#   -queue_sample_s              s between samples of the queue, a multiple of 0.01: as -sample_s
#   -queue DropTail              or RED
#   -trace 0                     1: every packet at the bottleneck to pckts.trq
#   -seed 9999  -substream 1     random numbers: seed, substream
#   -default.<class>.<variable_> class defaults as lib/flows.tcl has them, and of Queue/<queue>
#
# The RTT of flow i is 2 (access_delay + bottleneck_delay + receiver_delay). Agents have ns-2's
# defaults except that the receiver's window (window_) never limits a flow, unless it is set.
#
# Writes the files of lib/monitors.tcl, cwnd_hstcp0.out and so on, whatever the number of flows.
source [file join [file dirname [info script]] lib args.tcl]
source [file join [file dirname [info script]] lib defaults.tcl]
source [file join [file dirname [info script]] lib agents.tcl]
source [file join [file dirname [info script]] lib topology.tcl]
source [file join [file dirname [info script]] lib flows.tcl]
source [file join [file dirname [info script]] lib traffic.tcl]
source [file join [file dirname [info script]] lib utils.tcl]
source [file join [file dirname [info script]] lib monitors.tcl]

namespace eval ::dumbbell {
    variable keys [concat $::topology::keys {
        {packet_bytes count B}
        {sample_s {multiple 0.01} s 0.1}
        {queue_sample_s {multiple 0.01} s ""}
        {trace bit "" 0}
        {seed count "" 9999}
        {substream {count 1000000} "" 1}
    }]
    variable queue_keys {{queue {one_of DropTail RED} "" DropTail}}
}

# The kind of the bottleneck's queue, which decides what class defaults there can be.
proc ::dumbbell::queue {} {
    variable queue_keys
    set given [::args::pairs]
    return [dict get [::args::take given $queue_keys] queue]
}

# The configuration: the arguments, those that follow from others filled in.
proc ::dumbbell::read {} {
    variable keys
    variable queue_keys
    set config [::flows::read [concat $keys $queue_keys] count [list Queue/[queue]]]
    if {[dict get $config queue_sample_s] eq ""} {
        dict set config queue_sample_s [dict get $config sample_s]
    }
    check_defaults $config
    return $config
}

# Make sure that no class default is at odds with what other keys set.
proc ::dumbbell::check_defaults {config} {
    dict with config {}
    foreach {name key} {
        Agent/TCP.packetSize_ packet_bytes Queue/RED.mean_pktsize_ packet_bytes
        Queue/RED.limit_ buffer_pkts Queue/DropTail.limit_ buffer_pkts
        Queue.limit_ buffer_pkts
    } {
        foreach row $defaults {
            set expected [dict get $config $key]
            if {[join [lrange $row 0 1] .] eq $name && [lindex $row 2] != $expected} {
                ::args::fail "-default.$name is '[lindex $row 2]', expected $expected, -$key"
            }
        }
    }
}

# A window that never limits a flow, in packets: several times what path and buffer can hold.
proc ::dumbbell::ample_window {config} {
    dict with config {}
    set access_delay_ms [tcl::mathfunc::max {*}[lmap flow $flows {dict get $flow access_delay_ms}]]
    set rtt_ms [expr {2 * ($access_delay_ms + $bottleneck_delay_ms + $receiver_delay_ms)}]
    set bdp_pkts [expr {$bottleneck_mbps * $rtt_ms * 1000 / 8 / $packet_bytes}]
    return [expr {max(10000, int(4 * ($bdp_pkts + $buffer_pkts)))}]
}

# Add flow fid of a configuration with its hosts, its start and its records.
proc ::dumbbell::add_flow {config fid} {
    dict with config {}
    set flow [lindex $flows $fid]
    set agent [::flows::add $config $fid]
    start_transfer $agent [dict get $flow start_s]
    record_flow $agent $fid $fid [dict get $flow record] $sample_s $datadir
}

# Build the network of a configuration and run it.
proc ::dumbbell::run {config} {
    dict with config {}
    new_simulator
    Agent/TCP set packetSize_ $packet_bytes
    Agent/TCP set window_ [ample_window $config]
    Queue/RED set mean_pktsize_ $packet_bytes
    ::flows::prepare $config
    seed_random $substream $seed
    open_report $duration_s $bottleneck_mbps $datadir
    make_bottleneck $bottleneck_mbps $bottleneck_delay_ms $buffer_pkts $queue
    if {$trace} {
        trace_packets $datadir
    }
    monitor_bottleneck $datadir $queue_sample_s
    set fids {}
    foreach flow $flows {
        add_flow $config [llength $fids]
        lappend fids [llength $fids]
    }
    run_to_end $fids
}

::dumbbell::run [::dumbbell::read]
