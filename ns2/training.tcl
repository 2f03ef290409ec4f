# What the variant fast-pgo learns from: build.sh runs each case in an ns-2 that counts how often each
# branch is taken, and compiles ns-2 again with these counts. They affect its speed, never its outputs.
# The script uses nothing but ns-2, because the build id covers no other Tcl file.
#
# Arguments: the case, and the share of its simulated time that is run if not all. Writes into the
# working folder.
#   single   one HighSpeed TCP flow over 622 Mbit/s, recorded as studies do
#   pair     a BIC and a Scalable TCP flow over 400 Mbit/s with a small buffer
#   red      60 SACK flows over 500 Mbit/s through RED
#   traced   two flows with all packets traced, and those of the bottleneck's queue once more
#   linux    four flows of TCP/Linux over 150 Mbit/s that lose packets
#   laws     a flow each of ten other senders over 40 Mbit/s, through a small buffer
#   web      web pages and UDP beside SACK flows, with random losses
#
# A case should be typical of the runs of a study and take few seconds; what no case runs is compiled as
# in the variant fast.

lassign $argv case share
if {$share eq ""} {
    set share 1
}

# The packet headers of bdpbench's own scripts.
remove-all-packet-headers
add-packet-header Flags IP TCP
set ns [new Simulator]
ns-random 7

foreach {name value} {
    packetSize_ 1000 window_ 67000 timestamps_ 1 overhead_ 0.000008 maxburst_ 2 minrto_ 1
    max_ssthresh_ 100 numdupacksFrac_ 100
} {
    Agent/TCP set $name $value
}

# ---------------------------------------------------------------- network

proc join_nodes {a b mbps delay_ms buffer_pkts {queue DropTail}} {
    global ns
    $ns duplex-link $a $b ${mbps}Mb ${delay_ms}ms $queue
    $ns queue-limit $a $b $buffer_pkts
    $ns queue-limit $b $a $buffer_pkts
}

proc make_bottleneck {mbps delay_ms buffer_pkts {queue DropTail}} {
    global ns from to monitor flows
    set from [$ns node]
    set to [$ns node]
    join_nodes $from $to $mbps $delay_ms $buffer_pkts $queue
    set monitor [$ns monitor-queue $from $to ""]
    set flows [$ns makeflowmon Fid]
    $ns attach-fmon [$ns link $from $to] $flows
}

# A sender before the bottleneck and a receiver after it, with an unlimited transfer from start_s on.
proc add_flow {fid sender sink {access_ms 1} {start_s 0} {settings {}}} {
    global ns from to
    set source [$ns node]
    set target [$ns node]
    join_nodes $source $from 1000 $access_ms 100000
    join_nodes $target $to 1000 1 100000
    set agent [$ns create-connection $sender $source $sink $target $fid]
    foreach {name value} $settings {
        $agent set $name $value
    }
    $ns at $start_s "[$agent attach-app FTP] start"
    sample $agent 0.1 [open cwnd.$fid.out w]
    return $agent
}

# ---------------------------------------------------------------- samples

proc sample {agent interval file} {
    global ns
    puts $file "[$ns now] [$agent set cwnd_] [$agent set ssthresh_] [$agent set t_seqno_]"
    $ns at [expr {[$ns now] + $interval}] [list sample $agent $interval $file]
}

proc sample_queue {interval file} {
    global ns monitor
    puts $file "[$ns now] [$monitor set pkts_] [$monitor set pdrops_] [$monitor set bdepartures_]"
    $ns at [expr {[$ns now] + $interval}] [list sample_queue $interval $file]
}

proc sample_flow {fid file} {
    global ns flows
    set flow [[$flows classifier] lookup auto 0 0 $fid]
    if {$flow ne ""} {
        puts $file "[$ns now] $fid [$flow set bdepartures_] [$flow set pdrops_]"
    }
    $ns at [expr {[$ns now] + 1}] [list sample_flow $fid $file]
}

proc run_for {seconds flow_count} {
    global ns share
    sample_queue 0.01 [open queue.out w]
    set file [open flows.out w]
    for {set fid 0} {$fid < $flow_count} {incr fid} {
        sample_flow $fid $file
    }
    $ns at [expr {$share * $seconds}] {$ns flush-trace; exit 0}
    $ns run
}

# ---------------------------------------------------------------- cases

