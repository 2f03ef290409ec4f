# What scripts see of the variables of objects: defaults, values, errors, warnings, in every way to
# say it. The output has to be that of stock.
set ns [new Simulator]

proc subclasses {class} {
    if {[string match Agent/TCP/BayFullTcp/* $class] || $class eq "Queue/RED/Pushback"} {
        return {}  ;# ns-2 ends where one is created like this
    }
    set found $class
    foreach below [lsort [$class info subclass]] {
        lappend found {*}[subclasses $below]
    }
    return $found
}
proc names_of_defaults {class} {
    set names {}
    foreach name [concat $class [$class info heritage]] {
        lappend names {*}[own_variables $name]
    }
    return [lsort -unique $names]
}
# reserve_resume_ is a variable of the variant fast alone.
proc own_variables {object} {
    return [lsearch -all -inline -not -exact [lsort [$object info vars]] reserve_resume_]
}
# Values of all variables that the classes of an object have defaults of, and its own variables.
proc show {title object} {
    puts "$title $object [$object info class] vars {[own_variables $object]}"
    foreach name [names_of_defaults [$object info class]] {
        catch {$object set $name} value
        puts "  $name = $value"
    }
    puts "  vars {[own_variables $object]}"
}
proc outcome {args} {
    set code [catch {uplevel 1 $args} result]
    puts "$args: $code {$result}"
    if {$code == 1} {
        puts "  $::errorInfo\n  $::errorCode"
    }
}

puts "---- defaults of all classes"
foreach class [concat [subclasses Agent/TCP] [subclasses Agent/TCPSink] Agent/UDP Agent/Null \
        [subclasses Queue/RED] Queue/DropTail Queue/SFQ DelayLink [subclasses RandomVariable] \
        ErrorModel Classifier/Addr RNG LossMonitor Application/FTP Application/Telnet Trace/Drop] {
    set errorInfo nothing
    set errorCode nothing
    if {![catch {new $class} object] && $object ne ""} {
        puts "left: $errorInfo $errorCode"
        show created $object
    } else {
        puts "$class: $object $errorInfo"
    }
}

puts "---- defaults that change between creations"
foreach {class value} {
    Agent/TCP 20 Agent/TCP/Sack1 0x1f Agent/TCP 21 Agent 22 Object 23 SplitObject 24
} {
    $class set window_ $value
    foreach kind {Agent/TCP Agent/TCP/Sack1 Agent/TCP/Reno} {
        puts "$class $value $kind [[new $kind] set window_]"
    }
}
Agent/TCP/Sack1 unset window_
puts [[new Agent/TCP/Sack1] set window_]
Agent/TCP set rate_ 3Mb
Application/Traffic/CBR set rate_ 1.5Mb
show cbr [new Application/Traffic/CBR]

puts "---- variables without a default"
foreach class {Agent SplitObject Object} {
    $class unset window_
}
Agent/TCP unset maxcwnd_
foreach i {1 2} {
    set agent [new Agent/TCP/Sack1]
    puts "[lsort [$agent info vars]] [$agent array get issuedWarning]"
    outcome $agent init-instvar maxcwnd_
}
Agent/TCP set maxcwnd_ 0

puts "---- subclasses in Tcl"
Class Agent/TCP/Sack1/Mine -superclass Agent/TCP/Sack1
show mine [new Agent/TCP/Sack1/Mine]
Agent/TCP/Sack1/Mine set window_ 77
Agent/TCP/Sack1/Mine set own_ 5
Agent/TCP/Sack1/Mine instproc init args {
    $self instvar own_ early_
    set early_ [catch {$self set window_} message]$message
    $self set early2_ 8
    eval $self next $args
    set own_ [$self set window_][$self set early_]
    $self init-instvar own_
}
show mine [new Agent/TCP/Sack1/Mine]
Class Settings
Settings set cwnd_ 4
Settings set window_ 9
Class Agent/TCP/Both -superclass {Agent/TCP Settings}
show both [new Agent/TCP/Both]
Agent/TCP superclass {Agent Settings}
show above [new Agent/TCP/Reno]
Agent/TCP superclass Agent
Class Agent/TCP/Sack1/Told -superclass Agent/TCP/Sack1
Agent/TCP/Sack1/Told instproc set args {
    lappend ::told $args
    eval $self next $args
}
Agent/TCP/Sack1/Told proc set args {
    lappend ::told "class $args"
    eval $self next $args
}
Agent/TCP/Sack1/Told instproc init-instvar name {
    lappend ::told "init $name"
    $self next $name
}
Agent/TCP/Sack1/Told instproc warn-instvar name {puts "none: $name"}
set object [new Agent/TCP/Sack1/Told]
outcome $object set window_ 5
outcome $object init-instvar window_
outcome $object init-instvar none_
puts $told
outcome $object set window_
$object class Agent/TCP/Sack1
outcome $object init-instvar window_
outcome $object set window_

puts "---- calls"
set tcp [new Agent/TCP/Sack1]
foreach call {
    {window_} {window_ 0x10} {window_} {window_ 12 13} {window_ {}} {window_} {cwnd_ 3.5} {cwnd_}
    {} {nosuch_} {nosuch_ 1} {nosuch_} {{a b} 1} {a(b) 1} {a(b)} {a} {a 1} {a() 2} {a()} {1x 2} {1x}
    {self} {self 1} {args} {args 1} {var 1} {class 2} {proc 3} {class_} {class_ 3} {fid_} {$x 1} {[y] 1}
    {ns::x 1} {::tcp} {::other 1} {x\\y 1} {ü 1} {ü} {dst_ 5} {debug_ true} {debug_}
    {x {a b}} {x} {x "\{"} {x} {x a\\\nb} {x} {x ""} {x}
} {
    if {[lindex $call 0] ne "dst_"} {
        outcome $tcp set {*}$call
    }
}
show called $tcp
set drops [new Queue/DropTail]
outcome $drops set limit_
outcome $drops set limit_ 7
outcome $drops set limit_ a
outcome $drops set limit_
outcome $drops set drop-front_ 1
outcome $drops set nosuch_
outcome $drops set
outcome Queue/RED set drop-tail_
outcome Queue/RED set queue-in-bytes_ true
outcome Queue/RED set nosuch_
outcome Agent/TCP set nosuch_
outcome Agent/TCP set
outcome Agent/TCP set a b c
outcome Agent/TCP set window_
outcome $ns set nosuch_
outcome $ns set a(1) 2
outcome $ns set a
outcome $tcp init-instvar
outcome $tcp init-instvar window_ more
outcome $tcp init-instvar nosuch2_
outcome $tcp init-instvar {a b}
outcome $tcp init-instvar self
outcome new Agent/TCP/Nosuch
outcome new Agent/TCP/Sack1 1 2 3
outcome new Agent/TCP/Sack1 -window_ 2
delete $tcp
outcome $tcp set window_

puts "---- variables that scripts trace"
proc told {name element operation} {
    upvar 1 $name value
    puts "$operation $name now $value at [info level] by [lrange [info level -1] 2 end]"
}
Agent/TCP/Sack1/Mine instproc watch name {
    $self instvar $name
    trace add variable $name {write read} told
}
set tcp [new Agent/TCP/Sack1/Mine]
foreach name {own_ window_ fresh_} {
    $tcp watch $name
    outcome $tcp set $name 4
    outcome $tcp set $name
}

puts "---- methods that a script replaces"
SplitObject instproc set args {
    puts "set $args"
    $self instvar -parse-part1 [lindex $args 0]
    eval set $args
}
set tcp [new Agent/TCP/Reno]
outcome $tcp set window_ 9
Agent instproc set args {return "not [lindex $args 0]"}
outcome $tcp set window_ 10
Object instproc set args {error "no $args"}
outcome Agent/TCP set window_
outcome [new Application/FTP] set window_ 1
$tcp cmd set
