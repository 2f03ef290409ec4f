# The experiments of the introduction (Appendices A and B): one flow over one bottleneck, whose
# packets are traced.
#
# Arguments are pairs -key value, in any order (tcl/lib/args.tcl):
#   -duration_s s                -bottleneck_mbps Mbit/s       -bottleneck_delay_ms ms (one way)
#   -access_mbps Mbit/s          -receiver_delay_ms ms         -buffer_pkts packets
#   -sample_s s, of cwnd, a multiple of 0.01                   -datadir directory of the output
#   -flows 1, and the keys of flow 0 and class defaults as tcl/lib/flows.tcl has them
# Optional, with their defaults:
#   -trace 0                     1: write every packet at the bottleneck to pckts.trq (at 622 Mbit/s
#                                a full link writes 24 MB of trace per simulated second)
#   -substream 1                 1, 2, ... of the random numbers
#
# These two appendices have measuring procedures of their own, so they differ from the others: the
# files are cwnd.out, tput.out (every second) and pckts.trq; sample times add up (0.1 + 0.1 + ...);
# a sample due at the very end is not taken; the throughput has no line before the flow's first
# packet.
source [file join [file dirname [info script]] .. lib args.tcl]
source [file join [file dirname [info script]] .. lib defaults.tcl]
source [file join [file dirname [info script]] .. lib agents.tcl]
source [file join [file dirname [info script]] .. lib topology.tcl]
source [file join [file dirname [info script]] .. lib flows.tcl]
source [file join [file dirname [info script]] .. lib traffic.tcl]
source [file join [file dirname [info script]] .. lib utils.tcl]
source [file join [file dirname [info script]] .. lib monitors.tcl]

namespace eval ::standard_tcp {
    variable keys [concat $::topology::keys {
        {sample_s {multiple 0.01} s}
        {trace bit "" 0}
        {substream {count 1000000} "" 1}
    }]
}

# Every interval (s): time and some variables of an agent.
proc ::standard_tcp::write_variables {agent names interval channel} {
    global ns
    set now [$ns now]
    puts $channel "[format %.2f $now] [join [lmap name $names {$agent sampled $name}] { }] "
    $ns at [expr {$now + $interval}] \
        [list ::standard_tcp::write_variables $agent $names $interval $channel]
}

# Every interval (s): throughput, Mbit/s, of flow 0 since it had sent last_bytes bytes.
proc ::standard_tcp::write_throughput {fmon interval last_bytes channel} {
    global ns
    set now [$ns now]
    set flow [::utils::flow_monitor $fmon 0]
    if {$flow ne ""} {
        set bytes [$flow sampled bdepartures_]
        set rate [::utils::mbps [expr {$bytes - $last_bytes}] $interval]
        puts $channel "[format %.2f $now] [format %.2f $rate]"
        set last_bytes $bytes
    }
    $ns at [expr {$now + $interval}] \
        [list ::standard_tcp::write_throughput $fmon $interval $last_bytes $channel]
}

# Record cwnd and other variables of the agent every sample_s, and throughput every second.
proc ::standard_tcp::record {agent more sample_s datadir} {
    global ns n1 n2
    write_variables $agent [concat cwnd_ $more] $sample_s [open $datadir/cwnd.out w]
    set fmon [$ns makeflowmon Fid]
    $ns attach-fmon [$ns link $n1 $n2] $fmon
    write_throughput $fmon 1 0 [open $datadir/tput.out w]
}

# Build the network of a configuration and run it.
proc ::standard_tcp::run {config} {
    global ns endtime
    dict with config {}
    set endtime $duration_s
    new_simulator
    $ns use-scheduler Heap
    ::flows::prepare $config
    seed_random $substream
    make_bottleneck $bottleneck_mbps $bottleneck_delay_ms $buffer_pkts
    if {$trace} {
        trace_packets $datadir
    }
    set agent [::flows::add $config 0]
    start_transfer $agent [dict get [lindex $flows 0] start_s]
    $ns at $endtime ::standard_tcp::end
    record $agent [dict get [lindex $flows 0] record] $sample_s $datadir
    $ns at 0 "timeReport 1"
    $ns run
}

# Close the files and leave ns.
proc ::standard_tcp::end {} {
    foreach channel [file channels file*] {
        close $channel
    }
    exit 0
}

::standard_tcp::run [::flows::read $::standard_tcp::keys {one_of 1}]
