# One sender with a limited number of packets. The script is outside bdpbench; it uses parts of
# bdpbench's library and one part of its own.
source [file join $::env(BDPBENCH_TCL) lib args.tcl]
source [file join $::env(BDPBENCH_TCL) lib defaults.tcl]
source [file join $::env(BDPBENCH_TCL) lib agents.tcl]
source [file join $::env(BDPBENCH_TCL) lib topology.tcl]
source [file join $::env(BDPBENCH_TCL) lib flows.tcl]
source [file join $::env(BDPBENCH_TCL) lib utils.tcl]
source [file join $::env(BDPBENCH_TCL) lib monitors.tcl]
source [file join [file dirname [info script]] lib limited.tcl]

set config [::flows::read [concat $::topology::keys {{transfer_pkts count packets}}] {one_of 1}]
dict with config {}
new_simulator
::flows::prepare $config
open_report $duration_s $bottleneck_mbps $datadir
make_bottleneck $bottleneck_mbps $bottleneck_delay_ms $buffer_pkts
monitor_bottleneck $datadir 0.1
set agent [::flows::add $config 0]
start_limited_transfer $agent [dict get [lindex $flows 0] start_s] $transfer_pkts
record_flow $agent 0 "" {} 0.1 $datadir
run_to_end 0
