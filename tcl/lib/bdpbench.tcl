# Load the procedures that the scenario scripts share. A script sources this file by its own
# place ([info script]), so that it runs from any working directory.
foreach part {utils args topology agents monitors single_flow two_flows standard_tcp} {
    source [file join [file dirname [info script]] $part.tcl]
}
unset part
