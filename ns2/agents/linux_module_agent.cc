// Agent/TCP/Linux/Module: TCP/Linux with a congestion control module that is loaded from a library.

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <map>
#include <math.h>
#include <sstream>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tcp-linux.h"	// before linux_module.h, which then adds nothing to the structures of ns-2

#include "folder_classes.h"
#include "folder_guard.h"
#include "law_parameter.h"
#include "linux_module.h"

class LinuxModuleTcpAgent;

/** Parameters of a module, name -> value. */
typedef std::map<std::string, long long> ModuleValues;

/** A module's functions as its agent calls them, each guarded; the functions find it by the socket. */
struct GuardedOps {
	struct tcp_congestion_ops ops;	// first, so that a socket's icsk_ca_ops points to it
	const struct tcp_congestion_ops* real;
	LinuxModuleTcpAgent* agent;
};

/**
 * Agent/TCP/Linux/Module: Agent/TCP/Linux whose congestion control is a module's, from a
 * library that was compiled with linux_module.h.
 *
 *   $agent set protocol_ LIBRARY   its path; subclasses have theirs
 *   $agent set NAME_ VALUE         the module's parameter NAME
 *
 * A module is loaded once for each set of values, which it has before its module_init, as with
 * insmod; so connections whose values differ share no variable. Its receiver echoes time stamps
 * as RFC 1323 says.
 */
class LinuxModuleTcpAgent : public LinuxTcpAgent {
public:
	LinuxModuleTcpAgent();
	virtual ~LinuxModuleTcpAgent();
	virtual void reset();
	/** Ends ns-2 with a message unless a number of packets that a function left is usable. */
	void check(u32 packets, const char* function, const char* what);
	void check_window(const char* function);

private:
	/** Begins when the simulation does: resets come before the script has set all variables. */
	class Start : public TimerHandler {
	public:
		explicit Start(LinuxModuleTcpAgent& agent) : agent_(agent) {}
		virtual ~Start() { force_cancel(); }
	protected:
		virtual void expire(Event*) { agent_.begin(); }
	private:
		LinuxModuleTcpAgent& agent_;
	};
	void begin();
	void install(const struct tcp_congestion_ops* real);
	void tell_receiver();

	GuardedOps guarded_;
	Start start_;
};

static class LinuxModuleTcpClass : public TclClass {
public:
	LinuxModuleTcpClass() : TclClass("Agent/TCP/Linux/Module") {}
	TclObject* create(int, const char* const*) { return new LinuxModuleTcpAgent; }
	virtual void bind()
	{
		TclClass::bind();
		load_folder_classes();
	}
} class_linux_module;

// ---------------------------------------------------------------- the module's functions, guarded

static const GuardedOps& guarded(const struct sock* sk)
{
	return *reinterpret_cast<const GuardedOps*>(sk->icsk_ca_ops);
}

