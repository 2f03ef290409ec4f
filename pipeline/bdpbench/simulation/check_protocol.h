#ifndef bdpbench_check_protocol_h
#define bdpbench_check_protocol_h

// What test.cc of a protocol has: a connection without a network, and the events that it may hear of, which have
// the fields of their structures in congestion_control.h.

#include "check.h"
#include "congestion_control.h"

namespace check {

inline double half() { return 0.5; }

struct Nothing {};

struct Idle {
	double idle_s;
};

/** What is not set is 0, and -1 for round trips and rates. */
template <class News> struct Event : News, PathState {
	Event() : News(), PathState()
	{
		min_rtt_s = smoothed_rtt_s = -1;
		random = half;
	}
};

struct acknowledged : Event<Acknowledged> {
	explicit acknowledged(double packets_ = 0)
	{
		packets = packets_;
		rtt_s = rate_pps = -1;
	}
	void tell(CongestionControl& law, SendingLimits& limits) const { law.acknowledged(*this, *this, limits); }
};
struct lost : Event<Lost> {
	void tell(CongestionControl& law, SendingLimits& limits) const { law.lost(*this, *this, limits); }
};
struct recovery_began : Event<Nothing> {
	void tell(CongestionControl& law, SendingLimits& limits) const { law.recovery_began(*this, limits); }
};
struct recovery_ended : Event<Nothing> {
	void tell(CongestionControl& law, SendingLimits& limits) const { law.recovery_ended(*this, limits); }
};
struct marked : Event<Nothing> {
	void tell(CongestionControl& law, SendingLimits& limits) const { law.marked(*this, limits); }
};
struct timed_out : Event<Nothing> {
	void tell(CongestionControl& law, SendingLimits& limits) const { law.timed_out(*this, limits); }
};
struct resumed : Event<Idle> {
	void tell(CongestionControl& law, SendingLimits& limits) const { law.resumed(idle_s, *this, limits); }
};

/** A connection and its limits; it begins with those that it has at the first event. */
class Connection : public SendingLimits {
public:
	explicit Connection(const Values& set = Values(), Place place = Place::here())
		: given_(set, place), law_(bdpbench_protocol(given_)), has_begun_(false)
	{
		cwnd_pkts = 1;
		ssthresh_pkts = INFINITY;
		pacing_pps = 0;
	}
	Connection(const Connection&) = delete;
	~Connection() { delete law_; }

	template <class News> void hears(const News& news)
	{
		if (!has_begun_)
			law_->started(Event<Nothing>(), *this);
		has_begun_ = true;
		news.tell(*law_, *this);
	}

private:
	Given<ProtocolParameters> given_;
	CongestionControl* law_;
	bool has_begun_;
};

}

using namespace check;

#endif
