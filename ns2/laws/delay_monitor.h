#ifndef bdpbench_delay_monitor_h
#define bdpbench_delay_monitor_h

/**
 * Detects from the round trip times that the bottleneck is hardly used; BIC and
 * CUBIC then increase cwnd without their limit.
 *
 * The idea is described for CUBIC (I. Rhee, L. Xu, PFLDnet 2005; here as in
 * P. Sharma's thesis (2006), section 4.4.2, item 6): utilization is low if the
 * queueing delay is below a tenth of its maximum so far.
 *
 *   (1) low utilization:  mean - min <= threshold * (max - min)
 *
 * min and max are the minimum and maximum RTT since the connection began, and
 * mean is that of the last complete checking period. The indication lasts until
 * the next period ends or a packet is lost, whichever comes first.
 *
 *   here           unit  thesis  source
 *   threshold_     1     0       0 turns the indication off, as all of the
 *                                thesis's scripts do; its text has 0.1
 *   period_s_      s     2       the scripts
 *
 * Regimes: samples that are not positive and finite are ignored. Without any
 * sample, all delays are 0 and there is no indication. If all RTTs are equal,
 * there never was a queue, which counts as low utilization. Times that run
 * backwards start a new period.
 */
class DelayMonitor {
public:
	DelayMonitor(double threshold, double period_s);
	/** A round trip was measured. */
	void sample(double rtt_s, double now_s);
	/** A packet was lost: there is no low utilization now. */
	void loss();
	/** Equation (1) held at the end of the last period. */
	bool low_utilization() const { return low_utilization_; }
	/** Smallest RTT, s; 0 before the first sample. */
	double min_s() const { return min_s_; }
	/** Largest RTT, s; 0 before the first sample. */
	double max_s() const { return max_s_; }
	/** Mean RTT of the last whole period, of the first one so far before it ends, s. */
	double mean_s() const;
	/** Writes min, mean, max (s) and the indication (0 or 1) to values[0..3]. */
	void observe(double* values) const;
private:
	void end_period(double now_s);

	double threshold_;
	double period_s_;
	double min_s_;
	double max_s_;
	double mean_s_;	// of the last complete period; 0 before that
	double sum_s_;	// over the current period
	int count_;	// in the current period
	double period_start_s_;
	bool low_utilization_;
};

#endif
