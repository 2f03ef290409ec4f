# Background of kind packmime: ns-2's PackMimeHTTP, with connections of HTTP 1.0 or 1.1 between
# clouds of clients and of servers. It extends background.tcl through further.tcl, and needs
# web.tcl.
#
# The nodes and their links are as for kind web: servers at the beginning of the path, clients at
# its end. PackMime pairs the nth client node with the nth server node and uses the pairs in turn.
#
#   rate_per_s                            new connections per second, on average
#   servers, clients                      nodes, equally many of each, at most 10
#   server_mbps, server_most_mbps, ...    their links, as for kind web
#   segment_bytes                         data of a segment, B
# Optional:
#   arrivals packmime                     times between new connections: packmime (fractional sums,
#                                         more regular at higher rates), exponential, constant
#   http 1.0                              1.0: a connection for each object; 1.1: some are persistent
#   tcp reno                              kind of Agent/TCP/FullTcp: reno, tahoe, newreno, sack
#   delayed_acks 0                        1: only every second segment is acknowledged
# and quantities, each with a distribution, a mean and, for Pareto's, a shape; by default they are
# PackMime's own:
#   request_size, ..._mean_bytes          B, rounded down
#   response_size, ..._mean_bytes         B, rounded down
#   server_pause, ..._mean_s              s, from the last byte of a request to the response
# With http 1.1 also:
#   persistent_share p                    share of connections that are persistent
#   single_share p                        among connections with several pages, share of pages with
#                                         one object
#   connection_pages, ..._mean            pages of a persistent connection, rounded up
#   page_objects, ..._mean                objects of a page, rounded up, at least 2
#   page_pause, ..._mean_s                s, from the end of a page to the next
#   object_pause, ..._mean_s              s, from the end of an object to the next

namespace eval ::packmime {
    variable most_pairs 10
    variable distributions {one_of constant exponential pareto paretoii}
    # Quantity, end of the name of its mean, unit, and the command of PackMime that takes it.
    variable quantities {
        request_size _mean_bytes B set-req_size
        response_size _mean_bytes B set-rsp_size
        server_pause _mean_s s set-server_delay
    }
    variable persistent_quantities {
        connection_pages _mean "" set-num_pages
        page_objects _mean "" set-objs_per_page
        page_pause _mean_s s set-time_btwn_pages
        object_pause _mean_s s set-time_btwn_objs
    }
    # Share, command of PackMime, and its random variable.
    variable shares {
        persistent_share set-prob_persistent PackMimeHTTPPersistent
        single_share set-prob_single_obj PackMimeHTTPSingleObj
    }
    variable share {matching {^(0(\.[0-9]+)?|1|[0-9](\.[0-9]+)?e-[0-9]+)$} {a share from 0 to 1}}
    variable keys {
        {rate_per_s positive 1/s}
        {arrivals {one_of packmime exponential constant} "" packmime}
        {servers count ""}
        {clients count ""}
        {segment_bytes {count 65535} B}
        {http {one_of 1.0 1.1} "" 1.0}
        {tcp {one_of reno tahoe newreno sack} "" reno}
        {delayed_acks bit "" 0}
        {server_mbps positive Mbit/s}
        {server_most_mbps positive Mbit/s}
        {server_delay_ms nonnegative ms}
        {server_most_delay_ms nonnegative ms}
        {client_mbps positive Mbit/s}
        {client_most_mbps positive Mbit/s}
        {client_delay_ms nonnegative ms}
        {client_most_delay_ms nonnegative ms}
    }
    foreach {name - -} $shares {
        lappend keys [list $name $share "" ""]
    }
    foreach {name mean unit -} [concat $quantities $persistent_quantities] {
        lappend keys [list $name $distributions "" ""] [list $name$mean positive $unit ""] \
            [list ${name}_shape positive "" ""]
    }
    # Index of a source -> the file in which ns-2 records its responses.
    array set notes {}
}
::further::at_arguments ::packmime::join_script

