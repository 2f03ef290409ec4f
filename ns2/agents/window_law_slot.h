#ifndef bdpbench_window_law_slot_h
#define bdpbench_window_law_slot_h

// tcp.h includes this file, so it must not include standard C++ headers, which
// change the meaning of min and max in ns-2's sources.
#include "window_law.h"

struct WindowLawEntry;

/**
 * A TcpAgent's part of the window laws: the Tcl variables of all of them,
 * parameters to set and observations to read, and the law that its
 * windowOption_ selects.
 *
 * Parameters are read when the agent is reset (at `new` and at `$ns run`), as
 * ns-2 reads those of HighSpeed TCP.
 */
class WindowLawSlot {
public:
	WindowLawSlot();
	~WindowLawSlot();

	/** Number of variables to bind, of all laws together. */
	static int parameter_count();
	/** Tcl name of variable i. */
	static const char* parameter_name(int i);
	/** Where variable i is kept. */
	double* value(int i) { return &values_[i]; }

	/** Does ns-2 itself implement this windowOption_? */
	static bool is_stock(int option);
	/**
	 * Takes up the law of windowOption_, none for a stock option. Stops ns-2
	 * with a message that names `agent` where no law has that number, or a
	 * parameter or the payload of its packets is out of its range.
	 */
	void reset(int option, const char* agent, int packet_bytes);
	/** The law of windowOption_, taken up now where the script changed it. */
	WindowLaw& law(int option, const char* agent, int packet_bytes);
	/** Tells the law of windowOption_ a round trip and brings its observations up to date. */
	void rtt_sample(int option, const char* agent, int packet_bytes, double rtt_s, double now_s);
private:
	WindowLawSlot(const WindowLawSlot&);
	WindowLawSlot& operator=(const WindowLawSlot&);

	void take_up(const WindowLawEntry& entry, double* values, const char* agent);

	double* values_;	// law after law: its parameters, then its observations
	double* observed_;	// the first one of law_
	WindowLaw* law_;
	int option_;	// the one of law_
};

#endif
