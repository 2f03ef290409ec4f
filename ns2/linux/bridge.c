/*
 * Plays the kernel for the connections of one module of Linux. Compiled behind the module, in one file
 * with it and with the table that tells of which generation its functions are (linux_modules.py).
 *
 * Order of calls for an acknowledgement: in_ack_event (before 4.1: an event), rtt_sample, pkts_acked;
 * skb_marked_lost for each loss; set_state as the sender's recovery ends and begins, with ssthresh
 * before it; then cong_control, or in its place proportional rate reduction (RFC 6937) while cwnd is
 * reduced, and otherwise cong_avoid.
 */

#include <signal.h>
#include <unistd.h>

#include "bridge.h"

#define MOST_PKTS INT_MAX
#define START_S 1000		/* kernel times of 0 mean never */
#define FIRST_BYTE 1u		/* the sequence number of the first packet */
#define GUARD 0x5ca1ab1ebadc0ffeull

unsigned long jiffies;
u32 tcp_time_stamp;
u64 bridge_now_ns;
u32 (*bridge_random)(void);
struct net bridge_net;
struct linux_parameter* bridge_parameters;
int (*bridge_module_init)(void);
int sysctl_tcp_abc, sysctl_tcp_max_ssthresh, tcp_max_burst = 3, sysctl_tcp_max_burst = 3;
static int bridge_registrations;
static const struct tcp_congestion_ops* bridge_registered;
static double (*bridge_uniform)(void);

struct linux_connection {
	struct tcp_sock tp;
	bool begun;
	bool skipped;		/* this acknowledgement is the handshake's */
	bool una_moved;
	bool una_moved_since_timeout;
	u32 una_packet;
	u32 newly_acked;	/* packets by number */
	u32 sent;		/* packets sent, each time */
	u32 sent_at_cut;	/* when a reduction of cwnd began */
};

struct tcp_congestion_ops tcp_reno = {
	.name = "reno", .ssthresh = tcp_reno_ssthresh, .cong_avoid = tcp_reno_cong_avoid, .undo_cwnd = tcp_reno_undo_cwnd,
};

/* ---- functions by generation */

#define ANY_SOCK(type, ...) void (*)(struct sock*, __VA_ARGS__): type, void (*)(struct tcp_sock*, __VA_ARGS__): type
enum bridge_form { NONE, AVOID_3, AVOID_GOOD, AVOID_4, AVOID_5, ACKED_COUNT, ACKED_TIME, ACKED_RTT, ACKED_SAMPLE, CONTROL, CONTROL_ACK };
#define AVOID_FORM(f) _Generic(&f, ANY_SOCK(AVOID_3, u32, u32), ANY_SOCK(AVOID_GOOD, u32, u32, int), \
	ANY_SOCK(AVOID_4, u32, u32, u32), ANY_SOCK(AVOID_5, u32, u32, u32, int))
#define ACKED_FORM(f) _Generic(&f, ANY_SOCK(ACKED_COUNT, u32), ANY_SOCK(ACKED_TIME, u32, ktime_t), \
	ANY_SOCK(ACKED_RTT, u32, s32), ANY_SOCK(ACKED_SAMPLE, const struct ack_sample*))
#define CONTROL_FORM(f) _Generic(&f, ANY_SOCK(CONTROL, const struct rate_sample*), \
	ANY_SOCK(CONTROL_ACK, u32, int, const struct rate_sample*))
struct bridge_row {
	const struct tcp_congestion_ops* ops;
	enum bridge_form cong_avoid, pkts_acked, cong_control;
};
#ifndef MODULE_ROWS
#define MODULE_ROWS
#endif
static const struct bridge_row bridge_rows[] = {MODULE_ROWS {&tcp_reno, AVOID_3, NONE, NONE}};

static const struct bridge_row* bridge_row(const struct linux_connection* c)
{
	for (unsigned i = 0; i < ARRAY_SIZE(bridge_rows); i++)
		if (bridge_rows[i].ops == c->tp.inet_conn.icsk_ca_ops)
			return &bridge_rows[i];
	return &bridge_rows[ARRAY_SIZE(bridge_rows) - 1];
}

static void bridge_stop(const struct linux_connection* c, const char* function, const char* what, double value)
{
	fprintf(stderr, "ns: %s() of the module %s: %s is %.0f at %.6f s\n", function,
		c->tp.inet_conn.icsk_ca_ops->name, what, value, bridge_now_ns / 1e9 - START_S);
	exit(1);
}

