// BIC TCP with Linux's smooth part and the numbers of Table II of Even, Li and Leith: Smax = 32, B
// = 4, smooth_part = 20, keep 0.8, low window 14 packets. Expected values follow from Linux's
// arithmetic (net/ipv4/tcp_bic.c of 2.6: one packet per cnt ACKs), by hand and without its
// rounding.

#include <fenv.h>

#include "check.h"
#include "smooth_bic_tcp.h"

static const double EXACT = 1e-12;

static const SmoothBicParameters TABLE_II = {0.8, 4, 32, 20, true};

static WindowState at(double cwnd_pkts)
{
	WindowState state = {cwnd_pkts, 0, 14, 0, false, false, false};
	return state;
}

static WindowState timeout_at(double cwnd_pkts)
{
	WindowState state = {cwnd_pkts, 0, 14, 0, true, false, true};
	return state;
}

static SmoothBicTcp after_a_loss_at(double cwnd_pkts, const SmoothBicParameters& parameters = TABLE_II)
{
	SmoothBicTcp law(parameters);
	law.share_kept(at(cwnd_pkts));
	return law;
}

// Packets per RTT: one ACK for each packet of cwnd.
static double per_rtt(SmoothBicTcp law, double cwnd_pkts)
{
	return law.increase(at(cwnd_pkts)) * cwnd_pkts;
}

static void adds_smax_far_below_the_maximum()
{
	SmoothBicTcp law = after_a_loss_at(8000);
	CHECK_NEAR(per_rtt(law, 6400), 32, EXACT);	// dist 400: cnt = 6400/32
	CHECK_NEAR(per_rtt(law, 7868), 32, EXACT);	// dist 33
	CHECK_NEAR(per_rtt(law, 7872), 32, EXACT);	// dist 32: cnt = cwnd/dist
}

static void searches_between_smax_and_the_smooth_part()
{
	SmoothBicTcp law = after_a_loss_at(8000);
	CHECK_NEAR(per_rtt(law, 7900), 25, EXACT);	// dist 25
	CHECK_NEAR(per_rtt(law, 7992), 2, EXACT);	// dist 2, the last one above 1
}

// If Linux's dist is 1 or 0, cnt = cwnd * 20/4: a packet takes five RTTs.
static void adds_a_fifth_of_a_packet_in_the_smooth_part()
{
	SmoothBicTcp law = after_a_loss_at(8000);
	CHECK_NEAR(per_rtt(law, 7993), 0.2, EXACT);	// 7/4 is 1 in Linux
	CHECK_NEAR(per_rtt(law, 7999), 0.2, EXACT);
	CHECK_NEAR(per_rtt(law, 8000), 0.2, EXACT);
	CHECK_NEAR(per_rtt(law, 8003), 0.2, EXACT);
}

// BIC as in the paper, windowOption_ 12, uses Smin there.
static void the_smooth_part_follows_b_and_smooth_part()
{
	SmoothBicParameters parameters = {0.8, 5, 32, 50, true};
	SmoothBicTcp law = after_a_loss_at(8000, parameters);
	CHECK_NEAR(per_rtt(law, 7999), 0.1, EXACT);	// 5/50
	CHECK_NEAR(per_rtt(law, 8004.5), 0.1, EXACT);
	CHECK_NEAR(per_rtt(law, 8005), 1.25, EXACT);	// 5/4
}

static void probes_beyond_the_maximum()
{
	SmoothBicTcp law = after_a_loss_at(8000);
	CHECK_NEAR(per_rtt(law, 8006), 2, EXACT);	// cnt = cwnd * 3/6
	CHECK_NEAR(per_rtt(law, 8093), 31, EXACT);
	CHECK_NEAR(per_rtt(law, 8096), 32, EXACT);	// Wmax + Smax (B - 1)
	CHECK_NEAR(per_rtt(law, 9000), 32, EXACT);
}

static void adds_five_per_cent_at_least_before_the_first_loss()
{
	SmoothBicTcp law(TABLE_II);
	CHECK_NEAR(law.increase(at(60)), 1 / 3.0, EXACT);	// cnt = 60 * 3/60 = 3
	CHECK_NEAR(law.increase(at(160)), 0.2, EXACT);		// 32 per RTT, 20 %
	CHECK_NEAR(law.increase(at(640)), 0.05, EXACT);		// cnt = 640/32 = 20
	CHECK_NEAR(law.increase(at(9000)), 0.05, EXACT);	// 281, but at most 20
}

