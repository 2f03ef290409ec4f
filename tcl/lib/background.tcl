# Traffic beside the flows: -backgrounds N, and for each i = 0, 1, ... the keys -background.<i>.*.
# Needs args.tcl, ends.tcl, random.tcl. Its packets have the flow id of the last flow + 1 + i.
#
#   -background.<i>.kind cbr      what sends; see below
#   -background.<i>.start_s       s
#   -background.<i>.access_mbps   Mbit/s, of the links of sender and receiver
#   and the keys of ends.tcl
# Optional:
#   -background.<i>.within_s 0    s; it starts at random between start_s and start_s + within_s
#   -background.<i>.stop_s        s, when it stops
#   -background.<i>.access_delay_ms 0  ms, one way, of the links of sender and receiver
#
# Kinds over UDP, of packets of packet_bytes bytes, headers included:
#   cbr            rate_mbps Mbit/s; jitter 1: times between packets are uniform between 0.5 and 1.5
#                  times their mean, 0: they are equal
#   exponential    rate_mbps Mbit/s in bursts of burst_s s and pauses of idle_s s on average, both
#                  exponential
#   pareto         the same, but both have Pareto's distribution, with shape
# web is in web.tcl.

namespace eval ::background {
    variable common_keys [concat $::ends::path_rows {
        {start_s nonnegative s}
        {access_mbps positive Mbit/s}
        {access_delay_ms nonnegative ms 0}
        {within_s nonnegative s 0}
        {stop_s nonnegative s ""}
    }]
    # Kind -> its own keys.
    variable kind_keys [dict create \
        cbr {
            {rate_mbps positive Mbit/s}
            {packet_bytes {count 65535} B}
            {jitter bit "" 0}
        } \
        exponential {
            {rate_mbps positive Mbit/s}
            {packet_bytes {count 65535} B}
            {burst_s positive s}
            {idle_s nonnegative s}
        } \
        pareto {
            {rate_mbps positive Mbit/s}
            {packet_bytes {count 65535} B}
            {burst_s positive s}
            {idle_s nonnegative s}
            {shape positive ""}
        }]
}

# Take the background out of the given keys (a variable of the caller), a list of dicts.
proc ::background::take {given_name count links duration_s} {
    upvar $given_name given
    variable common_keys
    variable kind_keys
    set sources {}
    for {set i 0} {$i < $count} {incr i} {
        set prefix background.$i.
        set kind_row [list kind [list one_of {*}[dict keys $kind_keys]] ""]
        set kind [dict get [::args::take given [list $kind_row] $prefix] kind]
        set source [::args::take given [concat $common_keys [dict get $kind_keys $kind]] $prefix]
        set source [::ends::checked background.$i $source $links]
        ::senders::check_times background.$i [dict replace $source packets ""] $duration_s
        if {$kind eq "web"} {
            set source [::web::checked given background.$i $source]
        }
        if {$kind eq "pareto" && [dict get $source shape] <= 1} {
            ::args::fail "-background.$i.shape is '[dict get $source shape]', expected more than 1"
        }
        lappend sources [dict replace $source kind $kind]
    }
    return $sources
}

# Make one of the sources with its hosts; its packets have flow id fid.
proc ::background::add {index fid source} {
    if {[dict get $source kind] eq "web"} {
        ::web::add $index $fid $source
    } else {
        add_udp $fid $source
    }
}

proc ::background::add_udp {fid source} {
    global ns
    lassign [::ends::routers $source] first last
    dict with source {}
    # A queue that never fills: a burst may arrive faster than the link can send it.
    set room_pkts 1000000
    set from [::ends::host $first $access_mbps $access_delay_ms $room_pkts]
    set to [::ends::host $last $access_mbps $access_delay_ms $room_pkts]
    set agent [$ns create-connection UDP $from Null $to $fid]
    # Agent/UDP splits larger data into several packets.
    $agent set packetSize_ $packet_bytes
    set generator [generator_of $source]
    $generator attach-agent $agent
    $ns at [::random::between starts $start_s [expr {$start_s + $within_s}]] [list $generator start]
    if {$stop_s ne ""} {
        $ns at $stop_s [list $generator stop]
    }
}

# ns-2's generator of traffic.
proc ::background::generator_of {source} {
    dict with source {}
    set classes {cbr CBR exponential Exponential pareto Pareto}
    set generator [new Application/Traffic/[dict get $classes $kind]]
    if {$kind eq "cbr"} {
        $generator set random_ $jitter
    } else {
        $generator set burst_time_ ${burst_s}s
        $generator set idle_time_ ${idle_s}s
    }
    if {$kind eq "exponential"} {
        $generator use-rng [::random::stream background]
    }
    if {$kind eq "pareto"} {
        $generator set shape_ $shape
    }
    $generator set rate_ ${rate_mbps}Mb
    $generator set packetSize_ $packet_bytes
    return $generator
}
