// Scheduler/Lanes: a short sorted list and a small heap over the first-in first-out lanes of links.
#ifndef bdpbench_lane_scheduler_h
#define bdpbench_lane_scheduler_h

#include <vector>

#include "event_lane.h"

/*
 * Dispatches events in the order of (time, uid), which is the calendar queue's order: that appends
 * an event behind those of the same time, and uids count the calls of schedule().
 *
 * Nearly all pending events of a wired simulation are packets in flight, and those of one link
 * arrive in the order in which they were sent, because the link's delay is constant. So each link
 * has a lane, and only its earliest packet is sorted among the other events: tens of entries where
 * the calendar queue holds thousands. An arrival before the lane's last one (the link's delay or
 * bandwidth was changed) becomes an entry of its own.
 *
 * Of the entries the earliest are in a sorted list: links schedule a transmission time ahead, so that
 * an insertion moves few entries and a removal none. The others, among them timers and `at` events of
 * the far future, are in a heap; all of them are later than the list's. The list takes so many that
 * few go through the heap: moving a hundred entries along takes less time than one sifted down.
 *
 * The copies that a radio channel sends to many nodes at once are sorted and take a lane of their own,
 * which is used again when it is empty.
 *
 * A reserved event has a time and a uid, but is not dispatched unless somebody needs it: most links
 * find nothing to send when they have sent a packet. Its handler is told so, or the event is
 * inserted after all, by settle(): a queue calls it when a packet comes, and settle_all() is called
 * before every `at` event and when a run ends, so that scripts see no difference.
 *
 * A timer that is set again, always to a later time, keeps its place: postpone() changes time and uid
 * of the event alone. Its entry comes up too early and is then put where the event belongs.
 *
 * Event::prev_ of a pending event points to its PendingEntry, or is 0 for an event in a lane. That
 * of a reserved event points to the event itself, and its next_ to its place in reserved_.
 */
class LaneScheduler : public Scheduler {
public:
	LaneScheduler();
	~LaneScheduler();
	// The one that runs the simulation, or 0.
	static LaneScheduler* running() {
		return instance_ && instance_->has_lanes() ?
			static_cast<LaneScheduler*>(instance_) : 0;
	}
	void run();
	void insert(Event*);
	// Schedules a packet that travels over a link.
	void deliver(Handler* h, Event* packet, double delay, EventLane*& lane) {
		stamp(h, packet, delay);
		LaneScheduler::append(packet, lane);
	}
	void append(Event*, EventLane*&);
	// As schedule(), without virtual calls.
	void schedule_single(Handler* h, Event* e, double delay) {
		stamp(h, e, delay);
		LaneScheduler::insert(e);
	}
	// Schedules a copy of a packet that is sent to many at once. All copies must follow each other,
	// and then deliver_copies().
	void deliver_copy(Handler* h, Event* packet, double delay) {
		stamp(h, packet, delay);
		copies_.push_back(packet);
	}
	void deliver_copies();
	// cancel() of an event that may be in a lane.
	void cancel(Event*, EventLane*);
	bool reserve(Handler*, Event*, double delay);
	void settle(Event*);
	void settle_all();
	// Whether a reserved event would have been dispatched by now.
	bool passed(const Event* e) const {
		return e->time_ < clock_ || (e->time_ == clock_ && e->uid_ < dispatched_);
	}
	// Ends the reservation of an event that would have been dispatched.
	void withdraw(Event* e) {
		unreserve(e);
		e->uid_ = -e->uid_;
	}
	// Cancels a pending event and schedules it again, if it is not due earlier then. Otherwise
	// it does nothing and returns false.
	bool postpone(Event* e, double delay) {
		double t = clock_ + delay;
		if (e->uid_ <= 0 || e->prev_ == 0 || is_reserved(e) || !(t >= e->time_) || uid_ < 0)
			return false;
		e->uid_ = uid_++;
		e->time_ = t;
		return true;
	}
	// Whether deliver_last() may be called.
	__attribute__((always_inline)) bool has_last(const EventLane* lane, double delay) const {
		return lane && lane->owner == this && !lane->is_full() &&
			lane->accepts(clock_ + delay) && uid_ >= 0;
	}
	// deliver() of a packet that is not pending and that arrives as the last one of the lane,
	// except that a lane that was empty still has to be sorted.
	__attribute__((always_inline)) void deliver_last(Handler* h, Event* packet, double delay,
		EventLane* lane) {
		packet->uid_ = uid_++;
		packet->handler_ = h;
		packet->time_ = clock_ + delay;
		packet->prev_ = 0;
		lane->push_into(packet);
	}
	// Sorts a lane that has got its first packet.
	__attribute__((noinline)) void sort(EventLane* lane);
	// Reserves a reserved event again that would have been dispatched by now.
	void renew(Event* e, double delay) {
		e->uid_ = uid_++;
		e->time_ = clock_ + delay;
	}
	// Whether a packet takes the route that is kept for it, see speed/kept_routes.h.
	bool takes_kept_route() { return keep_routes_ == always || (keep_routes_ && chance()); }
	bool takes_all_kept_routes() const { return keep_routes_ == always; }
	void reset();
	void cancel(Event*);
	Event* lookup(scheduler_uid_t uid);
	Event* deque();
	const Event* head();
private:
	struct Key {
		Key() : time(0), entry(0) {}
		Key(const Event* e, PendingEntry* an_entry) : time(e->time_), entry(an_entry) {
			entry->uid = e->uid_;
		}
		explicit Key(EventLane* lane) : time(lane->front().time), entry(&lane->entry) {
			entry->uid = lane->front().uid;
			entry->event = lane->front().event;
		}
		// Member by member: a copy of 16 bytes at once waits for stores of 8 before it.
		Key(const Key& other) : time(other.time), entry(other.entry) {}
		Key& operator=(const Key& other) {
			time = other.time;
			entry = other.entry;
			return *this;
		}
		bool before(const Key& other) const {
			return time < other.time ||
				(time == other.time && entry->uid < other.entry->uid);
		}
		double time;		// s
		PendingEntry* entry;
	};

