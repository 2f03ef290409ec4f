# One flow over one bottleneck (Appendices C to F): one enforced drop or none, any buffer, any RTT.
#
# Arguments are pairs -key value, in any order (tcl/lib/args.tcl):
#   -duration_s s                -bottleneck_mbps Mbit/s       -bottleneck_delay_ms ms (one way)
#   -access_mbps Mbit/s          -receiver_delay_ms ms         -buffer_pkts packets
#   -sample_s s, of cwnd, a multiple of 0.01                   -queue_sample_s s, of queue.out, too
#   -substream 1, 2, ... of the random numbers                 -datadir directory of the output
#   -flows 1, and the keys of flow 0 and class defaults as tcl/lib/flows.tcl has them
# Optional:
#   -drop_packet n               the bottleneck loses the flow's n-th packet, counting
#                                retransmissions
#
# Writes the files of tcl/lib/monitors.tcl for one flow, without pckts.trq.
source [file join [file dirname [info script]] .. lib args.tcl]
source [file join [file dirname [info script]] .. lib defaults.tcl]
source [file join [file dirname [info script]] .. lib agents.tcl]
source [file join [file dirname [info script]] .. lib topology.tcl]
source [file join [file dirname [info script]] .. lib flows.tcl]
source [file join [file dirname [info script]] .. lib loss.tcl]
source [file join [file dirname [info script]] .. lib traffic.tcl]
source [file join [file dirname [info script]] .. lib utils.tcl]
source [file join [file dirname [info script]] .. lib monitors.tcl]

namespace eval ::single_flow {
    variable keys [concat $::topology::keys {
        {sample_s {multiple 0.01} s}
        {queue_sample_s {multiple 0.01} s}
        {substream {count 1000000} ""}
        {drop_packet {count 99999999} packets ""}
    }]
}

# Build the network of a configuration and run it.
proc ::single_flow::run {config} {
    global frep
    dict with config {}
    new_simulator
    ::flows::prepare $config
    seed_random $substream
    open_report $duration_s $bottleneck_mbps $datadir
    make_bottleneck $bottleneck_mbps $bottleneck_delay_ms $buffer_pkts
    if {$drop_packet ne ""} {
        drop_one_packet 0 $drop_packet
    }
    monitor_bottleneck $datadir $queue_sample_s
    set agent [::flows::add $config 0]
    set flow [lindex $flows 0]
    set start_s [dict get $flow start_s]
    start_transfer $agent $start_s
    puts $frep "hstcp starttime: $start_s"
    record_flow $agent 0 "" [dict get $flow record] $sample_s $datadir
    run_to_end 0
}

::single_flow::run [::flows::read $::single_flow::keys {one_of 1}]
