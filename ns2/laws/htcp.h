#ifndef bdpbench_htcp_h
#define bdpbench_htcp_h

#include "window_law.h"

/** What a script sets; units and defaults in the table of HTcp. */
struct HTcpParameters {
	double delta_l_s;
	bool rtt_scaling;
	bool adaptive_backoff;
};

/**
 * H-TCP opens cwnd the faster the longer the last loss is ago, in equal time
 * whatever the RTT, and cuts it by what the queue's share of the RTT allows.
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
 *   (6) per ACK, ramping up:         limited slow start, where it is faster
 *   (7) per loss:                    cwnd *= beta, after beta has become
 *         (7a) 1/2 where cwnd/RTTmax has left 0.8 to 1.2 times what it was at
 *              the loss before, and at the next loss after such a one;
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
 * Until the first loss D runs from the first sample of the RTT. RTTmax is the
 * largest sample later than 3 RTTmin after a loss; it rises by at most
 * RTT_RISE_S a sample, so that a single late ACK does not set it, and keeps
 * RTT_MEMORY of its distance from RTTmin at each loss, so that it follows a
 * change of route.
 *
 * Regimes: up to delta_L after a loss it is standard TCP with the increase
 * that fits its beta; there is no RTT scaling in it. Without a sample of the
 * RTT, k is 1, alpha is made anew for each ACK, and a loss halves. Limited
 * slow start (RFC 3742) lasts until the first cut and again after a timeout;
 * the thesis's max_ssthresh_ of 1 packet makes it slower than H-TCP at all
 * times. Below two packets a cut leaves one packet, not less. A timeout is a
 * loss like any other; what it does to cwnd is the sender's.
 *
 * Differs from the paper:
 *  - (4) and (5) are those of the authors' Linux module, which has no
 *    fractions of packets: an ACK opens cwnd before it is counted. In place
 *    of cwnd += alpha/cwnd this loses up to two ACKs an increment, some 5 %
 *    of the growth of the first seconds.
 *  - (8) is ns-2's, as for HighSpeed TCP; the thesis shows it (section
 *    4.6.3.1). (7a) has the same effect at this loss.
 *  - k is limited as the Linux module does; the paper states no limits.
 *
 * Tcl: htcp_delta_l_, from 0 to 1,000 s; htcp_rtt_scaling_ (3) and
 * htcp_adaptive_backoff_ (7), 0 or 1. With htcp_adaptive_backoff_ 0 every
 * loss halves.
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
