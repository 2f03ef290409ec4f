#include "event_lane.h"

// Removes event i; the events after it move up.
void EventLane::erase(size_t i)
{
	for (; i + 1 < count_; ++i)
		ring_[slot(i)] = ring_[slot(i + 1)];
	--count_;
}

void EventLane::grow()
{
	size_t capacity = capacity_ ? 2 * capacity_ : 16;
	Arrival* ring = new Arrival[capacity];
	for (size_t i = 0; i < count_; ++i)
		ring[i] = ring_[slot(i)];
	delete[] ring_;
	ring_ = ring;
	capacity_ = capacity;
	first_ = 0;
}
