// TcpAgent's side of the window laws: functions that tcp.cc calls for a
// windowOption_ that is not its own. Declared in tcp.h.

#include "tcp.h"

WindowState TcpAgent::window_state()
{
	WindowState state;
	state.cwnd_pkts = cwnd_;
	state.max_ssthresh_pkts = max_ssthresh_;
	state.low_window_pkts = low_window_;
	state.now_s = Scheduler::instance().clock();
	state.ramping_up = last_cwnd_action_ == 0 || last_cwnd_action_ == CWND_ACTION_TIMEOUT;
	state.first_loss = first_decrease_ == 1;
	state.timeout = last_cwnd_action_ == CWND_ACTION_TIMEOUT;
	return state;
}

double TcpAgent::law_increase()
{
	return law_slot_.law(wnd_option_, name(), size_).increase(window_state());
}

void TcpAgent::law_decrease(int how)
{
	if (WindowLawSlot::is_stock(wnd_option_))
		return;
	if (how & (TCP_IDLE | NO_OUTSTANDING_DATA)) {
		decrease_num_ = 0.5;	// a pause is not a loss: like standard TCP
		return;
	}
	decrease_num_ = law_slot_.law(wnd_option_, name(), size_).share_kept(window_state());
	// The law has judged the first loss; slowdown() must not halve on its own.
	first_decrease_ = 0;
}

void TcpAgent::law_rtt_sample(double rtt_s)
{
	if (!WindowLawSlot::is_stock(wnd_option_))
		law_slot_.rtt_sample(wnd_option_, name(), size_, rtt_s, Scheduler::instance().clock());
}
