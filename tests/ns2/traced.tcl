# Runs another script with all traces that ns-2 can write by itself, into the working folder:
#   all.tr       each packet on each link (trace-all), including the queues of the links
#   all.nam      the same for nam
#   queues.tr    the bottleneck's queue in both directions, in a file of its own (trace-queue)
#   agents.tr    cwnd_, ssthresh_, srtt_ and maxseq_ of each TCP agent (TracedVar), and lines that
#                Tcl writes to the same file during events
#
# Arguments: script ?argument...?

Class Simulator/Traced -superclass Simulator

Simulator/Traced instproc init args {
    eval $self next $args
    $self instvar agents_
    set agents_ [open agents.tr w]
    $self trace-all [open all.tr w]
    $self namtrace-all [open all.nam w]
    $self at 0.25 [list $self remark]
}

# In every script the first link connects the routers.
Simulator/Traced instproc duplex-link {a b args} {
    eval [list $self next $a $b] $args
    $self instvar queues_
    if {![info exists queues_]} {
        set queues_ [open queues.tr w]
        $self at 0 [list $self trace-queue $a $b $queues_]
        $self at 0 [list $self trace-queue $b $a $queues_]
    }
}

Simulator/Traced instproc attach-agent {node agent} {
    $self next $node $agent
    $self instvar agents_
    if {[string match Agent/TCP/* [$agent info class]]} {
        $agent attach $agents_
        foreach variable {cwnd_ ssthresh_ srtt_ maxseq_} {
            $agent trace $variable
        }
    }
}

# Tcl's own lines are in the order of events among those of C++.
Simulator/Traced instproc remark {} {
    $self instvar agents_
    puts $agents_ "remark at [$self now]"
    $self at [expr {[$self now] + 0.25}] [list $self remark]
}

rename new new_of_any_class
proc new {class args} {
    uplevel 1 [list new_of_any_class [expr {$class eq "Simulator" ? "Simulator/Traced" : $class}]] \
        $args
}

set argv [lassign $argv argv0]
set argc [llength $argv]
source $argv0
