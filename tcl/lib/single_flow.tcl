# The experiments with one flow (Appendices C to F): what they have in common.

# Arguments of every script with one flow: simulated s, protocol, FAST's alpha (packets),
# substream of the random numbers, directory of the output files.
proc single_flow_args {} {
    return [list {endtime positive s} [list flow_type [concat one_of [::agents::names]] ""] \
        {alpha positive packets} {run {count 1000000} ""} {DATADIR directory ""}]
}

# Run one flow over a bottleneck of 622 Mbit/s between access links of 1 Gbit/s and 1 ms, from
# time 0 to endtime. delay_ms and buffer_pkts are the bottleneck's, queue_sample_s the time
# between lines of queue.out; drop_packet, if given, is the packet to lose.
proc run_single_flow {delay_ms buffer_pkts queue_sample_s {drop_packet ""}} {
    global bandwidth flow_type alpha run DATADIR frep
    set bandwidth 622
    open_report $DATADIR
    new_simulator $run
    ::agents::set_defaults
    make_bottleneck $bandwidth $delay_ms $buffer_pkts
    if {$drop_packet ne ""} {
        drop_one_packet 0 $drop_packet
    }
    monitor_bottleneck $DATADIR $queue_sample_s
    lassign [make_hosts 1000 1 1 100000] sender receiver
    set agent [::agents::connect $flow_type $sender $receiver 0 $alpha]
    start_transfer $agent 0
    puts $frep "hstcp starttime: 0"
    record_flow $agent 0 "" $flow_type $DATADIR 0.01
    run_to_end 0
}
