# Let Tcl's own parser read scripts without running them.
#
# Arguments: paths of scripts. Prints one line a problem, "<path> TAB <line> TAB <message>", and at
# the end "checked <number of scripts>".

# Commands of a script as pairs of line and text; the last may be incomplete.
proc commands {script line} {
    set found {}
    set command ""
    foreach text [split $script \n] {
        append command $text \n
        if {[info complete $command]} {
            lappend found $line $command
            incr line [expr {[llength [split $command \n]] - 1}]
            set command ""
        }
    }
    if {$command ne ""} {
        lappend found $line $command
    }
    return $found
}

# Words of a command that are scripts: the bodies of control structures and procedures.
proc bodies {words} {
    switch -- [lindex $words 0] {
        if {
            set found {}
            set rest [lrange $words 1 end]
            while {[llength $rest] >= 2} {
                lappend found [lindex $rest 1]
                set next [lindex $rest 2]
                if {$next eq "else"} {
                    return [lappend found [lindex $rest 3]]
                } elseif {$next ni {"" elseif}} {
                    error "expected else or elseif, not '$next'"
                }
                set rest [lrange $rest 3 end]
            }
            return $found
        }
        for {return [list [lindex $words 1] [lindex $words 3] [lindex $words 4]]}
        foreach - while - proc {return [list [lindex $words end]]}
    }
    return {}
}

# What Tcl's parser says of a script. "0 && [...]" is parsed as a whole and never evaluated.
proc problems {script line} {
    set found {}
    foreach {at command} [commands $script $line] {
        set trimmed [string trimleft $command]
        if {$trimmed eq "" || [string index $trimmed 0] eq "#"} {
            continue
        }
        if {![info complete $command]} {
            lappend found $at "a brace, bracket or quote is never closed"
        } elseif {[string index $trimmed 0] eq "\}"} {
            lappend found $at "a closing brace has no opening one"
        } elseif {[catch {expr "0 && \[$command\]"} message]} {
            lappend found $at [lindex [split $message \n] 0]
        } elseif {[regexp {^(if|for|foreach|while|proc)\s} $trimmed]} {
            set found [concat $found [problems_of_bodies $command $at]]
        }
    }
    return $found
}

proc problems_of_bodies {command line} {
    if {[catch {bodies $command} scripts]} {
        return [list $line $scripts]
    }
    set found {}
    set from 0
    foreach script $scripts {
        set start [string first $script $command $from]
        set above [string range $command 0 [expr {$start - 1}]]
        set at [expr {$line + [llength [split $above \n]] - 1}]
        set found [concat $found [problems $script $at]]
        set from [expr {$start + [string length $script]}]
    }
    return $found
}

foreach path $argv {
    set file [open $path]
    fconfigure $file -encoding utf-8
    foreach {line message} [problems [read $file] 1] {
        puts "$path\t$line\t$message"
    }
    close $file
}
puts "checked [llength $argv]"
exit 0
