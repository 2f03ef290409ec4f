// BBR, version 3 (draft-ietf-ccwg-bbr-06). The names of states and bounds, and the numbers of
// sections, are the draft's.

#include <algorithm>
#include <cmath>
#include <limits>

#include "congestion_control.h"

static const double INFINITE = std::numeric_limits<double>::infinity();

static const double LOSS_SHARE = 0.02;		// the most that a probe may lose
static const double BETA = 0.7;
static const double HEADROOM = 0.15;
static const double FEWEST_PKTS = 4;
static const double STARTUP_PACING = 2.77;	// 4 ln 2
static const double DRAIN_PACING = 0.5;
static const double CWND = 2;
static const double UP_CWND = 2.25;
static const double UP_PACING = 1.25;
static const double DOWN_PACING = 0.9;
static const double PROBE_RTT_CWND = 0.5;
static const double PROBE_RTT_S = 0.2;
static const double PROBE_RTT_INTERVAL_S = 5;
static const double MIN_RTT_WINDOW_S = 10;
static const double PACING_MARGIN = 0.01;
static const double FULL_GROWTH = 1.25;
static const int FULL_ROUNDS = 3;
static const int FULL_LOSSES = 6;
static const int DRAIN_ROUNDS = 3;
static const double MORE_IN_UP_PKTS = 2;
static const int MOST_RENO_ROUNDS = 63;
static const int EXTRA_ACKED_ROUNDS = 10;
static const double FIRST_RTT_S = 0.001;	// until there is a sample

/** The largest of the samples of this cycle of probing and the one before (BBR.MaxBwFilter). */
class MaximumOfTwoCycles {
public:
	void sample(double value) { now_ = std::max(now_, value); }
	void next_cycle()
	{
		if (now_ == 0)
			return;		// a cycle without a sample keeps those of the last ones
		before_ = now_;
		now_ = 0;
	}
	double value() const { return std::max(before_, now_); }

private:
	double before_ = 0;
	double now_ = 0;
};

/** How much more than expected has been acknowledged at once, over the last ten round trips (5.5.9). */
class Aggregation {
public:
	void begin(double now_s) { since_s_ = now_s; }
	void acknowledged(double packets, double now_s, double rate_pps, double cwnd_pkts, bool round_began)
	{
		if (round_began) {
			round_ = (round_ + 1) % EXTRA_ACKED_ROUNDS;
			most_[round_] = 0;
		}
		double expected = rate_pps * (now_s - since_s_);
		if (delivered_ <= expected) {
			delivered_ = expected = 0;
			since_s_ = now_s;
		}
		delivered_ += packets;
		most_[round_] = std::max(most_[round_], std::min(delivered_ - expected, cwnd_pkts));
	}
	double packets(bool this_round_only) const
	{
		return this_round_only ? most_[round_] : *std::max_element(most_, most_ + EXTRA_ACKED_ROUNDS);
	}

private:
	double since_s_ = 0;
	double delivered_ = 0;
	double most_[EXTRA_ACKED_ROUNDS] = {};
	int round_ = 0;
};

/** Whether cwnd has stopped the sender in this round trip or the last one (C.is_cwnd_limited). */
class CwndLimited {
public:
	void acknowledged(bool limited, bool round_began)
	{
		if (round_began) {
			before_ = now_;
			now_ = false;
		}
		now_ = now_ || limited;
	}
	bool lately() const { return now_ || before_; }

private:
	bool now_ = false;
	bool before_ = false;
};

class Bbr : public CongestionControl {
public:
	explicit Bbr(const ProtocolParameters&) {}

	void started(const PathState& path, SendingLimits& limits) override
	{
		initial_cwnd_pkts_ = limits.cwnd_pkts;
		probe_rtt_min_stamp_s_ = min_rtt_stamp_s_ = path.now_s;
		aggregation_.begin(path.now_s);
		enter_startup();
		limits.pacing_pps = pacing_gain_ * initial_cwnd_pkts_ / FIRST_RTT_S;
	}

	void lost(const Lost& packet, const PathState& path, SendingLimits& limits) override
	{
		note_loss(path, limits);
		if (!probe_samples_)
			return;
		const double lost = path.lost_pkts - packet.sent_lost_pkts;
		if (too_high(lost, packet.sent_in_flight_pkts))
			handle_too_high(in_flight_at_loss(lost, packet.sent_in_flight_pkts),
				packet.sent_limited_by_application, path, limits);
	}

