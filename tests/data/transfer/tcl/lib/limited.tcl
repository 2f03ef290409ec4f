# Let a sender send so many packets and no more.
proc start_limited_transfer {agent start_s packets} {
    global ns
    $ns at $start_s [list $agent advanceby $packets]
}