static void bridge_check(const struct linux_connection* c, const char* function)
{
	if (c->tp.inet_conn.guard != GUARD)
		bridge_stop(c, function, "bytes that it may have of its own, all written:", ICSK_CA_PRIV_SIZE);
	if (c->tp.snd_cwnd == 0 || c->tp.snd_cwnd > MOST_PKTS)
		bridge_stop(c, function, "the cwnd that it left", (int)c->tp.snd_cwnd);
	if (c->tp.snd_ssthresh == 0 || c->tp.snd_ssthresh > MOST_PKTS)
		bridge_stop(c, function, "the ssthresh that it left", (int)c->tp.snd_ssthresh);
}

static const char* volatile bridge_function = "";	/* that runs */
static const char* volatile bridge_module;
static volatile unsigned long bridge_calls, bridge_calls_at_tick;

/* ns-2 says which event was going on; before it, say which function of the module. Its watch for what hangs ticks, too. */
static const int bridge_signals[] = {SIGFPE, SIGABRT, SIGSEGV, SIGBUS, SIGVTALRM};
static struct sigaction bridge_before[ARRAY_SIZE(bridge_signals)];

static void bridge_trap(int number)
{
	char text[160];
	const bool goes_on = number == SIGVTALRM && bridge_calls != bridge_calls_at_tick;
	bridge_calls_at_tick = bridge_calls;
	if (*bridge_function && !goes_on && write(STDERR_FILENO, text, snprintf(text, sizeof(text), "ns: in %s() of the module %s at %.6f s:\n",
		bridge_function, bridge_module, bridge_now_ns / 1e9 - START_S)) < 0)
		return;
	for (unsigned i = 0; i < ARRAY_SIZE(bridge_signals); i++)
		if (bridge_signals[i] == number)
			bridge_before[i].sa_handler(number);
}

static void bridge_set_traps(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(bridge_signals); i++) {
		sigaction(bridge_signals[i], NULL, &bridge_before[i]);
		struct sigaction trapping = bridge_before[i];
		trapping.sa_handler = bridge_trap;
		if (bridge_before[i].sa_handler != SIG_DFL && bridge_before[i].sa_handler != SIG_IGN)
			sigaction(bridge_signals[i], &trapping, NULL);
	}
}

