# Random numbers: a stream for each purpose, so that one part's draws do not affect another part.
# All streams start at the same substream, the number of the repetition. ns-2's own draws (RED's
# drops, overhead_, jitter) come from the default stream, which seed_random of topology.tcl sets.

namespace eval ::random {
    variable substream 1
    variable streams
    array set streams {}
}

# Begin a substream of the random numbers of a seed: of the default stream now, and of the others on
# their first use.
proc ::random::begin {number seed} {
    variable substream $number
    seed_random $number $seed
}

# The stream for a purpose. Streams are assigned in the order in which a script first asks for them,
# so it asks at its beginning for all that it may need.
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

# A random variable of ns-2 that draws from the stream for a purpose. settings: its variables.
proc ::random::variable_of {purpose kind settings} {
    set made [new RandomVariable/$kind]
    $made use-rng [stream $purpose]
    dict for {name value} $settings {
        $made set $name $value
    }
    return $made
}

# A number between two others, from the stream for a purpose; if they are equal, nothing is drawn.
proc ::random::between {purpose least most} {
    if {$least == $most} {
        return $least
    }
    set uniform [variable_of $purpose Uniform [list min_ $least max_ $most]]
    set drawn [$uniform value]
    delete $uniform
    return $drawn
}
