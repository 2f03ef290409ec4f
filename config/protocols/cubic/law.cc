// CUBIC (RFC 9438) with the slow start of HyStart++ (RFC 9406).

#include <algorithm>
#include <cmath>
#include <limits>

#include "congestion_control.h"

static const double FEWEST_PKTS = 2;
static const double NEVER = std::numeric_limits<double>::infinity();

/** HyStart++: leaves slow start when round trips grow, by way of a slower one that may be called off. */
class HyStart {
public:
	/** Packets that an acknowledgement adds to cwnd; at most 8 of them count (section 4.3). */
	double growth(double packets) const
	{
		const double counted = std::min(packets, MOST_PKTS);
		return careful_ ? counted / CAREFUL_DIVISOR : counted;
	}

	/** Hears an acknowledgement in slow start; true if slow start is over. */
	bool over(const Acknowledged& news)
	{
		if (news.round_ended && end_round())
			return true;
		if (news.rtt_s >= 0) {
			samples_++;
			smallest_s_ = std::min(smallest_s_, news.rtt_s);
		}
		if (samples_ >= SAMPLES)
			judge();
		return false;
	}

private:
	static constexpr double SHORTEST_S = 0.004;
	static constexpr double LONGEST_S = 0.016;
	static constexpr double RTT_DIVISOR = 8;
	static constexpr int SAMPLES = 8;
	static constexpr double CAREFUL_DIVISOR = 4;
	static constexpr int CAREFUL_ROUNDS = 5;
	static constexpr double MOST_PKTS = 8;

	bool end_round()
	{
		previous_s_ = smallest_s_;
		smallest_s_ = NEVER;
		samples_ = 0;
		return careful_ && ++careful_rounds_ >= CAREFUL_ROUNDS;
	}

	void judge()
	{
		if (careful_) {
			careful_ = smallest_s_ >= baseline_s_;
			return;
		}
		if (previous_s_ == NEVER || smallest_s_ == NEVER)
			return;
		const double step_s = std::max(SHORTEST_S, std::min(previous_s_ / RTT_DIVISOR, LONGEST_S));
		if (smallest_s_ < previous_s_ + step_s)
			return;
		careful_ = true;
		careful_rounds_ = 0;
		baseline_s_ = smallest_s_;
	}

	double previous_s_ = NEVER;
	double smallest_s_ = NEVER;
	double baseline_s_ = NEVER;
	int samples_ = 0;
	bool careful_ = false;
	int careful_rounds_ = 0;
};

class Cubic : public CongestionControl {
public:
	explicit Cubic(const ProtocolParameters& given)
		: c_(given["c_"]), beta_(given["beta_"]), fast_convergence_(given["fast_convergence_"] != 0),
		  hystart_wanted_(given["hystart_"] != 0)
	{
	}

	void acknowledged(const Acknowledged& news, const PathState& path, SendingLimits& limits) override
	{
		const double since_last_s = path.now_s - heard_s_;
		heard_s_ = path.now_s;
		if (path.in_recovery)
			return;
		if (!path.limited_by_cwnd) {
			leave_out(since_last_s);
			return;
		}
		if (limits.cwnd_pkts < limits.ssthresh_pkts)
			slow_start(news, limits);
		else
			avoid_congestion(news, path, limits);
	}

	void recovery_began(const PathState&, SendingLimits& limits) override
	{
		cut(limits);
		limits.cwnd_pkts = limits.ssthresh_pkts;
	}

	void timed_out(const PathState&, SendingLimits& limits) override
	{
		cut(limits);
		maximum_pkts_ = 0;	// section 4.8: the first epoch after a timeout begins at its maximum
		limits.cwnd_pkts = 1;
		first_slow_start_ = false;
	}

	void resumed(double idle_s, const PathState& path, SendingLimits&) override
	{
		leave_out(idle_s);
		heard_s_ = path.now_s;
	}

	double shown(const std::string& name) const override
	{
		return name == "maximum" ? maximum_pkts_ : CongestionControl::shown(name);
	}

private:
	void slow_start(const Acknowledged& news, SendingLimits& limits)
	{
		const bool hystart = hystart_wanted_ && first_slow_start_;
		limits.cwnd_pkts += hystart ? hystart_.growth(news.packets) : news.packets;
		if (hystart && hystart_.over(news))
			limits.ssthresh_pkts = limits.cwnd_pkts;
	}

	void avoid_congestion(const Acknowledged& news, const PathState& path, SendingLimits& limits)
	{
		first_slow_start_ = false;
		if (epoch_s_ < 0)
			begin_epoch(path.now_s, limits.cwnd_pkts);
		// Section 4.3: as fast as standard TCP with this beta, and as itself once above the last window.
		const double alpha = standard_pkts_ < before_cut_pkts_ ? 3 * (1 - beta_) / (1 + beta_) : 1;
		standard_pkts_ += alpha * news.packets / limits.cwnd_pkts;
		const double since_s = path.now_s - epoch_s_;
		if (curve(since_s) < standard_pkts_) {
			limits.cwnd_pkts = std::max(limits.cwnd_pkts, standard_pkts_);
			return;
		}
		const double target = std::max(limits.cwnd_pkts,
			std::min(curve(since_s + path.smoothed_rtt_s), 1.5 * limits.cwnd_pkts));
		limits.cwnd_pkts += news.packets * (target - limits.cwnd_pkts) / limits.cwnd_pkts;
	}

	// Section 5.8: the curve does not go on in times in which cwnd was not the limit.
	void leave_out(double time_s)
	{
		if (epoch_s_ >= 0)
			epoch_s_ += time_s;
	}

	void begin_epoch(double now_s, double cwnd_pkts)
	{
		epoch_s_ = now_s;
		standard_pkts_ = cwnd_pkts;
		maximum_pkts_ = std::max(maximum_pkts_, cwnd_pkts);
		until_maximum_s_ = std::cbrt((maximum_pkts_ - cwnd_pkts) / c_);
	}

	double curve(double since_s) const
	{
		return c_ * std::pow(since_s - until_maximum_s_, 3) + maximum_pkts_;
	}

	void cut(SendingLimits& limits)
	{
		const double cwnd_pkts = limits.cwnd_pkts;
		const bool shrinking = cwnd_pkts < maximum_pkts_ && fast_convergence_;	// section 4.7
		maximum_pkts_ = shrinking ? cwnd_pkts * (1 + beta_) / 2 : cwnd_pkts;
		before_cut_pkts_ = cwnd_pkts;
		limits.ssthresh_pkts = std::max(FEWEST_PKTS, cwnd_pkts * beta_);
		epoch_s_ = -1;
		first_slow_start_ = false;
	}

	double c_;
	double beta_;
	bool fast_convergence_;
	bool hystart_wanted_;
	bool first_slow_start_ = true;	// RFC 9406 is for the first one only (section 4.3)
	HyStart hystart_;
	double maximum_pkts_ = 0;
	double before_cut_pkts_ = 0;
	double standard_pkts_ = 0;
	double until_maximum_s_ = 0;
	double epoch_s_ = -1;
	double heard_s_ = 0;	// the last acknowledgement, or the end of an idle time
};

CONGESTION_CONTROL(Cubic)
