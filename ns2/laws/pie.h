#ifndef bdpbench_pie_h
#define bdpbench_pie_h

/** PIE's parameters, by the names of RFC 8033, section 4 and 5. */
struct PieParameters {
	double target_s;	// QDELAY_REF
	double update_s;	// T_UPDATE
	double burst_s;		// MAX_BURST
	double alpha_hz;
	double beta_hz;
	double packet_bytes;	// MEAN_PKTSIZE
	double mark_share;	// MARK_ECNTH: above it even packets that could be marked are dropped
};

/**
 * PIE (RFC 8033): drops or marks packets on their arrival with a probability that follows the
 * queueing delay and its change. The delay is the queue over the rate at which it departs.
 */
class Pie {
public:
	enum Fate { KEEP, MARK, DROP };

	explicit Pie(const PieParameters& parameters);

	/** A packet arrives at a queue of `bytes`; `random` is uniform from 0 to 1. */
	Fate arrival(double bytes, double now_s, bool can_be_marked, double random);

	/** A packet of `size_bytes` has left, and `bytes` are still in the queue. */
	void departure(double size_bytes, double bytes, double now_s);

	double probability() const { return probability_; }
	double delay_s() const { return delay_s_; }
	double burst_s() const { return burst_s_; }

private:
	void update_until(double bytes, double now_s);
	void update(double bytes);
	double change(double delay_s) const;
	bool drops(double bytes, double random);

	PieParameters parameters_;
	double next_update_s_;	// -1 before the first packet
	double probability_;
	double delay_s_;	// at the last update
	double burst_s_;	// what is left of a burst that passes
	double accumulated_;	// of the probability, since the last drop
	double measured_bytes_;	// departed since a measurement began; -1 if there is none
	double began_s_;
	double bytes_per_s_;	// 0 until it has been measured
};

#endif
