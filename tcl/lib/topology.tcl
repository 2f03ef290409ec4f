# The simulator, nodes and links. The network is a dumbbell: senders, two routers, receivers.

namespace eval ::topology {
    # Keys of a script (args.tcl) with this network: rates in Mbit/s, one-way delays in ms. The
    # delay of a sender's access link is a key of its flow.
    variable keys {
        {bottleneck_mbps positive Mbit/s}
        {bottleneck_delay_ms nonnegative ms}
        {access_mbps positive Mbit/s}
        {receiver_delay_ms nonnegative ms}
        {buffer_pkts count packets}
    }
}

# Make the Simulator (global ns) with only the packet headers that TCP needs, or with others;
# leaving out the rest saves memory and time.
proc new_simulator {{headers {Flags IP TCP}}} {
    global ns
    remove-all-packet-headers
    add-packet-header {*}$headers
    set ns [new Simulator]
}

# Begin a substream, 1, 2, ..., of the random numbers of a seed.
proc seed_random {substream {seed 9999}} {
    global defaultRNG
    $defaultRNG seed $seed
    for {set i 1} {$i < $substream} {incr i} {
        $defaultRNG next-substream
    }
}

# Connect two nodes by a link in each direction; mbps in Mbit/s, delay in ms, buffer in packets.
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

# Make a sender before n1 and a receiver after n2, and return both nodes. buffer_pkts is that of the
# access links: so large that packets are lost only at the bottleneck.
proc make_hosts {mbps sender_delay_ms receiver_delay_ms buffer_pkts} {
    global ns n1 n2
    set sender [$ns node]
    set receiver [$ns node]
    join_nodes $sender $n1 $mbps $sender_delay_ms $buffer_pkts
    join_nodes $receiver $n2 $mbps $receiver_delay_ms $buffer_pkts
    return [list $sender $receiver]
}
