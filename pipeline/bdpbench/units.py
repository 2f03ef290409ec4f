"""Units of parameters and the arithmetic of bandwidth-delay products."""

from __future__ import annotations

import re

BITS_PER_BYTE = 8

_SUFFIX_UNITS = {
    "_s": "s",
    "_ms": "ms",
    "_mbps": "Mbit/s",
    "_pkts": "packets",
    "_bytes": "bytes",
    "_pct": "%",
}


def unit_of(parameter: str) -> str:
    """Unit of a run parameter, read off its name (``rtt_ms`` → ``ms``); "" where it has none."""
    for suffix, unit in _SUFFIX_UNITS.items():
        if parameter.endswith(suffix):
            return unit
    return ""


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
