#ifndef bdpbench_codel_h
#define bdpbench_codel_h

/** CoDel's parameters (RFC 8289, section 4.2), and the largest packet: less than that never drops. */
struct CoDelParameters {
	double target_s;
	double interval_s;
	double packet_bytes;
};

/**
 * CoDel (RFC 8289): drops or marks packets at their departure when the time that each of them has
 * waited was above the target for a whole interval, and then ever more often, by the square root
 * of their number, until it is below.
 */
class CoDel {
public:
	explicit CoDel(const CoDelParameters& parameters);

	/**
	 * Whether to drop the packet that is about to leave.
	 * @param waited_s how long it has been in the queue
	 * @param bytes_behind bytes of the queue without it
	 */
	bool drops(double waited_s, double now_s, double bytes_behind);

	/** The packet that was to be dropped has been marked and leaves. */
	void marked_instead();

	/** The queue was empty when a packet should have left. */
	void found_empty();

	bool dropping() const { return dropping_; }
	int count() const { return count_; }

private:
	bool stays_above(double waited_s, double now_s, double bytes_behind);
	double next(double from_s) const;
	void begin(double now_s);

	CoDelParameters parameters_;
	double first_above_s_;	// when it will have been above for an interval; 0 while it is below
	double drop_next_s_;
	int count_;		// drops since this state of dropping began
	int last_count_;	// of the state before, when it began
	bool dropping_;
	bool settling_;		// one has been dropped, and the next packet decides how to go on
	bool entered_;		// that was the first one, and the next packet leaves in any case
};

#endif
