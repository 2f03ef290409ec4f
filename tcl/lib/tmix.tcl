# Background of kind tmix: ns-2's Tmix, which replays connection vectors over one-way TCP. A vector
# is a connection with its start, its segment size, and what each end sends when. It extends
# background.tcl through further.tcl, and needs packmime.tcl.
#
# Acceptors are hosts at the beginning of the path, so that what they send crosses it, and
# initiators at its end; vectors use all pairs of the two in turn. Their links have access_mbps.
#
#   acceptor_delays_ms, initiator_delays_ms  lists: one-way delays of the hosts' links, to which
#                                         access_delay_ms is added; 10 pairs at most
#   agent, sink                           ns-2's classes of the connections
# Optional:
#   linux, linux.<name>, set.<variable_>  as for flows (senders.tcl, flows.tcl)
#   bin_s                                 s; the vectors that start in the same interval of this
#                                         length stay together, and the intervals are shuffled until
#                                         the second third of the run is offered as much as the
#                                         last, within 5 %, or 1000 times
#   prefill_s                             s; vectors that start before are started in a shorter
#                                         interval that ends then, and those that would have
#                                         ended by half of that time are left out
#   prefill_within_s                      s, that interval; without it, what the kept ones send
#                                         takes at the mean rate of all
#   draw                                  number of the draw: sources that share it and what their
#                                         vectors are made of have the same, also on different
#                                         paths; by default the source's own
# Vectors are given, with scale (start times are multiplied by it):
#   vectors                               words kind,start_us,segment_bytes,... with S (one end
#                                         after the other) or C (both at once), and for each unit
#                                         end:send_us:receive_us:bytes: I or A sends it so long
#                                         after its last, or after what it has received. Both ends
#                                         have one segment size: Tmix counts what it receives in
#                                         segments of its own
# or drawn so that acceptors offer exactly offered_mbps over the run, in whole packets with headers:
#   offered_mbps                          Mbit/s
#   segment_bytes                         data of a segment, B
#   small_segment_bytes, small_share      the same of this share of the vectors
#   exchanges, request_size, response_size, server_pause, think  quantities as for kind web: number
#                                         of requests (rounded up), bytes (rounded up), s from a
#                                         request to the response, s from there to the next request

namespace eval ::tmix {
    variable most_pairs 10
    variable class {matching ^[A-Z][A-Za-z0-9/]*$ {the name of a class of ns-2}}
    variable delays {matching {^[0-9.]+( [0-9.]+)*$} {delays between blanks}}
    variable quantities {
        exchanges _mean ""
        request_size _mean_bytes B
        response_size _mean_bytes B
        server_pause _mean_s s
        think _mean_s s
    }
    variable keys [list \
        [list acceptor_delays_ms $delays ms] \
        [list initiator_delays_ms $delays ms] \
        [list agent $class ""] \
        [list sink $class ""] \
        {linux {matching ^[a-z][a-z0-9_]*$ {the name of a congestion control of Linux}} "" ""} \
        {bin_s positive s ""} \
        {prefill_s nonnegative s 0} \
        {prefill_within_s positive s ""} \
        {draw count "" ""} \
        {vectors {matching ^[SC], {connection vectors}} "" ""} \
        {scale positive "" 1} \
        {offered_mbps positive Mbit/s ""} \
        {segment_bytes {count 65535} B 1460} \
        {small_segment_bytes {count 65535} B 1460} \
        [list small_share $::packmime::share "" 0]]
    foreach {name mean unit} $quantities {
        lappend keys [list $name {one_of constant exponential pareto paretoii} "" ""] \
            [list $name$mean positive $unit ""] [list ${name}_shape positive "" ""]
    }
    # Draw and quantities -> vectors.
    array set drawn {}
    # What vectors do not depend on: who sends them, and from where to where.
    variable elsewhere {
        index agent sink linux settings parameters prefill_s prefill_within_s
        acceptor_delays_ms initiator_delays_ms access_mbps access_delay_ms enters leaves reverse
    }
    # Tmix -> its vectors.
    array set vectors {}
    # Sender -> its connection; connection -> source, start, bytes, ends that are not done.
    array set of_agent {}
    array set open {}
    # Source -> data of its finished connections that acceptors sent, B.
    array set delivered {}
    variable files {}
}
::further::at_arguments ::tmix::join_script

