# The protocols of the study by name, with the thesis's settings.

namespace eval ::agents {
    # One row a protocol:
    #   option       windowOption_ of Agent/TCP/Sack1: the law of the increase and decrease of cwnd
    #   low_window   packets, low_window_: below it the law is standard TCP's
    #   max_ssthresh packets, max_ssthresh_: limited slow start (RFC 3742) above it; H-TCP has 1
    #   needs        a variable that only an ns-2 with this protocol has
    #   set          further variables of the agent
    #
    # SACK is standard TCP, one packet per RTT. FAST is an agent of its own, without options.
    variable protocols {
        SACK     {option 1   low_window 0  max_ssthresh 100 needs windowOption_ set {}}
        HS       {option 8   low_window 38 max_ssthresh 100 needs low_window_ set {}}
        Scalable {option 9   low_window 16 max_ssthresh 100 needs scalable_lwnd_
                  set {scalable_lwnd_ 16}}
        BIC      {option 12  low_window 14 max_ssthresh 100 needs bic_beta_
                  set {bic_beta_ 0.8 bic_B_ 4 bic_max_increment_ 32 bic_min_increment_ 0.01
                       bic_fast_convergence_ 1 bic_low_utilization_threshold_ 0
                       bic_low_utilization_checking_period_ 2}}
        CUBIC    {option 13  low_window 0  max_ssthresh 100 needs cubic_beta_
                  set {cubic_beta_ 0.8 cubic_max_increment_ 16 cubic_fast_convergence_ 1
                       cubic_scale_ 0.4 cubic_tcp_friendliness_ 1
                       cubic_low_utilization_threshold_ 0
                       cubic_low_utilization_checking_period_ 2}}
        HTCP     {option -10 low_window 0  max_ssthresh 1   needs htcp_delta_l_ set {}}
        FAST     {needs alpha_ set {}}
    }

    # Defaults of Agent/TCP in ns-2.27 of January 2004, which the thesis used, where ns-2.35 has
    # others; its ns-default.tcl dates each change, and its suite tcpHighspeed sets back the same.
    #   numdupacksFrac_  fast retransmit waits for cwnd/100 duplicate ACKs where that is more than
    #                    numdupacks_, so 90 of them at a cwnd of 9,000 (-1, off, since 2006-09-27)
    #   minrto_          s, smallest retransmission timeout (0.2 since 2004-10-14)
    #   precisionReduce_ 0: cuts of cwnd are rounded to whole packets (1 since 2006-01-24)
    #   rtxcur_init_     s, timeout before the first sample of the RTT (3 since 2006-01-21)
    variable ns_2_27 {
        numdupacksFrac_ 100 minrto_ 1 precisionReduce_ 0 rtxcur_init_ 6
    }
}

# Names of all protocols.
proc ::agents::names {} {
    variable protocols
    return [dict keys $protocols]
}

# Settings of every TCP flow of the study: window_ in packets; packetSize_ in bytes of data (on the
# wire 50 more: headers of 40 and the timestamp option of 10); overhead_ in s, the largest random
# delay before a packet leaves.
proc ::agents::set_defaults {} {
    variable ns_2_27
    foreach {name value} [concat $ns_2_27 {
        timestamps_ 1 window_ 67000 packetSize_ 1000 overhead_ 0.000008 max_ssthresh_ 100
        maxburst_ 2
    }] {
        Agent/TCP set $name $value
    }
}

# Whether ns-2 has a class of agents.
proc ::agents::exists {class} {
    return [expr {[info commands ::Agent/$class] ne ""}]
}

# Whether an agent has a variable. One that ns-2 does not bind could be set, to no effect.
proc ::agents::has {agent name} {
    return [expr {![catch {$agent set $name}]}]
}

# End the run because this ns-2 was built without a protocol.
proc ::agents::missing {protocol what} {
    ::args::fail "this ns-2 has no $what, which protocol $protocol needs: use a build that has it"
}

# Set an agent's variables; one that it does not have ends the run.
proc ::agents::apply {agent protocol settings} {
    foreach {name value} $settings {
        if {![has $agent $name]} {
            missing $protocol "[$agent info class] $name"
        }
        $agent set $name $value
    }
}

# Connect a sender of some protocol at one node to a sink at another and return the sender.
#   fid    flow id
#   alpha  packets, FAST's alpha_ and beta_; unused by the others
#   base   ns-2 agent of the protocols that are options of standard TCP
# In Appendices G and H the second flow inherits from the first what its own branch doesn't set
# (low_window for CUBIC and H-TCP, the form of the cwnd file for FAST after BIC). Here each flow
# has its own settings; the two agree wherever both flows run one protocol.
proc ::agents::connect {protocol from to fid alpha {base TCP/Sack1} {fast_sink TCPSink/Sack1}} {
    global ns
    set fast [expr {$protocol eq "FAST"}]
    set class [expr {$fast ? "TCP/Fast" : $base}]
    if {![exists $class]} {
        missing $protocol "Agent/$class"
    }
    set sink [expr {$fast ? $fast_sink : "TCPSink/Sack1"}]
    set agent [$ns create-connection $class $from $sink $to $fid]
    apply $agent $protocol [settings $protocol $agent $alpha]
    return $agent
}

# The variables to set on an agent, as name value pairs.
proc ::agents::settings {protocol agent alpha} {
    variable protocols
    set row [dict get $protocols $protocol]
    if {![has $agent [dict get $row needs]]} {
        missing $protocol "[$agent info class] [dict get $row needs]"
    }
    if {$protocol eq "FAST"} {
        return [list alpha_ $alpha beta_ $alpha]
    }
    # high_window_ (packets), high_p_ and high_decrease_ fix HighSpeed TCP's response function at
    # its upper end (RFC 3649, section 5); the other laws leave them alone.
    return [concat [list windowOption_ [dict get $row option] \
        low_window_ [dict get $row low_window] max_ssthresh_ [dict get $row max_ssthresh]] \
        {high_window_ 83000 high_p_ 0.0000001 high_decrease_ 0.1 hstcp_fix_ 1} \
        [dict get $row set]]
}
