# What is recorded of a chain of bottlenecks and its flows, and when. Needs utils.tcl, whose
# procedures write most of it, and chain.tcl.
#
#   cwnd_hstcp<i>.out   every sample_s: time, cwnd, further variables of the agent of flow i
#   tput_hstcp<i>.out   every second, or once in a shorter run: time, throughput of flow i
#   queue.out           every queue_sample_s, for the first link: time, length, drops so far
#   util.out            every 0.1 s, for the first link: time, throughput
#   red.out             every queue_sample_s, if the first link has a queue of kind RED: time, its
#                       average length in packets, max_p
#   queue_<name>.out, util_<name>.out, red_<name>.out   the same for the other links
#   transfers.out       if there are any: kind, subject, start, end and bytes of each completed
#                       transfer, in the order of their ends
#   pckts.trq           if packets are traced: ns-2's trace of the queues of all links
#   report.txt          facts, see utils.tcl; flow.<i>.* are counted at the first link of a flow
#
# A single link is called bottleneck, the links of a chain bottleneck_1, bottleneck_2, ...; the
# other directions are called back, back_1, ... All times are in s, lengths in packets, rates in
# Mbit/s.

namespace eval ::recorder {
    # Link and direction -> flow monitor, which also counts for the queue as a whole.
    array set monitors {}
    # Link and direction -> drops and marks at the start of the statistics window.
    array set before {}
    # Flow -> its agent, its monitor, and the packets acknowledged and retransmitted by then.
    array set agents {}
    array set places {}
    array set sent_before {}
    variable channels {}
    variable transfers ""
}

# Open a file that is closed at the end.
proc ::recorder::opened {path} {
    variable channels
    set channel [open $path w]
    lappend channels $channel
    return $channel
}

# An interval (s), or the duration of a shorter run, so that each file has a sample.
proc ::recorder::at_most_the_run {interval} {
    global endtime
    return [expr {min($interval, $endtime)}]
}

# Name of a link's direction in the report.
proc ::recorder::name_of {i direction} {
    set name [dict get {there bottleneck back back} $direction]
    return [expr {[llength $::chain::routers] == 2 ? $name : "${name}_[expr {$i + 1}]"}]
}

# File for a link: the file names of all links except the first contain the link's name.
proc ::recorder::link_file {datadir stem i} {
    return $datadir/$stem[expr {$i == 0 ? "" : "_[name_of $i there]"}].out
}

# Count what passes the links, and trace packets if asked to.
proc ::recorder::watch_links {links traced datadir} {
    global ns
    variable monitors
    variable channels
    set trace [expr {$traced ? [opened $datadir/pckts.trq] : ""}]
    foreach i [indices $links] {
        foreach direction {there back} {
            set link [::chain::link_of $i $direction]
            if {$traced} {
                $link trace $ns $trace
            }
            set monitors($i,$direction) [$ns makeflowmon Fid]
            watch $link $monitors($i,$direction)
        }
    }
}

proc ::recorder::indices {items} {
    set indices {}
    foreach - $items {
        lappend indices [llength $indices]
    }
    return $indices
}

# Attach a monitor to a link. Queues that drop early, at random, pass those packets to a separate
# target if they have one; from there they go on to the trace, like other drops.
proc ::recorder::watch {link monitor} {
    global ns
    set queue [$link queue]
    set dropped [[$link set drophead_] target]
    $ns attach-fmon $link $monitor
    if {[drops_early $queue]} {
        set early [new SnoopQueue/EDrop]
        $early set-monitor $monitor
        $early target $dropped
        $queue early-drop-target $early
    }
}

proc ::recorder::drops_early {queue} {
    return [expr {![catch {$queue early-drop-target}]}]
}

