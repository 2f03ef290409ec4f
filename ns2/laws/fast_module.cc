#include "fast_module.h"

#include <algorithm>
#include <float.h>
#include <math.h>

#include "window_bounds.h"

static const double MIN_PKTS = 2;
static const double AVERAGE_ACKS = 256;
static const double AVERAGE_SHARE = 1 / 3.0;
// Simulations never reach larger windows, but their products must stay finite.
static const double MAX_PKTS = FLT_MAX;

FastModule::FastModule(const FastModuleParameters& parameters)
	: parameters_(parameters), base_rtt_s_(0), avg_rtt_s_(0), in_flight_pkts_(1),
	  last_update_s_(0), round_start_s_(0), acks_this_round_(0), acks_last_round_(0),
	  increments_(0), spacing_(0), acks_since_(0), oldest_seqno_(0)
{
}

void FastModule::sent(int seqno)
{
	if (seqno < oldest_seqno_)
		return;
	size_t i = seqno - oldest_seqno_;
	if (i >= in_flight_when_sent_.size())
		in_flight_when_sent_.resize(i + 1, in_flight_pkts_);
	in_flight_when_sent_[i] = in_flight_pkts_;
}

// Drops the packets up to seqno; returns how many were in flight when it was sent.
double FastModule::forget_until(int seqno)
{
	double old = in_flight_pkts_;
	for (; oldest_seqno_ <= seqno && !in_flight_when_sent_.empty(); oldest_seqno_++) {
		old = in_flight_when_sent_.front();
		in_flight_when_sent_.pop_front();
	}
	return old;
}

void FastModule::recovering(double now_s)
{
	last_update_s_ = bounded(now_s, 0, FLT_MAX);
	if (!parameters_.keeps_increments)
		increments_ = 0;
}

// Equations (1) and (2); returns the sample, or avgRTT if there is none.
double FastModule::sample(double rtt_s)
{
	double rtt = bounded(rtt_s, 0, FLT_MAX);
	if (rtt < FLT_MIN)
		return avg_rtt_s_;
	if (base_rtt_s_ == 0) {
		base_rtt_s_ = avg_rtt_s_ = rtt;
		return rtt;
	}
	base_rtt_s_ = std::min(base_rtt_s_, rtt);
	double acks = std::max(AVERAGE_ACKS, in_flight_pkts_ * AVERAGE_SHARE);
	avg_rtt_s_ += (rtt - avg_rtt_s_) / acks;
	return rtt;
}

// Counts the ACKs of each round.
void FastModule::count(double now_s, double rtt_s)
{
	if (now_s > round_start_s_ + (parameters_.rounds_by_ack_rtt ? rtt_s : avg_rtt_s_)) {
		round_start_s_ = now_s;
		acks_last_round_ = acks_this_round_;
		acks_this_round_ = 0;
	}
	acks_this_round_++;
}

double FastModule::acked(const FastTcpAck& ack)
{
	double now = bounded(ack.now_s, 0, FLT_MAX), cwnd = bounded(ack.cwnd_pkts, 1, MAX_PKTS);
	in_flight_pkts_ = bounded(ack.in_flight_pkts, 1, MAX_PKTS);
	double rtt = sample(ack.rtt_s);
	double old = forget_until(ack.seqno);
	count(now, rtt);
	if (base_rtt_s_ == 0 || avg_rtt_s_ - base_rtt_s_ < parameters_.mi_threshold_s) {
		last_update_s_ = now;
		return std::min(MAX_PKTS, cwnd + 1);	// (3)
	}
	if (now < last_update_s_ + parameters_.update_period_s)
		return pace(cwnd);
	last_update_s_ = now;
	return update(cwnd, old);
}

// Equation (4).
double FastModule::target(double cwnd, double old) const
{
	double moving = old * (base_rtt_s_ / avg_rtt_s_), queued = old - moving;
	if (queued >= parameters_.alpha_pkts && queued < parameters_.beta_pkts)
		return cwnd;
	double gamma = parameters_.gamma;
	double next = (1 - gamma) * cwnd + gamma * (moving + parameters_.alpha_pkts);
	return bounded(std::min(2 * cwnd, next), std::min(MIN_PKTS, cwnd), MAX_PKTS);
}

// Equation (5).
double FastModule::update(double cwnd, double old)
{
	double next = target(cwnd, old);
	increments_ = std::max(0.0, floor(next - cwnd));
	if (increments_ == 0)
		return std::min(next, cwnd);
	double acks = acks_last_round_ * (parameters_.update_period_s / avg_rtt_s_);
	spacing_ = floor(acks / increments_);
	acks_since_ = 0;
	return pace(cwnd);
}

double FastModule::pace(double cwnd)
{
	acks_since_++;
	if (increments_ < 1 || acks_since_ < spacing_)
		return cwnd;
	increments_--;
	acks_since_ = 0;
	return std::min(MAX_PKTS, cwnd + 1);
}
