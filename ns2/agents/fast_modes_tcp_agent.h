// Agent/TCP/FastModes. Included at the end of tcp/tcp-sack1.cc and nowhere else: ns-2 declares
// Sack1TcpAgent, whose loss recovery FAST uses, in that file.

#include "fast_modes.h"
#include "law_parameter.h"

static const LawParameter FAST_MODES_PARAMETERS[] = {
	{"m0a_", 1, 1000000, "packets"},
	{"m1a_", 1, 1000000, "packets"},
	{"m2a_", 1, 1000000, "packets"},
	{"m0u_", 0, 1000000000, "kB/s"},
	{"m1u_", 0, 1000000000, "kB/s"},
	{"m1l_", 0, 1000000000, "kB/s"},
	{"m2l_", 0, 1000000000, "kB/s"},
	{"gamma_", 0.001, 1, "(a share)"},
	{"mi_threshold_", 0, 10, "s"},
	{"cwnd_update_period_", 0, 10, "s"},
};
static const int FAST_MODES_PARAMETER_COUNT =
	sizeof(FAST_MODES_PARAMETERS) / sizeof(FAST_MODES_PARAMETERS[0]);

/**
 * Agent/TCP/FastModes: FAST TCP whose alpha depends on its rate (class
 * FastModes) with the loss recovery of Agent/TCP/Sack1. It halves cwnd at a
 * loss; windowOption_, ssthresh_ and max_ssthresh_ have no effect on it.
 *
 *   Tcl variable         unit     range             default
 *   m0a_, m1a_, m2a_     packets  1..1,000,000      8, 20, 200: alpha
 *   m0u_, m1u_           kB/s     0..1,000,000,000  1,500 and 15,000: a higher
 *                                                   rate raises the mode
 *   m1l_, m2l_           kB/s     0..1,000,000,000  1,250 and 12,500: a lower
 *                                                   rate lowers the mode
 *   gamma_               1        0.001..1          0.5
 *   mi_threshold_        s        0..10             0.00075
 *   cwnd_update_period_  s        0..10             0.01
 *   baseRTT_, avgRTT_    s        read only         0: no sample yet
 *   mode_                1        read only         0, 1 or 2
 *
 * The rate counts packets with headers: packetSize_ + tcpip_base_hdr_size_. A
 * variable outside its range, or packetSize_ below 1 byte, ends ns-2 with a
 * message at `$ns run`, or at the first packet of an agent made later.
 */
class FastModesTcpAgent : public Sack1TcpAgent {
public:
	FastModesTcpAgent() : law_(0), ack_rtt_s_(0), base_rtt_s_(0), avg_rtt_s_(0), mode_(0) {}
	virtual ~FastModesTcpAgent() { delete law_; }
	virtual void recv(Packet*, Handler*);
	virtual void reset();
protected:
	virtual void output(int seqno, int reason = 0);
	virtual void opencwnd();
	virtual void delay_bind_init_all();
	virtual int delay_bind_dispatch(const char*, const char*, TclObject*);
private:
	FastModes& law();
	void check_parameters();

	FastModes* law_;	// created by the first packet after a reset
	double ack_rtt_s_;
	double base_rtt_s_, avg_rtt_s_;
	int mode_;
	double values_[FAST_MODES_PARAMETER_COUNT];
};

static class FastModesTcpClass : public TclClass {
public:
	FastModesTcpClass() : TclClass("Agent/TCP/FastModes") {}
	TclObject* create(int, const char*const*) { return new FastModesTcpAgent; }
} class_fast_modes;

void FastModesTcpAgent::check_parameters()
{
	require_in_range(name(), PACKET_SIZE, size_);
	for (int i = 0; i < FAST_MODES_PARAMETER_COUNT; i++)
		require_in_range(name(), FAST_MODES_PARAMETERS[i], values_[i]);
}

FastModes& FastModesTcpAgent::law()
{
	if (law_)
		return *law_;
	check_parameters();
	const double* v = values_;
	FastModesParameters parameters = {{v[0], v[1], v[2]}, {v[3], v[4]}, {v[5], v[6]}, v[7], v[8],
					  v[9], double(size_ + tcpip_base_hdr_size_)};
	law_ = new FastModes(parameters);
	wnd_option_ = 1;	// slowdown() halves
	return *law_;
}

void FastModesTcpAgent::reset()
{
	delete law_;
	law_ = 0;
	base_rtt_s_ = avg_rtt_s_ = 0;
	mode_ = 0;
	wnd_option_ = 1;
	check_parameters();
	Sack1TcpAgent::reset();
}

void FastModesTcpAgent::recv(Packet* pkt, Handler* handler)
{
	double now = Scheduler::instance().clock();
	ack_rtt_s_ = now - hdr_tcp::access(pkt)->ts_echo();
	if (fastrecov_)
		law().recovering(now);
	Sack1TcpAgent::recv(pkt, handler);
}

void FastModesTcpAgent::opencwnd()
{
	FastTcpAck ack = {Scheduler::instance().clock(), ack_rtt_s_, cwnd_,
			  double(t_seqno_ - highest_ack_), highest_ack_};
	double opened = law().acked(ack);
	cwnd_ = maxcwnd_ > 0 && opened > maxcwnd_ ? maxcwnd_ : opened;
	base_rtt_s_ = law().base_rtt_s();
	avg_rtt_s_ = law().avg_rtt_s();
	mode_ = law().mode();
}

void FastModesTcpAgent::output(int seqno, int reason)
{
	law().sent(seqno);
	Sack1TcpAgent::output(seqno, reason);
}

void FastModesTcpAgent::delay_bind_init_all()
{
	for (int i = 0; i < FAST_MODES_PARAMETER_COUNT; i++)
		delay_bind_init_one(FAST_MODES_PARAMETERS[i].tcl_name);
	delay_bind_init_one("baseRTT_");
	delay_bind_init_one("avgRTT_");
	delay_bind_init_one("mode_");
	Sack1TcpAgent::delay_bind_init_all();
}

int FastModesTcpAgent::delay_bind_dispatch(const char* name, const char* local, TclObject* tracer)
{
	for (int i = 0; i < FAST_MODES_PARAMETER_COUNT; i++)
		if (delay_bind(name, local, FAST_MODES_PARAMETERS[i].tcl_name, &values_[i], tracer))
			return TCL_OK;
	if (delay_bind(name, local, "baseRTT_", &base_rtt_s_, tracer))
		return TCL_OK;
	if (delay_bind(name, local, "avgRTT_", &avg_rtt_s_, tracer))
		return TCL_OK;
	if (delay_bind(name, local, "mode_", &mode_, tracer))
		return TCL_OK;
	return Sack1TcpAgent::delay_bind_dispatch(name, local, tracer);
}
