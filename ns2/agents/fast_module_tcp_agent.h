// Agent/TCP/FastModule. Included at the end of tcp/tcp-sack1.cc and nowhere else: ns-2 declares
// Sack1TcpAgent, whose loss recovery FAST uses, in that file.

#include "fast_module.h"
#include "law_parameter.h"
#include "send_log.h"

// Indices of FAST_MODULE_PARAMETERS.
enum FastModuleVariable {
	FAST_MODULE_ALPHA, FAST_MODULE_BETA, FAST_MODULE_GAMMA, FAST_MODULE_MI_THRESHOLD,
	FAST_MODULE_UPDATE_PERIOD, FAST_MODULE_RTO_RESTART, FAST_MODULE_TIMER_BURST,
	FAST_MODULE_RESEND_OLD, FAST_MODULE_SEND_TIME_RTT, FAST_MODULE_ACK_RTT_ROUND,
	FAST_MODULE_KEEP_INCREMENTS, FAST_MODULE_EXTRA_DRAW, FAST_MODULE_VARIABLES
};
static const LawParameter FAST_MODULE_PARAMETERS[] = {
	{"alpha_", 1, 1000000, "packets"},
	{"beta_", 1, 1000000, "packets"},
	{"gamma_", 0.001, 1, "(a share)"},
	{"mi_threshold_", 0, 10, "s"},
	{"cwnd_update_period_", 0, 10, "s"},
	{"rto_restart_", 0, 1, "(0 or 1)"},
	{"timer_burst_", 0, 1, "(0 or 1)"},
	{"resend_old_", 0, 1, "(0 or 1)"},
	{"send_time_rtt_", 0, 1, "(0 or 1)"},
	{"ack_rtt_round_", 0, 1, "(0 or 1)"},
	{"keep_increments_", 0, 1, "(0 or 1)"},
	{"extra_draw_", 0, 1, "(0 or 1)"},
};
// The ring of send times has a slot for each packet of window_.
static const LawParameter FAST_MODULE_WINDOW = {"window_", 1, 1000000, "packets"};

static const double FAST_MODULE_RESTART_PKTS = 2;
static const int FAST_MODULE_TIMER_BURST_PKTS = 3;
static const double FAST_MODULE_OLD_RTTS = 2;

/**
 * Agent/TCP/FastModule: FAST TCP (class FastModule) with the loss recovery of
 * Agent/TCP/Sack1 and seven habits of its authors' ns-2 module, each of which
 * can be switched off. With all of them off it does what Agent/TCP/Fast does.
 *
 *   Tcl variable         unit     range         default
 *   alpha_, beta_        packets  1..1,000,000  312
 *   gamma_               1        0.001..1      0.5
 *   mi_threshold_        s        0..10         0.00075
 *   cwnd_update_period_  s        0..10         0.01
 *   baseRTT_, avgRTT_    s        read only     0        0: no sample yet
 *
 *   habit, 0 or 1     default 1: what it does
 *   rto_restart_      after a retransmission timeout cwnd is 2, not 1, and the
 *                     next timeout is not backed off
 *   timer_burst_      when the timer of overhead_ fires, up to 3 packets are
 *                     sent, whatever maxburst_ is
 *   resend_old_       before each transmission, if the scoreboard contains
 *                     packets that arrived out of order: the first packet
 *                     from last_ack_ on that it does not contain is sent
 *                     again if it was last sent more than 2 avgRTT ago. This
 *                     can be last_ack_ itself, although acknowledged: its
 *                     send time is cleared, which counts as old
 *   send_time_rtt_    the RTT is measured from the time when the acknowledged
 *                     packet was sent, if it was sent once and is below
 *                     t_seqno_; otherwise avgRTT is used. 0: it is measured
 *                     from the time that the sink echoes
 *   ack_rtt_round_    the RTT of the ACK, not avgRTT, decides when the round
 *                     ends whose ACKs are counted
 *   keep_increments_  pending increments of cwnd survive a recovery
 *   extra_draw_       one more number is drawn from the default generator
 *                     before the first packet
 *
 * Send times and counts are kept in a ring of window_ slots (class SendLog),
 * which ACKs of new data outside recovery clear. windowOption_, ssthresh_ and
 * max_ssthresh_ have no effect. A variable outside its range, packetSize_
 * below 1 byte, or window_ above 1,000,000 packets, ends ns-2 with a message at
 * `$ns run`, or at the first packet of an agent made later.
 *
 * Written from a description of what the module does, without its code.
 */
