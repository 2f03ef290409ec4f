// TCP Westwood's estimate as described in its papers (MobiCom 2001, Wireless Networks 2002),
// compared with values of the filter worked out by hand.

#include <limits>

#include "check.h"
#include "westwood_tcp.h"

// Sums of a few products: only the rounding of the last digits may differ.
static const double EXACT = 1e-9;

static const WestwoodParameters PAPER = {0.5, 2};

static void ack(WestwoodTcp& law, double now_s, int new_pkts, double rtt_s = 0.025)
{
	WestwoodAck arrived = {now_s, rtt_s, new_pkts};
	law.acked(arrived);
}

static void knows_nothing_before_the_second_ack()
{
	WestwoodTcp law(PAPER);
	CHECK_NEAR(law.bandwidth_pps(0), 0, EXACT);
	CHECK_NEAR(law.ssthresh_pkts(0), 2, EXACT);
	ack(law, 0.025, 1);
	CHECK_NEAR(law.bandwidth_pps(0.025), 0, EXACT);
	CHECK_NEAR(law.rtt_min_s(), 0.025, EXACT);
}

static void filters_a_sample_by_the_trapezoid()
{
	WestwoodTcp law(PAPER);
	ack(law, 1.0, 1);
	// One packet in 0.2 s: b = 5/s. g = (1 - 0.2) / (1 + 0.2) = 2/3, so BWE = 1/3 (5 + 0) / 2 =
	// 5/6.
	ack(law, 1.2, 1);
	CHECK_NEAR(law.bandwidth_pps(1.2), 5 / 6.0, EXACT);
	// The next one: BWE = 2/3 5/6 + 1/3 (5 + 5) / 2 = 5/9 + 5/3 = 20/9.
	ack(law, 1.4, 1);
	CHECK_NEAR(law.bandwidth_pps(1.4), 20 / 9.0, EXACT);
}

static void comes_to_a_steady_rate()
{
	WestwoodTcp law(PAPER);
	for (int i = 0; i <= 10000; i++)
		ack(law, i * 0.001, 1);
	// 10 s of 1,000 packets/s: after 20 time constants, e^-20 = 2e-9 of the difference remains.
	CHECK_NEAR(law.bandwidth_pps(10), 1000, 1e-4);
	CHECK_NEAR(law.ssthresh_pkts(10), 24, 1);	// 1,000/s times 0.025 s
}

static void takes_silence_for_samples_of_zero()
{
	WestwoodTcp law(PAPER);
	ack(law, 1.0, 1);
	ack(law, 1.2, 1);	// BWE = 5/6, b = 5
	// After tau/m = 0.25 s: g = (1 - 0.25) / (1 + 0.25) = 0.6, 0.6 5/6 + 0.4 (0 + 5) / 2 = 1.5.
	CHECK_NEAR(law.bandwidth_pps(1.46), 1.5, EXACT);
	// After another 0.25 s: 0.6 1.5 = 0.9.
	CHECK_NEAR(law.bandwidth_pps(1.71), 0.9, EXACT);
	// Asking twice counts the silence only once.
	CHECK_NEAR(law.bandwidth_pps(1.71), 0.9, EXACT);
}

static void measures_from_the_last_sample_of_silence()
{
	WestwoodTcp law(PAPER);
	ack(law, 1.0, 1);
	ack(law, 1.2, 1);
	// One silent period until 1.45 s, BWE 1.5; then a packet after 0.1 s: b = 10,
	// g = 0.9/1.1, 1.5 0.9/1.1 + 0.2/1.1 (10 + 0) / 2 = (1.35 + 1) / 1.1.
	ack(law, 1.55, 1);
	CHECK_NEAR(law.bandwidth_pps(1.55), 2.35 / 1.1, EXACT);
}

