# Checks what a study declares against the classes and variables of this ns-2, without simulating.
#
# Arguments: triples kind class name; the name is "-" if the kind needs none.
#   agent TCP/Reno -            a sender that flows can have
#   sink TCPSink/Sack1 -        a receiver that flows can have
#   variable TCP/Reno window_   a variable of a sender
#   linux TCP/Linux cubic       a congestion control of TCP/Linux
#   default Agent/TCP window_   a variable with a class default
#   parameter cubic beta        a parameter of a congestion control of TCP/Linux
# For each triple that this ns-2 does not have, prints a line "unknown <index from 0> <why>" to
# standard output, and then a line "agents - <name>..." with all that there are. TCP/Linux prints lines of its own; only these show whether it has a parameter:
# "Error: do not find <parameter> as a parameter for congestion control algorithm <name>".
source [file join [file dirname [info script]] lib args.tcl]
source [file join [file dirname [info script]] lib defaults.tcl]
source [file join [file dirname [info script]] lib agents.tcl]

# The library's checks end a run at the first complaint; here each complaint is caught.
namespace eval ::args {
    proc fail {message} {
        error $message
    }
}

namespace eval ::declared {}

# Fail if this ns-2 does not have what a triple names.
proc ::declared::check {kind class name} {
    set flow [dict create agent TCP sink TCPSink linux ""]
    if {$kind in {agent sink}} {
        ::agents::check_classes flow [dict replace $flow $kind $class]
    } elseif {$kind eq "variable"} {
        check_variable $class $name
    } elseif {$kind eq "linux"} {
        ::agents::check_algorithm flow $name
    } elseif {$kind eq "default"} {
        ::defaults::check -default $class $name [list $class]
    } elseif {$kind eq "parameter"} {
        set probe [new Agent/TCP/Linux]
        $probe get_ca_default_param $class $name
        delete $probe
    } else {
        error "unknown kind '$kind'"
    }
}

proc ::declared::check_variable {class name} {
    set probe [new Agent/$class]
    set known [::agents::has $probe $name]
    delete $probe
    if {!$known} {
        error "Agent/$class of this ns-2 has no variable '$name'"
    }
}

# The class and all below it, named as flows name agents.
proc ::declared::kinds {class} {
    set below [lmap each [$class info subclass] {::declared::kinds $each}]
    return [list [string range $class [string length Agent/] end] {*}[concat {*}$below]]
}

set ns [new Simulator]
set index 0
foreach {kind class name} $argv {
    if {[catch {::declared::check $kind $class $name} message]} {
        # Without the argument's key, with which the library's complaints begin.
        regsub {^-\S+(:| is) } [lindex [split $message \n] 0] {} message
        puts "unknown $index $message"
    }
    incr index
}
puts "agents - [::declared::kinds Agent/TCP] [::declared::kinds Agent/TCPSink]"
exit 0