class FastModuleTcpAgent : public Sack1TcpAgent {
public:
	FastModuleTcpAgent() : law_(0), log_(0), ack_rtt_s_(0), base_rtt_s_(0), avg_rtt_s_(0) {}
	virtual ~FastModuleTcpAgent() { forget(); }
	virtual void recv(Packet*, Handler*);
	virtual void reset();
	virtual void timeout_nonrtx(int tno);
	virtual void send_much(int force, int reason, int maxburst);
protected:
	virtual void output(int seqno, int reason = 0);
	virtual void opencwnd();
	virtual void rtt_backoff();
	virtual void delay_bind_init_all();
	virtual int delay_bind_dispatch(const char*, const char*, TclObject*);
private:
	FastModuleTcpAgent(const FastModuleTcpAgent&);
	FastModuleTcpAgent& operator=(const FastModuleTcpAgent&);

	bool has(FastModuleVariable habit) const { return values_[habit] != 0; }
	void check_parameters();
	void forget();
	void begin();
	double measured_rtt_s(hdr_tcp*, bool is_new);
	bool window_is_open();
	bool send_old_again(int reason);

	// Created by the first packet after a reset.
	FastModule* law_;
	SendLog* log_;
	double ack_rtt_s_;
	double base_rtt_s_, avg_rtt_s_;
	double values_[FAST_MODULE_VARIABLES];
};

static class FastModuleTcpClass : public TclClass {
public:
	FastModuleTcpClass() : TclClass("Agent/TCP/FastModule") {}
	TclObject* create(int, const char*const*) { return new FastModuleTcpAgent; }
} class_fast_module;

void FastModuleTcpAgent::check_parameters()
{
	require_in_range(name(), PACKET_SIZE, size_);
	require_in_range(name(), FAST_MODULE_WINDOW, wnd_);
	for (int i = 0; i < FAST_MODULE_VARIABLES; i++)
		require_in_range(name(), FAST_MODULE_PARAMETERS[i], values_[i]);
}

void FastModuleTcpAgent::forget()
{
	delete law_;
	delete log_;
	law_ = 0;
	log_ = 0;
}

// Before the first packet, and before its delay is drawn.
void FastModuleTcpAgent::begin()
{
	if (law_)
		return;
	check_parameters();
	const double* v = values_;
	FastModuleParameters parameters = {
		v[FAST_MODULE_ALPHA], v[FAST_MODULE_BETA], v[FAST_MODULE_GAMMA],
		v[FAST_MODULE_MI_THRESHOLD], v[FAST_MODULE_UPDATE_PERIOD],
		has(FAST_MODULE_ACK_RTT_ROUND), has(FAST_MODULE_KEEP_INCREMENTS)};
	law_ = new FastModule(parameters);
	log_ = new SendLog(int(wnd_));
	wnd_option_ = 1;	// slowdown() halves
	if (has(FAST_MODULE_RTO_RESTART))
		wnd_restart_ = FAST_MODULE_RESTART_PKTS;
	if (has(FAST_MODULE_EXTRA_DRAW))
		Random::uniform();
}

void FastModuleTcpAgent::reset()
{
	forget();
	base_rtt_s_ = avg_rtt_s_ = 0;
	wnd_option_ = 1;
	check_parameters();
	Sack1TcpAgent::reset();
}

// RTT of the packet that an ACK acknowledges; is_new: it is new data, outside recovery.
double FastModuleTcpAgent::measured_rtt_s(hdr_tcp* ack, bool is_new)
{
	double now = Scheduler::instance().clock();
	if (!has(FAST_MODULE_SEND_TIME_RTT))
		return now - ack->ts_echo();
	int seqno = ack->seqno();
	if (is_new && seqno < t_seqno_ && log_->transmissions(seqno) == 1)
		return now - log_->sent_at_s(seqno);
	return law_->avg_rtt_s();
}

