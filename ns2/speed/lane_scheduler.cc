#include "lane_scheduler.h"

#include <string.h>

namespace {

const int children = 4;		// of a heap node: shallow, and siblings share cache lines
const int refill_entries = 128;	// taken from the heap at a time
const int block_entries = 256;	// entries allocated at a time
const int short_way = 8;	// entries of the list that are moved one by one

class LaneSchedulerClass : public TclClass {
public:
	LaneSchedulerClass() : TclClass("Scheduler/Lanes") {}
	TclObject* create(int, const char*const*) { return new LaneScheduler; }
} lane_scheduler_class;

}  // namespace

LaneScheduler::LaneScheduler() : near_size_(0), free_(0), chance_(2463534242u)
{
	has_lanes_ = true;
	bind("keep_routes_", &keep_routes_);
}

// Heads or tails, by Marsaglia's xorshift, which no random number of a script depends on.
bool LaneScheduler::chance()
{
	chance_ ^= chance_ << 13;
	chance_ ^= chance_ >> 17;
	chance_ ^= chance_ << 5;
	return chance_ & 1;
}

// Pending events are lost with any scheduler of ns-2; the lanes can be adopted by the next one.
LaneScheduler::~LaneScheduler()
{
	while (!reserved_.empty()) {
		Event* e = reserved_.back();
		unreserve(e);
		e->handler_->unreserved(e, false);
	}
	for (size_t i = 0; i < lanes_.size(); ++i) {
		lanes_[i]->clear();
		lanes_[i]->entry.position = -1;
		lanes_[i]->owner = 0;
	}
	for (size_t i = 0; i < blocks_.size(); ++i)
		delete[] blocks_[i];
}

void LaneScheduler::reset()
{
	settle_all();	// before the clock is set back
	dispatched_ = 0;
	Scheduler::reset();
}

inline PendingEntry* LaneScheduler::new_entry(Event* e)
{
	if (free_ == 0)
		allocate_entries();
	PendingEntry* entry = free_;
	free_ = entry->next_free;
	entry->event = e;
	return entry;
}

void LaneScheduler::insert(Event* e)
{
	PendingEntry* entry = new_entry(e);
	e->prev_ = reinterpret_cast<Event*>(entry);
	add(Key(e, entry));
}

void LaneScheduler::adopt(EventLane*& lane)
{
	if (lane == 0)
		lane = new EventLane;
	lane->owner = this;
	lanes_.push_back(lane);
}

void LaneScheduler::deliver_copies()
{
	const size_t few = 4;	// which are not worth a lane
	if (copies_.size() < few) {
		for (size_t i = 0; i < copies_.size(); ++i)
			LaneScheduler::insert(copies_[i]);
	} else {
		size_t i = 0;
		while (i < flights_.size() && !flights_[i]->empty())
			++i;
		if (i == flights_.size()) {
			EventLane* lane = 0;
			adopt(lane);
			flights_.push_back(lane);
		}
		// By insertion: nodes are listed by their position, so many are in order.
		for (size_t j = 1; j < copies_.size(); ++j) {
			Event* copy = copies_[j];
			size_t to = j;
			for (; to > 0 && copies_[to - 1]->time_ > copy->time_; --to)
				copies_[to] = copies_[to - 1];
			copies_[to] = copy;
		}
		for (size_t j = 0; j < copies_.size(); ++j) {
			copies_[j]->prev_ = 0;
			flights_[i]->push_back(copies_[j]);
		}
		add(Key(flights_[i]));
	}
	copies_.clear();
}

void LaneScheduler::sort(EventLane* lane)
{
	add(Key(lane));
}

inline void LaneScheduler::add_near(const Key& key)
{
	int i = near_size_++;
	const int stop = i > short_way ? i - short_way : 0;
	for (; i > stop && near_[i - 1].before(key); --i)
		near_[i] = near_[i - 1];
	if (i == stop && i > 0 && near_[i - 1].before(key)) {
		int to = near_place(key, i - 1);
		memmove(static_cast<void*>(&near_[to + 1]), &near_[to], (i - to) * sizeof(Key));
		i = to;
	}
	near_[i] = key;
}

