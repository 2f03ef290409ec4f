# network.tcl with background of kind packmime (lib/packmime.tcl). Arguments and files are those of
# network.tcl and of that.
source [file join [file dirname [info script]] lib further.tcl]
source [file join [file dirname [info script]] lib packmime.tcl]
source [file join [file dirname [info script]] network.tcl]
