// Packets in flight on one link, in order of arrival.
#ifndef bdpbench_event_lane_h
#define bdpbench_event_lane_h

#include <stddef.h>

#include "ip.h"
#include "packet.h"

class LaneScheduler;

/*
 * What the scheduler sorts: a single event, or the earliest event of a lane.
 */
struct PendingEntry {
	PendingEntry() : uid(0), event(0), lane(0), position(-1), next_free(0) {}
	scheduler_uid_t uid;	// of the event; settles which of two at the same time is first
	Event* event;		// 0 for a lane
	class EventLane* lane;	// 0 for a single event
	int position;		// in the heap of far events; -1: not in it
	PendingEntry* next_free;
};

/*
 * First-in first-out queue of packets whose (time, uid) never decrease: a ring of pointers that
 * doubles when it is full. Times and uids are read from the events themselves.
 *
 * A lane belongs to the scheduler that holds its events, and lives as long as the process: links
 * keep pointers to their lanes, and $ns use-scheduler may replace the scheduler under them.
 */
class EventLane {
public:
	EventLane() : entry(), owner(0), ring_(0), capacity_(0), first_(0), count_(0), last_time_(0) {
		entry.lane = this;
	}
	bool empty() const { return count_ == 0; }
	size_t size() const { return count_; }
	Event* front() const { return ring_[first_]; }
	Event* at(size_t i) const { return ring_[slot(i)]; }
	bool accepts(const Event* e) const {
		return count_ == 0 || last_time_ <= e->time_;
	}
	void push_back(Event* e) {
		if (count_ == capacity_)
			grow();
		ring_[slot(count_)] = e;
		last_time_ = e->time_;
		++count_;
	}
	void pop_front() {
		first_ = (first_ + 1) & (capacity_ - 1);
		--count_;
	}
	// Fetches what the next dispatches will read: thousands of packets do not stay in the
	// processor's cache while they are in flight.
	void prefetch() const {
		if (count_ > 3)
			__builtin_prefetch(at(3));
		if (count_ > 1) {
			unsigned char* headers = static_cast<Packet*>(at(1))->bits();
			__builtin_prefetch(headers + hdr_cmn::offset_);
			__builtin_prefetch(headers + hdr_ip::offset_);
		}
	}
	void erase(size_t i);
	void clear() { count_ = 0; }

	PendingEntry entry;
	LaneScheduler* owner;	// 0: its scheduler is gone
private:
	EventLane(const EventLane&);
	EventLane& operator=(const EventLane&);
	size_t slot(size_t i) const { return (first_ + i) & (capacity_ - 1); }
	void grow();

	Event** ring_;
	size_t capacity_;	// a power of two, or 0
	size_t first_;
	size_t count_;
	double last_time_;	// s, of the event that was pushed last
};

#endif
