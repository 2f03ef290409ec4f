# Class defaults: pairs -default.<ns-2 class>.<variable_> <number>, such as
# -default.Agent/TCP.window_ 1000. ns-2's objects start with the defaults of their class, so these
# are set before any object is made. Needs args.tcl.

namespace eval ::defaults {
    # Variables that identify flows and route packets.
    variable reserved {fid_ agent_addr_ agent_port_ dst_addr_ dst_port_}
}

# Whether this ns-2 has a class of this name.
proc ::defaults::is_class {name} {
    return [expr {[regexp {^[A-Z][A-Za-z0-9_/]*$} $name] && [info commands ::$name] ne ""
        && ![catch {$name info class} kind] && $kind eq "Class"}]
}

# A class and all classes that it inherits from.
proc ::defaults::lineage {class} {
    return [concat [list $class] [$class info heritage]]
}

# A class's default of a variable, its own or inherited; "" if there is none.
proc ::defaults::value {class name} {
    foreach each [lineage $class] {
        if {![catch {$each set $name} value]} {
            return $value
        }
    }
    return ""
}

# Whether a script may set this variable of ns-2.
proc ::defaults::may_set {name} {
    variable reserved
    return [expr {[regexp {^[a-zA-Z][A-Za-z0-9_]*_$} $name] && $name ni $reserved}]
}

# Take the class defaults out of the given keys (a variable of the caller): a list of {class
# variable value}. made: the classes of the objects that this run makes. A default that none of
# them would use is refused, as is a class or a variable that this ns-2 does not have.
proc ::defaults::take {given_name made} {
    upvar $given_name given
    set seen [lsort -unique [concat {*}[lmap class $made {lineage $class}]]]
    set taken {}
    dict for {key value} [::args::take_prefixed given default.] {
        if {![regexp {^([^.]+)\.([^.]+)$} $key - class name]} {
            ::args::fail "unknown key -default.$key, expected -default.<class>.<variable_>"
        }
        check -default.$key $class $name $seen
        lappend taken [list $class $name [::args::checked -default.$key number "" $value]]
    }
    return $taken
}

# End the run if a class default reaches none of the classes in made.
proc ::defaults::check {key class name seen} {
    if {![is_class $class]} {
        ::args::fail "$key: this ns-2 has no class '$class'"
    }
    if {![may_set $name]} {
        ::args::fail "$key: '$name' is not a variable that can be set"
    }
    if {[value $class $name] eq ""} {
        ::args::fail "$key: $class of this ns-2 has no variable '$name'"
    }
    if {$class ni $seen} {
        ::args::fail "$key: nothing in this run is a kind of $class"
    }
}

# Set the class defaults that were taken.
proc ::defaults::apply {defaults} {
    foreach row $defaults {
        lassign $row class name value
        $class set $name $value
    }
}
