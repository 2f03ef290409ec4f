"""Sentences that several definitions share."""

from __future__ import annotations

THESIS = "Sharma (2006)"
XU = "Xu (2004)"
ZHANG = (
    "Zhang, Hasegawa and Murata, Performance Analysis and Improvement of HighSpeed TCP with "
    "TailDrop/RED Routers"
)
EVEN = "Even, Li and Leith, Evaluating the Performance of TCP Stacks for High-Speed Networks"

CUT = (
    "A cut is a fall of cwnd by at least 5 % between two samples; falls less than one nominal RTT "
    "apart answer the same loss event and count as one cut. The peak of a cut is the last sample "
    "before it."
)
SLOW_START = (
    "the one before ssthresh is first set to what cwnd is then or less, by a loss or by the "
    "sender's law."
)
HALF = "the second half of the run, (duration/2, duration]"
BINS = "A bin belongs to the window when its end does."
COUNTED = "over the window that the script's report counts, the second half of the run"
