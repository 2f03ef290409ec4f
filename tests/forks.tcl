# Runs scripts in children of one ns-2, each as `ns SCRIPT ARGUMENT...` would.
#
# Argument: the library of forking.c. A line of standard input is a list of folder, files of standard
# output and error, script and its arguments. The answer to it is the script's exit status.
load [lindex $argv 0] Forking

set child 1
while {$child && [gets stdin argv] >= 0} {
    set child [fork [lindex $argv 1] [lindex $argv 2]]
    if {$child} {
        puts [await $child]
        flush stdout
    }
}
if {$child} {
    exit 0
}

cd [lindex $argv 0]
set argv0 [lindex $argv 3]
set argv [lrange $argv 4 end]
set argc [llength $argv]
unset child
# ns-2 has a `source` of its own for scripts.
if {[catch {source.orig $argv0}]} {
    puts stderr $errorInfo
    exit 1
}
exit 0
