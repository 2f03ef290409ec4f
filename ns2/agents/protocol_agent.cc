// Agent/TCP/Protocol: a sender whose congestion control is loaded from a library.

#include <algorithm>
#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <sstream>

#include "congestion_control.h"
#include "flags.h"
#include "folder_classes.h"
#include "folder_guard.h"
#include "handshake_echo.h"
#include "law_parameter.h"
#include "proportional_reduction.h"
#include "random.h"
#include "sent_packets.h"
#include "tcp.h"

/**
 * Agent/TCP/Protocol: a SACK sender that asks a CongestionControl for cwnd, ssthresh
 * and pacing.
 *
 *   $agent set protocol_ LIBRARY   its path; subclasses have theirs
 *   $agent set NAME VALUE          a parameter of the protocol
 *   $agent shown NAME              a value that the protocol shows
 *
 * Losses are found by SentPackets, with numdupacks_ as tolerance to reordering. Where the
 * protocol cuts cwnd for a loss or a mark, ProportionalReduction leads what is in flight down to
 * it. The retransmission timer, RTT estimate, ECN bits, initial and advertised window,
 * overhead_ and maxburst_ are those of Agent/TCP; its other options of congestion
 * control have no effect.
 *
 * With pacing, each packet has its place in a schedule, and overhead_ delays the packet and not
 * the schedule. Packets whose places passed while an earlier one was delayed leave with it,
 * after their own delays. A sender without data, or held by cwnd, has no places.
 */
class ProtocolTcpAgent : public TcpAgent {
public:
	ProtocolTcpAgent();
	virtual ~ProtocolTcpAgent();
	virtual void recv(Packet*, Handler*);
	virtual void timeout(int tno);
	virtual void reset();
	virtual int command(int argc, const char* const* argv);

protected:
	virtual void send_much(int force, int reason, int maxburst);

private:
	typedef CongestionControl* (*Maker)(const ProtocolParameters&);
	void load();
	void begin();
	PathState path();
	void obey(const char* function);
	void hear(const Acknowledged& news, bool echo);
	void hear_losses();
	void react_once(const Acknowledged& news, bool echo);
	void after_ack();
	double data_pkts();
	bool before_handshake();
	double room_pkts();
	bool filled_without_jitter();
	double jitter_s();
	void send_next(int reason);

	CongestionControl* control_;
	Maker make_;
	SentPackets sent_;
	SendingLimits limits_;
	bool in_recovery_;
	bool after_timeout_;
	int recovery_point_;	// the highest packet sent before the loss, the timeout or the mark
	int reacted_to_mark_;	// the same of the last mark
	double next_place_s_;	// the first that the packets sent so far leave free in the schedule
	double place_s_;	// of the packet that waits; NO_PLACE if none does
	double leaves_s_;	// when it leaves: its place and its own delay
	ProportionalReduction reduction_;
	int reduced_at_;	// the acknowledgement of this packet ends the reduction
	double idle_since_s_;	// -1 while packets are in flight
	bool limited_by_cwnd_;
	double echoed_s_;	// when the packet left that the last acknowledgement echoes
	bool retransmit_now_;	// the first loss of a window does not wait for cwnd (RFC 6675, section 5)
};

static class ProtocolTcpClass : public TclClass {
public:
	ProtocolTcpClass() : TclClass("Agent/TCP/Protocol") {}
	TclObject* create(int, const char* const*) { return new ProtocolTcpAgent; }
	virtual void bind()
	{
		TclClass::bind();
		load_folder_classes();
	}
} class_protocol;

// Rounding may leave this much of a wait that has ended.
static const double SAME_MOMENT_S = 1e-12;

static const double NO_PLACE = -1;

static double now()
{
	return Scheduler::instance().clock();
}

static double random_number()
{
	return Random::uniform();
}

ProtocolTcpAgent::ProtocolTcpAgent()
	: control_(0), make_(0), sent_(3), limits_(), in_recovery_(false), after_timeout_(false),
	  recovery_point_(-1), reacted_to_mark_(-1), next_place_s_(0), place_s_(NO_PLACE), leaves_s_(0),
	  reduced_at_(-1), idle_since_s_(-1), limited_by_cwnd_(false),
	  echoed_s_(0), retransmit_now_(false)
{
}

ProtocolTcpAgent::~ProtocolTcpAgent()
{
	delete control_;
}

