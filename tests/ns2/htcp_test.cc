// H-TCP as described by D. Leith and R. Shorten (PFLDnet 2004, section 2) and used in P. Sharma's
// thesis (2006), section 4.6.1: 2 (1 - beta) k (1 + 10 d + d^2/4) packets per RTT, d seconds beyond
// the threshold of one second, and a cut to RTTmin / RTTmax between 0.5 and 0.8.

#include <fenv.h>

#include "check.h"
#include "htcp.h"

// Only the rounding of the last binary digits may differ.
static const double EXACT = 1e-14;

static const HTcpParameters DEFAULTS = {1, true, true};

static WindowState later(double cwnd_pkts, double now_s)
{
	WindowState state = {cwnd_pkts, 1, 0, now_s, false, false, false};
	return state;
}

static WindowState first_loss(double cwnd_pkts, double now_s)
{
	WindowState state = {cwnd_pkts, 1, 0, now_s, true, true, false};
	return state;
}

// ACKs until cwnd opens by a packet, for a new law whose first RTT sample was at 0 s.
static int acks_a_packet(const HTcpParameters& parameters, double rtt_s, double cwnd, double now_s)
{
	HTcp law(parameters);
	law.rtt_sample(rtt_s, 0);
	int acks = 1;
	while (law.increase(later(cwnd, now_s)) == 0 && acks < 100000)
		acks++;
	return acks;
}

// One ACK opens the window after n others were counted: n alpha = cwnd.
static void is_standard_tcp_up_to_the_threshold()
{
	// Initially beta is 1/2, so alpha is 2 (1 - 1/2) = 1.
	CHECK(acks_a_packet(DEFAULTS, 0.1, 50, 0.5) == 51);
	CHECK(acks_a_packet(DEFAULTS, 0.1, 50, 1) == 51);
	CHECK(acks_a_packet(DEFAULTS, 0.4, 50, 1) == 51);	// no RTT scaling below the threshold
}

static void grows_with_the_time_since_the_last_loss()
{
	// d = 2: 1 + 20 + 1 = 22 packets per RTT.
	CHECK(acks_a_packet(DEFAULTS, 0.1, 220, 3) == 11);
	// d = 10: 1 + 100 + 25 = 126.
	CHECK(acks_a_packet(DEFAULTS, 0.1, 1260, 11) == 11);
}

static void moves_the_threshold_with_its_parameter()
{
	HTcpParameters two_seconds = {2, true, true};
	CHECK(acks_a_packet(two_seconds, 0.1, 50, 2) == 51);
	CHECK(acks_a_packet(two_seconds, 0.1, 220, 4) == 11);
}

static void scales_with_the_rtt_within_limits()
{
	// 22 packets per RTT at 100 ms: half of that at 50 ms, twice as much at 200 ms and above, a
	// tenth at 10 ms and below.
	CHECK(acks_a_packet(DEFAULTS, 0.05, 110, 3) == 11);
	CHECK(acks_a_packet(DEFAULTS, 0.4, 440, 3) == 11);
	CHECK(acks_a_packet(DEFAULTS, 0.001, 21.9, 3) == 11);
	HTcpParameters unscaled = {1, false, true};
	CHECK(acks_a_packet(unscaled, 0.4, 220, 3) == 11);
}

static void counts_the_time_from_the_first_sample()
{
	HTcp law(DEFAULTS);
	law.rtt_sample(0.1, 50);
	for (int ack = 0; ack < 20; ack++)
		CHECK(law.increase(later(20, 51)) == 0);
	CHECK(law.increase(later(20, 51)) == 1);
}

static void renews_its_rate_once_per_rtt()
{
	HTcp law(DEFAULTS);
	law.rtt_sample(0.1, 0);
	for (int ack = 0; ack < 10; ack++)
		CHECK(law.increase(later(220, 3)) == 0);	// 22 per RTT
	CHECK(law.increase(later(220, 3.05)) == 1);
	// d = 12: 1 + 120 + 36 = 157. A moment later it would also be enough for 157.5 packets.
	CHECK(law.increase(later(157, 13)) == 0);
	CHECK(law.increase(later(157, 13)) == 1);
	CHECK(law.increase(later(157.5, 13.05)) == 0);
	CHECK(law.increase(later(157.5, 13.05)) == 0);
	CHECK(law.increase(later(157.5, 13.05)) == 1);
}

