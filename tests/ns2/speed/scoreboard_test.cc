// TCP/Linux's scoreboard with stretches, compared node by node with the original of the archive.
//
// Both get the same events of transfers over a path that loses packets, also retransmitted ones,
// sometimes single ones, sometimes every second one of a window, and that delays some ACKs.
#include <list>
#include <vector>

#include "check.h"

#define ScoreBoard1 PlainBoard
#define ScoreBoardNode1 PlainNode
#include "plain/scoreboard1.cc"
#undef ScoreBoard1
#undef ScoreBoardNode1
#undef ns_scoreboard1_h
#undef ASSERT
#undef ASSERT1
#undef ASSERT2
#include "fast/scoreboard1.cc"

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

// The content of a scoreboard, each node as four numbers.
template <class Board, class Node> struct Open : public Board {
	std::vector<int> state() {
		std::vector<int> all;
		all.push_back(this->fack_);
		all.push_back(this->fack_out_);
		all.push_back(this->sack_out_);
		all.push_back(this->acked_rtx_id_);
		all.push_back(this->rtx_id_);
		all.push_back(this->nxt_to_retrx_ ? this->nxt_to_retrx_->GetStart() : -1);
		for (Node* node = this->head_; node; node = node->GetNext()) {
			bool again = node->GetFlag() == SKB_FLAG_RETRANSMITTED;
			all.push_back(node->GetFlag());
			all.push_back(node->GetStart());
			all.push_back(node->GetEnd());
			all.push_back(again ? node->GetSndNxt() : 0);
			all.push_back(again ? node->GetRtx() : 0);
		}
		return all;
	}
};

// Its ACKs contain the block of the last packet and those of the previous ones.
class Receiver {
public:
	Receiver() : next_(0) {}
	hdr_tcp come(int seqno) {
		if (size_t(seqno) >= seen_.size())
			seen_.resize(seqno + 1, false);
		seen_[seqno] = true;
		while (size_t(next_) < seen_.size() && seen_[next_])
			++next_;
		recent_.push_front(seqno);
		hdr_tcp ack;
		ack.ack = next_ - 1;
		ack.sa_length_ = 0;
		for (std::list<int>::iterator i = recent_.begin(); i != recent_.end();) {
			if (*i < next_ || covered(ack, *i)) {
				recent_.erase(i++);
				continue;
			}
			if (ack.sa_length_ == 3)
				break;
			add_block(ack, *i++);
		}
		return ack;
	}
private:
	static bool covered(const hdr_tcp& ack, int seqno) {
		for (int i = 0; i < ack.sa_length_; ++i)
			if (ack.sack_area_[i][0] <= seqno && seqno < ack.sack_area_[i][1])
				return true;
		return false;
	}
	void add_block(hdr_tcp& ack, int seqno) {
		int left = seqno, right = seqno + 1;
		while (left > next_ && seen_[left - 1])
			--left;
		while (size_t(right) < seen_.size() && seen_[right])
			++right;
		ack.sack_area_[ack.sa_length_][0] = left;
		ack.sack_area_[ack.sa_length_][1] = right;
		++ack.sa_length_;
	}
	int next_;
	std::vector<bool> seen_;
	std::list<int> recent_;
};

// One transfer that loses one packet in `loss`, and every second one of a burst of `burst` packets.
class Transfer {
public:
	Transfer(int window, int loss, int burst)
		: window_(window), loss_(loss), burst_(burst), una_(0), nxt_(0), most_nodes(0) {}
	void run(int acks) {
		for (int i = 0; i < acks; ++i) {
			send();
			if (on_the_way_.empty()) {
				time_out();
				continue;
			}
			acknowledge(take());
			if (next_random(5000) == 0)
				time_out();
		}
	}
private:
	void send() {
		while (nxt_ - una_ - plain_.FackOut() - plain_.SackOut() < window_) {
			int again = plain_.GetNextRetran();
			CHECK(fast_.GetNextRetran() == again);
			if (again >= 0) {
				plain_.MarkRetran(again, nxt_);
				fast_.MarkRetran(again, nxt_);
			}
			same();
			int seqno = again >= 0 ? again : nxt_++;
			bool in_burst = again < 0 && seqno % (8 * window_) > 7 * window_ - burst_;
			if (next_random(loss_) != 0 && !(in_burst && seqno % 2))
				on_the_way_.push_back(seqno);
		}
	}
	// Some packets arrive late.
	int take() {
		std::list<int>::iterator first = on_the_way_.begin();
		for (int late = next_random(8) == 0 ? next_random(window_ / 10) : 0; late > 0; --late)
			if (++first == on_the_way_.end())
				--first;
		int seqno = *first;
		on_the_way_.erase(first);
		return seqno;
	}
	void acknowledge(int seqno) {
		hdr_tcp ack = receiver_.come(seqno);
		if (next_random(20) == 0)
			return;	// lost
		if (ack.ack + 1 > una_)
			una_ = ack.ack + 1;
		int flags = plain_.UpdateScoreBoard(una_ - 1, &ack);
		CHECK(fast_.UpdateScoreBoard(una_ - 1, &ack) == flags);
		same();
	}
	void time_out() {
		plain_.MarkLoss(una_, nxt_);
		fast_.MarkLoss(una_, nxt_);
		same();
	}
	void same() {
		std::vector<int> expected = plain_.state();
		if (expected.size() / 5 > most_nodes)
			most_nodes = expected.size() / 5;
		CHECK(fast_.state() == expected);
	}
	int window_, loss_, burst_;
	int una_, nxt_;
	Open<PlainBoard, PlainNode> plain_;
	Open<ScoreBoard1, ScoreBoardNode1> fast_;
	Receiver receiver_;
	std::list<int> on_the_way_;	// sent and not lost
public:
	size_t most_nodes;
};

