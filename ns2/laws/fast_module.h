#ifndef bdpbench_fast_module_h
#define bdpbench_fast_module_h

#include <deque>

#include "fast_tcp.h"

/** Parameters that a script sets; FastModule gives units and defaults. */
struct FastModuleParameters {
	double alpha_pkts;
	double beta_pkts;
	double gamma;
	double mi_threshold_s;
	double update_period_s;
	/** The round over which ACKs are counted ends by the RTT of the ACK. */
	bool rounds_by_ack_rtt;
	/** Increments that are not added yet survive loss recovery. */
	bool keeps_increments;
};

/**
 * FAST TCP with two habits of its authors' ns-2 module (University of
 * Melbourne, CUBIN) that the published law does not have. With both off it is
 * FastTcp to the last digit.
 *
 * Equations (1) to (5) are those of FastTcp. The habits:
 *
 *   rounds_by_ack_rtt  The round whose ACKs are counted for (5) ends when its
 *                      start plus the RTT of this ACK is past; FastTcp uses
 *                      avgRTT, which is smoother.
 *   keeps_increments   Packets that (5) still has to add when a loss is
 *                      detected are added after the recovery; FastTcp drops
 *                      them.
 *
 * Five other habits belong to the sender and not to the law: see
 * Agent/TCP/FastModule, agents/fast_module_tcp_agent.h.
 *
 *   here             unit     default
 *   alpha_pkts       packets  312
 *   beta_pkts        packets  312
 *   gamma            1        0.5
 *   mi_threshold_s   s        0.00075
 *   update_period_s  s        0.01
 *
 * Written from a description of what the module does, without its code.
 *
 * It does not contain a FastTcp: both habits need its private parts, and FastTcp
 * must not change because of the runs that were made with it. A test compares
 * the two.
 *
 * Invariants: those of FastTcp.
 * Tests: tests/ns2/test_laws.py (fast_module_test.cc).
 */
class FastModule {
public:
	explicit FastModule(const FastModuleParameters& parameters);

	/** A packet leaves, for the first time or again. */
	void sent(int seqno);
	/** cwnd in packets after an ACK. */
	double acked(const FastTcpAck& ack);
	/** An ACK arrived in loss recovery. */
	void recovering(double now_s);

	/** s; 0 before the first sample. */
	double base_rtt_s() const { return base_rtt_s_; }
	double avg_rtt_s() const { return avg_rtt_s_; }
private:
	double sample(double rtt_s);
	double forget_until(int seqno);
	void count(double now_s, double rtt_s);
	double target(double cwnd, double old) const;
	double update(double cwnd, double old);
	double pace(double cwnd);

	const FastModuleParameters parameters_;
	double base_rtt_s_, avg_rtt_s_;
	double in_flight_pkts_;		// at the last ACK
	double last_update_s_;
	double round_start_s_;
	double acks_this_round_, acks_last_round_;
	double increments_;		// packets still to be added by pace()
	double spacing_, acks_since_;	// ACKs: from one to the next, since the last
	// When they were sent, for the packets from oldest_seqno_ on.
	std::deque<double> in_flight_when_sent_;
	int oldest_seqno_;
};

#endif
