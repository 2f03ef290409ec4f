# What the experiments of J. Xu's thesis (2004) have in common: its protocols, and what is recorded.

namespace eval ::xu2004 {
    # One row a protocol: ns-2 agent, sink, and the variables of the agent that make it.
    #
    # Scalable TCP without its low window (scalable_lwnd_ 1) and on Reno, HighSpeed TCP on SACK
    # with limited slow start, as the thesis tells of them; see NOTES.md of the study.
    variable protocols {
        Tahoe    {TCP TCPSink {}}
        Reno     {TCP/Reno TCPSink {}}
        NewReno  {TCP/Newreno TCPSink {}}
        SACK     {TCP/Sack1 TCPSink/Sack1 {}}
        Vegas    {TCP/Vegas TCPSink {}}
        Westwood {TCP/Westwood TCPSink {}}
        HS       {TCP/Sack1 TCPSink/Sack1 {windowOption_ 8 max_ssthresh_ 100}}
        Scalable {TCP/Reno TCPSink {windowOption_ 9 scalable_lwnd_ 1}}
        ModScalable  {TCP/Reno TCPSink {windowOption_ 14}}
        VegasUp2     {TCP/Vegas/Modified TCPSink {vegas_gamma_ 2 vegas_theta_ 1}}
        VegasUp4     {TCP/Vegas/Modified TCPSink {vegas_gamma_ 4 vegas_theta_ 1}}
        VegasUp8     {TCP/Vegas/Modified TCPSink {vegas_gamma_ 8 vegas_theta_ 1}}
        VegasUp16    {TCP/Vegas/Modified TCPSink {vegas_gamma_ 16 vegas_theta_ 1}}
        VegasBoth2   {TCP/Vegas/Modified TCPSink {vegas_gamma_ 2 vegas_theta_ 2}}
        VegasBoth4   {TCP/Vegas/Modified TCPSink {vegas_gamma_ 4 vegas_theta_ 4}}
        VegasBoth8   {TCP/Vegas/Modified TCPSink {vegas_gamma_ 8 vegas_theta_ 8}}
        VegasBoth16  {TCP/Vegas/Modified TCPSink {vegas_gamma_ 16 vegas_theta_ 16}}
    }
    # packets, window_: larger than any cwnd of the study, 10,000 packets in the largest.
    variable ample_window 40000
    # s between samples of a sender: the two-way delay, of which the thesis's times are multiples.
    variable sample_s 0.025
}

# Type of an argument that names a protocol.
proc ::xu2004::protocol_type {} {
    variable protocols
    return [concat one_of [dict keys $protocols]]
}

# Settings of every TCP flow: ns-2.27's defaults, packets of 1,000 bytes.
proc ::xu2004::set_defaults {} {
    variable ample_window
    foreach {name value} [concat $::agents::ns_2_27 [list window_ $ample_window packetSize_ 1000]] {
        Agent/TCP set $name $value
    }
}

# Connect a sender of some protocol at one node to a sink at another and return the sender.
proc ::xu2004::connect {protocol from to fid} {
    global ns
    variable protocols
    lassign [dict get $protocols $protocol] class sink settings
    if {![::agents::exists $class]} {
        ::agents::missing $protocol "Agent/$class"
    }
    set agent [$ns create-connection $class $from $sink $to $fid]
    ::agents::apply $agent $protocol $settings
    return $agent
}

# Join sender and receiver to the routers n1 and n2: 10 Gbit/s, so that the bottleneck alone can
# hold packets up, and the delay (ms, one way) of the sender's link.
proc ::xu2004::host_pair {sender_delay_ms} {
    variable ample_window
    return [make_hosts 10000 $sender_delay_ms 0 $ample_window]
}

# Every interval (s): time and one variable of an agent, to a file of its own.
proc ::xu2004::record {agent name interval channel} {
    global ns
    set now [$ns now]
    puts $channel "[format %.3f $now] [$agent sampled $name]"
    $ns at [::utils::next_sample $now $interval] \
        [list ::xu2004::record $agent $name $interval $channel]
}

# Record cwnd, ssthresh, the highest sequence number sent and the highest acknowledged of a flow, in
# packets: cwnd<index>.out, ssthresh<index>.out, sequence<index>.out and acknowledged<index>.out.
proc ::xu2004::record_sender {agent index datadir} {
    variable sample_s
    foreach {name file} {cwnd_ cwnd ssthresh_ ssthresh maxseq_ sequence ack_ acknowledged} {
        record $agent $name $sample_s [open $datadir/$file$index.out w]
    }
}

# Record length and drops of the bottleneck's queue (queue.out) at the times of the senders'
# samples, and its throughput over every 0.1 s (util.out).
proc ::xu2004::record_bottleneck {datadir} {
    global ns n1 n2
    variable sample_s
    set monitor [$ns monitor-queue $n1 $n2 ""]
    record_queue $monitor $sample_s [open $datadir/queue.out w]
    $ns at 0.1 [list ::xu2004::record_load $monitor 0.1 0 [open $datadir/util.out w]]
}

proc ::xu2004::record_queue {monitor interval channel} {
    global ns
    set now [$ns now]
    puts $channel "[format %.3f $now] [$monitor sampled pkts_] [$monitor sampled pdrops_]"
    $ns at [::utils::next_sample $now $interval] \
        [list ::xu2004::record_queue $monitor $interval $channel]
}

proc ::xu2004::record_load {monitor interval last_bytes channel} {
    global ns
    set now [$ns now]
    set bytes [$monitor sampled bdepartures_]
    set rate [::utils::mbps [expr {$bytes - $last_bytes}] $interval]
    puts $channel "[format %.2f $now] [format %.2f $rate]"
    $ns at [::utils::next_sample $now $interval] \
        [list ::xu2004::record_load $monitor $interval $bytes $channel]
}

# Arguments of the scripts with one flow over wires.
proc ::xu2004::single_flow_args {} {
    return [list {endtime positive s} [list protocol [protocol_type] ""] \
        {mbps positive Mbit/s} {buffer count packets} {DATADIR directory ""}]
}

# Build the path of chapter 3, a two-way delay of 25 ms, and run one flow over it.
proc ::xu2004::run_single_flow {} {
    global protocol mbps buffer DATADIR
    set_defaults
    make_bottleneck $mbps 12.5 $buffer
    lassign [host_pair 0] sender receiver
    set agent [connect $protocol $sender $receiver 0]
    record_bottleneck $DATADIR
    record_sender $agent "" $DATADIR
    run $agent 0
}

# Start the transfers at a time (s), run to endtime, close the files, leave ns.
proc ::xu2004::run {agents start_s} {
    global ns endtime
    foreach agent $agents {
        $ns at $start_s "[$agent attach-app FTP] start"
    }
    # Behind the samples that are due at endtime itself.
    $ns at $endtime {$ns at $endtime ::xu2004::end}
    $ns at 0 "timeReport 1"
    $ns run
}

proc ::xu2004::end {} {
    foreach channel [file channels file*] {
        close $channel
    }
    exit 0
}
