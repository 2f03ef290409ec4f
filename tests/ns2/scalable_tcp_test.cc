// Scalable TCP as described in P. Sharma's thesis (2006), section 4.2.1: 0.01 per ACK and a cut by
// 0.125 above LowWindow = 16 packets, and standard TCP up to it.

#include <fenv.h>

#include "check.h"
#include "scalable_tcp.h"

// Only the rounding of the last binary digit may differ.
static const double EXACT = 1e-15;

static WindowState after_a_cut(double cwnd_pkts)
{
	WindowState state = {cwnd_pkts, 100, 16, 0, false, false, false};
	return state;
}

static WindowState before_any_loss(double cwnd_pkts)
{
	WindowState state = {cwnd_pkts, 100, 16, 0, true, true, false};
	return state;
}

static void adds_a_hundredth_per_ack_above_the_threshold()
{
	ScalableTcp law(16);
	CHECK_NEAR(law.increase(after_a_cut(16.001)), 0.01, EXACT);
	CHECK_NEAR(law.increase(after_a_cut(7775)), 0.01, EXACT);
}

static void multiplies_the_window_by_1_01_per_rtt()
{
	ScalableTcp law(16);
	double cwnd = 1000;
	for (int ack = 0; ack < 1000; ack++)
		cwnd += law.increase(after_a_cut(cwnd));
	// 1,000 ACKs times 0.01 are 10 packets; each sum is rounded by less than 2e-13.
	CHECK_NEAR(cwnd, 1010, 1e-9);
}

static void is_standard_tcp_at_the_threshold_and_below()
{
	ScalableTcp law(16);
	CHECK_NEAR(law.increase(after_a_cut(16)), 1 / 16.0, EXACT);
	CHECK_NEAR(law.increase(after_a_cut(4)), 1 / 4.0, EXACT);
	CHECK_NEAR(law.share_kept(after_a_cut(16)), 0.5, EXACT);
	CHECK_NEAR(law.share_kept(after_a_cut(4)), 0.5, EXACT);
}

static void moves_the_threshold_with_its_parameter()
{
	ScalableTcp law(100);
	CHECK_NEAR(law.increase(after_a_cut(100)), 1 / 100.0, EXACT);
	CHECK_NEAR(law.increase(after_a_cut(50)), 1 / 50.0, EXACT);
	CHECK_NEAR(law.share_kept(after_a_cut(100)), 0.5, EXACT);
	CHECK_NEAR(law.share_kept(after_a_cut(101)), 0.875, EXACT);
}

static void keeps_seven_eighths_at_a_loss()
{
	ScalableTcp law(16);
	// 8,000 packets minus 0.125 of them: 7,000.
	CHECK_NEAR(8000 * law.share_kept(after_a_cut(8000)), 7000, EXACT);
}

static void halves_at_the_first_loss()
{
	ScalableTcp law(16);
	CHECK_NEAR(law.share_kept(before_any_loss(8000)), 0.5, EXACT);
}

static void ramps_up_by_limited_slow_start_while_that_is_faster()
{
	ScalableTcp law(16);
	// floor(1000/50) = 20 steps: 1/20 = 0.05 per ACK, more than 0.01.
	CHECK_NEAR(law.increase(before_any_loss(1000)), 0.05, EXACT);
	// floor(5049/50) = 100 and floor(7775/50) = 155: 1/100 and 1/155 are not more than 0.01.
	CHECK_NEAR(law.increase(before_any_loss(5049)), 0.01, EXACT);
	CHECK_NEAR(law.increase(before_any_loss(7775)), 0.01, EXACT);
	// A cut ends it.
	CHECK_NEAR(law.increase(after_a_cut(1000)), 0.01, EXACT);
}

static void ramps_up_alone_without_max_ssthresh()
{
	ScalableTcp law(16);
	WindowState state = {1000, 0, 16, 0, true, true, false};
	CHECK_NEAR(law.increase(state), 0.01, EXACT);
}

static void never_goes_below_one_packet()
{
	ScalableTcp law(16);
	CHECK_NEAR(law.share_kept(after_a_cut(2)), 0.5, EXACT);
	CHECK_NEAR(1.5 * law.share_kept(after_a_cut(1.5)), 1, EXACT);
	CHECK_NEAR(law.share_kept(after_a_cut(1)), 1, EXACT);
	CHECK_NEAR(law.share_kept(after_a_cut(0.3)), 1, EXACT);	// counts as one packet
	CHECK_NEAR(law.increase(after_a_cut(0.3)), 1, EXACT);	// 1/1
}

static void check_invariants(WindowLaw& law, const WindowState& state)
{
	double increase = law.increase(state), share = law.share_kept(state);
	CHECK(isfinite(increase) && increase >= 0);
	CHECK(share > 0 && share <= 1);
	if (state.cwnd_pkts >= 1 && isfinite(state.cwnd_pkts))
		CHECK(state.cwnd_pkts * share >= 1 - EXACT && state.cwnd_pkts * share <= state.cwnd_pkts);
}

static void keeps_its_invariants_for_any_input()
{
	const double numbers[] = {NAN, -INFINITY, -1e308, -1, -0.0, 0, 1e-308, 0.5, 1, 1.0000001,
				  15.999, 16, 16.001, 50, 7775, 1e9, 1e308, INFINITY};
	const int count = sizeof(numbers) / sizeof(numbers[0]);
	ScalableTcp laws[] = {ScalableTcp(1), ScalableTcp(16), ScalableTcp(1000000)};
	for (int l = 0; l < 3; l++)
		for (int i = 0; i < count; i++)
			for (int j = 0; j < count; j++)
				for (int flags = 0; flags < 4; flags++) {
					WindowState state = {numbers[i], numbers[j], 16, 0, (flags & 1) != 0,
							     (flags & 2) != 0, false};
					check_invariants(laws[l], state);
				}
}

// Like ns-2, trap invalid floating-point operations, such as ordering a NaN.
static void takes_no_window_for_one_packet_without_a_trap()
{
	ScalableTcp law(16);
	feenableexcept(FE_INVALID);
	double increase = law.increase(before_any_loss(NAN)), share = law.share_kept(after_a_cut(NAN));
	fedisableexcept(FE_INVALID);
	CHECK_NEAR(increase, 1, EXACT);
	CHECK_NEAR(share, 1, EXACT);
}

int main()
{
	adds_a_hundredth_per_ack_above_the_threshold();
	multiplies_the_window_by_1_01_per_rtt();
	is_standard_tcp_at_the_threshold_and_below();
	moves_the_threshold_with_its_parameter();
	keeps_seven_eighths_at_a_loss();
	halves_at_the_first_loss();
	ramps_up_by_limited_slow_start_while_that_is_faster();
	ramps_up_alone_without_max_ssthresh();
	never_goes_below_one_packet();
	keeps_its_invariants_for_any_input();
	takes_no_window_for_one_packet_without_a_trap();
	return failures != 0;
}
