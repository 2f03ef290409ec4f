"""The largest and smallest values that a study may use, each with its reason.

A study that exceeds one is refused when it is read, rather than by ns-2 hours later or not at all:
ns-2 silently truncates a number that it cannot hold.
"""

from __future__ import annotations

MOST_COUNT = 10**9
"""Most packets and the like: ns-2 stores them in 32 bits, and the scripts take no larger count."""

MOST_SUBSTREAM = 10**6
"""Last substream of the random numbers that the scripts take."""

MOST_VARIABLE = 2**31 - 2
"""Largest size of a variable of ns-2's classes: many have 32 bits, and larger values are
truncated. A queue of ns-2 has a limit of one packet more than it holds."""

MOST_WINDOW_PKTS = 10**8
"""Largest window, packets, 150 GB of whole Ethernet frames: ns-2's Vegas has 12 bytes for each
packet from its start on."""

MOST_NUMBER = 1e11
"""Largest size of any other number: the scripts take no number of 1e12."""

MOST_PACKET_BYTES = 65_535
"""Largest payload of a segment, bytes: an IP packet cannot be larger."""

LEAST_MBPS = 1e-6
"""Lowest rate, 1 bit/s: a packet takes hours."""

MOST_MBPS = 1e6
"""Highest rate, 1 Tbit/s: a packet takes a few ns, the resolution of ns-2's clock after
MOST_TIME_S."""

MOST_TIME_S = 1e7
"""Longest simulated time, 116 days: the resolution of ns-2's clock, a double, is then 2 ns."""

LEAST_SAMPLE_S = 1e-6
"""Shortest time between two samples or two steps of a queue: with less, ns-2's clock would stop
advancing late in a long run."""

LEAST_DURATION_S = 0.01
"""Shortest simulated time, the resolution of times in the scripts' files. They round times of
samples to 1e-6 s, so that a run of less than half of that would never end."""

LEAST_POSITIVE = 1e-12
"""Smallest number that has to be above 0: smaller ones are 0 beside any other time or size."""

MOST_DELAY_MS = 1e7
"""Longest one-way delay, nearly three hours: sunlight takes 500 s to reach the Earth."""

MOST_FLOWS = 500
"""Most flows of a run: each has two open files, and most systems allow a process 1,024."""

MOST_SOURCES = 1000
"""Most sources of background traffic of a run: each has nodes and links of its own."""

MOST_RUNS = 60_000
"""Most runs of a tier: each has a plan entry, a folder and a row of the report. Planning this many
takes half a minute and some 350 MB; a grid of 17,600 points with three repetitions each still
fits."""

MOST_LABEL = 80
"""Longest label, characters: it has to fit into a legend and a column."""

MOST_TITLE = 200
"""Longest title, characters: a heading of two or three lines."""

MOST_NAME = 60
"""Longest key or file name, characters: some become parts of file names, which may have 255
bytes."""
