#include "limited_slow_start.h"

#include <math.h>

double limited_slow_start_increase(double cwnd_pkts, double max_ssthresh_pkts)
{
	if (!(max_ssthresh_pkts > 0))
		return 0;
	// Divided in this order, as ns-2 does: the other order rounds differently.
	double steps = floor(cwnd_pkts / (max_ssthresh_pkts / 2));
	return steps >= 1 ? 1 / steps : 0;
}
