// TcpAgent's side of the window laws: what tcp.cc calls where its own
// windowOption_ list ends. Declared in tcp.h.

#include "tcp.h"

WindowState TcpAgent::window_state()
{
	WindowState state;
	state.cwnd_pkts = cwnd_;
	state.max_ssthresh_pkts = max_ssthresh_;
	state.ramping_up = last_cwnd_action_ == 0 || last_cwnd_action_ == CWND_ACTION_TIMEOUT;
	state.first_loss = first_decrease_ == 1;
	return state;
}

double TcpAgent::law_increase()
{
	return law_slot_.law(wnd_option_, name()).increase(window_state());
}

void TcpAgent::law_decrease()
{
	if (WindowLawSlot::is_stock(wnd_option_))
		return;
	decrease_num_ = law_slot_.law(wnd_option_, name()).share_kept(window_state());
	// The law has judged the first loss; slowdown() must not halve on its own.
	first_decrease_ = 0;
}
