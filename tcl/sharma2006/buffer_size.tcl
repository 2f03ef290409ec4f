# One flow, buffers of different sizes (Appendix E): RTT 100 ms.
#
# Arguments: endtime (s) flow_type fastAlpha (packets) run DATADIR Qbuff (packets)
source [file join [file dirname [info script]] .. lib bdpbench.tcl]

::args::read [linsert [single_flow_args] end {Qbuff count packets}]
run_single_flow 48 $Qbuff 0.1
