# network_web.tcl with background of kind tmix (lib/tmix.tcl). Arguments and files are those of
# network.tcl and of the parts that it is extended by.
source [file join [file dirname [info script]] lib further.tcl]
source [file join [file dirname [info script]] lib packmime.tcl]
source [file join [file dirname [info script]] lib pages.tcl]
source [file join [file dirname [info script]] lib tmix.tcl]
source [file join [file dirname [info script]] network.tcl]
