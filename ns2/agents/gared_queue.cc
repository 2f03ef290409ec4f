// Queue/RED/Gared: gARED (class GentleAdaptiveRed) on ns-2's RED.

#include <stdio.h>

#include "gared.h"
#include "red.h"

/**
 * Queue/RED/Gared: Queue/RED whose max_p begins at 1/linterm_ and follows the
 * average queue by gARED. thresh_, maxthresh_, alpha_, beta_, top_ and
 * interval_ are those of adaptive RED; adaptive_ and feng_adaptive_ must be 0,
 * and bottom_ has no effect, since gARED has no lower bound.
 *
 *   Tcl variable   unit    range  default
 *   gared_clock_   0 or 1  0..1   1        when the rule is checked
 *
 * With 1 it is checked every interval_ seconds by a strict clock, and the old
 * average is that of the previous tick. With 0 it is checked as in ns-2's
 * adaptive RED: at the first arrival that meets a condition later than
 * interval_ after the last change of max_p, and the old average is the one
 * before this arrival. A change takes effect at the next arrival, since only
 * arrivals use max_p.
 */
class GaredQueue : public REDQueue {
public:
	GaredQueue();
protected:
	virtual double estimator(int nqueued, int m, double ave, double q_w);
	virtual void reset();
private:
	void check_parameters();
	void look_at_tick(double ave, double now);
	void look_at_arrival(double new_ave, double ave, double now);
	double max_p(double ave, double old_ave);

	int clock_;
	double next_tick_s_;
	double tick_ave_;	// average at the previous tick
};

static class GaredQueueClass : public TclClass {
public:
	GaredQueueClass() : TclClass("Queue/RED/Gared") {}
	TclObject* create(int, const char*const*) { return new GaredQueue; }
} class_gared_queue;

GaredQueue::GaredQueue() : next_tick_s_(0), tick_ave_(0)
{
	bind("gared_clock_", &clock_);
}

static void stop(const char* name, const char* problem)
{
	fprintf(stderr, "ns: queue %s: %s. Set it before `$ns run`.\n", name, problem);
	Tcl_Exit(1);
}

void GaredQueue::check_parameters()
{
	if (clock_ != 0 && clock_ != 1)
		stop(name(), "gared_clock_ is outside its range of 0 to 1 (0 or 1)");
	if (edp_.adaptive != 0 || edp_.feng_adaptive != 0)
		stop(name(), "adaptive_ and feng_adaptive_ must be 0: gARED adapts max_p itself");
	if (!(edp_.interval > 0))
		stop(name(), "interval_ is outside its range of more than 0 s");
}

void GaredQueue::reset()
{
	check_parameters();
	tick_ave_ = 0;
	next_tick_s_ = edp_.interval;
	REDQueue::reset();
}

double GaredQueue::max_p(double ave, double old_ave)
{
	GentleAdaptiveRedParameters parameters = {edp_.th_min, edp_.th_max, edp_.alpha, edp_.beta,
						  edp_.top};
	return GentleAdaptiveRed(parameters).max_p(ave, old_ave, edv_.cur_max_p);
}

// The average changes only at arrivals, so a tick finds the average of the last arrival before it,
// and of several ticks without an arrival only the first one finds a change.
void GaredQueue::look_at_tick(double ave, double now)
{
	if (now < next_tick_s_)
		return;
	edv_.cur_max_p = max_p(ave, tick_ave_);
	tick_ave_ = ave;
	while (next_tick_s_ <= now)
		next_tick_s_ += edp_.interval;
}

void GaredQueue::look_at_arrival(double new_ave, double ave, double now)
{
	if (now <= edv_.lastset + edp_.interval)
		return;
	double changed = max_p(new_ave, ave);
	if (changed == edv_.cur_max_p)
		return;
	edv_.cur_max_p = changed;
	edv_.lastset = now;
}

double GaredQueue::estimator(int nqueued, int m, double ave, double q_w)
{
	double now = Scheduler::instance().clock();
	double new_ave = REDQueue::estimator(nqueued, m, ave, q_w);
	if (clock_)
		look_at_tick(ave, now);
	else
		look_at_arrival(new_ave, ave, now);
	return new_ave;
}
