#include "htcp.h"

#include <algorithm>
#include <float.h>

#include "limited_slow_start.h"

namespace {

const double BETA_MIN = 0.5;
const double BETA_MAX = 0.8;
const double RTT_REFERENCE_S = 0.1;
const double SCALE_MIN = 0.1;
const double SCALE_MAX = 2;
const double STEADY_CHANGE = 0.2;
const double RTT_RISE_S = 0.02;
const double RTT_MEMORY = 0.95;
const double RTTS_AFTER_LOSS = 3;

bool is_number(double value)
{
	return value == value;	// ns-2 traps when a NaN is ordered
}

double at_least_one(double cwnd_pkts)
{
	return is_number(cwnd_pkts) && cwnd_pkts > 1 ? cwnd_pkts : 1;
}

bool is_sample(double rtt_s)
{
	return is_number(rtt_s) && rtt_s > 0 && rtt_s <= DBL_MAX;
}

double clamp(double value, double low, double high)
{
	return std::max(low, std::min(high, value));
}

// NaN counts as the beginning of the simulation.
double time_of(double now_s)
{
	return is_number(now_s) ? clamp(now_s, 0, DBL_MAX) : 0;
}

}  // namespace

HTcp::HTcp(const HTcpParameters& parameters)
	: parameters_(parameters), rtt_s_(0), rtt_min_s_(0), rtt_max_s_(0), last_loss_s_(0),
	  beta_(BETA_MIN), alpha_(1), alpha_until_s_(0), acks_(0), throughput_(0), was_steady_(false)
{
}

void HTcp::rtt_sample(double rtt_s, double now_s)
{
	if (!is_sample(rtt_s))
		return;
	rtt_s_ = rtt_s;
	double now = time_of(now_s);
	if (rtt_min_s_ == 0) {
		rtt_min_s_ = rtt_max_s_ = rtt_s;
		last_loss_s_ = now;
		return;
	}
	rtt_min_s_ = std::min(rtt_min_s_, rtt_s);
	bool settled = now - last_loss_s_ > RTTS_AFTER_LOSS * rtt_min_s_;
	if (settled && rtt_s > rtt_max_s_ && rtt_s - rtt_max_s_ <= RTT_RISE_S)
		rtt_max_s_ = rtt_s;
}

double HTcp::rtt_scale() const
{
	if (!parameters_.rtt_scaling || rtt_min_s_ == 0)
		return 1;
	return clamp(rtt_min_s_ / RTT_REFERENCE_S, SCALE_MIN, SCALE_MAX);	// (3)
}

double HTcp::alpha(double now_s) const
{
	double standard = 2 * (1 - beta_);
	double d = now_s - last_loss_s_ - parameters_.delta_l_s;
	if (!(d > 0))
		return standard;	// (1)
	return std::min(DBL_MAX, standard * rtt_scale() * (1 + 10 * d + d * d / 4));	// (2)
}

double HTcp::increase(const WindowState& state)
{
	double cwnd = at_least_one(state.cwnd_pkts), now = time_of(state.now_s);
	if (now >= alpha_until_s_) {
		alpha_ = alpha(now);
		alpha_until_s_ = now + rtt_s_;
	}
	if (state.ramping_up) {
		double step = limited_slow_start_increase(cwnd, state.max_ssthresh_pkts);
		if (step > alpha_ / cwnd)
			return step;	// (6)
	}
	if (acks_ * alpha_ >= cwnd) {
		acks_ = 0;
		return 1;	// (4)
	}
	acks_++;	// (5)
	return 0;
}

// Has the throughput changed little since the previous loss?
bool HTcp::steady(double cwnd)
{
	double before = throughput_;
	throughput_ = std::min(DBL_MAX, cwnd) / rtt_max_s_;
	return throughput_ >= (1 - STEADY_CHANGE) * before && throughput_ <= (1 + STEADY_CHANGE) * before;
}

double HTcp::next_beta(double cwnd)
{
	if (!parameters_.adaptive_backoff || rtt_max_s_ == 0)
		return BETA_MIN;
	bool is_steady = steady(cwnd), twice = is_steady && was_steady_;
	was_steady_ = is_steady;
	return twice ? clamp(rtt_min_s_ / rtt_max_s_, BETA_MIN, BETA_MAX) : BETA_MIN;	// (7)
}

double HTcp::share_kept(const WindowState& state)
{
	double cwnd = at_least_one(state.cwnd_pkts);
	beta_ = next_beta(cwnd);
	rtt_max_s_ = rtt_min_s_ + RTT_MEMORY * (rtt_max_s_ - rtt_min_s_);
	last_loss_s_ = time_of(state.now_s);
	alpha_until_s_ = acks_ = 0;
	double share = state.first_loss ? BETA_MIN : beta_;	// (7), (8)
	return std::max(share, 1 / cwnd);
}
