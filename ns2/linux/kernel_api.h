#ifndef bdpbench_kernel_api_h
#define bdpbench_kernel_api_h

/*
 * What congestion control modules of Linux 2.6.13 to 6.10 use of the kernel, for bridge.c, which plays
 * it. Included before a module in place of all kernel headers that it names. Where generations
 * differ, macros tell them by the number or the types of arguments. README.md says what it was
 * written from.
 */

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words of the compiler */

#define api __attribute__((unused)) static inline
#define __init
#define __exit
#define __initdata
#define __read_mostly
#define __rcu
#define __user
#define __force
#define __cold
#define __pure __attribute__((pure))
#define __used __attribute__((used))
#define __maybe_unused __attribute__((unused))
#define __aligned(bytes) __attribute__((aligned(bytes)))
#define __packed __attribute__((packed))
#define __bpf_kfunc
#define __net_init
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define noinline __attribute__((noinline))
#define asmlinkage
#define fallthrough __attribute__((fallthrough))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define typeof __typeof__
#define barrier() do { } while (0)
#define READ_ONCE(x) (x)
#define WRITE_ONCE(x, value) ((x) = (value))
#define ACCESS_ONCE(x) (x)
#define smp_store_release(at, value) (*(at) = (value))
#define smp_load_acquire(at) (*(at))
#define rcu_dereference(x) (x)
#define cmpxchg(at, old, new) ({ \
	__typeof__(*(at)) cmpxchg_found = *(at); \
	if (cmpxchg_found == (old)) \
		*(at) = (new); \
	cmpxchg_found; \
})
#define __stringify(x) #x
#define IS_ENABLED(option) 0
#define U32_C(x) x##U
#define U64_C(x) x##ULL

/* ---- types */

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef long long s64;
typedef u8 __u8;
typedef u16 __u16, __be16;
typedef u32 __u32, __be32;
typedef u64 __u64;
typedef s8 __s8;
typedef s16 __s16;
typedef s32 __s32;
typedef s64 __s64;
typedef unsigned int uint, gfp_t;
typedef unsigned long ulong;
typedef s64 ktime_t;	/* ns */

#define U8_MAX UINT8_MAX
#define U16_MAX UINT16_MAX
#define S32_MAX INT32_MAX
#define U32_MAX UINT32_MAX
#define S64_MAX LLONG_MAX
#define U64_MAX ULLONG_MAX
#define BITS_PER_LONG 64

/* ---- arithmetic */

#define min(x, y) ({ __typeof__(x) min_x = (x); __typeof__(y) min_y = (y); min_x < min_y ? min_x : min_y; })
#define max(x, y) ({ __typeof__(x) max_x = (x); __typeof__(y) max_y = (y); max_x > max_y ? max_x : max_y; })
#define min_t(type, x, y) ({ type min_x = (x); type min_y = (y); min_x < min_y ? min_x : min_y; })
#define max_t(type, x, y) ({ type max_x = (x); type max_y = (y); max_x > max_y ? max_x : max_y; })
#define min3(x, y, z) ({ __typeof__(x) min3_xy = min(x, y); min(min3_xy, z); })
#define max3(x, y, z) ({ __typeof__(x) max3_xy = max(x, y); max(max3_xy, z); })
#define min_not_zero(x, y) ({ \
	__typeof__(x) not_x = (x); \
	__typeof__(y) not_y = (y); \
	not_x == 0 ? not_y : not_y == 0 ? not_x : min(not_x, not_y); \
})
#define clamp_t(type, x, low, high) ({ type clamp_low = max_t(type, x, low); min_t(type, clamp_low, high); })
#define clamp(x, low, high) clamp_t(__typeof__(x), x, low, high)
#define clamp_val(x, low, high) clamp(x, low, high)
#define swap(x, y) do { __typeof__(x) swap_x = (x); (x) = (y); (y) = swap_x; } while (0)
/* Of a difference of unsigned numbers, too. */
#define abs(x) ({ const s64 abs_x = sizeof(x) > 4 ? (s64)(x) : (s64)(s32)(x); (__typeof__((x) + 0))(abs_x < 0 ? -abs_x : abs_x); })
#define abs64(x) abs((s64)(x))
#define before(one, two) ((s32)((u32)(one) - (u32)(two)) < 0)
#define after(one, two) before(two, one)
#define between(one, two, three) ((u32)(three) - (u32)(two) >= (u32)(one) - (u32)(two))
#define ARRAY_SIZE(x) (sizeof(x) / sizeof((x)[0]))
#define BIT(n) (1UL << (n))
#define BITS_PER_TYPE(type) (8 * sizeof(type))
#define DIV_ROUND_UP(x, by) (((x) + (by) - 1) / (by))
#define DIV_ROUND_CLOSEST(x, by) (((x) + (by) / 2) / (by))
#define DIV_ROUND_UP_ULL(x, by) DIV_ROUND_UP((u64)(x), by)
#define DIV64_U64_ROUND_UP(x, by) DIV_ROUND_UP((u64)(x), (u64)(by))
#define DIV64_U64_ROUND_CLOSEST(x, by) DIV_ROUND_CLOSEST((u64)(x), (u64)(by))
#define roundup(x, to) (DIV_ROUND_UP(x, to) * (to))
#define rounddown(x, to) ((x) - (x) % (to))
#define container_of(at, type, member) ((type*)((char*)(at) - offsetof(type, member)))
#define do_div(n, divisor) ({ \
	const u32 do_div_by = (divisor); \
	const u32 do_div_rest = (u64)(n) % do_div_by; \
	(n) = (u64)(n) / do_div_by; \
	do_div_rest; \
})