/* Calls a function of the module if it has it: its name, type of result, parameters, and arguments behind sk. */
#define CALL_AS(op, result, types, ...) ({ \
	const struct tcp_congestion_ops* ops = c->tp.inet_conn.icsk_ca_ops; \
	bridge_module = ops->name; \
	bridge_function = #op; \
	bridge_calls++; \
	((result (*) types)ops->op)((struct sock*)&c->tp, ##__VA_ARGS__); \
})
#define CALL(op, types, ...) do { \
	if (c->tp.inet_conn.icsk_ca_ops->op) { \
		CALL_AS(op, void, types, ##__VA_ARGS__); \
		bridge_function = ""; \
		bridge_check(c, #op); \
	} \
} while (0)

static void bridge_event(struct linux_connection* c, enum tcp_ca_event event)
{
	CALL(cwnd_event, (struct sock*, enum tcp_ca_event), event);
}

static void bridge_state(struct linux_connection* c, u8 state)
{
	/* The module still sees the state before. */
	CALL(set_state, (struct sock*, u8), state);
	c->tp.inet_conn.icsk_ca_state = state;
}

static u32 bridge_ssthresh(struct linux_connection* c)
{
	const u32 found = CALL_AS(ssthresh, u32, (struct sock*));
	bridge_function = "";
	bridge_check(c, "ssthresh");
	if (found == 0 || found > MOST_PKTS)
		bridge_stop(c, "ssthresh", "the value that it returned", (int)found);
	return found;
}

/* ---- what the connection knows */

static u32 bridge_32_bits(void)
{
	return bridge_uniform() * 0x1p32;
}

static void bridge_set_time(struct linux_connection* c, const struct PathState* path)
{
	struct tcp_sock* tp = &c->tp;
	bridge_now_ns = (path->now_s + START_S) * 1e9 + 0.5;
	jiffies = bridge_now_ns / 1000000;
	tcp_time_stamp = jiffies;
	bridge_uniform = path->random;
	bridge_random = bridge_32_bits;
	tp->tcp_mstamp = bridge_stamp(bridge_now_ns / 1000);
	tp->tcp_clock_cache = tp->tcp_wstamp_ns = bridge_now_ns;
}

static u32 bridge_sequence(const struct PathState* path, double packet)
{
	return FIRST_BYTE + (u64)packet * path->segment_bytes;
}

static void bridge_synchronise(struct linux_connection* c, const struct PathState* path)
{
	struct tcp_sock* tp = &c->tp;
	bridge_set_time(c, path);
	tp->mss_cache = tp->advmss = path->segment_bytes;
	tp->snd_una = bridge_sequence(path, path->first_unacknowledged);
	tp->snd_nxt = tp->write_seq = tp->pushed_seq = tp->snd_up = bridge_sequence(path, path->next_new);
	tp->snd_wnd = tp->max_window = min(path->window_pkts * path->segment_bytes, 0x7fffffff);
	tp->packets_out = path->next_new - path->first_unacknowledged;
	tp->sacked_out = tp->fackets_out = max(path->delivered_pkts - path->first_unacknowledged, 0);
	tp->lost_out = max((int)(tp->packets_out - tp->sacked_out - (u32)path->in_flight_pkts), 0);
	tp->left_out = tcp_left_out(tp);
	c->sent = path->in_flight_pkts + path->delivered_pkts + path->lost_pkts;
	tp->delivered = 1 + path->delivered_pkts;
	tp->lost = tp->total_retrans = path->lost_pkts;
	tp->bytes_acked = (u64)path->first_unacknowledged * path->segment_bytes;
	tp->segs_out = tp->data_segs_out = path->next_new + path->lost_pkts;
	tp->is_cwnd_limited = path->limited_by_cwnd;
	tp->rcv_tstamp = tp->lsndtime = jiffies;
	if (path->smoothed_rtt_s >= 0) {
		tp->srtt_us = path->smoothed_rtt_s * 8e6;
		tp->srtt = path->smoothed_rtt_s * 8e3;
		minmax_reset(&tp->rtt_min, jiffies, path->min_rtt_s * 1e6);
	}
	tp->rx_opt.saw_tstamp = tp->rx_opt.tstamp_ok = tp->rx_opt.sack_ok = 1;
	tp->rx_opt.rcv_tsecr = (path->echoed_s + START_S) * HZ;
	tp->rx_opt.rcv_tsval = (path->acknowledged_s + START_S) * HZ;
}

static void bridge_limits(const struct linux_connection* c, const struct PathState* path, struct SendingLimits* limits)
{
	const struct tcp_sock* tp = &c->tp;
	const struct sock* sk = &tp->inet_conn.icsk_inet.sk;
	const double rate = min(sk->sk_pacing_rate, sk->sk_max_pacing_rate);
	limits->cwnd_pkts = tp->snd_cwnd;
	limits->ssthresh_pkts = tcp_in_initial_slowstart(tp) ? __builtin_huge_val() : tp->snd_ssthresh;
	/* Modules of 4.9 to 4.12 that pace need a queue that does it; later ones ask the sender. */
	if (sk->sk_pacing_status != SK_PACING_NONE || tp->inet_conn.icsk_ca_ops->cong_control)
		limits->pacing_pps = rate < ULONG_MAX ? rate / path->packet_bytes : 0;
}

/* ---- loading */

int tcp_register_congestion_control(struct tcp_congestion_ops* ops)
{
	bridge_registrations++;
	bridge_registered = ops;
	return 0;
}

bool bridge_set(const char* name, double value)
{
	for (struct linux_parameter* each = bridge_parameters; each; each = each->next) {
		if (strcmp(each->name, name) != 0)
			continue;
		const s64 number = value;
		if (number != value || each->bytes > sizeof(number) || strcmp(each->type, "charp") == 0)
			return false;
		memcpy(each->value, &number, each->bytes);	/* the lowest bytes come first */
		s64 kept = 0;
		memcpy(&kept, each->value, each->bytes);
		const int unused_bits = 64 - 8 * (int)each->bytes;
		return kept == number || (s64)((u64)kept << unused_bits) >> unused_bits == number;
	}
	return false;
}

/* One parameter after the other, with its value; NULL at the end. `new protocol --module` asks. */
__attribute__((visibility("default"))) const char* bdpbench_parameter(long long* value)
{
	static struct linux_parameter* last;
	last = last ? last->next : bridge_parameters;
	if (!last)
		return NULL;
	const int unused_bits = 64 - 8 * (int)min(last->bytes, sizeof(s64));
	*value = 0;
	memcpy(value, last->value, min(last->bytes, sizeof(s64)));
	*value = last->type[0] == 'u' || last->type[0] == 'b' ? *value : (s64)((u64)*value << unused_bits) >> unused_bits;
	return last->name;
}

const char* bridge_load(void)
{
	static char problem[100];
	int failed = 0;
	bridge_set_traps();
#ifdef MODULE_OPS
	if (!bridge_module_init)
		tcp_register_congestion_control((struct tcp_congestion_ops*)&MODULE_OPS);
#endif
	if (bridge_module_init)
		failed = bridge_module_init();
	if (failed)
		snprintf(problem, sizeof(problem), "its module_init failed with %d", failed);
	else if (bridge_registrations != 1)
		snprintf(problem, sizeof(problem), "it registers %d congestion controls, expected one", bridge_registrations);
	else if (!bridge_registered->ssthresh || (!bridge_registered->cong_avoid && !bridge_registered->cong_control))
		return "its congestion control has no ssthresh, or neither cong_avoid nor cong_control";
	else {
		for (unsigned i = 0; i < ARRAY_SIZE(bridge_rows); i++)
			if (bridge_rows[i].ops == bridge_registered)
				return NULL;
		return "the structure that it registers is none that its file fills with functions";
	}
	return problem;
}

/* ---- events of a sender */

struct linux_connection* bridge_open(void)
{
	return calloc(1, sizeof(struct linux_connection));
}

void bridge_close(struct linux_connection* c)
{
	if (c->begun)
		CALL(release, (struct sock*));
	free(c);
}

void bridge_started(struct linux_connection* c, const struct PathState* path, struct SendingLimits* limits)
{
	struct tcp_sock* tp = &c->tp;
	struct sock* sk = &tp->inet_conn.icsk_inet.sk;
	tp->inet_conn.icsk_ca_ops = bridge_registered;
	tp->inet_conn.icsk_ca_initialized = 1;
	tp->inet_conn.guard = GUARD;
	sk->sk_state = TCP_ESTABLISHED;
	sk->sk_pacing_rate = sk->sk_max_pacing_rate = ~0UL;
	sk->sk_pacing_shift = 10;
	sk->sk_gso_max_size = GSO_MAX_SIZE;
	sk->sk_gso_max_segs = U16_MAX;
	tp->snd_cwnd = max(limits->cwnd_pkts, 1);
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	tp->snd_cwnd_clamp = ~0u;
	tp->ecn_flags = TCP_ECN_OK;
	tp->rtt_min.s[0].v = ~0u;
	tp->reordering = 3;
}

/* init hears of the handshake's RTT, so its acknowledgement begins the connection, and tells no data. */
static void bridge_begin(struct linux_connection* c, const struct PathState* path)
{
	c->begun = c->skipped = true;
	c->una_packet = path->first_unacknowledged;
	c->tp.delivered_mstamp = c->tp.first_tx_mstamp = c->tp.tcp_mstamp;
	c->tp.high_seq = c->tp.snd_una;
	CALL(init, (struct sock*));
}

static void bridge_tell_ack(struct linux_connection* c, const struct Acknowledged* news)
{
	/* The header is as predicted: it has neither SACK blocks nor an echo, even if it ends a recovery. */
	const bool fast = c->una_moved && c->tp.sacked_out == 0 && news->marked == 0;
	const u32 flags = CA_ACK_WIN_UPDATE | (fast ? 0 : CA_ACK_SLOWPATH) | (news->marked > 0 ? CA_ACK_ECE : 0);
	if (c->tp.inet_conn.icsk_ca_ops->in_ack_event)
		CALL(in_ack_event, (struct sock*, u32), flags);
	else
		bridge_event(c, fast ? CA_EVENT_FAST_ACK : CA_EVENT_SLOW_ACK);
}

/* A packet that was sent again has no RTT; if it ends a gap, its time stamp has one in ms. */
static long bridge_rtt_us(const struct linux_connection* c, const struct Acknowledged* news, const struct PathState* path)
{
	if (news->rtt_s >= 0)
		return max(news->rtt_s * 1e6, 1);
	return c->una_moved ? max((long)(c->tp.rx_opt.saw_tstamp ? (path->now_s - path->echoed_s) * HZ : 0), 1L) * USEC_PER_JIFFY : -1;
}

static void bridge_tell_acked(struct linux_connection* c, const struct Acknowledged* news, const struct PathState* path, long rtt_us)
{
	const enum bridge_form form = bridge_row(c)->pkts_acked;
	const struct ack_sample sample = {c->newly_acked, rtt_us, news->sent_in_flight_pkts * path->segment_bytes};
	if (form == ACKED_SAMPLE)
		CALL(pkts_acked, (struct sock*, const struct ack_sample*), &sample);
	if (!c->una_moved)
		return;
	if (form == ACKED_RTT)
		CALL(pkts_acked, (struct sock*, u32, s32), c->newly_acked, rtt_us);
	if (form == ACKED_TIME)
		CALL(pkts_acked, (struct sock*, u32, ktime_t), c->newly_acked,
			news->rtt_s >= 0 ? (ktime_t)(bridge_now_ns - 1000 * rtt_us) : net_invalid_timestamp());
	if (form == ACKED_COUNT)
		CALL(pkts_acked, (struct sock*, u32), c->newly_acked);
}

void bridge_heard(struct linux_connection* c, const struct Acknowledged* news, const struct PathState* path, struct SendingLimits* limits)
{
	struct tcp_sock* tp = &c->tp;
	bridge_synchronise(c, path);
	c->skipped = false;
	if (!c->begun) {
		bridge_begin(c, path);
	} else {
		c->newly_acked = path->first_unacknowledged - c->una_packet;
		c->una_moved = c->newly_acked > 0;
		c->una_packet = path->first_unacknowledged;
		c->una_moved_since_timeout |= c->una_moved;
		tp->delivered_ce += news->marked;
		tp->delivered_mstamp = tp->tcp_mstamp;
		tp->max_packets_out = news->in_flight_before_pkts;
		tp->app_limited = news->rate_limited_by_application ? tp->delivered + (u32)path->in_flight_pkts : 0;
		const long rtt_us = bridge_rtt_us(c, news, path);
		bridge_tell_ack(c, news);
		if (rtt_us >= 0)
			CALL(rtt_sample, (struct sock*, u32), rtt_us);
		bridge_tell_acked(c, news, path, rtt_us);
	}
	bridge_limits(c, path, limits);
}

void bridge_lost(struct linux_connection* c, const struct Lost* loss, const struct PathState* path, struct SendingLimits* limits)
{
	struct sk_buff skb = {.len = path->segment_bytes};
	skb.control.tx.delivered = 1 + loss->sent_delivered_pkts;
	skb.control.tx.lost = loss->sent_lost_pkts;
	skb.control.tx.in_flight = loss->sent_in_flight_pkts;
	skb.control.tx.is_app_limited = loss->sent_limited_by_application;
	if (c->begun && !c->skipped) {
		bridge_synchronise(c, path);
		CALL(skb_marked_lost, (struct sock*, const struct sk_buff*), &skb);
		bridge_limits(c, path, limits);
	}
}

static bool bridge_is_reducing(const struct linux_connection* c)
{
	return tcp_in_cwnd_reduction((const struct sock*)&c->tp);
}

static void bridge_reduce(struct linux_connection* c)
{
	struct tcp_sock* tp = &c->tp;
	tp->high_seq = tp->snd_nxt;
	tp->prior_cwnd = tp->snd_cwnd;
	tp->prr_delivered = tp->prr_out = 0;
	c->sent_at_cut = c->sent;
	tp->snd_ssthresh = bridge_ssthresh(c);
}

/* Modules call it, too, to reduce cwnd without a loss. */
void tcp_enter_cwr(struct sock* sk)
{
	struct linux_connection* c = (struct linux_connection*)sk;
	if (c->tp.inet_conn.icsk_ca_state >= TCP_CA_CWR)
		return;
	bridge_reduce(c);
	bridge_state(c, TCP_CA_CWR);
}

/* Proportional rate reduction with its slow start (RFC 6937); the first packet always leaves. */
static void bridge_proportional(struct linux_connection* c, const struct Acknowledged* news)
{
	struct tcp_sock* tp = &c->tp;
	const s32 in_flight = tcp_packets_in_flight(tp), room = tp->snd_ssthresh - in_flight, arrived = news->packets;
	s32 allowed;
	tp->prr_delivered += arrived;
	tp->prr_out = c->sent - c->sent_at_cut;
	if (room < 0) {
		allowed = DIV_ROUND_UP((u64)tp->snd_ssthresh * tp->prr_delivered, max(tp->prior_cwnd, 1u)) - tp->prr_out;
	} else {
		allowed = max((s32)(tp->prr_delivered - tp->prr_out), arrived) + (c->una_moved && news->lost == 0);
		allowed = min(allowed, room);
	}
	tp->snd_cwnd = max(in_flight + max(allowed, tp->prr_out ? 0 : 1), 1);
}

static void bridge_end_reduction(struct linux_connection* c)
{
	struct tcp_sock* tp = &c->tp;
	if (tp->inet_conn.icsk_ca_ops->cong_control)
		return;
	tp->snd_cwnd = tp->snd_ssthresh;
	tp->snd_cwnd_stamp = tcp_jiffies32;
	bridge_event(c, CA_EVENT_COMPLETE_CWR);
}

void bridge_recovery_ended(struct linux_connection* c, const struct PathState* path, struct SendingLimits* limits)
{
	if (!c->begun || c->skipped)
		return;
	bridge_synchronise(c, path);
	if (bridge_is_reducing(c))
		bridge_end_reduction(c);
	bridge_state(c, TCP_CA_Open);
	bridge_limits(c, path, limits);
}

void bridge_recovery_began(struct linux_connection* c, const struct PathState* path, struct SendingLimits* limits)
{
	if (!c->begun || c->skipped)
		return;
	bridge_synchronise(c, path);
	if (!bridge_is_reducing(c))
		bridge_reduce(c);
	bridge_state(c, TCP_CA_Recovery);
	bridge_limits(c, path, limits);
}

static void bridge_control(struct linux_connection* c, const struct Acknowledged* news, const struct PathState* path)
{
	const bool has_rate = news->rate_pps >= 0;
	const struct rate_sample rs = {
		.prior_mstamp = bridge_stamp(bridge_now_ns / 1000 - (u64)(max(news->rate_interval_s, 0) * 1e6)),
		.prior_delivered = 1 + news->sent_delivered_pkts,
		.prior_lost = news->sent_lost_pkts,
		.delivered = has_rate ? news->rate_delivered_pkts : -1,
		.delivered_ce = news->marked,
		.lost = path->lost_pkts - news->sent_lost_pkts,
		.interval_us = has_rate ? news->rate_interval_s * 1e6 : -1,
		.snd_interval_us = max(news->rate_interval_s * 1e6, 0),
		.rcv_interval_us = max(news->rate_interval_s * 1e6, 0),
		.rtt_us = bridge_rtt_us(c, news, path),
		.losses = news->lost,
		.tx_in_flight = news->sent_in_flight_pkts,
		.acked_sacked = news->packets,
		.prior_in_flight = news->in_flight_before_pkts,
		.last_end_seq = c->tp.snd_una,
		.is_app_limited = news->rate_limited_by_application,
		.is_retrans = news->rtt_s < 0,
		.is_ece = news->marked > 0,
	};
	if (bridge_row(c)->cong_control == CONTROL)
		CALL(cong_control, (struct sock*, const struct rate_sample*), &rs);
	else
		CALL(cong_control, (struct sock*, u32, int, const struct rate_sample*), c->tp.snd_una, 0, &rs);
}

static void bridge_avoid_congestion(struct linux_connection* c, const struct Acknowledged* news)
{
	const enum bridge_form form = bridge_row(c)->cong_avoid;
	const u32 ack = c->tp.snd_una, in_flight = news->in_flight_before_pkts;
	const u32 rtt = news->rtt_s >= 0 ? news->rtt_s * HZ : -1;
	if (form == AVOID_5)
		CALL(cong_avoid, (struct sock*, u32, u32, u32, int), ack, rtt, in_flight, 1);
	else if (form == AVOID_GOOD)
		CALL(cong_avoid, (struct sock*, u32, u32, int), ack, in_flight, 1);
	else if (form == AVOID_4)
		CALL(cong_avoid, (struct sock*, u32, u32, u32), ack, (u32)news->packets, in_flight);
	else
#ifdef MODULE_COUNTS_FLIGHT
		CALL(cong_avoid, (struct sock*, u32, u32), ack, in_flight);
#else
		CALL(cong_avoid, (struct sock*, u32, u32), ack, (u32)news->packets);
#endif
}

/* Twice cwnd in an RTT in slow start, then 1.2 times (tcp_pacing_ss_ratio, tcp_pacing_ca_ratio). */
static void bridge_pace(struct linux_connection* c)
{
	struct tcp_sock* tp = &c->tp;
	struct sock* sk = &tp->inet_conn.icsk_inet.sk;
	const double factor = tp->snd_cwnd < tp->snd_ssthresh / 2 ? 2 : 1.2;
	if (tp->srtt_us > 0)
		sk->sk_pacing_rate = min(factor * tp->mss_cache * max(tp->snd_cwnd, tp->packets_out) * 8e6 / tp->srtt_us,
			(double)sk->sk_max_pacing_rate);
}

void bridge_acknowledged(struct linux_connection* c, const struct Acknowledged* news, const struct PathState* path, struct SendingLimits* limits)
{
	struct tcp_sock* tp = &c->tp;
	u8* state = &tp->inet_conn.icsk_ca_state;
	if (!c->begun || c->skipped)
		return;
	bridge_synchronise(c, path);
	if (*state == TCP_CA_CWR && after(tp->snd_una, tp->high_seq)) {	/* RFC 3168: the CWR bit has arrived, too */
		bridge_end_reduction(c);
		bridge_state(c, TCP_CA_Open);
	}
	if (news->marked > 0)
		tcp_enter_cwr((struct sock*)tp);
	const u8 calm = tcp_left_out(tp) > 0 ? TCP_CA_Disorder : TCP_CA_Open;
	if (*state < TCP_CA_CWR && *state != calm) {
		bridge_state(c, calm);
		tp->high_seq = tp->snd_nxt;
	}
	if (tp->inet_conn.icsk_ca_ops->cong_control) {
		bridge_control(c, news, path);
	} else {
		if (bridge_is_reducing(c))
			bridge_proportional(c, news);
		else if (c->una_moved)
			bridge_avoid_congestion(c, news);
		bridge_pace(c);
	}
	bridge_limits(c, path, limits);
}

void bridge_timed_out(struct linux_connection* c, const struct PathState* path, struct SendingLimits* limits)
{
	struct tcp_sock* tp = &c->tp;
	const u8 state = tp->inet_conn.icsk_ca_state;
	if (!c->begun)
		return;
	bridge_synchronise(c, path);
	/* A loss that has been answered, or a packet that is lost again and again, changes ssthresh once. */
	if (state < TCP_CA_CWR || !before(tp->snd_una, tp->high_seq) || (state == TCP_CA_Loss && c->una_moved_since_timeout)) {
		tp->prior_ssthresh = tcp_current_ssthresh((struct sock*)tp);
		tp->prior_cwnd = tp->snd_cwnd;
		tp->snd_ssthresh = bridge_ssthresh(c);
		bridge_event(c, CA_EVENT_LOSS);
	}
	tp->snd_cwnd = tcp_packets_in_flight(tp) + 1;
	tp->snd_cwnd_cnt = 0;
	tp->snd_cwnd_stamp = tcp_jiffies32;
	bridge_state(c, TCP_CA_Loss);
	tp->high_seq = tp->snd_nxt;
	c->una_moved_since_timeout = false;
	bridge_limits(c, path, limits);
}

/* Without data for longer than a timeout, cwnd halves for each of them (RFC 2861). */
void bridge_resumed(struct linux_connection* c, double idle_s, const struct PathState* path, struct SendingLimits* limits)
{
	struct tcp_sock* tp = &c->tp;
	const double rto_s = max(2 * path->smoothed_rtt_s, 0.2);
	if (!c->begun)
		return;
	bridge_synchronise(c, path);
	if (idle_s > rto_s && !tp->inet_conn.icsk_ca_ops->cong_control) {
		bridge_event(c, CA_EVENT_CWND_RESTART);
		tp->snd_ssthresh = tcp_current_ssthresh((struct sock*)tp);
		const u32 least = min((u32)TCP_INIT_CWND, tp->snd_cwnd);
		for (; idle_s > rto_s && tp->snd_cwnd > least; idle_s -= rto_s)
			tp->snd_cwnd >>= 1;
		tp->snd_cwnd = max(tp->snd_cwnd, least);
		tp->snd_cwnd_stamp = tcp_jiffies32;
	}
	bridge_event(c, CA_EVENT_TX_START);
	bridge_limits(c, path, limits);
}
