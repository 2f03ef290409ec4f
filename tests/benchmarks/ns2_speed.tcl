# The cases of measure.py, for any ns-2.35: they use no variant or default of bdpbench's build, so
# Debian's ns can run them as well.
#
# Arguments: -case C -duration_s s. Writes into the working folder.
#   single   one HighSpeed TCP flow over 622 Mbit/s and RTT 100 ms, buffer 20 % of the BDP
#   queues   the same, with the packets at the bottleneck's queue traced in both directions
#   all      the same, with all packets on all links traced
#   two      two HighSpeed TCP flows over the same path
#   red      100 SACK flows over 622 Mbit/s and RTTs of 44 to 143 ms through RED
#   ten-red  ten Reno flows, five of them HighSpeed, over 2.5 Gbit/s and RTT 54 ms through RED
#   ten-ared the same through adaptive RED
#   linux    two BIC flows of TCP/Linux over 250 Mbit/s and RTT 310 ms, buffer 100 % of the BDP
source [file join [file dirname [info script]] .. .. tcl lib args.tcl]
source [file join [file dirname [info script]] .. .. tcl lib topology.tcl]
source [file join [file dirname [info script]] .. .. tcl lib traffic.tcl]
source [file join [file dirname [info script]] .. .. tcl lib utils.tcl]
source [file join [file dirname [info script]] .. .. tcl lib monitors.tcl]

set config [::args::read {
    {case {one_of single queues all two red ten-red ten-ared linux} ""}
    {duration_s positive s}
}]
set case [dict get $config case]
lassign [dict get {
    single {1 622 48 1555 DropTail} queues {1 622 48 1555 DropTail} all {1 622 48 1555 DropTail}
    two {2 622 48 1555 DropTail} red {100 622 20 1555 RED}
    ten-red {10 2500 25 10000 RED} ten-ared {10 2500 25 10000 RED} linux {2 250 154 9688 DropTail}
} $case] flow_count mbps delay_ms buffer_pkts queue

# Connect a flow that sends from start_s on, with the settings of the single flow.
proc add_speed_flow {fid access_ms start_s} {
    global ns case flow_count
    set mbps [expr {$case in {ten-red ten-ared} && $fid < 5 ? 100 : 1000}]
    lassign [make_hosts $mbps $access_ms 1 100000] sender receiver
    lassign [dict get {
        single {TCP/Sack1 TCPSink/Sack1} queues {TCP/Sack1 TCPSink/Sack1} red {TCP/Sack1 TCPSink/Sack1}
        all {TCP/Sack1 TCPSink/Sack1} two {TCP/Sack1 TCPSink/Sack1} linux {TCP/Linux TCPSink/Sack1}
        ten-red {TCP/Reno TCPSink} ten-ared {TCP/Reno TCPSink}
    } $case] agent sink
    set agent [$ns create-connection $agent $sender $sink $receiver $fid]
    if {$case eq "linux"} {
        $ns at 0 "$agent select_ca bic"
    } elseif {$case in {ten-red ten-ared}} {
        $agent set windowOption_ [expr {$fid < 5 ? 1 : 8}]
    } elseif {$case ne "red"} {
        foreach {name value} {windowOption_ 8 low_window_ 38 high_window_ 83000 high_p_ 0.0000001
                high_decrease_ 0.1 max_ssthresh_ 100} {
            $agent set $name $value
        }
    }
    start_transfer $agent $start_s
    record_flow $agent $fid [expr {$flow_count == 1 ? "" : $fid}] {} 0.1 .
}

open_report [dict get $config duration_s] $mbps .
new_simulator
seed_random 1
if {$case eq "all"} {
    $ns trace-all [open all.tr w]
}
foreach {name value} {
    numdupacksFrac_ 100 minrto_ 1 precisionReduce_ 0 rtxcur_init_ 6 timestamps_ 1 window_ 67000
    packetSize_ 1000 overhead_ 0.000008 max_ssthresh_ 100 maxburst_ 2
} {
    Agent/TCP set $name $value
}
if {$case in {linux ten-red ten-ared}} {
    foreach {name value} {numdupacksFrac_ 100 overhead_ 0 max_ssthresh_ 0 maxburst_ 0} {
        Agent/TCP set $name $value
    }
}
if {$case in {ten-red ten-ared}} {
    foreach {name value} {thresh_ 2500 maxthresh_ 7500 gentle_ 1 queue_in_bytes_ false bytes_ false} {
        Queue/RED set $name $value
    }
    Queue/RED set adaptive_ [expr {$case eq "ten-ared"}]
    Queue/RED set q_weight_ [expr {$case eq "ten-ared" ? 0 : 0.002}]
}
make_bottleneck $mbps $delay_ms $buffer_pkts $queue
if {$case eq "queues"} {
    trace_packets .
}
monitor_bottleneck . 0.01
for {set fid 0} {$fid < $flow_count} {incr fid} {
    add_speed_flow $fid [expr {$case eq "red" ? 1 + 0.5 * $fid : 1}] [expr {0.05 * $fid}]
}
run_to_end [expr {$flow_count == 1 ? 0 : [list 0 1]}]
