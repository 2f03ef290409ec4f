# Checked arguments: pairs -key value, in any order. A wrong one ends the run before any file is
# opened, with one line on standard error, "error: <script>: <what is wrong, what is expected>", and
# exit status 1.
#
# A table says which keys a script takes, one per row: {key type unit ?default?}. Keys are named
# without their dash; a key without a default is required.

namespace eval ::args {
    # A plain decimal number. Leading zeros are refused because Tcl reads them as octal.
    variable number {^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$}
}

# Whether a word is a number that a simulation can use; Tcl takes 1e999 for infinity.
proc ::args::is_number {value} {
    variable number
    return [expr {[regexp $number $value] && abs($value) < 1e12}]
}

# Whether a word is an integer from 1 to most.
proc ::args::is_count {value most} {
    return [expr {[regexp {^[1-9][0-9]*$} $value] && $value <= $most}]
}

# Whether a word is a positive multiple of a step, apart from rounding.
proc ::args::is_multiple {value step} {
    if {![is_number $value] || $value < 0.9 * $step} {
        return 0
    }
    set steps [expr {$value / double($step)}]
    return [expr {abs($steps - round($steps)) < 1e-9 * $steps}]
}

# End the run with a message about a script's arguments.
proc ::args::fail {message} {
    puts stderr "error: [file tail $::argv0]: $message"
    exit 1
}

# What a value of some type should have been; "" if it is of that type. Types:
#   number      any decimal number                  positive     a number above 0
#   nonnegative a number of 0 or more               count ?MAX?  an integer, 1 to MAX (10^9)
#   bit         0 or 1                              multiple S   a multiple of S, above 0
#   directory   an existing, writable directory     one_of A B   one of these words
#   matching    RE EXPECTED: a word of this form, which EXPECTED describes
proc ::args::complaint {type value} {
    set rest [lassign $type kind]
    switch -- $kind {
        number {set ok [is_number $value]; set expected "a number"}
        positive {
            set ok [expr {[is_number $value] && $value > 0}]
            set expected "a number above 0"
        }
        nonnegative {
            set ok [expr {[is_number $value] && $value >= 0}]
            set expected "a number of 0 or more"
        }
        count {
            set most [expr {$rest eq "" ? 1000000000 : $rest}]
            set ok [is_count $value $most]
            set expected "an integer from 1 to $most"
        }
        multiple {set ok [is_multiple $value $rest]; set expected "a multiple of $rest"}
        bit {set ok [expr {$value in {0 1}}]; set expected "0 or 1"}
        directory {
            set ok [expr {[file isdirectory $value] && [file writable $value]}]
            set expected "an existing, writable directory"
        }
        one_of {set ok [expr {$value in $rest}]; set expected "one of [join $rest {, }]"}
        matching {set ok [regexp -- [lindex $rest 0] $value]; set expected [lindex $rest 1]}
        default {error "unknown argument type '$kind'"}
    }
    return [expr {$ok ? "" : $expected}]
}

# Return a value if it is of its type (directories as absolute paths, so that no name is taken for
# a pipe); otherwise end the run. name and unit are for the message.
proc ::args::checked {name type unit value} {
    set expected [complaint $type $value]
    if {$expected ne ""} {
        set in [expr {$unit eq "" ? "" : " ($unit)"}]
        fail "$name is '$value', expected $expected$in"
    }
    # Numbers stay the words that they were: expr would turn 0.1 into 0.10000000000000001.
    if {$type eq "directory"} {
        return [file normalize $value]
    }
    return $value
}

# The arguments as a dict key -> value.
proc ::args::pairs {} {
    global argv
    set given [dict create]
    foreach {key value} $argv {
        if {![string match -* $key]} {
            fail "'$key' is not a key: arguments are pairs -key value"
        }
        set key [string range $key 1 end]
        if {[dict exists $given $key]} {
            fail "-$key is given twice"
        }
        dict set given $key $value
    }
    if {[llength $argv] % 2} {
        fail "[lindex $argv end] has no value: arguments are pairs -key value"
    }
    return $given
}

# Take the keys of a table out of a dict (a variable of the caller), check their values and return
# them. prefix comes before each key in the dict, such as "flow.0.", and in messages.
proc ::args::take {given_name table {prefix ""}} {
    upvar $given_name given
    set taken [dict create]
    foreach row $table {
        lassign $row key type unit default
        set name $prefix$key
        if {[dict exists $given $name]} {
            dict set taken $key [checked -$name $type $unit [dict get $given $name]]
        } elseif {[llength $row] == 4} {
            dict set taken $key $default
        } else {
            fail "-$name is missing"
        }
        dict unset given $name
    }
    return $taken
}

# Take all keys that begin with a prefix out of a dict (a variable of the caller) and return them
# without it.
proc ::args::take_prefixed {given_name prefix} {
    upvar $given_name given
    set taken [dict create]
    dict for {key value} [dict filter $given key $prefix*] {
        dict set taken [string range $key [string length $prefix] end] $value
        dict unset given $key
    }
    return $taken
}

# End the run if there are keys left that no table has; remark adds to the reason.
proc ::args::refuse_rest {given {remark ""}} {
    if {[dict size $given] > 0} {
        fail "unknown key -[lindex [dict keys $given] 0]$remark"
    }
}

# The arguments of a script that takes the keys of a table and no others, as a dict.
proc ::args::read {table} {
    set given [pairs]
    set taken [take given $table]
    refuse_rest $given
    return $taken
}
