#ifndef bdpbench_linux_module_h
#define bdpbench_linux_module_h

/*
 * The kernel's side of a congestion control module of Linux, as TCP/Linux of ns-2 plays it.
 *
 * Included first in a module's file (tcp_*.c), in place of all kernel headers that it names, this
 * gives it the API of Linux 2.6.22: the structures and functions of tcp/linux/ of ns-2, with the
 * same layout. Included after ns-linux-util.h, as by the agent, it adds only what a module's
 * library exports.
 */

#include <stddef.h>

/* The version of this interface; a library made for another one is refused. */
#define LINUX_MODULE_INTERFACE 1

/* A parameter of a module: module_param(name, type, mode). */
struct linux_parameter {
	const char* name;
	const char* type;
	void* value;
	unsigned long bytes;
	struct linux_parameter* next;
};

struct tcp_congestion_ops;

/* What a module's library exports, as the symbol bdpbench_linux_module. */
struct linux_module {
	int interface;
	const unsigned* layout;	/* LINUX_LAYOUT as the module was compiled */
	int (*init)(void);	/* registers its congestion control */
	int registrations;
	struct tcp_congestion_ops* registered;	/* the last one */
	struct linux_parameter* parameters;
};

/* Where the structures have their fields, which a module and the agent have to agree on. */
#define LINUX_LAYOUT { \
	sizeof(struct tcp_sock), offsetof(struct tcp_sock, sk_state), offsetof(struct tcp_sock, snd_nxt), \
	offsetof(struct tcp_sock, snd_una), offsetof(struct tcp_sock, mss_cache), \
	offsetof(struct tcp_sock, srtt), offsetof(struct tcp_sock, rx_opt), \
	offsetof(struct tcp_sock, snd_ssthresh), offsetof(struct tcp_sock, snd_cwnd), \
	offsetof(struct tcp_sock, snd_cwnd_cnt), offsetof(struct tcp_sock, snd_cwnd_clamp), \
	offsetof(struct tcp_sock, snd_cwnd_stamp), offsetof(struct tcp_sock, bytes_acked), \
	offsetof(struct tcp_sock, icsk_ca_ops), offsetof(struct tcp_sock, icsk_ca_state), \
	offsetof(struct tcp_sock, icsk_ca_priv), sizeof(struct tcp_options_received), \
	offsetof(struct tcp_options_received, rcv_tsval), offsetof(struct tcp_options_received, rcv_tsecr), \
	sizeof(struct tcp_congestion_ops), offsetof(struct tcp_congestion_ops, flags), \
	offsetof(struct tcp_congestion_ops, init), offsetof(struct tcp_congestion_ops, release), \
	offsetof(struct tcp_congestion_ops, ssthresh), offsetof(struct tcp_congestion_ops, min_cwnd), \
	offsetof(struct tcp_congestion_ops, cong_avoid), offsetof(struct tcp_congestion_ops, rtt_sample), \
	offsetof(struct tcp_congestion_ops, set_state), offsetof(struct tcp_congestion_ops, cwnd_event), \
	offsetof(struct tcp_congestion_ops, undo_cwnd), offsetof(struct tcp_congestion_ops, pkts_acked), \
	offsetof(struct tcp_congestion_ops, get_info), offsetof(struct tcp_congestion_ops, name), \
}

#ifndef NS_LINUX_UTIL_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- types; u16 is wider than the kernel's, so that windows above 65,535 packets fit */

typedef uint8_t u8;
typedef unsigned int u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
#define __u8 u8
#define __u16 u16
#define __u32 u32
#define __u64 u64
#define __s32 s32
typedef s64 ktime_t;	/* ns */

/* ---- arithmetic */

#define min(x, y) ((x) < (y) ? (x) : (y))
#define max(x, y) ((x) > (y) ? (x) : (y))
#define min_t(type, x, y) ((type)(x) < (type)(y) ? (type)(x) : (type)(y))
#define max_t(type, x, y) ((type)(x) > (type)(y) ? (type)(x) : (type)(y))
#define before(one, two) ((s32)((u32)(one) - (u32)(two)) < 0)
#define after(one, two) before(two, one)
#define between(one, two, three) ((three) - (two) >= (one) - (two))
#define ARRAY_SIZE(x) (sizeof(x) / sizeof((x)[0]))
extern int abs(int);
#define likely(x) (x)
#define unlikely(x) (x)
#define do_div(n, divisor) ({ \
	const u32 do_div_by = (divisor); \
	const u32 do_div_rest = (u64)(n) % do_div_by; \
	(n) = (u64)(n) / do_div_by; \
	do_div_rest; \
})
extern int fls(int);
extern int fls64(u64);
extern u64 div64_64(u64 dividend, u64 divisor);