	void acknowledged(const Acknowledged& told, const PathState& path, SendingLimits& limits) override
	{
		Acknowledged news = told;
		news.rate_limited_by_application |= sent_in_probe_rtt(news);
		update_latest_signals(news, path);
		update_round(news, path);
		update_max_bw(news);
		if (loss_round_start_)
			adapt_short_term_model(limits);
		cwnd_limited_.acknowledged(path.limited_by_cwnd, round_start_);
		aggregation_.acknowledged(news.packets, path.now_s, bw_pps_, limits.cwnd_pkts, round_start_);
		check_full_bw(news);
		check_startup_done(news, path);
		check_drain_done(path);
		update_probe_bw(news, path, limits);
		update_min_rtt(news, path);
		check_probe_rtt(path, limits);
		advance_latest_signals(news);
		bw_pps_ = std::min(max_bw(), bw_shortterm_pps_);
		set_pacing(news, limits);
		set_cwnd(news, path, limits);
	}

	void recovery_began(const PathState&, SendingLimits&) override {}	// lost() has told the model

	void recovery_ended(const PathState&, SendingLimits& limits) override { restore_cwnd(limits); }

	void marked(const PathState&, SendingLimits&) override {}	// the draft leaves ECN open

	void timed_out(const PathState& path, SendingLimits& limits) override
	{
		save_cwnd(path, limits);
		limits.cwnd_pkts = path.in_flight_pkts + 1;
	}

	void resumed(double, const PathState& path, SendingLimits& limits) override
	{
		idle_restart_ = true;
		aggregation_.begin(path.now_s);
		if (in_probe_bw())
			limits.pacing_pps = bw_pps_ * (1 - PACING_MARGIN);
		else if (state_ == PROBE_RTT)
			check_probe_rtt_done(path, limits);
	}

	double shown(const std::string& name) const override
	{
		if (name == "state")
			return state_;
		if (name == "max_bw")
			return max_bw();
		if (name == "bw")
			return bw_pps_;
		if (name == "min_rtt")
			return min_rtt_s_;
		if (name == "inflight_longterm")
			return inflight_longterm_pkts_;
		if (name == "inflight_shortterm")
			return inflight_shortterm_pkts_;
		return CongestionControl::shown(name);
	}

private:
	enum State { STARTUP, DRAIN, DOWN, CRUISE, REFILL, UP, PROBE_RTT };
	enum AckPhase { NO_PROBE, REFILLING, PROBE_STARTING, PROBE_FEEDBACK, PROBE_STOPPING };

	double max_bw() const { return max_bw_.value(); }
	bool in_probe_bw() const { return state_ >= DOWN && state_ <= UP; }
	bool probing() const { return state_ == STARTUP || state_ == REFILL || state_ == UP; }

	// Section 5.6.4.2: volumes. The sender hands over single packets, so the offload budget is less
	// than the smallest window.

	double bdp_pkts(double gain, double rate_pps) const
	{
		return min_rtt_s_ == INFINITE ? initial_cwnd_pkts_ : gain * rate_pps * min_rtt_s_;
	}
	double budget_pkts(double pkts) const
	{
		return std::max(pkts, FEWEST_PKTS) + (state_ == UP ? MORE_IN_UP_PKTS : 0);
	}
	double inflight_pkts(double rate_pps) const { return budget_pkts(bdp_pkts(1, rate_pps)); }
	double inflight_with_headroom_pkts() const
	{
		if (inflight_longterm_pkts_ == INFINITE)
			return INFINITE;
		const double headroom = std::max(1.0, HEADROOM * inflight_longterm_pkts_);
		return std::max(inflight_longterm_pkts_ - headroom, FEWEST_PKTS);
	}
	double target_inflight_pkts(const SendingLimits& limits) const
	{
		return std::min(bdp_pkts(1, bw_pps_), limits.cwnd_pkts);
	}

	// Sections 5.3.1 and 5.3.2: Startup and Drain.

	void enter_startup()
	{
		state_ = STARTUP;
		pacing_gain_ = STARTUP_PACING;
		cwnd_gain_ = CWND;
	}

	void reset_full_bw()
	{
		full_bw_pps_ = 0;
		full_bw_rounds_ = 0;
		full_bw_now_ = false;
	}

