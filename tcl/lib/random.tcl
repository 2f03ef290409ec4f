# Random numbers: a stream for each purpose, so that what one part draws moves no other part. All
# of them begin at the same substream, the number of the repetition. ns-2's own draws (the dropping
# of RED, overhead_, jitter) come from the default stream, which seed_random of topology.tcl sets.

namespace eval ::random {
    variable substream 1
    variable streams
    array set streams {}
}

# Begin a substream of the random numbers of a seed: of the default stream now, of the others when
# they are first asked for.
proc ::random::begin {number seed} {
    variable substream $number
    seed_random $number $seed
}

# The stream of a purpose. The streams differ in the order in which a script asks for them first,
# so that it asks for all that it may need at its beginning.
proc ::random::stream {purpose} {
    variable streams
    variable substream
    if {![info exists streams($purpose)]} {
        set streams($purpose) [new RNG]
        for {set i 1} {$i < $substream} {incr i} {
            $streams($purpose) next-substream
        }
    }
    return $streams($purpose)
}

# A random variable of ns-2's that draws from the stream of a purpose. settings: its variables.
proc ::random::variable_of {purpose kind settings} {
    set made [new RandomVariable/$kind]
    $made use-rng [stream $purpose]
    dict for {name value} $settings {
        $made set $name $value
    }
    return $made
}

# A number between two others, from the stream of a purpose; nothing is drawn where they are equal.
proc ::random::between {purpose least most} {
    if {$least == $most} {
        return $least
    }
    set uniform [variable_of $purpose Uniform [list min_ $least max_ $most]]
    set drawn [$uniform value]
    delete $uniform
    return $drawn
}
