# Checked arguments. A wrong one ends the run before any file is opened: one line on standard
# error, "error: <script>: <what is wrong, what is expected>", exit status 1.

namespace eval ::args {
    # A plain decimal number. Leading zeros are refused because Tcl reads them as octal.
    variable number {^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$}
}

# Whether a word is a number that a simulation can use: 1e999 is infinite to Tcl.
proc ::args::is_number {value} {
    variable number
    return [expr {[regexp $number $value] && abs($value) < 1e12}]
}

# Whether a word is an integer from 1 to most.
proc ::args::is_count {value most} {
    return [expr {[regexp {^[1-9][0-9]*$} $value] && $value <= $most}]
}

# Whether a word is a multiple of 0.01 above 0, but for rounding.
proc ::args::is_hundredths {value} {
    return [expr {[is_number $value] && $value > 0.009
        && abs(100 * $value - round(100 * $value)) < 1e-9}]
}

# End the run with a message about a script's arguments.
proc ::args::fail {message} {
    puts stderr "error: [file tail $::argv0]: $message"
    exit 1
}

# What a value of some type should have been; "" when it is of that type. Types:
#   number      any decimal number                  positive     a number above 0
#   nonnegative a number of 0 or more               count ?MAX?  an integer, 1 to MAX (10^9)
#   bit         0 or 1                              hundredths   a multiple of 0.01, above 0
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
        hundredths {set ok [is_hundredths $value]; set expected "a multiple of 0.01"}
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

# Return a value that is of its type (directories as absolute paths, so that no name is taken for
# a pipe); otherwise end the run. name and unit are for the message.
proc ::args::checked {name type unit value} {
    set expected [complaint $type $value]
    if {$expected ne ""} {
        set in [expr {$unit eq "" ? "" : " ($unit)"}]
        fail "$name is '$value', expected $expected$in"
    }
    return [expr {$type eq "directory" ? [file normalize $value] : $value}]
}

# Read a script's arguments into global variables of their names. spec: a list of
# {name type unit ?default?}, in their order; those with a default come last and may be left out.
proc ::args::read {spec} {
    global argv
    set names [lmap row $spec {lindex $row 0}]
    if {[llength $argv] > [llength $spec]} {
        fail "[llength $argv] arguments, expected [llength $spec]: [join $names { }]"
    }
    set i 0
    foreach row $spec {
        lassign $row name type unit default
        if {$i < [llength $argv]} {
            set value [lindex $argv $i]
        } elseif {[llength $row] == 4} {
            set value $default
        } else {
            fail "argument '$name' is missing, expected: [join $names { }]"
        }
        set ::$name [checked $name $type $unit $value]
        incr i
    }
}
