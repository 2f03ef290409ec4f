#ifndef bdpbench_htcp_h
#define bdpbench_htcp_h

#include "window_law.h"

/** Parameters that a script sets; HTcp gives units and defaults. */
struct HTcpParameters {
	double delta_l_s;
	bool rtt_scaling;
	bool adaptive_backoff;
};

/**
 * H-TCP opens cwnd faster the longer the last loss was ago, at the same pace for
 * all RTTs, and cuts it according to the queue's share of the RTT.
 *
 * D. Leith, R. Shorten, "H-TCP: TCP for High-speed and Long-distance
 * Networks", PFLDnet 2004, section 2; here as P. Sharma's thesis (2006) used
 * it, section 4.6.1. D is the time since the last loss, d = D - delta_L.
 *
 *   (1) once per RTT, D <= delta_L:  alpha = 2 (1 - beta)
 *   (2) once per RTT, D >  delta_L:  alpha = 2 (1 - beta) k (1 + 10 d + d^2/4)
 *   (3) k = RTTmin / RTTref, within [0.1, 2]; 1 without RTT scaling
 *   (4) per ACK, n alpha >= cwnd:    cwnd += 1, n = 0
 *   (5) per ACK, n alpha <  cwnd:    n += 1
 *   (6) per ACK, ramping up:         limited slow start, if it is faster
 *   (7) per loss:                    cwnd *= beta, after beta has become
 *         (7a) 1/2 if cwnd/RTTmax is outside 0.8 to 1.2 times its value at the
 *              previous loss, and at the next loss after such a one;
 *         (7b) RTTmin / RTTmax, within [0.5, 0.8], otherwise
 *   (8) first loss:                  cwnd *= 1/2
 *
 *   paper    here                unit  default  source
 *   delta_L  delta_l_s           s     1        Leith & Shorten 2004
 *   RTTref   RTT_REFERENCE_S     s     0.1      the authors' Linux module
 *   k        SCALE_MIN, _MAX     1     0.1, 2   the same
 *   beta     BETA_MIN, BETA_MAX  1     0.5 0.8  Leith & Shorten 2004
 *            STEADY_CHANGE       1     0.2      the same (Delta_B)
 *   RTTmax   RTT_RISE_S          s     0.02     the authors' Linux module
 *            RTT_MEMORY          1     0.95     the same
 *
 * Until the first loss D starts at the first RTT sample. RTTmax is the largest
 * sample later than 3 RTTmin after a loss. It rises by at most RTT_RISE_S per
 * sample, so that a single late ACK does not determine it. At each loss it keeps
 * RTT_MEMORY of its distance from RTTmin, so that it adapts to a change of
 * route.
 *
 * Regimes: up to delta_L after a loss it is standard TCP with an increase that
 * matches its beta, without RTT scaling. Without an RTT sample, k is 1, alpha is
 * recomputed for each ACK, and a loss halves cwnd. Limited slow start (RFC 3742)
 * lasts until the first cut and again after a timeout; the thesis's
 * max_ssthresh_ of 1 packet makes it always slower than H-TCP. Below two packets
 * a cut leaves one packet, not less. A timeout is a loss like any other; the
 * sender decides what it does to cwnd.
 *
 * Differs from the paper:
 *  - (4) and (5) are those of the authors' Linux module, which has no
 *    fractions of packets: an ACK opens cwnd before it is counted. Compared
 *    with cwnd += alpha/cwnd this loses up to two ACKs per increment, about 5 %
 *    of the growth in the first seconds.
 *  - (8) is ns-2's rule, as for HighSpeed TCP; the thesis shows it (section
 *    4.6.3.1). (7a) has the same effect at this loss.
 *  - k is limited as in the Linux module; the paper states no limits.
 *
 * Tcl: htcp_delta_l_, from 0 to 1,000 s; htcp_rtt_scaling_ (3) and
 * htcp_adaptive_backoff_ (7), 0 or 1. With htcp_adaptive_backoff_ 0 every
 * loss halves cwnd.
 * Invariants: those of WindowLaw.
 * Tests: tests/ns2/test_laws.py (htcp_test.cc), test_htcp_fast_agents.py.
 */
class HTcp : public WindowLaw {
public:
	explicit HTcp(const HTcpParameters& parameters);
	/** Equations (1) to (6). */
	virtual double increase(const WindowState& state);
	/** Equations (7) and (8). */
	virtual double share_kept(const WindowState& state);
	/** Keeps RTT, RTTmin and RTTmax. A sample that is not above 0 is ignored. */
	virtual void rtt_sample(double rtt_s, double now_s);
private:
	double alpha(double now_s) const;
	double rtt_scale() const;
	double next_beta(double cwnd);
	bool steady(double cwnd);

	const HTcpParameters parameters_;
	double rtt_s_, rtt_min_s_, rtt_max_s_;	// 0 before the first sample
	double last_loss_s_;
	double beta_;
	double alpha_, alpha_until_s_;
	double acks_;				// n of (4) and (5)
	double throughput_;			// packets/s at the last loss
	bool was_steady_;			// at the last loss
};

#endif
