// FAST TCP as described by C. Jin, D. Wei and S. Low (INFOCOM 2004, section IV) and used in
// P. Sharma's thesis (2006), section 4.5.1: the window moves to
// (1 - gamma) w + gamma (w' baseRTT/avgRTT + alpha), but at most doubles.

#include <fenv.h>

#include "check.h"
#include "fast_tcp.h"

static const double EXACT = 1e-12;

// alpha, beta, gamma, mi_threshold, update_period, every_other_rtt: no slow start.
static const FastTcpParameters STEADY = {100, 100, 0.5, 0, 0.1, false};

static FastTcpAck ack(double now_s, double rtt_s, double cwnd, double in_flight, int seqno = -1)
{
	FastTcpAck one = {now_s, rtt_s, cwnd, in_flight, seqno};
	return one;
}

// cwnd after several ACKs at the same time, all with an RTT of 0.1 s.
static double after(FastTcp& law, int acks, double now_s, double cwnd)
{
	double in_flight = cwnd;
	for (int i = 0; i < acks; i++)
		cwnd = law.acked(ack(now_s, 0.1, cwnd, in_flight));
	return cwnd;
}

static void doubles_while_nothing_is_queued()
{
	FastTcpParameters parameters = {100, 100, 0.5, 0.00075, 0.1, false};
	FastTcp law(parameters);
	CHECK_NEAR(after(law, 50, 1, 50), 100, EXACT);	// 1 per ACK
}

static void leaves_slow_start_at_the_threshold()
{
	FastTcpParameters parameters = {100, 100, 0.5, 0.00075, 1000, false};
	FastTcp law(parameters);
	CHECK_NEAR(law.acked(ack(1, 0.1, 50, 50)), 51, EXACT);
	// 0.192 s / 256 = 0.75 ms: with this sample the average is at the threshold or slightly
	// above.
	CHECK_NEAR(law.acked(ack(1, 0.2921, 51, 50)), 51, EXACT);
}

static void averages_over_256_acks_or_a_third_of_the_window()
{
	FastTcp small(STEADY), large(STEADY);
	small.acked(ack(1, 0.1, 50, 50));
	small.acked(ack(1, 0.2, 50, 50));
	CHECK_NEAR(small.avg_rtt_s(), 0.1 + 0.1 / 256, EXACT);
	large.acked(ack(1, 0.1, 50, 50));
	large.acked(ack(1, 0.2, 50, 1536));
	CHECK_NEAR(large.avg_rtt_s(), 0.1 + 0.1 / 512, EXACT);
}

static void keeps_the_smallest_rtt()
{
	FastTcp law(STEADY);
	law.acked(ack(1, 0.2, 50, 50));
	law.acked(ack(1, 0.1, 50, 50));
	law.acked(ack(1, 0.3, 50, 50));
	law.acked(ack(1, 0, 50, 50));	// not a sample
	CHECK_NEAR(law.base_rtt_s(), 0.1, EXACT);
}

static void opens_by_gamma_alpha_where_the_rtt_is_the_smallest()
{
	FastTcp law(STEADY);
	// (1 - 0.5) 1000 + 0.5 (1000 + 100) = 1050, and no more until the next period.
	CHECK_NEAR(after(law, 49, 1, 1000), 1049, EXACT);
	CHECK_NEAR(after(law, 100, 1.05, 1049), 1050, EXACT);
}

static void spreads_an_increase_over_the_period()
{
	FastTcp law(STEADY);
	after(law, 1000, 1, 1000);	// 1000 ACKs in an RTT of 0.1 s, the period
	// 1000 ACKs for 50 packets: every 20th adds one.
	CHECK_NEAR(after(law, 19, 1.2, 1000), 1000, EXACT);
	CHECK_NEAR(law.acked(ack(1.2, 0.1, 1000, 1000)), 1001, EXACT);
	CHECK_NEAR(after(law, 980, 1.2, 1001), 1050, EXACT);
}

