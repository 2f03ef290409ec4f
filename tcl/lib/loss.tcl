# Intentional losses. Needs topology.tcl.

# Lose one packet of a flow as it enters the bottleneck, and count it as a drop there: the
# drop_packet-th one, including retransmissions.
proc drop_one_packet {fid drop_packet} {
    global ns n1 n2
    set model [new ErrorModel/Periodic]
    $model unit pkt
    $model set offset_ $drop_packet
    $model set burstlen_ 1
    $model set period_ 100000000 ;# packets: more than any run sends
    set module [new ErrorModule Fid]
    [$ns link $n1 $n2] errormodule $module
    $module insert $model
    $module bind $model $fid
}
