// Stretches of TCP/Linux's scoreboard that most acknowledgements do not change.
#ifndef bdpbench_scoreboard_stretch_h
#define bdpbench_scoreboard_stretch_h

class ScoreBoardNode1;

/*
 * After a loss of many packets the scoreboard is a list of thousands of nodes, and each
 * acknowledgement walks over all of them, although it changes only a few. A stretch consists of
 * neighbouring nodes that such a walk has passed, and of the facts that decide whether another walk
 * would change any of them or stop at one. Any change of a node breaks its stretch. A walk passes
 * over an unaffected stretch in one step, and makes new stretches of the nodes that it looks at.
 */
class ScoreBoardStretch {
public:
	// What a walk looks for.
	struct Walk {
		const int* left;	// SACK blocks in the order of their left edges
		const int* right;	// behind the last packet of each
		int blocks;
		bool thorough;		// does it continue after the last block?
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
	// Whether the walk would leave all nodes unchanged and continue after them.
	bool stays(const Walk&) const;
	// A node has left the stretch.
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
 * Nodes that a walk has passed one after another and that will become a stretch.
 */
class PassedNodes {
public:
	PassedNodes() : first_(0), count_(0) {}
	// Adds the next node; one that is in a stretch stays there.
	void add(ScoreBoardNode1*);
	// Makes a stretch of them.
	void close();
	// Whether they are so few, with one more, that the next stretch should be merged with them.
	bool absorb(const ScoreBoardStretch& next) const {
		return count_ > 0 && count_ + 1 + next.nodes() <= most_nodes;
	}
private:
	enum { most_nodes = 64 };
	ScoreBoardNode1* first_;
	int count_;
};

#endif
