# What happens to the packets of a flow by their number. Extends senders.tcl through further.tcl.
#
#   -flow.<i>.loses "3 7"   packets that its sender's link loses, counted from 1 in the order in which
#                           the flow sends them
#   -flow.<i>.milestones 1  report.txt gets flow.<i>.received_<n>, for n = 10, 100, 1000, ...: s from
#                           its start until the receiver has its first n packets

namespace eval ::numbered {
    variable keys {
        {loses {matching {^[1-9][0-9]*( [1-9][0-9]*)*$} {numbers of packets between blanks}} "" ""}
        {milestones bit "" 0}
    }
    # Time between two looks, as a share of the time since the start, unless a packet takes longer.
    variable share 1e-3
}
::further::at_arguments ::numbered::join_script

proc ::numbered::join_script {} {
    set ::senders::flow_keys [concat $::senders::flow_keys $::numbered::keys]
    ::further::wrap ::senders::add ::numbered::add
}

proc ::numbered::add {fid flow} {
    global ns
    lassign [[::further::inner ::numbered::add] $fid $flow] agent start_s
    if {[dict get $flow loses] ne ""} {
        set router [lindex [::ends::routers $flow] 0]
        lose [$ns link [$agent set node_] $router] [dict get $flow loses]
    }
    if {[dict get $flow milestones]} {
        set receiver [[$ns get-node-by-addr [$agent set dst_addr_]] agent [$agent set dst_port_]]
        set bytes [expr {[$agent set packetSize_] + [$agent set tcpip_base_hdr_size_]
            + ([$agent set timestamps_] ? [$agent set ts_option_size_] : 0)}]
        set apart_s [expr {8e-6 * $bytes / [dict get $flow access_mbps]}]
        $ns at $start_s [list ::numbered::look $fid $receiver $bytes $apart_s $start_s 10 0 0]
    }
    return [list $agent $start_s]
}

# Lose packets of a link by their numbers.
proc ::numbered::lose {link numbers} {
    set model [new ErrorModel/List]
    $model unit pkt
    $model droplist [join [lmap number $numbers {expr {$number - 1}}]]
    $link errormodule $model
}

# Look whether the receiver has the next milestone, and again after a short time.
proc ::numbered::look {fid receiver bytes apart_s start_s milestone got last} {
    global ns
    variable share
    set now [$ns now]
    set counted [$receiver set bytes_]
    # The counter has 32 bits and may have begun anew.
    incr got [expr {($counted - $last) & 0xffffffff}]
    while {$got >= $milestone * $bytes} {
        ::utils::fact flow.$fid.received_$milestone [format %.6f [expr {$now - $start_s}]] s
        set milestone [expr {10 * $milestone}]
    }
    $ns at [expr {$now + max($apart_s, $share * ($now - $start_s))}] \
        [list ::numbered::look $fid $receiver $bytes $apart_s $start_s $milestone $got $counted]
}
