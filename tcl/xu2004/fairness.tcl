# Two flows over one bottleneck (section 4.3), whose RTTs differ because of the delays of their
# senders' links.
#
# Arguments are pairs -key value, in any order (tcl/lib/args.tcl):
#   -duration_s s                -bottleneck_mbps Mbit/s       -bottleneck_delay_ms ms (one way)
#   -access_mbps Mbit/s          -receiver_delay_ms ms         -buffer_pkts packets
#   -sample_s s, of the senders, a multiple of 0.001           -queue_sample_s s, of queue.out, too
#   -substream 1, 2, ... of the random numbers                 -datadir directory of the output
#   -flows 2, and the keys of flows 0 and 1 and class defaults as tcl/lib/flows.tcl has them
#
# Without any randomness, packets of one flow meet a full queue again and again, and those of the
# other never do (phase effects, Floyd and Jacobson 1992). So packets should leave their senders
# with a random delay of up to a packet's time at the bottleneck: overhead_ of Agent/TCP, 1,040
# bytes at 10 Mbit/s.
#
# Writes the files of common.tcl and throughput0.out, throughput1.out (every second, Mbit/s).
source [file join [file dirname [info script]] .. lib args.tcl]
source [file join [file dirname [info script]] .. lib defaults.tcl]
source [file join [file dirname [info script]] .. lib agents.tcl]
source [file join [file dirname [info script]] .. lib topology.tcl]
source [file join [file dirname [info script]] .. lib flows.tcl]
source [file join [file dirname [info script]] .. lib traffic.tcl]
source [file join [file dirname [info script]] .. lib utils.tcl]
source [file join [file dirname [info script]] .. lib monitors.tcl]
source [file join [file dirname [info script]] common.tcl]

namespace eval ::fairness {
    variable keys [concat $::topology::keys {
        {sample_s {multiple 0.001} s}
        {queue_sample_s {multiple 0.001} s}
        {substream {count 1000000} ""}
    }]
}

# Add flow 0 or 1 of a configuration with its hosts and records; returns the sender.
proc ::fairness::add {config fid} {
    dict with config {}
    set agent [::flows::add $config $fid]
    set more [dict get [lindex $flows $fid] record]
    ::xu2004::record_sender $agent $fid $more $sample_s $datadir
    record_throughput $fid ($fid) $datadir/throughput$fid.out
    return $agent
}

# Build the network of a configuration and run it.
proc ::fairness::run {config} {
    global ns n1 n2 fmon
    dict with config {}
    new_simulator
    ::flows::prepare $config
    seed_random $substream
    make_bottleneck $bottleneck_mbps $bottleneck_delay_ms $buffer_pkts
    set fmon [$ns makeflowmon Fid]
    $ns attach-fmon [$ns link $n1 $n2] $fmon
    set agents [lmap fid {0 1} {add $config $fid}]
    ::xu2004::record_bottleneck $queue_sample_s $datadir
    ::xu2004::run $agents $flows $duration_s
}

::fairness::run [::flows::read $::fairness::keys {one_of 2}]
