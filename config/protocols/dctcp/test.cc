// Values by hand, which are checked before anything is simulated.

TEST("a window without marks lets the estimate decay, and cuts nothing")
{
	Connection dctcp;
	dctcp.cwnd_pkts = 100;
	dctcp.ssthresh_pkts = 10;
	acknowledged unmarked(100), all_marked(10);
	unmarked.round_ended = all_marked.round_ended = true;
	all_marked.marked = 10;
	dctcp.hears(unmarked);
	dctcp.hears(all_marked);
	// alpha: 1, then 0.9375, then 0.9375 * 0.9375 + 0.0625; cwnd loses half of that share.
	CHECK(dctcp.cwnd_pkts, 52.9296875);
}

TEST("a loss halves cwnd, as it does standard TCP's")
{
	Connection dctcp;
	dctcp.cwnd_pkts = 100;
	dctcp.hears(recovery_began());
	CHECK(dctcp.cwnd_pkts, 50);
	CHECK(dctcp.ssthresh_pkts, 50);
}
