# Parts that extend a script which has no place for them. The statements of network.tcl count for
# the ids of all its runs, so it must not contain code that only a few runs need.
#
# Such a script reads its arguments when all of its own parts are there and nothing has been made.
# Parts that were sourced before it then extend it, each by a procedure that it has registered.

namespace eval ::further {
    # Procedures to call, in this order.
    variable joining {}
    # Procedure -> the one that it replaces.
    array set inner {}
}

# Call a procedure as soon as the script reads its arguments.
proc ::further::at_arguments {procedure} {
    variable joining
    if {$joining eq {}} {
        trace add variable ::argv read ::further::join_now
    }
    lappend joining $procedure
}

proc ::further::join_now {args} {
    variable joining
    trace remove variable ::argv read ::further::join_now
    foreach procedure $joining {
        $procedure
    }
}

# Replace a procedure by another, which can call it as [::further::inner <its own name>]. The
# replaced procedure stays in its namespace.
proc ::further::wrap {name by} {
    variable inner
    set inner($by) ${name}_within_[namespace tail [namespace qualifiers $by]]
    rename $name $inner($by)
    interp alias {} $name {} $by
}

proc ::further::inner {by} {
    variable inner
    return $inner($by)
}
