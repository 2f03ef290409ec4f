// The plain line of a packet trace.
#ifndef bdpbench_trace_line_h
#define bdpbench_trace_line_h

#include "packet.h"

/*
 * "+ 1.84375 0 2 cbr 210 ------- 0 0.0 3.1 225 610": event, time (s), nodes, and the packet's type,
 * size (bytes), flags, flow, source, destination, sequence number and unique number.
 *
 * From the type to the destination packets of a flow and direction have the same words most of the
 * time, and lines of one event the same time: both are kept.
 */
class TraceLine {
public:
	// Writes the line of the time now, ended by 0, to text, of 512 characters, and returns its
	// length. 0, and nothing written, where the words are longer than can be kept or the line
	// would be none (event 0, a type without a name).
	static int write(char* text, char event, int from, int to, Packet*);
	// To be called when addresses get another form.
	static void forget_addresses();
};

#endif
