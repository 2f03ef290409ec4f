// Lines into a Tcl channel.
#ifndef bdpbench_trace_channel_h
#define bdpbench_trace_channel_h

#include <tcl.h>

/*
 * Tcl_Write() of `length` characters, result and all. The characters go at once to the place in the
 * channel's own buffer where Tcl_Write() would put them, so that nothing can tell the difference:
 * not `puts` to the same file, not what a reader of the file has at any time.
 */
int write_to_channel(Tcl_Channel, const char* text, int length);

#endif
