// hstcp_fix_ of Agent/TCP, declared in tcp.h: see patches/variants/highspeed-fix.patch.

#include "law_parameter.h"
#include "tcp.h"

void TcpAgent::check_hstcp_fix()
{
	// It is unknown what 0 did, so there is no other choice.
	const LawParameter parameter = {"hstcp_fix_", 1, 1, "(HighSpeed TCP with the fix)"};
	require_in_range(name(), parameter, hstcp_fix_);
}
