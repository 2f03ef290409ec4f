#include "pie.h"

#include <algorithm>

static const double MEASURED_BYTES = 16384;	// DQ_THRESHOLD
static const double RATE_WEIGHT = 0.25;		// DQ_THRESHOLD over 2^16
static const double SMALL_SHARE = 0.2;
static const double LEAST_ACCUMULATED = 0.85;
static const double MOST_ACCUMULATED = 8.5;
static const double CAREFUL_FROM = 0.1;
static const double MOST_CHANGE = 0.02;
static const double DECAY = 0.98;
// More updates of an empty queue change nothing: 0.98 to this power is 1e-9.
static const int MOST_IDLE_UPDATES = 1000;

Pie::Pie(const PieParameters& parameters)
	: parameters_(parameters), next_update_s_(-1), probability_(0), delay_s_(0),
	  burst_s_(parameters.burst_s), accumulated_(0), measured_bytes_(-1), began_s_(0), bytes_per_s_(0)
{
}

Pie::Fate Pie::arrival(double bytes, double now_s, bool can_be_marked, double random)
{
	update_until(bytes, now_s);
	if (burst_s_ > 0 || !drops(bytes, random))
		return KEEP;
	return can_be_marked && probability_ <= parameters_.mark_share ? MARK : DROP;
}

void Pie::departure(double size_bytes, double bytes, double now_s)
{
	update_until(bytes + size_bytes, now_s);
	if (measured_bytes_ < 0 && bytes + size_bytes >= MEASURED_BYTES) {
		measured_bytes_ = 0;
		began_s_ = now_s;
		return;		// this packet's time began before
	}
	if (measured_bytes_ < 0)
		return;
	measured_bytes_ += size_bytes;
	if (measured_bytes_ < MEASURED_BYTES || now_s <= began_s_)
		return;
	const double rate = measured_bytes_ / (now_s - began_s_);
	// RFC 8033 averages the time of a threshold, which is the inverse of the rate.
	bytes_per_s_ = bytes_per_s_ == 0 ? rate
		: 1 / (RATE_WEIGHT / rate + (1 - RATE_WEIGHT) / bytes_per_s_);
	measured_bytes_ = -1;
}

// The queue has had these bytes since the last event, so that late updates are exact.
void Pie::update_until(double bytes, double now_s)
{
	if (next_update_s_ < 0) {
		next_update_s_ = now_s + parameters_.update_s;
		return;
	}
	for (int i = 0; next_update_s_ <= now_s; i++) {
		update(bytes);
		next_update_s_ += parameters_.update_s;
		if (i == MOST_IDLE_UPDATES && next_update_s_ < now_s)
			next_update_s_ = now_s;
	}
}

void Pie::update(double bytes)
{
	const double delay_s = bytes_per_s_ > 0 ? bytes / bytes_per_s_ : 0;
	probability_ += change(delay_s);
	if (delay_s == 0 && delay_s_ == 0)
		probability_ *= DECAY;
	probability_ = std::min(std::max(probability_, 0.0), 1.0);
	burst_s_ = std::max(0.0, burst_s_ - parameters_.update_s);
	const double half_s = parameters_.target_s / 2;
	if (probability_ == 0 && delay_s < half_s && delay_s_ < half_s)
		burst_s_ = parameters_.burst_s;
	delay_s_ = delay_s;
}

// Section 4.2, with the steps of section 5.2 for small probabilities and the cap of section 5.5.
double Pie::change(double delay_s) const
{
	static const double BELOW[] = {0.000001, 0.00001, 0.0001, 0.001, 0.01, 0.1};
	static const double DIVIDED_BY[] = {2048, 512, 128, 32, 8, 2};
	double change = parameters_.alpha_hz * (delay_s - parameters_.target_s)
		+ parameters_.beta_hz * (delay_s - delay_s_);
	for (int i = 0; i < 6; i++)
		if (probability_ < BELOW[i]) {
			change /= DIVIDED_BY[i];
			break;
		}
	return probability_ >= CAREFUL_FROM ? std::min(change, MOST_CHANGE) : change;
}

// Sections 4.1 and 5.4: not while the queue is short, and not too evenly.
bool Pie::drops(double bytes, double random)
{
	if ((delay_s_ < parameters_.target_s / 2 && probability_ < SMALL_SHARE)
		|| bytes <= 2 * parameters_.packet_bytes)
		return false;
	accumulated_ = probability_ == 0 ? 0 : accumulated_ + probability_;
	if (accumulated_ < LEAST_ACCUMULATED)
		return false;
	if (accumulated_ < MOST_ACCUMULATED && random >= probability_)
		return false;
	accumulated_ = 0;
	return true;
}
