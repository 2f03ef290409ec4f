// Which packets of a receiver's window have arrived, one bit for each.
#ifndef bdpbench_seen_bits_h
#define bdpbench_seen_bits_h

#include <stdint.h>

#include <vector>

/*
 * A ring of bits for sequence numbers, 64 of which are checked in one step. Its size is a power of
 * two and at least 64; a number's place is its remainder, whatever the window is.
 */
class SeenBits {
public:
	explicit SeenBits(int size) : words_(size / 64, 0), mask_(size - 1) {}
	// All unseen.
	void reset(int size) {
		words_.assign(size / 64, 0);
		mask_ = size - 1;
	}
	void set(int seqno, bool seen) {
		uint64_t& word = words_[place(seqno) / 64];
		uint64_t bit = uint64_t(1) << place(seqno) % 64;
		word = seen ? word | bit : word & ~bit;
	}
	// The first of seqno..last that is unseen, or last + 1.
	int first_unseen(int seqno, int last) const {
		while (seqno <= last) {
			uint64_t unseen = ~words_[place(seqno) / 64] >> place(seqno) % 64;
			if (unseen) {
				int found = seqno + __builtin_ctzll(unseen);
				return found <= last ? found : last + 1;
			}
			seqno += 64 - place(seqno) % 64;
		}
		return last + 1;
	}
	// The last of first..seqno that is unseen, or first - 1.
	int last_unseen(int first, int seqno) const {
		while (seqno >= first) {
			uint64_t unseen = ~words_[place(seqno) / 64] << (63 - place(seqno) % 64);
			if (unseen) {
				int found = seqno - __builtin_clzll(unseen);
				return found >= first ? found : first - 1;
			}
			seqno -= place(seqno) % 64 + 1;
		}
		return first - 1;
	}
private:
	unsigned place(int seqno) const { return unsigned(seqno) & mask_; }
	std::vector<uint64_t> words_;
	unsigned mask_;
};

#endif