// FUNCTION(parameters): guards the call of real->FUNCTION(arguments) and checks the window after it.
#define GUARDED(function, parameters, arguments) \
	static void guarded_##function parameters \
	{ \
		const GuardedOps& ops = guarded(sk); \
		{ \
			FolderGuard guard(ops.agent->name(), #function); \
			ops.real->function arguments; \
		} \
		ops.agent->check_window(#function); \
	}
// The same for functions that return a number of packets.
#define GUARDED_PACKETS(function, parameters) \
	static u32 guarded_##function parameters \
	{ \
		const GuardedOps& ops = guarded(sk); \
		u32 packets; \
		{ \
			FolderGuard guard(ops.agent->name(), #function); \
			packets = ops.real->function(sk); \
		} \
		ops.agent->check(packets, #function, "the value that it returned"); \
		return packets; \
	}

GUARDED(init, (struct sock* sk), (sk))
GUARDED(release, (struct sock* sk), (sk))
GUARDED_PACKETS(ssthresh, (struct sock* sk))
GUARDED_PACKETS(min_cwnd, (const struct sock* sk))
GUARDED(cong_avoid, (struct sock* sk, u32 ack, u32 rtt, u32 in_flight, int good_ack),
	(sk, ack, rtt, in_flight, good_ack))
GUARDED(rtt_sample, (struct sock* sk, u32 rtt_us), (sk, rtt_us))
GUARDED(set_state, (struct sock* sk, u8 new_state), (sk, new_state))
GUARDED(cwnd_event, (struct sock* sk, enum tcp_ca_event event), (sk, event))
GUARDED(pkts_acked, (struct sock* sk, u32 num_acked, ktime_t last), (sk, num_acked, last))

// ---------------------------------------------------------------- loading

static void set_parameter(const char* agent, const struct linux_parameter& parameter, long long value)
{
	const bool is_signed = strcmp(parameter.type, "int") == 0 || strcmp(parameter.type, "long") == 0
		|| strcmp(parameter.type, "short") == 0 || strcmp(parameter.type, "bool") == 0;
	const int bits = 8 * static_cast<int>(parameter.bytes) - (is_signed ? 1 : 0);
	const double most = ldexp(1, bits) - 1;
	const LawParameter range = {parameter.name, is_signed ? -most - 1 : 0, most, ""};
	require_in_range(agent, range, static_cast<double>(value));
	switch (parameter.bytes) {
	case 1: *static_cast<int8_t*>(parameter.value) = static_cast<int8_t>(value); break;
	case 2: *static_cast<int16_t*>(parameter.value) = static_cast<int16_t>(value); break;
	case 4: *static_cast<int32_t*>(parameter.value) = static_cast<int32_t>(value); break;
	default: *static_cast<int64_t*>(parameter.value) = static_cast<int64_t>(value); break;
	}
}

// dlopen gives the same library twice, variables included; a copy without a name is another one.
static std::string copy_of(const char* agent, const std::string& path)
{
	const int from = open(path.c_str(), O_RDONLY | O_CLOEXEC);
	if (from < 0)
		stop_ns(agent, "cannot read its protocol " + path + ": " + strerror(errno));
	const int to = memfd_create("module", MFD_CLOEXEC);
	char block[65536];
	ssize_t bytes;
	while (to >= 0 && (bytes = read(from, block, sizeof(block))) > 0)
		if (write(to, block, bytes) != bytes)
			break;
	if (to < 0 || bytes != 0)
		stop_ns(agent, "cannot copy its protocol " + path + ": " + strerror(errno));
	close(from);
	std::ostringstream name;
	name << "/proc/self/fd/" << to;
	return name.str();
}

// A library's description of its module, in a copy of its own.
static struct linux_module& opened_module(const char* agent, const std::string& path)
{
	static const unsigned layout[] = LINUX_LAYOUT;
	void* library = opened_library(agent, copy_of(agent, path));
	struct linux_module* module
		= static_cast<struct linux_module*>(dlsym(library, "bdpbench_linux_module"));
	if (!module)
		stop_ns(agent, path + " is no module of Linux that was compiled with linux_module.h");
	require_interface(agent, path, module->interface, LINUX_MODULE_INTERFACE, "linux_module.h");
	if (memcmp(layout, module->layout, sizeof(layout)) != 0)
		stop_ns(agent, path + " has other structures than TCP/Linux of this ns-2: compile it again");
	return *module;
}

static const struct tcp_congestion_ops* started(const char* agent, const std::string& path,
	struct linux_module& module, const ModuleValues& values)
{
	for (struct linux_parameter* each = module.parameters; each; each = each->next)
		set_parameter(agent, *each, values.find(each->name)->second);
	int failed;
	{
		FolderGuard guard(agent, "module_init");
		failed = module.init ? module.init() : -1;
	}
	std::ostringstream problem;
	if (failed)
		problem << "its module_init failed with " << failed;
	else if (module.registrations != 1)
		problem << "it registers " << module.registrations << " congestion controls, expected one";
	else if (!module.registered->ssthresh || !module.registered->cong_avoid)
		problem << "its congestion control has no ssthresh or no cong_avoid";
	if (!problem.str().empty())
		stop_ns(agent, "cannot use the module " + path + ": " + problem.str());
	return module.registered;
}

// Variables of Agent/TCP that TCP/Linux does not read; a module's parameter may have such a name.
static const char* const UNREAD[] = {"low_window_", "high_window_", "high_p_", "high_decrease_",
	"max_ssthresh_", 0};

static void require_free(const char* agent, const std::string& variable)
{
	if (FolderVariables("Agent/TCP").text(variable).empty())
		return;
	for (const char* const* each = UNREAD; *each; each++)
		if (variable == *each)
			return;
	stop_ns(agent, "a parameter of its module would be " + variable + ", which Agent/TCP has already");
}

// The parameters of a module as the agent has them.
static ModuleValues values_of(const char* agent, const struct linux_module& module)
{
	const FolderVariables variables(agent);
	ModuleValues values;
	for (const struct linux_parameter* each = module.parameters; each; each = each->next) {
		const std::string name = std::string(each->name) + "_";
		require_free(agent, name);
		const double value = variables[name.c_str()];
		if (value != floor(value))
			stop_ns(agent, name + " is no whole number, as parameters of modules are");
		values[each->name] = static_cast<long long>(value);
	}
	return values;
}

// The congestion control of a library with an agent's parameters; each set of them is loaded once.
static const struct tcp_congestion_ops* loaded(const char* agent, const std::string& path)
{
	typedef std::map<ModuleValues, const struct tcp_congestion_ops*> Loaded;
	static std::map<std::string, struct linux_module*> unused;	// opened, but not started
	static std::map<std::string, Loaded> known;
	struct linux_module*& module = unused[path];
	if (!module)
		module = &opened_module(agent, path);
	const ModuleValues values = values_of(agent, *module);
	const struct tcp_congestion_ops*& found = known[path][values];
	if (!found) {
		found = started(agent, path, *module, values);
		module = 0;
	}
	return found;
}

// ---------------------------------------------------------------- the agent

LinuxModuleTcpAgent::LinuxModuleTcpAgent() : guarded_(), start_(*this)
{
	memset(linux_.icsk_ca_priv, 0, sizeof(linux_.icsk_ca_priv));
}

LinuxModuleTcpAgent::~LinuxModuleTcpAgent()
{
	remove_congestion_control();	// while guarded_ exists
}

void LinuxModuleTcpAgent::reset()
{
	LinuxTcpAgent::reset();
	if (!linux_.icsk_ca_ops && start_.status() != TIMER_PENDING)
		start_.sched(0);
}

void LinuxModuleTcpAgent::begin()
{
	install(loaded(name(), FolderVariables(name()).library()));
	tell_receiver();
}

// What select_ca of Agent/TCP/Linux does with a congestion control that it finds by name.
void LinuxModuleTcpAgent::install(const struct tcp_congestion_ops* real)
{
	guarded_.real = real;
	guarded_.agent = this;
	guarded_.ops = *real;
	guarded_.ops.init = real->init ? guarded_init : 0;
	guarded_.ops.release = real->release ? guarded_release : 0;
	guarded_.ops.ssthresh = guarded_ssthresh;
	guarded_.ops.min_cwnd = real->min_cwnd ? guarded_min_cwnd : 0;
	guarded_.ops.cong_avoid = guarded_cong_avoid;
	guarded_.ops.rtt_sample = real->rtt_sample ? guarded_rtt_sample : 0;
	guarded_.ops.set_state = real->set_state ? guarded_set_state : 0;
	guarded_.ops.cwnd_event = real->cwnd_event ? guarded_cwnd_event : 0;
	guarded_.ops.pkts_acked = real->pkts_acked ? guarded_pkts_acked : 0;
	load_to_linux_once();
	load_to_linux();
	tcp_tick_ = 1.0 / JIFFY_RATIO;
	linux_.icsk_ca_ops = &guarded_.ops;
	if ((real->flags & TCP_CONG_RTT_STAMP) || real->rtt_sample)
		bugfix_ts_ = 1;
	save_from_linux();
}

// Modules take their RTT from echoed time stamps.
void LinuxModuleTcpAgent::tell_receiver()
{
	std::ostringstream script;
	script << "[[[Simulator instance] get-node-by-addr " << daddr() << "] agent " << dport()
	       << "] set ts_echo_rfc1323_ true";
	Tcl& tcl = Tcl::instance();
	if (daddr() >= 0 && Tcl_Eval(tcl.interp(), script.str().c_str()) != TCL_OK)
		stop_ns(name(), std::string("its receiver cannot echo time stamps: ") + tcl.result());
}

void LinuxModuleTcpAgent::check(u32 packets, const char* function, const char* what)
{
	if (packets != 0 && packets <= static_cast<u32>(INT_MAX))
		return;
	std::ostringstream text;
	text << function << "() of its module: " << what << " is " << static_cast<int>(packets)
	     << " packets at " << Scheduler::instance().clock() << " s";
	stop_ns(name(), text.str());
}

void LinuxModuleTcpAgent::check_window(const char* function)
{
	check(linux_.snd_cwnd, function, "the cwnd that it left");
	check(linux_.snd_ssthresh, function, "the ssthresh that it left");
}
