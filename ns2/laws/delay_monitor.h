#ifndef bdpbench_delay_monitor_h
#define bdpbench_delay_monitor_h

/**
 * Tells from the round trip times whether the bottleneck is hardly used: BIC
 * and CUBIC then look for bandwidth without their limit on the increase.
 *
 * The idea is in the text of CUBIC (I. Rhee, L. Xu, PFLDnet 2005; here as
 * P. Sharma's thesis (2006) has it, section 4.4.2, item 6): there is little
 * use where the queueing delay is below a tenth of the largest one seen.
 *
 *   (1) low utilization:  mean - min <= threshold * (max - min)
 *
 * min and max are the smallest and largest RTT since the connection began,
 * mean is that of the last whole checking period. The indication stands until
 * the next period ends or a packet is lost, whichever comes first.
 *
 *   here           unit  thesis  source
 *   threshold_     1     0       threshold 0 turns the indication off, as all
 *                                of the thesis's scripts do; its text has 0.1
 *   period_s_      s     2       the scripts
 *
 * Regimes: samples that are not positive and finite are passed over. Without
 * any, all delays are 0 and there is no indication. Where every RTT was the
 * same there never was a queue, which counts as low utilization. Times that
 * run backwards start a new period.
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
	double mean_s_;	// of the last whole period; 0 before one has ended
	double sum_s_;	// over the running period
	int count_;	// in the running period
	double period_start_s_;
	bool low_utilization_;
};

#endif
