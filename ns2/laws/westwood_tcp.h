#ifndef bdpbench_westwood_tcp_h
#define bdpbench_westwood_tcp_h

/** What a script sets; units and defaults in the table of WestwoodTcp. */
struct WestwoodParameters {
	double tau_s;
	double samples_per_tau;
};

/** An ACK, of new data or a duplicate. */
struct WestwoodAck {
	/** Simulated time. */
	double now_s;
	/** Round trip time that this ACK measured; none if not above 0. */
	double rtt_s;
	/** Packets that it acknowledges beyond the ACK before; 0 for a duplicate. */
	int new_pkts;
};

/**
 * TCP Westwood estimates the rate at which the path delivers from the ACKs and
 * sets cwnd, after a loss, to what this rate puts into an empty path, where
 * TCP Reno takes half of whatever cwnd was.
 *
 * C. Casetti, M. Gerla, S. Mascolo, M. Sanadidi, R. Wang, "TCP Westwood:
 * End-to-End Congestion Control for Wired/Wireless Networks", Wireless
 * Networks 8, 2002, pp. 467-479, sections 2 and 3; S. Mascolo et al., "TCP
 * Westwood: Bandwidth Estimation for Enhanced Transport over Wireless Links",
 * ACM MobiCom 2001. d(k) is what ACK k delivers, t(k) when it comes.
 *
 *   (1) sample:    b(k) = d(k) / (t(k) - t(k-1))
 *   (2) estimate:  BWE(k) = g BWE(k-1) + (1 - g) (b(k) + b(k-1)) / 2,
 *                  g = (2 tau - D) / (2 tau + D),  D = t(k) - t(k-1)
 *   (3) no ACK for tau/m: a sample of 0 there, as often as that happens
 *   (4) d of a duplicate ACK is 1 packet; a later ACK of several packets
 *       delivers them less those which duplicates have counted, at least 1
 *   (5) loss:      ssthresh = max(2, BWE RTTmin), in whole packets
 *   (6) three duplicate ACKs:  cwnd = min(cwnd, ssthresh)
 *   (7) timeout:   cwnd = 1
 *
 *   paper  here             unit  default  source
 *   tau    tau_s            s     0.5      MobiCom 2001, section 2.2
 *   m      samples_per_tau  1     2        the least that it allows (m >= 2)
 *
 * Regimes: the filter has the memory tau, so that BWE is far below the rate
 * of the path until the connection has run for some tau: a loss in the first
 * slow start, at N packets delivered, leaves a window of about N RTTmin/tau.
 * Before the second ACK there is no sample; the estimate is 0.
 *
 * Differs from the paper:
 *  - d is in packets, ns-2's unit, not in bytes: all packets are equal.
 *  - ACKs of the same moment make one sample, for (1) has no value there.
 *  - Slow start, congestion avoidance and recovery are those of ns-2's Reno;
 *    (6) and (7) are in agents/westwood_tcp_agent.cc.
 *
 * Tcl: see Agent/TCP/Westwood, agents/westwood_tcp_agent.cc.
 * Invariants: for every input, NaN and infinities included, a finite estimate
 * of at least 0 and an ssthresh of 2 packets to 1e9. Time does not run
 * backwards: an earlier ACK counts as one of the same moment.
 * Tests: tests/ns2/test_laws.py (westwood_tcp_test.cc).
 */
class WestwoodTcp {
public:
	explicit WestwoodTcp(const WestwoodParameters& parameters);

	/** An ACK arrives: equations (1), (2) and (4). */
	void acked(const WestwoodAck& ack);
	/** BWE in packets/s at a time, silence until then included: equation (3). */
	double bandwidth_pps(double now_s);
	/** Smallest RTT in s; 0 before the first sample. */
	double rtt_min_s() const { return rtt_min_s_; }
	/** Equation (5), in packets. */
	int ssthresh_pkts(double now_s);
private:
	double delivered(int new_pkts);
	void add_silence(double now_s);
	void filter(double sample_pps, double interval_s);

	const WestwoodParameters parameters_;
	bool started_;			// by the first ACK
	double last_s_;			// of the last sample
	double waiting_pkts_;		// delivered since, not in a sample yet
	double counted_pkts_;		// by duplicates, not acknowledged yet
	double sample_pps_, estimate_pps_;
	double rtt_min_s_;
};

#endif
