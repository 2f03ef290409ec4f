# Changes of the bottlenecks during a run: -changes N, and for each change i = 0, 1, ... the keys
# -change.<i>.*. Needs args.tcl, chain.tcl.
#
#   -change.<i>.at_s        s, in the run
#   -change.<i>.link        number of the link, from 0
# and at least one of
#   -change.<i>.mbps        its rate from then on, in both directions, Mbit/s
#   -change.<i>.delay_ms    its delay for packets sent from then on, in both directions, ms
#   -change.<i>.loss_rate   the share of packets that it loses at random; if losses come in bursts,
#                           their length does not change

namespace eval ::changes {
    variable change_keys [list \
        {at_s nonnegative s} \
        {link {matching ^(0|[1-9][0-9]*)$ {the number of a link, from 0}} ""} \
        {mbps positive Mbit/s ""} \
        {delay_ms nonnegative ms ""} \
        [list loss_rate $::chain::share "" ""]]
}

# Take the changes out of the given keys (a variable of the caller), a list of dicts.
proc ::changes::take {given_name count links duration_s} {
    upvar $given_name given
    variable change_keys
    set changes {}
    for {set i 0} {$i < $count} {incr i} {
        set change [::args::take given $change_keys change.$i.]
        if {[dict get $change at_s] >= $duration_s} {
            ::args::fail "-change.$i.at_s is '[dict get $change at_s]', expected less than\
                -duration_s, $duration_s (s)"
        }
        if {[dict get $change link] >= [llength $links]} {
            ::args::fail "-change.$i.link is '[dict get $change link]', and there are\
                [llength $links] links"
        }
        if {[join [lmap name {mbps delay_ms loss_rate} {dict get $change $name}] ""] eq ""} {
            ::args::fail "-change.$i changes nothing"
        }
        set burst [dict get [lindex $links [dict get $change link]] loss_burst_pkts]
        if {[dict get $change loss_rate] ne "" && [dict get $change loss_rate] > 0} {
            ::chain::check_loss change.$i [dict replace $change loss_burst_pkts $burst]
        }
        lappend changes [dict replace $change burst $burst]
    }
    return $changes
}

# Make a loss model, which does not lose anything yet, for links that will lose packets later.
proc ::changes::prepare {changes} {
    foreach change $changes {
        set i [dict get $change link]
        if {[dict get $change loss_rate] ne "" && ![info exists ::chain::losses($i)]} {
            ::chain::install_losses $i 0 [dict get $change burst]
        }
    }
}

# Schedule the changes.
proc ::changes::schedule {changes} {
    global ns
    foreach change $changes {
        $ns at [dict get $change at_s] [list ::changes::make $change]
    }
}

# Make one change now.
proc ::changes::make {change} {
    global ns
    dict with change {}
    foreach direction {there back} {
        set delay [[::chain::link_of $link $direction] link]
        if {$mbps ne ""} {
            $delay set bandwidth_ ${mbps}Mb
        }
        if {$delay_ms ne ""} {
            $delay set delay_ ${delay_ms}ms
        }
    }
    if {$mbps ne ""} {
        lappend ::chain::rates($link) [$ns now] $mbps
    }
    if {$loss_rate ne ""} {
        ::chain::set_losses $link $loss_rate $burst
    }
}
