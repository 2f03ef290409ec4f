#ifndef bdpbench_congestion_control_h
#define bdpbench_congestion_control_h

#ifdef __cplusplus
#include <string>

#include "folder_parameters.h"
#else
#include <stdbool.h>	/* the structures are C, too: a module of Linux is told by them */
#endif

/** The version of this interface; a library made for another one is refused. */
#define CONGESTION_CONTROL_INTERFACE 2

/**
 * What a congestion control decides; the sender obeys it from the next packet on.
 * Packets are segments of the sender's size, as everywhere in ns-2.
 */
struct SendingLimits {
	/** Packets that may be in flight. At least one always may. */
	double cwnd_pkts;
	/** End of slow start, which scripts and charts show; infinite if there is none. */
	double ssthresh_pkts;
	/** Packets leave at most at this rate; 0: as soon as cwnd lets them. */
	double pacing_pps;
};

/** What a sender has seen up to now. */
struct PathState {
	/** Simulated time. */
	double now_s;
	/** Packets sent, and neither acknowledged nor lost. */
	double in_flight_pkts;
	/** Packets acknowledged since the start, by SACK or by number. */
	double delivered_pkts;
	/** Packets declared lost since the start, each time that they were sent. */
	double lost_pkts;
	/** Round trips: one ends when a packet is acknowledged that was sent after the last one ended. */
	int rounds;
	/** Smallest round trip so far; -1 before the first. */
	double min_rtt_s;
	/** Smoothed by 1/8, as RFC 6298 does; -1 before the first. */
	double smoothed_rtt_s;
	/** Between the first loss of a window and the acknowledgement of all that was sent before it. */
	bool in_recovery;
	/** Between a timeout and the acknowledgement of all that was sent before it. */
	bool after_timeout;
	/** What stopped the sender last: cwnd, and neither pacing nor a lack of data. */
	bool limited_by_cwnd;
	/** A random number from 0 to 1, of the stream that a run's substream sets. */
	double (*random)();
	/** The first packet that is not acknowledged by number, and the next that is new. */
	int first_unacknowledged;
	int next_new;
	/** A packet's data, and all of it with its headers. */
	int segment_bytes;
	int packet_bytes;
	/** The receiver's window. */
	double window_pkts;
	/** Of the last acknowledgement: when the packet was sent that it echoes, and when it was sent itself. */
	double echoed_s;
	double acknowledged_s;
};

/** An acknowledgement that tells something new. */
struct Acknowledged {
	/** Packets that it acknowledges for the first time. */
	double packets;
	/** How many of them came with an ECN echo. */
	double marked;
	/** Packets that it declares lost. */
	double lost;
	/** Packets in flight before it. */
	double in_flight_before_pkts;
	/** Of the packet that was sent last among them, not rounded; -1 if it had been sent twice. */
	double rtt_s;
	/** A round trip has ended. */
	bool round_ended;
	/**
	 * Delivery rate by draft-cheng-iccrg-delivery-rate-estimation: packets that were
	 * delivered over an interval of at least the smallest round trip, by that interval;
	 * -1 if this acknowledgement gives no sample.
	 */
	double rate_pps;
	double rate_interval_s;
	double rate_delivered_pkts;
	/** The sender had nothing to send within the interval, so the path may carry more. */
	bool rate_limited_by_application;
	/** When the packet of the sample was sent: packets delivered, lost and in flight then. */
	double sent_delivered_pkts;
	double sent_lost_pkts;
	double sent_in_flight_pkts;
};

/** A packet that was declared lost. */
struct Lost {
	/** When it was sent: packets delivered, lost and in flight (with itself) then. */
	double sent_delivered_pkts;
	double sent_lost_pkts;
	double sent_in_flight_pkts;
	bool sent_limited_by_application;
	/** It had been sent before. */
	bool retransmission;
};

#ifdef __cplusplus
/**
 * A congestion control: it hears what happens to the packets of a sender and sets
 * its limits. Retransmissions, SACK, the retransmission timer, delayed
 * acknowledgements and ECN bits belong to the sender.
 *
 * One acknowledgement causes, in this order: heard(); lost() for each packet that it
 * declares lost; recovery_ended() if everything has arrived that was sent before the
 * loss or timeout; recovery_began() if it tells the first loss of a window, or marked()
 * if it tells the first mark of one and no loss; acknowledged().
 */
class CongestionControl {
public:
	virtual ~CongestionControl() {}
	/** The connection begins; limits are the initial window, no end of slow start and no pacing. */
	virtual void started(const PathState&, SendingLimits&) {}
	/** The same as acknowledged(), before all that the acknowledgement causes. */
	virtual void heard(const Acknowledged&, const PathState&, SendingLimits&) {}
	virtual void acknowledged(const Acknowledged&, const PathState&, SendingLimits&) = 0;
	virtual void lost(const Lost&, const PathState&, SendingLimits&) {}
	virtual void recovery_began(const PathState&, SendingLimits&) = 0;
	virtual void recovery_ended(const PathState&, SendingLimits&) {}
	/** The network has marked packets: at most once a window, and not while it recovers from a loss. */
	virtual void marked(const PathState& path, SendingLimits& limits) { recovery_began(path, limits); }
	/** The retransmission timer has expired: all packets that were in flight count as lost. */
	virtual void timed_out(const PathState&, SendingLimits&) = 0;
	/** The first packet after a time without any in flight, because there was none to send. */
	virtual void resumed(double /*idle_s*/, const PathState&, SendingLimits&) {}
	/**
	 * Each mark is echoed once, as DCTCP needs it, and told by acknowledged() alone: marked()
	 * is not called. Otherwise marks are echoed until the sender has reacted (RFC 3168).
	 */
	virtual bool wants_every_mark() const { return false; }
	/** A value for charts and scripts, by name; NaN if there is none of that name. */
	virtual double shown(const std::string& /*name*/) const { return __builtin_nan(""); }
};

typedef FolderParameters ProtocolParameters;

#define BDPBENCH_INTERFACE extern "C" int bdpbench_interface() { return CONGESTION_CONTROL_INTERFACE; }
#define BDPBENCH_MAKER(Class) extern "C" CongestionControl* bdpbench_protocol(const ProtocolParameters& given) { return new Class(given); }

/** At the end of a protocol's file: its class, whose constructor takes ProtocolParameters. */
#define CONGESTION_CONTROL(Class) BDPBENCH_INTERFACE BDPBENCH_MAKER(Class)
#endif

#endif