int ProtocolTcpAgent::command(int argc, const char* const* argv)
{
	if (argc == 3 && strcmp(argv[1], "shown") == 0) {
		Tcl::instance().resultf("%.17g", control_ ? control_->shown(argv[2]) : NAN);
		return TCL_OK;
	}
	return TcpAgent::command(argc, argv);
}

void ProtocolTcpAgent::load()
{
	const std::string path = FolderVariables(name()).library();
	void* library = opened_library(name(), path);
	int (*interface)() = reinterpret_cast<int (*)()>(dlsym(library, "bdpbench_interface"));
	make_ = reinterpret_cast<Maker>(dlsym(library, "bdpbench_protocol"));
	if (!interface || !make_)
		stop_ns(name(), path + " does not end with CONGESTION_CONTROL(its class)");
	require_interface(name(), path, interface(), CONGESTION_CONTROL_INTERFACE, "congestion_control.h");
}

void ProtocolTcpAgent::begin()
{
	if (!make_)
		load();
	delete control_;
	{
		FolderGuard guard(name(), "the constructor");
		control_ = make_(FolderVariables(name()));
	}
	sent_ = SentPackets(numdupacks_);
	limits_.cwnd_pkts = initial_window();
	limits_.ssthresh_pkts = HUGE_VAL;
	limits_.pacing_pps = 0;
	in_recovery_ = after_timeout_ = limited_by_cwnd_ = retransmit_now_ = false;
	recovery_point_ = reacted_to_mark_ = -1;
	next_place_s_ = 0;
	place_s_ = NO_PLACE;
	reduction_.end();
	idle_since_s_ = -1;
	{
		FolderGuard guard(name(), "started");
		control_->started(path(), limits_);
	}
	obey("started");
}

void ProtocolTcpAgent::reset()
{
	TcpAgent::reset();
	delete control_;
	control_ = 0;	// the first packet begins it, when the script has set all variables
}

PathState ProtocolTcpAgent::path()
{
	const PathState state = {now(), sent_.in_flight_pkts(), sent_.delivered_pkts(),
		sent_.lost_pkts(), sent_.rounds(), sent_.min_rtt_s(), sent_.smoothed_rtt_s(), in_recovery_,
		after_timeout_, limited_by_cwnd_, random_number, highest_ack_ + 1, sent_.highest_sent() + 1,
		size_, size_ + (useHeaders_ ? headersize() : 0), static_cast<double>(wnd_), echoed_s_, ts_peer_};
	return state;
}

// ns-2 traps when something that is not a number is ordered, so equality comes first.
static bool usable(double value, double smallest)
{
	return value == value && value >= smallest;
}

void ProtocolTcpAgent::obey(const char* function)
{
	const char* wrong = !usable(limits_.cwnd_pkts, 0) ? "cwnd_pkts"
		: !usable(limits_.ssthresh_pkts, 0) ? "ssthresh_pkts"
		: !usable(limits_.pacing_pps, 0) ? "pacing_pps" : 0;
	if (wrong) {
		std::ostringstream text;
		text << function << "() of its protocol left " << wrong << " negative, or not a number, at "
		     << now() << " s";
		stop_ns(name(), text.str());
	}
	limits_.cwnd_pkts = std::max(limits_.cwnd_pkts, 1.0);
	// An infinite cwnd leaves the limit to the receiver, whose window is shown in its place.
	cwnd_ = limits_.cwnd_pkts <= INT_MAX ? limits_.cwnd_pkts : static_cast<double>(wnd_);
	ssthresh_ = static_cast<int>(std::min(limits_.ssthresh_pkts, static_cast<double>(INT_MAX)));
}

