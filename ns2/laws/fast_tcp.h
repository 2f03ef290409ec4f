#ifndef bdpbench_fast_tcp_h
#define bdpbench_fast_tcp_h

#include <deque>

/** Parameters that a script sets; FastTcp gives units and defaults. */
struct FastTcpParameters {
	double alpha_pkts;
	double beta_pkts;
	double gamma;
	double mi_threshold_s;
	double update_period_s;
	bool every_other_rtt;
};

/** An ACK of new data outside loss recovery. */
struct FastTcpAck {
	/** Simulated time. */
	double now_s;
	/** Round trip time that this ACK measured; none if not above 0. */
	double rtt_s;
	/** Congestion window now. */
	double cwnd_pkts;
	/** Packets sent and not acknowledged yet. */
	double in_flight_pkts;
	/** Number of the newest packet that it acknowledges. */
	int seqno;
};

/**
 * FAST TCP opens and shrinks cwnd so that `alpha` of its own packets wait in
 * the queues of the path, which it infers from how far the RTT is above its
 * minimum.
 *
 * C. Jin, D. Wei, S. Low, "FAST TCP: Motivation, Architecture, Algorithms,
 * Performance", IEEE INFOCOM 2004, section IV; in the steps of its authors'
 * ns-2 module of 2005/06 (University of Melbourne, CUBIN), which P. Sharma's
 * thesis (2006) used, section 4.5.1. w is cwnd, and w' the packets in flight
 * when the packet now acknowledged was sent, one RTT ago.
 *
 *   (1) per ACK:  baseRTT = min(baseRTT, RTT)
 *   (2) per ACK:  avgRTT += (RTT - avgRTT) / max(256, in flight / 3)
 *   (3) per ACK,  avgRTT - baseRTT <  mi_threshold:  w += 1
 *   (4) per update period, avgRTT - baseRTT >= mi_threshold:
 *         w -> min(2w, (1 - gamma) w + gamma (w' baseRTT/avgRTT + alpha))
 *         unless q = w' (1 - baseRTT/avgRTT) lies in [alpha, beta)
 *   (5) an increase by (4) is spread over the ACKs of the update period,
 *       a whole packet at a time; a decrease happens at once
 *
 *   paper    here               unit     default  source
 *   alpha    alpha_pkts         packets  312      thesis, section 4.5.1
 *            beta_pkts          packets  312      the same (beta_ = alpha_)
 *   gamma    gamma              1        0.5      Jin, Wei, Low 2004
 *            mi_threshold_s     s        0.00075  thesis, section 4.5.1
 *            update_period_s    s        0.01     the ns-2 module
 *            every_other_rtt    0 or 1   0        the ns-2 module up to 1.1.2
 *   eta      1 / AVERAGE_ACKS   1        1/256    the ns-2 module
 *
 * Regimes: (3) is slow start; there is no ssthresh. FAST cannot use a path
 * whose queue holds fewer than alpha packets: each overflow halves cwnd.
 * mi_threshold should be below alpha/C/5, with C the capacity in packets/s;
 * otherwise (3) starts again in equilibrium. The window does not change in loss
 * recovery, and the first update comes a period after it. Before the first RTT
 * sample, (3) applies. (4) never makes cwnd smaller than MIN_PKTS.
 *
 * Differs from the paper:
 *  - eta is at most 1/4 there, and 1/256 here.
 *  - (4) is applied every update_period with w' of one RTT ago, not once per
 *    RTT with w: within an RTT w approaches w' baseRTT/avgRTT + alpha. With
 *    every_other_rtt, growth rests every second RTT, as in version 1.1.3 of
 *    the module and in the text of the thesis; its numbers (4.64 s to 90 %,
 *    and a stable window with an alpha of 312) need it to be off.
 *  - In the paper alpha grows with cwnd while nothing is queued; here (3) has
 *    this effect, as in the thesis.
 *  - cwnd is a real number, where the module can round it.
 *
 * Tcl: see Agent/TCP/Fast, agents/fast_tcp_agent.h.
 * Invariants: for every input and parameter, including NaN and infinities, the
 * window is finite, from 1 packet to the largest float; a window that is NaN or
 * below 1 counts as 1. No ACK adds more than 1 packet.
 * Tests: tests/ns2/test_laws.py (fast_tcp_test.cc).
 */
class FastTcp {
public:
	explicit FastTcp(const FastTcpParameters& parameters);

	/** A packet leaves, for the first time or again. */
	void sent(int seqno);
	/** cwnd in packets after an ACK: equations (1) to (5). */
	double acked(const FastTcpAck& ack);
	/** An ACK arrived in loss recovery. */
	void recovering(double now_s);

	/** s; 0 before the first sample. */
	double base_rtt_s() const { return base_rtt_s_; }
	double avg_rtt_s() const { return avg_rtt_s_; }
private:
	void sample_rtt(double rtt_s);
	double forget_until(int seqno);
	void count(double now_s);
	bool update_is_due(double now_s) const;
	double target(double cwnd, double old) const;
	double update(double cwnd, double old);
	double pace(double cwnd);

	const FastTcpParameters parameters_;
	double base_rtt_s_, avg_rtt_s_;
	double in_flight_pkts_;		// at the last ACK
	double last_update_s_;
	double round_start_s_;
	bool growing_;			// in this RTT, with every_other_rtt
	double acks_this_round_, acks_last_round_;
	double increments_;		// packets still to be added by pace()
	double spacing_, acks_since_;	// ACKs: from one to the next, since the last
	// When they were sent, for the packets from oldest_seqno_ on.
	std::deque<double> in_flight_when_sent_;
	int oldest_seqno_;
};

#endif
