# network_tmix.tcl whose last router may be the base station of a wireless LAN (lan.tcl). Arguments
# and files are those of network_tmix.tcl and of this part.
source [file join [file dirname [info script]] .. lib further.tcl]
source [file join [file dirname [info script]] .. lib packmime.tcl]
source [file join [file dirname [info script]] .. lib pages.tcl]
source [file join [file dirname [info script]] .. lib tmix.tcl]
source [file join [file dirname [info script]] .. lib both_ways.tcl]
source [file join [file dirname [info script]] .. lib numbered.tcl]
source [file join [file dirname [info script]] lan.tcl]
source [file join [file dirname [info script]] .. network.tcl]
