#ifndef bdpbench_window_law_h
#define bdpbench_window_law_h

/**
 * What a sender tells a window law. Packets everywhere, as in ns-2.
 */
struct WindowState {
	/** Congestion window now. */
	double cwnd_pkts;
	/** Where limited slow start begins (max_ssthresh_); 0 turns it off. */
	double max_ssthresh_pkts;
	/** At and below it a law may fall back to standard TCP (low_window_). */
	double low_window_pkts;
	/** Simulated time. */
	double now_s;
	/** No cut has happened yet, or the last one was for a timeout. */
	bool ramping_up;
	/** The loss at hand is the connection's first. */
	bool first_loss;
	/** The last cut was, or the loss at hand is, for a timeout. */
	bool timeout;
};

/**
 * A congestion window law: how much an ACK opens cwnd in congestion avoidance,
 * and which share of it a loss leaves. Slow start, loss recovery and timeouts
 * belong to the sender.
 *
 * Invariants, for every input, including NaN and infinities:
 *  - an increase is finite and not negative;
 *  - a kept share is in (0, 1], so a loss never opens the window, and a
 *    window of at least one packet keeps at least one packet;
 *  - a window that is not a number, or is below one packet, counts as one.
 */
class WindowLaw {
public:
	virtual ~WindowLaw() {}
	/** Packets that one ACK of new data adds to cwnd. */
	virtual double increase(const WindowState& state) = 0;
	/** Share of cwnd that stays after a loss. */
	virtual double share_kept(const WindowState& state) = 0;
	/** An ACK has measured the round trip; not rounded to clock ticks. */
	virtual void rtt_sample(double /*rtt_s*/, double /*now_s*/) {}
	/** Writes what scripts may read of the law, in the order of its adapter's list. */
	virtual void observe(double* /*values*/) const {}
};

#endif
