#ifndef bdpbench_send_log_h
#define bdpbench_send_log_h

#include <vector>

/**
 * Time of the last transmission of packets, and their number of transmissions,
 * in a ring of slots: a packet shares its slot with packets a whole ring away,
 * and the content stays until it is cleared or overwritten.
 *
 * Only ACKs of new data clear slots, each ACK those after the previous one. A
 * packet that is sent again after its slot was cleared leaves its time and its
 * count behind, and the packet a ring later finds them.
 *
 * Invariants: any seqno from 0 on is valid; below 0 nothing was ever sent.
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
