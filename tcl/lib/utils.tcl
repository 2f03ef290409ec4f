# utils.tcl: what scripts measure, and the files that they write.
#
# It can be used on its own, for example by scripts that were not written for bdpbench and source a
# file of this name: it sources nothing and needs only these globals of the script that sources it.
#
#   ns                  the Simulator
#   endtime             s, simulated time at which the script calls finish
#   bandwidth           Mbit/s, the bottleneck's capacity
#   qmon                monitor-queue of the bottleneck
#   fmon, fmon2         flow monitors (Fid) of the bottleneck, forward and reverse
#   frep, urep, qfp     channels of report.txt, util.out, queue.out
#   cfp_hs, tput_hs     channels of cwnd_*.out, tput_*.out   } scalars with one flow,
#   lastKBytes          kB seen by print-th-one              } arrays by flow id with several
#
# Files (separated by blanks, times in s with two decimals)
#   cwnd_*.out   time cwnd ...                  packets; then the other recorded variables
#   tput_*.out   time throughput                Mbit/s of the flow over the interval that ends now
#   queue.out    time length drops              packets in the queue now; drops since the start
#   util.out     time throughput                Mbit/s of all flows over the interval that ends now
#   report.txt   a line "key value unit" whose second field is a number is a fact, see printlegend;
#                any other line is a remark by the script
#
# Throughputs count departures from the bottleneck's queue, headers and retransmissions included.
# Every sample is taken at an exact decimal time, including the one at endtime.

namespace eval ::utils {
    # Wall-clock time, ms, of the last line of timeReport; "" before the first one.
    variable reported ""
    # Counters at the start of the statistics window, by subject (flow.<id>, link.<name>).
    variable mark
    array set mark {}
    # Whether print-stat-all and printlegend have written to the report.
    variable link_stats_written 0
    variable legend_written 0
}

# Value of a variable of an agent or a monitor; the same as with "set", in half the time.
SplitObject instproc sampled {name} {
    $self instvar $name
    return [set $name]
}

# The next sample time, s. Rounding each step keeps 0.1 + 0.1 + ... from drifting away from decimal
# times, so that the last sample is at endtime itself.
proc ::utils::next_sample {now interval} {
    return [format %.6f [expr {$now + $interval}]]
}

# The global variable that belongs to a flow: an element if the script has an array.
proc ::utils::of_flow {name fid} {
    return [expr {[array exists ::$name] ? "::${name}($fid)" : "::$name"}]
}

# The monitor of one flow inside a flow monitor; "" until the flow has sent something.
proc ::utils::flow_monitor {fmon fid} {
    return [[$fmon classifier] lookup auto 0 0 $fid]
}

# {time_s bytes packets drops} of a queue or flow monitor: departures and drops since the start.
proc ::utils::counters {monitor} {
    global ns
    if {$monitor eq ""} {
        return [list [$ns now] 0 0 0]
    }
    return [list [$ns now] [$monitor sampled bdepartures_] [$monitor sampled pdepartures_] \
        [$monitor sampled pdrops_]]
}

# Mean rate, Mbit/s, of a number of bytes over some seconds; 0 over an empty interval.
proc ::utils::mbps {bytes seconds} {
    return [expr {$seconds > 0 ? 8e-6 * $bytes / $seconds : 0.0}]
}

# Write one fact to report.txt.
proc ::utils::fact {key value unit} {
    global frep
    puts $frep "$key $value $unit"
}

# Write what a monitor has counted since its mark or, without a mark, since the start.
proc ::utils::write_stats {subject monitor} {
    global bandwidth
    variable mark
    set start {0 0 0 0}
    if {[info exists mark($subject)]} {
        set start $mark($subject)
    }
    lassign $start since bytes0 packets0 drops0
    lassign [counters $monitor] now bytes packets drops
    set rate [mbps [expr {$bytes - $bytes0}] [expr {$now - $since}]]
    fact $subject.window_start [format %.2f $since] s
    fact $subject.window_end [format %.2f $now] s
    fact $subject.bytes [expr {$bytes - $bytes0}] B
    fact $subject.packets [expr {$packets - $packets0}] packets
    fact $subject.drops [expr {$drops - $drops0}] packets
    fact $subject.throughput [format %.6f $rate] Mbit/s
    fact $subject.utilization [format %.6f [expr {100.0 * $rate / $bandwidth}]] %
    fact $subject.total_bytes $bytes B
    fact $subject.total_drops $drops packets
}

# Every interval (s), from now on: time and some variables of an agent.
proc print-variables {flow names interval fp} {
    global ns
    set now [$ns now]
    puts $fp "[format %.2f $now] [join [lmap name $names {$flow sampled $name}] { }] "
    $ns at [::utils::next_sample $now $interval] [list print-variables $flow $names $interval $fp]
}

# The same with cwnd alone.
proc print-cwnd {flow interval fp} {
    print-variables $flow cwnd_ $interval $fp
}