	void check_full_bw(const Acknowledged& news)
	{
		if (full_bw_now_ || !round_start_ || news.rate_limited_by_application || news.rate_pps < 0)
			return;
		if (news.rate_pps >= full_bw_pps_ * FULL_GROWTH) {
			reset_full_bw();
			full_bw_pps_ = news.rate_pps;
			return;
		}
		full_bw_now_ = ++full_bw_rounds_ >= FULL_ROUNDS;
		full_bw_reached_ = full_bw_reached_ || full_bw_now_;
	}

	// An acknowledgement that tells losses counts as one range of them.
	void check_startup_done(const Acknowledged& news, const PathState& path)
	{
		if (news.lost > 0)
			losses_in_round_++;
		if (!full_bw_reached_ && loss_round_start_ && path.in_recovery
			&& losses_in_round_ >= FULL_LOSSES && too_high(news, path)) {
			full_bw_reached_ = true;
			inflight_longterm_pkts_ = std::max(bdp_pkts(1, bw_pps_), inflight_latest_pkts_);
		}
		if (loss_round_start_)
			losses_in_round_ = 0;
		if (state_ == STARTUP && full_bw_reached_) {
			state_ = DRAIN;
			pacing_gain_ = DRAIN_PACING;
			cwnd_gain_ = CWND;
			drain_began_in_round_ = round_count_;
		}
	}

	void check_drain_done(const PathState& path)
	{
		if (state_ == DRAIN && (path.in_flight_pkts <= inflight_pkts(bw_pps_)
			|| round_count_ > drain_began_in_round_ + DRAIN_ROUNDS))
			start_down(path);
	}

	// Section 5.3.3: the cycle of ProbeBW.

	void start_down(const PathState& path)
	{
		reset_congestion_signals();
		probe_up_count_ = INFINITE;
		// Section 5.3.3.8: two to three seconds, or as often as Reno would probe.
		rounds_since_probe_ = path.random() < 0.5 ? 0 : 1;
		probe_wait_s_ = 2 + path.random();
		cycle_stamp_s_ = path.now_s;
		ack_phase_ = PROBE_STOPPING;
		start_round(path);
		state_ = DOWN;
		pacing_gain_ = DOWN_PACING;
		cwnd_gain_ = CWND;
	}

	void start_cruise()
	{
		state_ = CRUISE;
		pacing_gain_ = 1;
		cwnd_gain_ = CWND;
	}

	void start_refill(const PathState& path)
	{
		reset_short_term_model();
		probe_up_rounds_ = 0;
		probe_up_acks_ = 0;
		precautionary_ = false;
		ack_phase_ = REFILLING;
		start_round(path);
		state_ = REFILL;
		pacing_gain_ = 1;
		cwnd_gain_ = CWND;
	}

	void start_up(const Acknowledged& news, const PathState& path, const SendingLimits& limits)
	{
		probe_samples_ = true;
		ack_phase_ = PROBE_STARTING;
		start_round(path);
		reset_full_bw();
		full_bw_pps_ = std::max(news.rate_pps, 0.0);
		state_ = UP;
		pacing_gain_ = UP_PACING;
		cwnd_gain_ = UP_CWND;
		raise_slope(limits);
	}

	void update_probe_bw(const Acknowledged& news, const PathState& path, SendingLimits& limits)
	{
		if (!full_bw_reached_)
			return;
		if (adapt_long_term_model(news, path, limits))
			return;
		if (state_ == DOWN || state_ == CRUISE) {
			if (time_to_probe(path, limits))
				start_refill(path);
			else if (state_ == DOWN && time_to_cruise(path))
				start_cruise();
		} else if (state_ == REFILL) {
			if (round_start_)
				start_up(news, path, limits);
		} else if (state_ == UP && time_to_go_down(news, path, limits)) {
			probe_was_too_high_ = false;	// so far
			start_down(path);
		}
	}

	bool time_to_probe(const PathState& path, const SendingLimits& limits) const
	{
		const double reno_rounds = std::min<double>(target_inflight_pkts(limits), MOST_RENO_ROUNDS);
		return path.now_s > cycle_stamp_s_ + probe_wait_s_ || rounds_since_probe_ >= reno_rounds;
	}

	bool time_to_cruise(const PathState& path) const
	{
		return path.in_flight_pkts <= inflight_with_headroom_pkts()
			&& path.in_flight_pkts <= inflight_pkts(max_bw());
	}