api u64 div64_u64(u64 x, u64 by) { return x / by; }
api s64 div64_s64(s64 x, s64 by) { return x / by; }
api u64 div64_64(u64 x, u64 by) { return x / by; }
api u64 div64_ul(u64 x, unsigned long by) { return x / by; }
api s64 div64_long(s64 x, long by) { return x / by; }
api u64 div_u64(u64 x, u32 by) { return x / by; }
api s64 div_s64(s64 x, s32 by) { return x / by; }
api u64 div_u64_rem(u64 x, u32 by, u32* rest) { *rest = x % by; return x / by; }
api s64 div_s64_rem(s64 x, s32 by, s32* rest) { *rest = x % by; return x / by; }
api u64 div64_u64_rem(u64 x, u64 by, u64* rest) { *rest = x % by; return x / by; }
api u64 mul_u32_u32(u32 x, u32 y) { return (u64)x * y; }
api u64 mul_u64_u32_shr(u64 x, u32 y, unsigned shift) { return (unsigned __int128)x * y >> shift; }
api u64 mul_u64_u64_div_u64(u64 x, u64 y, u64 by) { return (unsigned __int128)x * y / by; }
/* The position of the highest bit, from 1 on; 0 of 0. */
api int fls(u32 x) { return x ? 32 - __builtin_clz(x) : 0; }
api int fls64(u64 x) { return x ? 64 - __builtin_clzll(x) : 0; }
api unsigned long __fls(unsigned long x) { return 63 - __builtin_clzl(x); }
api int ilog2(u64 x) { return fls64(x) - 1; }
api bool is_power_of_2(unsigned long x) { return x != 0 && (x & (x - 1)) == 0; }
api unsigned long roundup_pow_of_two(unsigned long x) { return x <= 1 ? 1 : 1UL << fls64(x - 1); }
/* The largest whole number whose square is at most x, bit by bit. */
api u32 int_sqrt64(u64 x)
{
	u64 root = 0;
	for (u64 bit = 1ULL << 31; bit; bit >>= 1)
		if ((root + bit) * (root + bit) <= x)
			root += bit;
	return root;
}
api unsigned long int_sqrt(unsigned long x) { return int_sqrt64(x); }

/* ---- time: a jiffy is a millisecond of the simulation, and the clock starts at 1,000 s */

#define HZ 1000
#define CONFIG_HZ 1000
#define MSEC_PER_SEC 1000L
#define USEC_PER_MSEC 1000L
#define NSEC_PER_USEC 1000L
#define NSEC_PER_MSEC 1000000L
#define USEC_PER_SEC 1000000L
#define NSEC_PER_SEC 1000000000L
#define USEC_PER_JIFFY (USEC_PER_SEC / HZ)
#define TCP_TS_HZ 1000
extern unsigned long jiffies;
extern u64 bridge_now_ns;
extern u32 (*bridge_random)(void);
#define get_jiffies_64() ((u64)jiffies)
#define jiffies_64 ((u64)jiffies)
#define tcp_jiffies32 ((u32)jiffies)
/* A variable up to 4.11, a function of a connection from 4.12 on. */
extern u32 tcp_time_stamp;
#define tcp_time_stamp(tp) tcp_jiffies32
#define tcp_time_stamp_ms(tp) tcp_jiffies32
#define tcp_time_stamp_raw() tcp_jiffies32
#define jiffies_to_msecs(x) ((unsigned)(x))
#define msecs_to_jiffies(x) ((unsigned long)(x))
#define jiffies_to_usecs(x) ((unsigned)(x) * 1000U)
#define usecs_to_jiffies(x) DIV_ROUND_UP((unsigned long)(x), 1000)
#define nsecs_to_jiffies(x) ((unsigned long)((x) / 1000000))
#define time_after(one, two) ((long)((two) - (one)) < 0)
#define time_before(one, two) time_after(two, one)
#define time_after_eq(one, two) ((long)((one) - (two)) >= 0)
#define time_before_eq(one, two) time_after_eq(two, one)
#define time_after32(one, two) ((s32)((u32)(two) - (u32)(one)) < 0)
#define time_before32(one, two) time_after32(two, one)
api ktime_t ktime_get(void) { return bridge_now_ns; }
api ktime_t ktime_get_real(void) { return bridge_now_ns; }
api u64 ktime_get_ns(void) { return bridge_now_ns; }
api u64 ktime_get_real_ns(void) { return bridge_now_ns; }
api u64 local_clock(void) { return bridge_now_ns; }
api u64 tcp_clock_ns(void) { return bridge_now_ns; }
api u64 tcp_clock_us(void) { return bridge_now_ns / 1000; }
api s64 ktime_to_us(ktime_t time) { return time / 1000; }
api s64 ktime_to_ms(ktime_t time) { return time / 1000000; }
api s64 ktime_to_ns(ktime_t time) { return time; }
api ktime_t ns_to_ktime(u64 time) { return time; }
api ktime_t ktime_sub(ktime_t one, ktime_t two) { return one - two; }
api s64 ktime_us_delta(ktime_t one, ktime_t two) { return (one - two) / 1000; }
api int ktime_equal(ktime_t one, ktime_t two) { return one == two; }
api ktime_t net_invalid_timestamp(void) { return 0; }
api ktime_t net_timedelta(ktime_t time) { return bridge_now_ns - time; }
/* A time of 4.1 to 4.12; later ones are u64 in microseconds. */
struct skb_mstamp {
	union {
		u64 v64;
		struct {
			u32 stamp_us;
			u32 stamp_jiffies;
		};
	};
};
#ifdef MODULE_HAS_SKB_MSTAMP
typedef struct skb_mstamp mstamp_t;
#define bridge_stamp(us) ((struct skb_mstamp){.stamp_us = (us), .stamp_jiffies = (u32)jiffies})
#else
typedef u64 mstamp_t;
#define bridge_stamp(us) (us)
#endif
api void skb_mstamp_get(struct skb_mstamp* stamp) { stamp->stamp_us = tcp_clock_us(); stamp->stamp_jiffies = jiffies; }
api u32 skb_mstamp_us_delta(const struct skb_mstamp* one, const struct skb_mstamp* two)
{
	return one->stamp_us - two->stamp_us;
}
api u32 tcp_stamp_us_delta(u64 one, u64 two) { return (s64)(one - two) > 0 ? one - two : 0; }
api u32 tcp_stamp32_us_delta(u32 one, u32 two) { return (s32)(one - two) > 0 ? one - two : 0; }