// The first entry of the list that is before a key, or its end.
int LaneScheduler::near_place(const Key& key, int end) const
{
	int first = 0;
	while (first < end) {
		int middle = (first + end) / 2;
		if (near_[middle].before(key))
			end = middle;
		else
			first = middle + 1;
	}
	return first;
}

// The event of an entry that was just removed.
inline Event* LaneScheduler::take(PendingEntry* entry)
{
	Event* e = entry->event;
	free_entry(entry);
	e->next_ = e->prev_ = 0;
	return e;
}

// The same for a lane's entry, which the next event of the lane takes over.
inline Event* LaneScheduler::take_from(EventLane* lane)
{
	Event* e = lane->entry.event;
	lane->prefetch();
	lane->pop_front();
	if (!lane->empty()) {
		Key next(lane);
		// The entry left room in the list.
		if (near_size_ > 0 && next.before(near_[0]))
			add_near(next);
		else
			add(next);
	}
	return e;
}

// The event that is due, which is taken out of the queue, or 0.
inline Event* LaneScheduler::next()
{
	for (;;) {
		if (near_size_ == 0 && !refill()) {
			if (reserved_.empty())
				return 0;
			// The clock must reach the last of these.
			settle_all();
			continue;
		}
		PendingEntry* entry = near_[--near_size_].entry;
		if (entry->lane)
			return take_from(entry->lane);
		if (!is_early(entry))
			return take(entry);
		add(Key(entry->event, entry));
	}
}

Event* LaneScheduler::deque()
{
	return next();
}

void LaneScheduler::run()
{
	instance_ = this;
	// halted_ is checked first: "resume" would miss an event that was taken but not dispatched.
	while (!halted_) {
		Event* e = next();
		if (e == 0)
			break;
		dispatch(e, e->time_);
	}
	settle_all();
}

const Event* LaneScheduler::head()
{
	settle_all();
	while (near_size_ > 0 || refill()) {
		PendingEntry* entry = near_[near_size_ - 1].entry;
		if (!is_early(entry))
			return entry->event;
		--near_size_;
		add(Key(entry->event, entry));
	}
	return 0;
}

// Takes the event out of the queue, if it is in it; the caller frees it.
void LaneScheduler::cancel(Event* e)
{
	if (e->uid_ <= 0)
		return;
	PendingEntry* entry = reinterpret_cast<PendingEntry*>(e->prev_);
	if (is_reserved(e)) {
		unreserve(e);
		e->handler_->unreserved(e, false);
	} else if (entry) {
		remove(entry);
		free_entry(entry);
	} else {
		size_t i = 0;
		while (i < lanes_.size() && !cancel_in_lane(lanes_[i], e))
			++i;
	}
	e->uid_ = -e->uid_;
	e->next_ = e->prev_ = 0;
}

void LaneScheduler::cancel(Event* e, EventLane* lane)
{
	if (e->uid_ > 0 && e->prev_ == 0 && lane && lane->owner == this && cancel_in_lane(lane, e)) {
		e->uid_ = -e->uid_;
		e->next_ = 0;
	} else {
		cancel(e);
	}
}

bool LaneScheduler::cancel_in_lane(EventLane* lane, Event* e)
{
	size_t i = 0;
	while (i < lane->size() && lane->at(i) != e)
		++i;
	if (i == lane->size())
		return false;
	lane->erase(i);
	if (i == 0) {
		remove(&lane->entry);
		if (!lane->empty())
			add(Key(lane));
	}
	return true;
}

Event* LaneScheduler::lookup(scheduler_uid_t uid)
{
	settle_all();
	for (int i = 0; i < near_size_; ++i)
		if (near_[i].entry->event->uid_ == uid)
			return near_[i].entry->event;
	for (size_t i = 0; i < far_.size(); ++i)
		if (far_[i].entry->event->uid_ == uid)
			return far_[i].entry->event;
	for (size_t i = 0; i < lanes_.size(); ++i)
		for (size_t j = 1; j < lanes_[i]->size(); ++j)
			if (lanes_[i]->at(j)->uid_ == uid)
				return lanes_[i]->at(j);
	return 0;
}