# Sample the queues every queue_sample_s, and their departures every 0.1 s.
proc ::recorder::sample_links {links queue_sample_s datadir} {
    global ns
    variable monitors
    foreach i [indices $links] {
        set monitor $monitors($i,there)
        sample_queue $monitor $queue_sample_s [opened [link_file $datadir queue $i]]
        set interval [at_most_the_run 0.1]
        $ns at $interval [list ::recorder::sample_departures $monitor $interval 0 \
            [opened [link_file $datadir util $i]]]
        set queue [[::chain::link_of $i there] queue]
        if {[is_red $queue]} {
            set unit [unit_of_average $queue]
            # ns-2 sets the thresholds and max_p only when it starts.
            $ns at 0 [list ::recorder::sample_red $queue $unit $queue_sample_s \
                [opened [link_file $datadir red $i]]]
        }
    }
}

proc ::recorder::is_red {queue} {
    return [expr {![catch {$queue set ave_; $queue set cur_max_p_}]}]
}

# The size of a packet in RED's average, in bytes or packets.
proc ::recorder::unit_of_average {queue} {
    return [expr {[$queue set queue_in_bytes_] ? double([$queue set mean_pktsize_]) : 1.0}]
}

# Whether a queue can mark packets: the variable for this has one of two names.
proc ::recorder::can_mark {queue} {
    return [expr {![catch {$queue set setbit_}] || ![catch {$queue set markpkts_}]}]
}

proc ::recorder::sample_queue {monitor interval channel} {
    global ns
    set now [$ns now]
    puts $channel "[format %.2f $now] [$monitor sampled pkts_] [$monitor sampled pdrops_]"
    $ns at [::utils::next_sample $now $interval] \
        [list ::recorder::sample_queue $monitor $interval $channel]
}

proc ::recorder::sample_departures {monitor interval last_bytes channel} {
    global ns
    set now [$ns now]
    set bytes [$monitor sampled bdepartures_]
    set rate [::utils::mbps [expr {$bytes - $last_bytes}] $interval]
    puts $channel "[format %.2f $now] [format %.2f $rate]"
    $ns at [::utils::next_sample $now $interval] \
        [list ::recorder::sample_departures $monitor $interval $bytes $channel]
}

proc ::recorder::sample_red {queue unit interval channel} {
    global ns
    set now [$ns now]
    set average [expr {[$queue set ave_] / $unit}]
    puts $channel "[format %.2f $now] [format %.6g $average] [format %.6g [$queue set cur_max_p_]]"
    $ns at [::utils::next_sample $now $interval] \
        [list ::recorder::sample_red $queue $unit $interval $channel]
}

# Record a flow: always its statistics, and its files if it is to be recorded.
proc ::recorder::watch_flow {fid flow agent start_s sample_s datadir} {
    variable monitors
    variable agents
    variable places
    lassign [::ends::first_link $flow] i direction
    set agents($fid) $agent
    set places($fid) [list $i $direction]
    ::utils::fact flow.$fid.start [format %.6f $start_s] s
    if {![dict get $flow recorded]} {
        return
    }
    print-variables $agent [concat cwnd_ [dict get $flow record]] $sample_s \
        [opened $datadir/cwnd_hstcp$fid.out]
    set ::tput_hs($fid) [opened $datadir/tput_hstcp$fid.out]
    set ::lastKBytes($fid) 0
    print-th-one $fid $monitors($i,$direction) [at_most_the_run 1]
}

# Open the file of transfers; they can only be written after this.
proc ::recorder::expect_transfers {datadir} {
    variable transfers [opened $datadir/transfers.out]
}

# Write a transfer that is complete now.
proc ::recorder::transfer {kind subject start_s bytes} {
    global ns
    variable transfers
    puts $transfers "$kind $subject [format %.6f $start_s] [format %.6f [$ns now]] $bytes"
}

# Begin the statistics window.
proc ::recorder::begin_window {} {
    variable monitors
    variable before
    variable agents
    variable places
    variable sent_before
    foreach key [array names monitors] {
        set ::utils::mark(link.[name_of {*}[split $key ,]]) [::utils::counters $monitors($key)]
        set before($key) [drops_and_marks $key]
    }
    foreach fid [array names agents] {
        print-stat-one-pre $fid $monitors([join $places($fid) ,])
        set sent_before($fid) [sent_of $agents($fid)]
    }
}

