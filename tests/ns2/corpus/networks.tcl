# Networks of other kinds. Arguments: kind (lan, diffserv, dv, mpls, multicast, satellite, tree), seconds.
lassign $argv kind seconds
set ns [new Simulator]
if {$kind eq "multicast"} {
    $ns multicast
}
if {$kind ne "tree"} {
    $ns trace-all [open network.tr w]
}

proc flow {from to fid agent sink application args} {
    global ns
    set agent [new $agent]
    set sink [new $sink]
    $agent set fid_ $fid
    $ns attach-agent $from $agent
    $ns attach-agent $to $sink
    $ns connect $agent $sink
    set application [new $application]
    $application attach-agent $agent
    foreach {name value} $args {
        $application set $name $value
    }
    $ns at [expr {0.5 + 0.01 * $fid}] "$application start"
}
proc tcp {from to fid} {
    flow $from $to $fid Agent/TCP Agent/TCPSink Application/FTP
}
proc cbr {from to fid interval_s} {
    flow $from $to $fid Agent/UDP Agent/Null Application/Traffic/CBR interval_ $interval_s
}
proc nodes {count} {
    global ns node
    for {set i 0} {$i < $count} {incr i} {
        set node($i) [$ns node]
    }
}

proc lan {} {
    global ns node
    nodes 9
    $ns duplex-link $node(0) $node(1) 5Mb 5ms DropTail
    $ns newLan [list $node(1) $node(2) $node(3) $node(4) $node(5) $node(6) $node(7) $node(8)] \
        10Mb 0.1ms LL Queue/DropTail MAC/802_3 Channel
    for {set i 2} {$i < 9} {incr i} {
        if {$i % 2} {cbr $node(0) $node($i) $i 0.005} else {tcp $node($i) $node(0) $i}
    }
}

proc diffserv {} {
    global ns node
    nodes 5
    $ns duplex-link $node(0) $node(2) 10Mb 5ms DropTail
    $ns duplex-link $node(1) $node(2) 10Mb 5ms DropTail
    $ns simplex-link $node(2) $node(3) 5Mb 5ms dsRED/edge
    $ns simplex-link $node(3) $node(2) 5Mb 5ms dsRED/core
    $ns duplex-link $node(3) $node(4) 10Mb 5ms DropTail
    foreach {a b} {2 3 3 2} {
        set queue [[$ns link $node($a) $node($b)] queue]
        $queue meanPktSize 1000
        $queue set numQueues_ 1
        $queue setNumPrec 2
        if {$a == 2} {
            $queue addPolicyEntry [$node(0) id] [$node(4) id] TokenBucket 10 1000000 10000
            $queue addPolicyEntry [$node(1) id] [$node(4) id] TokenBucket 10 2000000 10000
            $queue addPolicerEntry TokenBucket 10 11
        }
        $queue addPHBEntry 0 0 0
        $queue addPHBEntry 10 0 0
        $queue addPHBEntry 11 0 1
        $queue configQ 0 0 20 40 0.02
        $queue configQ 0 1 10 20 0.10
    }
    cbr $node(0) $node(4) 1 0.002
    tcp $node(1) $node(4) 2
    cbr $node(1) $node(4) 3 0.003
    $ns at 1 "[[$ns link $node(2) $node(3)] queue] printStats"
}

# Two ways around, of which links fail and come back.
proc dv {} {
    global ns node
    $ns rtproto DV
    nodes 6
    for {set i 0} {$i < 6} {incr i} {
        $ns duplex-link $node($i) $node([expr {($i + 1) % 6}]) 2Mb 5ms DropTail
    }
    $ns rtmodel-at 1.0 down $node(1) $node(2)
    $ns rtmodel-at 1.5 up $node(1) $node(2)
    $ns rtmodel Exponential {0.1 0.3 0.1} $node(4) $node(5)
    tcp $node(0) $node(3) 1
    cbr $node(1) $node(4) 2 0.004
}

