// gHSTCP as described by Z. Zhang, G. Hasegawa and M. Murata (2005, section 3.2): the correlation
// of departure time and RTT over a window of packets, Fisher's Z, and the threshold 3.09.

#include <fenv.h>

#include "check.h"
#include "ghstcp.h"

static const double EXACT = 1e-12;
static const double NO_RESOLUTION = 0;
static const GentleHighSpeedParameters DEFAULTS = {3.09, true};
static const GentleHighSpeedParameters UNTIL_A_LOSS = {3.09, false};

static double z_of(const double* x, const double* y, int count, double resolution = NO_RESOLUTION)
{
	Correlation pairs;
	for (int i = 0; i < count; i++)
		pairs.add(x[i], y[i]);
	return pairs.fisher_z(resolution);
}

// x = 1..5, y = 2 1 4 3 5: both means are 3, sums of squares 10 and 10, sum of products 8, so
// r = 0.8 and Z = 1/2 ln(1.8/0.2) sqrt(2) = ln(3) sqrt(2).
static void is_fishers_z()
{
	const double x[] = {1, 2, 3, 4, 5}, y[] = {2, 1, 4, 3, 5}, down[] = {5, 3, 4, 1, 2};
	CHECK_NEAR(z_of(x, y, 5), log(3) * sqrt(2), EXACT);
	CHECK_NEAR(z_of(x, down, 5), -log(3) * sqrt(2), EXACT);
}

// Times as in a simulation: after an hour, packets 5 us apart, RTTs that differ by 1 us.
static void keeps_the_digits_of_late_times()
{
	const double y[] = {2, 1, 4, 3, 5};
	Correlation pairs;
	for (int i = 0; i < 5; i++)
		pairs.add(3600 + 5e-6 * i, 0.05 + 1e-6 * y[i]);
	CHECK_NEAR(pairs.fisher_z(1e-9), log(3) * sqrt(2), 1e-6);
}

static void has_no_z_of_too_few_pairs_or_without_variance()
{
	const double x[] = {1, 2, 3, 4, 5}, y[] = {2, 1, 4, 3, 5}, same[] = {7, 7, 7, 7, 7};
	CHECK(z_of(x, y, 0) == 0);
	CHECK(z_of(x, y, 3) == 0);
	CHECK(z_of(x, same, 5) == 0);
	CHECK(z_of(same, y, 5) == 0);
	CHECK(z_of(x, y, 5, 1.4) != 0);	// the standard deviation of y is sqrt(2)
	CHECK(z_of(x, y, 5, 1.42) == 0);
}

// Even at r = 1, a rising trend, Z is a finite number.
static void is_finite_for_a_straight_line()
{
	const double x[] = {1, 2, 3, 4}, down[] = {4, 3, 2, 1};
	CHECK(z_of(x, x, 4) > 10 && isfinite(z_of(x, x, 4)));
	CHECK(z_of(x, down, 4) < -10 && isfinite(z_of(x, down, 4)));
}

// n ACKs of packets 1 ms apart; the RTT starts at 50 ms and changes by slope_s with each.
static void acks(GentleHighSpeed& law, int n, double slope_s, double cwnd)
{
	for (int i = 0; i < n; i++)
		law.acked(1 + 1e-3 * i, 0.05 + slope_s * i, cwnd);
}

static void begins_as_highspeed_tcp()
{
	GentleHighSpeed law(DEFAULTS);
	CHECK(!law.reno_mode());
	CHECK(law.z() == 0);
}

static void tests_once_a_window()
{
	GentleHighSpeed law(DEFAULTS);
	acks(law, 19, 1e-4, 20.9);
	CHECK(!law.reno_mode());	// a window of 20.9 holds 20 packets
	acks(law, 1, 1e-4, 20.9);
	CHECK(law.reno_mode());
	CHECK(law.z() > 3.09);
}

// The window of the first ACK counts for the batch, however much it grows afterwards.
static void a_batch_has_the_window_of_its_beginning()
{
	GentleHighSpeed law(DEFAULTS);
	law.acked(1, 0.05, 5);
	for (int i = 1; i < 4; i++)
		law.acked(1 + 1e-3 * i, 0.05 + 1e-4 * i, 1000);
	CHECK(law.z() == 0);
	law.acked(1.004, 0.0504, 1000);
	CHECK(law.z() > 3.09);
}