/* ---- random numbers of the run's stream */

api u32 get_random_u32(void) { return bridge_random(); }
api u32 prandom_u32(void) { return bridge_random(); }
api u32 random32(void) { return bridge_random(); }
api u32 net_random(void) { return bridge_random(); }
api u16 get_random_u16(void) { return bridge_random(); }
api u32 prandom_u32_max(u32 end) { return (u64)bridge_random() * end >> 32; }
api u32 get_random_u32_below(u32 end) { return prandom_u32_max(end); }
api u32 get_random_u32_inclusive(u32 low, u32 high) { return low + prandom_u32_max(high - low + 1); }
api void get_random_bytes(void* at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		((u8*)at)[i] = bridge_random() >> 24;
}

/* ---- extreme values of the last time, with three samples as Kathleen Nichols describes it */

struct minmax_sample {
	u32 t;
	u32 v;
};
struct minmax {
	struct minmax_sample s[3];	/* the best, the best since it, and the best since that */
};
api u32 minmax_get(const struct minmax* m) { return m->s[0].v; }
api u32 minmax_reset(struct minmax* m, u32 t, u32 value)
{
	const struct minmax_sample sample = {t, value};
	m->s[0] = m->s[1] = m->s[2] = sample;
	return value;
}
api u32 bridge_minmax(struct minmax* m, u32 window, u32 t, u32 value, bool wants_max)
{
	const struct minmax_sample sample = {t, value};
	int place = 0;
	if (t - m->s[2].t > window)
		return minmax_reset(m, t, value);
	/* It replaces all that are no better: they are older. */
	while (place < 3 && (wants_max ? value < m->s[place].v : value > m->s[place].v))
		place++;
	for (; place < 3; place++)
		m->s[place] = sample;
	/* Samples that have left the window make room for those behind them. */
	for (int i = 0; i < 2 && t - m->s[0].t > window; i++) {
		m->s[0] = m->s[1];
		m->s[1] = m->s[2];
		m->s[2] = sample;
	}
	/* The second one is at least a quarter of the window behind the best, the third a half. */
	if (m->s[1].t == m->s[0].t && t - m->s[0].t > window / 4)
		m->s[1] = m->s[2] = sample;
	else if (m->s[2].t == m->s[1].t && t - m->s[0].t > window / 2)
		m->s[2] = sample;
	return m->s[0].v;
}
api u32 minmax_running_max(struct minmax* m, u32 window, u32 t, u32 value)
{
	return bridge_minmax(m, window, t, value, true);
}
api u32 minmax_running_min(struct minmax* m, u32 window, u32 t, u32 value)
{
	return bridge_minmax(m, window, t, value, false);
}

/* ---- a connection; sequence numbers count bytes */

struct module;
struct list_head {
	struct list_head *next, *prev;
};
struct net {
	struct {
		int sysctl_tcp_ecn, sysctl_tcp_min_tso_segs, sysctl_tcp_reordering;
	} ipv4;
};
extern struct net bridge_net;
#define init_net bridge_net
#define sock_net(sk) (&bridge_net)

