#include "protocol_guard.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/** A call that takes two of these of processor time does not end. */
static const int PATIENCE_S = 10;

static const char* volatile running_agent = 0;
static const char* volatile running_function = 0;
static volatile unsigned long calls = 0;
static unsigned long calls_at_last_tick = 0;

static void say(const char* text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return;	// there is nobody to tell it to
}

static void give_up(const char* problem)
{
	say("ns: agent ");
	say(running_agent);
	say(": ");
	say(running_function);
	say("() of its protocol ");
	say(problem);
	say("\n");
	_exit(1);
}

static void tick(int)
{
	if (running_agent && calls == calls_at_last_tick)
		give_up("has not come back after 10 s of processor time");
	calls_at_last_tick = calls;
}

static void trap(int number)
{
	if (running_agent)
		give_up("divided by zero, or computed something that is not a number");
	signal(number, SIG_DFL);
	raise(number);
}

static void watch()
{
	struct sigaction ticking = {}, trapping = {};
	ticking.sa_handler = tick;
	ticking.sa_flags = SA_RESTART;
	sigaction(SIGVTALRM, &ticking, 0);
	trapping.sa_handler = trap;
	sigaction(SIGFPE, &trapping, 0);
	const struct itimerval every = {{PATIENCE_S, 0}, {PATIENCE_S, 0}};
	setitimer(ITIMER_VIRTUAL, &every, 0);
}

ProtocolGuard::ProtocolGuard(const char* agent, const char* function)
{
	if (calls == 0)
		watch();
	calls = calls + 1;
	running_function = function;
	running_agent = agent;
}

ProtocolGuard::~ProtocolGuard()
{
	running_agent = 0;
}