	// Section 5.3.3.6: a probe after one that lost too much ends where that one did.
	bool time_to_go_down(const Acknowledged& news, const PathState& path, const SendingLimits& limits)
	{
		if (probe_was_too_high_ && path.in_flight_pkts >= inflight_longterm_pkts_) {
			precautionary_ = true;
			return true;
		}
		if (cwnd_limited_.lately() && limits.cwnd_pkts >= inflight_longterm_pkts_) {
			reset_full_bw();
			full_bw_pps_ = std::max(news.rate_pps, 0.0);
			return false;
		}
		return full_bw_now_;
	}

	// Section 5.3.3.9: the bound that losses of a probe set, and that its successes raise.

	bool adapt_long_term_model(const Acknowledged& news, const PathState& path, SendingLimits& limits)
	{
		if (ack_phase_ == PROBE_STARTING && round_start_)
			ack_phase_ = PROBE_FEEDBACK;
		if (ack_phase_ == PROBE_STOPPING && round_start_) {
			probe_samples_ = false;
			ack_phase_ = NO_PROBE;
			if (in_probe_bw() && !news.rate_limited_by_application)
				max_bw_.next_cycle();
			if (in_probe_bw() && precautionary_ && !probe_was_too_high_) {
				start_refill(path);
				return true;
			}
		}
		// lost() has reacted to each packet of a probe that lost too much.
		if (!too_high(news, path) && inflight_longterm_pkts_ != INFINITE) {
			inflight_longterm_pkts_ = std::max(inflight_longterm_pkts_, news.sent_in_flight_pkts);
			if (state_ == UP)
				probe_upward(news, limits);
		}
		return false;
	}

	static bool too_high(double lost, double in_flight) { return lost > in_flight * LOSS_SHARE; }
	static bool too_high(const Acknowledged& news, const PathState& path)
	{
		return too_high(path.lost_pkts - news.sent_lost_pkts, news.sent_in_flight_pkts);
	}

	// The volume at which the share of losses was just met.
	static double in_flight_at_loss(double lost, double in_flight)
	{
		const double before = in_flight - 1, lost_before = lost - 1;
		return before + (LOSS_SHARE * before - lost_before) / (1 - LOSS_SHARE);
	}

	void handle_too_high(double in_flight, bool limited, const PathState& path, const SendingLimits& limits)
	{
		probe_was_too_high_ = true;
		probe_samples_ = false;
		if (!limited)
			inflight_longterm_pkts_ = std::max(in_flight, target_inflight_pkts(limits) * BETA);
		if (state_ == UP)
			start_down(path);
	}

	void raise_slope(const SendingLimits& limits)
	{
		const double growth = std::ldexp(1.0, probe_up_rounds_);
		probe_up_rounds_ = std::min(probe_up_rounds_ + 1, 30);
		probe_up_count_ = std::max(limits.cwnd_pkts / growth, 1.0);
	}

	void probe_upward(const Acknowledged& news, const SendingLimits& limits)
	{
		if (!cwnd_limited_.lately() || limits.cwnd_pkts < inflight_longterm_pkts_)
			return;
		probe_up_acks_ += news.packets;
		if (probe_up_acks_ >= probe_up_count_) {
			const double steps = std::floor(probe_up_acks_ / probe_up_count_);
			probe_up_acks_ -= steps * probe_up_count_;
			inflight_longterm_pkts_ += steps;
		}
		if (round_start_)
			raise_slope(limits);
	}

	// Section 5.3.4: ProbeRTT.

	void update_min_rtt(const Acknowledged& news, const PathState& path)
	{
		probe_rtt_expired_ = path.now_s > probe_rtt_min_stamp_s_ + PROBE_RTT_INTERVAL_S;
		if (news.rtt_s >= 0 && (news.rtt_s < probe_rtt_min_s_ || probe_rtt_expired_)) {
			probe_rtt_min_s_ = news.rtt_s;
			probe_rtt_min_stamp_s_ = path.now_s;
		}
		const bool expired = path.now_s > min_rtt_stamp_s_ + MIN_RTT_WINDOW_S;
		if (probe_rtt_min_s_ < min_rtt_s_ || expired) {
			min_rtt_s_ = probe_rtt_min_s_;
			min_rtt_stamp_s_ = probe_rtt_min_stamp_s_;
		}
	}

	double probe_rtt_cwnd_pkts() const
	{
		return std::max(bdp_pkts(PROBE_RTT_CWND, bw_pps_), FEWEST_PKTS);
	}

