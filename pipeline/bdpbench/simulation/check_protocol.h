#ifndef bdpbench_check_protocol_h
#define bdpbench_check_protocol_h

// Included behind the file of a protocol, it makes a program that hands it events from standard
// input. Lines: "set NAME VALUE" for parameters, limits and fields of the next event; "new" for a
// new connection; the name of an event; "show", which prints cwnd, ssthresh and pacing.

#include <iostream>
#include <map>
#include <string>

#include "congestion_control.h"

namespace check_protocol {

typedef std::map<std::string, double> Values;

class Given : public ProtocolParameters {
public:
	explicit Given(const Values& values) : values_(values) {}
	virtual double operator[](const char* name) const
	{
		Values::const_iterator found = values_.find(name);
		return found == values_.end() ? 0 : found->second;
	}

private:
	const Values& values_;
};

inline double half() { return 0.5; }

inline PathState path(const Given& v)
{
	const PathState state = {v["now_s"], v["in_flight_pkts"], v["delivered_pkts"], v["lost_pkts"],
		static_cast<int>(v["rounds"]), v["min_rtt_s"], v["smoothed_rtt_s"], v["in_recovery"] != 0,
		v["after_timeout"] != 0, v["limited_by_cwnd"] != 0, half};
	return state;
}

inline Acknowledged acknowledged(const Given& v)
{
	const Acknowledged news = {v["packets"], v["marked"], v["lost"], v["in_flight_before_pkts"],
		v["rtt_s"], v["round_ended"] != 0, v["rate_pps"], v["rate_interval_s"],
		v["rate_delivered_pkts"], v["rate_limited_by_application"] != 0, v["sent_delivered_pkts"],
		v["sent_lost_pkts"], v["sent_in_flight_pkts"]};
	return news;
}

inline Lost lost(const Given& v)
{
	const Lost packet = {v["sent_delivered_pkts"], v["sent_lost_pkts"], v["sent_in_flight_pkts"],
		v["sent_limited_by_application"] != 0, v["retransmission"] != 0};
	return packet;
}

inline bool tell(CongestionControl& control, const std::string& event, const Given& v, SendingLimits& limits)
{
	if (event == "acknowledged")
		control.acknowledged(acknowledged(v), path(v), limits);
	else if (event == "lost")
		control.lost(lost(v), path(v), limits);
	else if (event == "recovery_began")
		control.recovery_began(path(v), limits);
	else if (event == "recovery_ended")
		control.recovery_ended(path(v), limits);
	else if (event == "marked")
		control.marked(path(v), limits);
	else if (event == "timed_out")
		control.timed_out(path(v), limits);
	else if (event == "resumed")
		control.resumed(v["idle_s"], path(v), limits);
	else
		return false;
	return true;
}

}

int main()
{
	check_protocol::Values values;
	const check_protocol::Given given(values);
	CongestionControl* control = 0;
	SendingLimits limits = {1, __builtin_inf(), 0};
	std::cout.precision(17);
	for (std::string word; std::cin >> word;) {
		if (word == "set") {
			std::string name, value;
			std::cin >> name >> value;
			values[name] = std::stod(value);
		} else if (word == "new") {
			delete control;
			control = bdpbench_protocol(given);
			limits.cwnd_pkts = given["cwnd_pkts"];
			limits.ssthresh_pkts = given["ssthresh_pkts"];
			limits.pacing_pps = given["pacing_pps"];
			control->started(check_protocol::path(given), limits);
		} else if (word == "show") {
			std::cout << "> " << limits.cwnd_pkts << " " << limits.ssthresh_pkts << " " << limits.pacing_pps << "\n";
		} else if (!control || !check_protocol::tell(*control, word, given, limits)) {
			return 2;
		}
	}
	delete control;
	std::cout << "> end\n";
}

#endif