proc ::tmix::join_script {} {
    dict set ::background::kind_keys tmix $::tmix::keys
    ::further::wrap ::background::take ::tmix::take
    ::further::wrap ::flows::prepare ::tmix::prepare
    ::further::wrap ::background::add ::tmix::add
    ::further::wrap ::network::has_transfers ::tmix::has_transfers
    ::further::wrap ::recorder::expect_transfers ::tmix::expect_transfers
    ::further::wrap ::recorder::close_all ::tmix::close_all
}

proc ::tmix::is_one {source} {
    return [expr {[dict get $source kind] eq "tmix"}]
}

# ---------------------------------------------------------------- its arguments

# The sources; the variables and parameters of the senders are taken out of the keys first, because
# their names are those of ns-2.
proc ::tmix::take {given_name count links duration_s} {
    upvar $given_name given
    set own {}
    for {set i 0} {$i < $count} {incr i} {
        set key background.$i.kind
        if {[dict exists $given $key] && [dict get $given $key] eq "tmix"} {
            dict set own $i settings [::args::take_prefixed given background.$i.set.]
            dict set own $i parameters [::args::take_prefixed given background.$i.linux.]
        }
    }
    set index -1
    return [lmap source [[::further::inner ::tmix::take] given $count $links $duration_s] {
        incr index
        expr {[is_one $source]
            ? [checked background.$index [dict merge $source [dict get $own $index] \
                [dict create record {} index $index duration_s $duration_s]]]
            : $source}
    }]
}

# A source, after a check that its keys are consistent.
proc ::tmix::checked {key source} {
    variable most_pairs
    variable quantities
    dict with source {}
    if {[llength $acceptor_delays_ms] * [llength $initiator_delays_ms] > $most_pairs} {
        ::args::fail "-$key.acceptor_delays_ms and -$key.initiator_delays_ms have more than\
            $most_pairs pairs"
    }
    ::agents::check_classes $key $source
    ::senders::check_parameters $key $source $parameters
    dict for {name value} $settings {
        if {![::defaults::may_set $name]} {
            ::args::fail "-$key.set.$name: '$name' is not a variable that can be set"
        }
        ::args::checked -$key.set.$name number "" $value
    }
    if {($vectors eq "") == ($offered_mbps eq "")} {
        ::args::fail "-$key needs either vectors or offered_mbps"
    }
    foreach {name mean -} $quantities {
        if {($offered_mbps ne "") != ([dict get $source $name] ne "")} {
            ::args::fail "-$key.$name goes together with -$key.offered_mbps"
        }
        ::packmime::check_quantity $key $source $name $mean
    }
    if {$stop_s ne ""} {
        ::args::fail "-$key.stop_s: connections end with their last byte"
    }
    if {$within_s > 0} {
        ::args::fail "-$key.within_s: connections start as their vectors say"
    }
    if {$vectors ne "" && $start_s > 0} {
        ::args::fail "-$key.start_s: vectors that are given have times of their own"
    }
    if {$prefill_s > 0 && $prefill_within_s ne "" && $prefill_within_s > $prefill_s} {
        ::args::fail "-$key.prefill_within_s is '$prefill_within_s', expected at most\
            -$key.prefill_s, $prefill_s (s)"
    }
    return [expr {$draw eq "" ? [dict replace $source draw [expr {$index + 1}]] : $source}]
}

# Make sure that the senders have their variables, like those of flows.
proc ::tmix::prepare {config} {
    [::further::inner ::tmix::prepare] $config
    foreach source [dict get $config backgrounds] {
        if {[is_one $source]} {
            ::agents::check_variables background.[dict get $source index] $source
        }
    }
}

# ---------------------------------------------------------------- vectors

