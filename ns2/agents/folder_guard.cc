#include "folder_guard.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/** A call that takes two of these of processor time does not end. */
static const int PATIENCE_S = 10;
/** Code that computes less than a hundredth of this time waits for something. */
static const int PATIENCE_ASLEEP_S = 60;
/** Of the machine's memory, so that code that takes all ends before the system does. */
static const double MOST_MEMORY = 0.75;

static const FolderWords* volatile running = 0;
static const char* volatile running_object = 0;
static const char* volatile running_function = 0;
static volatile unsigned long calls = 0;
static unsigned long calls_at_last_tick = 0;
static clock_t used_at_last_alarm = 0;

static void say(const char* text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return;	// there is nobody to tell it to
}

static void give_up(const char* problem)
{
	say("ns: ");
	say(running->object);
	say(" ");
	say(running_object);
	say(": ");
	say(running_function);
	say("() of its ");
	say(running->code);
	say(" ");
	say(problem);
	say("\n");
	_exit(1);
}

static void tick(int)
{
	if (running && calls == calls_at_last_tick)
		give_up("has not come back after 10 s of processor time");
	calls_at_last_tick = calls;
}

static void alarm_rings(int)
{
	const clock_t used = clock();
	if (running && used - used_at_last_alarm < PATIENCE_ASLEEP_S * CLOCKS_PER_SEC / 100)
		give_up("has waited for a minute, and computed nothing");
	used_at_last_alarm = used;
}

static void trap(int number)
{
	if (running)
		give_up(number == SIGFPE ? "divided by zero, or computed something that is not a number"
			: number == SIGABRT ? "was aborted"
			: "used memory that it does not have");
	signal(number, SIG_DFL);
	raise(number);
}

// ns-2's abort() ends here, too. A parameter that the constructor does not get has a message of its own.
static void at_exit()
{
	if (running && strcmp(running_function, "the constructor") != 0)
		give_up("ended the program: by exit(), by what nobody catches, or without memory");
}

// A second ns-2 would write what this one has not written yet, and go on simulating.
static void before_fork()
{
	if (running)
		give_up("starts a process of its own by fork()");
}

// The stack may be what the code has used up.
static void trap_on_a_stack_of_its_own()
{
	static char stack[64 * 1024];
	stack_t alternative = {};
	alternative.ss_sp = stack;
	alternative.ss_size = sizeof stack;
	sigaltstack(&alternative, 0);
	struct sigaction trapping = {};
	trapping.sa_handler = trap;
	trapping.sa_flags = SA_ONSTACK;
	const int numbers[] = {SIGFPE, SIGABRT, SIGSEGV, SIGBUS};
	for (int number : numbers)
		sigaction(number, &trapping, 0);
}

static void limit_memory()
{
	struct rlimit limit;
	const double bytes = MOST_MEMORY * sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
	if (getrlimit(RLIMIT_AS, &limit) != 0 || bytes <= 0)
		return;
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > bytes) {
		limit.rlim_cur = static_cast<rlim_t>(bytes);
		setrlimit(RLIMIT_AS, &limit);
	}
}

static void watch()
{
	struct sigaction ticking = {};
	ticking.sa_flags = SA_RESTART;
	ticking.sa_handler = tick;
	sigaction(SIGVTALRM, &ticking, 0);
	ticking.sa_handler = alarm_rings;
	sigaction(SIGALRM, &ticking, 0);
	const struct itimerval often = {{PATIENCE_S, 0}, {PATIENCE_S, 0}};
	setitimer(ITIMER_VIRTUAL, &often, 0);
	const struct itimerval seldom = {{PATIENCE_ASLEEP_S, 0}, {PATIENCE_ASLEEP_S, 0}};
	setitimer(ITIMER_REAL, &seldom, 0);
	trap_on_a_stack_of_its_own();
	limit_memory();
	atexit(at_exit);
	pthread_atfork(before_fork, 0, 0);
}

FolderGuard::FolderGuard(const char* object, const char* function, const FolderWords& words)
{
	if (calls == 0)
		watch();
	calls = calls + 1;
	running_function = function;
	running_object = object;
	running = &words;
}

FolderGuard::~FolderGuard()
{
	running = 0;
}
