# network.tcl with more web traffic: background of kind packmime (lib/packmime.tcl), and the pages
# of kind web (lib/pages.tcl). Arguments and files are those of network.tcl and of these two.
source [file join [file dirname [info script]] lib further.tcl]
source [file join [file dirname [info script]] lib packmime.tcl]
source [file join [file dirname [info script]] lib pages.tcl]
source [file join [file dirname [info script]] network.tcl]