# The interval in which those of a source's vectors start that fill the path in advance, and all of
# them in the order of their starts: dicts with kind, start_s, segment (data of a segment, B), and
# units, a list of {end send_us receive_us bytes}.
proc ::tmix::vectors_of {source} {
    variable drawn
    variable elsewhere
    set key [dict remove $source {*}$elsewhere]
    if {![info exists drawn($key)]} {
        set made [expr {[dict get $source vectors] eq "" ? [draw $source] : [given $source]}]
        set drawn($key) [shuffled $made $source]
    }
    return [prefilled $drawn($key) $source]
}

# The vectors that are given as words.
proc ::tmix::given {source} {
    set found [lmap word [dict get $source vectors] {
        set units [lassign [split $word ,] kind start_us segment]
        dict create kind $kind start_s [expr {$start_us * [dict get $source scale] / 1e6}] \
            segment $segment units [lmap unit $units {split $unit :}]
    }]
    return [lsort -real -command {::tmix::by_start} $found]
}

proc ::tmix::by_start {a b} {
    set apart [expr {[dict get $a start_s] - [dict get $b start_s]}]
    return [expr {$apart < 0 ? -1 : $apart > 0}]
}

# Vectors that offer offered_mbps over the run and start at times that are uniform in it, as those
# of a Poisson process are when their number is known.
proc ::tmix::draw {source} {
    dict with source {}
    foreach {name mean -} [set ::tmix::quantities] {
        set of($name) [quantity $name [dict get $source $name] [dict get $source $name$mean] \
            [dict get $source ${name}_shape]]
    }
    set uniform [::random::variable_of tmix Uniform {min_ 0 max_ 1}]
    set length_s [expr {$duration_s - $start_s}]
    set left [expr {$offered_mbps * 1e6 * $length_s}]
    set found {}
    while {$left > 0} {
        set segment [expr {[$uniform value] < $small_share ? $small_segment_bytes : $segment_bytes}]
        set units {}
        set think 0
        for {set i [expr {max(1, int(ceil([$of(exchanges) value])))}]} {$i > 0} {incr i -1} {
            lappend units [list I 0 $think [rounded $of(request_size)]] \
                [list A 0 [microseconds $of(server_pause)] [rounded $of(response_size)]]
            set think [microseconds $of(think)]
        }
        set made [dict create kind S start_s 0 segment $segment units $units]
        set bits [bits_of $made A]
        # The last connection is cut to what is left of the load.
        if {$bits > $left} {
            set packets [expr {max(1, int($left / (8.0 * ($segment + 40))))}]
            dict set made units [list [lindex $units 0] \
                [lreplace [lindex $units 1] 3 3 [expr {$packets * $segment}]]]
        }
        set left [expr {$left - $bits}]
        lappend found $made
    }
    set starts [lsort -real [lmap - $found {expr {$start_s + $length_s * [$uniform value]}}]]
    # In a random order, because the one that was cut is the last.
    set moved [permuted [llength $found]]
    return [lmap start $starts i $moved {dict replace [lindex $found $i] start_s $start}]
}

proc ::tmix::quantity {name distribution mean shape} {
    switch -- $distribution {
        constant {return [::random::variable_of tmix Constant [list val_ $mean]]}
        exponential {return [::random::variable_of tmix Exponential [list avg_ $mean]]}
        pareto {return [::random::variable_of tmix Pareto [list avg_ $mean shape_ $shape]]}
        paretoii {return [::random::variable_of tmix ParetoII [list avg_ $mean shape_ $shape]]}
    }
}

proc ::tmix::rounded {variable} {
    # Tmix counts the bytes of a unit in 32 bits.
    return [expr {int(min(1e9, max(1, ceil([$variable value]))))}]
}

# Tmix takes a wait of 0 for none.
proc ::tmix::microseconds {variable} {
    return [expr {max(1, wide(1e6 * [$variable value]))}]
}

# Packets that one end, I or A, sends.
proc ::tmix::packets_of {vector end} {
    set segment [dict get $vector segment]
    set packets 0
    foreach unit [dict get $vector units] {
        if {[lindex $unit 0] eq $end} {
            incr packets [expr {([lindex $unit 3] + $segment - 1) / $segment}]
        }
    }
    return $packets
}

