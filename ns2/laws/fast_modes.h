#ifndef bdpbench_fast_modes_h
#define bdpbench_fast_modes_h

#include "fast_tcp.h"

/** Parameters that a script sets; FastModes gives units and defaults. */
struct FastModesParameters {
	double alpha_pkts[3];
	/** Rates above which modes 0 and 1 are left upwards, kB/s. */
	double up_kBps[2];
	/** Rates below which modes 1 and 2 are left downwards, kB/s. */
	double down_kBps[2];
	double gamma;
	double mi_threshold_s;
	double update_period_s;
	/** Of a whole packet, headers included. */
	double packet_bytes;
};

/**
 * FAST TCP with three values of alpha, one of which a flow selects by its rate:
 * the faster it is, the more packets it keeps in the queues. The rate that
 * raises the mode is above the one that lowers it again, so the mode is kept in
 * between (hysteresis).
 *
 * The modes and their numbers are those of B. Even, Y. Li, D. Leith,
 * "Evaluating the Performance of TCP Stacks for High-Speed Networks", Table
 * II: the adaptive switching of FAST for Linux, of which that paper gives only
 * the numbers. Equations (1) to (5) are those of FastTcp.
 *
 *   (6) rate = cwnd * packet / avgRTT
 *   (7) once per RTT, rate > up of mode i:    mode i becomes i + 1
 *   (8) once per RTT, rate < down of mode i:  mode i becomes i - 1
 *   (9) alpha and beta are those of the mode; the first mode is 0
 *
 *   Table II       here             unit     default
 *   m0a, m1a, m2a  alpha_pkts       packets  8, 20, 200
 *   m0u, m1u       up_kBps          kB/s     1,500 and 15,000
 *   m1l, m2l       down_kBps        kB/s     1,250 and 12,500
 *   gamma          gamma            1        0.5
 *                  mi_threshold_s   s        0.00075, as FastTcp
 *                  update_period_s  s        0.01, as FastTcp
 *
 * Regimes: the table prints no unit for the rates. In kB/s the lower ones are
 * 10 and 100 Mbit/s; no other unit gives round numbers. Before the first RTT
 * sample there is no rate and the mode stays 0. The mode changes by one at a
 * time. If the rate that raises a mode is below the one that lowers the next,
 * the mode can alternate from RTT to RTT.
 *
 * There is a FastTcp for each mode. All are told of every packet and every ACK,
 * and the one of the current mode sets cwnd. Their delays, and the windows of
 * one RTT ago, are equal; only the effect of alpha differs.
 *
 * Tcl: see Agent/TCP/FastModes, agents/fast_modes_tcp_agent.h.
 * Invariants: those of FastTcp; the mode is 0, 1 or 2.
 * Tests: tests/ns2/test_laws.py (fast_modes_test.cc).
 */
class FastModes {
public:
	explicit FastModes(const FastModesParameters& parameters);
	~FastModes();

	/** A packet leaves, for the first time or again. */
	void sent(int seqno);
	/** cwnd in packets after an ACK. */
	double acked(const FastTcpAck& ack);
	/** An ACK arrived in loss recovery. */
	void recovering(double now_s);

	int mode() const { return mode_; }
	/** s; 0 before the first sample. */
	double base_rtt_s() const { return laws_[0]->base_rtt_s(); }
	double avg_rtt_s() const { return laws_[0]->avg_rtt_s(); }
private:
	FastModes(const FastModes&);
	FastModes& operator=(const FastModes&);

	void choose_mode(double now_s, double cwnd_pkts);

	const FastModesParameters parameters_;
	FastTcp* laws_[3];
	int mode_;
	double last_choice_s_;
};

#endif