// ---------------------------------------------------------------- reserved events

// Does nothing for an event that is not reserved.
void LaneScheduler::settle(Event* e)
{
	if (!is_reserved(e))
		return;
	unreserve(e);
	if (passed(e)) {
		e->uid_ = -e->uid_;
		e->handler_->unreserved(e, true);
	} else {
		e->handler_->unreserved(e, false);
		insert(e);
	}
}

void LaneScheduler::settle_all()
{
	while (!reserved_.empty())
		settle(reserved_.back());
}

// ---------------------------------------------------------------- near and far entries

void LaneScheduler::add(const Key& key)
{
	bool near = near_size_ > 0 ? key.before(near_[0]) : far_.empty() || key.before(far_[0]);
	if (!near && (near_size_ == 0 || near_size_ == near_capacity || !far_.empty())) {
		push_far(key);
		return;
	}
	if (near_size_ == near_capacity) {
		push_far(near_[0]);
		for (int i = 1; i < near_size_; ++i)
			near_[i - 1] = near_[i];
		--near_size_;
	}
	add_near(key);
}

// Moves the earliest far entries to the empty list; false if there are none.
bool LaneScheduler::refill()
{
	int count = far_.size() < size_t(refill_entries) ? far_.size() : refill_entries;
	near_size_ = count;
	for (int i = count - 1; i >= 0; --i) {
		near_[i] = far_[0];
		EventLane::fetch(near_[i].entry->event);
		remove_far(0);
	}
	return count > 0;
}

void LaneScheduler::remove(PendingEntry* entry)
{
	if (entry->position >= 0) {
		remove_far(entry->position);
		return;
	}
	int i = is_early(entry) ? 0 : near_place(Key(entry->event, entry), near_size_) - 1;
	if (i < 0 || near_[i].entry != entry)
		for (i = 0; near_[i].entry != entry; ++i) {}
	--near_size_;
	memmove(static_cast<void*>(&near_[i]), &near_[i + 1], (near_size_ - i) * sizeof(Key));
}

// ---------------------------------------------------------------- heap

void LaneScheduler::push_far(const Key& key)
{
	far_.push_back(key);
	sift_up(key, far_.size() - 1);
}

void LaneScheduler::remove_far(int position)
{
	far_[position].entry->position = -1;
	Key last = far_.back();
	far_.pop_back();
	int size = far_.size();
	if (position == size)
		return;
	if (position > 0 && last.before(far_[(position - 1) / children]))
		sift_up(last, position);
	else
		sift_down(last, position);
}

inline void LaneScheduler::place(const Key& key, int position)
{
	far_[position] = key;
	key.entry->position = position;
}

void LaneScheduler::sift_up(Key key, int position)
{
	while (position > 0) {
		int parent = (position - 1) / children;
		if (!key.before(far_[parent]))
			break;
		place(far_[parent], position);
		position = parent;
	}
	place(key, position);
}

void LaneScheduler::sift_down(Key key, int position)
{
	const int size = far_.size();
	for (;;) {
		int child = children * position + 1;
		if (child >= size)
			break;
		int last = child + children < size ? child + children : size;
		int least = child;
		for (++child; child < last; ++child)
			if (far_[child].before(far_[least]))
				least = child;
		if (!far_[least].before(key))
			break;
		place(far_[least], position);
		position = least;
	}
	place(key, position);
}

// ---------------------------------------------------------------- entries

void LaneScheduler::allocate_entries()
{
	PendingEntry* block = new PendingEntry[block_entries];
	blocks_.push_back(block);
	for (int i = block_entries - 1; i >= 0; --i)
		free_entry(&block[i]);
}

void LaneScheduler::free_entry(PendingEntry* entry)
{
	entry->event = 0;
	entry->next_free = free_;
	free_ = entry;
}
