#ifndef bdpbench_limited_slow_start_h
#define bdpbench_limited_slow_start_h

/**
 * Minimum increase per ACK, in packets, under limited slow start
 * (S. Floyd, "Limited Slow-Start for TCP with Large Congestion Windows",
 * RFC 3742, March 2004, section 2):
 *
 *   1 / floor(2 cwnd / max_ssthresh)
 *
 * so that the window grows by at most max_ssthresh/2 packets per RTT.
 * 0 if max_ssthresh is not positive (turned off), and below max_ssthresh/2,
 * where ordinary slow start applies.
 */
double limited_slow_start_increase(double cwnd_pkts, double max_ssthresh_pkts);

#endif