proc mpls {} {
    global ns node
    for {set i 0} {$i < 6} {incr i} {
        if {$i in {1 2 3 4}} {
            $ns node-config -MPLS ON
        }
        set node($i) [$ns node]
        $ns node-config -MPLS OFF
    }
    foreach {a b} {0 1 1 2 2 4 1 3 3 4 4 5} {
        $ns duplex-link $node($a) $node($b) 2Mb 5ms DropTail
    }
    foreach {a b} {1 2 2 4 1 3 3 4} {
        $ns LDP-peer $node($a) $node($b)
    }
    for {set i 1} {$i < 5} {incr i} {
        [$node($i) get-module MPLS] enable-control-driven
    }
    cbr $node(0) $node(5) 1 0.004
    tcp $node(0) $node(5) 2
}

proc multicast {} {
    global ns node
    nodes 7
    foreach {a b} {0 1 0 2 1 3 1 4 2 5 2 6} {
        $ns duplex-link $node($a) $node($b) 2Mb 5ms DropTail
    }
    $ns mrtproto DM
    set group [Node allocaddr]
    set udp [new Agent/UDP]
    $udp set dst_addr_ $group
    $udp set dst_port_ 0
    $ns attach-agent $node(0) $udp
    set source [new Application/Traffic/CBR]
    $source attach-agent $udp
    $ns at 0.4 "$source start"
    for {set i 3} {$i < 7} {incr i} {
        set sink [new Agent/Null]
        $ns attach-agent $node($i) $sink
        $ns at [expr {0.1 * $i}] "$node($i) join-group $sink $group"
        $ns at [expr {0.2 * $i + 1}] "$node($i) leave-group $sink $group"
    }
    tcp $node(3) $node(6) 9
}

# Two terminals and a satellite that repeats what it hears.
proc satellite {} {
    global ns node
    $ns node-config -satNodeType geo-repeater -phyType Phy/Repeater -channelType Channel/Sat \
        -downlinkBW 2Mb -wiredRouting OFF
    set satellite [$ns node]
    $satellite set-position -95
    $ns node-config -satNodeType terminal -llType LL/Sat -ifqType Queue/DropTail -ifqLen 50 \
        -macType Mac/Sat -phyType Phy/Sat -channelType Channel/Sat -downlinkBW 2Mb
    set node(0) [$ns node]
    $node(0) set-position 37.9 -122.3
    set node(1) [$ns node]
    $node(1) set-position 42.3 -71.1
    foreach terminal {0 1} {
        $node($terminal) add-gsl geo LL/Sat Queue/DropTail 50 Mac/Sat 2Mb Phy/Sat \
            [$satellite set downlink_] [$satellite set uplink_]
    }
    $ns trace-all-satlinks [open satellite.tr w]
    tcp $node(0) $node(1) 1
    cbr $node(1) $node(0) 2 0.01
    set routes [new SatRouteObject]
    $routes compute_routes
}

# A fat tree of 4-port switches, and flows between all pods.
proc tree {} {
    global ns node
    for {set i 0} {$i < 4} {incr i} {
        set core($i) [$ns node]
    }
    for {set pod 0} {$pod < 4} {incr pod} {
        foreach i {0 1} {
            set upper($i) [$ns node]
            foreach j {0 1} {
                $ns duplex-link $upper($i) $core([expr {2 * $i + $j}]) 100Mb 0.1ms DropTail
            }
        }
        foreach i {0 1} {
            set edge [$ns node]
            foreach j {0 1} {
                $ns duplex-link $edge $upper($j) 100Mb 0.1ms DropTail
            }
            foreach j {0 1} {
                set node([expr {4 * $pod + 2 * $i + $j}]) [$ns node]
                $ns duplex-link $node([expr {4 * $pod + 2 * $i + $j}]) $edge 100Mb 0.1ms DropTail
            }
        }
    }
    for {set i 0} {$i < 16} {incr i} {
        tcp $node($i) $node([expr {($i + 5) % 16}]) $i
    }
}

$kind
$ns at $seconds {
    $ns flush-trace
    puts [$ns now]
    exit 0
}
$ns run
