#ifndef bdpbench_ghstcp_agent_h
#define bdpbench_ghstcp_agent_h

#include "ghstcp.h"
#include "law_parameter.h"
#include "tcp.h"

static const LawParameter GHSTCP_PARAMETERS[] = {
	{"ghstcp_z_", 0, 1000, "(a statistic)"},
	{"ghstcp_return_", 0, 1, "(0 or 1)"},
};
static const int GHSTCP_PARAMETER_COUNT = sizeof(GHSTCP_PARAMETERS) / sizeof(GHSTCP_PARAMETERS[0]);
static const LawParameter GHSTCP_OPTION = {"windowOption_", 8, 8, "(HighSpeed TCP)"};

/**
 * Agent/TCP/Reno/Gentle and Agent/TCP/Sack1/Gentle: gHSTCP (class
 * GentleHighSpeed) with the loss recovery of Agent/TCP/Reno or of
 * Agent/TCP/Sack1, the class `Base`.
 *
 *   Tcl variable       unit    range      default
 *   ghstcp_z_          1       0..1000    3.09   above it the trend rises
 *   ghstcp_return_     0 or 1  0..1       1      a later test may end Reno mode
 *   mode_              0 or 1  read only  0      1: Reno mode
 *   ghstcp_statistic_  1       read only  0      Z of the last test
 *
 * a(w) and b(w) are those of windowOption_ 8, with its low_window_,
 * high_window_, high_p_ and high_decrease_; windowOption_ must be 8. In Reno
 * mode cwnd opens as with windowOption_ 1. A variable outside its range, or
 * packetSize_ below 1 byte, ends ns-2 with a message at `$ns run`, or at the
 * first ACK of an agent made later.
 *
 * Every ACK measures the RTT by the time of departure that ns-2's sink echoes,
 * which it always does, with timestamps_ or without.
 */
template <class Base>
class GentleHighSpeedAgent : public Base {
public:
	GentleHighSpeedAgent() : law_(0), departure_s_(0), cuts_(0), mode_(0), statistic_(0) {}
	virtual ~GentleHighSpeedAgent() { delete law_; }
	virtual void recv(Packet* pkt, Handler* handler);
	virtual void reset();
protected:
	virtual void opencwnd();
	virtual void delay_bind_init_all();
	virtual int delay_bind_dispatch(const char*, const char*, TclObject*);
private:
	GentleHighSpeed& law();
	void check_parameters();
	void choose_mode();

	GentleHighSpeed* law_;	// created by the first ACK after a reset
	double departure_s_;	// of the packet that the current ACK acknowledges
	int cuts_;		// of cwnd that the law has been told of
	int mode_;
	double statistic_;
	double values_[GHSTCP_PARAMETER_COUNT];
};

template <class Base>
void GentleHighSpeedAgent<Base>::check_parameters()
{
	require_in_range(this->name(), PACKET_SIZE, this->size_);
	require_in_range(this->name(), GHSTCP_OPTION, this->wnd_option_);
	for (int i = 0; i < GHSTCP_PARAMETER_COUNT; i++)
		require_in_range(this->name(), GHSTCP_PARAMETERS[i], values_[i]);
}

template <class Base>
GentleHighSpeed& GentleHighSpeedAgent<Base>::law()
{
	if (law_)
		return *law_;
	check_parameters();
	GentleHighSpeedParameters parameters = {values_[0], values_[1] != 0};
	law_ = new GentleHighSpeed(parameters);
	cuts_ = this->ncwndcuts_;
	return *law_;
}

template <class Base>
void GentleHighSpeedAgent<Base>::reset()
{
	delete law_;
	law_ = 0;
	mode_ = 0;
	statistic_ = 0;
	check_parameters();
	Base::reset();
}

template <class Base>
void GentleHighSpeedAgent<Base>::recv(Packet* pkt, Handler* handler)
{
	departure_s_ = hdr_tcp::access(pkt)->ts_echo();
	Base::recv(pkt, handler);
}

template <class Base>
void GentleHighSpeedAgent<Base>::choose_mode()
{
	if (this->ncwndcuts_ != cuts_)
		law().cut();
	cuts_ = this->ncwndcuts_;
	if (this->cwnd_ >= this->ssthresh_) {
		double now = Scheduler::instance().clock();
		law().acked(departure_s_, now - departure_s_, this->cwnd_);
	}
	mode_ = law().reno_mode();
	statistic_ = law().z();
}

template <class Base>
void GentleHighSpeedAgent<Base>::opencwnd()
{
	choose_mode();
	int option = this->wnd_option_;
	if (mode_)
		this->wnd_option_ = 1;	// standard TCP
	Base::opencwnd();
	this->wnd_option_ = option;
}

template <class Base>
void GentleHighSpeedAgent<Base>::delay_bind_init_all()
{
	for (int i = 0; i < GHSTCP_PARAMETER_COUNT; i++)
		this->delay_bind_init_one(GHSTCP_PARAMETERS[i].tcl_name);
	this->delay_bind_init_one("mode_");
	this->delay_bind_init_one("ghstcp_statistic_");
	Base::delay_bind_init_all();
}

template <class Base>
int GentleHighSpeedAgent<Base>::delay_bind_dispatch(const char* name, const char* local,
						    TclObject* tracer)
{
	for (int i = 0; i < GHSTCP_PARAMETER_COUNT; i++)
		if (this->delay_bind(name, local, GHSTCP_PARAMETERS[i].tcl_name, &values_[i], tracer))
			return TCL_OK;
	if (this->delay_bind(name, local, "mode_", &mode_, tracer))
		return TCL_OK;
	if (this->delay_bind(name, local, "ghstcp_statistic_", &statistic_, tracer))
		return TCL_OK;
	return Base::delay_bind_dispatch(name, local, tracer);
}

#endif