# Bits that one end sends, in whole packets with headers.
proc ::tmix::bits_of {vector end} {
    return [expr {8.0 * [packets_of $vector $end] * ([dict get $vector segment] + 40)}]
}

# The numbers below count in a random order (Fisher and Yates).
proc ::tmix::permuted {count} {
    set uniform [::random::variable_of tmix Uniform {min_ 0 max_ 1}]
    set order {}
    for {set i 0} {$i < $count} {incr i} {
        lappend order $i
    }
    for {set i [expr {$count - 1}]} {$i > 0} {incr i -1} {
        set j [expr {int([$uniform value] * ($i + 1))}]
        set held [lindex $order $i]
        lset order $i [lindex $order $j]
        lset order $j $held
    }
    return $order
}

# The vectors with shuffled intervals of bin_s.
proc ::tmix::shuffled {made source} {
    dict with source {}
    if {$bin_s eq ""} {
        return $made
    }
    set bins [expr {max(1, int(ceil(($duration_s - $start_s) / double($bin_s) - 1e-9)))}]
    for {set bin 0} {$bin < $bins} {incr bin} {
        set in($bin) {}
        set bits($bin) 0.0
    }
    foreach vector $made {
        set bin [expr {int(([dict get $vector start_s] - $start_s) / $bin_s)}]
        if {$bin >= 0 && $bin < $bins} {
            lappend in($bin) $vector
            set bits($bin) [expr {$bits($bin) + [bits_of $vector A]}]
        }
    }
    set least ""
    for {set try 0} {$try < 1000 && ($least eq "" || $least > 0.05)} {incr try} {
        set order [permuted $bins]
        set sums {0.0 0.0 0.0}
        set place 0
        foreach bin $order {
            set third [expr {3 * $place / $bins}]
            lset sums $third [expr {[lindex $sums $third] + $bits($bin)}]
            incr place
        }
        lassign $sums - second last
        set apart [expr {abs($second - $last) / max(1.0, $second, $last)}]
        if {$least eq "" || $apart < $least} {
            set least $apart
            set best $order
        }
    }
    set found {}
    set place 0
    foreach bin $best {
        set moved_s [expr {($place - $bin) * $bin_s}]
        foreach vector $in($bin) {
            lappend found [dict replace $vector start_s \
                [expr {[dict get $vector start_s] + $moved_s}]]
        }
        incr place
    }
    return $found
}

# The vectors without the short ones among those that start before prefill_s, and the interval in
# which the others start.
proc ::tmix::prefilled {made source} {
    dict with source {}
    if {$prefill_s == 0} {
        return [list 0 $made]
    }
    set rtt_s [expr {2e-3 * (2 * $access_delay_ms + [mean $acceptor_delays_ms]
        + [mean $initiator_delays_ms] + [path_delay_ms $source])}]
    set bits 0.0
    set kept {}
    foreach vector $made {
        if {[dict get $vector start_s] < $prefill_s} {
            if {[dict get $vector start_s] + [lasts_s $vector $rtt_s] <= $prefill_s / 2.0} {
                continue
            }
            set bits [expr {$bits + [bits_of $vector A]}]
        }
        lappend kept $vector
    }
    if {$prefill_within_s ne ""} {
        return [list $prefill_within_s $kept]
    }
    set offered 0.0
    foreach vector $made {
        set offered [expr {$offered + [bits_of $vector A]}]
    }
    set within_s [expr {$bits * ($duration_s - $start_s) / max(1.0, $offered)}]
    return [list [expr {min($prefill_s, max(0.001, $within_s))}] $kept]
}

proc ::tmix::mean {numbers} {
    return [expr {[::tcl::mathop::+ {*}$numbers] / double([llength $numbers])}]
}

proc ::tmix::path_delay_ms {source} {
    set sum 0.0
    for {set i [dict get $source enters]} {$i <= [dict get $source leaves]} {incr i} {
        set sum [expr {$sum + 1000 * [[[::chain::link_of $i there] link] set delay_]}]
    }
    return $sum
}

