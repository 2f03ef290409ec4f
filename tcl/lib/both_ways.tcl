# A bottleneck whose way back has a rate of its own, and what passes both ways from a given time on.
# Extends chain.tcl, changes.tcl and recorder.tcl through further.tcl.
#
#   -link.<i>.reverse_mbps   Mbit/s, rate of the way back; by default that of the way there
#   -measured_from_s         s; from then to the end report.txt counts, by direction of a link,
#                              measured_throughput  departures, headers included, Mbit/s
#                              measured_utilization the same, % of the direction's rate
#                              measured_loss_rate   drops over drops and departures, %
#                              measured_delay       mean queueing delay, ms, by Little's law: the mean
#                                                   queue over the departures per second
#                            and for each flow, at its first link, measured_throughput, and for each
#                            source of background, as run.background_<i>_..., throughput and drops,
#                            and of kind tmix goodput: data of its acceptors that was acknowledged,
#                            in whole segments without headers, Mbit/s

namespace eval ::both_ways {
    # Link -> rate of its way back, if that is its own, Mbit/s.
    array set narrow {}
    # Link and direction -> integral of its queue's length, packets times s.
    array set integrals {}
    # Subject -> counters at the start; link and direction -> integral at the start.
    array set before {}
    array set held {}
}
::further::at_arguments ::both_ways::join_script

proc ::both_ways::join_script {} {
    lappend ::chain::link_keys {reverse_mbps positive Mbit/s ""}
    lappend ::network::keys {measured_from_s nonnegative s ""}
    ::further::wrap ::changes::take ::both_ways::take_changes
    ::further::wrap ::chain::make ::both_ways::make
    ::further::wrap ::recorder::write_link ::both_ways::write_link
    ::further::wrap ::recorder::write_flow ::both_ways::write_flow
    ::further::wrap ::network::run ::both_ways::run
    ::further::wrap ::network::make_traffic ::both_ways::make_traffic
}

# The changes; that of a rate is one of both directions.
proc ::both_ways::take_changes {given_name count links duration_s} {
    upvar $given_name given
    set changes [[::further::inner ::both_ways::take_changes] given $count $links $duration_s]
    foreach i [::recorder::indices $changes] change $changes {
        set link [lindex $links [dict get $change link]]
        if {[dict get $change mbps] ne "" && [dict get $link reverse_mbps] ne ""} {
            ::args::fail "-change.$i.mbps: link [dict get $change link] has -reverse_mbps"
        }
    }
    return $changes
}

proc ::both_ways::make {links} {
    variable narrow
    [::further::inner ::both_ways::make] $links
    foreach i [::recorder::indices $links] link $links {
        if {[dict get $link reverse_mbps] ne ""} {
            set narrow($i) [dict get $link reverse_mbps]
            [[::chain::link_of $i back] link] set bandwidth_ $narrow($i)Mb
        }
    }
}

# Evaluate a script with the rate of a link's direction in the place of that of the way there.
proc ::both_ways::at_rate {i direction script} {
    variable narrow
    set rates $::chain::rates($i)
    if {$direction eq "back" && [info exists narrow($i)]} {
        set ::chain::rates($i) [list 0 $narrow($i)]
    }
    set result [uplevel 1 $script]
    set ::chain::rates($i) $rates
    return $result
}

proc ::both_ways::write_link {key} {
    at_rate {*}[split $key ,] {[::further::inner ::both_ways::write_link] $key}
}

proc ::both_ways::write_flow {fid} {
    at_rate {*}$::recorder::places($fid) {[::further::inner ::both_ways::write_flow] $fid}
}

# ---------------------------------------------------------------- the measured time

proc ::both_ways::run {config} {
    dict with config {}
    if {$measured_from_s ne "" && $measured_from_s >= $duration_s} {
        ::args::fail "-measured_from_s is '$measured_from_s', expected less than -duration_s,\
            $duration_s (s)"
    }
    [::further::inner ::both_ways::run] $config
}

