// Values by hand, which are checked before anything is simulated.

TEST("slow start adds a packet for each that is acknowledged")
{
	Connection law;
	law.cwnd_pkts = 10;
	acknowledged two(2);
	two.limited_by_cwnd = true;
	law.hears(two);
	CHECK(law.cwnd_pkts, 12);
}

TEST("congestion avoidance adds a packet in a round trip of ten")
{
	Connection law;
	law.cwnd_pkts = 10;
	law.ssthresh_pkts = 5;
	acknowledged one(1);
	one.limited_by_cwnd = true;
	law.hears(one);
	CHECK(law.cwnd_pkts, 10.1);
}

TEST("an acknowledgement that cwnd did not hold back changes nothing")
{
	Connection law;
	law.cwnd_pkts = 10;
	law.hears(acknowledged(1));
	CHECK(law.cwnd_pkts, 10);
}

TEST("a loss takes its share away")
{
	Connection law({{"cut_", 0.3}});
	law.cwnd_pkts = 100;
	law.hears(recovery_began());
	acknowledged one(1);
	one.limited_by_cwnd = one.in_recovery = true;
	law.hears(one);
	CHECK(law.cwnd_pkts, 70);
	CHECK(law.ssthresh_pkts, 70);
}

TEST("a timeout leaves one packet, and half of cwnd as the end of slow start")
{
	Connection law;
	law.cwnd_pkts = 100;
	law.hears(timed_out());
	CHECK(law.cwnd_pkts, 1);
	CHECK(law.ssthresh_pkts, 50);
}
