# One flow over a bottleneck whose way back, which the ACKs take, has a rate of its own.
#
# Arguments are pairs -key value, in any order (tcl/lib/args.tcl):
#   -duration_s s                -bottleneck_mbps Mbit/s       -bottleneck_delay_ms ms (one way)
#   -access_mbps Mbit/s          -receiver_delay_ms ms         -buffer_pkts packets
#   -back_kbps kbit/s, of the way back                         -datadir directory of the output
#   -flows 1, and the keys of flow 0 and class defaults as tcl/lib/flows.tcl has them
#
# Writes the files of tcl/lib/monitors.tcl, of one flow.
source [file join $::env(BDPBENCH_TCL) lib args.tcl]
source [file join $::env(BDPBENCH_TCL) lib defaults.tcl]
source [file join $::env(BDPBENCH_TCL) lib agents.tcl]
source [file join $::env(BDPBENCH_TCL) lib topology.tcl]
source [file join $::env(BDPBENCH_TCL) lib flows.tcl]
source [file join $::env(BDPBENCH_TCL) lib traffic.tcl]
source [file join $::env(BDPBENCH_TCL) lib utils.tcl]
source [file join $::env(BDPBENCH_TCL) lib monitors.tcl]

namespace eval ::narrow_back {
    variable keys [concat $::topology::keys {{back_kbps positive kbit/s}}]
}

proc ::narrow_back::run {config} {
    global ns n1 n2
    dict with config {}
    new_simulator
    ::flows::prepare $config
    open_report $duration_s $bottleneck_mbps $datadir
    make_bottleneck $bottleneck_mbps $bottleneck_delay_ms $buffer_pkts
    [[$ns link $n2 $n1] link] set bandwidth_ ${back_kbps}kb
    monitor_bottleneck $datadir 0.1
    set agent [::flows::add $config 0]
    start_transfer $agent [dict get [lindex $flows 0] start_s]
    record_flow $agent 0 "" {} 0.1 $datadir
    run_to_end 0
}

::narrow_back::run [::flows::read $::narrow_back::keys {one_of 1}]