	LaneScheduler(const LaneScheduler&);
	LaneScheduler& operator=(const LaneScheduler&);
	static bool is_early(const PendingEntry* entry) {
		return entry->uid != entry->event->uid_;
	}
	__attribute__((always_inline)) Event* next();
	Event* take(PendingEntry* entry);
	__attribute__((always_inline)) Event* take_from(EventLane* lane);
	void adopt(EventLane*&);
	bool cancel_in_lane(EventLane*, Event*);
	bool is_reserved(const Event* e) const { return e->prev_ == e; }
	void unreserve(Event*);

	__attribute__((noinline)) void add(const Key&);
	void add_near(const Key&);
	__attribute__((noinline)) int near_place(const Key&, int end) const;
	__attribute__((noinline)) bool refill();
	void remove(PendingEntry*);

	void push_far(const Key&);
	void remove_far(int position);
	void place(const Key& key, int position);
	void sift_up(Key key, int position);
	void sift_down(Key key, int position);

	PendingEntry* new_entry(Event*);
	__attribute__((noinline)) void allocate_entries();
	void free_entry(PendingEntry*);

	// The values of the bound variable; `sometimes` compares both ways in tests.
	enum { never = 0, always = 1, sometimes = 2 };
	__attribute__((noinline)) bool chance();

	enum { near_capacity = 256 };
	Key near_[near_capacity];	// the earliest entry is the last one
	int near_size_;
	std::vector<Key> far_;		// heap: each node is before its children
	PendingEntry* free_;		// unused entries, a list
	std::vector<PendingEntry*> blocks_;	// where entries were allocated
	std::vector<EventLane*> lanes_;
	std::vector<Event*> copies_;	// that are being sent
	std::vector<EventLane*> flights_;	// each with the copies of one packet, or empty
	std::vector<Event*> reserved_;
	int keep_routes_;
	unsigned chance_;
};

// insert() with a hint: events given with the same lane mostly come in the order of their times.
inline void LaneScheduler::append(Event* e, EventLane*& lane)
{
	if (lane == 0 || lane->owner == 0)
		adopt(lane);
	if (lane->owner != this || !lane->accepts(e)) {
		insert(e);
		return;
	}
	e->prev_ = 0;
	lane->push_back(e);
	if (lane->size() == 1)
		add(Key(lane));
}

inline bool LaneScheduler::reserve(Handler* h, Event* e, double delay)
{
	stamp(h, e, delay);
	e->prev_ = e;
	e->next_ = reinterpret_cast<Event*>(reserved_.size());
	reserved_.push_back(e);
	return true;
}

// Takes it out of the list; the last one takes its place.
inline void LaneScheduler::unreserve(Event* e)
{
	size_t place = reinterpret_cast<size_t>(e->next_);
	reserved_[place] = reserved_.back();
	reserved_[place]->next_ = reinterpret_cast<Event*>(place);
	reserved_.pop_back();
	e->next_ = e->prev_ = 0;
}

#endif