proc ::both_ways::make_traffic {config} {
    global ns endtime
    variable integrals
    [::further::inner ::both_ways::make_traffic] $config
    set from_s [dict get $config measured_from_s]
    if {$from_s eq ""} {
        return
    }
    foreach key [array names ::recorder::monitors] {
        set integrals($key) [new Integrator]
        $::recorder::monitors($key) set-pkts-integrator $integrals($key)
    }
    set subjects {}
    set flows [dict get $config flows]
    foreach fid [::recorder::indices $flows] {
        lappend subjects flow.$fid.measured $fid $::recorder::places($fid)
    }
    set replayed {}
    set index 0
    foreach background [dict get $config backgrounds] {
        lappend subjects run.background_$index [expr {[llength $flows] + $index}] \
            [::ends::first_link $background]
        if {[::tmix::is_one $background]} {
            lappend replayed $index
        }
        incr index
    }
    $ns at $from_s [list ::both_ways::begin $subjects $replayed]
    $ns at $endtime [list ::both_ways::write $subjects $replayed]
}

# Packets times s that have waited in a queue so far.
proc ::both_ways::waited {key} {
    global ns
    variable integrals
    $integrals($key) newpoint [$ns now] [$::recorder::monitors($key) set pkts_]
    return [$integrals($key) set sum_]
}

# Counters of one flow id at a link.
proc ::both_ways::counters {fid place} {
    return [::utils::counters [::utils::flow_monitor $::recorder::monitors([join $place ,]) $fid]]
}

proc ::both_ways::begin {subjects replayed} {
    global ns
    variable before
    variable held
    foreach key [array names ::recorder::monitors] {
        set before($key) [::utils::counters $::recorder::monitors($key)]
        set held($key) [waited $key]
    }
    foreach {subject fid place} $subjects {
        set before($subject) [counters $fid $place]
    }
    foreach index $replayed {
        set before($index) [list [$ns now] [::tmix::acknowledged_bytes $index]]
    }
}

# Seconds, bytes, packets and drops since the start.
proc ::both_ways::since {subject counters} {
    variable before
    return [lmap now $counters start $before($subject) {expr {$now - $start}}]
}

proc ::both_ways::write {subjects replayed} {
    global ns
    variable held
    foreach key [lsort -dictionary [array names ::recorder::monitors]] {
        lassign [split $key ,] i direction
        set name link.[::recorder::name_of $i $direction].measured
        lassign [since $key [::utils::counters $::recorder::monitors($key)]] s bytes packets drops
        set mbps [::utils::mbps $bytes $s]
        set rate [at_rate $i $direction {::chain::mean_mbps $i [expr {$::endtime - $s}] $::endtime}]
        ::utils::fact ${name}_throughput [format %.6f $mbps] Mbit/s
        ::utils::fact ${name}_utilization [format %.6f [expr {100.0 * $mbps / $rate}]] %
        if {$packets > 0} {
            ::utils::fact ${name}_loss_rate \
                [format %.6f [expr {100.0 * $drops / ($drops + $packets)}]] %
            ::utils::fact ${name}_delay \
                [format %.6f [expr {1e3 * ([waited $key] - $held($key)) / $packets}]] ms
        }
    }
    foreach {subject fid place} $subjects {
        lassign [since $subject [counters $fid $place]] s bytes - drops
        ::utils::fact ${subject}_throughput [format %.6f [::utils::mbps $bytes $s]] Mbit/s
        if {[string match run.* $subject]} {
            ::utils::fact ${subject}_drops $drops packets
        }
    }
    foreach index $replayed {
        lassign [since $index [list [$ns now] [::tmix::acknowledged_bytes $index]]] s bytes
        ::utils::fact run.background_${index}_goodput [format %.6f [::utils::mbps $bytes $s]] Mbit/s
    }
}