enum { TCP_ESTABLISHED = 1, TCP_SYN_SENT, TCP_SYN_RECV, TCP_CLOSE = 7, TCP_LISTEN = 10 };
enum sk_pacing { SK_PACING_NONE, SK_PACING_NEEDED, SK_PACING_FQ };
struct sock {
	u8 sk_state;
	u8 sk_pacing_shift;
	u16 sk_protocol, sk_family, sk_gso_max_segs;
	u32 sk_pacing_status, sk_gso_max_size, sk_mark, sk_priority;
	unsigned long sk_pacing_rate, sk_max_pacing_rate;	/* bytes/s */
	int sk_sndbuf, sk_wmem_queued;
};
struct inet_sock {
	struct sock sk;
	__be32 inet_saddr, inet_daddr;
	__be16 inet_sport, inet_dport;
};

/* The order is that of the states' severity. */
enum tcp_ca_state { TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss };
#define TCPF_CA_Open (1 << TCP_CA_Open)
#define TCPF_CA_Disorder (1 << TCP_CA_Disorder)
#define TCPF_CA_CWR (1 << TCP_CA_CWR)
#define TCPF_CA_Recovery (1 << TCP_CA_Recovery)
#define TCPF_CA_Loss (1 << TCP_CA_Loss)

/* Kernels have 64 to 104 bytes; those of BBRv2 and others have larger ones of their own. */
#define ICSK_CA_PRIV_SIZE 1024
#define ICSK_ACK_TIMER 2
#define ICSK_ACK_NOW 16
struct tcp_congestion_ops;
struct inet_connection_sock {
	struct inet_sock icsk_inet;
	const struct tcp_congestion_ops* icsk_ca_ops;
	u8 icsk_ca_state, icsk_ca_setsockopt, icsk_ca_initialized, icsk_ca_dst_locked;
	u8 icsk_retransmits, icsk_backoff;
	u32 icsk_rto, icsk_rto_min;
	struct {
		u8 pending, quick, pingpong;
		u32 ato;
		u16 rcv_mss;
	} icsk_ack;
	u64 icsk_ca_priv[ICSK_CA_PRIV_SIZE / sizeof(u64)];
	u64 guard;	/* bridge.c looks whether a module has written beyond its area */
};

struct tcp_options_received {
	u32 rcv_tsval, rcv_tsecr, ts_recent;
	u8 saw_tstamp, tstamp_ok, sack_ok, snd_wscale;
	u16 mss_clamp;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 mss_cache, advmss, window_clamp;
	u32 snd_una, snd_nxt, snd_up, snd_wnd, snd_sml, write_seq, high_seq, pushed_seq, max_window;
	u32 rcv_nxt, rcv_wnd, copied_seq, rcv_tstamp, lsndtime;
	u32 snd_ssthresh, snd_cwnd, snd_cwnd_cnt, snd_cwnd_clamp, snd_cwnd_used, snd_cwnd_stamp;
	u32 prior_cwnd, prior_ssthresh, prr_delivered, prr_out;
	u32 packets_out, retrans_out, sacked_out, lost_out, fackets_out, left_out;
	u32 max_packets_out, max_packets_seq, reordering, total_retrans;
	u32 delivered, delivered_ce, lost, app_limited;	/* packets; delivered starts at 1 */
	mstamp_t delivered_mstamp, first_tx_mstamp, tcp_mstamp;	/* us */
	u64 tcp_wstamp_ns, tcp_clock_cache;
	u32 srtt, mdev, rttvar;	/* jiffies << 3, << 2, << 2 */
	u32 srtt_us, mdev_us, rttvar_us, rtt_seq;
	struct minmax rtt_min;
	u32 rate_delivered, rate_interval_us;
	u32 undo_marker, ecn_flags, segs_out, data_segs_out, segs_in;
	int undo_retrans;
	u64 bytes_acked, bytes_sent, bytes_retrans, bytes_received;
	u8 is_cwnd_limited, rate_app_limited, nonagle, tlp_retrans, frto, chrono_type, fast_ack_mode;
	struct tcp_options_received rx_opt;
};
#define tcp_sk(sk) ((struct tcp_sock*)(sk))
#define inet_csk(sk) ((struct inet_connection_sock*)(sk))
#define inet_sk(sk) ((struct inet_sock*)(sk))
#define inet_csk_ca(sk) ((void*)inet_csk(sk)->icsk_ca_priv)
#define tcp_ca(tp) inet_csk_ca(tp)
#define tcp_ca_state icsk_ca_state

#define TCP_ECN_OK 1
#define TCP_ECN_QUEUE_CWR 2
#define TCP_ECN_DEMAND_CWR 4
#define TCP_ECN_SEEN 8
#define TCP_ECN_LOW 16
#define TCP_ECN_ECT_1 32
#define TCP_INIT_CWND 10
#define TCP_INFINITE_SSTHRESH 0x7fffffff
#define TCP_MAX_QUICKACKS 16U
#define MAX_TCP_HEADER 320
#define MAX_TCP_WINDOW 32767U
#define GSO_MAX_SIZE 65536
#define GSO_LEGACY_MAX_SIZE 65536

struct sk_buff {
	u32 len;
	struct {
		u32 seq, end_seq;
		u8 sacked;
		struct {
			u32 delivered, delivered_ce, lost, in_flight;
			mstamp_t first_tx_mstamp, delivered_mstamp;
			u8 is_app_limited;
		} tx;
	} control;
};
#define TCP_SKB_CB(skb) (&(skb)->control)

