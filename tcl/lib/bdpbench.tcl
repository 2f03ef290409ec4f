# Load the procedures that the scenario scripts share. A script sources this file by its own
# place ([info script]), so that it runs from any working directory.
source [file join [file dirname [info script]] utils.tcl]
source [file join [file dirname [info script]] args.tcl]
source [file join [file dirname [info script]] topology.tcl]
source [file join [file dirname [info script]] agents.tcl]
source [file join [file dirname [info script]] monitors.tcl]
source [file join [file dirname [info script]] single_flow.tcl]
source [file join [file dirname [info script]] two_flows.tcl]
source [file join [file dirname [info script]] standard_tcp.tcl]
source [file join [file dirname [info script]] xu2004.tcl]
