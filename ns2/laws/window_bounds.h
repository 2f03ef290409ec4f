#ifndef bdpbench_window_bounds_h
#define bdpbench_window_bounds_h

// How a law treats the numbers that it receives. ns-2 makes the processor trap
// when a NaN is ordered, so a number is first compared with itself.

/** Neither NaN nor infinite. */
inline bool is_finite(double x)
{
	return x == x && x <= 1e300 && x >= -1e300;
}

/** x limited to the interval from least to most; NaN counts as least. */
inline double bounded(double x, double least, double most)
{
	if (!(x == x) || x < least)
		return least;
	return x > most ? most : x;
}

/** cwnd in packets as laws compute with it: from one to 1e15, always finite. */
inline double usable_window(double cwnd_pkts)
{
	return bounded(cwnd_pkts, 1, 1e15);
}

/** The share of cwnd that a cut leaves: at most all of it, at least one packet. */
inline double usable_share(double share, double cwnd_pkts)
{
	return bounded(share, 1 / usable_window(cwnd_pkts), 1);
}

#endif
