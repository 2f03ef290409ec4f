#ifndef bdpbench_ns3_wire_h
#define bdpbench_ns3_wire_h

#include <deque>
#include <map>
#include <set>
#include <string>

#include "ns3/error-model.h"
#include "ns3/ipv4-header.h"
#include "ns3/queue-disc.h"
#include "ns3/queue.h"
#include "ns3/random-variable-stream.h"
#include "ns3/red-queue-disc.h"
#include "ns3/simple-channel.h"
#include "ns3/simple-net-device.h"

/** What has left a queue or was dropped there, since the start; marks are those of departing packets. */
struct Counters {
	double bytes = 0;
	double packets = 0;
	double drops = 0;
	double early_drops = 0;
	double marks = 0;
};

/**
 * One direction of a link, as ns-2 has it: a queue beside the packet that is being sent, a rate and a
 * delay, and no header of its own, so that packets have the same size on the wire as in ns-2.
 */
class Wire : public ns3::SimpleNetDevice {
public:
	Wire(double mbps, double delay_ms, double holds_pkts);
	/** Where packets go. */
	void connect(ns3::Ptr<Wire> peer);
	/** Count per flow, too; the IPv4 address of a host tells its flow. */
	void watch(const std::map<uint32_t, int>* flow_of_host) { flow_of_host_ = flow_of_host; }
	/** Lose a share of the packets before the queue; burst_pkts of 0: independently of one another. */
	void lose(double share, double burst_pkts, int64_t stream);
	/** Lose packets before the queue by their numbers: 1 is the SYN, those with data follow. */
	void lose_numbers(const std::set<unsigned>& numbers) { lost_numbers_ = numbers; }
	/** Let a queue of ns-3, which is ready, decide what waits and what is dropped or marked. */
	void manage(ns3::Ptr<ns3::QueueDisc> discipline);

	bool Send(ns3::Ptr<ns3::Packet> packet, const ns3::Address& to, uint16_t protocol) override;

	double mbps() const { return mbps_; }
	double length_pkts() const { return discipline_ ? discipline_->GetNPackets() : waiting_.size(); }
	const Counters& all() const { return all_; }
	const Counters& of(int flow) { return of_[flow]; }
	bool is_managed() const { return discipline_ != nullptr; }
	/** Whether drops at random are told apart, as in ns-2. */
	bool drops_early() const { return ns3::DynamicCast<ns3::RedQueueDisc>(discipline_) != nullptr; }
	bool loses() const { return share_ > 0; }
	double random_losses() const { return random_losses_; }

private:
	int flow_of(const ns3::Ipv4Header& header) const;
	void drop(const ns3::Ipv4Header& header);
	void dropped_by_queue(ns3::Ptr<const ns3::QueueDiscItem> item, const char* reason);
	ns3::Ptr<ns3::Packet> next();
	bool is_lost(const ns3::Ipv4Header& header);
	void change_state();
	void send_next();
	void sent(ns3::Ptr<ns3::Packet> packet);
	void arrive(ns3::Ptr<ns3::Packet> packet);

	double mbps_;
	ns3::Time delay_;
	double holds_pkts_;
	bool busy_ = false;
	ns3::Ptr<Wire> peer_;
	std::deque<ns3::Ptr<ns3::Packet>> waiting_;
	ns3::Ptr<ns3::QueueDisc> discipline_;
	const std::map<uint32_t, int>* flow_of_host_ = nullptr;
	Counters all_;
	std::map<int, Counters> of_;
	double random_losses_ = 0;
	std::set<unsigned> lost_numbers_;
	unsigned numbered_pkts_ = 0;
	/** Share of packets lost; of Gilbert's model the mean stays in both states, and what is left of one, packets. */
	double share_ = 0, good_pkts_ = 0, bad_pkts_ = 0, left_pkts_ = 0;
	bool is_bad_ = true;
	ns3::Ptr<ns3::UniformRandomVariable> random_;
};

#endif
