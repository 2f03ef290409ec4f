# Hosts at the routers of a chain (chain.tcl), and the paths between them. Needs args.tcl,
# topology.tcl, chain.tcl.
#
# Everything that sends over the chain has these keys:
#   reverse 0          1: in the other direction, from the end of the chain to its beginning
#   enters 0           first link of its path, from 0
#   leaves             last link of its path; by default the last of the chain

namespace eval ::ends {
    variable link_number {matching ^(0|[1-9][0-9]*)$ {the number of a link, from 0}}
    variable path_rows [list \
        {reverse bit "" 0} \
        [list enters $link_number "" 0] \
        [list leaves $link_number "" ""]]
    # Whether a queue of the run distinguishes senders only by the numbers of their nodes.
    variable numbers_matter 0
}

# Check a path's keys against the number of links; returns them with leaves filled in.
proc ::ends::checked {key path links} {
    if {[dict get $path leaves] eq ""} {
        dict set path leaves [expr {$links - 1}]
    }
    if {[dict get $path leaves] >= $links} {
        ::args::fail "-$key.leaves is '[dict get $path leaves]', and there are $links links"
    }
    if {[dict get $path enters] > [dict get $path leaves]} {
        ::args::fail "-$key.enters is '[dict get $path enters]', expected\
            [dict get $path leaves] at most, where it leaves"
    }
    return $path
}

# The routers at which a path starts and ends.
proc ::ends::routers {path} {
    set first [lindex $::chain::routers [dict get $path enters]]
    set last [lindex $::chain::routers [expr {[dict get $path leaves] + 1}]]
    return [expr {[dict get $path reverse] ? [list $last $first] : [list $first $last]}]
}

# Number and direction of the first link of a path.
proc ::ends::first_link {path} {
    if {[dict get $path reverse]} {
        return [list [dict get $path leaves] back]
    }
    return [list [dict get $path enters] there]
}

# A new node. Queue/DRR has only one place for nodes n and n - 1 if n is a multiple of 16 but not of
# 256, whatever the number of places, so such numbers n are left out if it matters.
proc ::ends::node {} {
    global ns
    variable numbers_matter
    set next [Node set nn_]
    if {$numbers_matter && $next % 16 == 0 && $next % 256 != 0} {
        $ns node
    }
    return [$ns node]
}

# A host at a router. Its link has room for buffer_pkts packets in each direction, in addition to
# the one being sent: a DropTail queue of ns-2 holds one packet less than its limit.
proc ::ends::host {router mbps delay_ms buffer_pkts} {
    set host [node]
    join_nodes $host $router $mbps $delay_ms [expr {$buffer_pkts + 1}]
    return $host
}
