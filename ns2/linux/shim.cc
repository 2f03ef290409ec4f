// A module of Linux as a CongestionControl: passes all events to bridge.c, which plays the kernel.

#include <dlfcn.h>
#include <fcntl.h>
#include <map>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include "bridge.h"

extern "C" CongestionControl* bdpbench_protocol(const ProtocolParameters&);

namespace {

// Names of the module's parameters that the folder declares; their variables begin with "module_".
const char* const PARAMETERS[] = {MODULE_PARAMETERS 0};

void stop(const char* what, const char* detail)
{
	fprintf(stderr, "ns: cannot use the module %s: %s%s\n", MODULE_FILE, what, detail);
	exit(1);
}

class Module : public CongestionControl {
public:
	Module() : connection_(bridge_open()) {}
	virtual ~Module() { bridge_close(connection_); }
	void started(const PathState& path, SendingLimits& limits) override { bridge_started(connection_, &path, &limits); }
	void heard(const Acknowledged& news, const PathState& path, SendingLimits& limits) override { bridge_heard(connection_, &news, &path, &limits); }
	void acknowledged(const Acknowledged& news, const PathState& path, SendingLimits& limits) override { bridge_acknowledged(connection_, &news, &path, &limits); }
	void lost(const Lost& loss, const PathState& path, SendingLimits& limits) override { bridge_lost(connection_, &loss, &path, &limits); }
	void recovery_began(const PathState& path, SendingLimits& limits) override { bridge_recovery_began(connection_, &path, &limits); }
	void recovery_ended(const PathState& path, SendingLimits& limits) override { bridge_recovery_ended(connection_, &path, &limits); }
	void timed_out(const PathState& path, SendingLimits& limits) override { bridge_timed_out(connection_, &path, &limits); }
	void resumed(double idle_s, const PathState& path, SendingLimits& limits) override { bridge_resumed(connection_, idle_s, &path, &limits); }
	bool wants_every_mark() const override { return true; }	// the bridge reacts once a window

private:
	linux_connection* connection_;
};

typedef std::vector<double> Values;
typedef CongestionControl* (*Maker)(const ProtocolParameters&);

CongestionControl* made(const ProtocolParameters&)
{
	return new Module;
}

void load(const Values& values)
{
	for (size_t i = 0; i < values.size(); i++)
		if (!bridge_set(PARAMETERS[i], values[i]))
			stop("no whole number that fits is its parameter ", PARAMETERS[i]);
	if (const char* problem = bridge_load())
		stop(problem, "");
}

// A copy of this library: dlopen gives the same one twice, with its variables, unless it has another file.
Maker copied()
{
	Dl_info self;
	char block[65536];
	ssize_t bytes = -1;
	const int from = dladdr((void*)&bdpbench_protocol, &self) ? open(self.dli_fname, O_RDONLY | O_CLOEXEC) : -1;
	const int to = memfd_create("module", MFD_CLOEXEC);
	while (from >= 0 && to >= 0 && (bytes = read(from, block, sizeof block)) > 0)
		if (write(to, block, bytes) != bytes)
			break;
	snprintf(block, sizeof block, "/proc/self/fd/%d", to);
	void* library = bytes == 0 ? dlopen(block, RTLD_NOW | RTLD_LOCAL) : 0;
	if (!library)
		stop("its library cannot be loaded again for other parameters: ", bytes == 0 ? dlerror() : strerror(errno));
	close(from);
	return reinterpret_cast<Maker>(dlsym(library, "bdpbench_protocol"));
}

}  // namespace

BDPBENCH_INTERFACE

// A module has its parameters before module_init, as with insmod, so each set of values has a module of its own.
extern "C" CongestionControl* bdpbench_protocol(const ProtocolParameters& given)
{
	static std::map<Values, Maker> makers;
	Values values;
	for (const char* const* each = PARAMETERS; *each; each++)
		values.push_back(given[(std::string("module_") + *each).append("_").c_str()]);
	Maker& maker = makers[values];
	if (!maker) {
		if (makers.size() == 1) {
			load(values);
			maker = made;
		} else {
			maker = copied();
		}
	}
	return maker(given);
}
