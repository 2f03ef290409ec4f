// Standard TCP with a free increase and cut: additive increase, multiplicative decrease (RFC 5681).

#include <algorithm>

#include "congestion_control.h"

static const double FEWEST_PKTS = 2;

class Aimd : public CongestionControl {
public:
	explicit Aimd(const ProtocolParameters& given)
		: increase_pkts_(given["increase_pkts_"]), cut_(given["cut_"])
	{
	}

	void acknowledged(const Acknowledged& news, const PathState& path, SendingLimits& limits) override
	{
		if (path.in_recovery || !path.limited_by_cwnd)
			return;
		if (limits.cwnd_pkts < limits.ssthresh_pkts)
			limits.cwnd_pkts += news.packets;
		else
			limits.cwnd_pkts += increase_pkts_ * news.packets / limits.cwnd_pkts;
	}

	void recovery_began(const PathState&, SendingLimits& limits) override
	{
		limits.ssthresh_pkts = std::max(FEWEST_PKTS, limits.cwnd_pkts * (1 - cut_));
		limits.cwnd_pkts = limits.ssthresh_pkts;
	}

	void timed_out(const PathState&, SendingLimits& limits) override
	{
		limits.ssthresh_pkts = std::max(FEWEST_PKTS, limits.cwnd_pkts * (1 - cut_));
		limits.cwnd_pkts = 1;
	}

private:
	double increase_pkts_;
	double cut_;
};

CONGESTION_CONTROL(Aimd)
