#include "scalable_tcp.h"

#include <algorithm>

#include "limited_slow_start.h"

namespace {

const double INCREASE_PKTS = 0.01;
const double SHARE_KEPT = 0.875;
const double STANDARD_SHARE_KEPT = 0.5;

double at_least_one(double cwnd_pkts)
{
	bool is_number = cwnd_pkts == cwnd_pkts;	// ns-2 traps when a NaN is ordered
	return is_number && cwnd_pkts > 1 ? cwnd_pkts : 1;
}

}  // namespace

double ScalableTcp::increase(const WindowState& state)
{
	double cwnd = at_least_one(state.cwnd_pkts);
	double step = cwnd > lwnd_pkts_ ? INCREASE_PKTS : 1 / cwnd;	// (1), (2)
	if (!state.ramping_up)
		return step;
	return std::max(step, limited_slow_start_increase(cwnd, state.max_ssthresh_pkts));
}

double ScalableTcp::share_kept(const WindowState& state)
{
	double cwnd = at_least_one(state.cwnd_pkts);
	bool scalable = cwnd > lwnd_pkts_ && !state.first_loss;
	double share = scalable ? SHARE_KEPT : STANDARD_SHARE_KEPT;	// (4) to (6)
	return std::max(share, 1 / cwnd);
}