# Estimated length of a connection without queues: its waits, and for each unit half a round trip
# and the round trips in which slow start from two segments sends it.
proc ::tmix::lasts_s {vector rtt_s} {
    set lasts $rtt_s
    set segment [dict get $vector segment]
    foreach unit [dict get $vector units] {
        lassign $unit - send_us receive_us bytes
        set rounds [expr {ceil(log($bytes / double($segment) / 2.0 + 1) / log(2))}]
        set lasts [expr {$lasts + ($send_us + $receive_us) / 1e6
            + $rtt_s * max(0.5, $rounds - 0.5)}]
    }
    return $lasts
}

# ---------------------------------------------------------------- making it

proc ::tmix::add {index fid source} {
    global ns
    variable folder
    variable files
    if {![is_one $source]} {
        return [[::further::inner ::tmix::add] $index $fid $source]
    }
    lassign [vectors_of $source] within_s vectors
    if {$vectors eq {}} {
        ::args::fail "-background.$index: no connection starts in the run"
    }
    set pool [new Tmix]
    $pool set-agent-type one-way
    $pool check-oneway-closed
    add_hosts $pool $source
    use_agents $pool $fid $index $source $vectors
    set path $folder/vectors_$index.cvec
    lappend files $path
    write $path $vectors
    $pool set-cvfile $path
    if {[dict get $source prefill_s] > 0} {
        $pool set-prefill-si $within_s
        $pool set-prefill-t [dict get $source prefill_s]
    }
    $ns at 0 [list $pool start]
}

# A host for each delay; all pairs take turns.
proc ::tmix::add_hosts {pool source} {
    lassign [::ends::routers $source] first last
    dict with source {}
    foreach {role router delays} [list acc $first $acceptor_delays_ms init $last \
            $initiator_delays_ms] {
        set hosts($role) [lmap delay_ms $delays {
            ::ends::host $router $access_mbps [expr {$access_delay_ms + $delay_ms}] 1000000
        }]
    }
    foreach acceptor $hosts(acc) {
        foreach initiator $hosts(init) {
            $pool set-acc $acceptor
            $pool set-init $initiator
        }
    }
}

# Write vectors as Tmix reads them. An end without a unit after its last one would not send that if
# the other end has sent all, so that the ends get an empty one, on which Tmix closes them: of S the
# one that sends last, of C both.
proc ::tmix::write {path vectors} {
    set file [open $path w]
    set id 0
    foreach vector $vectors {
        dict with vector {}
        set us [expr {wide(1e6 * $start_s + 0.5)}]
        set counts [lmap end {I A} {llength [lsearch -all -index 0 $units $end]}]
        puts $file [expr {$kind eq "S" ? "S $us [lindex $counts 0] 0 [incr id]"
            : "C $us $counts 0 [incr id]"}]
        puts $file "m $segment $segment"
        foreach unit $units {
            puts $file $unit
        }
        foreach end [expr {$kind eq "S" ? [lindex $units end 0] : {I A}}] {
            puts $file "$end 1000000 0 0"
        }
    }
    close $file
}

# Give the connections of a source its agents, and the same flow id. Tmix takes senders up again
# when their connection is over, but does not reset the sinks.
proc ::tmix::use_agents {pool fid index source made} {
    dict with source {}
    $pool proc alloc-agent {type} [list ::tmix::new_agent $pool $agent $settings]
    $pool proc alloc-sink {type} [list ::tmix::new_sink $sink [expr {$linux ne ""}]]
    $pool proc configure-sink {sink} {$sink reset}
    $pool proc configure-source {agent number window segment} "
        ::tmix::begin \$self \$agent \$number \$segment $fid $index [list $linux $parameters]
    "
    set ::tmix::vectors($pool) $made
}

proc ::tmix::new_agent {pool class settings} {
    set agent [new Agent/$class]
    dict for {name value} $settings {
        $agent set $name $value
    }
    $agent proc done {} [list ::tmix::acknowledged $pool $agent]
    return $agent
}

