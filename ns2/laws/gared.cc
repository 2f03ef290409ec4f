#include "gared.h"

#include <algorithm>

#include "window_bounds.h"

namespace {

const double TARGET_MARGIN = 0.4;	// of max_th - min_th, on each side
const double MOST_RELATIVE_STEP = 0.25;
const double MOST_QUEUE = 1e15;

double queue(double value)
{
	return bounded(value, 0, MOST_QUEUE);
}

}  // namespace

GentleAdaptiveRed::GentleAdaptiveRed(const GentleAdaptiveRedParameters& parameters)
	: parameters_(parameters)
{
	double margin = TARGET_MARGIN * (queue(parameters.max_th) - queue(parameters.min_th));
	low_ = queue(parameters.min_th) + margin;	// (1)
	high_ = queue(parameters.max_th) - margin;
}

double GentleAdaptiveRed::max_p(double avg, double old_avg, double max_p) const
{
	double now = queue(avg), before = queue(old_avg), p = bounded(max_p, 0, 1);
	double step = std::min(bounded(parameters_.alpha, 0, 1), MOST_RELATIVE_STEP * p);
	if (now > high_ && now > before && p < bounded(parameters_.top, 0, 1))
		return std::min(1.0, p + step);	// (2)
	if (now > queue(parameters_.min_th) && now < low_ && now < before)
		return p * bounded(parameters_.beta, 0, 1);	// (3)
	return p;
}
