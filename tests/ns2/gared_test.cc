// gARED as described by Z. Zhang, G. Hasegawa and M. Murata (2005, section 4.3), with the
// thresholds of their simulations: 2,500 and 7,500 packets, so the target is 4,500 to 5,500.

#include <fenv.h>

#include "check.h"
#include "gared.h"

static const double EXACT = 1e-15;
static const GentleAdaptiveRedParameters PAPER = {2500, 7500, 0.01, 0.9, 0.5};

static double changed(double avg, double old_avg, double max_p)
{
	return GentleAdaptiveRed(PAPER).max_p(avg, old_avg, max_p);
}

static void rises_above_the_target_while_the_average_rises()
{
	CHECK_NEAR(changed(5501, 5500, 0.1), 0.11, EXACT);	// 0.01 is less than a quarter of 0.1
	CHECK_NEAR(changed(5501, 5500, 0.004), 0.005, EXACT);	// a quarter is less than 0.01
	CHECK_NEAR(changed(9000, 2000, 0.04), 0.05, EXACT);	// both are equal
}

static void does_not_rise_on_the_way_back()
{
	CHECK(changed(5501, 5502, 0.1) == 0.1);
	CHECK(changed(5501, 5501, 0.1) == 0.1);
}

static void falls_below_the_target_while_the_average_falls()
{
	CHECK_NEAR(changed(4499, 4500, 0.1), 0.09, EXACT);
	CHECK_NEAR(changed(2501, 2600, 0.1), 0.09, EXACT);
	CHECK(changed(4499, 4498, 0.1) == 0.1);
	CHECK(changed(4499, 4499, 0.1) == 0.1);
}

static void stays_within_the_target_and_up_to_the_threshold()
{
	CHECK(changed(5000, 4000, 0.1) == 0.1);
	CHECK(changed(5000, 6000, 0.1) == 0.1);
	CHECK(changed(4500, 6000, 0.1) == 0.1);
	CHECK(changed(5500, 4000, 0.1) == 0.1);
	CHECK(changed(2500, 6000, 0.1) == 0.1);
	CHECK(changed(100, 200, 0.1) == 0.1);
}

static void has_a_top_and_no_bottom()
{
	CHECK(changed(6000, 5000, 0.5) == 0.5);
	CHECK_NEAR(changed(6000, 5000, 0.499), 0.509, EXACT);	// the only condition is max_p < top
	double max_p = 0.1;
	for (int i = 0; i < 1000; i++)
		max_p = changed(4000, 4100, max_p);
	CHECK(max_p > 0 && max_p < 1e-46);	// 0.1 0.9^1000 = 1.7e-47
}

static const double NUMBERS[] = {NAN, -INFINITY, -1, -0.0, 0, 1e-308, 0.1, 0.5, 1, 5000, 1e308, INFINITY};
static const int COUNT = sizeof(NUMBERS) / sizeof(NUMBERS[0]);

static void keeps_its_invariants_for_any_input()
{
	feenableexcept(FE_INVALID);
	for (int i = 0; i < COUNT; i++)
		for (int j = 0; j < COUNT; j++)
			for (int k = 0; k < COUNT; k++) {
				GentleAdaptiveRedParameters odd = {NUMBERS[i], NUMBERS[j], NUMBERS[k],
								   NUMBERS[i], NUMBERS[j]};
				double all[] = {changed(NUMBERS[i], NUMBERS[j], NUMBERS[k]),
						GentleAdaptiveRed(odd).max_p(NUMBERS[k], NUMBERS[j], 0.1)};
				for (int n = 0; n < 2; n++)
					CHECK(all[n] >= 0 && all[n] <= 1);
			}
	fedisableexcept(FE_INVALID);
}

int main()
{
	rises_above_the_target_while_the_average_rises();
	does_not_rise_on_the_way_back();
	falls_below_the_target_while_the_average_falls();
	stays_within_the_target_and_up_to_the_threshold();
	has_a_top_and_no_bottom();
	keeps_its_invariants_for_any_input();
	return failures != 0;
}
