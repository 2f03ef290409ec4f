// The two habits of the FAST module that belong to its law, checked by hand; without them it is
// FastTcp to the last digit.

#include <fenv.h>
#include <stdlib.h>

#include "check.h"
#include "fast_module.h"

static const double EXACT = 1e-12;

// alpha, beta, gamma, mi_threshold, update_period: no slow start.
static FastModule law_with(bool rounds_by_ack_rtt, bool keeps_increments)
{
	FastModuleParameters parameters = {100, 100, 0.5, 0, 0.1, rounds_by_ack_rtt, keeps_increments};
	return FastModule(parameters);
}

static FastTcpAck ack(double now_s, double rtt_s, double cwnd, double in_flight, int seqno = -1)
{
	FastTcpAck one = {now_s, rtt_s, cwnd, in_flight, seqno};
	return one;
}

// cwnd after several ACKs at the same time, all with an RTT of 0.1 s.
static double after(FastModule& law, int acks, double now_s, double cwnd)
{
	double in_flight = cwnd;
	for (int i = 0; i < acks; i++)
		cwnd = law.acked(ack(now_s, 0.1, cwnd, in_flight));
	return cwnd;
}

// 1,000 ACKs at 1 s, then one at 1.2 s with an RTT of 0.3 s; avgRTT is then 0.1 + 0.2 / (1000 / 3).
static double after_a_late_ack(bool rounds_by_ack_rtt)
{
	FastModule law = law_with(rounds_by_ack_rtt, true);
	after(law, 1000, 1, 1000);
	return law.acked(ack(1.2, 0.3, 1000, 1000));
}

static void a_round_ends_by_the_rtt_of_the_ack()
{
	// 1.2 s is past 1 s + avgRTT: with 1,000 ACKs every 21st adds a packet, and this is the
	// first.
	CHECK_NEAR(after_a_late_ack(false), 1000, EXACT);
	// It is not past 1 s + 0.3 s: the previous round had 0 ACKs, so each ACK adds a packet.
	CHECK_NEAR(after_a_late_ack(true), 1001, EXACT);
}

static void an_ack_without_a_sample_ends_a_round_by_the_average()
{
	FastModule law = law_with(true, true);
	after(law, 1000, 1, 1000);
	// avgRTT is 0.1 s: 1.2 s is past 1.1 s. (50 packets for 1,000 ACKs: every 20th adds one.)
	CHECK_NEAR(law.acked(ack(1.2, 0, 1000, 1000)), 1000, EXACT);
	CHECK_NEAR(law.avg_rtt_s(), 0.1, EXACT);
}

// 10 of the 50 packets to be added are added before a recovery, and ten more ACKs come after it.
static double after_a_recovery(bool keeps_increments)
{
	FastModule law = law_with(true, keeps_increments);
	CHECK_NEAR(after(law, 10, 1, 1000), 1010, EXACT);
	law.recovering(1.05);
	return after(law, 10, 1.06, 500);
}

static void pending_increments_survive_a_recovery()
{
	CHECK_NEAR(after_a_recovery(false), 500, EXACT);
	CHECK_NEAR(after_a_recovery(true), 510, EXACT);
}

static void no_more_than_the_pending_increments_are_added()
{
	FastModule law = law_with(true, true);
	after(law, 10, 1, 1000);
	law.recovering(1.05);
	CHECK_NEAR(after(law, 100, 1.06, 500), 540, EXACT);
}

static void an_ack_in_recovery_sets_the_clock_of_updates_anew()
{
	FastModule law = law_with(true, true);
	after(law, 50, 1, 1000);	// no increments are pending
	law.recovering(1.5);
	CHECK_NEAR(after(law, 1, 1.59, 1000), 1000, EXACT);
	// Now there is an update: 50 packets, and a previous round of 1 ACK.
	CHECK_NEAR(after(law, 1, 1.61, 1000), 1001, EXACT);
}

// Pseudo-random, at least 0 and less than 1.
static double chance()
{
	return rand() / (RAND_MAX + 1.0);
}

static void without_its_habits_it_is_the_law_as_published()
{
	FastTcpParameters published = {100, 200, 0.5, 0.00075, 0.01, false};
	FastModuleParameters same = {100, 200, 0.5, 0.00075, 0.01, false, false};
	FastTcp law(published);
	FastModule module(same);
	srand(19);
	double now = 0, cwnd = 2;
	int sent = 0, acked = -1;
	for (int i = 0; i < 200000; i++) {
		now += 0.0005 * chance();
		while (sent - acked <= cwnd) {
			law.sent(sent);
			module.sent(sent++);
		}
		acked += 1 + (chance() < 0.01);
		FastTcpAck one = ack(now, 0.1 + 0.02 * chance() * chance(), cwnd, sent - acked, acked);
		double expected = law.acked(one);
		CHECK(module.acked(one) == expected);
		CHECK(module.avg_rtt_s() == law.avg_rtt_s() && module.base_rtt_s() == law.base_rtt_s());
		cwnd = expected;
		if (chance() < 0.001) {
			law.recovering(now);
			module.recovering(now);
			cwnd = cwnd / 2 < 1 ? 1 : cwnd / 2;
		}
		if (failures)
			return;
	}
	CHECK(cwnd > 2);
}

static const double NUMBERS[] = {NAN, -INFINITY, -1, -0.0, 0, 1e-308, 0.1, 1, 1.5, 7775, 1e308, INFINITY};
static const int COUNT = sizeof(NUMBERS) / sizeof(NUMBERS[0]);

// Like ns-2, trap invalid floating-point operations, such as ordering a NaN.
static void keeps_its_invariants_for_any_input()
{
	FastModule law = law_with(true, true);
	int seqno = 0;
	for (int i = 0; i < COUNT * COUNT; i++)
		for (int j = 0; j < COUNT * COUNT; j++) {
			FastTcpAck one = ack(NUMBERS[i / COUNT], NUMBERS[i % COUNT], NUMBERS[j / COUNT],
					     NUMBERS[j % COUNT], seqno++ % 5000);
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
}

int main()
{
	a_round_ends_by_the_rtt_of_the_ack();
	an_ack_without_a_sample_ends_a_round_by_the_average();
	pending_increments_survive_a_recovery();
	no_more_than_the_pending_increments_are_added();
	an_ack_in_recovery_sets_the_clock_of_updates_anew();
	without_its_habits_it_is_the_law_as_published();
	keeps_its_invariants_for_any_input();
	return failures != 0;
}
