// CUBIC of 2005 as described in its paper and in P. Sharma's thesis (2006), section 4.4.1 and
// appendices: C(t - K)^3 + Wmax with C = 0.4, a share of 0.8 kept, and at most 16 packets in 0.2 s.

#include <fenv.h>

#include "check.h"
#include "cubic_tcp.h"

// Only the rounding of the last binary digits may differ.
static const double EXACT = 1e-12;

static const CubicParameters THESIS = {0.8, 16, true, 0.4, true, 0, 2};

// Without the TCP-friendly window, which would hide small steps of the cubic.
static const CubicParameters BARE = {0.8, 16, true, 0.4, false, 0, 2};

static WindowState at(double cwnd_pkts, double now_s)
{
	WindowState state = {cwnd_pkts, 100, 38, now_s, false, false, false};
	return state;
}

static WindowState before_any_loss(double cwnd_pkts, double now_s)
{
	WindowState state = {cwnd_pkts, 100, 38, now_s, true, true, false};
	return state;
}

static WindowState timeout_at(double cwnd_pkts, double now_s)
{
	WindowState state = {cwnd_pkts, 100, 38, now_s, true, false, true};
	return state;
}

// A law with an RTT of 100 ms that has lost a packet and opened cwnd once since then, at time 0.
static CubicTcp since_a_loss(double max_pkts, double cwnd_pkts, const CubicParameters& parameters)
{
	CubicTcp law(parameters);
	law.rtt_sample(0.1, 0);
	law.share_kept(before_any_loss(max_pkts, 0));
	law.increase(at(cwnd_pkts, 0));
	return law;
}

// Packets per RTT: one ACK for each packet of cwnd.
static double per_rtt(CubicTcp law, double cwnd_pkts, double now_s)
{
	return law.increase(at(cwnd_pkts, now_s)) * cwnd_pkts;
}

static void climbs_the_bare_cubic_before_the_first_loss()
{
	CubicTcp law(BARE);
	law.rtt_sample(0.1, 0);
	CHECK_NEAR(law.increase(before_any_loss(100, 1)) * 100, 0.0004, EXACT);	// 0.4 * 0.1^3
	// 100 + 0.4 * (9.9 + 0.1)^3 = 500 packets at 10.9 s: 100 more than 400, without a limit of
	// 8.
	CHECK_NEAR(law.increase(before_any_loss(400, 10.9)), 100 / 400.0, EXACT);
	// 100 + 0.4 * 25.84^3 = 7001.4: the published time to 6,997.5 packets is 26.55 s, minus 0.7
	// s of slow start.
	CHECK_NEAR(per_rtt(law, 6900, 26.74), 100 + 0.4 * 25.84 * 25.84 * 25.84 - 6900, 1e-9);
}

// Wmax = 1,000 and cwnd = 800: K = (200/0.4)^(1/3) = 7.937 s.
static void is_flat_around_the_last_maximum()
{
	CubicTcp law = since_a_loss(1000, 800, BARE);
	const double k = cbrt(500);
	// t + RTTmin = K - 1: 1000 - 0.4 = 999.6.
	CHECK_NEAR(per_rtt(law, 999, k - 1.1), 0.6, 1e-9);
	CHECK_NEAR(per_rtt(law, 999.9, k - 0.1), 0.1, 1e-9);	// t + RTTmin = K: 1,000
	CHECK_NEAR(per_rtt(law, 1000, k + 0.9), 0.4, 1e-9);	// one second beyond
	CHECK_NEAR(per_rtt(law, 1000, k + 1.9), 3.2, 1e-9);	// 0.4 * 2^3
}

static void starts_anew_where_cwnd_is_beyond_the_maximum()
{
	CubicTcp law = since_a_loss(1000, 1200, BARE);
	CHECK_NEAR(per_rtt(law, 1200, 0.9), 0.4, 1e-9);	// 0.4 * 1^3 above 1,200
}

// 16 packets in 0.2 s are 80 per second, 8 in an RTT of 100 ms and 16 in one of 200 ms.
static void grows_by_smax_at_most_after_a_loss()
{
	CubicTcp law = since_a_loss(8000, 6400, BARE);
	CHECK_NEAR(per_rtt(law, 6400, 1), 8, EXACT);
	CHECK_NEAR(per_rtt(law, 9000, 100), 8, EXACT);	// also beyond Wmax
	CubicTcp slow(BARE);
	slow.rtt_sample(0.2, 0);
	slow.share_kept(before_any_loss(8000, 0));
	slow.increase(at(6400, 0));
	CHECK_NEAR(per_rtt(slow, 6400, 1), 16, EXACT);
}

static void does_not_grow_where_the_target_is_below()
{
	CubicTcp law = since_a_loss(1000, 800, BARE);
	CHECK_NEAR(law.increase(at(1001, 1)), 0, 0);
}

// 3(1 - 0.8)/(1 + 0.8) = 1/3 packet per RTT.
static void follows_the_window_of_standard_tcp_where_that_is_larger()
{
	CubicTcp law(THESIS);
	law.share_kept(before_any_loss(10, 0));	// no RTT sample: Smax allows no packet
	double cwnd = 8;
	for (int ack = 0; ack < 80; ack++)
		cwnd += law.increase(at(cwnd, 0));
	// 80 ACKs are 8 to 10 RTTs: d(cwnd^2)/d(ACK) = 2/3, so sqrt(64 + 160/3) = 10.832. cwnd
	// follows Wtcp within an RTT, during which Wtcp grows by 1/3 packet.
	CHECK(cwnd <= 10.832 && cwnd >= 10.832 - 1 / 3.0);
	CubicTcp bare(BARE);
	bare.share_kept(before_any_loss(10, 0));
	CHECK_NEAR(bare.increase(at(8, 0)), 0, 0);
}

