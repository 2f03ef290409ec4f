# Flows over a chain of bottlenecks: -flows N, and for each flow the keys -flow.<i>.* of flows.tcl,
# those of ends.tcl, and the ones below. Needs flows.tcl, ends.tcl, random.tcl.
#
#   -flow.<i>.access_mbps        Mbit/s, of the links of its sender and its receiver
#   -flow.<i>.receiver_delay_ms  ms, one way, of its receiver's link
# Optional:
#   -flow.<i>.access_buffer_pkts n  packets that the queue of its sender's link holds; by default as
#                                many as its window lets it send
#   -flow.<i>.within_s 0         s; it starts at random between start_s and start_s + within_s
#   -flow.<i>.stop_s             s, when it stops sending new data
#   -flow.<i>.packets n          a transfer of n packets; without it there is always more to send
#   -flow.<i>.recorded 1         0: no files of its cwnd and throughput
#   -flow.<i>.linux.<name> n     a parameter of its congestion control of TCP/Linux

namespace eval ::senders {
    variable flow_keys [concat $::flows::keys $::ends::path_rows {
        {access_mbps positive Mbit/s}
        {receiver_delay_ms nonnegative ms}
        {access_buffer_pkts count packets ""}
        {within_s nonnegative s 0}
        {stop_s nonnegative s ""}
        {packets count packets ""}
        {recorded bit "" 1}
    }]
}

# Take the flows out of the given keys (a variable of the caller), a list of dicts.
proc ::senders::take {given_name count links duration_s} {
    upvar $given_name given
    set ::flows::keys $::senders::flow_keys
    set flows {}
    for {set fid 0} {$fid < $count} {incr fid} {
        set parameters [::args::take_prefixed given flow.$fid.linux.]
        set flow [::flows::take_flow given $fid $duration_s]
        set flow [::ends::checked flow.$fid $flow $links]
        check_times flow.$fid $flow $duration_s
        check_parameters flow.$fid $flow $parameters
        lappend flows [dict replace $flow parameters $parameters]
    }
    return $flows
}

# Make sure that a flow starts during the run and stops after that.
proc ::senders::check_times {key flow duration_s} {
    dict with flow {}
    set latest [expr {$start_s + $within_s}]
    if {$latest >= $duration_s} {
        ::args::fail "-$key.within_s is '$within_s', expected less than the time from\
            -$key.start_s to the end of the run, [expr {$duration_s - $start_s}] (s)"
    }
    if {$stop_s ne "" && $stop_s <= $latest} {
        ::args::fail "-$key.stop_s is '$stop_s', expected more than $latest, its latest start (s)"
    }
    if {$stop_s ne "" && $packets ne ""} {
        ::args::fail "-$key.stop_s and -$key.packets: a transfer ends when it is done"
    }
}

# Make sure that parameters of TCP/Linux are whole numbers and that a congestion control is named.
# Only ns-2's output shows whether it has these parameters, so declared.tcl checks that.
proc ::senders::check_parameters {key flow parameters} {
    dict for {name value} $parameters {
        if {[dict get $flow linux] eq ""} {
            ::args::fail "-$key.linux.$name needs -$key.linux"
        }
        ::args::checked -$key.linux.$name {matching {^-?(0|[1-9][0-9]*)$} {a whole number}} "" \
            $value
    }
}

# Make a flow with its hosts, schedule its start and its stop, and return its sender.
proc ::senders::add {fid flow} {
    global ns
    lassign [::ends::routers $flow] first last
    set window [::agents::window_pkts $flow]
    dict with flow {}
    set own_pkts [expr {$access_buffer_pkts eq "" ? $window : $access_buffer_pkts}]
    set from [::ends::host $first $access_mbps $access_delay_ms $own_pkts]
    set to [::ends::host $last $access_mbps $receiver_delay_ms $window]
    set agent [::agents::connect $flow $from $to $fid]
    dict for {name value} $parameters {
        # The agent has its congestion control only after the selection at time 0.
        $ns at 0 [list $agent set_ca_param $linux $name $value]
    }
    set start [::random::between starts $start_s [expr {$start_s + $within_s}]]
    set application [$agent attach-app FTP]
    if {$packets eq ""} {
        $ns at $start [list $application start]
    } else {
        $ns at $start [list $application produce $packets]
        set bytes [expr {$packets * [$agent set packetSize_]}]
        $agent proc done {} [list ::recorder::transfer flow flow:$fid $start $bytes]
    }
    if {$stop_s ne ""} {
        $ns at $stop_s [list $application stop]
    }
    return [list $agent $start]
}
