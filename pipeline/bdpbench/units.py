"""Units of parameters and the arithmetic of bandwidth-delay products."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

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
