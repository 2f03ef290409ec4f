"""The largest and the smallest that a study may ask for, each with its reason.

A study that asks for more is refused when it is read, rather than by ns-2 hours later or by nobody:
a number that ns-2 cannot hold would be cut without a word.
"""

from __future__ import annotations

MOST_COUNT = 2**31 - 1
"""Packets, repetitions and the like: ns-2 keeps them in 32 bits."""

MOST_VARIABLE = 2**31 - 1
"""A variable of ns-2's classes, of either sign: many have 32 bits, and are cut without a word."""

MOST_NUMBER = 1e15
"""Any other number, of either sign: from 9e15 on, neighbouring whole numbers are one to ns-2."""

MOST_PACKET_BYTES = 65_535
"""Payload of a segment: an IP packet has no more bytes."""

LEAST_MBPS = 1e-6
"""1 bit/s: a packet takes hours."""

MOST_MBPS = 1e6
"""1 Tbit/s: a packet takes some ns, the finest step of ns-2's clock after MOST_TIME_S."""

MOST_TIME_S = 1e7
"""Simulated time, 116 days: ns-2's clock, a double, then has steps of 2 ns."""

LEAST_SAMPLE_S = 1e-6
"""Between two samples: with less, ns-2's clock would come to a stand late in a long run."""

MOST_DELAY_MS = 1e7
"""One way, nearly three hours: the light of the Sun takes 500 s to us."""

MOST_FLOWS = 500
"""Flows of a run: each has two files open, and most systems let a process have 1,024."""

MOST_RUNS = 60_000
"""Runs of a tier: each is planned, a folder, and a row of the report. So many take half a minute
and some 350 MB to plan; a grid of 17,600 points with three repetitions each is among them."""

MOST_NAME = 60
"""Letters of a key or file name: some become parts of a file's name, which may have 255 bytes."""
