// Low utilization as P. Sharma's thesis (2006) defines it for CUBIC, section 4.4.2: the queueing
// delay is at most a tenth of its maximum.

#include <fenv.h>

#include "check.h"
#include "delay_monitor.h"

// Sums of a few decimal fractions: only the rounding of the last binary digits may differ.
static const double EXACT = 1e-12;

static void knows_the_smallest_and_the_largest_rtt()
{
	DelayMonitor delay(0.1, 2);
	CHECK_NEAR(delay.min_s(), 0, 0);
	CHECK_NEAR(delay.max_s(), 0, 0);
	delay.sample(0.104, 1);
	delay.sample(0.100, 1.1);
	delay.sample(0.120, 1.2);
	CHECK_NEAR(delay.min_s(), 0.100, 0);
	CHECK_NEAR(delay.max_s(), 0.120, 0);
}

static void means_the_last_whole_period()
{
	DelayMonitor delay(0.1, 2);
	CHECK_NEAR(delay.mean_s(), 0, 0);
	delay.sample(0.1, 0);
	delay.sample(0.2, 1);
	CHECK_NEAR(delay.mean_s(), 0.15, EXACT);	// so far
	delay.sample(0.3, 2);	// ends the period: (0.1 + 0.2 + 0.3) / 3
	CHECK_NEAR(delay.mean_s(), 0.2, EXACT);
	delay.sample(0.9, 2.1);
	CHECK_NEAR(delay.mean_s(), 0.2, EXACT);
}

// 100 ms without a queue, and up to 20 ms of queueing delay: a tenth of that is 2 ms.
static DelayMonitor after_a_full_queue(double threshold)
{
	DelayMonitor delay(threshold, 2);
	delay.sample(0.100, 0);
	delay.sample(0.120, 2);
	return delay;
}

static void indicates_low_utilization_below_the_threshold()
{
	DelayMonitor delay = after_a_full_queue(0.1);
	CHECK(!delay.low_utilization());	// 10 ms on average
	delay.sample(0.1015, 2.1);
	CHECK(!delay.low_utilization());	// the period is not over
	delay.sample(0.1015, 4.2);
	CHECK(delay.low_utilization());	// 1.5 ms
	delay.sample(0.103, 4.3);
	delay.sample(0.103, 6.4);
	CHECK(!delay.low_utilization());	// 3 ms
}

static void threshold_zero_turns_it_off()
{
	DelayMonitor delay = after_a_full_queue(0);
	delay.sample(0.100, 2.1);
	delay.sample(0.100, 4.2);
	CHECK(!delay.low_utilization());
}

static void a_loss_ends_the_indication_and_the_period()
{
	DelayMonitor delay = after_a_full_queue(0.1);
	delay.sample(0.100, 2.1);
	delay.sample(0.100, 4.2);
	CHECK(delay.low_utilization());
	delay.loss();
	CHECK(!delay.low_utilization());
	delay.sample(0.120, 5);
	delay.loss();
	delay.sample(0.100, 6);
	delay.sample(0.100, 8);
	CHECK(delay.low_utilization());	// the 120 ms were before the loss
	CHECK_NEAR(delay.max_s(), 0.120, 0);
}

static void observes_delays_and_indication()
{
	double values[4];
	DelayMonitor delay = after_a_full_queue(1);
	delay.observe(values);
	CHECK_NEAR(values[0], 0.100, 0);
	CHECK_NEAR(values[1], 0.110, EXACT);
	CHECK_NEAR(values[2], 0.120, 0);
	CHECK_NEAR(values[3], 1, 0);	// with a threshold of 1, 10 ms of 20 ms is below it
}

// Like ns-2, trap invalid floating-point operations, such as ordering a NaN.
static void passes_over_what_is_no_rtt()
{
	const double numbers[] = {NAN, -INFINITY, -1e308, -1, 0, INFINITY};
	DelayMonitor delay(0.1, 2);
	feenableexcept(FE_INVALID);
	for (int i = 0; i < 6; i++) {
		delay.sample(numbers[i], 1);
		if (numbers[i] != 0 && numbers[i] != -1 && numbers[i] != -1e308)
			delay.sample(0.1, numbers[i]);	// without a time
	}
	fedisableexcept(FE_INVALID);
	CHECK_NEAR(delay.min_s(), 0, 0);
	CHECK_NEAR(delay.mean_s(), 0, 0);
	CHECK_NEAR(delay.max_s(), 0, 0);
	CHECK(!delay.low_utilization());
}

static void time_that_runs_backwards_starts_a_new_period()
{
	DelayMonitor delay(0.1, 2);
	delay.sample(0.100, 10);
	delay.sample(0.200, 1);
	CHECK_NEAR(delay.mean_s(), 0.15, EXACT);
	delay.sample(0.300, 1.5);
	CHECK_NEAR(delay.mean_s(), 0.15, EXACT);
}

int main()
{
	knows_the_smallest_and_the_largest_rtt();
	means_the_last_whole_period();
	indicates_low_utilization_below_the_threshold();
	threshold_zero_turns_it_off();
	a_loss_ends_the_indication_and_the_period();
	observes_delays_and_indication();
	passes_over_what_is_no_rtt();
	time_that_runs_backwards_starts_a_new_period();
	return failures != 0;
}
