# One flow that loses its packet 20,000, in its first ascent (Appendix D): RTT 100 ms, buffer of
# 1,555 packets.
#
# Arguments: endtime (s) flow_type fastAlpha (packets) run DATADIR
source [file join [file dirname [info script]] .. lib bdpbench.tcl]

::args::read [single_flow_args]
run_single_flow 48 1555 0.01 20000
