// Stretches of TCP/Linux's scoreboard that most acknowledgements do not change.
#ifndef bdpbench_scoreboard_stretch_h
#define bdpbench_scoreboard_stretch_h

class ScoreBoardNode1;
class ScoreBoardGroup;

/*
 * Neighbouring nodes of a scoreboard, and the facts that decide whether a walk over them would
 * change any of them or stop at one.
 */
class ScoreBoardPart {
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

	bool holds() const { return holds_; }
	bool begins_with(const ScoreBoardNode1* node) const { return first_ == node; }
	ScoreBoardNode1* last() const { return last_; }
	ScoreBoardNode1* first_lost() const { return first_lost_; }	// or 0
	// The first lost node of the part, or the one behind it.
	ScoreBoardNode1* lost_or_next() const;
	// Whether the walk would leave all nodes unchanged and continue after them.
	bool stays(const Walk&) const;
protected:
	ScoreBoardPart(ScoreBoardNode1* first);
	void take_in(ScoreBoardNode1*);
	void take_in(const ScoreBoardPart&);
	bool holds_;
private:
	ScoreBoardPart(const ScoreBoardPart&);
	ScoreBoardPart& operator=(const ScoreBoardPart&);

	int start_, end_;	// first and last packet
	int in_flight_;		// first packet in flight that was not sent again
	int least_snd_nxt_;	// of retransmissions, and their least number
	int least_rtx_;
	ScoreBoardNode1* first_;
	ScoreBoardNode1* last_;
	ScoreBoardNode1* first_lost_;
};

/*
 * After a loss of many packets the scoreboard is a list of thousands of nodes, and each
 * acknowledgement walks over all of them, although it changes only a few. A stretch consists of a
 * few neighbouring nodes that such a walk has passed, a group of a few neighbouring stretches. Any
 * change of a node breaks its stretch and the group of that. A walk passes over an unaffected group
 * or stretch in one step, and makes new ones of what it looks at.
 *
 * Stretches belong to their nodes, groups to their stretches.
 */
class ScoreBoardStretch : public ScoreBoardPart {
public:
	ScoreBoardStretch(ScoreBoardNode1* first, int nodes);
	void end();
	int nodes() const { return nodes_; }
	ScoreBoardGroup* group() const;	// 0: none that holds
	// The group, or else the stretch, that begins with this node, or 0.
	const ScoreBoardPart* widest_from(const ScoreBoardNode1*) const;
	void join(ScoreBoardGroup*);
	// A node has left the stretch.
	void leave();
private:
	int members_;	// nodes that point to it
	int nodes_;
	ScoreBoardGroup* group_;	// it may not hold
};

class ScoreBoardGroup : public ScoreBoardPart {
public:
	ScoreBoardGroup(ScoreBoardNode1* first, int stretches);
	void end() { holds_ = false; }
	int stretches() const { return stretches_; }
	// A stretch has left the group.
	void leave() {
		holds_ = false;
		if (--members_ == 0)
			delete this;
	}
private:
	int members_;	// stretches that point to it
	int stretches_;
};

/*
 * What a walk has passed one after another and that will become stretches and groups.
 */
class PassedNodes {
public:
	PassedNodes() : first_(0), count_(0), first_of_stretches_(0), stretches_(0) {}
	// Adds the next node; one that is in a stretch stays there.
	void add(ScoreBoardNode1*);
	// The group or stretch which begins with this node and over which the walk, coming from prev,
	// steps; 0 if it must look at the nodes.
	const ScoreBoardPart* step(ScoreBoardNode1* prev, ScoreBoardNode1* node,
		const ScoreBoardPart::Walk&);
private:
	enum { most_nodes = 16, most_stretches = 16 };
	// Whether so few were passed that the next part should be merged with them.
	bool absorb(const ScoreBoardStretch&) const;
	bool absorb(const ScoreBoardGroup&) const;
	void close_stretch();
	void close_group();
	void add_stretch(ScoreBoardNode1* first);

	ScoreBoardNode1* first_;	// of the next stretch
	int count_;
	ScoreBoardNode1* first_of_stretches_;	// of the next group
	int stretches_;
};

#endif
