# One flow over one bottleneck (chapter 3).
#
# Arguments are pairs -key value, in any order (tcl/lib/args.tcl):
#   -duration_s s                -bottleneck_mbps Mbit/s       -bottleneck_delay_ms ms (one way)
#   -access_mbps Mbit/s          -receiver_delay_ms ms         -buffer_pkts packets
#   -sample_s s, of the sender, a multiple of 0.001            -queue_sample_s s, of queue.out, too
#   -datadir directory of the output
#   -flows 1, and the keys of flow 0 and class defaults as tcl/lib/flows.tcl has them
# Optional, with their defaults:
#   -trace 0                     1: write every packet on all links to pckts.trq
#   -substream 1                 1, 2, ... of the random numbers, for agents that draw any
#                                (overhead_)
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

namespace eval ::single_flow {
    variable keys [concat $::topology::keys {
        {sample_s {multiple 0.001} s}
        {queue_sample_s {multiple 0.001} s}
        {trace bit "" 0}
        {substream {count 1000000} "" 1}
    }]
}

# Build the network of a configuration and run it.
proc ::single_flow::run {config} {
    global ns
    dict with config {}
    new_simulator
    ::flows::prepare $config
    seed_random $substream
    if {$trace} {
        $ns trace-all [open $datadir/pckts.trq w]
    }
    make_bottleneck $bottleneck_mbps $bottleneck_delay_ms $buffer_pkts
    set agent [::flows::add $config 0]
    ::xu2004::record_bottleneck $queue_sample_s $datadir
    ::xu2004::record_sender $agent "" [dict get [lindex $flows 0] record] $sample_s $datadir
    ::xu2004::run [list $agent] $flows $duration_s
}

::single_flow::run [::flows::read $::single_flow::keys {one_of 1}]
