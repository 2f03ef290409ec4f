// Agent/TCP/Westwood: TCP Westwood (class WestwoodTcp) on ns-2's TCP Reno.

#include <algorithm>

#include "flags.h"
#include "law_parameter.h"
#include "tcp.h"
#include "westwood_tcp.h"

static const LawParameter WESTWOOD_PARAMETERS[] = {
	{"westwood_tau_", 0.001, 1000, "s"},
	{"westwood_m_", 2, 1000, "samples"},
};
static const int WESTWOOD_PARAMETER_COUNT =
	sizeof(WESTWOOD_PARAMETERS) / sizeof(WESTWOOD_PARAMETERS[0]);

/**
 * Agent/TCP/Westwood: Agent/TCP/Reno except for the values of ssthresh and cwnd
 * after a loss.
 *
 *   Tcl variable    unit       range        default
 *   westwood_tau_   s          0.001..1000  0.5      memory of the filter
 *   westwood_m_     samples    2..1000      2        silence of tau/m is a
 *                                                    sample of 0
 *   westwood_bwe_   packets/s  read only    0        estimate at the last ACK
 *
 * A variable outside its range, or packetSize_ below 1 byte, ends ns-2 with a
 * message at `$ns run`, or at the first ACK of an agent made later.
 *
 * Every ACK measures the RTT by the time that ns-2's sink echoes, which it
 * always does, with timestamps_ or without.
 */
class WestwoodTcpAgent : public RenoTcpAgent {
public:
	WestwoodTcpAgent() : law_(0), bwe_pps_(0) {}
	virtual ~WestwoodTcpAgent() { delete law_; }
	virtual void recv(Packet*, Handler*);
	virtual void dupack_action();
	virtual void timeout(int tno);
	virtual void reset();
protected:
	virtual void delay_bind_init_all();
	virtual int delay_bind_dispatch(const char*, const char*, TclObject*);
private:
	WestwoodTcp& law();
	void check_parameters();
	int pipe_pkts();

	WestwoodTcp* law_;	// created by the first ACK after a reset
	double bwe_pps_;
	double values_[WESTWOOD_PARAMETER_COUNT];
};

static class WestwoodTcpClass : public TclClass {
public:
	WestwoodTcpClass() : TclClass("Agent/TCP/Westwood") {}
	TclObject* create(int, const char*const*) { return new WestwoodTcpAgent; }
} class_westwood;

void WestwoodTcpAgent::check_parameters()
{
	require_in_range(name(), PACKET_SIZE, size_);
	for (int i = 0; i < WESTWOOD_PARAMETER_COUNT; i++)
		require_in_range(name(), WESTWOOD_PARAMETERS[i], values_[i]);
}

WestwoodTcp& WestwoodTcpAgent::law()
{
	if (law_)
		return *law_;
	check_parameters();
	WestwoodParameters parameters = {values_[0], values_[1]};
	law_ = new WestwoodTcp(parameters);
	return *law_;
}

void WestwoodTcpAgent::reset()
{
	delete law_;
	law_ = 0;
	bwe_pps_ = 0;
	check_parameters();
	RenoTcpAgent::reset();
}

int WestwoodTcpAgent::pipe_pkts()
{
	return law().ssthresh_pkts(Scheduler::instance().clock());
}

void WestwoodTcpAgent::recv(Packet* pkt, Handler* handler)
{
	double now = Scheduler::instance().clock();
	hdr_tcp* header = hdr_tcp::access(pkt);
	bool of_now = header->ts() >= lastreset_;	// not of an earlier connection
	if (of_now && header->seqno() >= last_ack_) {
		WestwoodAck ack = {now, now - header->ts_echo(),
				   int(header->seqno()) - int(last_ack_)};
		law().acked(ack);
		bwe_pps_ = law().bandwidth_pps(now);
	}
	RenoTcpAgent::recv(pkt, handler);
}

// Reno decides whether this is a new loss, and counts the cut if it is.
void WestwoodTcpAgent::dupack_action()
{
	int cuts = ncwndcuts_;
	double cwnd = cwnd_;
	RenoTcpAgent::dupack_action();
	if (ncwndcuts_ == cuts)
		return;
	ssthresh_ = pipe_pkts();
	cwnd_ = std::min(cwnd, double(ssthresh_));
}

void WestwoodTcpAgent::timeout(int tno)
{
	bool loss = tno == TCP_TIMER_RTX && highest_ack_ != maxseq_;
	RenoTcpAgent::timeout(tno);
	if (loss)
		ssthresh_ = pipe_pkts();
}

void WestwoodTcpAgent::delay_bind_init_all()
{
	for (int i = 0; i < WESTWOOD_PARAMETER_COUNT; i++)
		delay_bind_init_one(WESTWOOD_PARAMETERS[i].tcl_name);
	delay_bind_init_one("westwood_bwe_");
	RenoTcpAgent::delay_bind_init_all();
}

int WestwoodTcpAgent::delay_bind_dispatch(const char* name, const char* local, TclObject* tracer)
{
	for (int i = 0; i < WESTWOOD_PARAMETER_COUNT; i++)
		if (delay_bind(name, local, WESTWOOD_PARAMETERS[i].tcl_name, &values_[i], tracer))
			return TCL_OK;
	if (delay_bind(name, local, "westwood_bwe_", &bwe_pps_, tracer))
		return TCL_OK;
	return RenoTcpAgent::delay_bind_dispatch(name, local, tracer);
}