set highspeed {
    windowOption_ 8 low_window_ 38 high_window_ 83000 high_p_ 0.0000001 high_decrease_ 0.1
}

proc train-single {} {
    global highspeed
    make_bottleneck 622 34 1000
    add_flow 0 TCP/Sack1 TCPSink/Sack1 1 0 $highspeed
    run_for 30 1
}

proc train-pair {} {
    make_bottleneck 400 20 600
    add_flow 0 TCP/Sack1 TCPSink/Sack1 1 0 {windowOption_ 12}
    add_flow 1 TCP/Sack1 TCPSink/Sack1 4 1 {windowOption_ 9}
    run_for 25 2
}

proc train-red {} {
    make_bottleneck 500 15 1200 RED
    for {set fid 0} {$fid < 60} {incr fid} {
        add_flow $fid TCP/Sack1 TCPSink/Sack1 [expr {1 + 0.7 * $fid}] [expr {0.03 * $fid}]
    }
    run_for 12 60
}

proc train-traced {} {
    global ns from to highspeed
    $ns trace-all [open all.tr w]
    make_bottleneck 200 10 300
    set file [open queue.tr w]
    $ns trace-queue $from $to $file
    $ns trace-queue $to $from $file
    add_flow 0 TCP/Sack1 TCPSink/Sack1 1 0 $highspeed
    add_flow 1 TCP/Newreno TCPSink 3
    run_for 5 2
}

proc train-linux {} {
    global ns
    make_bottleneck 150 40 700
    set fid 0
    foreach law {bic cubic reno htcp} {
        set agent [add_flow $fid TCP/Linux TCPSink/Sack1 [expr {1 + 5 * $fid}] 0 {max_ssthresh_ 0}]
        $ns at 0 "$agent select_ca $law"
        incr fid
    }
    run_for 30 4
}

proc train-laws {} {
    make_bottleneck 40 10 60
    set fid 0
    foreach {sender sink settings} {
        TCP/Sack1 TCPSink/Sack1 {windowOption_ 1}
        TCP/Sack1 TCPSink/Sack1 {windowOption_ 13}
        TCP/Sack1 TCPSink/Sack1 {windowOption_ -10}
        TCP/Sack1 TCPSink/Sack1/DelAck {}
        TCP/Reno TCPSink {}
        TCP/Newreno TCPSink {}
        TCP TCPSink {}
        TCP/Vegas TCPSink {}
        TCP/Westwood TCPSink {}
        TCP/Fast TCPSink/Sack1 {}
    } {
        add_flow $fid $sender $sink [expr {1 + 2 * $fid}] [expr {0.5 * $fid}] $settings
        incr fid
    }
    run_for 60 10
}

proc exponential {mean} {
    set variable [new RandomVariable/Exponential]
    $variable set avg_ $mean
    return $variable
}

proc train-web {} {
    global ns from to
    make_bottleneck 50 10 100
    add_flow 0 TCP/Sack1 TCPSink/Sack1
    add_flow 1 TCP/Sack1 TCPSink/Sack1 20
    set udp [new Agent/UDP]
    $ns attach-agent $from $udp
    set null [new Agent/Null]
    $ns attach-agent $to $null
    $ns connect $udp $null
    set background [new Application/Traffic/Exponential]
    $background set rate_ 5Mb
    $background attach-agent $udp
    $ns at 0 "$background start"
    set pool [new PagePool/WebTraf]
    $pool set-num-client 5
    $pool set-num-server 5
    for {set i 0} {$i < 5} {incr i} {
        set client [$ns node]
        set server [$ns node]
        join_nodes $server $from 100 [expr {1 + $i}] 1000
        join_nodes $client $to 100 [expr {2 + $i}] 1000
        $pool set-client $i $client
        $pool set-server $i $server
        set errors [new ErrorModel]
        $errors set rate_ 0.002
        $ns lossmodel $errors $server $from
    }
    set sessions 20
    $pool set-num-session $sessions
    for {set i 0} {$i < $sessions} {incr i} {
        set size [new RandomVariable/ParetoII]
        $size set avg_ 12
        $size set shape_ 1.2
        set objects [new RandomVariable/Constant]
        $objects set val_ 3
        $pool create-session $i 60 [expr {0.2 * $i}] [exponential 0.4] $objects [exponential 0.05] $size
    }
    run_for 25 2
}

train-$case
