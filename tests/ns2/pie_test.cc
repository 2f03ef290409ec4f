// PIE against RFC 8033, sections 4 and 5, by hand, with its default parameters.

#include "check.h"
#include "pie.h"

static const PieParameters STANDARD = {0.015, 0.015, 0.15, 0.125, 1.25, 1000, 0.1};
static const double EXACT = 1e-12;

// A queue of 30,000 bytes from which a packet of 1,000 bytes leaves each millisecond.
static Pie measured(double& now_s)
{
	Pie law(STANDARD);
	law.arrival(30000, 0, false, 0);
	for (int i = 1; i <= 18; i++)
		law.departure(1000, 30000, now_s = i * 0.001);
	return law;
}

static void the_delay_is_the_queue_over_the_rate_of_departure()
{
	double now_s;
	Pie law = measured(now_s);
	law.arrival(30000, 0.031, false, 1);
	CHECK_NEAR(law.delay_s(), 0.03, 1e-9);	// 30,000 bytes at 1,000,000 bytes/s
}

// At 0.015 s the rate is not known yet and the delay is 0. At 0.03 s it is 0.03 s, so the step is
// (0.125 (0.03 - 0.015) + 1.25 (0.03 - 0))/2048.
static void small_probabilities_change_by_small_steps()
{
	double now_s;
	Pie law = measured(now_s);
	CHECK_NEAR(law.probability(), 0, EXACT);
	law.arrival(30000, 0.03, false, 1);
	CHECK_NEAR(law.probability(), (0.125 * 0.015 + 1.25 * 0.03) / 2048, 1e-12);
	// 1.92e-5 is below 0.0001: the next step, of the same delay, is 0.125 * 0.015/128.
	law.arrival(30000, 0.045, false, 1);
	CHECK_NEAR(law.probability(), (0.125 * 0.015 + 1.25 * 0.03) / 2048 + 0.125 * 0.015 / 128, 1e-12);
}

static void a_burst_of_150_ms_passes()
{
	double now_s;
	Pie law = measured(now_s);
	CHECK_NEAR(law.burst_s(), 0.15, EXACT);		// given anew while the delay is 0
	law.arrival(3000000, 0.03, false, 1);
	CHECK_NEAR(law.burst_s(), 0.135, EXACT);
	for (double at_s = 0.031; at_s < 0.163; at_s += 0.001)
		CHECK(law.arrival(3000000, at_s, false, 0) == Pie::KEEP);
	law.arrival(3000000, 0.1651, false, 1);
	CHECK_NEAR(law.burst_s(), 0, 1e-9);
}

// A delay of 3 s for long: the probability rises to 1, and the steps from 0.1 on are at most 0.02.
static void large_probabilities_rise_by_two_per_cent_at_most()
{
	double now_s;
	Pie law = measured(now_s);
	double at_s = 0.03;
	while (law.probability() < 0.1)
		law.arrival(3000000, at_s += 0.015, false, 1);
	for (int i = 0; i < 10; i++) {
		const double before = law.probability();
		law.arrival(3000000, at_s += 0.015, false, 1);
		CHECK_NEAR(law.probability(), before + 0.02, 1e-9);
	}
	for (int i = 0; i < 100; i++)
		law.arrival(3000000, at_s += 0.015, false, 1);
	CHECK_NEAR(law.probability(), 1, EXACT);
	CHECK(law.arrival(3000000, at_s, false, 0.999) == Pie::DROP);
	CHECK(law.arrival(2000, at_s, false, 0) == Pie::KEEP);	// two packets
	CHECK(law.arrival(3000000, at_s, true, 0.5) == Pie::DROP);	// above the share that is marked
}

static void drops_are_neither_close_together_nor_far_apart()
{
	double now_s;
	Pie law = measured(now_s);
	double at_s = 0.03;
	while (law.probability() < 0.05 || law.burst_s() > 0)
		law.arrival(100000, at_s += 0.015, false, 1);
	const double p = law.probability();
	CHECK(p < 0.2);
	// It is dropped by chance, but not before 0.85/p packets, and for certain after 8.5/p. How much
	// of the first drop's share has been gathered before is unknown, so it is made to drop once.
	while (law.arrival(100000, at_s, false, 0) == Pie::KEEP) {
	}
	int kept = 0;
	while (law.arrival(100000, at_s, false, 0) == Pie::KEEP)
		kept++;
	CHECK(kept == static_cast<int>(0.85 / p));
	kept = 0;
	while (law.arrival(100000, at_s, false, 1) == Pie::KEEP)
		kept++;
	CHECK(kept == static_cast<int>(8.5 / p));
}

static void marks_take_the_place_of_drops_up_to_their_share()
{
	double now_s;
	Pie law = measured(now_s);
	double at_s = 0.03;
	for (int share = 0; share < 2; share++) {
		while (law.probability() < (share ? 0.1001 : 0.05) || law.burst_s() > 0)
			law.arrival(60000, at_s += 0.015, false, 1);
		Pie::Fate fate = Pie::KEEP;
		while (fate == Pie::KEEP)
			fate = law.arrival(60000, at_s, true, 0);
		CHECK(fate == (share ? Pie::DROP : Pie::MARK));
	}
}

static void an_empty_queue_lets_the_probability_decay()
{
	double now_s;
	Pie law = measured(now_s);
	double at_s = 0.03;
	for (int i = 0; i < 200; i++)
		law.arrival(100000, at_s += 0.015, false, 1);
	CHECK(law.probability() > 0.5);
	law.arrival(0, at_s += 0.015, false, 1);
	law.arrival(0, at_s += 1000, false, 1);	// as if nothing had come for long
	CHECK(law.probability() < 0.001);
	CHECK_NEAR(law.burst_s(), law.probability() == 0 ? 0.15 : 0, EXACT);
}

int main()
{
	the_delay_is_the_queue_over_the_rate_of_departure();
	small_probabilities_change_by_small_steps();
	a_burst_of_150_ms_passes();
	large_probabilities_rise_by_two_per_cent_at_most();
	drops_are_neither_close_together_nor_far_apart();
	marks_take_the_place_of_drops_up_to_their_share();
	an_empty_queue_lets_the_probability_decay();
	return failures != 0;
}
