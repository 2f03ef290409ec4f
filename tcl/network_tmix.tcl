# network_web.tcl with background of kind tmix (lib/tmix.tcl), with what is told of both ways of a
# link (lib/both_ways.tcl), and with flows whose packets count by number (lib/numbered.tcl).
# Arguments and files are those of network.tcl and of these parts.
source [file join [file dirname [info script]] lib further.tcl]
source [file join [file dirname [info script]] lib packmime.tcl]
source [file join [file dirname [info script]] lib pages.tcl]
source [file join [file dirname [info script]] lib tmix.tcl]
source [file join [file dirname [info script]] lib both_ways.tcl]
source [file join [file dirname [info script]] lib numbered.tcl]
source [file join [file dirname [info script]] network.tcl]