static void is_standard_tcp_up_to_the_low_window()
{
	SmoothBicTcp law = after_a_loss_at(8000);
	CHECK_NEAR(per_rtt(law, 14), 1, EXACT);
	CHECK_NEAR(per_rtt(law, 15), 32, EXACT);
	CHECK_NEAR(law.share_kept(at(14)), 0.5, EXACT);
	CHECK_NEAR(law.share_kept(at(15)), 0.8, EXACT);
}

static void keeps_four_fifths_at_the_first_loss_too()
{
	SmoothBicTcp law(TABLE_II);
	WindowState first = {8000, 0, 14, 0, true, true, false};
	CHECK_NEAR(law.share_kept(first), 0.8, EXACT);
}

static void aims_lower_on_a_downward_trend()
{
	SmoothBicTcp law = after_a_loss_at(8000);
	law.share_kept(at(7000));
	// Wmax is (1 + 0.8)/2 * 7000 = 6300: 40 packets below it, growth is 10 per RTT.
	CHECK_NEAR(per_rtt(law, 6260), 10, EXACT);
	SmoothBicParameters slow = {0.8, 4, 32, 20, false};
	law = after_a_loss_at(8000, slow);
	law.share_kept(at(7000));
	CHECK_NEAR(per_rtt(law, 6960), 10, EXACT);	// Wmax is 7000
}

static void forgets_the_maximum_at_a_timeout()
{
	SmoothBicTcp law = after_a_loss_at(8000);
	CHECK_NEAR(law.share_kept(timeout_at(8000)), 0.8, EXACT);
	CHECK_NEAR(law.increase(at(6400)), 0.05, EXACT);
}

static const double NUMBERS[] = {NAN, -INFINITY, -1e308, -1, -0.0, 0, 1e-308, 0.1, 1, 1.5, 14, 7775, 1e308, INFINITY};
static const int COUNT = sizeof(NUMBERS) / sizeof(NUMBERS[0]);

static void check_invariants(SmoothBicTcp& law, const WindowState& state)
{
	double increase = law.increase(state);
	CHECK(isfinite(increase) && increase >= 0);
	double kept = law.share_kept(state);
	CHECK(kept > 0 && kept <= 1);
	if (isfinite(state.cwnd_pkts) && state.cwnd_pkts >= 1 && state.cwnd_pkts <= 1e15)
		CHECK(kept * state.cwnd_pkts >= 1 - EXACT);
}

// Like ns-2, trap invalid floating-point operations, such as ordering a NaN.
static void any_state_gives_a_usable_increase_and_share()
{
	feclearexcept(FE_ALL_EXCEPT);
	for (int i = 0; i < COUNT; i++)
		for (int j = 0; j < COUNT; j++)
			for (int timeout = 0; timeout < 2; timeout++) {
				SmoothBicTcp law = after_a_loss_at(NUMBERS[j]);
				WindowState state = {NUMBERS[i], NUMBERS[j], NUMBERS[j], NUMBERS[j],
						     timeout != 0, false, timeout != 0};
				check_invariants(law, state);
				check_invariants(law, state);
			}
	CHECK(!fetestexcept(FE_INVALID));
}

static void the_extremes_of_the_parameters_are_usable()
{
	const double betas[] = {0.01, 0.99}, bs[] = {2, 1000}, most[] = {0, 1000000}, parts[] = {0.001, 1000000};
	for (int i = 0; i < 16; i++) {
		SmoothBicParameters p = {betas[i & 1], bs[i >> 1 & 1], most[i >> 2 & 1],
					 parts[i >> 3 & 1], true};
		SmoothBicTcp law = after_a_loss_at(100, p);
		for (int j = 0; j < COUNT; j++)
			check_invariants(law, at(NUMBERS[j]));
	}
}

int main()
{
	adds_smax_far_below_the_maximum();
	searches_between_smax_and_the_smooth_part();
	adds_a_fifth_of_a_packet_in_the_smooth_part();
	the_smooth_part_follows_b_and_smooth_part();
	probes_beyond_the_maximum();
	adds_five_per_cent_at_least_before_the_first_loss();
	is_standard_tcp_up_to_the_low_window();
	keeps_four_fifths_at_the_first_loss_too();
	aims_lower_on_a_downward_trend();
	forgets_the_maximum_at_a_timeout();
	any_state_gives_a_usable_increase_and_share();
	the_extremes_of_the_parameters_are_usable();
	return failures != 0;
}
