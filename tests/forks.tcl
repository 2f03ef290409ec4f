# Runs scripts in children of one ns-2, each as `ns SCRIPT ARGUMENT...` would run it.
#
# Argument: the library compiled from forking.c. Each line of standard input is a list: folder,
# files for standard output and error, script, and its arguments. The answer is the script's exit
# status.
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
# ns-2 replaces Tcl's `source` by its own, which scripts use.
if {[catch {source.orig $argv0}]} {
    puts stderr $errorInfo
    exit 1
}
exit 0
