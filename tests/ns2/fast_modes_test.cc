// FAST TCP whose alpha depends on its rate, with the numbers of Table II of Even, Li and Leith:
// alpha 8, 20 and 200; up above 1,500 and 15,000 kB/s, down below 1,250 and 12,500 kB/s. With
// packets of 1,500 bytes and an RTT of 0.1 s, a window of w packets is a rate of 15 w kB/s.

#include <fenv.h>

#include "check.h"
#include "fast_modes.h"

static const double EXACT = 1e-12;

// No slow start, and an update every 0.01 s.
static const FastModesParameters TABLE_II = {{8, 20, 200}, {1500, 15000}, {1250, 12500}, 0.5, 0, 0.01, 1500};

static FastTcpAck ack(double now_s, double rtt_s, double cwnd, int seqno = -1)
{
	FastTcpAck one = {now_s, rtt_s, cwnd, cwnd, seqno};
	return one;
}

// The mode after one ACK with that window in each of several RTTs of 0.1 s.
static int mode_after(FastModes& law, double& now_s, double cwnd, int rtts)
{
	for (int i = 0; i < rtts; i++) {
		now_s += 0.101;
		law.acked(ack(now_s, 0.1, cwnd));
	}
	return law.mode();
}

static void begins_in_mode_0_and_leaves_it_above_1500_kB_a_second()
{
	FastModes law(TABLE_II);
	double now = 0;
	CHECK(law.mode() == 0);
	CHECK(mode_after(law, now, 100, 10) == 0);	// 1,500 kB/s is not above it
	CHECK(mode_after(law, now, 101, 1) == 1);
}

static void keeps_its_mode_between_the_thresholds()
{
	FastModes law(TABLE_II);
	double now = 0;
	CHECK(mode_after(law, now, 101, 2) == 1);
	CHECK(mode_after(law, now, 84, 10) == 1);	// 1,260 kB/s
	CHECK(mode_after(law, now, 83, 1) == 0);	// 1,245 kB/s
	CHECK(mode_after(law, now, 99, 10) == 0);
}

static void needs_15000_kB_a_second_for_mode_2_and_keeps_it_to_12500()
{
	FastModes law(TABLE_II);
	double now = 0;
	CHECK(mode_after(law, now, 999, 10) == 1);
	CHECK(mode_after(law, now, 1001, 1) == 2);
	CHECK(mode_after(law, now, 834, 10) == 2);	// 12,510 kB/s
	CHECK(mode_after(law, now, 833, 1) == 1);	// 12,495 kB/s
	CHECK(mode_after(law, now, 1000, 10) == 1);
}

static void changes_by_one_mode_an_rtt()
{
	FastModes law(TABLE_II);
	double now = 0;
	CHECK(mode_after(law, now, 2000, 1) == 0);	// the first sample of the RTT
	CHECK(mode_after(law, now, 2000, 1) == 1);
	law.acked(ack(now + 0.05, 0.1, 2000));
	CHECK(law.mode() == 1);				// half an RTT later
	CHECK(mode_after(law, now, 2000, 1) == 2);
	CHECK(mode_after(law, now, 50, 1) == 1);
	CHECK(mode_after(law, now, 50, 1) == 0);
}

// At the minimum RTT, a period opens cwnd by gamma alpha, for which 256 ACKs are enough.
static double opened_by(FastModes& law, double now_s, double cwnd)
{
	double first = cwnd;
	for (int i = 0; i < 256; i++)
		cwnd = law.acked(ack(now_s, 0.1, cwnd));
	return cwnd - first;
}

static void opens_by_half_the_alpha_of_its_mode()
{
	FastModes law(TABLE_II);
	double now = 0;
	mode_after(law, now, 90, 5);
	CHECK_NEAR(opened_by(law, now + 0.05, 90), 4, EXACT);
	mode_after(law, now, 900, 5);
	CHECK_NEAR(opened_by(law, now + 0.05, 900), 10, EXACT);
	mode_after(law, now, 1200, 5);
	CHECK_NEAR(opened_by(law, now + 0.05, 1200), 100, EXACT);
}

// A mode that is never left is a constant alpha, for which FastTcp has its own tests.
static void is_fast_tcp_where_no_rate_changes_the_mode()
{
	FastModesParameters parameters = TABLE_II;
	parameters.up_kBps[0] = 1e9;
	FastModes modes(parameters);
	FastTcpParameters alpha_8 = {8, 8, 0.5, 0, 0.01, false};
	FastTcp fast(alpha_8);
	double a = 10, b = 10;
	for (int i = 0; i < 20000; i++) {
		double now = i * 0.001, rtt = 0.1 + 0.02 * (i % 700) / 700;
		modes.sent(i);
		fast.sent(i);
		FastTcpAck to_modes = {now, rtt, a, a, i - 50}, to_fast = {now, rtt, b, b, i - 50};
		a = modes.acked(to_modes);
		b = fast.acked(to_fast);
		if (i % 5000 == 4999) {
			modes.recovering(now);
			fast.recovering(now);
			a /= 2;
			b /= 2;
		}
		CHECK(a == b);
	}
	CHECK(modes.mode() == 0 && a > 10);
	CHECK(modes.base_rtt_s() == fast.base_rtt_s() && modes.avg_rtt_s() == fast.avg_rtt_s());
}

static void counts_whole_packets()
{
	FastModesParameters small = TABLE_II;
	small.packet_bytes = 750;
	FastModes law(small);
	double now = 0;
	CHECK(mode_after(law, now, 199, 5) == 0);
	CHECK(mode_after(law, now, 201, 1) == 1);
}

static const double NUMBERS[] = {NAN, -INFINITY, -1e308, -1, -0.0, 0, 1e-308, 0.1, 1, 1.5, 7775, 1e308, INFINITY};
static const int COUNT = sizeof(NUMBERS) / sizeof(NUMBERS[0]);

// Like ns-2, trap invalid floating-point operations, such as ordering a NaN.
static void check_invariants(FastModes& law, const FastTcpAck& one)
{
	feenableexcept(FE_INVALID);
	law.sent(one.seqno);
	double cwnd = law.acked(one);
	law.recovering(one.now_s);
	fedisableexcept(FE_INVALID);
	CHECK(isfinite(cwnd) && cwnd >= 1);
	CHECK(law.mode() >= 0 && law.mode() <= 2);
}

static void keeps_its_invariants_for_any_input()
{
	FastModes seasoned(TABLE_II);
	int seqno = 0;
	for (int i = 0; i < COUNT; i++)
		for (int j = 0; j < COUNT; j++)
			for (int k = 0; k < COUNT; k++) {
				FastModes fresh(TABLE_II);
				FastTcpAck one = ack(NUMBERS[i], NUMBERS[j], NUMBERS[k], seqno++ % 5000);
				check_invariants(fresh, one);
				check_invariants(seasoned, one);
			}
}

int main()
{
	begins_in_mode_0_and_leaves_it_above_1500_kB_a_second();
	keeps_its_mode_between_the_thresholds();
	needs_15000_kB_a_second_for_mode_2_and_keeps_it_to_12500();
	changes_by_one_mode_an_rtt();
	opens_by_half_the_alpha_of_its_mode();
	is_fast_tcp_where_no_rate_changes_the_mode();
	counts_whole_packets();
	keeps_its_invariants_for_any_input();
	return failures != 0;
}
