# What the scripts of this study share: what is recorded, and how a run ends. Times have three
# decimals, for samples every 0.025 s. Needs utils.tcl, topology.tcl.
#
#   cwnd.out, ssthresh.out, sequence.out, acknowledged.out   every sample_s: the flow's cwnd, its
#                ssthresh, and the highest sequence numbers sent and acknowledged, in packets; with
#                two flows, the files are cwnd0.out, cwnd1.out and so on
#   queue.out    every queue_sample_s: length and drops of the bottleneck's queue, in packets
#   util.out     throughput of the bottleneck over every 0.1 s, Mbit/s

namespace eval ::xu2004 {}

# Every interval (s): time and some variables of an agent, to a separate file.
proc ::xu2004::record {agent names interval channel} {
    global ns
    set now [$ns now]
    puts $channel "[format %.3f $now] [join [lmap name $names {$agent sampled $name}] { }]"
    $ns at [::utils::next_sample $now $interval] \
        [list ::xu2004::record $agent $names $interval $channel]
}

# Record the sender's view of a flow. index: part of the file names; more: other variables of the
# agent, which follow cwnd in cwnd.out.
proc ::xu2004::record_sender {agent index more sample_s datadir} {
    foreach {names file} [list [concat cwnd_ $more] cwnd ssthresh_ ssthresh maxseq_ sequence \
            ack_ acknowledged] {
        record $agent $names $sample_s [open $datadir/$file$index.out w]
    }
}

# Record length, drops and throughput of the bottleneck's queue.
proc ::xu2004::record_bottleneck {queue_sample_s datadir} {
    global ns n1 n2
    set monitor [$ns monitor-queue $n1 $n2 ""]
    record_queue $monitor $queue_sample_s [open $datadir/queue.out w]
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

# Start the transfer of each agent at its time, run for duration_s, close the files, leave ns.
proc ::xu2004::run {agents flows duration_s} {
    global ns endtime
    set endtime $duration_s
    foreach agent $agents flow $flows {
        start_transfer $agent [dict get $flow start_s]
    }
    # After the samples that are due at endtime itself.
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
