// Losses by the order of sending, SACK blocks and delivery rates, against arithmetic by hand.

#include "check.h"
#include "sent_packets.h"

typedef std::vector<std::pair<int, int> > Blocks;

static const double EXACT = 1e-12;
static const int REORDERING = 3;

static Blocks block(int first, int end)
{
	return Blocks(1, std::make_pair(first, end));
}

// Packets 0 to count - 1, each a millisecond after the one before.
static SentPackets sent(int count)
{
	SentPackets packets(REORDERING);
	for (int i = 0; i < count; i++)
		packets.sent(i, i * 0.001, false);
	return packets;
}

static void a_number_acknowledges_all_before_it()
{
	SentPackets packets = sent(5);
	CHECK(packets.highest_sent() == 4);
	CHECK_NEAR(packets.in_flight_pkts(), 5, EXACT);
	const Acknowledged news = packets.acknowledged(2, Blocks(), false, 0.1);
	CHECK_NEAR(news.packets, 3, EXACT);
	CHECK_NEAR(news.in_flight_before_pkts, 5, EXACT);
	CHECK_NEAR(news.rtt_s, 0.1 - 0.002, EXACT);
	CHECK_NEAR(packets.in_flight_pkts(), 2, EXACT);
	CHECK_NEAR(packets.acknowledged(2, Blocks(), false, 0.2).packets, 0, EXACT);
	// More than was ever sent is no more than all of it.
	CHECK_NEAR(packets.acknowledged(99, Blocks(), false, 0.2).packets, 2, EXACT);
}

static void blocks_count_once_however_they_overlap()
{
	SentPackets packets = sent(20);
	CHECK_NEAR(packets.acknowledged(-1, block(5, 7), false, 0.1).packets, 2, EXACT);
	CHECK_NEAR(packets.acknowledged(-1, block(9, 11), false, 0.1).packets, 2, EXACT);
	CHECK_NEAR(packets.acknowledged(-1, block(4, 12), false, 0.1).packets, 4, EXACT);	// 4, 7, 8, 11
	CHECK_NEAR(packets.acknowledged(-1, block(4, 12), false, 0.1).packets, 0, EXACT);
	CHECK_NEAR(packets.acknowledged(-1, block(12, 13), false, 0.1).packets, 1, EXACT);
	CHECK_NEAR(packets.acknowledged(5, block(3, 13), false, 0.1).packets, 4, EXACT);	// 0 to 3
	CHECK_NEAR(packets.delivered_pkts(), 13, EXACT);
	CHECK_NEAR(packets.acknowledged(19, Blocks(), false, 0.1).packets, 7, EXACT);
}

static void three_later_packets_make_a_loss()
{
	SentPackets packets = sent(6);
	packets.acknowledged(-1, block(1, 3), false, 0.1);	// 1 and 2
	CHECK(packets.next_lost() == -1);
	const Acknowledged news = packets.acknowledged(-1, block(1, 4), false, 0.1);
	CHECK_NEAR(news.lost, 1, EXACT);
	CHECK(packets.next_lost() == 0);
	CHECK(packets.losses().size() == 1);
	CHECK(!packets.losses()[0].retransmission);
	CHECK_NEAR(packets.losses()[0].sent_in_flight_pkts, 1, EXACT);
	CHECK_NEAR(packets.in_flight_pkts(), 2, EXACT);		// 4 and 5
}

static void a_lost_retransmission_is_found_by_what_was_sent_after_it()
{
	SentPackets packets = sent(4);
	packets.acknowledged(-1, block(1, 4), false, 0.1);
	packets.sent(0, 0.101, false);
	CHECK(packets.next_lost() == -1);
	for (int i = 4; i < 7; i++)
		packets.sent(i, 0.102, false);
	packets.acknowledged(-1, block(1, 6), false, 0.2);
	CHECK(packets.next_lost() == -1);
	packets.acknowledged(-1, block(1, 7), false, 0.2);
	CHECK(packets.next_lost() == 0);
	CHECK(packets.losses()[0].retransmission);
	CHECK_NEAR(packets.lost_pkts(), 2, EXACT);
}

static void a_late_packet_takes_its_loss_back()
{
	SentPackets packets = sent(4);
	packets.acknowledged(-1, block(1, 4), false, 0.1);
	CHECK(packets.next_lost() == 0);
	CHECK_NEAR(packets.acknowledged(3, Blocks(), false, 0.1).packets, 1, EXACT);
	CHECK(packets.next_lost() == -1);
	CHECK_NEAR(packets.in_flight_pkts(), 0, EXACT);
}

