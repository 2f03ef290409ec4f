# What the senders are given to send. Needs topology.tcl.

# Give a sender endless data from start_s on.
proc start_transfer {agent start_s} {
    global ns
    $ns at $start_s "[$agent attach-app FTP] start"
}
