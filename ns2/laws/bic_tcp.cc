#include "bic_tcp.h"

#include <algorithm>

#include "window_bounds.h"

namespace {

const double FIRST_ASCENT_PKTS = 0.05;
const double STANDARD_SHARE_KEPT = 0.5;

bool is_low(double cwnd_pkts, const WindowState& state)
{
	return cwnd_pkts <= bounded(state.low_window_pkts, 0, 1e15);
}

}  // namespace

BicTcp::BicTcp(const BicParameters& parameters)
	: p_(parameters),
	  delay_(parameters.low_utilization_threshold, parameters.low_utilization_period_s),
	  max_pkts_(0)
{
}

double BicTcp::increase(const WindowState& state)
{
	double cwnd = usable_window(state.cwnd_pkts);
	if (is_low(cwnd, state))
		return 1 / cwnd;	// (5)
	bool probing = cwnd >= max_pkts_;
	if (max_pkts_ == 0 || (probing && delay_.low_utilization()))
		return FIRST_ASCENT_PKTS;	// (4)
	return increase_per_rtt(cwnd) / cwnd;
}

double BicTcp::increase_per_rtt(double cwnd_pkts) const
{
	double step;
	if (cwnd_pkts < max_pkts_)
		step = (max_pkts_ - cwnd_pkts) / p_.b;	// (1)
	else
		step = (cwnd_pkts - max_pkts_) / (p_.b - 1);	// (2)
	return std::min(std::max(step, p_.min_increment_pkts), p_.max_increment_pkts);	// (3)
}

double BicTcp::share_kept(const WindowState& state)
{
	double cwnd = usable_window(state.cwnd_pkts);
	bool less_than_before = p_.fast_convergence && cwnd < max_pkts_;
	if (state.timeout)
		max_pkts_ = 0;
	else
		max_pkts_ = less_than_before ? (1 + p_.beta) / 2 * cwnd : cwnd;	// (6), (7)
	delay_.loss();
	return usable_share(is_low(cwnd, state) ? STANDARD_SHARE_KEPT : p_.beta, cwnd);	// (8), (9)
}

void BicTcp::rtt_sample(double rtt_s, double now_s)
{
	delay_.sample(rtt_s, now_s);
}

void BicTcp::observe(double* values) const
{
	delay_.observe(values);
}
