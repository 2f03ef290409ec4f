"""Units of parameters, the largest and smallest values, and the arithmetic of BDPs.

A study that exceeds a limit is refused when it is read, rather than by ns-2 hours later or not at
all: ns-2 silently truncates a number that it cannot hold.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

BITS_PER_BYTE = 8
MINUS = "\N{MINUS SIGN}"
_LEVEL_BITS = 11  # ns-2's default bits of each address level below the first
_FIRST_GROUP = 1 << 30  # the bit of a multicast address in ns-2's default format

_SUFFIX_UNITS = {
    "_s": "s",
    "_ms": "ms",
    "_mbps": "Mbit/s",
    "_pkts": "packets",
    "_bytes": "bytes",
    "_pct": "%",
}


def unit_of(parameter: str) -> str:
    """Unit of a run parameter, taken from its name (``rtt_ms`` → ``ms``); "" if it has none."""
    for suffix, unit in _SUFFIX_UNITS.items():
        if parameter.endswith(suffix):
            return unit
    return ""


def with_unit(number: str, unit: str) -> str:
    """Number and unit; the unit ``1`` of ratios is not written."""
    return number if unit in ("", "1") else f"{number} {unit}"


def axis_title(quantity: str, unit: str) -> str:
    """Title of an axis: the quantity and its unit in brackets."""
    return quantity if unit in ("", "1") else f"{quantity} ({unit})"


def bdp_packets(bottleneck_mbps: float, rtt_ms: float, packet_bytes: int) -> float:
    """Bandwidth-delay product in packets: rate · RTT / packet size (Sharma 2006, section 4).

    >>> bdp_packets(622, 100, 1000)
    7775.0
    """
    return bottleneck_mbps * 1e3 * rtt_ms / (BITS_PER_BYTE * packet_bytes)


def several(count: int, noun: str) -> str:
    """A count and its noun.

    >>> several(1, "run"), several(2000, "core")
    ('1 run', '2,000 cores')
    """
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"


def table_lines(
    rows: Sequence[Sequence[str]], left: int | None = None, right: int | None = None
) -> Iterator[str]:
    """Rows as lines of columns of equal width, the first row being the header.

    The first ``left`` columns are left-aligned, all by default, and so are those behind the next
    ``right``, if it is given.

    >>> list(table_lines([("run", "cost"), ("a", "1")], left=1))
    ['run  cost', 'a       1']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    first = len(widths) if left is None else left
    rights = range(first, len(widths) if right is None else first + right)
    for row in rows:
        cells = (
            cell.rjust(width) if column in rights else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


def slug(text: str) -> str:
    """Lower-case identifier of letters, digits and hyphens, for file names and anchors.

    >>> slug("HS-TCP, RTT 100 ms")
    'hs-tcp-rtt-100-ms'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def addresses_of(numbers: Iterable[int | None]) -> Callable[[int | None], str]:
    """A function that shows a trace's addresses as numbers, or level by level as in its script.

    If any address is at least 1.0.0 with ns-2's default number of bits per level, all are taken to
    be hierarchical, because no flat topology has so many nodes. The address of a multicast group
    (2^30 or more) is shown as a number.

    >>> shown = addresses_of([2048, 4194305])
    >>> shown(4194305), shown(2048), addresses_of([2048])(2048), shown(-1), shown(None)
    ('1.0.1', '0.1.0', '2048', '-1', '-')
    >>> addresses_of([3, 1073741824])(1073741824)
    '1073741824'
    """
    with_levels = range(1 << 2 * _LEVEL_BITS, _FIRST_GROUP)
    has_levels = any(each in with_levels for each in numbers)
    below = (1 << _LEVEL_BITS) - 1

    def shown(number: int | None) -> str:
        if number is None:
            return "-"
        if not has_levels or number < 0 or number >= _FIRST_GROUP:
            return str(number)
        levels = number >> 2 * _LEVEL_BITS, number >> _LEVEL_BITS & below, number & below
        return ".".join(map(str, levels))

    return shown


# ---------------------------------------------------------------- limits

MOST_COUNT = 10**9
"""Most packets and the like: ns-2 has 32 bits for them."""

MOST_SUBSTREAM = 10**6
"""Last substream of the random numbers that the scripts take."""

MOST_VARIABLE = 2**31 - 2
"""Largest size of a variable of ns-2's classes, many of which have 32 bits; a queue's limit is one
packet more than it holds."""

MOST_WINDOW_PKTS = 10**8
"""Largest window, packets: ns-2's Vegas has 12 bytes for each from its start on."""

MOST_NUMBER = 1e11
"""Largest size of any other number: the scripts take no number of 1e12."""

MOST_PACKET_BYTES = 65_535
"""Largest payload of a segment, bytes: an IP packet cannot be larger."""

LEAST_MBPS, MOST_MBPS = 1e-6, 1e6
"""Rates: a packet takes hours, or a few ns, the resolution of ns-2's clock after MOST_TIME_S."""

MOST_TIME_S = 1e7
"""Longest simulated time: the resolution of ns-2's clock, a double, is then 2 ns."""

LEAST_SAMPLE_S = 1e-6
"""Shortest time between two samples or steps of a queue: ns-2's clock would stop late in a run."""

LEAST_DURATION_S = 0.01
"""Shortest simulated time, the resolution of times in the scripts' files."""

LEAST_POSITIVE = 1e-12
"""Smallest number that has to be above 0: smaller ones are 0 beside any other time or size."""

MOST_DELAY_MS = 1e7
"""Longest one-way delay, nearly three hours."""

MOST_FLOWS = 500
"""Most flows of a run: each has two open files, and most systems allow a process 1,024."""

MOST_SOURCES = 1000
"""Most sources of background traffic of a run: each has nodes and links of its own."""

MOST_RUNS = 60_000
"""Most runs of a tier: planning them takes half a minute and some 350 MB."""


def total(values: Iterable[float]) -> float:
    """Values added one after the other, with the same bits in every version of Python.

    The built-in ``sum`` makes up for what rounding loses since Python 3.12.
    """
    return functools.reduce(operator.add, values, 0.0)