static void counts_duplicates_and_what_comes_after_them_once()
{
	WestwoodTcp one(PAPER), other(PAPER);
	ack(one, 1.0, 1);
	ack(other, 1.0, 1);
	// Three duplicate ACKs, then an ACK of the lost packet and the three after it: 4 packets.
	for (int i = 1; i <= 3; i++) {
		ack(one, 1.0 + 0.1 * i, 0);
		ack(other, 1.0 + 0.1 * i, 1);
	}
	ack(one, 1.4, 4);
	ack(other, 1.4, 1);
	CHECK_NEAR(one.bandwidth_pps(1.4), other.bandwidth_pps(1.4), EXACT);
	// If nothing was counted before, an ACK of four packets counts four.
	ack(one, 1.5, 4);
	ack(other, 1.5, 4);
	CHECK_NEAR(one.bandwidth_pps(1.5), other.bandwidth_pps(1.5), EXACT);
}

static void counts_an_ack_that_duplicates_cover_as_one_packet()
{
	WestwoodTcp one(PAPER), other(PAPER);
	ack(one, 1.0, 1);
	ack(other, 1.0, 1);
	for (int i = 1; i <= 6; i++) {
		ack(one, 1.0 + 0.1 * i, 0);
		ack(other, 1.0 + 0.1 * i, 1);
	}
	ack(one, 1.7, 4);	// six were counted, two remain
	ack(other, 1.7, 1);
	CHECK_NEAR(one.bandwidth_pps(1.7), other.bandwidth_pps(1.7), EXACT);
	ack(one, 1.8, 3);	// only one of them is new
	ack(other, 1.8, 1);
	CHECK_NEAR(one.bandwidth_pps(1.8), other.bandwidth_pps(1.8), EXACT);
}

static void adds_up_acks_of_the_same_moment()
{
	WestwoodTcp one(PAPER), other(PAPER);
	ack(one, 1.0, 1);
	ack(other, 1.0, 1);
	ack(one, 1.2, 1);
	ack(other, 1.2, 1);
	ack(one, 1.2, 1);	// no time has passed, so it counts with the next ACK
	ack(one, 1.3, 1);
	ack(other, 1.3, 2);
	CHECK_NEAR(one.bandwidth_pps(1.3), other.bandwidth_pps(1.3), EXACT);
}

static void keeps_the_smallest_rtt()
{
	WestwoodTcp law(PAPER);
	ack(law, 1.0, 1, 0.03);
	ack(law, 1.1, 1, 0.025);
	ack(law, 1.2, 1, 0.04);
	ack(law, 1.3, 1, 0);	// not a sample
	CHECK_NEAR(law.rtt_min_s(), 0.025, EXACT);
}

static void withstands_any_ack()
{
	const double infinity = std::numeric_limits<double>::infinity();
	const double values[] = {-infinity, -1, 0, 1e-300, 1, 1e300, infinity, NAN};
	const unsigned count = sizeof(values) / sizeof(values[0]);
	const int packets[] = {-2147483647, -1, 0, 1, 2147483647};
	WestwoodTcp law(PAPER);
	for (unsigned i = 0; i < count * count * 5; i++) {
		ack(law, values[i % count], packets[i % 5], values[i / count % count]);
		double rate = law.bandwidth_pps(values[i % count]);
		int ssthresh = law.ssthresh_pkts(values[(i + 1) % count]);
		CHECK(isfinite(rate) && rate >= 0);
		CHECK(ssthresh >= 2 && ssthresh <= 1000000000);
	}
}

int main()
{
	knows_nothing_before_the_second_ack();
	filters_a_sample_by_the_trapezoid();
	comes_to_a_steady_rate();
	takes_silence_for_samples_of_zero();
	measures_from_the_last_sample_of_silence();
	counts_duplicates_and_what_comes_after_them_once();
	counts_an_ack_that_duplicates_cover_as_one_packet();
	adds_up_acks_of_the_same_moment();
	keeps_the_smallest_rtt();
	withstands_any_ack();
	return failures != 0;
}
