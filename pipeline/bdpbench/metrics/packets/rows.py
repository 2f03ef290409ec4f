"""The rows of a packet trace as they are summed, and the words that they use.

A packet that crosses a link makes three lines: ``+`` when it enters the link's queue, ``-`` when it
leaves the queue and its transmission begins, ``r`` when it has arrived at the far end; or ``+`` and
``d`` if the queue drops it. So a packet that crosses three links has nine lines, and a flow has to
be counted at one place:

- a packet is *sent* with the ``+`` of the link that begins at its source node, or on a wireless
  node with the ``s`` of the agent layer (AGT);
- a packet is *received* with the ``r`` of the link that ends at its destination node, or with the
  ``r`` of the agent layer;
- a packet is *dropped* with ``d`` or ``e`` on a link, or with ``D`` or ``d`` on a wireless node.

A *stream* is what one agent sends to another: it has a flow id, and a source and destination node
and port. The ACKs of a TCP flow are a stream of their own, in the other direction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from bdpbench.errors import BdpbenchError
from bdpbench.later import pl

ENDS = ("flow", "src_node", "src_port", "dst_node", "dst_port")
"""Columns that identify a stream."""

UNKNOWN = -(1 << 30) - 1
"""A node, port, flow id or reason that a row does not have; the ends of the range are addresses."""

COLUMNS = (
    *("time_s", "energy_j", "event", "from_node", "to_node", "type", "bytes", *ENDS),
    *("seq", "uid", "header_bytes", "from_lat", "layer", "node", "reason", "next_hop", "hops"),
)
"""Columns of a packet trace that metrics read, in the order of packets.c."""

LAYERS = ("link", "AGT", "RTR", "TRP", "IFQ", "MAC", "PHY")
"""Where it happened, in the numbers of packets.c: on a link, or at a layer of a wireless node."""

CONTROL_TYPES = frozenset(
    (
        *("start", "stop", "prune", "graft", "graftAck", "join", "assert", "message", "rtcp"),
        *("rtProtoDV", "rtProtoLS", "CtrMcast_Encap", "CtrMcast_Decap"),
        *("sa_req", "sa_accept", "sa_conf", "sa_teardown", "sa_reject", "httpInval"),
        *("ARP", "MAC", "TORA", "DSR", "AODV", "AOMDV", "MDART", "IMEP", "PUMA", "OLSR"),
        *("rap_ack", "tcpFriendCtl", "diffusion", "LDP", "gaf", "pushback", "LMS_SETUP", "smac"),
        "HDLC",
    )
)
"""Types of packets, as printed by ns-2 (common/packet.h), that carry no user data."""

ROUTING_TYPES = (
    *("rtProtoDV", "rtProtoLS", "LDP", "DSR", "AODV", "AOMDV", "MDART", "TORA", "IMEP", "PUMA"),
    *("OLSR", "message"),
)
"""Types of packets of routing protocols; DSDV's are called message."""

_PLAIN, _CONTROL, _TCP, _ACK, _ROUTING = 1, 2, 3, 4, 8

KINDS = {
    **dict.fromkeys(CONTROL_TYPES, _CONTROL),
    **dict.fromkeys(ROUTING_TYPES, _CONTROL | _ROUTING),
    "tcp": _TCP,
    "ack": _ACK,
}
"""Type of packets → what they carry, in the numbers of packets.c; all others carry data."""

FIRST_GROUP = 1 << 30
"""A multicast address has bit 30 set in ns-2's default format, the sign bit in the extended one."""

NO_NUMBER = -(1 << 63)
"""The sequence number of a row without one, or with one that no packet can have."""

LARGEST_NUMBER = 10**18
"""Sequence numbers from here on are taken for none, so that sums of a few do not overflow."""

LATEST_S = 1e12
"""Largest time of an event, s."""

BIN_ROUNDING = 1e-7
"""Of a bin: less than the distance of two times, more than an error of division."""


