// Values by hand, which are checked before anything is simulated.

static acknowledged packets(double number, double now_s, bool limited_by_cwnd = true)
{
	acknowledged news(number);
	news.now_s = now_s;
	news.smoothed_rtt_s = 0;
	news.limited_by_cwnd = limited_by_cwnd;
	return news;
}

TEST("a loss leaves 0.7 of cwnd (RFC 9438, section 4.6)")
{
	Connection cubic;
	cubic.cwnd_pkts = 100;
	cubic.hears(recovery_began());
	CHECK(cubic.cwnd_pkts, 70);
	CHECK(cubic.ssthresh_pkts, 70);
}

// W_max is 100, K the third root of 30/0.4, 4.217 s, and with an RTT of 0 the target is W(K) = 100,
// of which an acknowledgement adds (100 - 70)/70.
TEST("at t = K cwnd is at its last maximum")
{
	Connection cubic;
	cubic.cwnd_pkts = 100;
	cubic.hears(recovery_began());
	cubic.hears(packets(0, 0));
	cubic.hears(packets(1, 4.217163326508746));
	CHECK(cubic.cwnd_pkts, 70.42857142857143);
}

TEST("the window of standard TCP is the floor (section 4.3), 0.529/70 packets more at once")
{
	Connection cubic;
	cubic.cwnd_pkts = 100;
	cubic.hears(recovery_began());
	cubic.hears(packets(1, 0));
	CHECK(cubic.cwnd_pkts, 70.0075630252101);
}

TEST("fast convergence remembers less than a shrinking window was (section 4.7)")
{
	Connection cubic;
	cubic.cwnd_pkts = 100;
	cubic.hears(recovery_began());
	cubic.hears(recovery_ended());
	cubic.hears(recovery_began());
	cubic.hears(packets(0, 0));
	// W_max is (1 + 0.7)/2 of 70, 59.5; at t = K the target is that, 10.5 above 49.
	cubic.hears(packets(1, 2.9719609763815646));
	CHECK(cubic.cwnd_pkts, 49.214285714285715);
}

// The curve is at its maximum two and three seconds later than it would be.
TEST("time in which cwnd was not the limit is left out (section 5.8)")
{
	Connection cubic;
	cubic.cwnd_pkts = 100;
	cubic.hears(recovery_began());
	cubic.hears(packets(0, 0));
	cubic.hears(packets(1, 2, false));
	resumed after_idle_time;
	after_idle_time.idle_s = 3;
	after_idle_time.now_s = 5;
	cubic.hears(after_idle_time);
	cubic.hears(packets(1, 9.217163326508746));
	CHECK(cubic.cwnd_pkts, 70.42857142857143);
}

TEST("a timeout leaves one packet")
{
	Connection cubic;
	cubic.cwnd_pkts = 100;
	cubic.hears(timed_out());
	CHECK(cubic.cwnd_pkts, 1);
	CHECK(cubic.ssthresh_pkts, 70);
}
