// Queue/Discipline: a queue whose discipline is loaded from a library.

#include <dlfcn.h>
#include <map>
#include <sstream>

#include "discipline_ledger.h"
#include "flags.h"
#include "folder_classes.h"
#include "folder_guard.h"
#include "ip.h"
#include "queue.h"
#include "random.h"
#include "timer-handler.h"

static double now()
{
	return Scheduler::instance().clock();
}

/** The packets of one queue, as its discipline sees them. */
class QueueLedger : public DisciplineLedger {
public:
	QueueLedger(QueueDiscipline* discipline, int limit_pkts, Marking marking, bool draws)
		: DisciplineLedger(discipline, limit_pkts, marking, draws)
	{
	}
	virtual double now_s() const { return now(); }

protected:
	virtual double drawn() { return Random::uniform(); }
};

/** What the rest of ns-2 asks a queue's store: how much there is. */
class LedgerLength : public PacketQueue {
public:
	LedgerLength() : ledger(0) {}
	virtual int length() const { return ledger ? ledger->length_pkts() : 0; }
	virtual int byteLength() const { return ledger ? ledger->length_bytes() : 0; }
	const DisciplineLedger* ledger;
};

/**
 * Queue/Discipline: asks a QueueDiscipline which packets wait, leave, and are dropped or
 * marked, and ends ns-2 with a message if one is lost or would leave twice.
 *
 *   $queue set discipline_ LIBRARY   its path; subclasses have theirs
 *   $queue set NAME VALUE            a parameter of the discipline
 *   limit_    packets                room
 *   setbit_   0 or 1                 marks packets that can be marked; not set: it never marks
 *   random_   1                      it uses random numbers; not set: it does not
 */
class DisciplineQueue : public Queue {
public:
	DisciplineQueue() : ledger_(0), alarm_(*this), alarm_s_(HUGE_VAL) { pq_ = &length_; }
	virtual ~DisciplineQueue() { delete ledger_; }
	virtual int command(int argc, const char* const* argv);
	virtual void enque(Packet* packet);
	virtual Packet* deque();

private:
	/** Wakes the discipline. */
	class Alarm : public TimerHandler {
	public:
		explicit Alarm(DisciplineQueue& queue) : queue_(queue) {}
		virtual ~Alarm() { force_cancel(); }
	protected:
		virtual void expire(Event*) { queue_.wake(); }
	private:
		DisciplineQueue& queue_;
	};
	typedef QueueDiscipline* (*Maker)(const QueueParameters&);
	/** Addresses and ports of a connection's packets in one direction. */
	typedef std::pair<std::pair<int, int>, std::pair<int, int> > Ends;
	/** A connection that a packet belonged to lately. */
	struct Recent {
		Recent() : flow(-1) {}
		Ends ends;
		int flow;
	};
	static const unsigned RECENT = 64;

	FolderVariables variables() const { return FolderVariables(name(), OF_DISCIPLINE); }
	Maker loaded() const;
	void begin();
	void wake();
	void settle_call(const char* function);
	int flow_of(Packet* packet);

	QueueLedger* ledger_;
	LedgerLength length_;
	Alarm alarm_;
	double alarm_s_;
	std::map<Ends, int> flows_;
	Recent recent_[RECENT];
};

static class DisciplineQueueClass : public TclClass {
public:
	DisciplineQueueClass() : TclClass("Queue/Discipline") {}
	TclObject* create(int, const char* const*) { return new DisciplineQueue; }
	virtual void bind()
	{
		TclClass::bind();
		load_folder_classes();
	}
} class_discipline_queue;

// ns-2 hands its link to every queue in whose name it finds "RED", "PI" and the like.
int DisciplineQueue::command(int argc, const char* const* argv)
{
	if (argc == 3 && strcmp(argv[1], "link") == 0)
		return TCL_OK;
	return Queue::command(argc, argv);
}