static void limited_slow_start_holds_while_it_is_faster()
{
	HTcp law(DEFAULTS);
	law.rtt_sample(0.1, 0);
	WindowState state = first_loss(1000, 0.5);
	state.max_ssthresh_pkts = 100;
	// floor(1000/50) = 20 steps: 0.05 per ACK, more than 1/1000.
	CHECK_NEAR(law.increase(state), 0.05, EXACT);
	state.max_ssthresh_pkts = 1;	// 1/2000: slower
	CHECK(law.increase(state) == 0);
	state.max_ssthresh_pkts = 100;
	state.ramping_up = false;
	CHECK(law.increase(state) == 0);
}

// Raises RTTmax to rtt_s in steps of 20 ms per sample.
static void raise_rtt_max(HTcp& law, double rtt_s, double now_s)
{
	for (double rtt = 0.1; rtt < rtt_s; rtt += 0.0199)
		law.rtt_sample(rtt, now_s);
	law.rtt_sample(rtt_s, now_s);
}

// A law after two similar losses, with RTTs from 0.1 s to rtt_max_s: the next cut is their ratio.
static HTcp in_equilibrium(double rtt_max_s)
{
	HTcp law(DEFAULTS);
	law.rtt_sample(0.1, 0);
	raise_rtt_max(law, rtt_max_s, 10);
	CHECK_NEAR(law.share_kept(first_loss(8000, 10)), 0.5, EXACT);
	raise_rtt_max(law, rtt_max_s, 20);
	CHECK_NEAR(law.share_kept(later(8000, 20)), 0.5, EXACT);
	raise_rtt_max(law, rtt_max_s, 30);
	return law;
}

static void keeps_the_ratio_of_the_rtts_in_equilibrium()
{
	HTcp law = in_equilibrium(0.16);
	CHECK_NEAR(law.share_kept(later(8000, 30)), 0.1 / 0.16, EXACT);
}

static void keeps_between_a_half_and_four_fifths()
{
	HTcp small_buffer = in_equilibrium(0.11), large_buffer = in_equilibrium(0.3);
	CHECK_NEAR(small_buffer.share_kept(later(8000, 30)), 0.8, EXACT);
	CHECK_NEAR(large_buffer.share_kept(later(8000, 30)), 0.5, EXACT);
}

static void halves_where_the_throughput_changed_by_a_fifth()
{
	HTcp law = in_equilibrium(0.16);
	CHECK_NEAR(law.share_kept(later(6000, 30)), 0.5, EXACT);	// 0.75 of 8,000
	raise_rtt_max(law, 0.16, 40);
	CHECK_NEAR(law.share_kept(later(6000, 40)), 0.5, EXACT);	// steady for the first time
	raise_rtt_max(law, 0.16, 50);
	CHECK_NEAR(law.share_kept(later(6000, 50)), 0.625, EXACT);	// steady for the second time
	raise_rtt_max(law, 0.16, 60);
	CHECK_NEAR(law.share_kept(later(7300, 60)), 0.5, EXACT);	// 1.22 of 6,000
}

static void ignores_jumps_and_what_follows_a_loss_in_the_largest_rtt()
{
	HTcp law = in_equilibrium(0.16);
	law.rtt_sample(0.19, 31);	// 30 ms above
	law.rtt_sample(0.17, 20.25);	// 2.5 RTTs after the loss at 20 s
	CHECK_NEAR(law.share_kept(later(8000, 31)), 0.625, EXACT);
}

static void forgets_the_largest_rtt_slowly()
{
	HTcp law = in_equilibrium(0.16);
	law.share_kept(later(8000, 30));
	// 0.95 of the 60 ms above RTTmin remain.
	CHECK_NEAR(law.share_kept(later(8000, 40)), 0.1 / (0.1 + 0.95 * 0.06), EXACT);
}

