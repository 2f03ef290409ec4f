#ifndef bdpbench_ghstcp_h
#define bdpbench_ghstcp_h

/** Parameters that a script sets; GentleHighSpeed gives units and defaults. */
struct GentleHighSpeedParameters {
	double z_threshold;
	bool returns;
};

/**
 * Correlation of pairs, with sums of products of deviations that each pair
 * updates: times of many seconds that differ by microseconds keep their digits.
 */
class Correlation {
public:
	Correlation() : count_(0), mean_x_(0), mean_y_(0), xx_(0), yy_(0), xy_(0) {}
	void add(double x, double y);
	double count() const { return count_; }
	/**
	 * Fisher's Z, equation (2) of GentleHighSpeed; 0 for fewer than four
	 * pairs, and where all x, or all y to within y_resolution, are equal.
	 */
	double fisher_z(double y_resolution) const;
private:
	double count_, mean_x_, mean_y_;
	double xx_, yy_, xy_;	// sums of products of deviations from the means
};

/**
 * gHSTCP, gentle HighSpeed TCP: HighSpeed TCP that opens cwnd like standard TCP
 * while its round trips grow longer, since the growing queue shows that the
 * bottleneck is fully used. This class chooses between the two modes; ns-2's
 * own code determines how much each adds to cwnd and what a loss leaves
 * (windowOption_ 1 and 8).
 *
 * Z. Zhang, G. Hasegawa, M. Murata, "Performance Analysis and Improvement of
 * HighSpeed TCP with TailDrop/RED Routers", IEICE Transactions on
 * Communications E88-B(6), 2005, section 3.2. d is when a packet departed, t
 * its RTT, N cwnd in packets.
 *
 *   (1) r = sum (d - mean d)(t - mean t) /
 *           sqrt(sum (d - mean d)^2 sum (t - mean t)^2),  over N packets
 *   (2) Z = 1/2 ln((1 + r)/(1 - r)) sqrt(N - 3)
 *   (3) Z > Zt:       Reno mode,       cwnd += 1/cwnd per ACK
 *   (4) otherwise:    HighSpeed mode,  cwnd += a(cwnd)/cwnd per ACK
 *   (5) loss, timeout: HighSpeed mode; cwnd *= 1 - b(cwnd), or 1
 *
 *   paper  here               unit  default  source
 *   Zt     z_threshold        1     3.09     Zhang et al., section 3.2
 *   -      returns            -     true     see below
 *   -      RTT_RESOLUTION_S   s     1e-9     see below
 *
 * Regimes: the modes belong to congestion avoidance; slow start takes no pairs.
 * A batch begins with the first ACK in congestion avoidance, and with the first
 * one after each cut, which ends the previous trend. It ends, is tested and is
 * followed by the next batch when it has as many pairs as cwnd had packets at
 * its beginning, but at least four, which (2) needs. So there is about one test
 * per round trip, and no pair is in two tests, since the test assumes
 * independent pairs.
 *
 * Differs from the paper, or decides what it leaves open:
 *  - (1) the root as printed lacks the second sum; (1) is Pearson's coefficient.
 *  - (4) a later test without a rising trend ends Reno mode, as in the paper's
 *    text; if returns is false, only a loss does, which is another reading of
 *    its last paragraph.
 *  - r = 1 counts as a rising trend, the limit of (2).
 *  - Round trips whose standard deviation is below RTT_RESOLUTION_S count as
 *    equal: such differences are rounding errors of the simulator's clock. A
 *    packet of 1,500 bytes takes 4.8 us at 2.5 Gbit/s.
 *
 * Tcl: see Agent/TCP/Reno/Gentle and Agent/TCP/Sack1/Gentle, ghstcp_agent.h.
 * Invariants: for every input, including NaN and infinities, Z is finite and the
 * mode is one of the two. A pair with a number that is not finite is ignored.
 * Tests: tests/ns2/test_laws.py (ghstcp_test.cc), test_zhang_agents.py.
 */
class GentleHighSpeed {
public:
	explicit GentleHighSpeed(const GentleHighSpeedParameters& parameters);
	/** An ACK of new data in congestion avoidance: when its packet departed, its RTT, cwnd. */
	void acked(double departure_s, double rtt_s, double cwnd_pkts);
	/** A loss, a timeout, or another cut of cwnd: (5). */
	void cut();
	/** Equations (3) and (4): as standard TCP? */
	bool reno_mode() const { return reno_mode_; }
	/** Z of the last test; 0 before the first. */
	double z() const { return z_; }
private:
	void test();

	const GentleHighSpeedParameters parameters_;
	Correlation batch_;
	double batch_pkts_;	// N of the batch
	double z_;
	bool reno_mode_;
};

#endif
