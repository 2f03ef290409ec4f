# The experiments with two flows (Appendices G and H): what they have in common.

# Arguments of both scripts: simulated s, protocols, FAST's alpha (packets), start of the second
# flow (s), substream of the random numbers, directory of the output files.
proc two_flows_args {} {
    set protocol [concat one_of [::agents::names]]
    return [list {endtime positive s} [list flow1_type $protocol ""] \
        [list flow2_type $protocol ""] {alpha positive packets} \
        {flow2_start nonnegative s} {run {count 1000000} ""} {DATADIR directory ""}]
}

# Run two flows over a bottleneck of 622 Mbit/s between access links of 1 Gbit/s, whose delay is
# 1 ms at the receivers; the first starts at 0.1 s. delay_ms and buffer_pkts are the
# bottleneck's, sender_delays_ms those of the two senders' access links.
proc run_two_flows {delay_ms buffer_pkts sender_delays_ms} {
    global bandwidth run DATADIR frep
    set bandwidth 622
    open_report $DATADIR
    printlegend
    new_simulator $run
    ::agents::set_defaults
    puts $frep "BufferSize(Packets) $buffer_pkts"
    make_bottleneck $bandwidth $delay_ms $buffer_pkts
    monitor_bottleneck $DATADIR 0.1
    foreach fid {0 1} sender_delay_ms $sender_delays_ms {
        add_flow $fid $sender_delay_ms
    }
    run_to_end {0 1}
}

# Add flow 0 or 1 with its hosts, its start and its records.
proc add_flow {fid sender_delay_ms} {
    global flow1_type flow2_type flow2_start alpha DATADIR frep
    set protocol [lindex [list $flow1_type $flow2_type] $fid]
    set start_s [lindex [list 0.1 $flow2_start] $fid]
    lassign [make_hosts 1000 $sender_delay_ms 1 67000] sender receiver
    # Both appendices put these two remarks into the report, whatever the delays are.
    puts $frep "hstcp$fid, forwardlink delay=1 ms"
    puts $frep "hstcp$fid, RTT = 100.00 ms"
    set agent [::agents::connect $protocol $sender $receiver $fid $alpha]
    start_transfer $agent $start_s
    puts $frep "hstcp$fid starttime: $start_s"
    record_flow $agent $fid $fid $protocol $DATADIR 0.1
}
