#include "fast_modes.h"

#include "window_bounds.h"

static const int MODES = 3;
static const double BYTES_PER_KB = 1000;

FastModes::FastModes(const FastModesParameters& parameters)
	: parameters_(parameters), mode_(0), last_choice_s_(0)
{
	for (int i = 0; i < MODES; i++) {
		double alpha = parameters.alpha_pkts[i];
		FastTcpParameters fast = {alpha, alpha, parameters.gamma, parameters.mi_threshold_s,
					  parameters.update_period_s, false};
		laws_[i] = new FastTcp(fast);
	}
}

FastModes::~FastModes()
{
	for (int i = 0; i < MODES; i++)
		delete laws_[i];
}

void FastModes::sent(int seqno)
{
	for (int i = 0; i < MODES; i++)
		laws_[i]->sent(seqno);
}

void FastModes::recovering(double now_s)
{
	for (int i = 0; i < MODES; i++)
		laws_[i]->recovering(now_s);
}

double FastModes::acked(const FastTcpAck& ack)
{
	choose_mode(ack.now_s, ack.cwnd_pkts);
	double cwnd = 0;
	for (int i = 0; i < MODES; i++) {
		double opened = laws_[i]->acked(ack);
		if (i == mode_)
			cwnd = opened;
	}
	return cwnd;
}

// Equations (6) to (8), with the delays as of the previous ACK.
void FastModes::choose_mode(double now_s, double cwnd_pkts)
{
	double rtt_s = avg_rtt_s(), now = bounded(now_s, 0, 1e300);
	if (rtt_s == 0 || now < last_choice_s_ + rtt_s)
		return;
	last_choice_s_ = now;
	double rate_kBps = usable_window(cwnd_pkts) * parameters_.packet_bytes / rtt_s / BYTES_PER_KB;
	if (mode_ < MODES - 1 && rate_kBps > parameters_.up_kBps[mode_])
		mode_++;
	else if (mode_ > 0 && rate_kBps < parameters_.down_kBps[mode_ - 1])
		mode_--;
}