# {early drops, random losses, marks} of a link's direction so far. Marks are counted in departing
# packets, including those that arrived with a mark.
proc ::recorder::drops_and_marks {key} {
    variable monitors
    lassign [split $key ,] i direction
    set random 0
    if {$direction eq "there" && [info exists ::chain::lost($i)]} {
        set random [$::chain::lost($i) set pdrops_]
    }
    set monitor $monitors($key)
    return [list [$monitor set epdrops_] $random [$monitor set pmarks_]]
}

# {packets acknowledged, packets retransmitted} by a sender so far.
proc ::recorder::sent_of {agent} {
    return [list [expr {[$agent set ack_] + 1}] [$agent set nrexmitpack_]]
}

# Write the statistics of all flows and links to the report.
proc ::recorder::write_window {} {
    variable monitors
    variable agents
    foreach fid [lsort -integer [array names agents]] {
        write_flow $fid
    }
    foreach key [lsort -dictionary [array names monitors]] {
        write_link $key
    }
    printlegend
    puts $::frep {# goodput                    data acknowledged for the first time in the window
# retransmissions            packets that the sender sent again in the window
# early_drops, forced_drops  drops of the queue at random and all others, in the window
# random_losses              packets lost on purpose before the queue, counted as drops
# marks                      packets that left the queue with an ECN mark in the window}
}

proc ::recorder::write_flow {fid} {
    global bandwidth
    variable agents
    variable places
    variable monitors
    variable sent_before
    set window [since_of flow.$fid]
    set bandwidth [::chain::mean_mbps [lindex $places($fid) 0] {*}$window]
    print-stat-one $fid $monitors([join $places($fid) ,])
    lassign $sent_before($fid) acked0 resent0
    lassign [sent_of $agents($fid)] acked resent
    set bytes [expr {($acked - $acked0) * [$agents($fid) set packetSize_]}]
    lassign $window since now
    ::utils::fact flow.$fid.goodput [format %.6f [::utils::mbps $bytes [expr {$now - $since}]]] \
        Mbit/s
    ::utils::fact flow.$fid.retransmissions [expr {$resent - $resent0}] packets
}

# Start and end of a subject's statistics window, s.
proc ::recorder::since_of {subject} {
    global ns
    return [list [lindex $::utils::mark($subject) 0] [$ns now]]
}

proc ::recorder::write_link {key} {
    global bandwidth
    variable monitors
    variable before
    lassign [split $key ,] i direction
    set subject link.[name_of $i $direction]
    set bandwidth [::chain::mean_mbps $i {*}[since_of $subject]]
    ::utils::write_stats $subject $monitors($key)
    lassign [lmap now [drops_and_marks $key] start $before($key) {expr {$now - $start}}] \
        early random marks
    set drops [expr {[lindex [::utils::counters $monitors($key)] 3]
        - [lindex $::utils::mark($subject) 3]}]
    if {[drops_early [[::chain::link_of $i $direction] queue]]} {
        ::utils::fact $subject.early_drops $early packets
        ::utils::fact $subject.forced_drops [expr {$drops - $early - $random}] packets
    }
    if {[can_mark [[::chain::link_of $i $direction] queue]]} {
        ::utils::fact $subject.marks $marks packets
    }
    if {$direction eq "there" && [info exists ::chain::lost($i)]} {
        ::utils::fact $subject.random_losses $random packets
    }
}

# Schedule the statistics of the second half and the end, and run.
proc ::recorder::run_to_end {} {
    global ns endtime
    $ns at [expr {$endtime / 2.0}] ::recorder::begin_window
    $ns at $endtime ::recorder::write_window
    $ns at $endtime ::recorder::finish
    $ns at 0 "timeReport 1"
    $ns run
}

# End the run after the events that are already due, so that each file gets its last sample.
proc ::recorder::finish {} {
    global ns
    $ns at [$ns now] ::recorder::close_all
}

proc ::recorder::close_all {} {
    variable channels
    foreach channel $channels {
        close $channel
    }
    exit 0
}
