// hstcp_fix_ of Agent/TCP, declared in tcp.h: see patches/variants/highspeed-fix.patch.

#include "law_parameter.h"
#include "tcp.h"

void TcpAgent::check_hstcp_fix()
{
	// What 0 did is not known, so there is nothing else to choose.
	const LawParameter parameter = {"hstcp_fix_", 1, 1, "(HighSpeed TCP with the fix)"};
	require_in_range(name(), parameter, hstcp_fix_);
}