/* ---- time: a jiffy is a millisecond of the simulation */

#define HZ 1000
extern u32 tcp_time_stamp;
#define jiffies tcp_time_stamp
#define jiffies_to_msecs(x) (x)
#define msecs_to_jiffies(x) (x)
#define jiffies_to_usecs(x) (1000 * (x))
#define usecs_to_jiffies(x) ((x) / 1000)
extern s64 ktime_get_real;
#define ktime_get_real() ktime_get_real
extern ktime_t net_invalid_timestamp();
extern int ktime_equal(const ktime_t one, const ktime_t two);
extern s64 ktime_to_us(const ktime_t);
extern ktime_t net_timedelta(ktime_t);

/* ---- a connection; sequence numbers count bytes */

#define sock tcp_sock
#define inet_sock tcp_sock
#define inet_connection_sock tcp_sock
#define tcp_sk(sk) (sk)
#define inet_csk(sk) (sk)
#define inet_csk_ca(sk) ((void*)(sk)->icsk_ca_priv)

struct tcp_options_received {
	u32 rcv_tsval;
	u32 rcv_tsecr;
	u16 saw_tstamp : 1, unused : 15;
};

struct tcp_sock {
	int sk_state;
	u32 snd_nxt;
	u32 snd_una;
	u32 mss_cache;
	u32 srtt;		/* jiffies << 3 */
	struct tcp_options_received rx_opt;
	u32 snd_ssthresh;
	u32 snd_cwnd;
	u16 snd_cwnd_cnt;
	u16 snd_cwnd_clamp;
	u32 snd_cwnd_stamp;
	u32 bytes_acked;
	struct tcp_congestion_ops* icsk_ca_ops;
	u8 icsk_ca_state;
	u32 icsk_ca_priv[16];
};
#define ICSK_CA_PRIV_SIZE (16 * sizeof(u32))

enum tcp_ca_state { TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss };
#define TCPF_CA_Open (1 << TCP_CA_Open)
#define TCPF_CA_Disorder (1 << TCP_CA_Disorder)
#define TCPF_CA_CWR (1 << TCP_CA_CWR)
#define TCPF_CA_Recovery (1 << TCP_CA_Recovery)
#define TCPF_CA_Loss (1 << TCP_CA_Loss)

enum tcp_ca_event {
	CA_EVENT_TX_START, CA_EVENT_CWND_RESTART, CA_EVENT_COMPLETE_CWR, CA_EVENT_FRTO, CA_EVENT_LOSS,
	CA_EVENT_FAST_ACK, CA_EVENT_SLOW_ACK
};

#define FLAG_ECE 1
#define FLAG_DATA_SACKED 2
#define FLAG_DATA_ACKED 4
#define FLAG_DATA_LOST 8
#define FLAG_CA_ALERT (FLAG_DATA_SACKED | FLAG_ECE)
#define FLAG_NOT_DUP FLAG_DATA_ACKED

/* ---- a congestion control */

struct list_head {
	struct list_head* prev;
	struct list_head* next;
	const char* file_name;
};

struct sk_buff {
	int unused;
};

#define TCP_CA_NAME_MAX 16
#define TCP_CONG_NON_RESTRICTED 1
#define TCP_CONG_RTT_STAMP 2
struct tcp_congestion_ops {
	struct list_head list;
	unsigned long flags;
	int non_restricted;
	void (*init)(struct sock*);
	void (*release)(struct sock*);
	u32 (*ssthresh)(struct sock*);
	u32 (*min_cwnd)(const struct sock*);
	void (*cong_avoid)(struct sock*, u32 ack, u32 rtt, u32 in_flight, int good_ack);
	void (*rtt_sample)(struct sock*, u32 rtt_us);
	void (*set_state)(struct sock*, u8 new_state);
	void (*cwnd_event)(struct sock*, enum tcp_ca_event);
	u32 (*undo_cwnd)(struct sock*);
	void (*pkts_acked)(struct sock*, u32 num_acked, ktime_t last);
	void (*get_info)(struct sock*, u32 ext, struct sk_buff*);
	char name[TCP_CA_NAME_MAX];
	struct module* owner;
};

