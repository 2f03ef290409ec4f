#ifndef bdpbench_check_queue_h
#define bdpbench_check_queue_h

// Included behind the file of a discipline, it makes a program that hands it packets from standard
// input. Lines: "set NAME VALUE" for parameters; "new LIMIT MARKING DRAWS" for an empty queue;
// "arrives TIME BYTES FLOW CAN_BE_MARKED MARKED", "departs TIME" and "waits TIME", in the order of
// time, numbered in each queue from 0; "show". It prints "> new"; "> dropped NUMBER TIME",
// "> marked NUMBER TIME" and "> left NUMBER TIME" of packets numbered from 1; "> wrong EVENT FUNCTION
// WHAT" once; and for "show" "> length PACKETS BYTES".

#include <iostream>
#include <map>
#include <set>
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
			std::cout << "> wrong " << event_ << " " << function << " " << problem() << "\n";
		is_wrong_ = !problem().empty();
	}
	void show(const char* what, const Entry* entry, double time_s)
	{
		std::cout << "> " << what << " " << *static_cast<int*>(entry->packet) << " " << time_s << "\n";
	}

	double time_s_;
	int arrived_;
	int event_;
	bool is_wrong_;
	std::deque<int> numbers_;
	std::set<void*> marked_;
};

}

int main()
{
	check_queue::Given given;
	check_queue::Ledger* queue = 0;
	std::cout.precision(17);
	for (std::string word; std::cin >> word;) {
		if (word == "set") {
			std::string name, value;
			std::cin >> name >> value;
			given.values[name] = std::stod(value);
		} else if (word == "new") {
			int limit_pkts, marking, draws;
			std::cin >> limit_pkts >> marking >> draws;
			delete queue;
			queue = new check_queue::Ledger(bdpbench_queue(given), limit_pkts,
				static_cast<Marking>(marking), draws != 0);
			std::cout << "> new\n";
		} else if (word == "show") {
			std::cout << "> length " << queue->length_pkts() << " " << queue->length_bytes() << "\n";
		} else {
			double time_s;
			std::cin >> time_s;
			queue->waits(time_s);
			if (word == "arrives") {
				int bytes, flow, can_be_marked, marked;
				std::cin >> bytes >> flow >> can_be_marked >> marked;
				queue->arrives(bytes, flow, can_be_marked != 0, marked != 0);
			} else if (word == "departs") {
				queue->departs();
			} else if (word != "waits") {
				return 2;
			}
			queue->next_event();
		}
	}
	delete queue;
	std::cout << "> end\n";
}

#endif
