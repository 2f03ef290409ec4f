"""What several metrics share: levels and windows, each with its reason, sources and sentences."""

from __future__ import annotations

PEAK_SHARE = 0.9
"""Share of the nominal BDP or capacity that counts as reaching it (Sharma 2006, section 4.7.1)."""

MAX_SHARE = 0.99
"""Share of the largest throughput that counts as reaching it: a sawtooth rarely fills a second."""

CUT_SHARE = 0.95
"""A loss response leaves at most this share of cwnd: all variants studied remove 10 % or more."""

MOST_BELOW_S = 1.25
"""Longest time in s that a link may spend below a level and still count as staying there."""

FAIR_ASYMMETRY = 0.3
"""Largest |asymmetry| of two flows that counts as fair: the faster has at most 65 %."""

FAIRNESS_REGIONS = 5
"""Equal parts of the range of |asymmetry|, 0 to 1, from fair to starved."""

CONVERGENCE_WINDOW_S = 10.0
"""Time in s over which two flows have to share fairly to count as converged."""

CONVERGED_RATIO = 0.8
"""Smallest ratio of the slowest to the fastest flow that counts as having converged."""

CONVERGED_WINDOW_S = 20.0
"""Time in s over which flows have to have that ratio to count as having converged."""

BATCHES = 10
"""Number of batches of the second half of a run: ten to thirty are enough (Schmeiser 1982)."""

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
FULL = "at or above 90 % of the nominal bandwidth-delay product"
HALF = "the second half of the run, (duration/2, duration]"
BINS = "A bin belongs to the window when its end does."
COUNTED = "over the window that the script's report counts, the second half of the run"
DEPARTURES = "Departures from the bottleneck's queue"
WITH_ALL = "headers and retransmissions included"
