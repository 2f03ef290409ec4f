# Nodes and links. Every network of the study is a dumbbell: senders, two routers, receivers.

# Make the Simulator (global ns) with the packet headers that TCP needs and no others, which
# saves memory and time. run: 1, 2, ... picks a substream of the random numbers of seed.
proc new_simulator {run {seed 9999}} {
    global ns defaultRNG
    remove-all-packet-headers
    add-packet-header Flags IP TCP
    set ns [new Simulator]
    $defaultRNG seed $seed
    for {set i 1} {$i < $run} {incr i} {
        $defaultRNG next-substream
    }
}

# Join two nodes by a link each way; mbps in Mbit/s, delay in ms (one way), buffer in packets.
proc join_nodes {a b mbps delay_ms buffer_pkts {queue DropTail}} {
    global ns
    $ns duplex-link $a $b ${mbps}Mb ${delay_ms}ms $queue
    $ns queue-limit $a $b $buffer_pkts
    $ns queue-limit $b $a $buffer_pkts
}

# Make the routers n1 and n2 (globals) and the bottleneck between them.
proc make_bottleneck {mbps delay_ms buffer_pkts {queue DropTail}} {
    global ns n1 n2
    set n1 [$ns node]
    set n2 [$ns node]
    join_nodes $n1 $n2 $mbps $delay_ms $buffer_pkts $queue
}

# Make a sender before n1 and a receiver behind n2 and return both nodes. buffer_pkts is that of
# the access links: so large that packets are lost at the bottleneck only.
proc make_hosts {mbps sender_delay_ms receiver_delay_ms buffer_pkts} {
    global ns n1 n2
    set sender [$ns node]
    set receiver [$ns node]
    join_nodes $sender $n1 $mbps $sender_delay_ms $buffer_pkts
    join_nodes $receiver $n2 $mbps $receiver_delay_ms $buffer_pkts
    return [list $sender $receiver]
}

# Lose one packet of a flow as it enters the bottleneck, counted as a drop there: its
# drop_packet-th, retransmissions included.
proc drop_one_packet {fid drop_packet} {
    global ns n1 n2
    set model [new ErrorModel/Periodic]
    $model unit pkt
    $model set offset_ $drop_packet
    $model set burstlen_ 1
    $model set period_ 100000000 ;# packets: no second drop in any run of the study
    set module [new ErrorModule Fid]
    [$ns link $n1 $n2] errormodule $module
    $module insert $model
    $module bind $model $fid
}
