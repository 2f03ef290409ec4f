// The ring of send times, checked by hand: its slots, which only ACKs of new data clear.

#include "check.h"
#include "send_log.h"

static const double EXACT = 1e-12;

static void remembers_when_and_how_often()
{
	SendLog log(10);
	log.sent(3, 1.5);
	CHECK_NEAR(log.sent_at_s(3), 1.5, EXACT);
	CHECK(log.transmissions(3) == 1);
	log.sent(3, 2.5);
	CHECK_NEAR(log.sent_at_s(3), 2.5, EXACT);
	CHECK(log.transmissions(3) == 2);
	CHECK(log.transmissions(4) == 0);
	CHECK(log.sent_at_s(4) == SendLog::NEVER);
}

static void an_ack_clears_up_to_its_packet()
{
	SendLog log(10);
	for (int seqno = 0; seqno < 5; seqno++)
		log.sent(seqno, 1);
	log.acked(2);
	CHECK(log.transmissions(0) == 0 && log.transmissions(2) == 0);
	CHECK(log.sent_at_s(2) == SendLog::NEVER);
	CHECK(log.transmissions(3) == 1);
}

static void an_ack_leaves_alone_what_an_earlier_one_cleared()
{
	SendLog log(10);
	log.acked(2);
	log.sent(1, 7);	// sent again, although acknowledged
	log.acked(4);
	CHECK(log.transmissions(1) == 1);
	CHECK_NEAR(log.sent_at_s(1), 7, EXACT);
}

static void a_slot_is_shared_by_packets_a_ring_apart()
{
	SendLog log(10);
	log.acked(2);
	log.sent(1, 7);		// not cleared any more
	log.sent(11, 8);	// its first transmission counts as the second
	CHECK(log.transmissions(11) == 2);
	CHECK_NEAR(log.sent_at_s(11), 8, EXACT);
	log.acked(11);
	CHECK(log.transmissions(11) == 0 && log.transmissions(1) == 0);
}

static void an_ack_of_more_than_a_ring_clears_all()
{
	SendLog log(4);
	for (int seqno = 0; seqno < 4; seqno++)
		log.sent(seqno, 1);
	log.acked(1000000000);
	for (int seqno = 0; seqno < 4; seqno++)
		CHECK(log.transmissions(seqno) == 0);
}

static void a_clear_slot_is_older_than_anything()
{
	SendLog log(10);
	log.sent(3, 1);
	CHECK(!log.is_older(3, 1.2, 0.2 + EXACT));
	CHECK(log.is_older(3, 1.3, 0.2));
	CHECK(log.is_older(4, 0, 1e300));
	log.acked(3);
	CHECK(log.is_older(3, 1, 1e300));
}

static void takes_any_packet_number()
{
	SendLog one(0);	// has at least one slot
	one.sent(-1, 1);
	one.acked(-5);
	CHECK(one.transmissions(-1) == 0 && one.sent_at_s(-1) == SendLog::NEVER);
	one.sent(2147483647, 1);
	CHECK(one.transmissions(2147483647) == 1);
	CHECK(one.transmissions(0) == 1);	// the same slot
}

int main()
{
	remembers_when_and_how_often();
	an_ack_clears_up_to_its_packet();
	an_ack_leaves_alone_what_an_earlier_one_cleared();
	a_slot_is_shared_by_packets_a_ring_apart();
	an_ack_of_more_than_a_ring_clears_all();
	a_clear_slot_is_older_than_anything();
	takes_any_packet_number();
	return failures != 0;
}
