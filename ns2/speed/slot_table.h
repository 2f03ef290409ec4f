// Slots of a classifier whose keys are numbers from 0 on.
#ifndef bdpbench_slot_table_h
#define bdpbench_slot_table_h

#include <string.h>

/*
 * Two bytes for each number up to the highest one, as long as a good part of them are keys: each
 * node has an entry for each other node. Other keys, and slots that two bytes cannot hold, belong
 * in the classifier's hash table, where an entry takes 48 bytes.
 */
class SlotTable {
public:
	SlotTable() : slots_(0), places_(0), filled_(0) {}
	~SlotTable() { delete[] slots_; }
	void clear() {
		delete[] slots_;
		slots_ = 0;
		places_ = filled_ = 0;
	}
	// -1: there is none.
	long slot(long key) const {
		return key >= 0 && key < places_ && slots_[key] != none ? slots_[key] : -1;
	}
	// Returns false if the entry belongs elsewhere; then there is none here.
	bool set(long key, long slot) {
		if (key < 0 || key >= 2 * filled_ + few || slot < 0 || slot >= none) {
			remove(key);
			return false;
		}
		if (key >= places_)
			grow(key);
		filled_ += slots_[key] == none;
		slots_[key] = slot;
		return true;
	}
	void remove(long key) {
		if (slot(key) < 0)
			return;
		slots_[key] = none;
		--filled_;
	}
private:
	enum { none = 0xffff, few = 32 };
	SlotTable(const SlotTable&);
	SlotTable& operator=(const SlotTable&);

	void grow(long key) {
		long places = few;
		while (places <= key)
			places *= 2;
		unsigned short* slots = new unsigned short[places];
		memset(slots, 0xff, places * sizeof(*slots));
		if (places_ > 0)
			memcpy(slots, slots_, places_ * sizeof(*slots));
		delete[] slots_;
		slots_ = slots;
		places_ = places;
	}

	unsigned short* slots_;
	long places_, filled_;
};

#endif
