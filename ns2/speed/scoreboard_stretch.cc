#include "scoreboard_stretch.h"

#include <limits.h>

#include "scoreboard1.h"

// ---------------------------------------------------------------- parts

ScoreBoardPart::ScoreBoardPart(ScoreBoardNode1* first)
	: holds_(true), start_(first->GetStart()), end_(0), in_flight_(INT_MAX),
	  least_snd_nxt_(INT_MAX), least_rtx_(INT_MAX), first_(first), last_(first), first_lost_(0)
{
}

inline void ScoreBoardPart::take_in(ScoreBoardNode1* node)
{
	switch (node->GetFlag()) {
	case SKB_FLAG_INFLIGHT:
		if (node->GetStart() < in_flight_)
			in_flight_ = node->GetStart();
		break;
	case SKB_FLAG_LOST:
		if (first_lost_ == 0)
			first_lost_ = node;
		break;
	case SKB_FLAG_RETRANSMITTED:
		if (node->GetSndNxt() < least_snd_nxt_)
			least_snd_nxt_ = node->GetSndNxt();
		if (node->GetRtx() < least_rtx_)
			least_rtx_ = node->GetRtx();
		break;
	}
	last_ = node;
	end_ = node->GetEnd();
}

inline void ScoreBoardPart::take_in(const ScoreBoardPart& part)
{
	if (part.in_flight_ < in_flight_)
		in_flight_ = part.in_flight_;
	if (part.least_snd_nxt_ < least_snd_nxt_)
		least_snd_nxt_ = part.least_snd_nxt_;
	if (part.least_rtx_ < least_rtx_)
		least_rtx_ = part.least_rtx_;
	if (first_lost_ == 0)
		first_lost_ = part.first_lost_;
	last_ = part.last_;
	end_ = part.end_;
}

ScoreBoardNode1* ScoreBoardPart::lost_or_next() const
{
	return first_lost_ ? first_lost_ : last_->GetNext();
}

// As ScoreBoard1::UpdateScoreBoard() looks at each of the nodes.
bool ScoreBoardPart::stays(const Walk& walk) const
{
	if (least_snd_nxt_ <= walk.fack || least_rtx_ <= walk.lost_rtx || in_flight_ <= walk.lost_seq)
		return false;
	bool goes_on = walk.thorough;
	for (int i = 0; i < walk.blocks; ++i) {
		if (walk.right[i] <= start_)
			continue;
		if (walk.left[i] <= end_)
			return false;
		goes_on = true;
	}
	return goes_on;
}

// ---------------------------------------------------------------- stretches and groups

ScoreBoardStretch::ScoreBoardStretch(ScoreBoardNode1* first, int nodes)
	: ScoreBoardPart(first), members_(nodes), nodes_(nodes), group_(0)
{
	for (; nodes > 0; --nodes) {
		take_in(first);
		first->Join(this);
		first = first->GetNext();
	}
}

void ScoreBoardStretch::end()
{
	holds_ = false;
	if (group_)
		group_->end();
}

const ScoreBoardPart* ScoreBoardStretch::widest_from(const ScoreBoardNode1* node) const
{
	if (group_ && group_->holds() && group_->begins_with(node))
		return group_;
	return begins_with(node) ? this : 0;
}

ScoreBoardGroup* ScoreBoardStretch::group() const
{
	return group_ && group_->holds() ? group_ : 0;
}

void ScoreBoardStretch::join(ScoreBoardGroup* group)
{
	if (group_)
		group_->leave();
	group_ = group;
}

void ScoreBoardStretch::leave()
{
	end();
	if (--members_ == 0) {
		join(0);
		delete this;
	}
}

// Of stretches that hold and follow one another.
ScoreBoardGroup::ScoreBoardGroup(ScoreBoardNode1* first, int stretches)
	: ScoreBoardPart(first), members_(stretches), stretches_(stretches)
{
	for (; stretches > 0; --stretches) {
		ScoreBoardStretch* stretch = first->Stretch();
		take_in(*stretch);
		stretch->join(this);
		first = stretch->last()->GetNext();
	}
}

// ---------------------------------------------------------------- what a walk has passed

void PassedNodes::add(ScoreBoardNode1* node)
{
	if (node == 0 || node->Stretch() != 0)
		return;
	if (count_ == 0)
		first_ = node;
	if (++count_ == most_nodes)
		close_stretch();
}

const ScoreBoardPart* PassedNodes::step(ScoreBoardNode1* prev, ScoreBoardNode1* node,
	const ScoreBoardPart::Walk& walk)
{
	ScoreBoardStretch* stretch = node->Stretch();
	if (stretch == 0 || !stretch->begins_with(node))
		return 0;
	ScoreBoardGroup* group = stretch->group();
	if (group) {
		if (group->begins_with(node) && group->last()->GetNext() && !absorb(*group) &&
			group->stays(walk)) {
			add(prev);
			close_stretch();
			close_group();
			return group;
		}
		group->end();
	}
	if (stretch->last()->GetNext() == 0 || absorb(*stretch) || !stretch->stays(walk))
		return 0;
	add(prev);
	close_stretch();
	add_stretch(node);
	return stretch;
}

// With one more, prev.
inline bool PassedNodes::absorb(const ScoreBoardStretch& next) const
{
	return count_ > 0 && count_ + 1 + next.nodes() <= most_nodes;
}

inline bool PassedNodes::absorb(const ScoreBoardGroup& next) const
{
	return stretches_ > 0 && stretches_ + 1 + next.stretches() <= most_stretches;
}

void PassedNodes::close_stretch()
{
	if (count_ > 0) {
		new ScoreBoardStretch(first_, count_);
		add_stretch(first_);
	}
	count_ = 0;
}

void PassedNodes::add_stretch(ScoreBoardNode1* first)
{
	if (stretches_ == 0)
		first_of_stretches_ = first;
	if (++stretches_ == most_stretches)
		close_group();
}

// A stretch was broken after it had been passed if the walk merged its last node with the next one.
void PassedNodes::close_group()
{
	int whole = 0;
	ScoreBoardNode1* next = first_of_stretches_;
	for (; whole < stretches_ && next; ++whole) {
		ScoreBoardStretch* stretch = next->Stretch();
		if (stretch == 0 || !stretch->begins_with(next))
			break;
		next = stretch->last()->GetNext();
	}
	if (whole > 1)
		new ScoreBoardGroup(first_of_stretches_, whole);
	stretches_ = 0;
}