void ProtocolTcpAgent::recv(Packet* packet, Handler*)
{
	hdr_tcp* header = hdr_tcp::access(packet);
	if (header->ts() < lastreset_ || !control_) {
		Packet::free(packet);
		return;
	}
	++nackpack_;
	ts_peer_ = header->ts();
	echoed_s_ = header->ts_echo();
	std::vector<std::pair<int, int> > blocks;
	for (int i = 0; i < header->sa_length(); i++)
		blocks.push_back(std::make_pair(header->sa_left(i), header->sa_right(i)));
	const int ackno = header->seqno();
	const bool echo = tells_mark(ecn_ && hdr_flags::access(packet)->ecnecho(), ackno);
	Packet::free(packet);

	const Acknowledged news = sent_.acknowledged(ackno, blocks, echo, now());
	const bool advances = ackno > highest_ack_;
	if (advances) {
		prev_highest_ack_ = highest_ack_;
		last_ack_ = highest_ack_ = ackno;
	}
	if (news.packets == 0)
		return;
	if (news.rtt_s >= 0) {
		rtt_update(news.rtt_s);
		t_backoff_ = 1;
	}
	hear(news, echo);
	if (reduction_.active())
		reduction_.acknowledged(news.packets, sent_.in_flight_pkts(), floor(limits_.cwnd_pkts),
			advances && news.lost == 0);
	after_ack();
}

void ProtocolTcpAgent::hear(const Acknowledged& news, bool echo)
{
	{
		FolderGuard guard(name(), "heard");
		control_->heard(news, path(), limits_);
	}
	obey("heard");
	hear_losses();
	if (highest_ack_ >= reduced_at_)
		reduction_.end();
	if ((in_recovery_ || after_timeout_) && highest_ack_ >= recovery_point_) {
		in_recovery_ = after_timeout_ = false;
		{
			FolderGuard guard(name(), "recovery_ended");
			control_->recovery_ended(path(), limits_);
		}
		obey("recovery_ended");
	}
	react_once(news, echo);
	{
		FolderGuard guard(name(), "acknowledged");
		control_->acknowledged(news, path(), limits_);
	}
	obey("acknowledged");
}

void ProtocolTcpAgent::hear_losses()
{
	const std::vector<Lost>& losses = sent_.losses();
	for (size_t i = 0; i < losses.size(); i++) {
		{
			FolderGuard guard(name(), "lost");
			control_->lost(losses[i], path(), limits_);
		}
		obey("lost");
	}
}

// The first loss of a window, or its first mark.
void ProtocolTcpAgent::react_once(const Acknowledged& news, bool echo)
{
	if (in_recovery_ || after_timeout_)
		return;
	const bool loss = !sent_.losses().empty();
	const bool mark = echo && !control_->wants_every_mark() && highest_ack_ > reacted_to_mark_;
	if (!loss && !mark)
		return;
	++ncwndcuts_;
	++ncwndcuts1_;
	const double before_pkts = limits_.cwnd_pkts;
	if (loss) {
		retransmit_now_ = true;
		in_recovery_ = true;
		recovery_point_ = maxseq_;
		last_cwnd_action_ = CWND_ACTION_DUPACK;
		FolderGuard guard(name(), "recovery_began");
		control_->recovery_began(path(), limits_);
	} else {
		++necnresponses_;
		last_cwnd_action_ = CWND_ACTION_ECN;
		FolderGuard guard(name(), "marked");
		control_->marked(path(), limits_);
	}
	reacted_to_mark_ = maxseq_;
	cong_action_ = TRUE;	// tells the receiver to stop its echo
	obey(loss ? "recovery_began" : "marked");
	if (limits_.cwnd_pkts < before_pkts) {
		reduction_.begin(sent_.in_flight_pkts() + sent_.waiting_pkts() + news.packets);
		reduced_at_ = maxseq_;
	}
}

void ProtocolTcpAgent::after_ack()
{
	if (t_seqno_ < highest_ack_ + 1)
		t_seqno_ = highest_ack_ + 1;
	if (sent_.in_flight_pkts() > 0 || sent_.next_lost() >= 0)
		set_rtx_timer();
	else {
		cancel_rtx_timer();
		idle_since_s_ = now();
	}
	if (highest_ack_ >= curseq_ - 1 && !closed_) {
		closed_ = 1;
		finish();
	}
	if (retransmit_now_ && sent_.next_lost() >= 0)
		send_next(TCP_REASON_DUPACK);
	retransmit_now_ = false;
	send_much(0, 0, maxburst_);
}

