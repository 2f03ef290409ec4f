# A TCP and a CBR flow over a RED bottleneck, traced in every way that wired networks offer.
# Arguments: folder for the traces; then options: tcphdr tagged hierarchical
set folder [lindex $argv 0]
set options [lrange $argv 1 end]

set ns [new Simulator]
if {"hierarchical" in $options} {
    $ns set-address-format hierarchical
    AddrParams set domain_num_ 2
    AddrParams set cluster_num_ {1 2}
    AddrParams set nodes_num_ {2 1 1}
    set addresses {0.0.0 0.0.1 1.0.0 1.1.0}
} else {
    set addresses {{} {} {} {}}
}
if {"tcphdr" in $options} {
    Trace set show_tcphdr_ 1
}
set all [open $folder/all.tr w]
$ns trace-all $all
set nam [open $folder/all.nam w]
$ns namtrace-all $nam
$ns eventtrace-all

foreach name {a b c d} address $addresses {
    set $name [$ns node {*}$address]
}
$ns duplex-link $a $b 10Mb 5ms DropTail
$ns duplex-link $b $c 1Mb 10ms RED
$ns duplex-link $c $d 10Mb 5ms DropTail
$ns queue-limit $b $c 10
set samples [open $folder/queue_samples.tr w]
set monitor [$ns monitor-queue $b $c $samples 0.1]
[$ns link $b $c] queue-sample-timeout
set red [[$ns link $b $c] queue]
set red_file [open $folder/red.tr w]
$red trace curq_
$red trace ave_
$red attach $red_file

set tcp [new Agent/TCP/Sack1]
set sink [new Agent/TCPSink/Sack1]
$tcp set fid_ 1
$tcp set window_ 30
$ns attach-agent $a $tcp
$ns attach-agent $d $sink
$ns connect $tcp $sink
set variables [open $folder/variables.tr w]
$tcp attach $variables
$tcp trace cwnd_
$tcp trace ssthresh_
$tcp trace rtt_
set ftp [new Application/FTP]
$ftp attach-agent $tcp

set oneline [new Agent/TCP]
set oneline_sink [new Agent/TCPSink]
$oneline set fid_ 2
$oneline set trace_all_oneline_ true
$ns attach-agent $a $oneline
$ns attach-agent $d $oneline_sink
$ns connect $oneline $oneline_sink
set all_variables [open $folder/all_variables.tr w]
$oneline attach $all_variables
$oneline trace cwnd_
set ftp2 [new Application/FTP]
$ftp2 attach-agent $oneline

set udp [new Agent/UDP]
set null [new Agent/Null]
$udp set fid_ 3
$ns attach-agent $a $udp
$ns attach-agent $d $null
$ns connect $udp $null
set cbr [new Application/Traffic/CBR]
$cbr attach-agent $udp
$cbr set rate_ 200Kb

set series [open $folder/series.tr w]
proc sample {} {
    global ns tcp series
    puts $series "[$ns now] [$tcp set cwnd_]"
    $ns at [expr {[$ns now] + 0.1}] sample
}
if {"tagged" in $options} {
    $ns at 0 {foreach link [$ns info vars link_] {} }
    foreach {key link} [$ns array get link_] {
        foreach part {enqT_ deqT_ rcvT_ drpT_} {
            catch {[$link set $part] tagged 1}
        }
    }
}
$ns at 0.00001 "$ftp start"
$ns at 0.5 "$ftp2 start"
$ns at 1.0 "$cbr start"
$ns at 0 sample
$ns at 1.5 "$ns trace-annotate {halfway}"
$ns at 3.0 {
    $ns flush-trace
    foreach file [list $all $nam $samples $red_file $variables $all_variables $series] {
        close $file
    }
    exit 0
}
$ns run
