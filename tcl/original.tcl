# Run a script that was written for ns-2.27, such as the appendices of P. Sharma's thesis (2006)
# that `bdpbench recover` recovers, with the defaults that ns-2 had then.
#
# Arguments: the script, then its own. It runs in the working directory, where it finds utils.tcl
# and writes what it writes.
source [file join [file dirname [info script]] lib agents.tcl]

foreach {name value} $::agents::ns_2_27 {
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
