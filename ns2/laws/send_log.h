#ifndef bdpbench_send_log_h
#define bdpbench_send_log_h

#include <vector>

/**
 * When packets were sent last, and how many times, in a ring of slots: a
 * packet shares its slot with those a whole ring away, and what was written
 * there stays until it is cleared or written over.
 *
 * Slots are cleared by ACKs of new data alone, each from the packet after the
 * one before it on. A packet that is sent once more after it was cleared
 * leaves its time and its count behind, which the packet a ring later finds.
 *
 * Invariants: any seqno from 0 on is taken; below 0 nothing was ever sent.
 * Tests: tests/ns2/test_laws.py (send_log_test.cc).
 */
class SendLog {
public:
	/** slots: length of the ring, at least 1. */
	explicit SendLog(int slots);

	/** A packet leaves, for the first time or again. */
	void sent(int seqno, double now_s);
	/** An ACK of new data: clears all up to seqno that the last one left. */
	void acked(int seqno);

	/** s; NEVER for a slot that is clear. */
	double sent_at_s(int seqno) const;
	int transmissions(int seqno) const;
	/** Last sent more than age_s ago; a clear slot is older than anything. */
	bool is_older(int seqno, double now_s, double age_s) const;

	static const int NEVER = -1;
private:
	struct Slot {
		double sent_at_s;
		int transmissions;
	};
	static Slot clear();

	std::vector<Slot> slots_;
	int first_uncleared_;
};

#endif
