#include "scoreboard_stretch.h"

#include <limits.h>

#include "scoreboard1.h"

ScoreBoardStretch::ScoreBoardStretch(ScoreBoardNode1* first, int nodes)
	: holds_(true), members_(nodes), nodes_(nodes), start_(first->GetStart()), end_(0),
	  in_flight_(INT_MAX), least_snd_nxt_(INT_MAX), least_rtx_(INT_MAX), first_(first),
	  last_(first), first_lost_(0)
{
	for (; nodes > 0; --nodes) {
		take_in(first);
		last_ = first;
		first = first->GetNext();
	}
	end_ = last_->GetEnd();
}

inline void ScoreBoardStretch::take_in(ScoreBoardNode1* node)
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
	node->Join(this);
}

// As ScoreBoard1::UpdateScoreBoard() looks at each of the nodes.
bool ScoreBoardStretch::stays(const Walk& walk) const
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

void PassedNodes::add(ScoreBoardNode1* node)
{
	if (node == 0 || node->Stretch() != 0)
		return;
	if (count_ == 0)
		first_ = node;
	if (++count_ == most_nodes)
		close();
}

void PassedNodes::close()
{
	if (count_ > 0)
		new ScoreBoardStretch(first_, count_);	// which belongs to its nodes
	count_ = 0;
}
