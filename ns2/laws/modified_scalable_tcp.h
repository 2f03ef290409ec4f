#ifndef bdpbench_modified_scalable_tcp_h
#define bdpbench_modified_scalable_tcp_h

#include "window_law.h"

/**
 * Modified Scalable TCP opens cwnd as standard TCP does, by one packet per
 * RTT, and gives up an eighth of it at a loss, as Scalable TCP does: an AIMD
 * with a shallow cut.
 *
 * J. Xu, "Performance Evaluation of TCP over Optical Channels and
 * Heterogeneous Networks", MS thesis, University of South Florida, 2004,
 * section 3.4.
 *
 *   (1) per ACK:   cwnd += 1/floor(cwnd)           equation 3.2
 *   (2) per loss:  cwnd -= b cwnd                  equation 2.5
 *
 *   paper  here            unit  default  source
 *   b      1 - SHARE_KEPT  1     0.125    Xu 2004, section 2.3 (b is the
 *                                         share removed, SHARE_KEPT what
 *                                         stays)
 *
 * Regimes: it is the same for every window, except that a cut of a window below
 * two packets leaves one packet, not less. It does not use the RTT. Slow start,
 * ssthresh and timeouts belong to the sender: in slow start ns-2 halves cwnd at
 * a loss whatever the law says.
 *
 * Differs from the paper: nothing known.
 *
 * Tcl: no variables; windowOption_ 14.
 * Invariants: those of WindowLaw.
 * Tests: tests/ns2/test_laws.py (modified_scalable_tcp_test.cc).
 */
class ModifiedScalableTcp : public WindowLaw {
public:
	/** Equation (1). */
	virtual double increase(const WindowState& state);
	/** Equation (2). */
	virtual double share_kept(const WindowState& state);
};

#endif
