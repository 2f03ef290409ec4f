// The plain line of a packet trace.
#ifndef bdpbench_trace_line_h
#define bdpbench_trace_line_h

#include <tcl.h>
#include "packet.h"

/*
 * The words for the nodes of a link, " 0 1 ", kept until a trace object gets other nodes.
 */
struct TraceNodes {
	TraceNodes() : from(0), to(0), length(0) {}
	int from, to;
	int length;	// 0: no words are kept
	char text[32];
};

/*
 * "+ 1.84375 0 2 cbr 210 ------- 0 0.0 3.1 225 610": event, time (s), nodes, and the packet's type,
 * size (bytes), flags, flow, source, destination, sequence number and unique number.
 *
 * Packets of one flow and direction mostly have the same words from type to destination, which are
 * cached.
 */
class TraceLine {
public:
	enum { room = 256 };	// characters; more than a line and what is overwritten behind it

	// Writes the line with the time now and a terminating 0 to text and returns its length.
	// Returns 0 if the words are too long to be cached, or if there is no line to write (event 0,
	// a type without a name); text may have changed then.
	static int write(char* text, char event, int from, int to, Packet*, int seqno,
		TraceNodes&);
	// As write(), but nam's line with the time as it is and the name of an SRM message.
	static int write_nam(char* text, char event, int from, int to, Packet*, int seqno,
		const char* message);
	// As write(), and an end of line, to where the channel's next characters go. False if
	// Tcl_Write() has to write them there; nothing has changed then.
	static bool write_to(Tcl_Channel, char event, int from, int to, Packet*, int seqno,
		TraceNodes&);
	// Call this when the form of addresses changes.
	static void forget_addresses();
	// Changes with the form of addresses; never 0.
	static unsigned address_form();
};

#endif