enum tcp_ca_event {
	CA_EVENT_TX_START, CA_EVENT_CWND_RESTART, CA_EVENT_COMPLETE_CWR, CA_EVENT_LOSS, CA_EVENT_ECN_NO_CE,
	CA_EVENT_ECN_IS_CE, CA_EVENT_FRTO, CA_EVENT_FAST_ACK, CA_EVENT_SLOW_ACK, CA_EVENT_DELAYED_ACK,
	CA_EVENT_NON_DELAYED_ACK, CA_EVENT_TLP_RECOVERY
};
enum tcp_ca_ack_event_flags { CA_ACK_SLOWPATH = 1, CA_ACK_WIN_UPDATE = 2, CA_ACK_ECE = 4 };

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
	u32 in_flight;	/* bytes, when the packet left */
};
struct rate_sample {
	mstamp_t prior_mstamp;
	u32 prior_delivered, prior_delivered_ce, prior_lost;
	s32 delivered, delivered_ce, lost;
	long interval_us;
	u32 snd_interval_us, rcv_interval_us;
	long rtt_us;
	int losses;
	u32 tx_in_flight, acked_sacked, prior_in_flight, last_end_seq;
	bool is_app_limited, is_retrans, is_ack_delayed, is_acking_tlp_retrans_seq, is_ece;
};

#define TCP_CA_NAME_MAX 16
#define TCP_CONG_NON_RESTRICTED 1
#define TCP_CONG_NEEDS_ECN 2
#define TCP_CONG_RTT_STAMP 4
#define TCP_CONG_WANTS_CE_EVENTS 8
#define TCP_CONG_MASK 15
union tcp_cc_info;
/* Functions of any generation: table rows that the maker writes tell bridge.c which. */
struct tcp_congestion_ops {
	struct list_head list;
	u32 key, flags;
	int non_restricted;
	void *init, *release, *ssthresh, *min_cwnd, *cong_avoid, *rtt_sample, *set_state, *cwnd_event;
	void *in_ack_event, *undo_cwnd, *pkts_acked, *min_tso_segs, *tso_segs_goal, *tso_segs, *sndbuf_expand;
	void *cong_control, *get_info, *skb_marked_lost;
	char name[TCP_CA_NAME_MAX];
	struct module* owner;
};

extern int sysctl_tcp_abc, sysctl_tcp_max_ssthresh, tcp_max_burst, sysctl_tcp_max_burst;

api unsigned tcp_left_out(const struct tcp_sock* tp) { return tp->sacked_out + tp->lost_out; }
api unsigned tcp_packets_in_flight(const struct tcp_sock* tp) { return tp->packets_out - tcp_left_out(tp) + tp->retrans_out; }
api u32 tcp_snd_cwnd(const struct tcp_sock* tp) { return tp->snd_cwnd; }
api void tcp_snd_cwnd_set(struct tcp_sock* tp, u32 cwnd) { tp->snd_cwnd = cwnd; }
api bool tcp_in_slow_start(const struct tcp_sock* tp) { return tp->snd_cwnd < tp->snd_ssthresh; }
api bool tcp_in_initial_slowstart(const struct tcp_sock* tp) { return tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH; }
api u32 tcp_min_rtt(const struct tcp_sock* tp) { return minmax_get(&tp->rtt_min); }
api u32 tcp_wnd_end(const struct tcp_sock* tp) { return tp->snd_una + tp->snd_wnd; }
api u32 tcp_init_cwnd(const struct tcp_sock* tp, const void* route) { return TCP_INIT_CWND; }
api int tcp_mss_to_mtu(const void* sk, int mss) { return mss + 40; }
api int tcp_is_sack(const struct tcp_sock* tp) { return 1; }
api bool tcp_in_cwnd_reduction(const struct sock* sk)
{
	return TCPF_CA_CWR + TCPF_CA_Recovery & 1 << inet_csk(sk)->icsk_ca_state;
}
/* What ssthresh becomes after a time without data (RFC 2861). */
api u32 tcp_current_ssthresh(const struct sock* sk)
{
	const struct tcp_sock* tp = tcp_sk(sk);
	const u32 part = (tp->snd_cwnd >> 1) + (tp->snd_cwnd >> 2);
	return tcp_in_cwnd_reduction(sk) ? tp->snd_ssthresh : max(tp->snd_ssthresh, part);
}
api void tcp_set_ca_state(struct sock* sk, u8 state) { inet_csk(sk)->icsk_ca_state = state; }
api void __tcp_send_ack(struct sock* sk, u32 next) { }
extern void tcp_enter_cwr(struct sock*);
#define INET_ECN_xmit(sk) do { } while (0)
#define INET_ECN_dontxmit(sk) do { } while (0)
api void tcp_enter_quickack_mode(struct sock* sk, unsigned most) { }

#define PICKED_3(one, two, three, name, ...) name
#define PICKED_5(one, two, three, four, five, name, ...) name

