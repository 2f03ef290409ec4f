#ifndef bdpbench_westwood_tcp_h
#define bdpbench_westwood_tcp_h

/** Parameters that a script sets; WestwoodTcp gives units and defaults. */
struct WestwoodParameters {
	double tau_s;
	double samples_per_tau;
};

/** An ACK of new data, or a duplicate ACK. */
struct WestwoodAck {
	/** Simulated time. */
	double now_s;
	/** Round trip time that this ACK measured; none if not above 0. */
	double rtt_s;
	/** Packets that it acknowledges beyond the ACK before; 0 for a duplicate. */
	int new_pkts;
};

/**
 * TCP Westwood estimates from the ACKs the rate at which the path delivers.
 * After a loss it sets cwnd to what this rate puts into an empty path, while
 * TCP Reno halves whatever cwnd was.
 *
 * C. Casetti, M. Gerla, S. Mascolo, M. Sanadidi, R. Wang, "TCP Westwood:
 * End-to-End Congestion Control for Wired/Wireless Networks", Wireless
 * Networks 8, 2002, pp. 467-479, sections 2 and 3; S. Mascolo et al., "TCP
 * Westwood: Bandwidth Estimation for Enhanced Transport over Wireless Links",
 * ACM MobiCom 2001. d(k) is what ACK k delivers, t(k) its arrival.
 *
 *   (1) sample:    b(k) = d(k) / (t(k) - t(k-1))
 *   (2) estimate:  BWE(k) = g BWE(k-1) + (1 - g) (b(k) + b(k-1)) / 2,
 *                  g = (2 tau - D) / (2 tau + D),  D = t(k) - t(k-1)
 *   (3) no ACK for tau/m: a sample of 0 there, as often as that happens
 *   (4) d of a duplicate ACK is 1 packet; a later ACK of several packets
 *       delivers them minus those that duplicates have counted, at least 1
 *   (5) loss:      ssthresh = max(2, BWE RTTmin), in whole packets
 *   (6) three duplicate ACKs:  cwnd = min(cwnd, ssthresh)
 *   (7) timeout:   cwnd = 1
 *
 *   paper  here             unit  default  source
 *   tau    tau_s            s     0.5      MobiCom 2001, section 2.2
 *   m      samples_per_tau  1     2        the smallest allowed (m >= 2)
 *
 * Regimes: the filter's memory is tau, so BWE is far below the rate of the path
 * until the connection has run for a few tau: a loss in the first slow start,
 * after N packets were delivered, leaves a window of about N RTTmin/tau.
 * Before the second ACK there is no sample; the estimate is 0.
 *
 * Differs from the paper:
 *  - d is in packets, ns-2's unit, not in bytes: all packets are equal.
 *  - ACKs at the same time make one sample, as (1) would divide by 0.
 *  - Slow start, congestion avoidance and recovery are those of ns-2's Reno;
 *    (6) and (7) are in agents/westwood_tcp_agent.cc.
 *
 * Tcl: see Agent/TCP/Westwood, agents/westwood_tcp_agent.cc.
 * Invariants: for every input, including NaN and infinities, the estimate is
 * finite and at least 0, and ssthresh is from 2 packets to 1e9. Time does not
 * run backwards: an earlier ACK counts as one at the same time.
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
