// Measures what ns-2's two scoreboards do per ACK of a loss recovery, as the number of basic blocks
// of their code that are executed: sack_cost.py compiles it, with the scoreboards instrumented by
// -fsanitize-coverage.
//
// A window of packets is sent, and evenly spaced ones are lost. Each packet that arrives is
// acknowledged with the three SACK blocks that changed last (RFC 2018, section 4); the lost ones
// are retransmitted in order. At each ACK the sender does what Sack1TcpAgent does in recovery: it
// updates the scoreboard and asks it for the next packet to retransmit.
//
// Arguments: array or queue (of holes), packets, losses. Prints the number of ACKs, and the mean
// and maximum number of basic blocks per ACK.

#include <deque>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

#include "scoreboard-rq.h"
#include "scoreboard.h"
#include "tcp.h"

static long executed = 0;

extern "C" void __sanitizer_cov_trace_pc()
{
	executed++;
}

namespace {

const unsigned SACK_BLOCKS = 3;

struct Block {
	int left, right;	// packets [left, right)
};

// The packets that have arrived, as the receiver acknowledges them.
class Receiver {
public:
	explicit Receiver(int packets) : here_(packets, false), next_(0) {}
	void arrives(int seqno);
	int last_ack() const { return next_ - 1; }
	void fill(hdr_tcp& header) const;
private:
	std::vector<bool> here_;
	int next_;
	std::deque<Block> latest_;	// the one that changed last comes first
};

void Receiver::arrives(int seqno)
{
	here_[seqno] = true;
	Block grown = {seqno, seqno + 1};
	std::deque<Block> others;
	for (size_t i = 0; i < latest_.size(); i++) {
		if (latest_[i].right == grown.left)
			grown.left = latest_[i].left;
		else if (latest_[i].left == grown.right)
			grown.right = latest_[i].right;
		else
			others.push_back(latest_[i]);
	}
	if (grown.left == next_)
		next_ = grown.right;
	else
		others.push_front(grown);
	latest_.swap(others);
}

void Receiver::fill(hdr_tcp& header) const
{
	header.count = 0;
	for (size_t i = 0; i < latest_.size() && i < SACK_BLOCKS; i++) {
		header.left[header.count] = latest_[i].left;
		header.right[header.count++] = latest_[i].right;
	}
}

struct Cost {
	long acks, blocks, most;
};

class Sender {
public:
	explicit Sender(ScoreBoard& board) : board_(board) { memset(&cost_, 0, sizeof(cost_)); }
	void acked(const Receiver& receiver);
	const Cost& cost() const { return cost_; }
private:
	ScoreBoard& board_;
	Cost cost_;
};

void Sender::acked(const Receiver& receiver)
{
	hdr_tcp header;
	receiver.fill(header);
	long before = executed;
	board_.UpdateScoreBoard(receiver.last_ack(), &header);
	int again = board_.GetNextRetran();
	if (again >= 0)
		board_.MarkRetran(again);
	long blocks = executed - before;
	cost_.acks++;
	cost_.blocks += blocks;
	if (blocks > cost_.most)
		cost_.most = blocks;
}

Cost recovery(ScoreBoard& board, int packets, int losses)
{
	Receiver receiver(packets);
	Sender sender(board);
	std::vector<int> lost;
	for (int i = 0; i < losses; i++)
		lost.push_back(long(i) * packets / losses);
	size_t next = 0;
	for (int seqno = 0; seqno < packets; seqno++) {
		if (next < lost.size() && lost[next] == seqno) {
			next++;
			continue;
		}
		receiver.arrives(seqno);
		sender.acked(receiver);
	}
	for (size_t i = 0; i < lost.size(); i++) {
		receiver.arrives(lost[i]);
		sender.acked(receiver);
	}
	return sender.cost();
}

}  // namespace

int main(int argc, char** argv)
{
	if (argc != 4)
		return 2;
	int packets = atoi(argv[2]), room = 2 * packets;	// so that the array need not grow
	ScoreBoard* board;
	if (strcmp(argv[1], "queue") == 0)
		board = new ScoreBoardRQ();
	else
		board = new ScoreBoard(new ScoreBoardNode[room], room);
	Cost cost = recovery(*board, packets, atoi(argv[3]));
	printf("%ld %.1f %ld\n", cost.acks, double(cost.blocks) / cost.acks, cost.most);
	return 0;
}