	void check_probe_rtt(const PathState& path, SendingLimits& limits)
	{
		if (state_ != PROBE_RTT && probe_rtt_expired_ && !idle_restart_) {
			state_ = PROBE_RTT;
			pacing_gain_ = 1;
			cwnd_gain_ = PROBE_RTT_CWND;
			save_cwnd(path, limits);
			probe_rtt_done_s_ = 0;
			probe_rtt_from_pkts_ = path.delivered_pkts;
			ack_phase_ = PROBE_STOPPING;
			start_round(path);
		}
		if (state_ == PROBE_RTT)
			handle_probe_rtt(path, limits);
		idle_restart_ = false;
	}

	void handle_probe_rtt(const PathState& path, SendingLimits& limits)
	{
		probe_rtt_until_pkts_ = path.delivered_pkts + path.in_flight_pkts;
		if (probe_rtt_done_s_ == 0) {
			if (path.in_flight_pkts > probe_rtt_cwnd_pkts())
				return;
			probe_rtt_done_s_ = path.now_s + PROBE_RTT_S;
			probe_rtt_round_done_ = false;
			start_round(path);
			return;
		}
		probe_rtt_round_done_ = probe_rtt_round_done_ || round_start_;
		if (probe_rtt_round_done_)
			check_probe_rtt_done(path, limits);
	}

	void check_probe_rtt_done(const PathState& path, SendingLimits& limits)
	{
		if (probe_rtt_done_s_ == 0 || path.now_s <= probe_rtt_done_s_)
			return;
		probe_rtt_min_stamp_s_ = path.now_s;
		restore_cwnd(limits);
		reset_short_term_model();
		if (full_bw_reached_) {
			start_down(path);
			start_cruise();
		} else {
			enter_startup();
		}
	}

	// The draft marks the connection as limited by the application in ProbeRTT.
	bool sent_in_probe_rtt(const Acknowledged& news) const
	{
		return news.sent_delivered_pkts >= probe_rtt_from_pkts_
			&& news.sent_delivered_pkts <= probe_rtt_until_pkts_;
	}

	// Section 5.5: the model.

	void start_round(const PathState& path) { next_round_delivered_ = path.delivered_pkts; }

	void update_round(const Acknowledged& news, const PathState& path)
	{
		round_start_ = news.sent_delivered_pkts >= next_round_delivered_;
		if (!round_start_)
			return;
		start_round(path);
		round_count_++;
		rounds_since_probe_++;
	}

	void note_loss(const PathState& path, const SendingLimits& limits)
	{
		if (!loss_in_round_) {
			loss_round_delivered_ = path.delivered_pkts;
			save_cwnd(path, limits);
		}
		loss_in_round_ = true;
	}

	void update_latest_signals(const Acknowledged& news, const PathState& path)
	{
		bw_latest_pps_ = std::max(bw_latest_pps_, news.rate_pps);
		inflight_latest_pkts_ = std::max(inflight_latest_pkts_, news.rate_delivered_pkts);
		loss_round_start_ = news.sent_delivered_pkts >= loss_round_delivered_;
		if (loss_round_start_)
			loss_round_delivered_ = path.delivered_pkts;
	}

	void advance_latest_signals(const Acknowledged& news)
	{
		if (!loss_round_start_)
			return;
		bw_latest_pps_ = std::max(news.rate_pps, 0.0);
		inflight_latest_pkts_ = news.rate_delivered_pkts;
	}

	void reset_congestion_signals()
	{
		loss_in_round_ = false;
		bw_latest_pps_ = 0;
		inflight_latest_pkts_ = 0;
	}

	void update_max_bw(const Acknowledged& news)
	{
		if (news.rate_pps > 0 && (news.rate_pps >= max_bw() || !news.rate_limited_by_application))
			max_bw_.sample(news.rate_pps);
	}

	void reset_short_term_model()
	{
		bw_shortterm_pps_ = INFINITE;
		inflight_shortterm_pkts_ = INFINITE;
	}

	void adapt_short_term_model(const SendingLimits& limits)
	{
		if (!probing() && loss_in_round_) {
			if (bw_shortterm_pps_ == INFINITE)
				bw_shortterm_pps_ = max_bw();
			if (inflight_shortterm_pkts_ == INFINITE)
				inflight_shortterm_pkts_ = limits.cwnd_pkts;
			bw_shortterm_pps_ = std::max(bw_latest_pps_, BETA * bw_shortterm_pps_);
			inflight_shortterm_pkts_ = std::max(inflight_latest_pkts_, BETA * inflight_shortterm_pkts_);
		}
		loss_in_round_ = false;
	}

	// Section 5.6: what the sender may do.

