// hstcp_fix_ of Agent/TCP, declared in tcp.h: see patches/variants/highspeed-fix.patch.

#include <stdio.h>

#include "tcp.h"

// Ends ns-2 through Tcl, so that trace files are flushed.
void TcpAgent::check_hstcp_fix()
{
	if (hstcp_fix_ == 1)
		return;
	fprintf(stderr,
		"ns: agent %s: hstcp_fix_ is %d, outside its range of 1 to 1: HighSpeed TCP "
		"without the fix is not part of this ns-2. Set it before `$ns run`.\n",
		name(), hstcp_fix_);
	Tcl_Exit(1);
}