/* Slow start of RFC 5681: one packet for each that is acknowledged. */
api u32 bridge_slow_start(struct tcp_sock* tp, u32 acked)
{
	/* Modules up to 3.18 ask whether cwnd <= ssthresh, and wait until it is above. */
	const u32 end = max(tp->snd_ssthresh, tp->snd_cwnd + (tp->snd_cwnd == tp->snd_ssthresh));
	const u32 cwnd = min(tp->snd_cwnd + acked, end);
	acked -= cwnd - tp->snd_cwnd;
	tp->snd_cwnd = min(cwnd, tp->snd_cwnd_clamp);
	return acked;
}
/* One packet for each acknowledgement; less above a limit, if there is one (RFC 3742). */
api u32 bridge_old_slow_start(struct tcp_sock* tp)
{
	const u32 most = sysctl_tcp_max_ssthresh;
	const u32 share = most > 0 && tp->snd_cwnd > most ? max(most / 2, 1U) : tp->snd_cwnd;
	for (tp->snd_cwnd_cnt += share; tp->snd_cwnd_cnt >= tp->snd_cwnd;) {
		tp->snd_cwnd_cnt -= tp->snd_cwnd;
		if (tp->snd_cwnd >= tp->snd_cwnd_clamp)
			break;
		tp->snd_cwnd++;
	}
	return 0;
}
#define tcp_slow_start(...) PICKED_3(__VA_ARGS__, 0, bridge_slow_start, bridge_old_slow_start)(__VA_ARGS__)

/* Congestion avoidance: one packet for w that are acknowledged (RFC 3465), or acknowledgements. */
api void bridge_avoid(struct tcp_sock* tp, u32 w, u32 acked)
{
	/* What has been counted for a larger w is worth one packet, not many at once. */
	if (tp->snd_cwnd_cnt >= w) {
		tp->snd_cwnd_cnt = 0;
		tp->snd_cwnd++;
	}
	tp->snd_cwnd_cnt += acked;
	tp->snd_cwnd += tp->snd_cwnd_cnt / w;
	tp->snd_cwnd_cnt %= w;
	tp->snd_cwnd = min(tp->snd_cwnd, tp->snd_cwnd_clamp);
}
api void bridge_old_avoid(struct tcp_sock* tp, u32 w)
{
	if (tp->snd_cwnd_cnt < w) {
		tp->snd_cwnd_cnt++;
		return;
	}
	tp->snd_cwnd_cnt = 0;
	if (tp->snd_cwnd < tp->snd_cwnd_clamp)
		tp->snd_cwnd++;
}
#define tcp_cong_avoid_ai(...) PICKED_3(__VA_ARGS__, bridge_avoid, bridge_old_avoid, 0)(__VA_ARGS__)

/* Whether cwnd is used; in slow start half of it is enough, since it doubles. */
api bool bridge_is_limited(const struct sock* sk)
{
	const struct tcp_sock* tp = tcp_sk(sk);
	if (tcp_in_slow_start(tp))
		return tp->snd_cwnd < 2 * tp->max_packets_out;
	return tp->is_cwnd_limited;
}
api bool bridge_old_is_limited(const struct sock* sk, u32 in_flight)
{
	return in_flight + tcp_max_burst >= tcp_sk(sk)->snd_cwnd;
}
#define tcp_is_cwnd_limited(...) PICKED_3(__VA_ARGS__, 0, bridge_old_is_limited, bridge_is_limited)(__VA_ARGS__)

/* Reno (RFC 5681), which modules fall back to. */
api void bridge_reno(struct sock* sk, u32 ack, u32 acked)
{
	struct tcp_sock* tp = tcp_sk(sk);
	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp) && (acked = tcp_slow_start(tp, acked)) == 0)
		return;
	tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
}
api void bridge_old_reno(struct sock* sk, u32 in_flight)
{
	struct tcp_sock* tp = tcp_sk(sk);
	if (!tcp_is_cwnd_limited(sk, in_flight))
		return;
	if (tp->snd_cwnd <= tp->snd_ssthresh)
		tcp_slow_start(tp);
	else
		tcp_cong_avoid_ai(tp, tp->snd_cwnd);
}
#ifdef MODULE_COUNTS_FLIGHT	/* its third argument is what was in flight, as from 2.6.23 to 3.12 */
#define bridge_reno_3(sk, ack, in_flight) bridge_old_reno(sk, in_flight)
#define bridge_reno_4(sk, ack, in_flight, good) bridge_old_reno(sk, in_flight)
api void tcp_reno_cong_avoid(struct sock* sk, u32 ack, u32 in_flight) { bridge_old_reno(sk, in_flight); }
#else
#define bridge_reno_3(sk, ack, acked) bridge_reno(sk, ack, acked)
#define bridge_reno_4(sk, ack, acked, in_flight) bridge_reno(sk, ack, acked)
api void tcp_reno_cong_avoid(struct sock* sk, u32 ack, u32 acked) { bridge_reno(sk, ack, acked); }
#endif
#define bridge_reno_5(sk, ack, rtt, in_flight, good) bridge_old_reno(sk, in_flight)
#define tcp_reno_cong_avoid(...) \
	PICKED_5(__VA_ARGS__, bridge_reno_5, bridge_reno_4, bridge_reno_3, 0, 0)(__VA_ARGS__)
