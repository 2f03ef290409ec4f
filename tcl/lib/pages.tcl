# The pages of background of kind web, recorded like its objects. It extends web.tcl through
# further.tcl.
#
#   -background.<i>.record_pages 0   1: record its pages in pages.out and in the transfers
#
#   pages.out    one line for each completed page: subject, its number, start, end, objects,
#                and bytes, in the order of the ends
#
# A page starts with the request of its first object and is complete with the last acknowledgement
# of its last object. ns-2 does not report how many objects a page has, so this number is drawn
# here, from a separate stream, and given to ns-2 as a constant.

namespace eval ::pages {
    variable file ""
    # The source that is being made, if it records its pages; the variable of its page_objects.
    variable source {}
    variable objects ""
}
::further::at_arguments ::pages::join_script

proc ::pages::join_script {} {
    dict lappend ::background::kind_keys web {record_pages bit "" 0}
    ::further::wrap ::recorder::expect_transfers ::pages::expect_transfers
    ::further::wrap ::web::add ::pages::add
    ::further::wrap ::web::note_objects ::pages::note_objects
    ::further::wrap ::web::draws ::pages::draws
}

# The file of pages is beside that of transfers.
proc ::pages::expect_transfers {datadir} {
    variable folder $datadir
    [::further::inner ::pages::expect_transfers] $datadir
}

proc ::pages::add {index fid made} {
    variable source [expr {[dict get $made record_pages] ? $made : {}}]
    [::further::inner ::pages::add] $index $fid $made
}

# The random variable of a quantity. All sessions of a source that records its pages share the one
# of page_objects, which always has the number for the next page that starts.
proc ::pages::draws {made name args} {
    variable source
    variable objects
    if {$source ne {} && $name eq "page_objects"} {
        return $objects
    }
    return [[::further::inner ::pages::draws] $made $name {*}$args]
}

# Record the pages of a source that asks for it, in addition to its objects.
proc ::pages::note_objects {pool subject segment_bytes} {
    variable source
    variable objects
    variable folder
    variable file
    [::further::inner ::pages::note_objects] $pool $subject $segment_bytes
    if {$source eq {}} {
        return
    }
    if {$file eq ""} {
        set file [::recorder::opened $folder/pages.out]
    }
    set drawn [[::further::inner ::pages::draws] $source page_objects _mean 1]
    $drawn use-rng [::random::stream pages]
    set objects [new RandomVariable/Constant]
    $pool class PagePool/WebTraf/Pages
    $pool set drawn_ $drawn
    $pool set next_ $objects
    $pool draw_next
    # A session that ends would delete the variable, which all sessions share.
    $pool set recycle_page_ 0
}

# A pool that records its pages: page -> start, its objects, those that are complete, segments.
Class PagePool/WebTraf/Pages -superclass PagePool/WebTraf

PagePool/WebTraf/Pages instproc launch-req {id page client server tcp sink size} {
    $self instvar start_ has_ done_ segments_ next_
    if {![info exists start_($page)]} {
        set start_($page) [[Simulator instance] now]
        set has_($page) [expr {int([$next_ set val_])}]
        set done_($page) 0
        set segments_($page) 0
        $self draw_next
    }
    incr segments_($page) $size
    $self next $id $page $client $server $tcp $sink $size
}

PagePool/WebTraf/Pages instproc doneObj {page} {
    $self instvar start_ has_ done_ segments_ subject_ segment_bytes_
    if {[incr done_($page)] == $has_($page)} {
        ::pages::write $subject_ $page $start_($page) $has_($page) \
            [expr {$segments_($page) * $segment_bytes_}]
        unset start_($page) has_($page) done_($page) segments_($page)
    }
    $self cmd doneObj $page
}

# Draw the number of objects of the next page that starts.
PagePool/WebTraf/Pages instproc draw_next {} {
    $self instvar next_ drawn_
    $next_ set val_ [expr {int(ceil([$drawn_ value]))}]
}

# Write a page that is complete now.
proc ::pages::write {subject page start_s objects bytes} {
    global ns
    variable file
    puts $file "$subject $page [format %.6f $start_s] [format %.6f [$ns now]] $objects $bytes"
    ::recorder::transfer page $subject $start_s $bytes
}
