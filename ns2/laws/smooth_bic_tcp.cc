#include "smooth_bic_tcp.h"

#include <algorithm>

#include "window_bounds.h"

namespace {

const double FIRST_ASCENT_PKTS = 0.05;
const double STANDARD_SHARE_KEPT = 0.5;
const double SMALLEST_STEP_PKTS = 2;

bool is_low(double cwnd_pkts, const WindowState& state)
{
	return cwnd_pkts <= bounded(state.low_window_pkts, 0, 1e15);
}

}  // namespace

SmoothBicTcp::SmoothBicTcp(const SmoothBicParameters& parameters) : p_(parameters), max_pkts_(0)
{
}

double SmoothBicTcp::increase(const WindowState& state)
{
	double cwnd = usable_window(state.cwnd_pkts);
	if (is_low(cwnd, state))
		return 1 / cwnd;	// (1)
	double increase_pkts = increase_per_rtt(cwnd) / cwnd;
	return max_pkts_ == 0 ? std::max(increase_pkts, FIRST_ASCENT_PKTS) : increase_pkts;	// (5)
}

double SmoothBicTcp::increase_per_rtt(double cwnd_pkts) const
{
	double smooth = p_.b / p_.smooth_part;
	if (cwnd_pkts < max_pkts_) {
		double step = (max_pkts_ - cwnd_pkts) / p_.b;	// (2)
		if (step > p_.max_increment_pkts)
			return p_.max_increment_pkts;
		return step < SMALLEST_STEP_PKTS ? smooth : step;
	}
	if (cwnd_pkts < max_pkts_ + p_.b)
		return smooth;	// (3)
	return std::min((cwnd_pkts - max_pkts_) / (p_.b - 1), p_.max_increment_pkts);	// (4)
}

double SmoothBicTcp::share_kept(const WindowState& state)
{
	double cwnd = usable_window(state.cwnd_pkts);
	bool less_than_before = p_.fast_convergence && cwnd < max_pkts_;
	if (state.timeout)
		max_pkts_ = 0;
	else
		max_pkts_ = less_than_before ? (1 + p_.beta) / 2 * cwnd : cwnd;	// (6), (7)
	return usable_share(is_low(cwnd, state) ? STANDARD_SHARE_KEPT : p_.beta, cwnd);	// (8), (9)
}