void ProtocolTcpAgent::timeout(int tno)
{
	if (tno != TCP_TIMER_RTX) {
		send_much(1, 0, maxburst_);
		return;
	}
	if (sent_.in_flight_pkts() == 0 && sent_.next_lost() < 0)
		return;
	++nrexmit_;
	++ncwndcuts_;
	++ncwndcuts1_;
	sent_.timed_out();
	hear_losses();
	in_recovery_ = false;
	after_timeout_ = true;
	recovery_point_ = maxseq_;
	last_cwnd_action_ = CWND_ACTION_TIMEOUT;
	cong_action_ = TRUE;
	{
		FolderGuard guard(name(), "timed_out");
		control_->timed_out(path(), limits_);
	}
	obey("timed_out");
	rtt_backoff();
	set_rtx_timer();
	reduction_.end();
	next_place_s_ = 0;
	place_s_ = NO_PLACE;
	send_much(0, TCP_REASON_TIMEOUT, maxburst_);
}

// What there is to send: again, and for the first time within the advertised window.
double ProtocolTcpAgent::data_pkts()
{
	const int end = std::min<int>(curseq_, highest_ack_ + static_cast<int>(wnd_) + 1);
	return sent_.waiting_pkts() + std::max(0, end - t_seqno_);
}

// The SYN leaves alone.
bool ProtocolTcpAgent::before_handshake()
{
	return syn_ && delay_growth_ && highest_ack_ < 0;
}

double ProtocolTcpAgent::room_pkts()
{
	const double window_pkts = before_handshake() ? 1
		: reduction_.active() ? reduction_.window_pkts() : floor(limits_.cwnd_pkts);
	return window_pkts - sent_.in_flight_pkts();
}

// Whether cwnd would stop the sender now if overhead_ delayed no packet.
bool ProtocolTcpAgent::filled_without_jitter()
{
	const double room = std::max(room_pkts(), 0.0);
	if (before_handshake() || data_pkts() <= room)
		return false;
	if (limits_.pacing_pps <= 0)
		return true;
	const double place_s = place_s_ != NO_PLACE ? place_s_ : std::max(next_place_s_, now());
	const double passed_s = now() + SAME_MOMENT_S - place_s;
	return passed_s >= 0 ? floor(passed_s * limits_.pacing_pps) + 1 >= room : room == 0;
}

double ProtocolTcpAgent::jitter_s()
{
	return overhead_ != 0 ? Random::uniform(overhead_) : 0;
}

void ProtocolTcpAgent::send_next(int reason)
{
	int seqno = sent_.next_lost();
	if (seqno < 0)
		seqno = t_seqno_++;
	if (idle_since_s_ >= 0) {
		const double idle_s = now() - idle_since_s_;
		idle_since_s_ = -1;
		{
			FolderGuard guard(name(), "resumed");
			control_->resumed(idle_s, path(), limits_);
		}
		obey("resumed");
	}
	if (control_->wants_every_mark())
		cong_action_ = TRUE;	// so that each mark is echoed once
	output(seqno, reason);
	const bool more = data_pkts() > 0;
	const bool filled = sent_.in_flight_pkts() + 1 >= floor(limits_.cwnd_pkts);
	sent_.sent(seqno, now(), !more && !filled);
	reduction_.sent();
	if (limits_.pacing_pps > 0)
		next_place_s_ = (place_s_ != NO_PLACE ? place_s_ : std::max(next_place_s_, now()))
			+ 1 / limits_.pacing_pps;
	place_s_ = NO_PLACE;
}

void ProtocolTcpAgent::send_much(int force, int reason, int maxburst)
{
	if (!control_)
		begin();
	if (!force && delsnd_timer_.status() == TIMER_PENDING) {
		limited_by_cwnd_ = filled_without_jitter();
		return;
	}
	limited_by_cwnd_ = false;
	for (int packets = 0; data_pkts() > 0; packets++) {
		limited_by_cwnd_ = room_pkts() <= 0 && !before_handshake();
		if (room_pkts() <= 0 || (maxburst && packets == maxburst))
			break;
		if (limits_.pacing_pps > 0) {
			if (place_s_ == NO_PLACE) {
				place_s_ = packets > 0 ? next_place_s_ : std::max(next_place_s_, now());
				leaves_s_ = place_s_ + jitter_s();
			}
			if (leaves_s_ - now() > SAME_MOMENT_S) {
				limited_by_cwnd_ = filled_without_jitter();
				delsnd_timer_.resched(leaves_s_ - now());
				return;
			}
		} else if (overhead_ != 0 && !force) {
			limited_by_cwnd_ = filled_without_jitter();
			delsnd_timer_.resched(jitter_s());
			return;
		}
		send_next(reason);
		force = 0;
	}
	place_s_ = NO_PLACE;
}