// A law whose average RTT is twice the minimum: half of the 1,000 packets are queued.
static FastTcp with_a_queue(const FastTcpParameters& parameters)
{
	FastTcp law(parameters);
	law.acked(ack(1, 0.1, 1000, 1000));
	// The share of the difference that remains is (1 - 3/1000)^10000, 1e-13.
	for (int i = 0; i < 10000; i++)
		law.acked(ack(1, 0.2, 1000, 1000));
	return law;
}

// 1,000 packets times the 1e-13 that with_a_queue() leaves, with a margin.
static const double NEARLY = 1e-8;

static void shrinks_at_once_above_its_share_of_the_queue()
{
	FastTcp law = with_a_queue(STEADY);
	// 0.5 * 1000 + 0.5 (1000/2 + 100) = 800.
	CHECK_NEAR(law.acked(ack(2, 0.2, 1000, 1000)), 800, NEARLY);
}

static void weighs_the_target_with_gamma()
{
	FastTcpParameters quick = {100, 100, 1, 0, 0.1, false};
	FastTcp law = with_a_queue(quick);
	CHECK_NEAR(law.acked(ack(2, 0.2, 1000, 1000)), 600, NEARLY);
}

static void is_at_rest_with_alpha_packets_in_the_queue()
{
	FastTcpParameters parameters = {500, 500, 0.5, 0, 0.1, false};
	FastTcp law = with_a_queue(parameters);
	CHECK_NEAR(law.acked(ack(2, 0.2, 1000, 1000)), 1000, NEARLY);
}

static void is_at_rest_between_alpha_and_beta()
{
	FastTcpParameters parameters = {100, 600, 0.5, 0, 0.1, false};
	FastTcp law = with_a_queue(parameters);
	CHECK_NEAR(law.acked(ack(2, 0.2, 1000, 1000)), 1000, EXACT);
}

static void takes_the_window_of_when_the_packet_was_sent()
{
	FastTcp law(STEADY);
	law.acked(ack(1, 0.1, 1000, 400));
	law.sent(0);	// with 400 packets in flight
	law.acked(ack(1, 0.1, 1000, 1000));
	law.sent(1);
	// 0.5 * 1000 + 0.5 (400 + 100) = 750.
	CHECK_NEAR(law.acked(ack(2, 0.1, 1000, 1000, 0)), 750, EXACT);
	law.sent(0);	// acknowledged long ago: no effect
	// 0.5 * 1000 + 0.5 (1000 + 100) = 1050: 50 packets, one of them now.
	CHECK_NEAR(law.acked(ack(3, 0.1, 1000, 1000, 1)), 1001, EXACT);
}

static void takes_the_window_of_the_last_transmission()
{
	FastTcp law(STEADY);
	law.acked(ack(1, 0.1, 1000, 1000));
	law.sent(0);
	law.acked(ack(1, 0.1, 1000, 400));
	law.sent(0);
	CHECK_NEAR(law.acked(ack(2, 0.1, 1000, 1000, 0)), 750, EXACT);
}

static void at_most_doubles()
{
	FastTcpParameters quick = {100, 100, 1, 0, 0.1, false};
	FastTcp law(quick);
	CHECK_NEAR(after(law, 100, 1, 10), 20, EXACT);	// 110 without the limit
}

static void waits_a_period_after_loss_recovery()
{
	FastTcp law = with_a_queue(STEADY);
	law.recovering(2);
	CHECK_NEAR(law.acked(ack(2.09, 0.2, 1000, 1000)), 1000, EXACT);
	CHECK_NEAR(law.acked(ack(2.11, 0.2, 1000, 1000)), 800, NEARLY);
}

static void drops_the_rest_of_an_increase_at_a_loss()
{
	FastTcp law(STEADY);
	CHECK_NEAR(after(law, 10, 1, 1000), 1010, EXACT);
	law.recovering(1.05);
	CHECK_NEAR(after(law, 10, 1.06, 500), 500, EXACT);
}