api u32 tcp_reno_ssthresh(struct sock* sk) { return max(tcp_sk(sk)->snd_cwnd >> 1U, 2U); }
api u32 tcp_reno_min_cwnd(const struct sock* sk) { return tcp_sk(sk)->snd_ssthresh / 2; }
api u32 tcp_reno_undo_cwnd(struct sock* sk) { return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd); }
extern struct tcp_congestion_ops tcp_reno;

/* ---- a module */

struct linux_parameter {
	const char *name, *type;
	void* value;
	unsigned long bytes;
	struct linux_parameter* next;
};
extern struct linux_parameter* bridge_parameters;
extern int (*bridge_module_init)(void);
extern int tcp_register_congestion_control(struct tcp_congestion_ops*);
api void tcp_unregister_congestion_control(struct tcp_congestion_ops* ops) { }

#ifdef MODULE_BESIDE	/* another module whose functions this one calls: only its functions count */
#define bridge_parameter(name, type, value, bytes)
#define module_init(function) __attribute__((unused)) static int (*const unused_init)(void) = function;
#else
#define bridge_parameter(name, type, value, bytes) \
	static __attribute__((constructor)) void bridge_parameter_##name(void) \
	{ \
		static struct linux_parameter parameter = {#name, type, value, bytes}; \
		parameter.next = bridge_parameters; \
		bridge_parameters = &parameter; \
	}
#define module_init(function) \
	static int bridge_init(void) { return function(); } \
	static __attribute__((constructor)) void bridge_set_init(void) { bridge_module_init = bridge_init; }
#endif
#define module_exit(function) __attribute__((unused)) static void bridge_exit(void) { function(); }
#define module_param_named(name, variable, type, mode) \
	bridge_parameter(name, #type, (void*)&(variable), sizeof(variable))
#define module_param(name, type, mode) module_param_named(name, name, type, mode)
#define module_param_cb(name, functions, at, mode) bridge_parameter(name, "uint", (void*)(at), sizeof(*(at)))
#define module_param_array(name, type, count, mode)
#define module_param_array_named(name, array, type, count, mode)
#define module_param_string(name, text, bytes, mode)
struct kernel_param {
	const char* name;
	void* arg;
};
struct kernel_param_ops {
	unsigned flags;
	int (*set)(const char*, const struct kernel_param*);
	int (*get)(char*, const struct kernel_param*);
	void (*free)(void*);
};
api int param_set_uint_minmax(const char* text, const struct kernel_param* at, unsigned low, unsigned high) { return 0; }
api int param_set_uint(const char* text, const struct kernel_param* at) { return 0; }
api int param_set_int(const char* text, const struct kernel_param* at) { return 0; }
api int param_get_uint(char* text, const struct kernel_param* at) { return 0; }
api int param_get_int(char* text, const struct kernel_param* at) { return 0; }
#define MODULE_PARM_DESC(name, text)
#define MODULE_AUTHOR(text)
#define MODULE_LICENSE(text)
#define MODULE_DESCRIPTION(text)
#define MODULE_VERSION(text)
#define MODULE_ALIAS(text)
#define MODULE_INFO(name, text)
#define EXPORT_SYMBOL(name)
#define EXPORT_SYMBOL_GPL(name)
#define THIS_MODULE NULL
#define late_initcall(function) module_init(function)

/* ---- messages go to standard error, unless they only inform */

#define KERN_EMERG "<0>"
#define KERN_ALERT "<1>"
#define KERN_CRIT "<2>"
#define KERN_ERR "<3>"
#define KERN_WARNING "<4>"
#define KERN_NOTICE "<5>"
#define KERN_INFO "<6>"
#define KERN_DEBUG "<7>"
#define KERN_CONT ""
api __attribute__((format(printf, 1, 2))) int printk(const char* format, ...)
{
	const bool has_level = format[0] == '<' && format[1] != '\0' && format[2] == '>';
	va_list arguments;
	if (!has_level || format[1] > '4')
		return 0;
	va_start(arguments, format);
	vfprintf(stderr, format + 3, arguments);
	va_end(arguments);
	return 0;
}
#define pr_fmt(text) text
#define pr_err(...) printk(KERN_ERR __VA_ARGS__)
#define pr_warn(...) printk(KERN_WARNING __VA_ARGS__)
#define pr_warning pr_warn
#define pr_err_once pr_err
#define pr_err_ratelimited pr_err
#define pr_warn_once pr_warn
#define pr_warn_ratelimited pr_warn
#define printk_ratelimited printk
#define trace_printk(...) do { } while (0)
#define pr_notice(...) do { } while (0)
#define pr_info(...) do { } while (0)
#define pr_info_once pr_info
#define pr_info_ratelimited pr_info
#define pr_debug(...) do { } while (0)
#define pr_debug_ratelimited pr_debug
#define net_dbg_ratelimited pr_debug
#define BUG_ON(condition) do { if (condition) abort(); } while (0)
#define WARN_ON(condition) ((condition) != 0)
#define WARN_ON_ONCE(condition) WARN_ON(condition)
#define WARN_ONCE(condition, ...) WARN_ON(condition)
#define WARN(condition, ...) WARN_ON(condition)
#define BUILD_BUG_ON(condition) ((void)sizeof(char[1 - 2 * !!(condition)]))

/* ---- memory, one thread, and nobody who asks for statistics */

#define GFP_KERNEL 0
#define GFP_ATOMIC 0
#define GFP_NOWAIT 0
#define GFP_USER 0
#define __GFP_NOWARN 0
#define kcalloc(n, bytes, flags) calloc(n, bytes)
#define kzalloc(bytes, flags) calloc(1, bytes)
#define kmalloc(bytes, flags) malloc(bytes)
#define kmalloc_array(n, bytes, flags) calloc(n, bytes)
#define kfree(at) free((void*)(at))
#define DEFINE_SPINLOCK(name) __attribute__((unused)) static int name
typedef int spinlock_t;
#define spin_lock_init(lock) do { } while (0)
#define spin_lock(lock) do { } while (0)
#define spin_unlock(lock) do { } while (0)
#define spin_lock_bh(lock) do { } while (0)
#define spin_unlock_bh(lock) do { } while (0)
#define rcu_read_lock() do { } while (0)
#define rcu_read_unlock() do { } while (0)
#define NET_INC_STATS(net, field) do { } while (0)
#define NET_INC_STATS_BH(net, field) do { } while (0)
#define NET_ADD_STATS(net, field, n) do { } while (0)
#define NET_ADD_STATS_BH(net, field, n) do { } while (0)
#define tcp_call_bpf(sk, op, ...) (-1)
#define tcp_call_bpf_2arg(sk, op, ...) (-1)
#define BPF_SOCK_OPS_BASE_RTT 0
#define CAP_NET_ADMIN 12
#define capable(what) 1

struct tcpvegas_info {
	__u32 tcpv_enabled, tcpv_rttcnt, tcpv_rtt, tcpv_minrtt;
};
struct tcp_dctcp_info {
	__u16 dctcp_enabled, dctcp_ce_state;
	__u32 dctcp_alpha, dctcp_ab_ecn, dctcp_ab_tot;
};
struct tcp_bbr_info {
	__u32 bbr_bw_lo, bbr_bw_hi, bbr_min_rtt, bbr_pacing_gain, bbr_cwnd_gain;
	__u32 bbr_bw_hi_lsb, bbr_bw_hi_msb, bbr_bw_lo_lsb, bbr_bw_lo_msb;
	__u8 bbr_mode, bbr_phase, unused1, bbr_version;
	__u32 bbr_inflight_lo, bbr_inflight_hi, bbr_extra_acked;
};
union tcp_cc_info {
	struct tcpvegas_info vegas;
	struct tcp_dctcp_info dctcp;
	struct tcp_bbr_info bbr, bbr2;
};
enum { INET_DIAG_MEMINFO = 1, INET_DIAG_INFO, INET_DIAG_VEGASINFO, INET_DIAG_CONG, INET_DIAG_DCTCPINFO = 9,
	INET_DIAG_BBRINFO = 16, INET_DIAG_BBR2INFO };
struct rtattr;
#define __RTA_PUT(skb, type, bytes) NULL
#define RTA_DATA(attribute) NULL
#define RTA_PUT(skb, type, bytes, data) do { } while (0)
#define nla_put(skb, type, bytes, data) 0
#ifndef ENOTSUPP
#define ENOTSUPP 524
#endif

/* ---- functions for BPF, and programs of BPF (struct_ops) */

struct btf_kfunc_id_set {
	struct module* owner;
	const void *set, *filter;
};
#define BTF_SET8_START(name) __attribute__((unused)) static const int name[] = {0
#define BTF_ID_FLAGS(what, name, ...)
#define BTF_SET8_END(name) };
#define BTF_KFUNCS_START(name) BTF_SET8_START(name)
#define BTF_KFUNCS_END(name) BTF_SET8_END(name)
#define BPF_PROG_TYPE_STRUCT_OPS 0
#define register_btf_kfunc_id_set(type, set) ((void)(set), 0)
#define SEC(name)
#define __ksym
#define __kconfig
#define BPF_PROG(name, ...) name(__VA_ARGS__)
#define BPF_STRUCT_OPS(name, ...) name(__VA_ARGS__)
#define BPF_CORE_READ_BITFIELD(at, field) ((at)->field)
#define __uint(name, value) int (*name)[value]
#define __type(name, type) type* name
enum { BPF_MAP_TYPE_SK_STORAGE = 24, BPF_F_NO_PREALLOC = 1, BPF_SK_STORAGE_GET_F_CREATE = 1, SOL_TCP = 6, TCP_CONGESTION = 13 };
#define bpf_sk_storage_get(map, sk, value, flags) NULL
#define bpf_sk_storage_delete(map, sk) 0
#define bpf_setsockopt(sk, level, option, value, bytes) 0
#define bpf_getsockopt(sk, level, option, value, bytes) (-1)
#define bpf_tcp_send_ack(sk, next) 0
#define bpf_printk(...) do { } while (0)

#endif
