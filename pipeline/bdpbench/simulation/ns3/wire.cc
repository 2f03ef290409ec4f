#include "wire.h"

#include <algorithm>
#include <cmath>

#include "ns3/boolean.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/node.h"
#include "ns3/simulator.h"

using namespace ns3;

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

bool Wire::is_lost()
{
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

bool Wire::Send(Ptr<Packet> packet, const Address&, uint16_t)
{
	if (is_lost()) {
		random_losses_ += 1;
		drop(packet);
	} else if (length_pkts() >= holds_pkts_ && busy_) {
		drop(packet);
	} else {
		waiting_.push_back(packet);
		if (!busy_)
			send_next();
	}
	return true;
}

int Wire::flow_of(Ptr<const Packet> packet) const
{
	Ipv4Header header;
	packet->PeekHeader(header);
	auto found = flow_of_host_->find(header.GetSource().Get());
	return found == flow_of_host_->end() ? -1 : found->second;
}

void Wire::drop(Ptr<const Packet> packet)
{
	all_.drops += 1;
	if (flow_of_host_)
		of_[flow_of(packet)].drops += 1;
}

void Wire::send_next()
{
	busy_ = !waiting_.empty();
	if (!busy_)
		return;
	Ptr<Packet> packet = waiting_.front();
	waiting_.pop_front();
	if (flow_of_host_) {
		for (Counters* each : {&all_, &of_[flow_of(packet)]}) {
			each->bytes += packet->GetSize();
			each->packets += 1;
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