DisciplineQueue::Maker DisciplineQueue::loaded() const
{
	const std::string path = variables().library();
	void* library = opened_library(name(), path, OF_DISCIPLINE);
	int (*interface)() = reinterpret_cast<int (*)()>(dlsym(library, "bdpbench_queue_interface"));
	Maker maker = reinterpret_cast<Maker>(dlsym(library, "bdpbench_queue"));
	if (!interface || !maker)
		stop_object(name(), path + " does not end with QUEUE_DISCIPLINE(its class)", OF_DISCIPLINE);
	require_interface(name(), path, interface(), QUEUE_DISCIPLINE_INTERFACE, "queue_discipline.h",
		OF_DISCIPLINE);
	return maker;
}

// At the first packet, when the script has set all variables.
void DisciplineQueue::begin()
{
	const Maker make = loaded();
	const std::string marks = variables().text("setbit_");
	const Marking marking = marks.empty() ? NEVER_MARKS : marks == "0" ? MARKS_NOTHING_HERE : MARKS;
	const bool draws = !variables().text("random_").empty();
	FolderGuard guard(name(), "the constructor", OF_DISCIPLINE);
	ledger_ = new QueueLedger(make(variables()), qlim_, marking, draws);
	length_.ledger = ledger_;
}

int DisciplineQueue::flow_of(Packet* packet)
{
	const hdr_ip* ip = hdr_ip::access(packet);
	const Ends ends(std::make_pair(ip->src_.addr_, ip->src_.port_),
		std::make_pair(ip->dst_.addr_, ip->dst_.port_));
	Recent& recent = recent_[static_cast<unsigned>(5 * ip->src_.addr_ + ip->src_.port_ + ip->dst_.port_) % RECENT];
	if (recent.flow < 0 || recent.ends != ends) {
		recent.ends = ends;
		recent.flow = flows_.insert(std::make_pair(ends, static_cast<int>(flows_.size()))).first->second;
	}
	return recent.flow;
}

void DisciplineQueue::enque(Packet* packet)
{
	if (!ledger_)
		begin();
	const int bytes = hdr_cmn::access(packet)->size(), flow = flow_of(packet);
	const hdr_flags* flags = hdr_flags::access(packet);
	{
		FolderGuard guard(name(), "enqueue", OF_DISCIPLINE);
		ledger_->arrive(packet, bytes, flow, flags->ect(), flags->ce());
	}
	settle_call("enqueue");
}

Packet* DisciplineQueue::deque()
{
	if (!ledger_)
		return 0;
	DisciplineLedger::Entry* entry;
	{
		FolderGuard guard(name(), "dequeue", OF_DISCIPLINE);
		entry = ledger_->depart();
	}
	Packet* packet = entry ? static_cast<Packet*>(entry->packet) : 0;
	if (entry && entry->marked_s >= 0)
		hdr_flags::access(packet)->ce() = 1;
	settle_call("dequeue");
	return packet;
}

void DisciplineQueue::wake()
{
	alarm_s_ = HUGE_VAL;
	{
		FolderGuard guard(name(), "woken", OF_DISCIPLINE);
		ledger_->wake();
	}
	settle_call("woken");
	if (!blocked() && ledger_->length_pkts() > 0) {
		block();
		resume();
	}
}

// What a call has decided happens after it: packets are dropped, and the alarm is set.
void DisciplineQueue::settle_call(const char* function)
{
	if (!ledger_->problem().empty()) {
		std::ostringstream text;
		text << function << "() of its discipline " << ledger_->problem() << ", at " << now() << " s";
		stop_object(name(), text.str(), OF_DISCIPLINE);
	}
	if (ledger_->wake_s() != alarm_s_) {
		alarm_s_ = ledger_->wake_s();
		if (alarm_s_ == HUGE_VAL)
			alarm_.force_cancel();
		else
			alarm_.resched(alarm_s_ - now());
	}
	const std::vector<DisciplineLedger::Entry*>& dropped = ledger_->dropped();
	for (size_t i = 0; i < dropped.size(); i++)
		drop(static_cast<Packet*>(dropped[i]->packet));
}
