# One flow over one bottleneck, whose access links have queues that may lose packets (chapter 3).
#
# The script single_flow.tcl gives the access links queues that hold a whole window. Here they have a
# size, such as ns-2's default of 50 packets, which loses packets of long bursts, and of slow start if
# the access links are hardly faster than the bottleneck. Arguments are those of single_flow.tcl except
# trace, and
#   -access_buffer_pkts packets, of each queue of the access links
#
# Writes the files of common.tcl.
source [file join [file dirname [info script]] .. lib args.tcl]
source [file join [file dirname [info script]] .. lib defaults.tcl]
source [file join [file dirname [info script]] .. lib agents.tcl]
source [file join [file dirname [info script]] .. lib topology.tcl]
source [file join [file dirname [info script]] .. lib flows.tcl]
source [file join [file dirname [info script]] .. lib traffic.tcl]
source [file join [file dirname [info script]] .. lib utils.tcl]
source [file join [file dirname [info script]] common.tcl]

namespace eval ::access_queues {
    variable keys [concat $::topology::keys {
        {access_buffer_pkts count packets}
        {sample_s {multiple 0.001} s}
        {queue_sample_s {multiple 0.001} s}
        {substream {count 1000000} "" 1}
    }]
}

# Build the network of a configuration and run it.
proc ::access_queues::run {config} {
    dict with config {}
    new_simulator
    ::flows::prepare $config
    seed_random $substream
    make_bottleneck $bottleneck_mbps $bottleneck_delay_ms $buffer_pkts
    set flow [lindex $flows 0]
    lassign [make_hosts $access_mbps [dict get $flow access_delay_ms] $receiver_delay_ms \
        $access_buffer_pkts] from to
    set agent [::agents::connect $flow $from $to 0]
    ::xu2004::record_bottleneck $queue_sample_s $datadir
    ::xu2004::record_sender $agent "" [dict get $flow record] $sample_s $datadir
    ::xu2004::run [list $agent] $flows $duration_s
}

::access_queues::run [::flows::read $::access_queues::keys {one_of 1}]
