#ifndef bdpbench_gared_h
#define bdpbench_gared_h

/** What a queue sets; units in the table of GentleAdaptiveRed. */
struct GentleAdaptiveRedParameters {
	double min_th;
	double max_th;
	double alpha;
	double beta;
	double top;
};

/**
 * gARED, gentle adaptive RED: RED whose drop probability max_p follows the
 * average queue, as adaptive RED's does, but only while the average moves away
 * from its target, so that max_p does not go on rising, or falling, while the
 * queue is on its way back.
 *
 * Z. Zhang, G. Hasegawa, M. Murata, "Performance Analysis and Improvement of
 * HighSpeed TCP with TailDrop/RED Routers", IEICE Transactions on
 * Communications E88-B(6), 2005, section 4.3. avg is the average queue, old
 * the average before.
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
 * Regimes: within the target, at most min_th, or on the way back to the target
 * max_p stays as it is. There is no lower bound of max_p; (3) never makes it 0.
 *
 * Differs from the paper, or settles what it leaves open: the target of its
 * listing is one name, that of its text a range; here it is the range. When
 * the rule is looked at is the queue's to say, agents/gared_queue.cc.
 *
 * Invariants: for every input, NaN and infinities included, a max_p from 0 to
 * 1 stays there; one that is none becomes the nearest, and a NaN 0.
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