static void rests_every_second_rtt_if_told_so()
{
	FastTcpParameters parameters = {100, 100, 0.5, 0, 0.01, true};
	FastTcp law(parameters);
	int updates = 0;
	for (int i = 0; i < 400; i++) {	// four RTTs of 100 ACKs each
		double cwnd = law.acked(ack(1 + i * 0.00101, 0.1, 1000, 1000));
		updates += cwnd > 1000 && i % 100 >= 50;	// the rest of an update is over by then
	}
	CHECK(updates > 50 && updates <= 100);	// of 200 in two of the four RTTs
}

static void never_shrinks_below_two_packets()
{
	FastTcpParameters parameters = {1, 1, 1, 0, 0.1, false};
	FastTcp law = with_a_queue(parameters);
	// 1.2/2 + 1 = 1.6 packets.
	CHECK_NEAR(law.acked(ack(2, 0.2, 3, 1.2)), 2, EXACT);
	CHECK_NEAR(law.acked(ack(3, 0.2, 1, 1.2)), 1, EXACT);	// nor does it jump up to two
}

static const double NUMBERS[] = {NAN, -INFINITY, -1e308, -1, -0.0, 0, 1e-308, 0.1, 1, 1.5, 7775, 1e308, INFINITY};
static const int COUNT = sizeof(NUMBERS) / sizeof(NUMBERS[0]);

// Like ns-2, trap invalid floating-point operations, such as ordering a NaN.
static void check_invariants(FastTcp& law, const FastTcpAck& one)
{
	feenableexcept(FE_INVALID);
	law.sent(one.seqno);
	double cwnd = law.acked(one);
	law.recovering(one.now_s);
	fedisableexcept(FE_INVALID);
	CHECK(isfinite(cwnd) && cwnd >= 1);
	if (isfinite(one.cwnd_pkts) && one.cwnd_pkts >= 1)
		CHECK(cwnd <= one.cwnd_pkts + 1);
	CHECK(isfinite(law.base_rtt_s()) && isfinite(law.avg_rtt_s()));
}

static void keeps_its_invariants_for_any_input()
{
	const FastTcpParameters all[] = {
		STEADY, {1, 1, 1, 0, 0, false}, {1e6, 1, 0.001, 10, 10, true}, {1, 1e6, 1, 0, 0, true}};
	int seqno = 0;
	for (int p = 0; p < 4; p++) {
		FastTcp seasoned(all[p]);
		for (int i = 0; i < COUNT; i++)
			for (int j = 0; j < COUNT; j++)
				for (int k = 0; k < COUNT * COUNT; k++) {
					FastTcpAck one = ack(NUMBERS[i], NUMBERS[j], NUMBERS[k / COUNT],
							     NUMBERS[k % COUNT], seqno++ % 5000);
					FastTcp fresh(all[p]);
					check_invariants(fresh, one);
					check_invariants(seasoned, one);
				}
	}
}

int main()
{
	doubles_while_nothing_is_queued();
	leaves_slow_start_at_the_threshold();
	averages_over_256_acks_or_a_third_of_the_window();
	keeps_the_smallest_rtt();
	opens_by_gamma_alpha_where_the_rtt_is_the_smallest();
	spreads_an_increase_over_the_period();
	shrinks_at_once_above_its_share_of_the_queue();
	weighs_the_target_with_gamma();
	is_at_rest_with_alpha_packets_in_the_queue();
	is_at_rest_between_alpha_and_beta();
	takes_the_window_of_when_the_packet_was_sent();
	takes_the_window_of_the_last_transmission();
	at_most_doubles();
	waits_a_period_after_loss_recovery();
	drops_the_rest_of_an_increase_at_a_loss();
	rests_every_second_rtt_if_told_so();
	never_shrinks_below_two_packets();
	keeps_its_invariants_for_any_input();
	return failures != 0;
}
