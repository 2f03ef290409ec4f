// Agent/TCP/Fast. Included at the end of tcp/tcp-sack1.cc and nowhere else:
// ns-2 declares Sack1TcpAgent, whose loss recovery FAST uses, in that file.

#include "fast_tcp.h"
#include "law_parameter.h"

static const LawParameter FAST_PARAMETERS[] = {
	{"alpha_", 1, 1000000, "packets"},
	{"beta_", 1, 1000000, "packets"},
	{"gamma_", 0.001, 1, "(a share)"},
	{"mi_threshold_", 0, 10, "s"},
	{"cwnd_update_period_", 0, 10, "s"},
	{"every_other_rtt_", 0, 1, "(0 or 1)"},
};
static const int FAST_PARAMETER_COUNT = sizeof(FAST_PARAMETERS) / sizeof(FAST_PARAMETERS[0]);

/**
 * Agent/TCP/Fast: FAST TCP (class FastTcp) with the loss recovery of
 * Agent/TCP/Sack1. It halves cwnd at a loss; windowOption_, ssthresh_ and
 * max_ssthresh_ have no effect on it.
 *
 *   Tcl variable         unit     range         default
 *   alpha_               packets  1..1,000,000  312      packets to keep queued
 *   beta_                packets  1..1,000,000  312      from alpha_ to beta_
 *                                                        cwnd does not change
 *   gamma_               1        0.001..1      0.5      weight of a new target
 *   mi_threshold_        s        0..10         0.00075  queueing delay up to
 *                                                        which cwnd doubles
 *   cwnd_update_period_  s        0..10         0.01     between two updates
 *   every_other_rtt_     0 or 1   0..1          0        rest every second RTT
 *   baseRTT_, avgRTT_    s        read only     0        0: no sample yet
 *
 * A variable outside its range, or packetSize_ below 1 byte, ends ns-2 with a
 * message at `$ns run`, or at the first packet of an agent made later.
 *
 * Every ACK measures the RTT by the time that ns-2's sink echoes, which it
 * always does, with timestamps_ or without.
 */
class FastTcpAgent : public Sack1TcpAgent {
public:
	FastTcpAgent() : law_(0), ack_rtt_s_(0), base_rtt_s_(0), avg_rtt_s_(0) {}
	virtual ~FastTcpAgent() { delete law_; }
	virtual void recv(Packet*, Handler*);
	virtual void reset();
protected:
	virtual void output(int seqno, int reason = 0);
	virtual void opencwnd();
	virtual void delay_bind_init_all();
	virtual int delay_bind_dispatch(const char*, const char*, TclObject*);
private:
	FastTcp& law();
	void check_parameters();

	FastTcp* law_;		// created by the first packet after a reset
	double ack_rtt_s_;
	double base_rtt_s_, avg_rtt_s_;
	double values_[FAST_PARAMETER_COUNT];
};

static class FastTcpClass : public TclClass {
public:
	FastTcpClass() : TclClass("Agent/TCP/Fast") {}
	TclObject* create(int, const char*const*) { return new FastTcpAgent; }
} class_fast;

void FastTcpAgent::check_parameters()
{
	require_in_range(name(), PACKET_SIZE, size_);
	for (int i = 0; i < FAST_PARAMETER_COUNT; i++)
		require_in_range(name(), FAST_PARAMETERS[i], values_[i]);
}

FastTcp& FastTcpAgent::law()
{
	if (law_)
		return *law_;
	check_parameters();
	const double* v = values_;
	FastTcpParameters parameters = {v[0], v[1], v[2], v[3], v[4], v[5] != 0};
	law_ = new FastTcp(parameters);
	wnd_option_ = 1;	// slowdown() halves
	return *law_;
}

void FastTcpAgent::reset()
{
	delete law_;
	law_ = 0;
	base_rtt_s_ = avg_rtt_s_ = 0;
	wnd_option_ = 1;
	check_parameters();
	Sack1TcpAgent::reset();
}

void FastTcpAgent::recv(Packet* pkt, Handler* handler)
{
	double now = Scheduler::instance().clock();
	ack_rtt_s_ = now - hdr_tcp::access(pkt)->ts_echo();
	if (fastrecov_)
		law().recovering(now);
	Sack1TcpAgent::recv(pkt, handler);
}

void FastTcpAgent::opencwnd()
{
	FastTcpAck ack = {Scheduler::instance().clock(), ack_rtt_s_, cwnd_,
			  double(t_seqno_ - highest_ack_), highest_ack_};
	double opened = law().acked(ack);
	cwnd_ = maxcwnd_ > 0 && opened > maxcwnd_ ? maxcwnd_ : opened;
	base_rtt_s_ = law().base_rtt_s();
	avg_rtt_s_ = law().avg_rtt_s();
}

void FastTcpAgent::output(int seqno, int reason)
{
	law().sent(seqno);
	Sack1TcpAgent::output(seqno, reason);
}

void FastTcpAgent::delay_bind_init_all()
{
	for (int i = 0; i < FAST_PARAMETER_COUNT; i++)
		delay_bind_init_one(FAST_PARAMETERS[i].tcl_name);
	delay_bind_init_one("baseRTT_");
	delay_bind_init_one("avgRTT_");
	Sack1TcpAgent::delay_bind_init_all();
}

int FastTcpAgent::delay_bind_dispatch(const char* name, const char* local, TclObject* tracer)
{
	for (int i = 0; i < FAST_PARAMETER_COUNT; i++)
		if (delay_bind(name, local, FAST_PARAMETERS[i].tcl_name, &values_[i], tracer))
			return TCL_OK;
	if (delay_bind(name, local, "baseRTT_", &base_rtt_s_, tracer))
		return TCL_OK;
	if (delay_bind(name, local, "avgRTT_", &avg_rtt_s_, tracer))
		return TCL_OK;
	return Sack1TcpAgent::delay_bind_dispatch(name, local, tracer);
}
