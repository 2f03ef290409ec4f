#ifndef bdpbench_proportional_reduction_h
#define bdpbench_proportional_reduction_h

/**
 * Proportional rate reduction (RFC 9937): how many packets may be in flight while a
 * sender goes from what it had in flight down to its new cwnd. It sends cwnd/flight packets for
 * each that arrives, neither pausing for half a round trip nor sending a burst for all that was lost.
 */
class ProportionalReduction {
public:
	ProportionalReduction() : active_(false), flight_(0), delivered_(0), sent_(0), window_(0) {}

	/** A cut: so many packets were in flight before the acknowledgement that caused it. */
	void begin(double flight_pkts);
	void end() { active_ = false; }
	bool active() const { return active_; }

	/**
	 * Each acknowledgement from the first of a reduction on, but for the one that ends it.
	 * @param arrived  packets that it acknowledges for the first time
	 * @param in_flight  packets in flight after it
	 * @param cwnd  whole packets that the reduction leads to
	 * @param good_progress  it acknowledges more by number and tells no further loss
	 */
	void acknowledged(double arrived, double in_flight, double cwnd, bool good_progress);

	/** A packet has left, for the first time or again. */
	void sent() { sent_++; }

	/** Packets that may be in flight until the next acknowledgement. */
	double window_pkts() const { return window_; }

private:
	bool active_;
	double flight_;
	double delivered_;
	double sent_;
	double window_;
};

#endif