proc ::tmix::new_sink {class echoes} {
    set sink [new Agent/$class]
    if {$echoes} {
        # As in agents.tcl.
        $sink set ts_echo_rfc1323_ true
    }
    return $sink
}

# Tmix asks for this at the start of each connection, for the initiator and then for the acceptor.
proc ::tmix::begin {pool agent number segment fid index linux parameters} {
    global ns
    variable of_agent
    variable open
    $agent set fid_ $fid
    $agent set packetSize_ $segment
    if {$linux ne ""} {
        $agent select_ca $linux
        dict for {name value} $parameters {
            $agent set_ca_param $linux $name $value
        }
    }
    set key $pool,$number
    set vector [vector_of $key]
    set end [expr {[info exists open($key)] ? "A" : "I"}]
    if {$end eq "I"} {
        set bytes [expr [join [lmap unit [dict get $vector units] {lindex $unit 3}] +]]
        set open($key) [list $index [$ns now] $bytes {} {}]
    }
    # Number of the last packet: that of the SYN is 0.
    set last [packets_of $vector $end]
    set of_agent($agent) [list $key $last]
    lset open($key) 3 [concat [lindex $open($key) 3] $agent]
    if {$last > 0} {
        lset open($key) 4 [concat [lindex $open($key) 4] $agent]
    }
}

proc ::tmix::vector_of {key} {
    variable vectors
    lassign [split $key ,] pool number
    return [lindex $vectors($pool) [expr {$number - 1}]]
}

# Data in the packets that one end, I or A, sends, B.
proc ::tmix::data_of {vector end} {
    return [expr {[packets_of $vector $end] * [dict get $vector segment]}]
}

# Data of a source's acceptors that has been acknowledged so far, B.
proc ::tmix::acknowledged_bytes {index} {
    variable open
    variable delivered
    set bytes [expr {[info exists delivered($index)] ? $delivered($index) : 0}]
    foreach key [array names open] {
        lassign $open($key) of - - agents
        if {$of == $index && [llength $agents] == 2} {
            set acceptor [lindex $agents 1]
            # Number of the last packet: that of the SYN is 0.
            incr bytes [expr {max(0, [$acceptor set ack_]) * [$acceptor set packetSize_]}]
        }
    }
    return $bytes
}

# All that a sender has sent so far is acknowledged. Tmix sends the next unit without telling the
# agent, which would say this once only, that it is open again; a step back and forth does.
proc ::tmix::acknowledged {pool agent} {
    global ns
    variable of_agent
    variable open
    variable delivered
    lassign $of_agent($agent) key last
    if {![info exists open($key)]} {
        return
    }
    if {[$agent set ack_] < $last} {
        $agent advanceby -1
        $agent advanceby 1
        return
    }
    lassign $open($key) index start_s bytes agents waiting
    set waiting [lsearch -all -inline -not -exact $waiting $agent]
    lset open($key) 4 $waiting
    if {$waiting eq {}} {
        unset open($key)
        incr delivered($index) [data_of [vector_of $key] A]
        ::recorder::transfer object background:$index $start_s $bytes
        # After the acknowledgement has been dealt with.
        $ns at [$ns now] [list ::tmix::end $pool $agents]
    }
}

# Let Tmix take both ends of a connection up again; it has closed one already if a second has passed
# since the last unit was sent.
proc ::tmix::end {pool agents} {
    foreach agent $agents {
        catch {$pool recycle $agent}
    }
}

# ---------------------------------------------------------------- what is recorded

proc ::tmix::has_transfers {config} {
    return [expr {"tmix" in [lmap source [dict get $config backgrounds] {dict get $source kind}]
        || [[::further::inner ::tmix::has_transfers] $config]}]
}

proc ::tmix::expect_transfers {datadir} {
    variable folder $datadir
    [::further::inner ::tmix::expect_transfers] $datadir
}

proc ::tmix::close_all {} {
    variable files
    file delete {*}$files
    [::further::inner ::tmix::close_all]
}
