#include "westwood_tcp.h"

#include <algorithm>
#include <math.h>

#include "window_bounds.h"

namespace {

const double MIN_SSTHRESH_PKTS = 2;
// Simulations never reach larger rates and windows, but they must stay finite, and ns-2
// counts in int.
const double MAX_PPS = 1e15;
const double MAX_PKTS = 1e9;
const double MAX_S = 1e9;
// After so many empty samples in a row hardly anything is left of an estimate: with the smallest
// m, each keeps 3/5 of it.
const double MOST_SILENT_SAMPLES = 10000;

}  // namespace

WestwoodTcp::WestwoodTcp(const WestwoodParameters& parameters)
	: parameters_(parameters), started_(false), last_s_(0), waiting_pkts_(0), counted_pkts_(0),
	  sample_pps_(0), estimate_pps_(0), rtt_min_s_(0)
{
}

void WestwoodTcp::acked(const WestwoodAck& ack)
{
	double now = bounded(ack.now_s, 0, MAX_S), rtt = bounded(ack.rtt_s, 0, MAX_S);
	if (rtt > 0 && (rtt_min_s_ == 0 || rtt < rtt_min_s_))
		rtt_min_s_ = rtt;
	double pkts = delivered(ack.new_pkts);
	if (!started_) {
		started_ = true;
		last_s_ = now;
		return;
	}
	add_silence(now);
	waiting_pkts_ += pkts;
	if (now <= last_s_)
		return;
	filter(waiting_pkts_ / (now - last_s_), now - last_s_);	// (1)
	last_s_ = now;
	waiting_pkts_ = 0;
}

// Equation (4).
double WestwoodTcp::delivered(int new_pkts)
{
	if (new_pkts <= 0) {
		counted_pkts_ = std::min(MAX_PKTS, counted_pkts_ + 1);
		return 1;
	}
	if (new_pkts == 1)
		return 1;
	double counted = std::min(counted_pkts_, double(new_pkts));
	counted_pkts_ -= counted;
	return std::max(1.0, new_pkts - counted);
}

// Equation (3), for the whole periods of silence before now.
void WestwoodTcp::add_silence(double now_s)
{
	double period_s = parameters_.tau_s / parameters_.samples_per_tau;
	if (!started_ || now_s - last_s_ <= period_s)
		return;
	double periods = floor((now_s - last_s_) / period_s);
	for (double i = 0; i < std::min(periods, MOST_SILENT_SAMPLES); i++)
		filter(0, period_s);
	last_s_ += periods * period_s;
}

// Equation (2).
void WestwoodTcp::filter(double sample_pps, double interval_s)
{
	double sample = bounded(sample_pps, 0, MAX_PPS), tau = parameters_.tau_s;
	double kept = (2 * tau - interval_s) / (2 * tau + interval_s);
	estimate_pps_ = kept * estimate_pps_ + (1 - kept) * (sample + sample_pps_) / 2;
	estimate_pps_ = bounded(estimate_pps_, 0, MAX_PPS);
	sample_pps_ = sample;
}

double WestwoodTcp::bandwidth_pps(double now_s)
{
	add_silence(bounded(now_s, 0, MAX_S));
	return estimate_pps_;
}

int WestwoodTcp::ssthresh_pkts(double now_s)
{
	double pipe = bandwidth_pps(now_s) * rtt_min_s_;
	return int(bounded(pipe, MIN_SSTHRESH_PKTS, MAX_PKTS));
}
