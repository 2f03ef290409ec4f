// Packets in flight on one link, or other events of one kind, in the order of their times.
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
	scheduler_uid_t uid;	// of the event; decides which of two at the same time is first
	Event* event;
	class EventLane* lane;	// whose first event it is; 0 for a single event
	int position;		// in the heap of far events; -1: not in it
	PendingEntry* next_free;
};

/*
 * First-in first-out queue of packets whose (time, uid) never decrease: a ring that doubles when it
 * is full. It holds copies of times and uids, so that packets are not touched while they are in
 * flight: thousands of them do not stay in the processor's cache.
 *
 * A lane belongs to the scheduler that holds its events, and lives as long as the process: links
 * keep pointers to their lanes, and $ns use-scheduler may replace the scheduler under them.
 */
class EventLane {
public:
	struct Arrival {
		double time;		// s
		Event* event;		// a packet
		scheduler_uid_t uid;
	};

	EventLane() : entry(), owner(0), ring_(0), capacity_(0), first_(0), count_(0), last_time_(0) {
		entry.lane = this;
	}
	bool empty() const { return count_ == 0; }
	size_t size() const { return count_; }
	const Arrival& front() const { return ring_[first_]; }
	Event* at(size_t i) const { return ring_[slot(i)].event; }
	bool accepts(const Event* e) const { return accepts(e->time_); }
	bool accepts(double time) const { return count_ == 0 || last_time_ <= time; }
	bool is_full() const { return count_ == capacity_; }
	void push_back(Event* e) {
		if (is_full())
			grow();
		push_into(e);
	}
	// push_back() for a lane that is not full.
	__attribute__((always_inline)) void push_into(Event* e) {
		Arrival& last = ring_[slot(count_)];
		last.time = e->time_;
		last.event = e;
		last.uid = e->uid_;
		last_time_ = e->time_;
		++count_;
	}
	void pop_front() {
		first_ = (first_ + 1) & (capacity_ - 1);
		--count_;
	}
	// Fetches the data that the dispatch of a packet reads first. Always inline: a compiler that
	// finds nothing but fetches in a function takes it for one without effect and drops its calls.
	__attribute__((always_inline)) static void fetch(const Event* event) {
		const char* packet = reinterpret_cast<const char*>(event);
		const char* headers = packet + Packet::header_place;
		__builtin_prefetch(packet);
		__builtin_prefetch(headers + hdr_cmn::offset_);
		// The IP header and what follows it: TCP's ends there with a line of its own.
		__builtin_prefetch(headers + hdr_ip::offset_);
		__builtin_prefetch(headers + hdr_ip::offset_ + cache_line);
	}
	// Fetches a packet that will arrive soon, and the place of a later one in the ring.
	__attribute__((always_inline)) void prefetch() const {
		if (count_ > prefetch_distance) {
			__builtin_prefetch(&ring_[slot(ring_distance)]);
			fetch(at(prefetch_distance));
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

	enum { prefetch_distance = 3, ring_distance = 6 };	// arrivals
	enum { cache_line = 64 };	// bytes
	Arrival* ring_;
	size_t capacity_;	// a power of two, or 0
	size_t first_;
	size_t count_;
	double last_time_;	// s, of the event that was pushed last
};

#endif
