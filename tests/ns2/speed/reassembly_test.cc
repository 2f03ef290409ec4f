// The SACK sender's list of received segments, compared segment by segment with the original.
//
// Both get the same blocks: of transfers that lose single packets or every second one, whose holes
// are filled from the front, and blocks anywhere, also empty ones.
#include <stdlib.h>
#include <vector>

#include "check.h"

#define ReassemblyQueue PlainQueue
// Everything in the lists is public here.
#define class struct
#define protected public
#include "plain/rq.cc"
#undef ReassemblyQueue
#undef ns_rq_h
#include "fast/rq.cc"
#undef class
#undef protected

namespace {

// A generator of numbers (Marsaglia's xorshift) that is the same on every machine.
unsigned next_random(unsigned below)
{
	static unsigned state = 2463534242u;
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state % below;
}

// Segments in the order of numbers, then in that of their arrival.
template <class Queue> std::vector<int> state(Queue& queue)
{
	std::vector<int> all;
	all.push_back(queue.total_);
	all.push_back(queue.rcv_nxt_);
	for (typename Queue::seginfo* s = queue.head_; s; s = s->next_) {
		all.push_back(s->startseq_);
		all.push_back(s->endseq_);
		all.push_back(s->pflags_);
		all.push_back(s->cnt_);
	}
	for (typename Queue::seginfo* s = queue.top_; s; s = s->snext_)
		all.push_back(s->startseq_);
	return all;
}

// Both lists, which must agree after each step.
class Pair {
public:
	Pair() : plain_next_(0), fast_next_(0), plain_(plain_next_), fast_(fast_next_) {}
	void add(int start, int end) {
		const int flags = next_random(4);
		CHECK(plain_.add(start, end, flags) == fast_.add(start, end, flags));
	}
	void acknowledge(int next) {
		plain_next_ = fast_next_ = next;
		CHECK(plain_.cleartonxt() == fast_.cleartonxt());
	}
	void clear() {
		plain_.clear();
		fast_.clear();
	}
	void check(int from) {
		int count, bytes;
		bool followed;
		const int hole = plain_.nexthole(from, count, bytes);
		CHECK(hole == fast_.nexthole(from, followed));
		CHECK(hole < 0 || followed == (count > 0));
		CHECK(state(plain_) == state(fast_));
	}
	size_t size() { return state(plain_).size(); }
private:
	int plain_next_, fast_next_;
	PlainQueue plain_;
	ReassemblyQueue fast_;
};

// A window of packets of which some are lost; SACKs tell of three blocks, then holes are filled.
void transfer(Pair& pair, int first, int packets, int lost_of)
{
	std::vector<char> came(packets, false);
	std::vector<int> order;
	for (int i = 1; i < packets; ++i)
		if (lost_of == 2 ? i % 2 : next_random(lost_of) > 0)
			order.push_back(i);
	for (int i = 0; i < packets; ++i)
		if (i == 0 || next_random(20) > 0)	// some are lost again
			order.push_back(i);
	std::vector<int> blocks;
	int next = 0;
	for (size_t k = 0; k < order.size(); ++k) {
		came[order[k]] = true;
		blocks.push_back(order[k]);
		while (next < packets && came[next])
			++next;
		pair.acknowledge(first + next);
		for (size_t j = 0; j < 3 && j < blocks.size(); ++j) {
			int left = blocks[blocks.size() - 1 - j], right = left + 1;
			if (left < next)
				continue;
			while (left > 0 && came[left - 1])
				--left;
			while (right < packets && came[right])
				++right;
			pair.add(first + left, first + right);
		}
		pair.check(first + next);
		pair.check(first + next_random(packets));
	}
}

void anywhere(Pair& pair, int most, bool empty_ones)
{
	for (int i = 0; i < 400; ++i) {
		const int start = next_random(most);
		pair.add(start, start + !empty_ones + next_random(12));
		if (next_random(30) == 0)
			pair.acknowledge(next_random(most));
		if (next_random(150) == 0)
			pair.clear();
		pair.check(next_random(most));
	}
}

}  // namespace

int main()
{
	size_t largest = 0;
	for (int round = 0; round < 40; ++round) {
		Pair pair;
		for (int window = 0; window < 3; ++window) {
			transfer(pair, 300 * window, 300, 2 + next_random(12));
			largest = pair.size() > largest ? pair.size() : largest;
		}
	}
	for (int round = 0; round < 60; ++round) {
		Pair pair;
		anywhere(pair, round % 2 ? 500 : 5000, round % 3 == 0);
		largest = pair.size() > largest ? pair.size() : largest;
	}
	CHECK(largest > 500);
	return failures ? 1 : 0;
}
