#include "delay_monitor.h"

#include <algorithm>

#include "window_bounds.h"

DelayMonitor::DelayMonitor(double threshold, double period_s)
	: threshold_(threshold), period_s_(period_s), min_s_(0), max_s_(0), mean_s_(0), sum_s_(0),
	  count_(0), period_start_s_(0), low_utilization_(false)
{
}

void DelayMonitor::sample(double rtt_s, double now_s)
{
	if (!is_finite(rtt_s) || rtt_s <= 0 || !is_finite(now_s))
		return;
	min_s_ = max_s_ > 0 ? std::min(min_s_, rtt_s) : rtt_s;
	max_s_ = std::max(max_s_, rtt_s);
	if (count_ == 0)
		period_start_s_ = now_s;
	sum_s_ += rtt_s;
	count_++;
	double elapsed_s = now_s - period_start_s_;
	if (elapsed_s >= period_s_ || elapsed_s < 0)
		end_period(now_s);
}

void DelayMonitor::end_period(double now_s)
{
	mean_s_ = sum_s_ / count_;
	low_utilization_ = threshold_ > 0 && mean_s_ - min_s_ <= threshold_ * (max_s_ - min_s_);
	sum_s_ = 0;
	count_ = 0;
	period_start_s_ = now_s;
}

void DelayMonitor::loss()
{
	low_utilization_ = false;
	sum_s_ = 0;
	count_ = 0;
}

double DelayMonitor::mean_s() const
{
	return mean_s_ > 0 || count_ == 0 ? mean_s_ : sum_s_ / count_;
}

void DelayMonitor::observe(double* values) const
{
	values[0] = min_s_;
	values[1] = mean_s();
	values[2] = max_s_;
	values[3] = low_utilization_ ? 1 : 0;
}