extern int sysctl_tcp_abc;
extern int sysctl_tcp_max_ssthresh;
extern int tcp_max_burst;
extern struct tcp_congestion_ops tcp_reno;
extern u32 tcp_reno_ssthresh(struct sock*);
extern u32 tcp_reno_min_cwnd(const struct sock*);
extern void tcp_reno_cong_avoid(struct sock*, u32 ack, u32 rtt, u32 in_flight, int flag);
extern void tcp_slow_start(struct tcp_sock*);
#define tcp_is_cwnd_limited(sk, in_flight) ((in_flight) >= (sk)->snd_cwnd)

/* ---- a module */

#define bdpbench_exported __attribute__((visibility("default")))
#define bdpbench_unused __attribute__((unused))
static const unsigned bdpbench_layout[] = LINUX_LAYOUT;
bdpbench_exported struct linux_module bdpbench_linux_module = {LINUX_MODULE_INTERFACE, bdpbench_layout};

static bdpbench_unused int tcp_register_congestion_control(struct tcp_congestion_ops* ops)
{
	bdpbench_linux_module.registrations++;
	bdpbench_linux_module.registered = ops;
	return 0;
}

static bdpbench_unused void tcp_unregister_congestion_control(struct tcp_congestion_ops* ops) {}

#define module_init(function) \
	bdpbench_exported int bdpbench_module_init(void) { return function(); } \
	static __attribute__((constructor)) void bdpbench_set_init(void) \
	{ \
		bdpbench_linux_module.init = bdpbench_module_init; \
	}
#define module_exit(function) static bdpbench_unused void bdpbench_exit(void) { function(); }
#define module_param_named(name, variable, type, mode) \
	static __attribute__((constructor)) void bdpbench_parameter_##name(void) \
	{ \
		static struct linux_parameter parameter = {#name, #type, &variable, sizeof(variable)}; \
		parameter.next = bdpbench_linux_module.parameters; \
		bdpbench_linux_module.parameters = &parameter; \
	}
#define module_param(name, type, mode) module_param_named(name, name, type, mode)
#define MODULE_PARM_DESC(name, text)
#define MODULE_AUTHOR(text)
#define MODULE_LICENSE(text)
#define MODULE_DESCRIPTION(text)
#define MODULE_VERSION(text)
#define MODULE_ALIAS(text)
#define EXPORT_SYMBOL(name)
#define EXPORT_SYMBOL_GPL(name)
#define THIS_MODULE NULL
#define __init
#define __exit
#define __read_mostly

/* ---- messages go to standard error, unless they only inform */

#define KERN_EMERG "<0>"
#define KERN_ALERT "<1>"
#define KERN_CRIT "<2>"
#define KERN_ERR "<3>"
#define KERN_WARNING "<4>"
#define KERN_NOTICE "<5>"
#define KERN_INFO "<6>"
#define KERN_DEBUG "<7>"
static bdpbench_unused __attribute__((format(printf, 1, 2))) int printk(const char* format, ...)
{
	const int has_level = format[0] == '<' && format[1] != '\0' && format[2] == '>';
	va_list arguments;
	if (has_level && format[1] > '4')
		return 0;
	va_start(arguments, format);
	vfprintf(stderr, has_level ? format + 3 : format, arguments);
	va_end(arguments);
	return 0;
}
#define pr_debug(...) do { } while (0)
#define pr_info(...) do { } while (0)
#define BUG_ON(condition) do { } while (0)
#define WARN_ON(condition) do { } while (0)
#define BUILD_BUG_ON(condition) ((void)sizeof(char[1 - 2 * !!(condition)]))

/* ---- one thread, and nobody who asks for information about a socket */

#define DEFINE_SPINLOCK(name) static bdpbench_unused int name
#define spin_lock(lock) do { } while (0)
#define spin_unlock(lock) do { } while (0)
#define spin_lock_bh(lock) do { } while (0)
#define spin_unlock_bh(lock) do { } while (0)
#define rcu_read_lock() do { } while (0)
#define rcu_read_unlock() do { } while (0)
struct tcpvegas_info {
	u32 tcpv_enabled;
	u32 tcpv_rttcnt;
	u32 tcpv_rtt;
	u32 tcpv_minrtt;
};
#define INET_DIAG_VEGASINFO 3
struct rtattr;
#define __RTA_PUT(skb, type, bytes) NULL
#define RTA_DATA(attribute) NULL
#define nla_put(skb, type, bytes, data) 0

#define EPERM 1
#define ENOENT 2
#define ENOMEM 12
#define EBUSY 16
#define EEXIST 17
#define EINVAL 22

#endif
#endif