	void save_cwnd(const PathState& path, const SendingLimits& limits)
	{
		const bool trusted = !path.in_recovery && !path.after_timeout && state_ != PROBE_RTT;
		saved_cwnd_pkts_ = trusted ? limits.cwnd_pkts : std::max(saved_cwnd_pkts_, limits.cwnd_pkts);
	}

	void restore_cwnd(SendingLimits& limits) const
	{
		limits.cwnd_pkts = std::max(limits.cwnd_pkts, saved_cwnd_pkts_);
	}

	void set_pacing(const Acknowledged& news, SendingLimits& limits)
	{
		if (!rtt_known_ && news.rtt_s > 0) {
			rtt_known_ = true;
			limits.pacing_pps = pacing_gain_ * initial_cwnd_pkts_ / news.rtt_s;
		}
		const double rate_pps = pacing_gain_ * bw_pps_ * (1 - PACING_MARGIN);
		if (rate_pps > 0 && (full_bw_reached_ || rate_pps > limits.pacing_pps))
			limits.pacing_pps = rate_pps;
	}

	void set_cwnd(const Acknowledged& news, const PathState& path, SendingLimits& limits)
	{
		const double most_pkts = budget_pkts(
			bdp_pkts(cwnd_gain_, bw_pps_) + aggregation_.packets(!full_bw_reached_));
		double cwnd_pkts = limits.cwnd_pkts;
		if (full_bw_reached_)
			cwnd_pkts = std::min(cwnd_pkts + news.packets, most_pkts);
		else if (cwnd_pkts < most_pkts || path.delivered_pkts < initial_cwnd_pkts_)
			cwnd_pkts += news.packets;
		cwnd_pkts = std::max(cwnd_pkts, FEWEST_PKTS);
		if (state_ == PROBE_RTT)
			cwnd_pkts = std::min(cwnd_pkts, probe_rtt_cwnd_pkts());
		limits.cwnd_pkts = std::min(cwnd_pkts, model_bound_pkts());
	}

	double model_bound_pkts() const
	{
		double bound = INFINITE;
		if (in_probe_bw() && state_ != CRUISE)
			bound = inflight_longterm_pkts_;
		else if (state_ == PROBE_RTT || state_ == CRUISE)
			bound = inflight_with_headroom_pkts();
		return std::max(std::min(bound, inflight_shortterm_pkts_), FEWEST_PKTS);
	}

	State state_ = STARTUP;
	AckPhase ack_phase_ = NO_PROBE;
	double pacing_gain_ = STARTUP_PACING;
	double cwnd_gain_ = CWND;
	double initial_cwnd_pkts_ = 0;
	double saved_cwnd_pkts_ = 0;
	bool idle_restart_ = false;
	bool rtt_known_ = false;
	CwndLimited cwnd_limited_;

	MaximumOfTwoCycles max_bw_;
	double bw_pps_ = 0;
	double min_rtt_s_ = INFINITE;
	double min_rtt_stamp_s_ = 0;
	double probe_rtt_min_s_ = INFINITE;
	double probe_rtt_min_stamp_s_ = 0;
	bool probe_rtt_expired_ = false;
	double probe_rtt_done_s_ = 0;
	bool probe_rtt_round_done_ = false;
	double probe_rtt_from_pkts_ = INFINITE;
	double probe_rtt_until_pkts_ = 0;
	Aggregation aggregation_;

	double full_bw_pps_ = 0;
	int full_bw_rounds_ = 0;
	bool full_bw_now_ = false;
	bool full_bw_reached_ = false;

	int drain_began_in_round_ = 0;
	int round_count_ = 0;
	double next_round_delivered_ = 0;
	bool round_start_ = false;
	double loss_round_delivered_ = 0;
	bool loss_round_start_ = false;
	bool loss_in_round_ = false;
	int losses_in_round_ = 0;

	double bw_latest_pps_ = 0;
	double inflight_latest_pkts_ = 0;
	double bw_shortterm_pps_ = INFINITE;
	double inflight_shortterm_pkts_ = INFINITE;
	double inflight_longterm_pkts_ = INFINITE;

	bool probe_samples_ = false;
	bool probe_was_too_high_ = false;
	bool precautionary_ = false;
	int rounds_since_probe_ = 0;
	double probe_wait_s_ = 0;
	double cycle_stamp_s_ = 0;
	int probe_up_rounds_ = 0;
	double probe_up_acks_ = 0;
	double probe_up_count_ = INFINITE;
};

CONGESTION_CONTROL(Bbr)
