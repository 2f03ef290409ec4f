# All routes of random networks; costs of few values make many paths equally long.
set random 1
proc draw {below} {
    global random
    set random [expr {($random * 69069 + 1) % 4294967296}]
    expr {$random / 65536 % $below}
}
foreach {nodes links costs} {
    12 20 {1} 30 60 {1} 30 90 {1 2} 40 200 {0 1 2} 25 60 {0.25 0.5 1.75} 25 30 {1 16383 20000}
    20 60 {1 2 -1} 60 90 {1}
} {
    set logic [new RouteLogic]
    for {set i 0} {$i < $links} {incr i} {
        set cost [lindex $costs [draw [llength $costs]]]
        $logic insert [draw $nodes] [draw $nodes] $cost
    }
    $logic insert [expr {$nodes - 1}] 0 1
    $logic compute
    for {set i 0} {$i < $nodes} {incr i} {
        set row {}
        for {set j 0} {$j < $nodes} {incr j} {
            lappend row [$logic cmd lookup $i $j]
        }
        puts $row
    }
}