// Z of five pairs is ln(3) sqrt(2) = 1.5537.
static void compares_with_its_threshold()
{
	const double rtts[] = {2, 1, 4, 3, 5};
	const GentleHighSpeedParameters below = {1.55, true}, above = {1.56, true};
	GentleHighSpeed rising(below), level(above);
	for (int i = 0; i < 5; i++) {
		rising.acked(i, 0.05 + 1e-3 * rtts[i], 5);
		level.acked(i, 0.05 + 1e-3 * rtts[i], 5);
	}
	CHECK_NEAR(rising.z(), log(3) * sqrt(2), 1e-9);
	CHECK(rising.reno_mode());
	CHECK(!level.reno_mode());
}

static void returns_when_the_trend_ends()
{
	GentleHighSpeed law(DEFAULTS), until_a_loss(UNTIL_A_LOSS);
	acks(law, 20, 1e-4, 20);
	acks(until_a_loss, 20, 1e-4, 20);
	acks(law, 20, -1e-4, 20);
	acks(until_a_loss, 20, -1e-4, 20);
	CHECK(!law.reno_mode() && law.z() < -3.09);
	CHECK(until_a_loss.reno_mode() && until_a_loss.z() < -3.09);
	until_a_loss.cut();
	CHECK(!until_a_loss.reno_mode());
}

static void a_cut_ends_the_batch_and_the_mode()
{
	GentleHighSpeed law(DEFAULTS);
	acks(law, 20, 1e-4, 20);
	acks(law, 19, 1e-4, 20);
	law.cut();
	CHECK(!law.reno_mode());
	acks(law, 19, 1e-4, 20);
	CHECK(!law.reno_mode());
	acks(law, 1, 1e-4, 20);
	CHECK(law.reno_mode());
}

static void equal_round_trips_are_no_trend()
{
	GentleHighSpeed law(DEFAULTS);
	acks(law, 1000, 1e-14, 1000);	// rounding: 0.3 ps in total
	CHECK(law.z() == 0 && !law.reno_mode());
	acks(law, 1000, 1e-11, 1000);	// 10 ns in total, a standard deviation of 2.9 ns
	CHECK(law.z() > 3.09 && law.reno_mode());
}

static void a_window_counts_as_four_packets_at_least()
{
	GentleHighSpeed law(DEFAULTS);
	acks(law, 3, 1e-4, 1);
	CHECK(law.z() == 0);
	acks(law, 1, 2e-3, 1);
	CHECK(law.z() != 0);
}

static const double NUMBERS[] = {NAN, -INFINITY, -1e308, -1, -0.0, 0, 1e-308, 0.1, 1, 4, 7775, 1e308, INFINITY};
static const int COUNT = sizeof(NUMBERS) / sizeof(NUMBERS[0]);

// Like ns-2, trap invalid floating-point operations, such as ordering a NaN.
static void keeps_its_invariants_for_any_input()
{
	GentleHighSpeed law(DEFAULTS);
	feenableexcept(FE_INVALID);
	for (int i = 0; i < COUNT; i++)
		for (int j = 0; j < COUNT; j++)
			for (int k = 0; k < COUNT; k++) {
				for (int n = 0; n < 5; n++)
					law.acked(NUMBERS[i], NUMBERS[j], NUMBERS[k]);
				CHECK(law.z() - law.z() == 0);	// finite
			}
	fedisableexcept(FE_INVALID);
}

int main()
{
	is_fishers_z();
	keeps_the_digits_of_late_times();
	has_no_z_of_too_few_pairs_or_without_variance();
	is_finite_for_a_straight_line();
	begins_as_highspeed_tcp();
	tests_once_a_window();
	a_batch_has_the_window_of_its_beginning();
	compares_with_its_threshold();
	returns_when_the_trend_ends();
	a_cut_ends_the_batch_and_the_mode();
	equal_round_trips_are_no_trend();
	a_window_counts_as_four_packets_at_least();
	keeps_its_invariants_for_any_input();
	return failures != 0;
}
