#ifndef bdpbench_gared_h
#define bdpbench_gared_h

/** Parameters that a queue sets; GentleAdaptiveRed gives their units. */
struct GentleAdaptiveRedParameters {
	double min_th;
	double max_th;
	double alpha;
	double beta;
	double top;
};

/**
 * gARED, gentle adaptive RED: RED whose drop probability max_p follows the
 * average queue, as in adaptive RED, but only while the average moves away from
 * its target. So max_p does not continue to rise, or fall, while the queue is on
 * its way back.
 *
 * Z. Zhang, G. Hasegawa, M. Murata, "Performance Analysis and Improvement of
 * HighSpeed TCP with TailDrop/RED Routers", IEICE Transactions on
 * Communications E88-B(6), 2005, section 4.3. avg is the average queue, old
 * its previous value.
 *
 *   (1) target = min_th + [0.4, 0.6] (max_th - min_th)
 *   (2) avg above target, avg > old, max_p < top:
 *         max_p += min(alpha, max_p/4)
 *   (3) min_th < avg, avg below target, avg < old:
 *         max_p *= beta
 *
 *   paper   here    unit              default  source
 *   min_th  min_th  packets or bytes  -        RED's thresh_
 *   max_th  max_th  packets or bytes  -        RED's maxthresh_
 *   alpha   alpha   1                 0.01     Zhang et al., section 4.3
 *   beta    beta    1                 0.9      the same
 *   top     top     1                 0.5      S. Floyd, R. Gummadi, S.
 *                                              Shenker, "Adaptive RED", 2001
 *
 * Regimes: max_p does not change if the average is within the target, at or
 * below min_th, or on its way back to the target. max_p has no lower bound, but
 * (3) never makes it 0.
 *
 * Differs from the paper, or decides what it leaves open: the target in its
 * listing is a single name, and in its text a range; here it is the range. The
 * queue decides when the rule is checked, agents/gared_queue.cc.
 *
 * Invariants: for every input, including NaN and infinities, a max_p from 0 to
 * 1 stays in this range; any other becomes the nearest value, and a NaN 0.
 * Tests: tests/ns2/test_laws.py (gared_test.cc), test_zhang_agents.py.
 */
class GentleAdaptiveRed {
public:
	explicit GentleAdaptiveRed(const GentleAdaptiveRedParameters& parameters);
	/** max_p after a look at the average queue, the average before, and max_p so far. */
	double max_p(double avg, double old_avg, double max_p) const;
private:
	const GentleAdaptiveRedParameters parameters_;
	double low_, high_;	// ends of the target
};

#endif
