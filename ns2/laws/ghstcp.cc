#include "ghstcp.h"

#include <math.h>

#include "window_bounds.h"

namespace {

const double LEAST_PAIRS = 4;	// (2) divides by the spread of N - 3
const double RTT_RESOLUTION_S = 1e-9;
const double MOST_CORRELATION = 1 - 1e-12;	// at 1, (2) is infinite

}  // namespace

void Correlation::add(double x, double y)
{
	count_++;
	double from_x = x - mean_x_, from_y = y - mean_y_;
	mean_x_ += from_x / count_;
	mean_y_ += from_y / count_;
	xx_ += from_x * (x - mean_x_);
	yy_ += from_y * (y - mean_y_);
	xy_ += from_x * (y - mean_y_);
}

double Correlation::fisher_z(double y_resolution) const
{
	if (count_ < LEAST_PAIRS || xx_ <= 0 || yy_ <= count_ * y_resolution * y_resolution)
		return 0;
	double r = bounded(xy_ / (sqrt(xx_) * sqrt(yy_)), -MOST_CORRELATION, MOST_CORRELATION);	// (1)
	return 0.5 * log((1 + r) / (1 - r)) * sqrt(count_ - 3);	// (2)
}

GentleHighSpeed::GentleHighSpeed(const GentleHighSpeedParameters& parameters)
	: parameters_(parameters), batch_pkts_(LEAST_PAIRS), z_(0), reno_mode_(false)
{
}

void GentleHighSpeed::acked(double departure_s, double rtt_s, double cwnd_pkts)
{
	// Within the range of ns-2's clock, as larger numbers would make the sums infinite.
	if (!(bounded(departure_s, 0, 1e12) == departure_s && bounded(rtt_s, 0, 1e12) == rtt_s))
		return;
	if (batch_.count() == 0)
		batch_pkts_ = bounded(floor(usable_window(cwnd_pkts)), LEAST_PAIRS, 1e15);
	batch_.add(departure_s, rtt_s);
	if (batch_.count() >= batch_pkts_)
		test();
}

void GentleHighSpeed::test()
{
	z_ = batch_.fisher_z(RTT_RESOLUTION_S);
	batch_ = Correlation();
	bool rises = z_ > parameters_.z_threshold;
	reno_mode_ = rises || (reno_mode_ && !parameters_.returns);	// (3), (4)
}

void GentleHighSpeed::cut()
{
	batch_ = Correlation();
	reno_mode_ = false;	// (5)
}
