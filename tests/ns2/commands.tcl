# Commands that OTcl does not know are those of an object's C++: results, errors and their traces,
# arguments of all kinds, and methods that scripts define in between. The output has to be that of
# stock.
set ns [new Simulator]
proc outcome {args} {
    set ::errorInfo nothing
    set ::errorCode nothing
    set code [catch {uplevel 1 $args} result]
    puts "$args: $code {$result}\n  $::errorInfo\n  $::errorCode"
}
proc deeper {args} {
    outcome {*}$args
    uplevel 1 $args
}

puts "---- results"
set rng [new RNG]
set uniform [new RandomVariable/Uniform]
$uniform use-rng $rng
$rng seed 7
for {set i 0} {$i < 5} {incr i} {
    outcome $uniform value
}
outcome $rng seed
outcome $rng integer 10
outcome $rng next-substream
puts "{[$rng next-substream]}"
puts [expr {[$rng uniform 0 1] < 1}]

puts "---- errors"
set tcp [new Agent/TCP]
set node [$ns node]
foreach object [list $rng $uniform $tcp $node [$node entry] [new Queue/RED] [new Trace/Enque]] {
    foreach call {
        nosuch {nosuch 1} {nosuch {a b} {}} {nosuch "a\nb" \{ # "{*}x" $y "[z]" \\ ";" {}} {cmd nosuch} {target nosuch}
        {attach} {unknown nosuch} {trace} {trace nosuch} {a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 b0 b1 b2 b3 b4 b5 b6 b7 b8 b9}
    } {
        outcome $object {*}$call
    }
}
catch {deeper $tcp nosuch} message
puts "$message\n$errorInfo"
proc third {object} {
    set a 1
    $object nosuch a

}
proc second object {
    third $object
}
catch {second $tcp} message
puts "$message\n$errorInfo"
catch {error first}
catch {second $uniform} message
puts "$message\n$errorInfo"
outcome $tcp [string repeat long 60] [string repeat word 60]

puts "---- methods of scripts"
Class Agent/TCP/Mine -superclass Agent/TCP
Agent/TCP/Mine instproc unknown {method args} {
    puts "mine: $method $args"
    if {$method eq "pass"} {
        return [eval $self next $args]
    }
    return [eval $self next [list $method] $args]
}
set mine [new Agent/TCP/Mine]
outcome $mine nosuch 1 2
outcome $mine pass nosuch
outcome $mine reset
$tcp proc cmd args {
    puts "own: $args [info level]"
    return "own $args"
}
outcome $tcp nosuch 1 {2 3}
$tcp proc cmd args {
    return -code break "own $args"
}
outcome $tcp nosuch
$tcp proc cmd args {
    return -code continue
}
outcome $tcp nosuch
$tcp proc cmd args {
    error "own error" "own trace" {own code}
}
outcome $tcp nosuch
$uniform proc cmd args {
    delete $self
    error gone
}
outcome $uniform nosuch
$rng proc cmd args {
    delete $self
    return gone
}
outcome $rng nosuch

puts "---- commands that call scripts"
set sender [new Agent/Message]
set receiver [new Agent/Message]
set other [$ns node]
$ns duplex-link $node $other 1Mb 1ms DropTail
$ns attach-agent $node $sender
$ns attach-agent $other $receiver
$ns connect $sender $receiver
$receiver proc recv {message} {
    puts "[info level] $message [catch {$self nosuch} answer] $answer"
    upvar 1 args args
    puts [info exists args]
}
$ns at 0.1 "$sender send {a b}"
$ns at 0.2 "outcome $sender nosuch"
$ns at 0.3 {puts [info level]; outcome $ns nosuch; exit 0}
$ns run
