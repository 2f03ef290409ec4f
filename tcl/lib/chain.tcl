# Routers in a row, connected by bottlenecks: -links N, and for each link i = 0, 1, ... the keys
# -link.<i>.*. Needs args.tcl, defaults.tcl, topology.tcl, random.tcl.
#
#   -link.<i>.mbps                    Mbit/s
#   -link.<i>.delay_ms                ms, one way
#   -link.<i>.queue RED               ns-2's class, without "Queue/", of the queues of both directions
# Optional:
#   -link.<i>.queue.<variable_> n     a variable of these queues, including their limit
#   -link.<i>.loss_rate p             share of the packets on the way there that are lost at random
#                                     before they reach the queue
#   -link.<i>.loss_burst_pkts n       mean number of packets lost in a row; without it, losses are
#                                     independent of one another
#
# Link i connects routers i and i + 1: "there" is from i to i + 1, "back" from i + 1 to i.

namespace eval ::chain {
    # Shares may be written as Python writes them.
    variable share {matching {^(0(\.[0-9]+)?|[0-9](\.[0-9]+)?e-[0-9]+)$}
        {a share, 0 or more and less than 1}}
    variable link_keys [list \
        {mbps positive Mbit/s} \
        {delay_ms nonnegative ms} \
        {queue {matching ^[A-Z][A-Za-z0-9/]*$ {the name of a queue of ns-2}} ""} \
        [list loss_rate $share "" 0] \
        {loss_burst_pkts positive packets ""}]
    # The routers' nodes.
    variable routers {}
    # Link -> its model of random losses, and the monitor that counts them.
    array set losses {}
    array set lost {}
    # Link -> pairs of time (s) and rate (Mbit/s) from then on.
    array set rates {}
}

# Take the links out of the given keys (a variable of the caller): a list of dicts with the keys
# above, and with the variables of the queue as a dict under "variables".
proc ::chain::take {given_name count} {
    upvar $given_name given
    variable link_keys
    set links {}
    for {set i 0} {$i < $count} {incr i} {
        set variables [dict create]
        dict for {name value} [::args::take_prefixed given link.$i.queue.] {
            dict set variables $name [::args::checked -link.$i.queue.$name number "" $value]
        }
        set link [::args::take given $link_keys link.$i.]
        dict set link variables $variables
        check_queue link.$i $link
        check_loss link.$i $link
        lappend links $link
    }
    return $links
}

# Make sure that ns-2 has the queue of a link and its variables.
proc ::chain::check_queue {key link} {
    set class Queue/[dict get $link queue]
    if {![::defaults::is_class $class]} {
        ::args::fail "-$key.queue is '[dict get $link queue]': this ns-2 has no $class"
    }
    foreach name [dict keys [dict get $link variables]] {
        if {![::defaults::may_set $name] || [::defaults::value $class $name] eq ""} {
            ::args::fail "-$key.queue.$name: $class of this ns-2 has no variable '$name'"
        }
    }
}

# Make sure that losses can have bursts of the given length; independent losses have a mean of
# 1 / (1 - loss_rate).
proc ::chain::check_loss {key link} {
    set burst [dict get $link loss_burst_pkts]
    set rate [dict get $link loss_rate]
    if {$burst eq ""} {
        return
    }
    set least [expr {1 / (1.0 - $rate)}]
    if {$burst <= $least} {
        ::args::fail "-$key.loss_burst_pkts is '$burst', expected more than [format %g $least],\
            the mean of independent losses (packets)"
    }
}

# Make the routers and the links between them.
proc ::chain::make {links} {
    global ns
    variable routers
    variable rates
    set routers [list [$ns node]]
    foreach link $links {
        set i [expr {[llength $routers] - 1}]
        lappend routers [$ns node]
        lassign [lrange $routers end-1 end] from to
        set mbps [dict get $link mbps]
        set rates($i) [list 0 $mbps]
        $ns duplex-link $from $to ${mbps}Mb [dict get $link delay_ms]ms [dict get $link queue]
        foreach direction {there back} {
            set queue [[link_of $i $direction] queue]
            dict for {name value} [dict get $link variables] {
                $queue set $name $value
            }
        }
        if {[dict get $link loss_rate] > 0} {
            install_losses $i [dict get $link loss_rate] [dict get $link loss_burst_pkts]
        }
    }
}

# ns-2's link of one direction, "there" or "back".
proc ::chain::link_of {i direction} {
    global ns
    variable routers
    lassign [lrange $routers $i [expr {$i + 1}]] from to
    return [expr {$direction eq "there" ? [$ns link $from $to] : [$ns link $to $from]}]
}

# Lose packets at random on the way there, before the queue; they count as drops of the link. Call
# this before anything records the link, because later calls insert before it.
proc ::chain::install_losses {i rate burst} {
    variable losses
    variable lost
    set losses($i) [expr {$burst eq "" ? [uniform_losses] : [bursty_losses]}]
    set_losses $i $rate $burst
    set link [link_of $i there]
    $link errormodule $losses($i)
    set lost($i) [new QueueMonitor]
    set counter [new SnoopQueue/Drop]
    $counter set-monitor $lost($i)
    $counter target [$link set drophead_]
    $losses($i) drop-target $counter
}

proc ::chain::uniform_losses {} {
    set model [new ErrorModel]
    $model unit pkt
    $model ranvar [::random::variable_of losses Uniform {min_ 0 max_ 1}]
    return $model
}

# Gilbert's model: a good and a bad state, whose lengths in packets are both exponential.
proc ::chain::bursty_losses {} {
    set good [::random::variable_of losses Exponential {avg_ 1}]
    set bad [::random::variable_of losses Exponential {avg_ 1}]
    set model [new ErrorModel/TwoState $good $bad pkt]
    $model proc states {} [list return [list $good $bad]]
    return $model
}

# Give a model the share of packets that it loses.
proc ::chain::set_losses {i rate burst} {
    variable losses
    $losses($i) set enable_ [expr {$rate > 0}]
    if {$burst eq ""} {
        $losses($i) set rate_ $rate
    } elseif {$rate > 0} {
        set_states $losses($i) $rate $burst
    }
}

# Mean stays of Gilbert's model. ns-2 loses a packet, which has length 1, if any part of it is in
# the bad state. With mean stays g and b, the share of lost packets is p = 1 - g / (g + b) e^(-1/g),
# and p / ((1 - p)(1 - e^(-1/g))) are lost in a row on average; this is solved for g and b.
proc ::chain::set_states {model rate burst} {
    lassign [$model states] good bad
    set stay [expr {1 - $rate / ((1.0 - $rate) * $burst)}]
    set good_pkts [expr {-1 / log($stay)}]
    $good set avg_ $good_pkts
    $bad set avg_ [expr {$good_pkts * ($stay / (1.0 - $rate) - 1)}]
}

# Mean rate of a link between two points in time, Mbit/s.
proc ::chain::mean_mbps {i since now} {
    variable rates
    set bits 0.0
    foreach {from mbps} $rates($i) {until -} [concat [lrange $rates($i) 2 end] [list $now ""]] {
        set bits [expr {$bits + $mbps * max(0, min($until, $now) - max($from, $since))}]
    }
    return [expr {$now > $since ? $bits / ($now - $since) : $mbps}]
}
