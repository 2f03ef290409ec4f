#include "sent_packets.h"

#include <algorithm>

static const double RTT_GAIN = 0.125;	// RFC 6298

SentPackets::SentPackets(int reordering_pkts)
	: reordering_(reordering_pkts), base_(0), first_in_flight_(-1), last_in_flight_(-1),
	  next_order_(0), latest_arrived_(-1), in_flight_(0), delivered_(0), lost_(0), delivered_s_(0),
	  first_sent_s_(0), limited_until_(0), round_ends_at_(0), rounds_(0), min_rtt_s_(-1),
	  smoothed_rtt_s_(-1), newest_(), has_newest_(false)
{
}

void SentPackets::append(int seqno)
{
	Packet& packet = at(seqno);
	packet.previous = last_in_flight_;
	packet.next = -1;
	if (last_in_flight_ == -1)
		first_in_flight_ = seqno;
	else
		at(last_in_flight_).next = seqno;
	last_in_flight_ = seqno;
	in_flight_++;
}

void SentPackets::unlink(int seqno)
{
	const Packet& packet = at(seqno);
	if (packet.previous == -1)
		first_in_flight_ = packet.next;
	else
		at(packet.previous).next = packet.next;
	if (packet.next == -1)
		last_in_flight_ = packet.previous;
	else
		at(packet.next).previous = packet.previous;
	in_flight_--;
}

void SentPackets::sent(int seqno, double now_s, bool limited_by_application)
{
	const bool again = seqno <= highest_sent();
	if (in_flight_ == 0)
		first_sent_s_ = delivered_s_ = now_s;
	if (!again)
		packets_.push_back(Packet());
	Packet& packet = at(seqno);
	to_send_again_.erase(seqno);
	packet.sent_s = now_s;
	packet.first_sent_s = first_sent_s_;
	packet.delivered_s = delivered_s_;
	packet.delivered = delivered_;
	packet.lost = lost_;
	packet.order = next_order_++;
	packet.fate = IN_FLIGHT;
	packet.sent_again = again;
	append(seqno);
	packet.in_flight = in_flight_;
	if (limited_by_application)
		limited_until_ = delivered_ + in_flight_;
	packet.limited_by_application = limited_until_ > 0;
}

void SentPackets::arrived(int seqno, Acknowledged& news, double now_s)
{
	Packet& packet = at(seqno);
	if (packet.fate == ARRIVED)
		return;
	if (packet.fate == IN_FLIGHT)
		unlink(seqno);
	else
		to_send_again_.erase(seqno);	// it had only been late
	packet.fate = ARRIVED;
	delivered_++;
	delivered_s_ = now_s;
	news.packets++;
	latest_arrived_ = std::max(latest_arrived_, packet.order);
	if (!has_newest_ || packet.order > newest_.order)
		newest_ = packet;
	has_newest_ = true;
}

Acknowledged SentPackets::acknowledged(int ackno, const std::vector<std::pair<int, int> >& blocks,
	bool marked, double now_s)
{
	Acknowledged news = Acknowledged();
	news.in_flight_before_pkts = in_flight_;
	news.rtt_s = news.rate_pps = -1;
	losses_.clear();
	has_newest_ = false;
	const int behind = highest_sent() + 1;
	for (; base_ <= ackno && base_ < behind; base_++) {
		arrived(base_, news, now_s);
		packets_.pop_front();
	}
	while (!held_.empty() && held_.begin()->second <= base_)
		held_.erase(held_.begin());
	for (size_t i = 0; i < blocks.size(); i++) {
		int first = std::max(blocks[i].first, base_);
		int end = std::min(blocks[i].second, behind);
		if (first >= end)
			continue;
		// Grow over all that is held already and touches it; only the gaps are news.
		std::map<int, int>::iterator part = held_.upper_bound(first);
		if (part != held_.begin()) {
			std::map<int, int>::iterator before = part;
			if ((--before)->second >= first)
				part = before;
		}
		int next = first;
		while (part != held_.end() && part->first <= end) {
			for (; next < part->first; next++)
				arrived(next, news, now_s);
			next = std::max(next, part->second);
			first = std::min(first, part->first);
			end = std::max(end, part->second);
			held_.erase(part++);
		}
		for (; next < end; next++)
			arrived(next, news, now_s);
		held_[first] = end;
	}
	if (news.packets == 0)
		return news;
	if (marked)
		news.marked = news.packets;
	sample_rate(news, now_s);
	find_losses(news);
	return news;
}

void SentPackets::sample_rate(Acknowledged& news, double now_s)
{
	if (limited_until_ > 0 && delivered_ > limited_until_)
		limited_until_ = 0;
	if (newest_.delivered >= round_ends_at_) {
		round_ends_at_ = delivered_;
		rounds_++;
		news.round_ended = true;
	}
	news.sent_delivered_pkts = newest_.delivered;
	news.sent_lost_pkts = newest_.lost;
	news.sent_in_flight_pkts = newest_.in_flight;
	if (!newest_.sent_again) {
		news.rtt_s = now_s - newest_.sent_s;
		min_rtt_s_ = min_rtt_s_ < 0 ? news.rtt_s : std::min(min_rtt_s_, news.rtt_s);
		smoothed_rtt_s_ = smoothed_rtt_s_ < 0 ? news.rtt_s
			: smoothed_rtt_s_ + RTT_GAIN * (news.rtt_s - smoothed_rtt_s_);
	}
	// Sending and arriving take as long as the slower of both.
	const double sending_s = newest_.sent_s - newest_.first_sent_s;
	const double arriving_s = now_s - newest_.delivered_s;
	first_sent_s_ = newest_.sent_s;
	news.rate_interval_s = std::max(sending_s, arriving_s);
	news.rate_delivered_pkts = delivered_ - newest_.delivered;
	news.rate_limited_by_application = newest_.limited_by_application;
	if (news.rate_interval_s > 0 && news.rate_interval_s >= min_rtt_s_ && min_rtt_s_ > 0)
		news.rate_pps = news.rate_delivered_pkts / news.rate_interval_s;
}

void SentPackets::declare_lost(int seqno)
{
	Packet& packet = at(seqno);
	unlink(seqno);
	packet.fate = LOST;
	lost_++;
	to_send_again_.insert(seqno);
	Lost loss = {packet.delivered, packet.lost, packet.in_flight, packet.limited_by_application,
		packet.sent_again};
	losses_.push_back(loss);
}

void SentPackets::find_losses(Acknowledged& news)
{
	while (first_in_flight_ != -1 && at(first_in_flight_).order + reordering_ <= latest_arrived_)
		declare_lost(first_in_flight_);
	news.lost = static_cast<double>(losses_.size());
}

void SentPackets::timed_out()
{
	losses_.clear();
	while (first_in_flight_ != -1)
		declare_lost(first_in_flight_);
}
