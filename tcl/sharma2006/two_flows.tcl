# Two flows over one bottleneck (Appendices G and H): one protocol with different RTTs, or any two
# protocols.
#
# Arguments are pairs -key value, in any order (tcl/lib/args.tcl):
#   -duration_s s                -bottleneck_mbps Mbit/s       -bottleneck_delay_ms ms (one way)
#   -access_mbps Mbit/s          -receiver_delay_ms ms         -buffer_pkts packets
#   -sample_s s, of cwnd, a multiple of 0.01                   -queue_sample_s s, of queue.out, too
#   -substream 1, 2, ... of the random numbers                 -datadir directory of the output
#   -flows 2, and the keys of flows 0 and 1 and class defaults as tcl/lib/flows.tcl has them
#
# In both appendices the second flow inherits from the first what its own branch does not set
# (low_window_ for CUBIC and H-TCP, the form of the cwnd file for FAST after BIC). Here each flow
# has its own settings, which makes no difference if both flows use the same protocol.
#
# Writes the files of tcl/lib/monitors.tcl for two flows, without pckts.trq.
source [file join [file dirname [info script]] .. lib args.tcl]
source [file join [file dirname [info script]] .. lib defaults.tcl]
source [file join [file dirname [info script]] .. lib agents.tcl]
source [file join [file dirname [info script]] .. lib topology.tcl]
source [file join [file dirname [info script]] .. lib flows.tcl]
source [file join [file dirname [info script]] .. lib traffic.tcl]
source [file join [file dirname [info script]] .. lib utils.tcl]
source [file join [file dirname [info script]] .. lib monitors.tcl]

namespace eval ::two_flows {
    variable keys [concat $::topology::keys {
        {sample_s {multiple 0.01} s}
        {queue_sample_s {multiple 0.01} s}
        {substream {count 1000000} ""}
    }]
}

# Add flow 0 or 1 of a configuration with its hosts, its start and its records.
proc ::two_flows::add {config fid} {
    global frep
    set flow [lindex [dict get $config flows] $fid]
    set start_s [dict get $flow start_s]
    # Both appendices write these two remarks into the report, whatever the delays are.
    puts $frep "hstcp$fid, forwardlink delay=1 ms"
    puts $frep "hstcp$fid, RTT = 100.00 ms"
    set agent [::flows::add $config $fid]
    start_transfer $agent $start_s
    puts $frep "hstcp$fid starttime: $start_s"
    record_flow $agent $fid $fid [dict get $flow record] [dict get $config sample_s] \
        [dict get $config datadir]
}

# Build the network of a configuration and run it.
proc ::two_flows::run {config} {
    global frep
    dict with config {}
    new_simulator
    ::flows::prepare $config
    seed_random $substream
    open_report $duration_s $bottleneck_mbps $datadir
    printlegend
    puts $frep "BufferSize(Packets) $buffer_pkts"
    make_bottleneck $bottleneck_mbps $bottleneck_delay_ms $buffer_pkts
    monitor_bottleneck $datadir $queue_sample_s
    foreach fid {0 1} {
        add $config $fid
    }
    run_to_end {0 1}
}

::two_flows::run [::flows::read $::two_flows::keys {one_of 2}]
