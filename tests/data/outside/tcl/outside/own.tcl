# One flow over one bottleneck, its cwnd sampled: a script that lies with its study.
source [file join $::env(BDPBENCH_TCL) lib args.tcl]
source [file join $::env(BDPBENCH_TCL) lib defaults.tcl]
source [file join $::env(BDPBENCH_TCL) lib agents.tcl]
source [file join $::env(BDPBENCH_TCL) lib topology.tcl]
source [file join $::env(BDPBENCH_TCL) lib flows.tcl]
source [file join $::env(BDPBENCH_TCL) lib traffic.tcl]

# Every interval (s): time and cwnd (packets).
proc sample {agent interval channel} {
    global ns
    puts $channel "[format %.2f [$ns now]] [$agent set cwnd_]"
    $ns at [expr {[$ns now] + $interval}] [list sample $agent $interval $channel]
}

proc run {config} {
    global ns
    dict with config {}
    new_simulator
    ::flows::prepare $config
    make_bottleneck $bottleneck_mbps $bottleneck_delay_ms $buffer_pkts
    set agent [::flows::add $config 0]
    start_transfer $agent [dict get [lindex $flows 0] start_s]
    set channel [open $datadir/cwnd.out w]
    sample $agent $sample_s $channel
    $ns at $duration_s "close $channel; exit 0"
    $ns run
}

run [::flows::read [concat $::topology::keys {{sample_s {multiple 0.01} s}}] {one_of 1}]