# The same for BIC, with its minimum, mean and maximum delay and its low-utilization indication.
proc print-cwnd-bic {flow interval fp} {
    print-variables $flow {cwnd_ bic_delay_min_ bic_delay_avg_ bic_delay_max_
        bic_low_utilization_indication_} $interval $fp
}

# Every interval (s): throughput of flow fid over the interval that ends now. It is zero until the
# flow has sent something; there is no line at time 0, when no interval has ended.
proc print-th-one {fid fmon interval} {
    global ns
    upvar #0 [::utils::of_flow tput_hs $fid] out [::utils::of_flow lastKBytes $fid] last_kB
    set now [$ns now]
    if {$now > 0} {
        set kB [expr {[lindex [::utils::counters [::utils::flow_monitor $fmon $fid]] 1] / 1000.0}]
        set rate [::utils::mbps [expr {1000.0 * ($kB - $last_kB)}] $interval]
        puts $out "[format %.2f $now] [format %.2f $rate]"
        set last_kB $kB
    }
    $ns at [::utils::next_sample $now $interval] [list print-th-one $fid $fmon $interval]
}

# Every interval (s): current length of the bottleneck's queue and drops since the start, in
# packets.
proc print-queue {interval fp} {
    global ns qmon
    set now [$ns now]
    puts $fp "[format %.2f $now] [$qmon sampled pkts_] [$qmon sampled pdrops_]"
    $ns at [::utils::next_sample $now $interval] [list print-queue $interval $fp]
}

# Every interval (s): throughput of the bottleneck since it had passed last_bytes bytes. The first
# call is at time = interval, with 0.
proc print-util {interval last_bytes} {
    global ns qmon urep
    set now [$ns now]
    set bytes [$qmon sampled bdepartures_]
    set rate [::utils::mbps [expr {$bytes - $last_bytes}] $interval]
    puts $urep "[format %.2f $now] [format %.2f $rate]"
    $ns at [::utils::next_sample $now $interval] [list print-util $interval $bytes]
}

# Start the statistics window of one flow.
proc print-stat-one-pre {fid fmon} {
    set ::utils::mark(flow.$fid) [::utils::counters [::utils::flow_monitor $fmon $fid]]
}

# Write one flow's statistics, from the start of its window until now, to the report.
proc print-stat-one {fid fmon} {
    ::utils::write_stats flow.$fid [::utils::flow_monitor $fmon $fid]
}

# Start the statistics window of the bottleneck and of its reverse path.
proc print-stat-all-pre {} {
    global qmon fmon2
    set ::utils::mark(link.bottleneck) [::utils::counters $qmon]
    set ::utils::mark(link.back) [::utils::counters $fmon2]
}

# Write the statistics of all flows together: the bottleneck, and its reverse path (the ACKs).
proc print-stat-all {} {
    global qmon fmon2
    ::utils::write_stats link.bottleneck $qmon
    ::utils::write_stats link.back $fmon2
    set ::utils::link_stats_written 1
}

# Explain the report's keys in the report, only once, at the first call.
proc printlegend {} {
    global frep
    if {$::utils::legend_written} {
        return
    }
    puts $frep {# flow.<id>.* counts one flow, link.bottleneck.* all flows, link.back.* their ACKs
# window_start, window_end   s, the statistics window: the second half of the run
# bytes, packets             departures from the bottleneck's queue in the window, headers included
# drops                      packets dropped there in the window
# throughput, utilization    bytes over the window in Mbit/s; that in % of the link's capacity
# total_bytes, total_drops   since the start of the run}
    set ::utils::legend_written 1
}

# Every interval (simulated s): print the progress on standard error, as "simtime <now> of
# <endtime>", at most once per second of wall-clock time. The events are always the same, so that
# the wall clock never affects the results.
proc timeReport {interval} {
    global ns endtime
    set now [$ns now]
    set wall_ms [clock milliseconds]
    if {$::utils::reported eq "" || $wall_ms - $::utils::reported >= 1000} {
        puts stderr [format "simtime %g of %g" $now $endtime]
        flush stderr
        set ::utils::reported $wall_ms
    }
    $ns at [::utils::next_sample $now $interval] [list timeReport $interval]
}

# End the run. Closing the files waits for the events already due now, so that each file gets its
# last sample.
proc finish {} {
    global ns
    $ns at [$ns now] ::utils::end_run
}

# Complete the report (a script with one flow need not call print-stat-all), close the files, and
# leave ns.
proc ::utils::end_run {} {
    if {!$::utils::link_stats_written} {
        print-stat-all
    }
    foreach name {frep urep qfp cfp_hs tput_hs} {
        if {[array exists ::$name]} {
            foreach {- channel} [array get ::$name] {
                close $channel
            }
        } else {
            close [set ::$name]
        }
    }
    exit 0
}
