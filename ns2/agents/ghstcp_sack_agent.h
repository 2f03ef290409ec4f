// Agent/TCP/Sack1/Gentle: gHSTCP on ns-2's TCP with SACK. Included at the end of tcp/tcp-sack1.cc
// and nowhere else: ns-2 declares Sack1TcpAgent in that file.

#include "ghstcp_agent.h"

static class GentleSackClass : public TclClass {
public:
	GentleSackClass() : TclClass("Agent/TCP/Sack1/Gentle") {}
	TclObject* create(int, const char*const*) { return new GentleHighSpeedAgent<Sack1TcpAgent>; }
} class_gentle_sack;
