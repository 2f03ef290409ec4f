# What is recorded of a run, and when. The procedures that write the files are in utils.tcl, which
# also documents the globals that are set here. Needs utils.tcl, topology.tcl.
#
#   cwnd_hstcp<i>.out   every sample_s: time, cwnd, further variables of the agent of flow i
#   tput_hstcp<i>.out   every second: time, throughput of flow i
#   queue.out           every queue_sample_s; util.out: every 0.1 s; report.txt: see utils.tcl
#   pckts.trq           if packets are traced: ns-2's trace of the bottleneck's queues

# Set the duration of the run (s) and the rate of the bottleneck (Mbit/s), and open report.txt and
# util.out in the directory of the output files.
proc open_report {duration_s mbps datadir} {
    global endtime bandwidth frep urep
    set endtime $duration_s
    set bandwidth $mbps
    set frep [open $datadir/report.txt w]
    set urep [open $datadir/util.out w]
}

# Watch the bottleneck n1 -> n2 and its reverse path: queue.out has a line every queue_sample_s.
proc monitor_bottleneck {datadir queue_sample_s} {
    global ns n1 n2 qmon qfp fmon fmon2
    set qmon [$ns monitor-queue $n1 $n2 ""]
    set qfp [open $datadir/queue.out w]
    print-queue $queue_sample_s $qfp
    set fmon [$ns makeflowmon Fid]
    $ns attach-fmon [$ns link $n1 $n2] $fmon
    set fmon2 [$ns makeflowmon Fid]
    $ns attach-fmon [$ns link $n2 $n1] $fmon2
}

# Write the events of the bottleneck's queues in both directions to pckts.trq.
proc trace_packets {datadir} {
    global ns n1 n2 trace_file
    set trace_file [open $datadir/pckts.trq w]
    $ns trace-queue $n1 $n2 $trace_file
    $ns trace-queue $n2 $n1 $trace_file
}

# Record a flow's cwnd and other variables of its agent every sample_s, and its throughput every
# second. index is part of the file names: the flow's id if there are several flows, "" if there is
# one.
proc record_flow {agent fid index more sample_s datadir} {
    set element [expr {$index eq "" ? "" : "($index)"}]
    upvar #0 cfp_hs$element cwnd_file
    set cwnd_file [open $datadir/cwnd_hstcp$index.out w]
    print-variables $agent [concat cwnd_ $more] $sample_s $cwnd_file
    record_throughput $fid $element $datadir/tput_hstcp$index.out
}

# Record a flow's throughput every second. element: "" or "(<fid>)", the part of utils.tcl's globals
# that belongs to the flow.
proc record_throughput {fid element path} {
    global fmon
    upvar #0 tput_hs$element tput_file lastKBytes$element last_kB
    set tput_file [open $path w]
    set last_kB 0
    print-th-one $fid $fmon 1
}

# Schedule the statistics of the second half for some flows, the report's legend, the end, the
# progress reports and util.out; then start the run.
proc run_to_end {fids} {
    global ns endtime fmon
    # If the duration is an odd whole number of seconds, its half is rounded down.
    set halftime [expr {$endtime / 2}]
    foreach fid $fids {
        $ns at $halftime "print-stat-one-pre $fid $fmon"
        $ns at $endtime "print-stat-one $fid $fmon"
    }
    $ns at $halftime print-stat-all-pre
    if {[llength $fids] > 1} {
        $ns at $endtime print-stat-all
    }
    $ns at $endtime printlegend
    $ns at $endtime finish
    $ns at 0 "timeReport 1"
    $ns at 0.1 "print-util 0.1 0"
    $ns run
}
