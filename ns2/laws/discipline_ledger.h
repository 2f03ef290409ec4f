#ifndef bdpbench_discipline_ledger_h
#define bdpbench_discipline_ledger_h

#include <algorithm>
#include <deque>
#include <math.h>
#include <stdio.h>
#include <string>
#include <vector>

#include "queue_discipline.h"

/** Whether a discipline may mark packets, and whether those of this run can be marked. */
enum Marking { NEVER_MARKS, MARKS_NOTHING_HERE, MARKS };

/**
 * Calls a discipline, and keeps account of its packets: each leaves or is dropped, once.
 * The queue of ns-2 and the program that checks values by hand are subclasses, which
 * know the time and which packet stands behind each entry.
 */
class DisciplineLedger : public LinkQueue {
public:
	/** A packet and what has become of it. */
	struct Entry : public QueuedPacket {
		enum State { ARRIVING, HELD, GONE };
		const DisciplineLedger* owner;
		State state;
		double marked_s;	// -1 if it was not marked here
		void* packet;
	};

	/** `draws`: whether the discipline may use random numbers. */
	DisciplineLedger(QueueDiscipline* discipline, int limit_pkts, Marking marking, bool draws)
		: discipline_(discipline), limit_pkts_(limit_pkts), marking_(marking), draws_(draws),
		  length_pkts_(0), length_bytes_(0), wake_s_(HUGE_VAL)
	{
	}
	virtual ~DisciplineLedger() { delete discipline_; }

	void arrive(void* packet, int bytes, int flow, bool can_be_marked, bool marked)
	{
		Entry* entry = blank();
		entry->bytes = bytes;
		entry->flow = flow;
		entry->can_be_marked = can_be_marked;
		entry->marked = marked;
		entry->arrived_s = now_s();
		entry->owner = this;
		entry->state = Entry::ARRIVING;
		entry->marked_s = -1;
		entry->packet = packet;
		dropped_.clear();
		discipline_->enqueue(entry, *this);
		if (entry->state == Entry::ARRIVING) {
			entry->state = Entry::HELD;
			length_pkts_++;
			length_bytes_ += entry->bytes;
		}
		if (length_pkts_ > limit_pkts_)
			blame("has " + number(length_pkts_) + " packets that it has neither dropped nor let leave, where "
				"there is room for " + number(limit_pkts_));
	}

	/** The packet that leaves, or 0; its entry is valid until the next call. */
	Entry* depart()
	{
		dropped_.clear();
		Entry* entry = static_cast<Entry*>(discipline_->dequeue(*this));
		if (!entry) {
			if (length_pkts_ > 0 && wake_s_ == HUGE_VAL)
				blame("returned no packet, set no time by wake_at(), and has " + number(length_pkts_)
					+ " that it has neither dropped nor let leave");
			return 0;
		}
		if (!holds(entry)) {
			blame("returned a packet that it no longer has: it has left or was dropped before");
			return 0;
		}
		remove(entry);
		return entry;
	}

	void wake()
	{
		dropped_.clear();
		wake_s_ = HUGE_VAL;
		discipline_->woken(*this);
	}

	/** What was wrong in the last call; "" if nothing was. */
	const std::string& problem() const { return problem_; }
	/** The packets that were dropped in the last call. */
	const std::vector<Entry*>& dropped() const { return dropped_; }
	/** When it has to be woken; infinite if not at all. */
	double wake_s() const { return wake_s_; }

	virtual int length_pkts() const { return length_pkts_; }
	virtual int length_bytes() const { return length_bytes_; }
	virtual int limit_pkts() const { return limit_pkts_; }
	virtual void drop(QueuedPacket* packet)
	{
		Entry* entry = static_cast<Entry*>(packet);
		if (entry && entry->owner == this && entry->state == Entry::ARRIVING)
			retire(entry);
		else if (entry && holds(entry))
			remove(entry);
		else {
			blame("dropped a packet that it does not have");
			return;
		}
		dropped_.push_back(entry);
	}
	virtual bool mark(QueuedPacket* packet)
	{
		Entry* entry = static_cast<Entry*>(packet);
		if (marking_ == NEVER_MARKS)
			blame("marked a packet, and queue.yaml does not say `marks: true`");
		else if (!entry || entry->owner != this || entry->state == Entry::GONE)
			blame("marked a packet that it does not have");
		else if (marking_ == MARKS && entry->can_be_marked) {
			if (!entry->marked)
				entry->marked_s = now_s();
			return entry->marked = true;
		}
		return false;
	}
	virtual void wake_at(double time_s)
	{
		if (time_s != time_s || time_s <= now_s())
			blame("called wake_at() with a time that is not later than now");
		else
			wake_s_ = std::max(time_s, now_s() + 1e-6);	// so that simulated time goes on
	}
	virtual double random()
	{
		if (!draws_)
			blame("used a random number, and queue.yaml does not say `random: true`");
		return drawn();
	}

protected:
	virtual double drawn() = 0;

private:
	static const unsigned FEWEST_BLANKS = 64;

	DisciplineLedger(const DisciplineLedger&);
	DisciplineLedger& operator=(const DisciplineLedger&);

	bool holds(const Entry* entry) const { return entry->owner == this && entry->state == Entry::HELD; }

	// Entries of packets that are gone rest for a while, so that a second use of one is noticed.
	Entry* blank()
	{
		if (gone_.size() > FEWEST_BLANKS) {
			Entry* entry = gone_.front();
			gone_.pop_front();
			return entry;
		}
		entries_.push_back(Entry());
		return &entries_.back();
	}
	void remove(Entry* entry)
	{
		length_pkts_--;
		length_bytes_ -= entry->bytes;
		retire(entry);
	}
	void retire(Entry* entry)
	{
		entry->state = Entry::GONE;
		gone_.push_back(entry);
	}
	static std::string number(int value)
	{
		char text[16];
		snprintf(text, sizeof text, "%d", value);
		return text;
	}
	// Only the first: what follows comes of it.
	void blame(const std::string& problem)
	{
		if (problem_.empty())
			problem_ = problem;
	}

	QueueDiscipline* discipline_;
	const int limit_pkts_;
	const Marking marking_;
	const bool draws_;
	int length_pkts_;
	int length_bytes_;
	double wake_s_;
	std::string problem_;
	std::vector<Entry*> dropped_;
	std::deque<Entry> entries_;
	std::deque<Entry*> gone_;
};

#endif
