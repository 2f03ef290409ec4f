# The data that senders send. Needs topology.tcl.

# Give a sender unlimited data from start_s on.
proc start_transfer {agent start_s} {
    global ns
    $ns at $start_s "[$agent attach-app FTP] start"
}
