# Flows and background traffic over one bottleneck or a chain of them, described entirely
# by arguments: the script of scenarios that need none of their own.
#
# Arguments are pairs -key value, in any order (lib/args.tcl). Required:
#   -duration_s s                -datadir directory of the output
#   -links N and -link.<i>.*     bottlenecks, see lib/chain.tcl
#   -flows N and -flow.<i>.*     flows, see lib/senders.tcl; N may be 0 if there is background
# Optional, with their defaults:
#   -backgrounds 0 and -background.<i>.*   traffic beside the flows, see lib/background.tcl, web.tcl
#   -changes 0 and -change.<i>.*           changes of the bottlenecks, see lib/changes.tcl
#   -sample_s 0.1                s between samples of cwnd, a multiple of 0.01
#   -queue_sample_s              s between samples of the queues, a multiple of 0.01; as -sample_s
#   -trace 0                     1: write every packet at the bottlenecks to pckts.trq
#   -seed 9999  -substream 1     random numbers: seed, substream
#   -default.<class>.<variable_> class defaults, see lib/defaults.tcl
#
# The RTT of a flow is twice the sum of its access_delay, its receiver_delay and the delays of the
# links in between. Writes the files of lib/recorder.tcl.
source [file join [file dirname [info script]] lib args.tcl]
source [file join [file dirname [info script]] lib defaults.tcl]
source [file join [file dirname [info script]] lib agents.tcl]
source [file join [file dirname [info script]] lib topology.tcl]
source [file join [file dirname [info script]] lib flows.tcl]
source [file join [file dirname [info script]] lib utils.tcl]
source [file join [file dirname [info script]] lib random.tcl]
source [file join [file dirname [info script]] lib chain.tcl]
source [file join [file dirname [info script]] lib changes.tcl]
source [file join [file dirname [info script]] lib ends.tcl]
source [file join [file dirname [info script]] lib senders.tcl]
source [file join [file dirname [info script]] lib background.tcl]
source [file join [file dirname [info script]] lib web.tcl]
source [file join [file dirname [info script]] lib recorder.tcl]

namespace eval ::network {
    variable number {matching ^(0|[1-9][0-9]*)$ {an integer of 0 or more}}
    variable keys [list \
        {duration_s positive s} \
        {datadir directory ""} \
        {links count ""} \
        [list flows $number ""] \
        [list backgrounds $number "" 0] \
        [list changes $number "" 0] \
        {sample_s {multiple 0.01} s 0.1} \
        {queue_sample_s {multiple 0.01} s ""} \
        {trace bit "" 0} \
        {seed count "" 9999} \
        {substream {count 1000000} "" 1}]
}

# The configuration: the arguments, completed by those that follow from others.
proc ::network::read {} {
    variable keys
    set given [::args::pairs]
    set config [::args::take given $keys]
    dict with config {}
    dict set config links [::chain::take given $links]
    dict set config changes [::changes::take given $changes [dict get $config links] $duration_s]
    dict set config flows [::senders::take given $flows $links $duration_s]
    dict set config backgrounds [::background::take given $backgrounds $links $duration_s]
    if {$flows + $backgrounds == 0} {
        ::args::fail "-flows and -backgrounds are 0: nothing would be sent"
    }
    dict set config defaults [::defaults::take given [classes_of $config]]
    ::args::refuse_rest $given " (-flows is $flows)"
    if {$queue_sample_s eq ""} {
        dict set config queue_sample_s $sample_s
    }
    return $config
}

# Classes of the objects that a configuration makes, whose defaults may be set.
proc ::network::classes_of {config} {
    set classes {}
    foreach flow [dict get $config flows] {
        lappend classes Agent/[dict get $flow agent] Agent/[dict get $flow sink]
    }
    foreach source [dict get $config backgrounds] {
        if {[dict exists $source agent]} {
            lappend classes Agent/[dict get $source agent] Agent/[dict get $source sink]
        }
    }
    foreach link [dict get $config links] {
        lappend classes Queue/[dict get $link queue]
    }
    return $classes
}

# Packet headers that a run needs. Without the RTP header a UDP agent overwrites others, and ns-2
# reports nothing.
proc ::network::headers {config} {
    foreach source [dict get $config backgrounds] {
        if {[dict get $source kind] ne "web"} {
            return {Flags IP TCP RTP}
        }
    }
    return {Flags IP TCP}
}

# Whether there are any transfers.
proc ::network::has_transfers {config} {
    foreach flow [dict get $config flows] {
        if {[dict get $flow packets] ne ""} {
            return 1
        }
    }
    foreach source [dict get $config backgrounds] {
        if {[dict get $source kind] eq "web"} {
            return 1
        }
    }
    return 0
}

# Build the links of a configuration and what records them.
proc ::network::make_links {config} {
    dict with config {}
    set ::ends::numbers_matter [expr {"DRR" in [lmap link $links {dict get $link queue}]}]
    ::chain::make $links
    ::changes::prepare $changes
    ::recorder::watch_links $links $trace $datadir
    ::recorder::sample_links $links $queue_sample_s $datadir
    ::changes::schedule $changes
}

# Add the flows and the background of a configuration.
proc ::network::make_traffic {config} {
    dict with config {}
    set fid 0
    foreach flow $flows {
        lassign [::senders::add $fid $flow] agent start_s
        ::recorder::watch_flow $fid $flow $agent $start_s $sample_s $datadir
        incr fid
    }
    foreach source $backgrounds {
        set index [expr {$fid - [llength $flows]}]
        ::background::add $index $fid $source
        incr fid
    }
}

# Build the network of a configuration and run it.
proc ::network::run {config} {
    dict with config {}
    new_simulator [headers $config]
    ::flows::prepare $config
    foreach source [dict get $config backgrounds] {
        if {[dict get $source kind] eq "web"} {
            ::agents::check_variables background $source
        }
    }
    ::random::begin $substream $seed
    foreach purpose {starts losses background web} {
        ::random::stream $purpose
    }
    set ::endtime $duration_s
    set ::frep [::recorder::opened $datadir/report.txt]
    if {[has_transfers $config]} {
        ::recorder::expect_transfers $datadir
    }
    make_links $config
    make_traffic $config
    ::recorder::run_to_end
}

::network::run [::network::read]