static void opens_slower_after_a_smaller_cut()
{
	HTcp law = in_equilibrium(0.11);
	law.share_kept(later(8000, 30));
	for (int ack = 0; ack < 20; ack++)	// 2 (1 - 0.8) = 0.4 per RTT, and 8 / 0.4 = 20
		CHECK(law.increase(later(7.99, 30.5)) == 0);
	CHECK(law.increase(later(7.99, 30.5)) == 1);
}

static void always_halves_without_adaptive_backoff()
{
	HTcpParameters halving = {1, true, false};
	HTcp law(halving);
	law.rtt_sample(0.1, 0);
	for (int loss = 1; loss < 5; loss++)
		CHECK_NEAR(law.share_kept(later(8000, 10 * loss)), 0.5, EXACT);
}

static void halves_without_a_sample()
{
	HTcp law(DEFAULTS);
	for (int loss = 1; loss < 5; loss++)
		CHECK_NEAR(law.share_kept(later(8000, 10 * loss)), 0.5, EXACT);
}

static void never_goes_below_one_packet()
{
	HTcp law(DEFAULTS);
	CHECK_NEAR(1.5 * law.share_kept(later(1.5, 1)), 1, EXACT);
	CHECK_NEAR(law.share_kept(later(0.3, 2)), 1, EXACT);	// counts as one packet
}

static const double NUMBERS[] = {NAN, -INFINITY, -1e308, -1, -0.0, 0, 1e-308, 0.1, 1, 1.5, 7775, 1e308, INFINITY};
static const int COUNT = sizeof(NUMBERS) / sizeof(NUMBERS[0]);

// Like ns-2, trap invalid floating-point operations, such as ordering a NaN.
static void check_invariants(HTcp& law, const WindowState& state, double rtt_s)
{
	feenableexcept(FE_INVALID);
	law.rtt_sample(rtt_s, state.now_s);
	double increase = law.increase(state), share = law.share_kept(state);
	double after = law.increase(state);
	fedisableexcept(FE_INVALID);
	CHECK(isfinite(increase) && increase >= 0 && isfinite(after) && after >= 0);
	CHECK(share > 0 && share <= 1);
	if (state.cwnd_pkts >= 1 && isfinite(state.cwnd_pkts))
		CHECK(state.cwnd_pkts * share >= 1 - EXACT);
}

static void keeps_its_invariants_for_any_input()
{
	const HTcpParameters all[] = {DEFAULTS, {0, false, true}, {1000, true, false}};
	for (int p = 0; p < 3; p++) {
		HTcp seasoned(all[p]);
		for (int i = 0; i < COUNT; i++)
			for (int j = 0; j < COUNT; j++)
				for (int k = 0; k < COUNT; k++) {
					WindowState state = {NUMBERS[i], 100, 0, NUMBERS[j], k % 2 == 0,
							     k % 3 == 0, false};
					HTcp fresh(all[p]);
					check_invariants(fresh, state, NUMBERS[k]);
					check_invariants(seasoned, state, NUMBERS[k]);
				}
	}
}

int main()
{
	is_standard_tcp_up_to_the_threshold();
	grows_with_the_time_since_the_last_loss();
	moves_the_threshold_with_its_parameter();
	scales_with_the_rtt_within_limits();
	counts_the_time_from_the_first_sample();
	renews_its_rate_once_per_rtt();
	limited_slow_start_holds_while_it_is_faster();
	keeps_the_ratio_of_the_rtts_in_equilibrium();
	keeps_between_a_half_and_four_fifths();
	halves_where_the_throughput_changed_by_a_fifth();
	ignores_jumps_and_what_follows_a_loss_in_the_largest_rtt();
	forgets_the_largest_rtt_slowly();
	opens_slower_after_a_smaller_cut();
	always_halves_without_adaptive_backoff();
	halves_without_a_sample();
	never_goes_below_one_packet();
	keeps_its_invariants_for_any_input();
	return failures != 0;
}
