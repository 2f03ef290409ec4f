#ifndef bdpbench_smooth_bic_tcp_h
#define bdpbench_smooth_bic_tcp_h

#include "window_law.h"

/** The parameters of SmoothBicTcp, which explains them. */
struct SmoothBicParameters {
	double beta;
	double b;
	double max_increment_pkts;
	double smooth_part;
	bool fast_convergence;
};

/**
 * BIC TCP with the smooth part that Linux has: near the window Wmax at which
 * the last packet was lost, cwnd opens by a fixed B/smooth_part packets per
 * RTT, instead of BicTcp's minimum increment Smin.
 *
 * L. Xu, K. Harfoush, I. Rhee, "Binary Increase Congestion Control (BIC) for
 * Fast Long-Distance Networks", IEEE INFOCOM 2004, section III, in the steps
 * of Linux 2.6 (net/ipv4/tcp_bic.c). d is (Wmax - cwnd)/B.
 *
 *   (1) per ACK, cwnd <= low_window:  cwnd += 1/cwnd
 *   (2) per ACK, below Wmax:          cwnd += min(d, Smax)/cwnd if d >= 2,
 *                                     else cwnd += (B/smooth_part)/cwnd
 *   (3) per ACK, up to Wmax + B:      cwnd += (B/smooth_part)/cwnd
 *   (4) per ACK, beyond it:  cwnd += min((cwnd - Wmax)/(B - 1), Smax)/cwnd
 *   (5) per ACK, Wmax unknown:        cwnd += max((4), 0.05)
 *   (6) per loss, cwnd < Wmax:        Wmax = (1 + beta)/2 * cwnd
 *   (7) per loss, otherwise:          Wmax = cwnd
 *   (8) per loss, cwnd >  low_window: cwnd *= beta
 *   (9) per loss, cwnd <= low_window: cwnd *= 1/2
 *
 *   Linux          here                 unit         default  source
 *   beta/1024      beta                 1            0.8      Even, Li and Leith,
 *                                                             Table II (share kept)
 *   BICTCP_B       b                    1            4        the same
 *   max_increment  max_increment_pkts   packets/RTT  32       the same (Smax)
 *   smooth_part    smooth_part          1            20       the same
 *   low_window     WindowState's        packets      14       the same (low_window_)
 *   -              FIRST_ASCENT_PKTS    packets/ACK  0.05     tcp_bic.c
 *
 * Regimes: Wmax is unknown before the first loss and after a timeout; it is then
 * 0 packets, so that (4) gives the increase. (5) is for a path without limits.
 * (6) is fast convergence, which can be turned off. Below two
 * packets a cut leaves one packet, not less.
 *
 * Differs from Linux:
 *  - numbers are real; Linux rounds d down to whole packets, and the number of
 *    ACKs between increments down to whole ACKs. Linux's smooth part, d of 1
 *    packet or less, is d < 2 here.
 *  - each ACK counts as one packet; Linux counts how many packets an ACK
 *    acknowledges (delayed_ack), which has the same effect.
 *  - Linux has beta in units of 1/1024: 819 of them are 0.7998.
 *
 * Tcl: smooth_bic_beta_ (0.01 to 0.99), smooth_bic_B_ (2 to 1,000),
 * smooth_bic_max_increment_ (0 to 1,000,000 packets per RTT),
 * smooth_bic_smooth_part_ (0.001 to 1,000,000), smooth_bic_fast_convergence_
 * (0 off, else on).
 * Invariants: those of WindowLaw.
 * Tests: tests/ns2/test_laws.py (smooth_bic_tcp_test.cc).
 */
class SmoothBicTcp : public WindowLaw {
public:
	explicit SmoothBicTcp(const SmoothBicParameters& parameters);
	/** Equations (1) to (5). */
	virtual double increase(const WindowState& state);
	/** Equations (6) to (9). */
	virtual double share_kept(const WindowState& state);
private:
	double increase_per_rtt(double cwnd_pkts) const;

	SmoothBicParameters p_;
	double max_pkts_;	// Wmax; 0: unknown
};

#endif