// ---------------------------------------------------------------- what a walk may step over

// Nodes of packets 10-19 (sacked), 20-29 (in flight), 30 (sent again as number 7 when the next new
// packet was 50) and 31-39 (lost), in one part.
struct Nodes {
	Nodes() : sacked(10, 19, SKB_FLAG_SACKED), in_flight(20, 29, SKB_FLAG_INFLIGHT),
		again(30, 30, SKB_FLAG_LOST), lost(31, 39, SKB_FLAG_LOST), next(40, 49, SKB_FLAG_SACKED) {
		again.MarkRetran(50, 7);
		sacked.Append(&in_flight);
		in_flight.Append(&again);
		again.Append(&lost);
		lost.Append(&next);
	}
	ScoreBoardNode1 sacked, in_flight, again, lost, next;
};

// A walk that changes nothing: the values are the last ones for which that is so.
struct Harmless : public ScoreBoardPart::Walk {
	Harmless() {
		static const int lefts[] = { 2, 40, 25, 25 }, rights[] = { 10, 45, 26, 26 };
		left = lefts;
		right = rights;
		blocks = 2;
		thorough = true;
		fack = 49;
		lost_seq = 19;
		lost_rtx = 6;
	}
};

void check_each_condition(const ScoreBoardPart& part)
{
	CHECK(part.stays(Harmless()));
	Harmless walk;
	walk.fack = 50;
	CHECK(!part.stays(walk));
	walk = Harmless();
	walk.lost_seq = 20;
	CHECK(!part.stays(walk));
	walk = Harmless();
	walk.lost_rtx = 7;
	CHECK(!part.stays(walk));

	// Blocks that end with the part's first packet, or begin with its last.
	static const int lefts[][2] = { { 2, 40 }, { 2, 39 }, { 11, 40 } };
	static const int rights[][2] = { { 11, 45 }, { 10, 45 }, { 12, 45 } };
	for (int i = 0; i < 3; ++i) {
		walk = Harmless();
		walk.left = lefts[i];
		walk.right = rights[i];
		CHECK(!part.stays(walk));
	}

	// It goes on behind the part because of a later block, or because it is thorough.
	walk = Harmless();
	walk.thorough = false;
	CHECK(part.stays(walk));
	walk.blocks = 1;
	CHECK(!part.stays(walk));
	walk.thorough = true;
	CHECK(part.stays(walk));
	walk.blocks = 0;
	CHECK(part.stays(walk));
	walk.thorough = false;
	CHECK(!part.stays(walk));
}

void check_parts()
{
	{
		Nodes nodes;
		ScoreBoardStretch* stretch = new ScoreBoardStretch(&nodes.sacked, 4);
		check_each_condition(*stretch);
		CHECK(stretch->first_lost() == &nodes.lost);
		CHECK(stretch->last() == &nodes.lost);
		CHECK(stretch->widest_from(&nodes.sacked) == stretch);
		CHECK(stretch->widest_from(&nodes.in_flight) == 0);
	}
	Nodes nodes;
	new ScoreBoardStretch(&nodes.sacked, 2);
	new ScoreBoardStretch(&nodes.again, 2);
	ScoreBoardGroup* group = new ScoreBoardGroup(&nodes.sacked, 2);
	check_each_condition(*group);
	CHECK(group->first_lost() == &nodes.lost);
	CHECK(group->last() == &nodes.lost);
	CHECK(nodes.sacked.Stretch()->widest_from(&nodes.sacked) == group);
	CHECK(nodes.again.Stretch()->widest_from(&nodes.again) == nodes.again.Stretch());
	// A change of one node breaks its stretch and the group, but not the other stretch.
	nodes.lost.SetFlag(SKB_FLAG_SACKED);
	CHECK(nodes.again.Stretch() == 0);
	CHECK(nodes.sacked.Stretch() != 0);
	CHECK(nodes.sacked.Stretch()->group() == 0);
}

}  // namespace

int main()
{
	check_parts();
	static const int cases[][3] = {	// packets of the window, one loss in, packets of a burst
		{ 30, 20, 20 }, { 300, 100, 0 }, { 600, 15, 300 }, { 1000, 200, 900 }, { 1000, 4, 900 },
	};
	size_t most_nodes = 0;
	for (int i = 0; i < 5 && failures == 0; ++i) {
		Transfer transfer(cases[i][0], cases[i][1], cases[i][2]);
		transfer.run(4000);
		most_nodes = transfer.most_nodes > most_nodes ? transfer.most_nodes : most_nodes;
	}
	CHECK(most_nodes > 500);	// otherwise there were few groups
	return failures ? 1 : 0;
}
