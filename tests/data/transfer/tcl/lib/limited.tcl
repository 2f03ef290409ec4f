# Let a sender send a given number of packets and no more.
proc start_limited_transfer {agent start_s packets} {
    global ns
    $ns at $start_s [list $agent advanceby $packets]
}
