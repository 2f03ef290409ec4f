#ifndef bdpbench_check_queue_h
#define bdpbench_check_queue_h

// What test.cc of a queue has: a queue without a network, and what has become of its packets.

#include <deque>
#include <set>

#include "check.h"
#include "discipline_ledger.h"

namespace check {

extern const Marking marking;
extern const bool draws;

/** Packets are numbered from 1 as they arrive, and time goes on from 0. */
class TestedQueue : private DisciplineLedger {
public:
	/** Of the packets that arrive next. */
	int bytes, flow;
	bool can_be_marked, marks;
	/** What has become of the packets. */
	Times dropped, marked, left;

	explicit TestedQueue(int limit_pkts = 1000, const Values& set = Values(),
		Place place = Place::here())
		: DisciplineLedger(bdpbench_queue(Given<QueueParameters>(set, place)), limit_pkts, check::marking, check::draws),
		  bytes(1040), flow(0), can_be_marked(true), marks(false), time_s_(0)
	{
		if (limit_pkts < 1)
			place.fail("a queue has room for at least one packet");
	}

	using DisciplineLedger::length_bytes;
	using DisciplineLedger::length_pkts;

	/** Packets arrive, one after the other or at once. */
	void arrives(double at_s, int packets = 1, double every_s = 0, Place place = Place::here())
	{
		for (int i = 0; i < packets; i++) {
			waits(at_s + i * every_s, place);
			numbers_.push_back(static_cast<int>(numbers_.size()) + 1);
			arrive(&numbers_.back(), bytes, flow, can_be_marked, marks);
			tell("enqueue", place);
		}
	}
	/** The link asks for packets. */
	void departs(double at_s, int packets = 1, double every_s = 0, Place place = Place::here())
	{
		for (int i = 0; i < packets; i++) {
			waits(at_s + i * every_s, place);
			const Entry* entry = depart();
			tell("dequeue", place);
			if (entry)
				left.push_back(fate(entry));
		}
	}
	/** Time goes on, and wakes the discipline. */
	void waits(double until_s, Place place = Place::here())
	{
		if (until_s < time_s_)
			place.fail("it is " + text(time_s_) + " s already, later than " + text(until_s) + " s");
		while (wake_s() <= until_s) {
			time_s_ = wake_s();
			wake();
			tell("woken", place);
		}
		time_s_ = until_s;
	}

	virtual double now_s() const { return time_s_; }
	virtual bool mark(QueuedPacket* packet)
	{
		if (!DisciplineLedger::mark(packet))
			return false;
		const Entry* entry = static_cast<Entry*>(packet);
		if (entry->marked_s >= 0 && told_.insert(entry->packet).second)
			marked.push_back(fate(entry));
		return true;
	}

protected:
	virtual double drawn() { return 0.5; }

private:
	std::pair<int, double> fate(const Entry* entry) const
	{
		return std::make_pair(*static_cast<int*>(entry->packet), time_s_);
	}
	void tell(const char* function, Place place)
	{
		for (size_t i = 0; i < DisciplineLedger::dropped().size(); i++)
			dropped.push_back(fate(DisciplineLedger::dropped()[i]));
		if (!problem().empty())
			place.fail(std::string(function) + "() of the discipline " + problem() + ", at " + text(time_s_)
				+ " s");
	}

	double time_s_;
	std::deque<int> numbers_;
	std::set<void*> told_;
};

}

using namespace check;

#endif