proc ::packmime::join_script {} {
    dict set ::background::kind_keys packmime $::packmime::keys
    ::further::wrap ::background::take ::packmime::take
    ::further::wrap ::background::add ::packmime::add
    ::further::wrap ::network::has_transfers ::packmime::has_transfers
    ::further::wrap ::recorder::expect_transfers ::packmime::expect_transfers
    ::further::wrap ::recorder::close_all ::packmime::close_all
}

proc ::packmime::is_one {source} {
    return [expr {[dict get $source kind] eq "packmime"}]
}

proc ::packmime::take {given_name count links duration_s} {
    upvar $given_name given
    set index -1
    return [lmap source [[::further::inner ::packmime::take] given $count $links $duration_s] {
        incr index
        expr {[is_one $source] ? [checked background.$index $source] : $source}
    }]
}

# A source with the class of its connections, after a check that its keys are consistent.
proc ::packmime::checked {key source} {
    variable most_pairs
    variable quantities
    variable persistent_quantities
    variable shares
    dict with source {}
    if {$servers != $clients || $servers > $most_pairs} {
        ::args::fail "-$key.servers is '$servers' and -$key.clients '$clients', expected as many of\
            each, $most_pairs at most"
    }
    foreach {name mean - -} [concat $quantities $persistent_quantities] {
        check_quantity $key $source $name $mean
    }
    foreach name [concat [lmap {name - -} $shares {set name}] \
            [lmap {name - - -} $persistent_quantities {set name}]] {
        if {$http eq "1.0" && [dict get $source $name] ne ""} {
            ::args::fail "-$key.$name needs -$key.http 1.1: in 1.0 no connection is persistent"
        }
    }
    set class TCP/FullTcp[expr {$tcp eq "reno" ? "" : "/[string totitle $tcp]"}]
    return [dict replace $source agent $class sink $class]
}

# Make sure that a quantity has a mean, and a shape if it needs one.
proc ::packmime::check_quantity {key source name mean} {
    set distribution [dict get $source $name]
    set shape [dict get $source ${name}_shape]
    if {($distribution eq "") != ([dict get $source $name$mean] eq "")} {
        ::args::fail "-$key.$name and -$key.$name$mean go together"
    }
    if {[string match pareto* $distribution] && ($shape eq "" || $shape <= 1)} {
        ::args::fail "-$key.${name}_shape is '$shape', expected a number above 1"
    }
    if {![string match pareto* $distribution] && $shape ne ""} {
        ::args::fail "-$key.${name}_shape: only Pareto's distribution has a shape"
    }
}

# ---------------------------------------------------------------- making it

proc ::packmime::add {index fid source} {
    global ns
    if {![is_one $source]} {
        return [[::further::inner ::packmime::add] $index $fid $source]
    }
    set pool [new PackMimeHTTP]
    add_hosts $pool $source
    use_agents $pool $fid $source
    set_up $pool $source
    note_responses $pool $index
    dict with source {}
    $ns at [::random::between packmime $start_s [expr {$start_s + $within_s}]] [list $pool start]
    if {$stop_s ne ""} {
        $ns at $stop_s [list $pool stop]
    }
}

# Nodes of servers and clients, behind a router for each of the two.
proc ::packmime::add_hosts {pool source} {
    lassign [::ends::routers $source] first last
    foreach {role router} [list server $first client $last] {
        set cluster [::ends::host $router [dict get $source access_mbps] \
            [dict get $source access_delay_ms] 1000000]
        for {set i 0} {$i < [dict get $source ${role}s]} {incr i} {
            set drawn [lmap unit {mbps delay_ms} {
                ::random::between packmime [dict get $source ${role}_$unit] \
                    [dict get $source ${role}_most_$unit]
            }]
            $pool set-$role [::ends::host $cluster {*}$drawn 1000000]
        }
    }
}

