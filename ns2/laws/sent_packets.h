#ifndef bdpbench_sent_packets_h
#define bdpbench_sent_packets_h

#include <deque>
#include <map>
#include <set>
#include <vector>

#include "congestion_control.h"

/**
 * The packets of a connection from the first that is not acknowledged on: which are in
 * flight, which have arrived, which are lost, and at what rate they arrive.
 *
 * A packet is lost if one that was sent at least `reordering_pkts` transmissions later has
 * arrived: RFC 6675's three duplicates, told by the order of sending as in RFC 8985, so that
 * lost retransmissions are found, too. Delivery rates follow
 * draft-cheng-iccrg-delivery-rate-estimation.
 */
class SentPackets {
public:
	explicit SentPackets(int reordering_pkts);

	/** Packet `seqno` leaves, for the first time or again. */
	void sent(int seqno, double now_s, bool limited_by_application);

	/**
	 * An acknowledgement of all packets up to `ackno`, and of those in `blocks`, pairs of
	 * the first packet and the one behind the last. `marked`: it carries an ECN echo.
	 * @return what is new in it; packets is 0 if nothing is
	 */
	Acknowledged acknowledged(int ackno, const std::vector<std::pair<int, int> >& blocks,
		bool marked, double now_s);

	/** What the last acknowledgement, or timeout, has declared lost. */
	const std::vector<Lost>& losses() const { return losses_; }

	/** All packets in flight are lost. */
	void timed_out();

	/** The packet to send again next; -1 if there is none. */
	int next_lost() const { return to_send_again_.empty() ? -1 : *to_send_again_.begin(); }

	/** How many packets are to be sent again. */
	int waiting_pkts() const { return static_cast<int>(to_send_again_.size()); }

	/** The highest packet sent so far, -1 before the first. */
	int highest_sent() const { return base_ + static_cast<int>(packets_.size()) - 1; }

	double in_flight_pkts() const { return in_flight_; }
	double delivered_pkts() const { return delivered_; }
	double lost_pkts() const { return lost_; }
	int rounds() const { return rounds_; }
	double min_rtt_s() const { return min_rtt_s_; }
	double smoothed_rtt_s() const { return smoothed_rtt_s_; }

private:
	enum Fate { IN_FLIGHT, LOST, ARRIVED };
	struct Packet {
		double sent_s;
		double first_sent_s;	// when the packet left that the rate of this one counts from
		double delivered_s;	// when the last of them had arrived
		double delivered;
		double lost;
		double in_flight;
		long order;
		int next;	// neighbours in the list of packets in flight, by order; -1 at its ends
		int previous;
		Fate fate;
		bool sent_again;
		bool limited_by_application;
	};

	Packet& at(int seqno) { return packets_[seqno - base_]; }
	void append(int seqno);
	void unlink(int seqno);
	void arrived(int seqno, Acknowledged& news, double now_s);
	void sample_rate(Acknowledged& news, double now_s);
	void declare_lost(int seqno);
	void find_losses(Acknowledged& news);

	int reordering_;
	int base_;			// the first packet that is not acknowledged by number
	std::deque<Packet> packets_;	// from base_ to the highest that was sent
	std::map<int, int> held_;	// what lies behind a gap: first packet to the one behind the last
	std::set<int> to_send_again_;
	std::vector<Lost> losses_;
	int first_in_flight_;
	int last_in_flight_;
	long next_order_;
	long latest_arrived_;		// the latest order among packets that have arrived
	double in_flight_;
	double delivered_;
	double lost_;
	double delivered_s_;
	double first_sent_s_;
	double limited_until_;		// this many packets have to be delivered until samples are not limited
	double round_ends_at_;
	int rounds_;
	double min_rtt_s_;
	double smoothed_rtt_s_;
	Packet newest_;			// of those that an acknowledgement tells, the one sent last
	bool has_newest_;
};

#endif
