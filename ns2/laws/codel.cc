#include "codel.h"

#include <math.h>

// A state that begins within so many intervals of the last one goes on nearly where that ended.
static const double RECENT_INTERVALS = 16;

CoDel::CoDel(const CoDelParameters& parameters)
	: parameters_(parameters), first_above_s_(0), drop_next_s_(0), count_(0), last_count_(0),
	  dropping_(false), settling_(false), entered_(false)
{
}

bool CoDel::stays_above(double waited_s, double now_s, double bytes_behind)
{
	if (waited_s < parameters_.target_s || bytes_behind <= parameters_.packet_bytes) {
		first_above_s_ = 0;
		return false;
	}
	if (first_above_s_ == 0) {
		first_above_s_ = now_s + parameters_.interval_s;
		return false;
	}
	return now_s >= first_above_s_;
}

double CoDel::next(double from_s) const
{
	return from_s + parameters_.interval_s / sqrt(static_cast<double>(count_));
}

bool CoDel::drops(double waited_s, double now_s, double bytes_behind)
{
	const bool above = stays_above(waited_s, now_s, bytes_behind);
	if (entered_) {
		entered_ = false;
		return false;
	}
	if (!dropping_) {
		if (above)
			begin(now_s);
		return above;
	}
	if (!above) {
		dropping_ = settling_ = false;
		return false;
	}
	if (settling_) {
		drop_next_s_ = next(drop_next_s_);
		settling_ = false;
	}
	if (now_s < drop_next_s_)
		return false;
	count_++;
	settling_ = true;
	return true;
}

void CoDel::begin(double now_s)
{
	const int gained = count_ - last_count_;
	const bool recent = now_s - drop_next_s_ < RECENT_INTERVALS * parameters_.interval_s;
	count_ = gained > 1 && recent ? gained : 1;
	last_count_ = count_;
	drop_next_s_ = next(now_s);
	dropping_ = entered_ = true;
}

void CoDel::marked_instead()
{
	if (settling_)
		drop_next_s_ = next(drop_next_s_);
	settling_ = entered_ = false;
}

void CoDel::found_empty()
{
	first_above_s_ = 0;
	dropping_ = settling_ = entered_ = false;
}
