// Modified Scalable TCP as described in J. Xu's thesis (2004): equation 3.2, 1/floor(cwnd) per ACK,
// and the cut by an eighth in section 2.3.

#include <limits>

#include "check.h"
#include "modified_scalable_tcp.h"

// Only the rounding of the last binary digit may differ.
static const double EXACT = 1e-15;

static WindowState of(double cwnd_pkts)
{
	WindowState state = {cwnd_pkts, 100, 16, 0, false, false, false};
	return state;
}

static void adds_one_over_the_whole_packets_of_cwnd()
{
	ModifiedScalableTcp law;
	CHECK_NEAR(law.increase(of(1)), 1, EXACT);
	CHECK_NEAR(law.increase(of(4)), 1 / 4.0, EXACT);
	CHECK_NEAR(law.increase(of(4.99)), 1 / 4.0, EXACT);
	CHECK_NEAR(law.increase(of(3172)), 1 / 3172.0, EXACT);
}

static void adds_a_packet_an_rtt()
{
	ModifiedScalableTcp law;
	double cwnd = 1000;
	for (int ack = 0; ack < 1000; ack++)
		cwnd += law.increase(of(cwnd));
	// 1,000 ACKs of 1/1,000 each; each sum is rounded by less than 2e-13.
	CHECK_NEAR(cwnd, 1001, 1e-9);
}

static void keeps_seven_eighths_of_every_window()
{
	ModifiedScalableTcp law;
	// 3,200 packets minus an eighth are 2,800.
	CHECK_NEAR(3200 * law.share_kept(of(3200)), 2800, 1e-9);
	// This holds for small windows, too, and the first loss is like any other.
	CHECK_NEAR(law.share_kept(of(8)), 0.875, EXACT);
	WindowState first = {3200, 100, 16, 0, true, true, false};
	CHECK_NEAR(law.share_kept(first), 0.875, EXACT);
}

static void keeps_a_packet()
{
	ModifiedScalableTcp law;
	CHECK_NEAR(law.share_kept(of(1)), 1, EXACT);
	CHECK(1.1 * law.share_kept(of(1.1)) >= 1);
}

static void withstands_any_window()
{
	ModifiedScalableTcp law;
	const double infinity = std::numeric_limits<double>::infinity();
	const double windows[] = {-infinity, -1, 0, 0.5, 1e300, infinity, NAN};
	for (unsigned i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		double step = law.increase(of(windows[i])), kept = law.share_kept(of(windows[i]));
		CHECK(isfinite(step) && step >= 0 && step <= 1);
		CHECK(kept > 0 && kept <= 1);
	}
}

int main()
{
	adds_one_over_the_whole_packets_of_cwnd();
	adds_a_packet_an_rtt();
	keeps_seven_eighths_of_every_window();
	keeps_a_packet();
	withstands_any_window();
	return failures != 0;
}
