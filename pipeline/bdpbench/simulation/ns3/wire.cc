#include "wire.h"

#include <algorithm>
#include <cmath>

#include "ns3/boolean.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/node.h"
#include "ns3/simulator.h"

using namespace ns3;

static const uint16_t MOST_TCP_HEADER_BYTES = 60;

Wire::Wire(double mbps, double delay_ms, double holds_pkts)
	: mbps_(mbps), delay_(Seconds(delay_ms / 1000)), holds_pkts_(holds_pkts)
{
}

void Wire::connect(Ptr<Wire> peer)
{
	peer_ = peer;
	SetAddress(Mac48Address::Allocate());
	SetAttribute("PointToPointMode", BooleanValue(true)); // no ARP
}

void Wire::lose(double share, double burst_pkts, int64_t stream)
{
	share_ = share;
	random_ = CreateObject<UniformRandomVariable>();
	random_->SetStream(stream);
	if (burst_pkts > 0) {
		// As tcl/lib/chain.tcl does: a packet is lost if any part of it is in the bad state.
		double stay = 1 - share / ((1 - share) * burst_pkts);
		good_pkts_ = -1 / std::log(stay);
		bad_pkts_ = good_pkts_ * (stay / (1 - share) - 1);
		change_state();
	}
}

void Wire::change_state()
{
	is_bad_ = !is_bad_;
	left_pkts_ = -std::log(1 - random_->GetValue()) * (is_bad_ ? bad_pkts_ : good_pkts_);
}

bool Wire::is_lost(const Ipv4Header& header)
{
	if (!lost_numbers_.empty() && (numbered_pkts_ == 0 || header.GetPayloadSize() > MOST_TCP_HEADER_BYTES)) {
		numbered_pkts_ += 1;
		if (lost_numbers_.count(numbered_pkts_))
			return true;
	}
	if (share_ == 0)
		return false;
	if (good_pkts_ == 0)
		return random_->GetValue() < share_;
	bool lost = is_bad_;
	double rest_pkts = 1;
	while (left_pkts_ < rest_pkts) {
		rest_pkts -= left_pkts_;
		change_state();
		lost = lost || is_bad_;
	}
	left_pkts_ -= rest_pkts;
	return lost;
}

void Wire::manage(Ptr<QueueDisc> discipline)
{
	discipline_ = discipline;
	for (const char* trace : {"DropBeforeEnqueue", "DropAfterDequeue"})
		discipline_->TraceConnectWithoutContext(trace, MakeCallback(&Wire::dropped_by_queue, this));
}

bool Wire::Send(Ptr<Packet> packet, const Address& to, uint16_t protocol)
{
	Ipv4Header header;
	packet->PeekHeader(header);
	if (is_lost(header)) {
		random_losses_ += 1;
		drop(header);
		return true;
	}
	if (discipline_) {
		packet->RemoveHeader(header);
		discipline_->Enqueue(Create<Ipv4QueueDiscItem>(packet, to, protocol, header));
	} else if (length_pkts() >= holds_pkts_ && busy_) {
		drop(header);
	} else {
		waiting_.push_back(packet);
	}
	if (!busy_)
		send_next();
	return true;
}

int Wire::flow_of(const Ipv4Header& header) const
{
	auto found = flow_of_host_->find(header.GetSource().Get());
	return found == flow_of_host_->end() ? -1 : found->second;
}

void Wire::drop(const Ipv4Header& header)
{
	all_.drops += 1;
	if (flow_of_host_)
		of_[flow_of(header)].drops += 1;
}

void Wire::dropped_by_queue(Ptr<const QueueDiscItem> item, const char* reason)
{
	// RED and PIE call what they drop at random unforced.
	if (std::string(reason).find("Unforced") != std::string::npos)
		all_.early_drops += 1;
	drop(DynamicCast<const Ipv4QueueDiscItem>(item)->GetHeader());
}

/** The packet that is to be sent, which has left the queue; none if nothing waits. */
Ptr<Packet> Wire::next()
{
	Ptr<Packet> packet;
	if (discipline_) {
		if (Ptr<QueueDiscItem> item = discipline_->Dequeue()) {
			item->AddHeader();
			packet = item->GetPacket();
		}
	} else if (!waiting_.empty()) {
		packet = waiting_.front();
		waiting_.pop_front();
	}
	return packet;
}

void Wire::send_next()
{
	Ptr<Packet> packet = next();
	busy_ = packet != nullptr;
	if (!busy_)
		return;
	if (flow_of_host_) {
		Ipv4Header header;
		packet->PeekHeader(header);
		for (Counters* each : {&all_, &of_[flow_of(header)]}) {
			each->bytes += packet->GetSize();
			each->packets += 1;
			each->marks += header.GetEcn() == Ipv4Header::ECN_CE;
		}
	}
	Simulator::Schedule(Seconds(packet->GetSize() * 8e-6 / mbps_), &Wire::sent, this, packet);
}

void Wire::sent(Ptr<Packet> packet)
{
	Simulator::ScheduleWithContext(peer_->GetNode()->GetId(), delay_, &Wire::arrive, peer_, packet);
	send_next();
}

void Wire::arrive(Ptr<Packet> packet)
{
	Mac48Address own = Mac48Address::ConvertFrom(GetAddress());
	Receive(packet, Ipv4L3Protocol::PROT_NUMBER, own, own);
}
