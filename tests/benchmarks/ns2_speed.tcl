# The cases of ns2_speed.py, for any ns-2.35: they use no variant or default of bdpbench's build, so
# that Debian's ns runs them, too.
#
# Arguments: -case C -duration_s s. Writes into the working folder.
#   single   one HighSpeed TCP flow over 622 Mbit/s and RTT 100 ms, buffer 20 % of the BDP
#   queues   the same, the packets at the bottleneck's queue traced, both ways
#   all      the same, all packets on all links traced
#   two      two HighSpeed TCP flows over the same path
#   red      100 SACK flows over 622 Mbit/s and RTTs of 44 to 143 ms through RED
source [file join [file dirname [info script]] .. .. tcl lib args.tcl]
source [file join [file dirname [info script]] .. .. tcl lib topology.tcl]
source [file join [file dirname [info script]] .. .. tcl lib traffic.tcl]
source [file join [file dirname [info script]] .. .. tcl lib utils.tcl]
source [file join [file dirname [info script]] .. .. tcl lib monitors.tcl]

set config [::args::read {
    {case {one_of single queues all two red} ""}
    {duration_s positive s}
}]
set case [dict get $config case]
set flow_count [expr {$case eq "two" ? 2 : $case eq "red" ? 100 : 1}]

# Connect a flow and let it send from start_s on; its settings are those of the single flows.
proc add_speed_flow {fid access_ms start_s} {
    global ns case flow_count
    lassign [make_hosts 1000 $access_ms 1 100000] sender receiver
    set agent [$ns create-connection TCP/Sack1 $sender TCPSink/Sack1 $receiver $fid]
    if {$case ne "red"} {
        foreach {name value} {windowOption_ 8 low_window_ 38 high_window_ 83000 high_p_ 0.0000001
                high_decrease_ 0.1 max_ssthresh_ 100} {
            $agent set $name $value
        }
    }
    start_transfer $agent $start_s
    record_flow $agent $fid [expr {$flow_count == 1 ? "" : $fid}] {} 0.1 .
}

open_report [dict get $config duration_s] 622 .
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
make_bottleneck 622 [expr {$case eq "red" ? 20 : 48}] 1555 \
    [expr {$case eq "red" ? "RED" : "DropTail"}]
if {$case eq "queues"} {
    trace_packets .
}
monitor_bottleneck . 0.01
for {set fid 0} {$fid < $flow_count} {incr fid} {
    add_speed_flow $fid [expr {$case eq "red" ? 1 + 0.5 * $fid : 1}] [expr {0.05 * $fid}]
}
run_to_end [expr {$flow_count == 1 ? 0 : [list 0 1]}]
