#ifndef bdpbench_check_queue_h
#define bdpbench_check_queue_h

// Included behind the file of a discipline, it makes a program that hands it packets from standard
// input. Lines: "set NAME VALUE" for parameters; "new LIMIT MARKING DRAWS" for an empty queue;
// "arrives TIME BYTES FLOW CAN_BE_MARKED MARKED", "departs TIME" and "waits TIME", in the order of
// time, numbered in each queue from 0; "show". It prints "> new"; "> dropped NUMBER TIME",
// "> marked NUMBER TIME" and "> left NUMBER TIME" of packets numbered from 1; "> wrong EVENT FUNCTION
// WHAT" once; and for "show" "> length PACKETS BYTES".

#include <map>
#include <set>
#include <stdio.h>
#include <string>

#include "discipline_ledger.h"

namespace check_queue {

class Given : public QueueParameters {
public:
	std::map<std::string, double> values;
	virtual double operator[](const char* name) const
	{
		std::map<std::string, double>::const_iterator found = values.find(name);
		return found == values.end() ? 0 : found->second;
	}
};

class Ledger : public DisciplineLedger {
public:
	Ledger(QueueDiscipline* discipline, int limit_pkts, Marking marking, bool draws)
		: DisciplineLedger(discipline, limit_pkts, marking, draws), time_s_(0), arrived_(0), event_(0),
		  is_wrong_(false)
	{
	}
	virtual double now_s() const { return time_s_; }

	void arrives(int bytes, int flow, bool can_be_marked, bool marked)
	{
		numbers_.push_back(++arrived_);
		arrive(&numbers_.back(), bytes, flow, can_be_marked, marked);
		tell("enqueue");
	}
	void departs()
	{
		const Entry* entry = depart();
		tell("dequeue");
		if (!entry)
			return;
		show("left", entry, time_s_);
	}
	/** Time goes on, and wakes the discipline. */
	void waits(double until_s)
	{
		while (wake_s() <= until_s && !is_wrong_) {
			time_s_ = wake_s();
			wake();
			tell("woken");
		}
		time_s_ = until_s;
	}
	void next_event() { event_++; }
	virtual bool mark(QueuedPacket* packet)
	{
		if (!DisciplineLedger::mark(packet))
			return false;
		const Entry* entry = static_cast<Entry*>(packet);
		if (entry->marked_s >= 0 && marked_.insert(entry->packet).second)
			show("marked", entry, time_s_);
		return true;
	}

protected:
	virtual double drawn() { return 0.5; }

private:
	void tell(const char* function)
	{
		for (size_t i = 0; i < dropped().size(); i++)
			show("dropped", dropped()[i], time_s_);
		if (!problem().empty() && !is_wrong_)
			printf("> wrong %d %s %s\n", event_, function, problem().c_str());
		is_wrong_ = !problem().empty();
	}
	void show(const char* what, const Entry* entry, double time_s)
	{
		printf("> %s %d %.17g\n", what, *static_cast<int*>(entry->packet), time_s);
	}

	double time_s_;
	int arrived_;
	int event_;
	bool is_wrong_;
	std::deque<int> numbers_;
	std::set<void*> marked_;
};

/** Reads the rest of a line: as many numbers as are wanted. */
inline bool read_numbers(double* numbers, int count)
{
	for (int i = 0; i < count; i++)
		if (scanf("%lf", &numbers[i]) != 1)
			return false;
	return true;
}

}

int main()
{
	check_queue::Given given;
	check_queue::Ledger* queue = 0;
	char text[256], name[256];
	double v[5];
	while (scanf("%255s", text) == 1) {
		const std::string word = text;
		if (word == "set") {
			if (scanf("%255s", name) != 1 || !check_queue::read_numbers(v, 1))
				return 2;
			given.values[name] = v[0];
		} else if (word == "new") {
			if (!check_queue::read_numbers(v, 3))
				return 2;
			delete queue;
			queue = new check_queue::Ledger(bdpbench_queue(given), static_cast<int>(v[0]),
				static_cast<Marking>(static_cast<int>(v[1])), v[2] != 0);
			printf("> new\n");
		} else if (word == "show") {
			printf("> length %d %d\n", queue->length_pkts(), queue->length_bytes());
		} else {
			const bool arrives = word == "arrives";
			if (!check_queue::read_numbers(v, arrives ? 5 : 1))
				return 2;
			queue->waits(v[0]);
			if (arrives)
				queue->arrives(static_cast<int>(v[1]), static_cast<int>(v[2]), v[3] != 0, v[4] != 0);
			else if (word == "departs")
				queue->departs();
			queue->next_event();
		}
	}
	delete queue;
	printf("> end\n");
}

#endif