# Give the connections of a source its kind of TCP, and the same flow id: PackMime itself would give
# them those of the flows.
proc ::packmime::use_agents {pool fid source} {
    dict with source {}
    $pool set-TCP [string totitle $tcp]
    $pool proc alloc-tcp {type} "
        set made \[\$self next \$type]
        \$made set segsize_ $segment_bytes
        \$made set segsperack_ [expr {1 + $delayed_acks}]
        return \$made
    "
    $pool proc setup-tcp {agent -} "\$self next \$agent $fid"
}

# Give PackMime its rate and the quantities that it does not draw itself.
proc ::packmime::set_up {pool source} {
    variable quantities
    variable persistent_quantities
    variable shares
    dict with source {}
    $pool set-rate $rate_per_s
    # PackMime starts after skipping this many substreams.
    $pool set-run [expr {$::random::substream - 1}]
    if {$arrivals ne "packmime"} {
        $pool set-flow_arrive [variable_of $arrivals [expr {1.0 / $rate_per_s}] ""]
    }
    if {$http eq "1.1"} {
        $pool set-http-1.1
    }
    foreach {name mean - command} [concat $quantities $persistent_quantities] {
        if {[dict get $source $name] ne ""} {
            $pool $command [variable_of [dict get $source $name] [dict get $source $name$mean] \
                [dict get $source ${name}_shape]]
        }
    }
    foreach {name command kind} $shares {
        if {[dict get $source $name] ne ""} {
            set drawn [new RandomVariable/$kind [dict get $source $name]]
            $drawn use-rng [::random::stream packmime]
            $pool $command $drawn
        }
    }
    # Otherwise the first object of a persistent connection would decide the sizes of the others.
    if {$request_size ne ""} {
        $pool no-pm-persistent-reqsz
    }
    if {$response_size ne ""} {
        $pool no-pm-persistent-rspsz
    }
}

proc ::packmime::variable_of {distribution mean shape} {
    switch -- $distribution {
        constant {return [::random::variable_of packmime Constant [list val_ $mean]]}
        exponential {return [::random::variable_of packmime Exponential [list avg_ $mean]]}
        pareto {return [::random::variable_of packmime Pareto [list avg_ $mean shape_ $shape]]}
        paretoii {return [::random::variable_of packmime ParetoII [list avg_ $mean shape_ $shape]]}
    }
}

# ---------------------------------------------------------------- what is recorded

proc ::packmime::has_transfers {config} {
    foreach source [dict get $config backgrounds] {
        if {[is_one $source]} {
            return 1
        }
    }
    return [[::further::inner ::packmime::has_transfers] $config]
}

# ns-2 records responses in separate files, which are beside that of the transfers until the end.
proc ::packmime::expect_transfers {datadir} {
    variable folder $datadir
    [::further::inner ::packmime::expect_transfers] $datadir
}

proc ::packmime::note_responses {pool index} {
    variable folder
    variable notes
    set notes($index) $folder/packmime_$index.notes
    $pool set-outfile $notes($index)
}

proc ::packmime::close_all {} {
    variable folder
    variable notes
    if {[array size notes] > 0} {
        close $::recorder::transfers
        set ::recorder::channels [lsearch -all -inline -not -exact $::recorder::channels \
            $::recorder::transfers]
        merge_notes $folder/transfers.out
    }
    [::further::inner ::packmime::close_all]
}

# Add the responses to the transfers, in the order of their ends.
proc ::packmime::merge_notes {path} {
    variable notes
    set lines [lines_of $path]
    foreach index [array names notes] {
        foreach line [lines_of $notes($index)] {
            lassign $line end_s - bytes response_ms
            # Because of rounding, a response at the very beginning could seem to start before time
            # 0.
            set start_s [expr {max(0, $end_s - $response_ms / 1000.0)}]
            lappend lines "object background:$index [format %.6f $start_s] $end_s $bytes"
        }
        file delete $notes($index)
    }
    set file [open $path w]
    foreach line [lsort -real -index 3 $lines] {
        puts $file $line
    }
    close $file
}

proc ::packmime::lines_of {path} {
    set file [open $path]
    set lines [split [string trimright [read $file] \n] \n]
    close $file
    return [expr {$lines eq {{}} ? {} : $lines}]
}
