// Values by hand, which are checked before anything is simulated. Packets are numbered as they arrive.

TEST("packets leave in the order in which they came")
{
	TestedQueue queue;
	queue.arrives(0, 3);
	queue.departs(0.01, 2, 0.01);
	CHECK_TIMES(queue.left, {1, 0.01}, {2, 0.02});
	CHECK_PACKETS(queue.dropped);
	CHECK_PACKETS(queue.marked);
	CHECK(queue.length_pkts(), 1);
	CHECK(queue.length_bytes(), 1040);
}

TEST("a packet that finds two is marked, unless its sender has no ECN")
{
	TestedQueue queue(1000, {{"mark_from_pkts_", 2}});
	queue.arrives(0, 3);
	queue.can_be_marked = false;
	queue.arrives(0);
	queue.departs(0, 3);
	queue.can_be_marked = true;
	queue.arrives(1);
	CHECK_PACKETS(queue.marked, 3);
	CHECK_PACKETS(queue.dropped);
	CHECK(queue.length_pkts(), 2);
}

TEST("a packet that finds no room is dropped")
{
	TestedQueue queue(2);
	queue.arrives(0.5, 3);
	CHECK_TIMES(queue.dropped, {3, 0.5});
	CHECK(queue.length_pkts(), 2);
}

TEST("the oldest packet makes room")
{
	TestedQueue queue(2, {{"drop_front_", 1}});
	queue.arrives(0, 3);
	queue.departs(0, 2);
	CHECK_PACKETS(queue.dropped, 1);
	CHECK_PACKETS(queue.left, 2, 3);
	CHECK(queue.length_pkts(), 0);
}