static void keeps_its_share_at_every_loss()
{
	CubicTcp law(THESIS);
	CHECK_NEAR(law.share_kept(before_any_loss(9000, 0)), 0.8, EXACT);
	CHECK_NEAR(law.share_kept(at(8000, 1)), 0.8, EXACT);
	CHECK_NEAR(law.share_kept(at(10, 2)), 0.8, EXACT);	// low_window_ has no effect
}

static void converges_fast_on_a_downward_trend()
{
	CubicTcp law = since_a_loss(1000, 800, BARE);
	law.share_kept(at(900, 5));	// Wmax = 0.9 * 900 = 810
	law.increase(at(720, 6));
	CHECK_NEAR(per_rtt(law, 809, 5.9 + cbrt(90 / 0.4)), 1, 1e-9);
	law.share_kept(at(850, 20));	// above 810: Wmax = 850
	law.increase(at(680, 21));
	CHECK_NEAR(per_rtt(law, 849, 20.9 + cbrt(170 / 0.4)), 1, 1e-9);
}

static void converges_slowly_without_fast_convergence()
{
	CubicParameters parameters = BARE;
	parameters.fast_convergence = false;
	CubicTcp law = since_a_loss(1000, 800, parameters);
	law.share_kept(at(900, 5));
	law.increase(at(720, 6));
	CHECK_NEAR(per_rtt(law, 899, 5.9 + cbrt(180 / 0.4)), 1, 1e-9);
}

static void forgets_the_maximum_at_a_timeout()
{
	CubicTcp law = since_a_loss(1000, 800, BARE);
	law.share_kept(timeout_at(900, 5));
	law.increase(timeout_at(450, 6));
	// 450 + 0.4 * 10^3 = 850, without Smax.
	CHECK_NEAR(law.increase(timeout_at(800, 15.9)), 50 / 800.0, EXACT);
}

static void follows_its_parameters()
{
	const CubicParameters parameters = {0.5, 100, true, 1, false, 0, 2};
	CubicTcp law = since_a_loss(2000, 1000, parameters);
	CHECK_NEAR(law.share_kept(at(2000, 0)), 0.5, EXACT);
	law.increase(at(1000, 0));
	CHECK_NEAR(per_rtt(law, 1000, 5), 50, EXACT);	// 100 in 0.2 s
	CHECK_NEAR(per_rtt(law, 1999, 8.9), 0, EXACT);	// K = 10 s: 2000 - 1
	CHECK_NEAR(per_rtt(law, 1999, 9.9), 1, 1e-9);
}

static void probes_without_smax_while_utilization_is_low()
{
	CubicParameters parameters = BARE;
	parameters.low_utilization_threshold = 0.1;
	CubicTcp law = since_a_loss(1000, 800, parameters);
	law.rtt_sample(0.120, 0.1);
	law.rtt_sample(0.100, 2.2);
	CHECK_NEAR(per_rtt(law, 1100, 20), 8, EXACT);
	law.rtt_sample(0.100, 2.3);
	law.rtt_sample(0.100, 4.4);
	CHECK(per_rtt(law, 1100, 20) > 100);	// 1000 + 0.4 * (20.1 - 7.937)^3 is 1,719
	CHECK_NEAR(per_rtt(law, 900, 7), 8, EXACT);	// below the maximum it is the same
	double values[4];
	law.observe(values);
	CHECK_NEAR(values[3], 1, 0);
}

static void adds_one_packet_per_ack_at_most()
{
	CubicTcp law(THESIS);
	law.increase(before_any_loss(10, 0));
	CHECK_NEAR(law.increase(before_any_loss(10, 1000)), 1, 0);
}

static void never_goes_below_one_packet()
{
	CubicTcp law(THESIS);
	CHECK_NEAR(1.1 * law.share_kept(at(1.1, 0)), 1, EXACT);
	CHECK_NEAR(law.share_kept(at(1, 0)), 1, EXACT);
	CHECK_NEAR(law.share_kept(at(0.3, 0)), 1, EXACT);	// counts as one packet
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
				  14, 50, 7775, 1e9, 1e308, INFINITY};
	const int count = sizeof(numbers) / sizeof(numbers[0]);
	const CubicParameters extremes = {0.01, 1000000, true, 1000000, true, 1, 0.001};
	CubicTcp laws[] = {CubicTcp(THESIS), CubicTcp(extremes)};
	for (int l = 0; l < 2; l++)
		for (int i = 0; i < count; i++)
			for (int j = 0; j < count; j++)
				for (int flags = 0; flags < 8; flags++) {
					WindowState state = {numbers[i], 100, 14, numbers[j],
							     (flags & 1) != 0, (flags & 2) != 0,
							     (flags & 4) != 0};
					laws[l].rtt_sample(numbers[j], numbers[i]);
					check_invariants(laws[l], state);
				}
}

int main()
{
	climbs_the_bare_cubic_before_the_first_loss();
	is_flat_around_the_last_maximum();
	starts_anew_where_cwnd_is_beyond_the_maximum();
	grows_by_smax_at_most_after_a_loss();
	does_not_grow_where_the_target_is_below();
	follows_the_window_of_standard_tcp_where_that_is_larger();
	keeps_its_share_at_every_loss();
	converges_fast_on_a_downward_trend();
	converges_slowly_without_fast_convergence();
	forgets_the_maximum_at_a_timeout();
	follows_its_parameters();
	probes_without_smax_while_utilization_is_low();
	adds_one_packet_per_ack_at_most();
	never_goes_below_one_packet();
	keeps_its_invariants_for_any_input();
	return failures != 0;
}
