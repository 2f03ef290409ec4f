/*
 * Loads the library of a congestion control module of Linux and prints for each parameter "<name>
 * <type> <value>"; then calls its module_init and prints "<congestion controls that it registers> <1
 * if the last has all it needs>".
 */
#define bdpbench_linux_module of_this_program	/* dlsym has to find the library's */
#include "linux_module.h"
#undef bdpbench_linux_module

#include <dlfcn.h>

extern void exit(int);

/* What ns-2 has, as far as a module_init may need it. */
u32 tcp_time_stamp;
#undef ktime_get_real
s64 ktime_get_real;
int sysctl_tcp_abc, sysctl_tcp_max_ssthresh, tcp_max_burst;
struct tcp_congestion_ops tcp_reno;
int fls(int x) { return x ? 32 - __builtin_clz(x) : 0; }
int fls64(u64 x) { return x ? 64 - __builtin_clzll(x) : 0; }
u64 div64_64(u64 dividend, u64 divisor) { return dividend / divisor; }

/* What a congestion control may point to, and is not called before there is a connection. */
u32 tcp_reno_ssthresh(struct sock* sk) { return 0; }
u32 tcp_reno_min_cwnd(const struct sock* sk) { return 0; }
void tcp_reno_cong_avoid(struct sock* sk, u32 ack, u32 rtt, u32 in_flight, int flag) {}
void tcp_vegas_init(void) {}
void tcp_vegas_state(void) {}
void tcp_vegas_pkts_acked(void) {}
void tcp_vegas_cwnd_event(void) {}
void tcp_vegas_get_info(void) {}

static long long value_of(const struct linux_parameter* parameter)
{
	const int is_signed = parameter->type[0] != 'u';
	switch (parameter->bytes) {
	case 1: return is_signed ? *(int8_t*)parameter->value : *(uint8_t*)parameter->value;
	case 2: return is_signed ? *(int16_t*)parameter->value : *(uint16_t*)parameter->value;
	case 4: return is_signed ? *(int32_t*)parameter->value : *(uint32_t*)parameter->value;
	default: return *(int64_t*)parameter->value;
	}
}

int main(int count, char** arguments)
{
	void* library = dlopen(arguments[1], RTLD_LAZY | RTLD_LOCAL);
	const struct linux_module* module = library ? dlsym(library, "bdpbench_linux_module") : NULL;
	const struct linux_parameter* each;
	const struct tcp_congestion_ops* ops;
	int failed;
	if (!module || !module->init) {
		fprintf(stderr, "%s", library ? "it has no module_init" : dlerror());
		return 1;
	}
	for (each = module->parameters; each; each = each->next)
		printf("%s %s %lld\n", each->name, each->type, value_of(each));
	failed = module->init();
	if (failed) {
		fprintf(stderr, "its module_init failed with %d", failed);
		return 1;
	}
	ops = module->registered;
	printf("%d %d\n", module->registrations, ops && ops->ssthresh && ops->cong_avoid);
	return 0;
}
