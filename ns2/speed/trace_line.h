// The plain line of a packet trace.
#ifndef bdpbench_trace_line_h
#define bdpbench_trace_line_h

#include "packet.h"

/*
 * "+ 1.84375 0 2 cbr 210 ------- 0 0.0 3.1 225 610": event, time (s), nodes, and the packet's type,
 * size (bytes), flags, flow, source, destination, sequence number and unique number.
 *
 * Packets of one flow and direction mostly have the same words from type to destination, and lines
 * of one event have the same time, so both are cached.
 */
class TraceLine {
public:
	// Writes the line with the time now and a terminating 0 to text, which has 512 characters,
	// and returns its length. Returns 0 and writes nothing if the words are too long to be
	// cached, or if there is no line to write (event 0, a type without a name).
	static int write(char* text, char event, int from, int to, Packet*);
	// Call this when the form of addresses changes.
	static void forget_addresses();
};

#endif
