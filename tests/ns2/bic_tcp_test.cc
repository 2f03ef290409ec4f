// BIC TCP as described in its paper and in P. Sharma's thesis (2006), section 4.3.1 and appendices:
// keep 0.8, B = 4, Smax = 32, Smin = 0.01, low_window 14 packets.

#include <fenv.h>

#include "bic_tcp.h"
#include "check.h"

// Only the rounding of the last binary digits may differ.
static const double EXACT = 1e-12;

static const BicParameters THESIS = {0.8, 4, 32, 0.01, true, 0, 2};

static WindowState at(double cwnd_pkts)
{
	WindowState state = {cwnd_pkts, 100, 14, 0, false, false, false};
	return state;
}

static WindowState before_any_loss(double cwnd_pkts)
{
	WindowState state = {cwnd_pkts, 100, 14, 0, true, true, false};
	return state;
}

static WindowState timeout_at(double cwnd_pkts)
{
	WindowState state = {cwnd_pkts, 100, 14, 0, true, false, true};
	return state;
}

static BicTcp after_a_loss_at(double cwnd_pkts, const BicParameters& parameters = THESIS)
{
	BicTcp law(parameters);
	law.share_kept(before_any_loss(cwnd_pkts));
	return law;
}

// Packets per RTT: one ACK for each packet of cwnd.
static double per_rtt(BicTcp law, double cwnd_pkts)
{
	return law.increase(at(cwnd_pkts)) * cwnd_pkts;
}

static void grows_by_a_twentieth_per_rtt_before_the_first_loss()
{
	BicTcp law(THESIS);
	CHECK_NEAR(law.increase(before_any_loss(100)), 0.05, EXACT);
	// Neither limited slow start, which would give 1/floor(200/50), nor Smax of 32 in 9,000.
	CHECK_NEAR(law.increase(before_any_loss(200)), 0.05, EXACT);
	CHECK_NEAR(law.increase(before_any_loss(9000)), 0.05, EXACT);
}

static void halves_the_distance_below_the_maximum_b_times_slower()
{
	BicTcp law = after_a_loss_at(8000);
	CHECK_NEAR(per_rtt(law, 7900), 25, EXACT);	// (8000 - 7900)/4
	CHECK_NEAR(per_rtt(law, 7999), 0.25, EXACT);
	CHECK_NEAR(per_rtt(law, 7872), 32, EXACT);	// 128/4, just Smax
	CHECK_NEAR(per_rtt(law, 6400), 32, EXACT);	// 400, more than Smax
	CHECK_NEAR(per_rtt(law, 7999.99), 0.01, EXACT);	// 0.0025, less than Smin
}

static void probes_beyond_the_maximum_in_slow_start_up_to_smax()
{
	BicTcp law = after_a_loss_at(8000);
	CHECK_NEAR(per_rtt(law, 8000), 0.01, EXACT);	// Smin
	CHECK_NEAR(per_rtt(law, 8003), 1, EXACT);	// 3/3
	CHECK_NEAR(per_rtt(law, 8093), 31, EXACT);	// 93/3
	CHECK_NEAR(per_rtt(law, 8096), 32, EXACT);	// 96/3, just Smax
	CHECK_NEAR(per_rtt(law, 9000), 32, EXACT);
}

// Section 4.3.3.1: the first maximum is 9,409.98 packets; the second, 8,993.95, is smaller.
static void converges_fast_on_a_downward_trend()
{
	BicTcp law = after_a_loss_at(9409.98);
	CHECK_NEAR(9409.98 * law.share_kept(at(8993.95)), 7527.984, 1e-9);	// 0.8 of the first
	// Wmax is now (1 + 0.8)/2 * 8993.95 = 8094.555: 40 packets below it, growth is 10 per RTT.
	CHECK_NEAR(per_rtt(law, 8054.555), 10, 1e-9);
	law.share_kept(at(8500));	// an upward trend: Wmax is 8,500
	CHECK_NEAR(per_rtt(law, 8460), 10, 1e-9);
}

static void converges_slowly_without_fast_convergence()
{
	BicParameters parameters = THESIS;
	parameters.fast_convergence = false;
	BicTcp law = after_a_loss_at(9000, parameters);
	law.share_kept(at(8000));
	CHECK_NEAR(per_rtt(law, 7960), 10, EXACT);
}

static void keeps_its_share_at_every_loss()
{
	BicTcp law(THESIS);
	CHECK_NEAR(law.share_kept(before_any_loss(9000)), 0.8, EXACT);
	CHECK_NEAR(law.share_kept(at(8000)), 0.8, EXACT);
	CHECK_NEAR(law.share_kept(timeout_at(8000)), 0.8, EXACT);
}

static void is_standard_tcp_at_low_window_and_below()
{
	BicTcp law = after_a_loss_at(8000);
	CHECK_NEAR(law.increase(at(14)), 1 / 14.0, EXACT);
	CHECK_NEAR(law.increase(at(2)), 0.5, EXACT);
	CHECK_NEAR(per_rtt(law, 14.5), 32, EXACT);
	CHECK_NEAR(law.share_kept(at(14)), 0.5, EXACT);
	CHECK_NEAR(law.share_kept(at(14.5)), 0.8, EXACT);
}

