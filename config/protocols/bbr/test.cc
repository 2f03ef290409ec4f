// Values by hand, which are checked before anything is simulated.

/** The first acknowledgement, after 50 ms, of packets that were delivered at a rate. */
static acknowledged first(double packets, double rate_pps, double rate_delivered_pkts, double in_flight_pkts)
{
	acknowledged news(packets);
	news.now_s = news.rtt_s = 0.05;
	news.rate_pps = rate_pps;
	news.rate_delivered_pkts = rate_delivered_pkts;
	news.in_flight_pkts = in_flight_pkts;
	news.sent_in_flight_pkts = in_flight_pkts + packets;
	return news;
}

TEST("the first round trip gives the pacing rate of Startup, 2.77 times the initial window in it")
{
	Connection bbr;
	bbr.cwnd_pkts = 10;
	acknowledged news = first(1, 20, 1, 9);
	news.delivered_pkts = 1;
	bbr.hears(news);
	CHECK(bbr.pacing_pps, 554);
	CHECK(bbr.cwnd_pkts, 11);
}

TEST("a higher delivery rate raises it, less the margin of 1 %")
{
	Connection bbr;
	bbr.cwnd_pkts = 10;
	acknowledged news = first(10, 1000, 50, 40);
	news.delivered_pkts = 50;
	bbr.hears(news);
	CHECK(bbr.pacing_pps, 2742.3);
	CHECK(bbr.cwnd_pkts, 20);
}

TEST("fast recovery itself takes nothing away (section 5.6.4.4)")
{
	Connection bbr;
	bbr.cwnd_pkts = 100;
	lost one;
	one.sent_in_flight_pkts = 100;
	recovery_began first_loss;
	one.in_flight_pkts = first_loss.in_flight_pkts = 96;
	one.lost_pkts = first_loss.lost_pkts = 1;
	bbr.hears(one);
	bbr.hears(first_loss);
	CHECK(bbr.cwnd_pkts, 100);
}

TEST("a timeout lets one packet leave")
{
	Connection bbr;
	bbr.cwnd_pkts = 100;
	bbr.hears(timed_out());
	CHECK(bbr.cwnd_pkts, 1);
}