static void a_packet_that_was_sent_twice_gives_no_round_trip()
{
	SentPackets packets = sent(4);
	packets.acknowledged(-1, block(1, 4), false, 0.1);
	packets.sent(0, 0.2, false);
	CHECK_NEAR(packets.acknowledged(3, Blocks(), false, 0.3).rtt_s, -1, EXACT);
}

static void a_timeout_loses_all_in_flight()
{
	SentPackets packets = sent(5);
	packets.acknowledged(0, block(2, 3), false, 0.1);
	packets.timed_out();
	CHECK(packets.losses().size() == 3);	// 1, 3 and 4
	CHECK(packets.next_lost() == 1);
	CHECK_NEAR(packets.in_flight_pkts(), 0, EXACT);
	packets.sent(1, 1, false);
	CHECK(packets.next_lost() == 3);
}

// 10 packets leave at once; from 0.1 s on one is acknowledged each 0.01 s, which sends another one.
static void the_rate_is_that_of_the_slower_of_sending_and_arriving()
{
	SentPackets packets(REORDERING);
	for (int i = 0; i < 10; i++)
		packets.sent(i, 0, false);
	Acknowledged news = Acknowledged();
	for (int i = 0; i < 30; i++) {
		news = packets.acknowledged(i, Blocks(), false, 0.1 + 0.01 * i);
		packets.sent(10 + i, 0.1 + 0.01 * i, false);
	}
	// Packet 29 left at 0.29 s, 0.1 s after packet 19, which had just been acknowledged then. Packet 19
	// was sent 0.19 s after packet 9, so that the first samples are lower.
	CHECK_NEAR(news.rate_delivered_pkts, 10, EXACT);
	CHECK_NEAR(news.rate_interval_s, 0.1, 1e-9);
	CHECK_NEAR(news.rate_pps, 100, 1e-6);
	CHECK(!news.rate_limited_by_application);
	CHECK_NEAR(packets.min_rtt_s(), 0.1, 1e-9);
}

static void rounds_end_with_packets_that_were_sent_after_the_last_one()
{
	SentPackets packets = sent(4);
	CHECK(packets.acknowledged(0, Blocks(), false, 0.1).round_ended);
	CHECK(!packets.acknowledged(1, Blocks(), false, 0.1).round_ended);
	packets.sent(4, 0.11, false);
	CHECK(!packets.acknowledged(3, Blocks(), false, 0.12).round_ended);
	CHECK(packets.acknowledged(4, Blocks(), false, 0.2).round_ended);
	CHECK(packets.rounds() == 2);
}

static void samples_know_that_there_was_nothing_to_send()
{
	SentPackets packets(REORDERING);
	packets.sent(0, 0, false);
	packets.sent(1, 0, true);	// the last one that there was
	CHECK(!packets.acknowledged(0, Blocks(), false, 0.1).rate_limited_by_application);
	CHECK(packets.acknowledged(1, Blocks(), false, 0.1).rate_limited_by_application);
	packets.sent(2, 0.2, false);
	packets.sent(3, 0.2, false);
	CHECK(packets.acknowledged(2, Blocks(), false, 0.3).rate_limited_by_application);
	packets.sent(4, 0.3, false);
	packets.acknowledged(3, Blocks(), false, 0.3);
	CHECK(!packets.acknowledged(4, Blocks(), false, 0.4).rate_limited_by_application);
}

static void marks_count_the_packets_of_their_acknowledgement()
{
	SentPackets packets = sent(3);
	CHECK_NEAR(packets.acknowledged(1, Blocks(), true, 0.1).marked, 2, EXACT);
	CHECK_NEAR(packets.acknowledged(2, Blocks(), false, 0.1).marked, 0, EXACT);
}

int main()
{
	a_number_acknowledges_all_before_it();
	blocks_count_once_however_they_overlap();
	three_later_packets_make_a_loss();
	a_lost_retransmission_is_found_by_what_was_sent_after_it();
	a_late_packet_takes_its_loss_back();
	a_packet_that_was_sent_twice_gives_no_round_trip();
	a_timeout_loses_all_in_flight();
	the_rate_is_that_of_the_slower_of_sending_and_arriving();
	rounds_end_with_packets_that_were_sent_after_the_last_one();
	samples_know_that_there_was_nothing_to_send();
	marks_count_the_packets_of_their_acknowledgement();
	return failures != 0;
}
