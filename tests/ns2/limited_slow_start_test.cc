// RFC 3742, section 2: for max_ssthresh < cwnd, K = int(cwnd / (0.5 max_ssthresh)) and each ACK
// adds MSS/K; with max_ssthresh = 100 segments the window grows by at most 50 segments per RTT.

#include "check.h"
#include "limited_slow_start.h"

// Only the rounding of the last binary digit may differ.
static const double EXACT = 1e-15;

static void divides_the_window_into_half_max_ssthresh_steps()
{
	CHECK_NEAR(limited_slow_start_increase(101, 100), 1 / 2.0, EXACT);	// 101/50 = 2.02
	CHECK_NEAR(limited_slow_start_increase(1000, 100), 1 / 20.0, EXACT);	// 1000/50 = 20
	CHECK_NEAR(limited_slow_start_increase(1049.9, 100), 1 / 20.0, EXACT);	// 20.998
	CHECK_NEAR(limited_slow_start_increase(1050, 100), 1 / 21.0, EXACT);
}

static void grows_by_at_most_half_max_ssthresh_per_rtt()
{
	double cwnd = 2000;
	for (int ack = 0; ack < 2000; ack++)
		cwnd += limited_slow_start_increase(cwnd, 100);
	// 2000/50 = 40 steps: 1/40 per ACK, 2,000 ACKs, 50 packets; 1/41 starts at 2,050, which is
	// not reached. Each of 2,000 sums of 1/40 near 2,000 is rounded by less than 2,000 * 2^-53
	// * 2.
	CHECK_NEAR(cwnd, 2050, 1e-9);
}

static void is_off_without_max_ssthresh()
{
	CHECK(limited_slow_start_increase(1000, 0) == 0);
	CHECK(limited_slow_start_increase(1000, -1) == 0);
	CHECK(limited_slow_start_increase(1000, NAN) == 0);
	CHECK(limited_slow_start_increase(1000, INFINITY) == 0);
}

static void leaves_small_windows_to_slow_start()
{
	CHECK(limited_slow_start_increase(49.99, 100) == 0);
	CHECK(limited_slow_start_increase(50, 100) == 1);
}

static void vanishes_for_an_infinite_window()
{
	CHECK(limited_slow_start_increase(INFINITY, 100) == 0);
	CHECK(limited_slow_start_increase(NAN, 100) == 0);
}

int main()
{
	divides_the_window_into_half_max_ssthresh_steps();
	grows_by_at_most_half_max_ssthresh_per_rtt();
	is_off_without_max_ssthresh();
	leaves_small_windows_to_slow_start();
	vanishes_for_an_infinite_window();
	return failures != 0;
}