static void forgets_the_maximum_at_a_timeout()
{
	BicTcp law = after_a_loss_at(8000);
	law.share_kept(timeout_at(7000));
	CHECK_NEAR(law.increase(timeout_at(3500)), 0.05, EXACT);
}

static void follows_its_parameters()
{
	const BicParameters parameters = {0.5, 2, 100, 1, true, 0, 2};
	BicTcp law(parameters);
	CHECK_NEAR(law.share_kept(before_any_loss(1000)), 0.5, EXACT);
	CHECK_NEAR(per_rtt(law, 900), 50, EXACT);	// the paper's binary search
	CHECK_NEAR(per_rtt(law, 700), 100, EXACT);
	CHECK_NEAR(per_rtt(law, 999.5), 1, EXACT);
	CHECK_NEAR(per_rtt(law, 1050), 50, EXACT);	// the paper's doubling
}

static void smax_holds_against_a_larger_smin()
{
	const BicParameters parameters = {0.8, 4, 5, 7, true, 0, 2};
	CHECK_NEAR(per_rtt(after_a_loss_at(8000, parameters), 7000), 5, EXACT);
}

static void probes_without_smax_while_utilization_is_low()
{
	BicParameters parameters = THESIS;
	parameters.low_utilization_threshold = 0.1;
	BicTcp law = after_a_loss_at(1000, parameters);
	law.rtt_sample(0.120, 0);
	law.rtt_sample(0.100, 2.1);
	CHECK_NEAR(per_rtt(law, 2000), 32, EXACT);	// a mean of 110 ms
	law.rtt_sample(0.100, 2.2);
	law.rtt_sample(0.100, 4.3);
	CHECK_NEAR(law.increase(at(2000)), 0.05, EXACT);
	CHECK_NEAR(per_rtt(law, 900), 25, EXACT);	// below the maximum it is the same
	double values[4];
	law.observe(values);
	CHECK_NEAR(values[3], 1, 0);
	law.share_kept(at(1000));
	CHECK_NEAR(per_rtt(law, 2000), 32, EXACT);
}

static void never_goes_below_one_packet()
{
	BicTcp law(THESIS);
	CHECK_NEAR(1.5 * law.share_kept(at(1.5)), 1, EXACT);
	CHECK_NEAR(law.share_kept(at(1)), 1, EXACT);
	CHECK_NEAR(law.share_kept(at(0.3)), 1, EXACT);	// counts as one packet
}

static void check_invariants(WindowLaw& law, const WindowState& state)
{
	feenableexcept(FE_INVALID);
	double increase = law.increase(state), share = law.share_kept(state);
	double next_increase = law.increase(state);
	fedisableexcept(FE_INVALID);
	CHECK(isfinite(increase) && increase >= 0);
	CHECK(isfinite(next_increase) && next_increase >= 0);
	CHECK(share > 0 && share <= 1);
	if (state.cwnd_pkts >= 1 && state.cwnd_pkts <= 1e15)
		CHECK(state.cwnd_pkts * share >= 1 - EXACT && state.cwnd_pkts * share <= state.cwnd_pkts);
}

// One law sees all of them, one after the other. Like ns-2, trap invalid floating-point operations,
// such as ordering a NaN.
static void keeps_its_invariants_for_any_input()
{
	const double numbers[] = {NAN, -INFINITY, -1e308, -1, -0.0, 0, 1e-308, 0.5, 1, 1.0000001,
				  14, 14.001, 50, 7775, 1e9, 1e308, INFINITY};
	const int count = sizeof(numbers) / sizeof(numbers[0]);
	const BicParameters extremes = {0.01, 2, 1000000, 0, true, 1, 0.001};
	BicTcp laws[] = {BicTcp(THESIS), BicTcp(extremes)};
	for (int l = 0; l < 2; l++)
		for (int i = 0; i < count; i++)
			for (int j = 0; j < count; j++)
				for (int flags = 0; flags < 8; flags++) {
					WindowState state = {numbers[i], 100, numbers[j], numbers[j],
							     (flags & 1) != 0, (flags & 2) != 0,
							     (flags & 4) != 0};
					laws[l].rtt_sample(numbers[j], numbers[i]);
					check_invariants(laws[l], state);
				}
}

int main()
{
	grows_by_a_twentieth_per_rtt_before_the_first_loss();
	halves_the_distance_below_the_maximum_b_times_slower();
	probes_beyond_the_maximum_in_slow_start_up_to_smax();
	converges_fast_on_a_downward_trend();
	converges_slowly_without_fast_convergence();
	keeps_its_share_at_every_loss();
	is_standard_tcp_at_low_window_and_below();
	forgets_the_maximum_at_a_timeout();
	follows_its_parameters();
	smax_holds_against_a_larger_smin();
	probes_without_smax_while_utilization_is_low();
	never_goes_below_one_packet();
	keeps_its_invariants_for_any_input();
	return failures != 0;
}
