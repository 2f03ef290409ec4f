// Agent/TCP/Vegas/Modified: TCP Vegas with larger steps.

#include "law_parameter.h"
#include "tcp.h"

static const LawParameter VEGAS_PARAMETERS[] = {
	{"vegas_gamma_", 0.001, 1000, "packets per RTT"},
	{"vegas_theta_", 0.001, 1000, "packets per RTT"},
};
static const int VEGAS_PARAMETER_COUNT = sizeof(VEGAS_PARAMETERS) / sizeof(VEGAS_PARAMETERS[0]);

/**
 * Agent/TCP/Vegas/Modified: Agent/TCP/Vegas that changes cwnd by more than a
 * packet per RTT in congestion avoidance, so that the long first rise takes
 * less time.
 *
 * J. Xu, "Performance Evaluation of TCP over Optical Channels and
 * Heterogeneous Networks", MS thesis, University of South Florida, 2004,
 * section 3.3, equation 3.1, once per RTT:
 *
 *   cwnd += gamma   Diff < alpha
 *   cwnd -= theta   Diff > beta
 *
 *   paper  Tcl variable  unit             range        default
 *   gamma  vegas_gamma_  packets per RTT  0.001..1000  1
 *   theta  vegas_theta_  packets per RTT  0.001..1000  1
 *   alpha  v_alpha_      packets          ns-2's       1
 *   beta   v_beta_       packets          ns-2's       3
 *
 * With 1 and 1 it is Agent/TCP/Vegas. ns-2's own v_gamma_ is something else:
 * the Diff at which slow start ends. As in Vegas, an increase is spread over
 * the ACKs of the RTT, a decrease happens at once, and cwnd stays at 2 packets
 * or more. A gamma above beta has half its effect: ns-2 takes the growth in one
 * RTT for packets in the queue, and pauses in the next.
 *
 * A variable outside its range, or packetSize_ below 1 byte, ends ns-2 with a
 * message at `$ns run`, or at the first decision of an agent made later.
 */
class ModifiedVegasTcpAgent : public VegasTcpAgent {
protected:
	virtual void reset();
	virtual double v_step_up();
	virtual double v_step_down();
	virtual void delay_bind_init_all();
	virtual int delay_bind_dispatch(const char*, const char*, TclObject*);
private:
	double step(int which);
	void check_parameters();

	double values_[VEGAS_PARAMETER_COUNT];
};

static class ModifiedVegasTcpClass : public TclClass {
public:
	ModifiedVegasTcpClass() : TclClass("Agent/TCP/Vegas/Modified") {}
	TclObject* create(int, const char*const*) { return new ModifiedVegasTcpAgent; }
} class_modified_vegas;

void ModifiedVegasTcpAgent::check_parameters()
{
	require_in_range(name(), PACKET_SIZE, size_);
	for (int i = 0; i < VEGAS_PARAMETER_COUNT; i++)
		require_in_range(name(), VEGAS_PARAMETERS[i], values_[i]);
}

void ModifiedVegasTcpAgent::reset()
{
	check_parameters();
	VegasTcpAgent::reset();
}

double ModifiedVegasTcpAgent::step(int which)
{
	require_in_range(name(), VEGAS_PARAMETERS[which], values_[which]);
	return values_[which];
}

double ModifiedVegasTcpAgent::v_step_up()
{
	return step(0);
}

double ModifiedVegasTcpAgent::v_step_down()
{
	return step(1);
}

void ModifiedVegasTcpAgent::delay_bind_init_all()
{
	for (int i = 0; i < VEGAS_PARAMETER_COUNT; i++)
		delay_bind_init_one(VEGAS_PARAMETERS[i].tcl_name);
	VegasTcpAgent::delay_bind_init_all();
}

int ModifiedVegasTcpAgent::delay_bind_dispatch(const char* name, const char* local,
					       TclObject* tracer)
{
	for (int i = 0; i < VEGAS_PARAMETER_COUNT; i++)
		if (delay_bind(name, local, VEGAS_PARAMETERS[i].tcl_name, &values_[i], tracer))
			return TCL_OK;
	return VegasTcpAgent::delay_bind_dispatch(name, local, tracer);
}
