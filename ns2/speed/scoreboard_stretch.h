// Stretches of TCP/Linux's score board that most acknowledgements leave as they are.
#ifndef bdpbench_scoreboard_stretch_h
#define bdpbench_scoreboard_stretch_h

class ScoreBoardNode1;

/*
 * After a loss of many packets the score board is a list of thousands of nodes, and each
 * acknowledgement walks over all of them, though it changes a few. A stretch is some neighbouring
 * nodes that such a walk has passed, with what says whether another one would change any of them,
 * or stop at one. Whatever changes a node breaks its stretch. The walk passes over a stretch that
 * stays as it is in one step, and makes new ones of the nodes that it does look at.
 */
class ScoreBoardStretch {
public:
	// What a walk looks for.
	struct Walk {
		const int* left;	// SACK blocks in the order of their left edges
		const int* right;	// behind the last packet of each
		int blocks;
		bool thorough;		// does it go on behind the last block?
		int fack;		// retransmissions sent before it are lost
		int lost_seq;		// packets in flight up to it are lost
		int lost_rtx;		// retransmissions up to this number are lost
	};

	ScoreBoardStretch(ScoreBoardNode1* first, int nodes);
	bool holds() const { return holds_; }
	void end() { holds_ = false; }
	bool begins_with(const ScoreBoardNode1* node) const { return first_ == node; }
	int nodes() const { return nodes_; }
	ScoreBoardNode1* last() const { return last_; }
	ScoreBoardNode1* first_lost() const { return first_lost_; }	// or 0
	// Would the walk leave all nodes as they are and go on behind them?
	bool stays(const Walk&) const;
	// A node is in it no more.
	void leave() {
		holds_ = false;
		if (--members_ == 0)
			delete this;
	}
private:
	ScoreBoardStretch(const ScoreBoardStretch&);
	ScoreBoardStretch& operator=(const ScoreBoardStretch&);
	void take_in(ScoreBoardNode1*);

	bool holds_;
	int members_;	// nodes that point to it
	int nodes_;
	int start_, end_;	// first and last packet
	int in_flight_;		// first packet in flight that was not sent again
	int least_snd_nxt_;	// of retransmissions, and their least number
	int least_rtx_;
	ScoreBoardNode1* first_;
	ScoreBoardNode1* last_;
	ScoreBoardNode1* first_lost_;
};

/*
 * Nodes that a walk has passed one after another, to become a stretch.
 */
class PassedNodes {
public:
	PassedNodes() : first_(0), count_(0) {}
	// The node behind those passed before; one that is in a stretch is left there.
	void add(ScoreBoardNode1*);
	// Makes a stretch of them.
	void close();
	// Are they so few, with one more, that the stretch behind them had better be one with them?
	bool absorb(const ScoreBoardStretch& next) const {
		return count_ > 0 && count_ + 1 + next.nodes() <= most_nodes;
	}
private:
	enum { most_nodes = 64 };
	ScoreBoardNode1* first_;
	int count_;
};

#endif
