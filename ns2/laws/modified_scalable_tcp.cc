#include "modified_scalable_tcp.h"

#include <math.h>

#include "window_bounds.h"

static const double SHARE_KEPT = 0.875;

double ModifiedScalableTcp::increase(const WindowState& state)
{
	return 1 / floor(usable_window(state.cwnd_pkts));	// (1)
}

double ModifiedScalableTcp::share_kept(const WindowState& state)
{
	return usable_share(SHARE_KEPT, state.cwnd_pkts);	// (2)
}
