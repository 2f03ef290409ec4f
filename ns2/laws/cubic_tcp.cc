#include "cubic_tcp.h"

#include <algorithm>
#include <math.h>

#include "window_bounds.h"

namespace {

const double SMAX_PERIOD_S = 0.2;
const double UNLIMITED_PKTS = 1e15;

}  // namespace

CubicTcp::CubicTcp(const CubicParameters& parameters)
	: p_(parameters),
	  delay_(parameters.low_utilization_threshold, parameters.low_utilization_period_s),
	  friendly_slope_(3 * (1 - parameters.beta) / (1 + parameters.beta)), max_pkts_(0),
	  in_epoch_(false), epoch_start_s_(0), origin_pkts_(0), k_s_(0), friendly_pkts_(0)
{
}

double CubicTcp::increase(const WindowState& state)
{
	double cwnd = usable_window(state.cwnd_pkts);
	double now_s = bounded(state.now_s, 0, 1e15);
	if (!in_epoch_)
		start_epoch(cwnd, now_s);
	double step = std::min(target_pkts(now_s) - cwnd, limit_pkts(cwnd));	// (5), (6)
	if (p_.tcp_friendliness) {
		friendly_pkts_ += friendly_slope_ / cwnd;	// (4)
		step = std::max(step, friendly_pkts_ - cwnd);
	}
	return bounded(step / cwnd, 0, 1);
}

void CubicTcp::start_epoch(double cwnd_pkts, double now_s)
{
	bool below_max = cwnd_pkts < max_pkts_;
	in_epoch_ = true;
	epoch_start_s_ = now_s;
	origin_pkts_ = below_max ? max_pkts_ : cwnd_pkts;	// (2), (3)
	k_s_ = below_max ? cbrt((max_pkts_ - cwnd_pkts) / p_.scale) : 0;
	friendly_pkts_ = cwnd_pkts;
}

double CubicTcp::target_pkts(double now_s) const
{
	double t = now_s - epoch_start_s_ + delay_.min_s() - k_s_;
	return origin_pkts_ + p_.scale * t * t * t;	// (1)
}

// The maximum increase per RTT.
double CubicTcp::limit_pkts(double cwnd_pkts) const
{
	bool probing = cwnd_pkts >= max_pkts_;
	if (max_pkts_ == 0 || (probing && delay_.low_utilization()))
		return UNLIMITED_PKTS;	// (6)
	return p_.max_increment_pkts / SMAX_PERIOD_S * delay_.min_s();
}

double CubicTcp::share_kept(const WindowState& state)
{
	double cwnd = usable_window(state.cwnd_pkts);
	bool less_than_before = p_.fast_convergence && cwnd < max_pkts_;
	if (state.timeout)
		max_pkts_ = 0;
	else
		max_pkts_ = less_than_before ? (1 + p_.beta) / 2 * cwnd : cwnd;	// (7), (8)
	in_epoch_ = false;
	delay_.loss();
	return usable_share(p_.beta, cwnd);	// (9)
}

void CubicTcp::rtt_sample(double rtt_s, double now_s)
{
	delay_.sample(rtt_s, now_s);
}

void CubicTcp::observe(double* values) const
{
	delay_.observe(values);
}
