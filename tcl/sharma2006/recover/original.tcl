# Run a script that was written for ns-2.27, such as those recovered from the appendices of
# P. Sharma's thesis (2006), with the defaults that ns-2 had then.
#
# Arguments: the script, then the script's own. It runs in the working directory, where it finds
# utils.tcl and writes its files.

# Defaults of Agent/TCP in ns-2.27 of January 2004 that differ in ns-2.35, whose ns-default.tcl
# dates each change and whose suite tcpHighspeed sets the same values back.
#   numdupacksFrac_  fast retransmit waits for cwnd/100 duplicate ACKs if that is more than
#                    numdupacks_, i.e. 90 of them at a cwnd of 9,000 (-1, off, since 2006-09-27)
#   minrto_          s, minimum retransmission timeout (0.2 since 2004-10-14)
#   precisionReduce_ 0: cuts of cwnd are rounded to whole packets (1 since 2006-01-24)
#   rtxcur_init_     s, timeout before the first RTT sample (3 since 2006-01-21)
foreach {name value} {numdupacksFrac_ 100 minrto_ 1 precisionReduce_ 0 rtxcur_init_ 6} {
    Agent/TCP set $name $value
}
unset name value
set argv [lassign $argv argv0]
set argc [llength $argv]
if {![file isfile $argv0]} {
    puts stderr "error: original.tcl: no script '$argv0'"
    exit 1
}
source $argv0
