#ifndef bdpbench_check_protocol_h
#define bdpbench_check_protocol_h

// Included behind the file of a protocol and before a main() that `hand_tests.py` makes of test.yaml:
// a connection, and the events that it may hear of, with the fields of their structures.

#include <map>
#include <math.h>
#include <stdio.h>
#include <string>

#include "congestion_control.h"

namespace heard {

inline double half() { return 0.5; }

struct Nothing {};

struct Idle {
	double idle_s;
};

template <class News> struct Event : News, PathState {
	Event() : News(), PathState()
	{
		min_rtt_s = smoothed_rtt_s = -1;
		random = half;
	}
};

typedef CongestionControl& Control;
typedef SendingLimits& Limits;

struct acknowledged : Event<Acknowledged> {
	acknowledged() { rtt_s = rate_pps = -1; }
	void tell(Control control, Limits limits) const { control.acknowledged(*this, *this, limits); }
};
struct lost : Event<Lost> {
	void tell(Control control, Limits limits) const { control.lost(*this, *this, limits); }
};
struct recovery_began : Event<Nothing> {
	void tell(Control control, Limits limits) const { control.recovery_began(*this, limits); }
};
struct recovery_ended : Event<Nothing> {
	void tell(Control control, Limits limits) const { control.recovery_ended(*this, limits); }
};
struct marked : Event<Nothing> {
	void tell(Control control, Limits limits) const { control.marked(*this, limits); }
};
struct timed_out : Event<Nothing> {
	void tell(Control control, Limits limits) const { control.timed_out(*this, limits); }
};
struct resumed : Event<Idle> {
	void tell(Control control, Limits limits) const { control.resumed(idle_s, *this, limits); }
};

class Given : public ProtocolParameters {
public:
	std::map<std::string, double> values;
	virtual double operator[](const char* name) const
	{
		std::map<std::string, double>::const_iterator found = values.find(name);
		return found == values.end() ? 0 : found->second;
	}
};

}

#endif
