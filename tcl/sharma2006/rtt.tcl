# One flow, different RTTs (Appendix F): 2 delay + 4 ms, with a buffer of 20 % of the BDP of the
# bottleneck alone.
#
# Arguments: endtime (s) flow_type fastAlpha (packets) run DATADIR delay (ms, the bottleneck's)
source [file join [file dirname [info script]] .. lib bdpbench.tcl]

# A fifth of 622 Mbit/s times 2 delay, in whole packets of 1,000 bytes.
proc buffer_for_delay {delay_ms} {
    return [expr {int(622 * $delay_ms * 2 * 1000 / 1000 / 40)}]
}

::args::read [linsert [single_flow_args] end {delay positive ms}]
if {[buffer_for_delay $delay] < 1} {
    ::args::fail "delay is '$delay', expected at least 0.04 (ms): the buffer would have no packet"
}
run_single_flow $delay [buffer_for_delay $delay] 0.01