@dataclass(frozen=True)
class Window:
    """The measured time ``[start_s, end_s)``, s: half-open, so that windows can be adjacent.

    >>> frame = pl.DataFrame({"time_s": [1.0, 2.0, 3.0]})
    >>> frame.filter(Window(1, 3).holds())["time_s"].to_list()
    [1.0, 2.0]
    """

    start_s: float = -math.inf
    end_s: float = math.inf

    def __post_init__(self) -> None:
        if not self.start_s < self.end_s:
            raise BdpbenchError(
                f"a window ends after its start, not at {self.end_s:g} s after {self.start_s:g} s"
            )

    def holds(self, column: str = "time_s") -> pl.Expr:
        """Condition for rows whose ``column`` (s) is in the window."""
        return pl.col(column).is_between(self.start_s, self.end_s, closed="left")

    @property
    def is_bounded(self) -> bool:
        """Whether the window excludes any time at all."""
        return math.isfinite(self.start_s) or math.isfinite(self.end_s)


_ABSENT: dict[str, float] = {
    "bytes": 0,
    "header_bytes": 0,
    "seq": NO_NUMBER,
    "uid": -1,
    "energy_j": -1.0,
    "type": -1,
    "layer": 0,
}


def numbers_of(
    batch: pl.DataFrame, type_of: Callable[[str], int], reason_of: Callable[[str], int]
) -> Iterator[tuple[str, list[Any]]]:
    """The columns of rows as packets.c reads them; without those that are null in all rows.

    ``type_of`` and ``reason_of`` give the number of a type of packets, and of a reason.
    """
    if batch["src_node"].null_count():
        # HDLC's requests and answers go from one end of a satellite's link to the other.
        ends = (("src_node", "from_node"), ("dst_node", "to_node"))
        batch = batch.with_columns(pl.coalesce(end, of_link) for end, of_link in ends)
    numbers: dict[str, Callable[[Any], int]] = {
        "event": ord,
        "type": type_of,
        "reason": reason_of,
        "layer": LAYERS.index,
        "from_lat": lambda _: 1,
        "seq": lambda seq: seq if abs(seq) < LARGEST_NUMBER else NO_NUMBER,
    }
    for name in COLUMNS:
        if name not in batch.columns or batch[name].null_count() == batch.height:
            continue
        values, number = batch[name].to_list(), numbers.get(name)
        absent = 0 if name == "from_lat" else _ABSENT.get(name, UNKNOWN)
        if number is not None:
            known = {each: number(each) for each in set(values) if each is not None}
            values = [absent if each is None else known[each] for each in values]
        elif batch[name].null_count():
            values = [absent if each is None else each for each in values]
        yield name, values


def goes_to_group() -> pl.Expr:
    """Whether a packet is multicast or broadcast (-1), by dst_node."""
    return (pl.col("dst_node") < 0) | (pl.col("dst_node") >= FIRST_GROUP)


def width_ms(index: int) -> int:
    """Widths in ms of which each divides the next: 1, 5, 10, 50, 100, 500, ...

    >>> [width_ms(index) for index in range(6)]
    [1, 5, 10, 50, 100, 500]
    """
    return int((1 + 4 * (index % 2)) * 10 ** (index // 2))


def readable_width_s(width_s: float, length_s: float, packets: int) -> float:
    """A multiple of an automatic width (s) in whose bins a flow receives two packets or more.

    In narrower bins a rate jumps between zero and that of a packet. At least twenty bins are left,
    if there are as many.

    >>> readable_width_s(0.01, 4.9, 100), readable_width_s(0.01, 4.9, 1), readable_width_s(10, 4, 9)
    (0.1, 0.1, 10)
    """
    index = 0
    while packets * width_s < 2 * length_s:
        while width_ms(index) / 1e3 <= width_s:
            index += 1
        if length_s < 20 * width_ms(index) / 1e3:
            break
        width_s = width_ms(index) / 1e3
    return width_s


def number_of_bin(time_s: float, width_s: float, *, before: bool = False) -> int:
    """Number of the bin that contains a time (s), or that ends at or just after it (``before``).

    >>> number_of_bin(0.3, 0.1), number_of_bin(0.3, 0.1, before=True)
    (3, 2)
    """
    if before:
        return max(0, math.ceil(time_s / width_s - BIN_ROUNDING) - 1)
    return max(0, int(time_s / width_s + BIN_ROUNDING))