void FastModuleTcpAgent::recv(Packet* pkt, Handler* handler)
{
	hdr_tcp* ack = hdr_tcp::access(pkt);
	begin();
	if (ack->ts() >= lastreset_) {	// not from before the last reset
		bool is_new = !fastrecov_ && ack->seqno() > last_ack_;
		ack_rtt_s_ = measured_rtt_s(ack, is_new);
		if (is_new)
			log_->acked(ack->seqno());
		if (fastrecov_)
			law_->recovering(Scheduler::instance().clock());
	}
	Sack1TcpAgent::recv(pkt, handler);
}

void FastModuleTcpAgent::opencwnd()
{
	FastTcpAck ack = {Scheduler::instance().clock(), ack_rtt_s_, cwnd_,
			  double(t_seqno_ - highest_ack_), highest_ack_};
	double opened = law_->acked(ack);
	cwnd_ = maxcwnd_ > 0 && opened > maxcwnd_ ? maxcwnd_ : opened;
	base_rtt_s_ = law_->base_rtt_s();
	avg_rtt_s_ = law_->avg_rtt_s();
}

void FastModuleTcpAgent::output(int seqno, int reason)
{
	law_->sent(seqno);
	log_->sent(seqno, Scheduler::instance().clock());
	Sack1TcpAgent::output(seqno, reason);
}

void FastModuleTcpAgent::rtt_backoff()
{
	if (!has(FAST_MODULE_RTO_RESTART))
		Sack1TcpAgent::rtt_backoff();
}

void FastModuleTcpAgent::timeout_nonrtx(int tno)
{
	if (tno == TCP_TIMER_DELSND && has(FAST_MODULE_TIMER_BURST))
		send_much(1, TCP_REASON_TIMEOUT, FAST_MODULE_TIMER_BURST_PKTS);
	else
		Sack1TcpAgent::timeout_nonrtx(tno);
}

// Sack1TcpAgent asks this before it sends another packet.
bool FastModuleTcpAgent::window_is_open()
{
	bool room = fastrecov_ ? pipe_ < int(cwnd_) : t_seqno_ <= last_ack_ + window();
	return room && last_ack_ + 1 < curseq_;
}

bool FastModuleTcpAgent::send_old_again(int reason)
{
	double now = Scheduler::instance().clock();
	int seqno = scb_->GetNextUnacked(last_ack_);
	if (seqno < 0 || !log_->is_older(seqno, now, FAST_MODULE_OLD_RTTS * law_->avg_rtt_s()))
		return false;
	output(seqno, reason);
	if (t_seqno_ <= seqno)
		t_seqno_ = seqno + 1;
	pipe_++;
	return true;
}

void FastModuleTcpAgent::send_much(int force, int reason, int maxburst)
{
	begin();
	bool waits = !force && (overhead_ != 0 || delsnd_timer_.status() == TIMER_PENDING);
	if (waits || !has(FAST_MODULE_RESEND_OLD)) {
		Sack1TcpAgent::send_much(force, reason, maxburst);
		return;
	}
	for (int sent = 0; (maxburst == 0 || sent < maxburst) && window_is_open(); sent++) {
		int before = ndatapack_;
		if (!send_old_again(reason))
			Sack1TcpAgent::send_much(force, reason, 1);
		if (ndatapack_ == before)
			return;
	}
}

void FastModuleTcpAgent::delay_bind_init_all()
{
	for (int i = 0; i < FAST_MODULE_VARIABLES; i++)
		delay_bind_init_one(FAST_MODULE_PARAMETERS[i].tcl_name);
	delay_bind_init_one("baseRTT_");
	delay_bind_init_one("avgRTT_");
	Sack1TcpAgent::delay_bind_init_all();
}

int FastModuleTcpAgent::delay_bind_dispatch(const char* name, const char* local, TclObject* tracer)
{
	for (int i = 0; i < FAST_MODULE_VARIABLES; i++)
		if (delay_bind(name, local, FAST_MODULE_PARAMETERS[i].tcl_name, &values_[i], tracer))
			return TCL_OK;
	if (delay_bind(name, local, "baseRTT_", &base_rtt_s_, tracer))
		return TCL_OK;
	if (delay_bind(name, local, "avgRTT_", &avg_rtt_s_, tracer))
		return TCL_OK;
	return Sack1TcpAgent::delay_bind_dispatch(name, local, tracer);
}
