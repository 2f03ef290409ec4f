#include "send_log.h"

#include <algorithm>

SendLog::Slot SendLog::clear()
{
	Slot slot = {NEVER, 0};
	return slot;
}

SendLog::SendLog(int slots) : slots_(std::max(slots, 1), clear()), first_uncleared_(0)
{
}

void SendLog::sent(int seqno, double now_s)
{
	if (seqno < 0)
		return;
	Slot& slot = slots_[seqno % slots_.size()];
	slot.sent_at_s = now_s;
	slot.transmissions++;
}

void SendLog::acked(int seqno)
{
	// An ACK of a whole ring or more clears every slot.
	int count = std::min(seqno - first_uncleared_, int(slots_.size()) - 1) + 1;
	for (int i = 0; i < count; i++)
		slots_[(seqno - i) % slots_.size()] = clear();
	first_uncleared_ = std::max(first_uncleared_, seqno + 1);
}

double SendLog::sent_at_s(int seqno) const
{
	return seqno < 0 ? NEVER : slots_[seqno % slots_.size()].sent_at_s;
}

int SendLog::transmissions(int seqno) const
{
	return seqno < 0 ? 0 : slots_[seqno % slots_.size()].transmissions;
}

bool SendLog::is_older(int seqno, double now_s, double age_s) const
{
	double sent_at = sent_at_s(seqno);
	return sent_at == NEVER || now_s - sent_at > age_s;
}
