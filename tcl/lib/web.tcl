# Background of kind web: ns-2's PagePool/WebTraf. Sessions of users request pages, and the objects
# of a page one after the other; each object is a TCP connection of its own. Needs background.tcl,
# random.tcl, recorder.tcl.
#
# The servers are behind a router of their own at the beginning of the path, so that objects cross
# it, and the clients behind one at its end; access_mbps and access_delay_ms belong to the links of
# these two routers.
#
#   servers, clients, sessions            their numbers; each session has a random client and starts
#                                         at a random time between start_s and start_s + within_s
#   server_mbps, server_most_mbps         rates of the servers' links, uniform between the two
#   server_delay_ms, server_most_delay_ms and their one-way delays, ms
#   client_...                            the same for the clients' links
#   segment_bytes                         data of a segment, B
# Optional:
#   pages 1000000                         pages of a session, which then ends
#   agent TCP/Reno  sink TCPSink          ns-2's classes of the connections
#   set.<variable_> n                     a variable of their senders
# and four quantities, each with a distribution, a mean and, for Pareto's, a shape:
#   page_pause, page_pause_mean_s, page_pause_shape     s, from the end of a page to the next
#   page_objects, page_objects_mean, ..._shape          objects of a page, rounded up
#   object_pause, object_pause_mean_s, ..._shape        s, between the starts of objects
#   object_size, object_size_mean_bytes, ..._shape      B, rounded up to whole segments
# Distributions: constant, exponential, pareto (from a smallest value on), paretoii (from 0 on).

namespace eval ::web {
    variable distribution {one_of constant exponential pareto paretoii}
    variable quantities {
        page_pause _mean_s s
        page_objects _mean ""
        object_pause _mean_s s
        object_size _mean_bytes B
    }
    variable keys {
        {servers count ""}
        {clients count ""}
        {sessions count ""}
        {pages count "" 1000000}
        {segment_bytes {count 65535} B}
        {server_mbps positive Mbit/s}
        {server_most_mbps positive Mbit/s}
        {server_delay_ms nonnegative ms}
        {server_most_delay_ms nonnegative ms}
        {client_mbps positive Mbit/s}
        {client_most_mbps positive Mbit/s}
        {client_delay_ms nonnegative ms}
        {client_most_delay_ms nonnegative ms}
    }
    lappend keys [list agent $::flows::agent_name "" TCP/Reno] \
        [list sink $::flows::agent_name "" TCPSink]
    foreach {name mean unit} $quantities {
        lappend keys [list $name $distribution ""] [list $name$mean positive $unit] \
            [list ${name}_shape positive "" ""]
    }
}
dict set ::background::kind_keys web $::web::keys

# Take the variables of the senders out of the given keys (a variable of the caller), make sure that
# the agents are of the right kind, and return the source with its settings.
proc ::web::checked {given_name key source} {
    upvar $given_name given
    variable quantities
    ::agents::check_classes $key [dict replace $source linux ""]
    set settings [dict create]
    dict for {name value} [::args::take_prefixed given $key.set.] {
        if {![::defaults::may_set $name]} {
            ::args::fail "-$key.set.$name: '$name' is not a variable that can be set"
        }
        dict set settings $name [::args::checked -$key.set.$name number "" $value]
    }
    check_shapes $key $source
    return [dict replace $source settings $settings record {} linux ""]
}

# Refuse shapes that are not needed or too small: up to a shape of 1, Pareto's mean is infinite.
proc ::web::check_shapes {key source} {
    variable quantities
    foreach {name - -} $quantities {
        set shape [dict get $source ${name}_shape]
        set pareto [string match pareto* [dict get $source $name]]
        if {$pareto && ($shape eq "" || $shape <= 1)} {
            ::args::fail "-$key.${name}_shape is '$shape', expected a number above 1"
        }
        if {!$pareto && $shape ne ""} {
            ::args::fail "-$key.${name}_shape: only Pareto's distribution has a shape"
        }
    }
    if {[dict get $source stop_s] ne ""} {
        ::args::fail "-$key.stop_s: sessions end with their last page"
    }
}

# Make the hosts and the sessions of a source.
proc ::web::add {index fid source} {
    lassign [::ends::routers $source] first last
    set pool [new PagePool/WebTraf]
    use_agents $pool $fid $source
    note_objects $pool background:$index [dict get $source segment_bytes]
    foreach {role router} [list server $first client $last] {
        set cluster [::ends::host $router [dict get $source access_mbps] \
            [dict get $source access_delay_ms] 1000000]
        add_hosts $pool $role $cluster $source
    }
    add_sessions $pool $source
}

# Hosts of one role, "server" or "client", behind a router.
proc ::web::add_hosts {pool role cluster source} {
    set count [dict get $source ${role}s]
    $pool set-num-$role $count
    for {set i 0} {$i < $count} {incr i} {
        set drawn [lmap unit {mbps delay_ms} {
            ::random::between web [dict get $source ${role}_$unit] \
                [dict get $source ${role}_most_$unit]
        }]
        $pool set-$role $i [::ends::host $cluster {*}$drawn 1000000]
    }
}

proc ::web::add_sessions {pool source} {
    dict with source {}
    $pool set-num-session $sessions
    for {set i 0} {$i < $sessions} {incr i} {
        set begin [::random::between web $start_s [expr {$start_s + $within_s}]]
        $pool create-session $i $pages $begin \
            [draws $source page_pause _mean_s 1] [draws $source page_objects _mean 1] \
            [draws $source object_pause _mean_s 1] \
            [draws $source object_size _mean_bytes $segment_bytes]
    }
}

# A random variable for one of the four quantities; its mean is divided by unit.
proc ::web::draws {source name suffix unit} {
    set mean [expr {[dict get $source $name$suffix] / double($unit)}]
    set shape [dict get $source ${name}_shape]
    switch -- [dict get $source $name] {
        constant {return [::random::variable_of web Constant [list val_ $mean]]}
        exponential {return [::random::variable_of web Exponential [list avg_ $mean]]}
        pareto {return [::random::variable_of web Pareto [list avg_ $mean shape_ $shape]]}
        paretoii {return [::random::variable_of web ParetoII [list avg_ $mean shape_ $shape]]}
    }
}

# Give the connections of a pool the agents of a source, and the same flow id. In mode 2 the pool
# leaves flow ids as they are.
proc ::web::use_agents {pool fid source} {
    PagePool/WebTraf set FID_ASSIGNING_MODE_ 2
    dict with source {}
    $pool proc alloc-tcp {} [list ::web::new_agent $agent $fid \
        [dict replace $settings packetSize_ $segment_bytes]]
    $pool proc alloc-tcp-sink {} [list ::web::new_agent $sink $fid {}]
}

proc ::web::new_agent {class fid settings} {
    set made [new Agent/$class]
    $made set fid_ $fid
    dict for {name value} $settings {
        $made set $name $value
    }
    return $made
}

# Write each object that a pool's clients get, from its request to its last acknowledgement.
proc ::web::note_objects {pool subject segment_bytes} {
    $pool set subject_ $subject
    $pool set segment_bytes_ $segment_bytes
    $pool proc launch-req {id args} {
        $self instvar asked_
        set asked_($id) [[Simulator instance] now]
        $self next $id {*}$args
    }
    $pool proc done-resp {id pid clnt svr stcp ssnk size sent args} {
        $self instvar asked_ subject_ segment_bytes_
        ::recorder::transfer object $subject_ $asked_($id) [expr {$size * $segment_bytes_}]
        unset asked_($id)
        $self next $id $pid $clnt $svr $stcp $ssnk $size $sent {*}$args
    }
}
