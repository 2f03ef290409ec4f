// Proportional rate reduction, against arithmetic by hand with the algorithm of RFC 9937.

#include "check.h"
#include "proportional_reduction.h"

static const double EXACT = 1e-12;

// What an acknowledgement of one packet lets leave; all of it leaves.
static int leaves(ProportionalReduction& reduction, double& in_flight, double cwnd, bool progress)
{
	in_flight--;
	reduction.acknowledged(1, in_flight, cwnd, progress);
	int count = 0;
	for (; in_flight < reduction.window_pkts(); in_flight++, count++)
		reduction.sent();
	return count;
}

// RFC 9937, first example: of 20 packets the first is lost, and cwnd is halved. From the
// third duplicate on, every other acknowledgement lets a packet leave, and ten are in flight at the end.
static void one_loss_halves_what_leaves()
{
	ProportionalReduction reduction;
	CHECK(!reduction.active());
	double in_flight = 17;	// of 20, two have arrived, and one is lost, which is not in flight
	reduction.begin(18);
	CHECK(reduction.active());
	reduction.acknowledged(1, --in_flight, 10, false);
	int count = 0;
	for (; in_flight < reduction.window_pkts(); in_flight++, count++)
		reduction.sent();
	CHECK_NEAR(count, 1, EXACT);	// ceil(1 * 10/18): the retransmission leaves at once
	for (int i = 0; i < 16; i++)
		count += leaves(reduction, in_flight, 10, false);
	CHECK_NEAR(in_flight, 10, EXACT);
	CHECK_NEAR(count, 10, EXACT);	// ceil(17 * 10/18)
	reduction.end();
	CHECK(!reduction.active());
}

// 20 packets in flight, of which 15 are lost at once: less than cwnd is in flight, so that the first
// acknowledgement lets one packet leave, and not ten as cwnd alone would.
static void many_losses_make_no_burst()
{
	ProportionalReduction reduction;
	reduction.begin(20);
	double in_flight = 5;
	CHECK_NEAR(leaves(reduction, in_flight, 10, false), 1, EXACT);
	CHECK_NEAR(leaves(reduction, in_flight, 10, false), 1, EXACT);
	// With progress, one more for each acknowledgement, as in slow start, up to cwnd.
	CHECK_NEAR(leaves(reduction, in_flight, 10, true), 2, EXACT);
	for (int i = 0; i < 20; i++)
		leaves(reduction, in_flight, 10, true);
	CHECK_NEAR(in_flight, 10, EXACT);
}

int main()
{
	one_loss_halves_what_leaves();
	many_losses_make_no_burst();
	return failures != 0;
}
