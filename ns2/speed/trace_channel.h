// Lines into a Tcl channel.
#ifndef bdpbench_trace_channel_h
#define bdpbench_trace_channel_h

#include <tcl.h>

/*
 * Does what Tcl_Write() of `length` characters does. The characters go directly to the place in the
 * channel's own buffer where Tcl_Write() would put them, so there is no visible difference:
 * neither for `puts` to the same file, nor for a reader of the file at any time.
 */
int write_to_channel(Tcl_Channel, const char* text, int length);

#endif
