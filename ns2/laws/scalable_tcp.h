#ifndef bdpbench_scalable_tcp_h
#define bdpbench_scalable_tcp_h

#include "window_law.h"

/**
 * Scalable TCP opens cwnd by a constant per ACK and cuts it by a constant
 * share, so that the time to recover from a loss does not depend on the
 * window: cwnd is multiplied by 1.01 per RTT and by 0.875 per loss.
 *
 * T. Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area
 * Networks", ACM SIGCOMM Computer Communication Review 33(2), April 2003,
 * pp. 83-91; here as P. Sharma's thesis (2006) used it, section 4.2.1.
 *
 *   (1) per ACK,  cwnd >  lwnd:  cwnd += a
 *   (2) per ACK,  cwnd <= lwnd:  cwnd += 1/cwnd
 *   (3) per ACK,  ramping up:    cwnd += max((1) or (2), limited slow start)
 *   (4) per loss, cwnd >  lwnd:  cwnd *= 1 - b
 *   (5) per loss, cwnd <= lwnd:  cwnd *= 1/2
 *   (6) first loss:              cwnd *= 1/2
 *
 *   paper  here             unit     default  source
 *   a      INCREASE_PKTS    packets  0.01     Kelly 2003
 *   b      1 - SHARE_KEPT   1        0.125    Kelly 2003 (b is the share
 *                                             removed, SHARE_KEPT what stays)
 *   lwnd   lwnd_pkts_       packets  16       Kelly 2003; LowWindow in
 *                                             the thesis
 *
 * Regimes: at the threshold itself, cwnd = lwnd, it is standard TCP. Limited
 * slow start (RFC 3742) lasts until the first cut and again after a timeout.
 * Below two packets a cut leaves one packet, not less. It does not use the
 * RTT; ssthresh and timeouts belong to the sender.
 *
 * Differs from the paper:
 *  - (3) is ns-2's rule for windows of thousands of packets. Without it the
 *    first ascent would grow by 1 % per RTT from max_ssthresh on and take about
 *    43 s instead of 14 s to fill 622 Mbit/s at 100 ms.
 *  - (6) is ns-2's rule, which halves at the first loss whatever the factor; the
 *    thesis shows it (section 4.2.3.1). It is one deeper cut per connection.
 *
 * Tcl: scalable_lwnd_, from 1 to 1,000,000 packets.
 * Invariants: those of WindowLaw.
 * Tests: tests/ns2/test_laws.py (scalable_tcp_test.cc).
 */
class ScalableTcp : public WindowLaw {
public:
	explicit ScalableTcp(double lwnd_pkts) : lwnd_pkts_(lwnd_pkts) {}
	/** Equations (1) to (3). */
	virtual double increase(const WindowState& state);
	/** Equations (4) to (6). */
	virtual double share_kept(const WindowState& state);
private:
	double lwnd_pkts_;
};

#endif
