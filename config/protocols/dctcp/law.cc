// DCTCP (RFC 8257): cuts cwnd by half of the share of packets that were marked.

#include <algorithm>

#include "congestion_control.h"

static const double FEWEST_PKTS = 2;

class Dctcp : public CongestionControl {
public:
	explicit Dctcp(const ProtocolParameters& given) : gain_(given["gain_"]) {}

	void acknowledged(const Acknowledged& news, const PathState& path, SendingLimits& limits) override
	{
		acked_ += news.packets;
		marked_ += news.marked;
		if (news.round_ended)
			end_window(path, limits);
		if (path.in_recovery || !path.limited_by_cwnd || news.marked > 0)
			return;
		if (limits.cwnd_pkts < limits.ssthresh_pkts)
			limits.cwnd_pkts += news.packets;
		else
			limits.cwnd_pkts += news.packets / limits.cwnd_pkts;
	}

	void recovery_began(const PathState&, SendingLimits& limits) override
	{
		limits.cwnd_pkts = limits.ssthresh_pkts = std::max(FEWEST_PKTS, limits.cwnd_pkts / 2);
	}

	void timed_out(const PathState&, SendingLimits& limits) override
	{
		limits.ssthresh_pkts = std::max(FEWEST_PKTS, limits.cwnd_pkts / 2);
		limits.cwnd_pkts = 1;
	}

	bool wants_every_mark() const override { return true; }

	double shown(const std::string& name) const override
	{
		return name == "alpha" ? alpha_ : CongestionControl::shown(name);
	}

private:
	// Section 3.3: the estimate once a window, and one cut for a window with marks.
	void end_window(const PathState& path, SendingLimits& limits)
	{
		alpha_ = (1 - gain_) * alpha_ + gain_ * marked_ / acked_;
		if (marked_ > 0 && !path.in_recovery) {
			limits.cwnd_pkts = std::max(FEWEST_PKTS, limits.cwnd_pkts * (1 - alpha_ / 2));
			limits.ssthresh_pkts = limits.cwnd_pkts;
		}
		acked_ = marked_ = 0;
	}

	double gain_;
	double alpha_ = 1;	// section 4.2: so that the first marks count fully
	double acked_ = 0;
	double marked_ = 0;
};

CONGESTION_CONTROL(Dctcp)
