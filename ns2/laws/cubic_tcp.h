#ifndef bdpbench_cubic_tcp_h
#define bdpbench_cubic_tcp_h

#include "delay_monitor.h"
#include "window_law.h"

/** The parameters of CubicTcp, which explains them. */
struct CubicParameters {
	double beta;
	double max_increment_pkts;
	bool fast_convergence;
	double scale;
	bool tcp_friendliness;
	double low_utilization_threshold;
	double low_utilization_period_s;
};

/**
 * CUBIC of 2005: cwnd follows a cubic function of the time since the last
 * loss, flat around the window Wmax at which that loss occurred. Its growth
 * does not depend on the RTT.
 *
 * I. Rhee, L. Xu, "CUBIC: A New TCP-Friendly High-Speed TCP Variant",
 * PFLDnet 2005; here as P. Sharma's thesis (2006) used it, section 4.4.1 and
 * Appendices A to H.
 *
 *   (1) target = origin + C * (t + RTTmin - K)^3
 *   (2) origin = Wmax, K = ((Wmax - cwnd)/C)^(1/3)   at t = 0, cwnd < Wmax
 *   (3) origin = cwnd, K = 0                         at t = 0, otherwise
 *   (4) Wtcp  += 3*(1 - beta)/(1 + beta)/cwnd        per ACK, from cwnd
 *   (5) per ACK:  cwnd += max(min((target - cwnd)/cwnd, Smax*RTTmin/cwnd),
 *                             (Wtcp - cwnd)/cwnd, 0)
 *   (6) per ACK, Wmax unknown:  (5) without Smax
 *   (7) per loss, cwnd < Wmax:  Wmax = (1 + beta)/2 * cwnd  (fast convergence)
 *   (8) per loss, otherwise:    Wmax = cwnd
 *   (9) per loss:               cwnd *= beta
 *
 *   paper  here                  unit         default  source
 *   beta   beta                  1            0.8      thesis, appendices (the
 *                                                      share kept)
 *   C      scale                 packets/s^3  0.4      paper; thesis
 *   Smax   max_increment_pkts/   packets/s    80       16 in the appendices;
 *          SMAX_PERIOD_S                               see below
 *   RTTmin DelayMonitor's        s            -        minimum RTT so far
 *
 * t is the time since the first ACK after the loss that opens cwnd; before the
 * first loss, since the end of slow start. It takes one cube root per loss, and
 * none per ACK.
 *
 * Regimes: Wmax is unknown before the first loss and after a timeout. With
 * cubic_low_utilization_threshold_ above 0, Smax does not apply beyond Wmax
 * while DelayMonitor indicates low utilization. One ACK adds at most one
 * packet, as in slow start, however far the target is. Without an RTT sample
 * RTTmin is 0, and after a loss only Wtcp opens cwnd. low_window_ is not used.
 * Below two packets a cut leaves one packet, not less.
 *
 * Differs from the paper:
 *  - (1) looks one RTTmin ahead: cwnd reaches the target a round trip later.
 *  - (4) counts ACKs instead of the paper's beta*Wmax + 3(1-beta)/(1+beta) *
 *    t/RTT. Both are equal at a constant RTT, and (4) never needs an RTT.
 *  - (5) Smax: the paper's 160 packets/s are 16 in 0.1 s, and 16 is what the
 *    scripts set. The published time to recover from a single loss, 104.01 s,
 *    requires 80 packets/s (160 would give some 60 s), which is why
 *    cubic_max_increment_ counts packets per 0.2 s here.
 *  - (6) the published 26.55 s of the first ascent are those of the bare cubic,
 *    without Smax and without limited slow start. Unlike ns-2's own laws it
 *    does not halve at the first loss.
 *
 * Tcl: cubic_beta_ (0.01 to 0.99), cubic_max_increment_ (0 to 1,000,000 packets
 * per 0.2 s), cubic_fast_convergence_ and cubic_tcp_friendliness_ (0 off, else
 * on), cubic_scale_ (0.000001 to 1,000,000 packets/s^3),
 * cubic_low_utilization_threshold_ (0 off, to 1),
 * cubic_low_utilization_checking_period_ (0.001 to 1,000,000 s). Read-only:
 * cubic_delay_min_, cubic_delay_avg_, cubic_delay_max_ (s),
 * cubic_low_utilization_indication_ (0 or 1).
 * Invariants: those of WindowLaw.
 * Tests: tests/ns2/test_laws.py (cubic_tcp_test.cc).
 */
class CubicTcp : public WindowLaw {
public:
	explicit CubicTcp(const CubicParameters& parameters);
	/** Equations (1) to (6). */
	virtual double increase(const WindowState& state);
	/** Equations (7) to (9). */
	virtual double share_kept(const WindowState& state);
	virtual void rtt_sample(double rtt_s, double now_s);
	virtual void observe(double* values) const;
private:
	void start_epoch(double cwnd_pkts, double now_s);
	double target_pkts(double now_s) const;
	double limit_pkts(double cwnd_pkts) const;

	CubicParameters p_;
	DelayMonitor delay_;
	double friendly_slope_;	// of Wtcp, packets per RTT
	double max_pkts_;	// Wmax; 0: unknown
	bool in_epoch_;	// an ACK has opened cwnd since the last cut
	double epoch_start_s_;
	double origin_pkts_;
	double k_s_;
	double friendly_pkts_;	// Wtcp
};

#endif
