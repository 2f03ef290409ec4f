// The slots that a hash classifier found last.
#ifndef bdpbench_slot_memo_h
#define bdpbench_slot_memo_h

/*
 * Slots of a few flows. A flow is everything that a hash classifier's key depends on, including its
 * bound variables shift_ and mask_, which a script may change any time. The classifier clears the
 * memo when it changes its table. Slots below 0 are not kept.
 */
class SlotMemo {
public:
	struct Flow {
		Flow(int a_src, int a_dst, int a_fid, int a_shift, int a_mask) : src(a_src),
			dst(a_dst), fid(a_fid), shift(a_shift), mask(a_mask) {}
		bool operator==(const Flow& o) const {
			return src == o.src && dst == o.dst && fid == o.fid && shift == o.shift &&
				mask == o.mask;
		}
		int src, dst, fid, shift, mask;
	};

	SlotMemo() { clear(); }
	void clear() {
		for (int i = 0; i < places; ++i)
			memo_[i].slot = -1;
	}
	// -1 where it is not kept
	long slot(const Flow& flow) const {
		const Place& place = memo_[index(flow)];
		return place.flow == flow ? place.slot : -1;
	}
	long keep(const Flow& flow, long slot) {
		Place& place = memo_[index(flow)];
		place.flow = flow;
		place.slot = slot;
		return slot;
	}
private:
	enum { places = 8 };
	struct Place {
		Place() : flow(0, 0, 0, 0, 0), slot(-1) {}
		Flow flow;
		long slot;
	} memo_[places];
	static unsigned index(const Flow& flow) {
		return unsigned(flow.src + 3 * flow.dst + 5 * flow.fid) % places;
	}
};

#endif
