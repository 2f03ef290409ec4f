// Agent/TCP/Reno/Gentle: gHSTCP on ns-2's TCP Reno.

#include "ghstcp_agent.h"

static class GentleRenoClass : public TclClass {
public:
	GentleRenoClass() : TclClass("Agent/TCP/Reno/Gentle") {}
	TclObject* create(int, const char*const*) { return new GentleHighSpeedAgent<RenoTcpAgent>; }
} class_gentle_reno;
