#include "proportional_reduction.h"

#include <algorithm>
#include <math.h>

void ProportionalReduction::begin(double flight_pkts)
{
	active_ = true;
	flight_ = flight_pkts;
	delivered_ = sent_ = 0;
}

void ProportionalReduction::acknowledged(double arrived, double in_flight, double cwnd,
	bool good_progress)
{
	delivered_ += arrived;
	double allowed;
	if (in_flight > cwnd) {
		allowed = ceil(delivered_ * cwnd / flight_) - sent_;
	} else {
		allowed = std::max(delivered_ - sent_, arrived) + (good_progress ? 1 : 0);
		allowed = std::min(allowed, cwnd - in_flight);
	}
	window_ = in_flight + std::max(allowed, 0.0);
}
