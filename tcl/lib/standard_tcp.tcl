# The experiments of the introduction (Appendices A and B): one flow over a bottleneck with a
# buffer of one BDP, every packet traced.
#
# These two appendices bring their own measuring procedures, and so they differ from the others:
# files are cwnd.out, tput.out and pckts.trq; sample times add up (0.1 + 0.1 + ...); a sample due
# at the very end is not taken; the throughput has no line before the flow's first packet.

# Arguments of both scripts: protocol; and, which the appendices do not take, simulated s and the
# directory of the output files (default: one named like the protocol, as in the appendices).
proc standard_tcp_args {default_endtime} {
    global argv
    return [list {hstcp_type {one_of SACK HS Scalable FAST BIC CUBIC} ""} \
        [list endtime positive s $default_endtime] \
        [list DATADIR directory "" [lindex $argv 0]]]
}

# Run one flow from 0.1 s to endtime over a bottleneck of so many Mbit/s and 50 ms between access
# links of 1 Gbit/s and 1 ms.
proc run_standard_tcp {mbps} {
    global ns n1 n2 endtime hstcp_type DATADIR
    set delay_ms 50
    new_simulator 1
    $ns use-scheduler Heap
    ::agents::set_defaults
    # The BDP of the bottleneck alone, in whole packets of 1,000 bytes.
    make_bottleneck $mbps $delay_ms [expr {$mbps * $delay_ms * 2 * 1000 / 1000 / 8}]
    trace_packets $DATADIR
    lassign [make_hosts 1000 1.0 1 67000] sender receiver
    set agent [::agents::connect $hstcp_type $sender $receiver 0 156 TCP/SackTS TCPSink]
    start_transfer $agent 0.1
    $ns at $endtime end_standard_tcp
    record_standard_tcp $agent $DATADIR
    $ns at 0 "timeReport 1"
    $ns run
}

# Record cwnd every 0.1 s and throughput every second.
proc record_standard_tcp {agent datadir} {
    global ns n1 n2 hstcp_type cwnd_file tput_file
    set cwnd_file [open $datadir/cwnd.out w]
    set tput_file [open $datadir/tput.out w]
    set columns cwnd_
    if {$hstcp_type eq "BIC"} {
        lappend columns bic_delay_min_ bic_delay_avg_ bic_delay_max_ bic_low_utilization_indication_
    }
    write_variables $agent $columns 0.1 $cwnd_file
    set fmon [$ns makeflowmon Fid]
    $ns attach-fmon [$ns link $n1 $n2] $fmon
    write_throughput $fmon 1 0 $tput_file
}

# Every interval (s): time and some of an agent's variables.
proc write_variables {agent names interval channel} {
    global ns
    set now [$ns now]
    puts $channel "[format %.2f $now] [join [lmap name $names {$agent set $name}] { }] "
    $ns at [expr {$now + $interval}] [list write_variables $agent $names $interval $channel]
}

# Every interval (s): throughput, Mbit/s, of flow 0 since it had sent last_bytes bytes.
proc write_throughput {fmon interval last_bytes channel} {
    global ns
    set now [$ns now]
    set flow [::utils::flow_monitor $fmon 0]
    if {$flow ne ""} {
        set bytes [$flow set bdepartures_]
        set rate [::utils::mbps [expr {$bytes - $last_bytes}] $interval]
        puts $channel "[format %.2f $now] [format %.2f $rate]"
        set last_bytes $bytes
    }
    $ns at [expr {$now + $interval}] \
        [list write_throughput $fmon $interval $last_bytes $channel]
}

# Close the files and leave ns.
proc end_standard_tcp {} {
    global cwnd_file tput_file trace_file
    foreach channel [list $cwnd_file $tput_file $trace_file] {
        close $channel
    }
    exit 0
}
