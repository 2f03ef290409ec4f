"""The sums of a packet trace, row by row: what they are, and how packets are matched.

This is the definition. ``packet_sums.c`` does the same some fifty times as fast and replaces it
where a compiler is found; a test compares the two. What both remember between rows is bounded: more
packets than ``MOST_OPEN`` are on no path, so the trace lacks the lines of their ends.
"""

from __future__ import annotations

import bisect
import heapq
import itertools
import math
from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from bdpbench.metrics.packets.rows import (
    CONTROL_TYPES,
    ENDS,
    FIRST_GROUP,
    NO_NUMBER,
    ROUTING_TYPES,
    ROW,
    TCP_HEADER_BYTES,
    UNKNOWN,
)

MOST_OPEN = 2_000_000
"""Packets under way, and packets in queues."""

MOST_ARRIVED = 1_000_000
"""Packets that are known to have arrived."""

MOST_OF_GROUPS = 200_000
"""Packets to groups whose sending is known, and their arrivals at nodes."""

MOST_BINS = 500
"""Most bins of a series of automatic width: as many as a chart can show."""

MOST_CELLS = 500_000
_ROUNDING = 1e-7  # of a bin: less than the distance of two times, more than an error of division
_SMOOTHING = 1 / 16  # RFC 3550, section 6.4.1
_I64, _F64 = pl.Int64(), pl.Float64()
_LINK, _AGENT, _ROUTER = "link", "AGT", "RTR"
_WIRED_REASONS = {"d": "queue", "e": "error model"}
_DOES = {"s": 0, "+": 0, "r": 1, "f": 2, "h": 2, "D": 3, "d": 3}
_SENT, _FORWARDED = 0, 2

STREAMS: Mapping[str, Any] = {
    **dict.fromkeys(ENDS, pl.Int32()),
    "type": pl.String(),
    **dict.fromkeys(("is_ack", "is_data", "by_bytes"), pl.Boolean()),
    **dict.fromkeys(("first_sent_s", "first_retransmission_s", "first_drop_s"), _F64),
    **dict.fromkeys(("delay_min_s", "last_received_s", "longest_gap_s", "jitter_s"), _F64),
    "delay_steps": _I64,
    **dict.fromkeys(("delay_step_sum_s", "slow_start_end_s", "started_s"), _F64),
    **dict.fromkeys(("slow_start_pkts", "slow_start_drops", "route_changes"), _I64),
    **dict.fromkeys(("forgotten_losses", "hop_pkts", "hop_sum", "hop_max"), _I64),
}
"""Columns of the streams that were seen at their ends or on a link."""

LINKS: Mapping[str, Any] = {
    **dict.fromkeys(("from_node", "to_node"), pl.Int32()),
    **dict.fromkeys(("reached", "coarse"), pl.Boolean()),
    **dict.fromkeys(("before", "periods", "busy_bytes"), _I64),
    "busy_s": _F64,
}
"""Columns of the links."""

COUNTED = tuple(
    f"{what}_{unit}"
    for what in ("sent", "received", "forwarded", "dropped")
    for unit in ("pkts", "bytes")
)
"""Counts of a layer of a node."""

TABLES: Mapping[str, Mapping[str, Any]] = {
    "entered": {
        **dict.fromkeys(("link", "stream", "entered_pkts", "entered_bytes"), _I64),
        "first_s": _F64,
    },
    "losses": {
        "node": pl.Int32(),
        **dict.fromkeys(("layer", "reason", "type"), pl.String()),
        **dict.fromkeys(("dropped_pkts", "dropped_bytes"), _I64),
    },
    "receivers": {
        "stream": _I64,
        "node": pl.Int32(),
        **dict.fromkeys(("received_pkts", "received_bytes", "delays"), _I64),
        **dict.fromkeys(("delay_sum_s", "delay_max_s"), _F64),
    },
    "nodes": {"node": pl.Int32(), "layer": pl.String(), **dict.fromkeys(COUNTED, _I64)},
    "energy": {"node": pl.Int32(), **dict.fromkeys(("first_j", "last_j"), _F64)},
    "open": {"stream": _I64, "sent_s": _F64, "dropped": pl.Boolean()},
}
"""Tables of what is found beside streams and links, and their columns."""

SERIES: Mapping[str, tuple[str, tuple[str, ...], str, str]] = {
    "sent": (
        "stream",
        ("sent_pkts", "sent_bytes", "retransmitted_pkts", "retransmitted_bytes"),
        *("", ""),
    ),
    "received": (
        "stream",
        ("received_pkts", "received_bytes", "good_bytes", "delays"),
        *("delay_sum_s", "delay_max_s"),
    ),
    "dropped": ("stream", ("dropped_pkts", "dropped_bytes"), "", ""),
    "round_trips": ("stream", ("rtts",), "rtt_sum_s", "rtt_max_s"),
    "delivered": ("stream", ("delivered_pkts",), "", ""),
    "departed": ("link", ("departed_pkts", "departed_bytes"), "", ""),
    "waited": ("link", ("waited_pkts",), "wait_sum_s", "wait_max_s"),
    "dropped_on_link": ("link", ("dropped_pkts", "dropped_bytes"), "", ""),
    "lengths": ("link", ("change_pkts",), "change_times_s", "longest_pkts"),
    "causes": ("cause", ("dropped_pkts",), "", ""),
    "levels": ("node", (), "", "below_j"),
}
"""Series by bin of time: subject, names of the counts, of the sum and of the maximum."""


@dataclass(frozen=True)
class Found:
    """The sums of a trace; streams, links and causes are numbered from 0.

    Attributes:
        streams, links: columns as ``STREAMS`` and ``LINKS``, and their numbers: stream, link.
        tables: name → frame with the columns of ``TABLES``; null where nothing is known.
        series: name → subject, bin (i64) and the columns of ``SERIES``.
        width_index: index of the width of the bins, if it was not given.
        causes: layer and reason of each cause of drops.
        routing_pkts, routing_bytes: what routers of wireless nodes sent and forwarded of routing.
        has_routers, has_agents: whether such lines (RTR, AGT) were there.
        forgotten: packets whose end did not come in time.
    """

    streams: pl.DataFrame
    links: pl.DataFrame
    tables: Mapping[str, pl.DataFrame]
    series: Mapping[str, pl.DataFrame]
    width_index: int
    causes: list[tuple[str, str | None]]
    routing_pkts: int
    routing_bytes: int
    has_routers: bool
    has_agents: bool
    forgotten: int


def width_ms(index: int) -> int:
    """Widths in ms of which each divides the next: 1, 5, 10, 50, 100, 500, ...

    >>> [width_ms(index) for index in range(6)]
    [1, 5, 10, 50, 100, 500]
    """
    return int((1 + 4 * (index % 2)) * 10 ** (index // 2))


class Bins:
    """Counts, a sum and a maximum by subject and bin of time.

    Bins begin at 0 s and at every multiple of their width. Without a given width (s) they start at
    1 ms and widen (1, 5, 10, 50, 100, ... ms) until the whole trace fits into ``MOST_BINS``, so
    that the width depends only on the end of the trace.
    """

    def __init__(self, given_s: float | None) -> None:
        self.given_s, self.index = given_s, 0
        self.cells: dict[tuple[int, int], list[Any]] = {}
        self._per_s = 1 / (given_s or 1e-3)

    def at(self, subject: int, time_s: float) -> list[Any]:
        """The cell of a time: four counts, a sum, and a maximum (None if there is none)."""
        self.reach(time_s)
        while self.given_s is None and len(self.cells) > MOST_CELLS:
            self.widen_to(self.index + 1)
        key = (subject, int(time_s * self._per_s + _ROUNDING))
        cell = self.cells.get(key)
        if cell is None:
            cell = self.cells[key] = [0, 0, 0, 0, 0.0, None]
        return cell

    def reach(self, time_s: float) -> None:
        """Widen the bins until those up to a time are no more than a chart has room for."""
        index = self.index
        while self.given_s is None and time_s >= MOST_BINS * width_ms(index) / 1e3:
            index += 1
        if index > self.index:
            self.widen_to(index)

    def widen_to(self, index: int) -> None:
        """Merge the bins to those of a larger width."""
        ratio = width_ms(index) // width_ms(self.index)
        self.index, self._per_s = index, 1 / (width_ms(index) / 1e3)
        narrow, self.cells = self.cells, {}
        for (subject, bin_), cell in narrow.items():
            into = self.cells.setdefault((subject, bin_ // ratio), [0, 0, 0, 0, 0.0, None])
            into[:5] = [one + other for one, other in zip(into[:5], cell[:5], strict=True)]
            into[5] = _larger(into[5], cell[5])


def _larger(one: float | None, other: float | None) -> float | None:
    return other if one is None else one if other is None else max(one, other)


@dataclass(slots=True)
class Stream:
    """What one agent sends to another; times in s, None for what never happened."""

    ends: tuple[int, ...]
    number: int
    types: list[str | None] = field(default_factory=lambda: [None] * 4)  # sent, came, lost, seen
    own: bool = False
    own_acks: bool = True
    own_data: bool = False
    seen_acks: bool = True
    seen_data: bool = False
    entered: bool = False
    highest_sent: int | None = None
    by_bytes: bool = False
    highest_arrived: int | None = None
    holes: list[tuple[int, int]] = field(default_factory=list)  # ascending: first and last number
    acked: int = -1
    unacked: dict[int, float | None] = field(default_factory=dict)  # None: sent more than once
    awaited: list[int] = field(default_factory=list)  # the same numbers, as a heap
    first_sent_s: float | None = None
    first_retransmission_s: float | None = None
    first_drop_s: float | None = None
    delay_min_s: float | None = None
    last_received_s: float | None = None
    longest_gap_s: float | None = None
    last_delay_s: float | None = None
    jitter_s: float = 0.0
    delay_steps: int = 0
    delay_step_sum_s: float = 0.0
    slow_start_end_s: float | None = None
    started_s: float | None = None
    slow_start_pkts: int = 0
    slow_start_drops: int = 0
    last_sent_s: float | None = None  # with what slow start counted of that moment
    pkts_then: int = 0
    drops_then: int = 0
    route_changes: int = 0
    forgotten_losses: int = 0
    hops: list[int] | None = None


@dataclass(slots=True)
class Link:
    """A link, the packets that have waited for it, and the changes of its queue of one moment."""

    ends: tuple[int, int]
    number: int
    reached: bool = False
    coarse: bool = False
    length: int = 0
    before: int = 0
    changes: list[int] = field(default_factory=list)
    changes_s: float = 0.0
    periods: int = 0
    busy_bytes: int = 0
    busy_s: float = 0.0
    last_s: float | None = None
    last_bytes: int = 0
    follows: bool = False


@dataclass(slots=True)
class Sending:
    """A packet that is under way, until ``ended``."""

    stream: Stream
    sent_s: float
    payload: int
    dropped: bool = False
    ended: bool = False


Packet = tuple[int, ...]
"""What identifies a packet: its uid and ends. The old wireless format prints no flow id, a tunnel
wraps a packet into one with other ends and the same uid, and some agents reuse a uid."""


class Meter:
    """The sums of rows from ``start_s`` on; earlier rows only set the initial state.

    Args:
        start_s: start of the window, s.
        width_s: width of the bins of the series, s; None to choose it.
    """

    def __init__(self, start_s: float, width_s: float | None) -> None:
        self._start_s = start_s
        self._bins = {name: Bins(width_s) for name in SERIES}
        self._last_s = 0.0
        self._streams: dict[tuple[int, ...], Stream] = {}
        self._links: dict[tuple[int, int], Link] = {}
        # By packet: its sendings that wait for an end, and those of which a drop is known.
        self._open: dict[Packet, tuple[deque[Sending], deque[Sending]]] = {}
        self._order: deque[tuple[Packet, Sending]] = deque()
        self._open_count = self._forgotten = 0
        self._arrived: OrderedDict[Packet, float] = OrderedDict()
        self._queued: OrderedDict[tuple[int, int], deque[tuple[float, int, int]]] = OrderedDict()
        self._queued_count = 0
        self._held: tuple[Link, int, float, int] | None = None
        self._entered: dict[tuple[int, int], list[Any]] = {}
        self._next: dict[tuple[int, int], tuple[str, int]] = {}
        self._losses: Counter[tuple[Any, ...]] = Counter()
        self._lost_bytes: Counter[tuple[Any, ...]] = Counter()
        self._causes: dict[tuple[str, str | None], int] = {}
        self._sent_to_group: OrderedDict[Packet, float] = OrderedDict()
        self._copies: OrderedDict[tuple[Packet, int], None] = OrderedDict()
        self._receivers: dict[tuple[int, int], list[Any]] = {}
        self._nodes: dict[tuple[int, str], list[int]] = {}
        self._levels: dict[int, list[float]] = {}
        self._routing = [0, 0]
        self._has_routers = self._has_agents = False

    def add(self, batch: pl.DataFrame) -> None:
        """Add rows as ``Rows.prepared`` gives them, in the order of the trace."""
        columns = [
            batch[name].cast(ROW[name]).to_list()
            if name in batch.columns
            else itertools.repeat(None)
            for name in ROW
        ]
        for values in zip(*columns, strict=False):
            self._take(Row(*values))

    def _take(self, row: Row) -> None:
        self._last_s = max(self._last_s, row.time_s)
        if row.layer is None:
            self._take_wired(row)
        else:
            self._take_wireless(row)

    def _counts(self, time_s: float) -> bool:
        return time_s >= self._start_s

    # ---- links ----

    def _take_wired(self, row: Row) -> None:
        stream, link = self._stream_of(row.ends), self._link_of(row.from_node, row.to_node)
        link.coarse |= row.from_lat is not None
        held, self._held = self._held, None
        if held is not None and self._leaves_at_once(held, row, link):
            pass
        elif row.event == "+":
            self._enter(row, stream, link)
        elif row.event in ("-", "d", "e"):
            if row.event != "-":
                self._drop(row, stream, link)
            self._leave(row, link)
        elif row.event == "r":
            link.reached = True
            if row.to_node == row.receiver:
                self._arrive(row, stream)
            if row.to_group:
                self._copy(row, stream, row.to_node)
        _note(stream, row, 3)

    def _enter(self, row: Row, stream: Stream, link: Link) -> None:
        """A packet enters a queue; the next row may be that it leaves it at once."""
        if self._counts(row.time_s):
            stream.entered = True
            entry = self._entered.setdefault((link.number, stream.number), [0, 0, row.time_s])
            entry[0] += 1
            entry[1] += row.bytes
            self._route(stream, row.from_node, (_LINK, row.to_node), row.time_s)
        if row.from_node == row.source:
            self._send(row, stream)
        self._held = (link, row.uid, row.time_s, row.bytes)

    def _leaves_at_once(self, held: tuple[Link, int, float, int], row: Row, link: Link) -> bool:
        """Whether a row is that the packet of the row before leaves; else that one waits."""
        before, uid, time_s, size = held
        if row.event == "-" and (before, uid, time_s) == (link, row.uid, row.time_s):
            self._count_departure(link, time_s, size)
            return True
        self._wait(*held)
        return False

    def _wait(self, link: Link, uid: int, time_s: float, size: int) -> None:
        self._change(link, time_s, 1)
        entry = (time_s, size, len(link.changes) - 1)
        self._queued.setdefault((uid, link.number), deque()).append(entry)
        self._queued_count += 1
        if self._queued_count > MOST_OPEN:  # the trace lacks the lines of their leaving
            self._queued_count -= len(self._queued.popitem(last=False)[1])

    def _leave(self, row: Row, link: Link) -> None:
        """A packet leaves a queue or is dropped; of one uid, the first to enter is the first."""
        waiting = self._queued.get((row.uid, link.number))
        if not waiting:
            if row.event == "-":
                self._depart(link, row.time_s, row.bytes, None)
            return
        entered_s, size, change = waiting.popleft()
        self._queued_count -= 1
        if not waiting:
            del self._queued[row.uid, link.number]
        if entered_s == row.time_s == link.changes_s:  # it was never in the queue
            link.changes[change] = 0
        else:
            self._change(link, row.time_s, -1)
        if row.event == "-":
            self._depart(link, row.time_s, size, row.time_s - entered_s)

    def _depart(self, link: Link, time_s: float, size: int, wait_s: float | None) -> None:
        """A packet begins its transmission; one that waited for that before it shows the capacity.

        A packet that waited while its predecessor left was sent when the transmission of that one
        ended, so the time between their departures is the predecessor's transmission time.
        """
        follows = link.last_s is not None and wait_s is not None
        if follows and link.last_s is not None and time_s - (wait_s or 0.0) <= link.last_s:
            link.periods += not link.follows
            link.busy_bytes += link.last_bytes
            link.busy_s += time_s - link.last_s
            link.follows = True
        else:
            link.follows = False
        link.last_s, link.last_bytes = time_s, size
        self._count_departure(link, time_s, size)
        if self._counts(time_s):
            cell = self._bins["waited"].at(link.number, time_s)
            if wait_s is not None:
                cell[0] += wait_s > 0
                cell[4] += wait_s
                cell[5] = _larger(cell[5], wait_s)

    def _count_departure(self, link: Link, time_s: float, size: int) -> None:
        if self._counts(time_s):
            _add(self._bins["departed"].at(link.number, time_s), 1, size)

    def _change(self, link: Link, time_s: float, by: int) -> None:
        """Note a change of a queue's length; what happens at one moment may take it back."""
        if time_s != link.changes_s:
            self._apply(link)
            link.changes_s = time_s
        link.changes.append(by)

    def _apply(self, link: Link) -> None:
        for by in filter(None, link.changes):
            link.length += by
            if self._counts(link.changes_s):
                cell = self._bins["lengths"].at(link.number, link.changes_s)
                cell[0] += by
                cell[4] += by * link.changes_s
                cell[5] = _larger(cell[5], link.length)
            else:
                link.before += by
        link.changes.clear()

    def _route(self, stream: Stream, node: int, to: tuple[str, int], time_s: float) -> None:
        """Where a node sends a stream's packets: another next node is a change of the route."""
        before = self._next.get((stream.number, node))
        self._next[stream.number, node] = to
        if before is not None and before != to and self._counts(time_s):
            stream.route_changes += 1

    # ---- wireless nodes ----

    def _take_wireless(self, row: Row) -> None:
        does = _DOES.get(row.event)
        self._has_agents |= row.layer == _AGENT
        if self._counts(row.time_s):
            self._count_at_node(row, does)
        if row.layer == _AGENT and does == _SENT:
            self._send(row, self._stream_of(row.ends))
        elif row.layer == _AGENT and row.event == "r":
            stream = self._stream_of(row.ends)
            if row.hops is not None and self._counts(row.time_s):
                pkts, hops, most = stream.hops or (0, 0, row.hops)
                stream.hops = [pkts + 1, hops + row.hops, max(most, row.hops)]
            self._arrive(row, stream)
            if row.to_group:
                self._copy(row, stream, row.node)
        elif row.event in ("D", "d"):
            self._drop(row, self._stream_of(row.ends) if row.src_node != UNKNOWN else None, None)
        is_on_its_way = row.layer == _ROUTER and does in (_SENT, _FORWARDED) and not row.to_group
        if is_on_its_way and row.next_hop is not None and row.next_hop >= 0:
            to = ("node", row.next_hop)
            self._route(self._stream_of(row.ends), row.node, to, row.time_s)

    def _count_at_node(self, row: Row, does: int | None) -> None:
        layer = row.layer or ""
        counts = self._nodes.setdefault((row.node, layer), [0] * len(COUNTED))
        if does is not None:
            counts[2 * does] += 1
            counts[2 * does + 1] += row.bytes
        self._has_routers |= layer == _ROUTER
        if layer == _ROUTER and does in (_SENT, _FORWARDED) and row.type in ROUTING_TYPES:
            self._routing[0] += 1
            self._routing[1] += row.bytes
        if row.energy_j is not None and row.energy_j >= 0:  # -1 without an energy model
            self._levels.setdefault(row.node, [row.energy_j, 0.0])[1] = row.energy_j
            cell = self._bins["levels"].at(row.node, row.time_s)
            cell[5] = _larger(cell[5], -row.energy_j)

    # ---- packets ----

    def _send(self, row: Row, stream: Stream) -> None:
        """A packet leaves its source; a multicast source has a line at each of its links."""
        sendings = self._open.setdefault(row.packet, (deque(), deque()))
        if any(each and each[-1].sent_s == row.time_s for each in sendings):
            return
        again = stream.highest_sent is not None and 0 <= row.seq <= stream.highest_sent
        again = again and row.type != "ack"
        _note(stream, row, 0)
        _note_highest(stream, row)
        _count_slow_start(stream, row.time_s, again=again)
        if row.type == "tcp" and not stream.by_bytes and row.seq > stream.acked:
            seen = row.seq in stream.unacked
            stream.unacked[row.seq] = None if again or seen else row.time_s
            if not seen:
                heapq.heappush(stream.awaited, row.seq)
        if self._counts(row.time_s):
            cell = self._bins["sent"].at(stream.number, row.time_s)
            _add(cell, 1, row.bytes)
            stream.first_sent_s = _first(stream.first_sent_s, row.time_s)
            if again:
                _add(cell, 0, 0, 1, row.bytes)
                stream.first_retransmission_s = _first(stream.first_retransmission_s, row.time_s)
        if row.to_group:
            self._sent_to_group.setdefault(row.packet, row.time_s)
            _forget_beyond(self._sent_to_group, MOST_OF_GROUPS)
        sending = Sending(stream, row.time_s, row.payload)
        sendings[0].append(sending)
        self._order.append((row.packet, sending))
        self._open_count += 1
        if self._open_count > MOST_OPEN:
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        packet, sending = next(each for each in self._order if not each[1].ended)
        self._end(packet, sending)
        self._forgotten += 1
        if sending.dropped and self._counts(sending.sent_s):
            sending.stream.forgotten_losses += 1

    def _end(self, packet: Packet, sending: Sending) -> None:
        """Take a packet, the first of its kind, off those under way."""
        sendings = self._open[packet]
        sendings[sending.dropped].popleft()
        if not any(sendings):
            del self._open[packet]
        sending.ended = True
        self._open_count -= 1
        while self._order and self._order[0][1].ended:
            self._order.popleft()
        if len(self._order) > 2 * self._open_count + 1000:
            self._order = deque(each for each in self._order if not each[1].ended)

    def _arrive(self, row: Row, stream: Stream) -> None:
        """A packet comes to its receiver; what comes again is a duplicate that the network made."""
        _note(stream, row, 1)
        sendings = self._open.get(row.packet)
        if sendings is None and row.packet in self._arrived:
            return
        payload, delay_s = row.payload, None
        if sendings:
            # A packet that nobody has dropped is more likely to have arrived.
            sending = (sendings[0] or sendings[1])[0]
            self._end(row.packet, sending)
            self._arrived[row.packet] = sending.sent_s
            self._arrived.move_to_end(row.packet)
            _forget_beyond(self._arrived, MOST_ARRIVED)
            delay_s = row.time_s - sending.sent_s
            # Wireless nodes add 20 bytes of IP header to UDP's.
            payload = min(payload, sending.payload)
            if self._counts(sending.sent_s):
                self._bins["delivered"].at(stream.number, sending.sent_s)[0] += 1
        is_new = _brings_new(stream, row.seq)
        if self._counts(row.time_s):
            self._count_arrival(row, stream, payload if is_new else 0, delay_s)
        if row.type == "ack":
            self._acknowledge(row)

    def _count_arrival(
        self, row: Row, stream: Stream, good_bytes: int, delay_s: float | None
    ) -> None:
        cell = self._bins["received"].at(stream.number, row.time_s)
        _add(cell, 1, row.bytes, good_bytes, delay_s is not None)
        if stream.last_received_s is not None:
            gap_s = row.time_s - stream.last_received_s
            stream.longest_gap_s = _larger(stream.longest_gap_s, gap_s)
        stream.last_received_s = _larger(stream.last_received_s, row.time_s)
        if delay_s is None:
            return
        cell[4] += delay_s
        cell[5] = _larger(cell[5], delay_s)
        if stream.delay_min_s is None or delay_s < stream.delay_min_s:
            stream.delay_min_s = delay_s
        if stream.last_delay_s is not None:
            # Interarrival jitter of RFC 3550, section 6.4.1: J := J + (|D| - J)/16.
            step_s = abs(delay_s - stream.last_delay_s)
            stream.jitter_s = (1 - _SMOOTHING) * stream.jitter_s + _SMOOTHING * step_s
            stream.delay_steps += 1
            stream.delay_step_sum_s += step_s
        stream.last_delay_s = delay_s

    def _acknowledge(self, row: Row) -> None:
        """An RTT sample, if the ACK names the last number that it covers, and all were sent once.

        By Karn's rule a packet that was sent more than once gives no sample; nor does an ACK that
        covers such a packet, since a hole in the data delayed it.
        """
        flow, src_node, src_port, dst_node, dst_port = row.ends
        data = self._stream_of((flow, dst_node, dst_port, src_node, src_port))
        if row.seq <= data.acked:
            return
        data.acked = row.seq
        times_s = {}
        while data.awaited and data.awaited[0] <= row.seq:
            seq = heapq.heappop(data.awaited)
            times_s[seq] = data.unacked.pop(seq)
        sent_s = times_s.get(row.seq)
        if sent_s is not None and None not in times_s.values() and self._counts(row.time_s):
            cell = self._bins["round_trips"].at(data.number, row.time_s)
            cell[0] += 1
            cell[4] += row.time_s - sent_s
            cell[5] = _larger(cell[5], row.time_s - sent_s)

    def _drop(self, row: Row, stream: Stream | None, link: Link | None) -> None:
        """A drop, which need not be the end of a packet: LANs and wireless nodes drop copies."""
        if stream is not None:
            _note(stream, row, 2)
            sent_s = self._arrived.get(row.packet)
            if sendings := self._open.get(row.packet):
                sent_s = (sendings[0] or sendings[1])[0].sent_s
                if sendings[0]:
                    sendings[0][0].dropped = True
                    sendings[1].append(sendings[0].popleft())
            end_s = stream.slow_start_end_s
            if sent_s is not None and (end_s is None or sent_s < end_s):
                stream.slow_start_drops += 1
                stream.drops_then += sent_s == stream.last_sent_s
        if not self._counts(row.time_s):
            return
        if stream is not None:
            _add(self._bins["dropped"].at(stream.number, row.time_s), 1, row.bytes)
            stream.first_drop_s = _first(stream.first_drop_s, row.time_s)
        if link is not None:
            _add(self._bins["dropped_on_link"].at(link.number, row.time_s), 1, row.bytes)
            node, layer, reason = row.from_node, _LINK, _WIRED_REASONS.get(row.event)
        else:
            node, layer, reason = row.node, row.layer or "", row.reason
        cause = self._causes.setdefault((layer, reason), len(self._causes))
        self._bins["causes"].at(cause, row.time_s)[0] += 1
        self._losses[node, layer, reason, row.type] += 1
        self._lost_bytes[node, layer, reason, row.type] += row.bytes

    def _copy(self, row: Row, stream: Stream, node: int) -> None:
        """A packet to a group has come to a node, which counts it once."""
        if (row.packet, node) in self._copies:
            return
        self._copies[row.packet, node] = None
        _forget_beyond(self._copies, MOST_OF_GROUPS)
        if self._counts(row.time_s):
            counts = self._receivers.setdefault((stream.number, node), [0, 0, 0, 0.0, None])
            sent_s = self._sent_to_group.get(row.packet)
            counts[0] += 1
            counts[1] += row.bytes
            if sent_s is not None:
                counts[2] += 1
                counts[3] += row.time_s - sent_s
                counts[4] = _larger(counts[4], row.time_s - sent_s)

    def _stream_of(self, ends: tuple[int, ...]) -> Stream:
        if ends not in self._streams:
            self._streams[ends] = Stream(ends, len(self._streams))
        return self._streams[ends]

    def _link_of(self, from_node: int, to_node: int) -> Link:
        ends = (from_node, to_node)
        if ends not in self._links:
            self._links[ends] = Link(ends, len(self._links))
        return self._links[ends]

    # ---- what is found ----

    def found(self) -> Found:
        """The sums of all rows; no row follows."""
        if self._held is not None:
            self._wait(*self._held)
            self._held = None
        for link in self._links.values():
            self._apply(link)
        for bins in self._bins.values():
            bins.reach(self._last_s)
        index = max(bins.index for bins in self._bins.values())
        for bins in self._bins.values():
            if bins.index < index:
                bins.widen_to(index)
        rows: dict[str, list[tuple[Any, ...]]] = {
            "entered": [(*pair, *values) for pair, values in self._entered.items()],
            "losses": [
                (*place, pkts, self._lost_bytes[place]) for place, pkts in self._losses.items()
            ],
            "receivers": [(*pair, *values) for pair, values in self._receivers.items()],
            "nodes": [(*place, *values) for place, values in self._nodes.items()],
            "energy": [(node, *values) for node, values in self._levels.items()],
            "open": [
                (each.stream.number, each.sent_s, each.dropped)
                for sendings in self._open.values()
                for each in (*sendings[0], *sendings[1])
            ],
        }
        return Found(
            _frame([_told(each) for each in self._streams.values()], STREAMS, "stream"),
            _frame([_link_row(each) for each in self._links.values()], LINKS, "link"),
            {name: _frame(rows[name], schema) for name, schema in TABLES.items()},
            {name: _cells(self._bins[name], *each) for name, each in SERIES.items()},
            index,
            list(self._causes),
            self._routing[0],
            self._routing[1],
            self._has_routers,
            self._has_agents,
            self._forgotten,
        )


@dataclass(slots=True)
class Row:
    """A row: the columns of ``ROW``, and what follows from them."""

    time_s: float
    event: str
    from_node: int
    to_node: int
    type: str
    bytes: int
    flow: int
    src_node: int
    src_port: int
    dst_node: int
    dst_port: int
    seq: int
    uid: int
    header_bytes: int | None = None
    src_host: int | None = None
    dst_host: int | None = None
    from_lat: float | None = None
    layer: str | None = None
    node: int = UNKNOWN
    reason: str | None = None
    next_hop: int | None = None
    hops: int | None = None
    energy_j: float | None = None

    @property
    def ends(self) -> tuple[int, ...]:
        """The ends of its stream."""
        return self.flow, self.src_node, self.src_port, self.dst_node, self.dst_port

    @property
    def packet(self) -> Packet:
        """The packet, which keeps its uid on its way."""
        return self.uid, self.src_node, self.src_port, self.dst_node, self.dst_port

    @property
    def source(self) -> int:
        """The node from which it is sent."""
        return self.src_node if self.src_host is None else self.src_host

    @property
    def receiver(self) -> int:
        """The node to which it is sent."""
        return self.dst_node if self.dst_host is None else self.dst_host

    @property
    def to_group(self) -> bool:
        """Whether it is multicast or broadcast."""
        return self.dst_node < 0 or FIRST_GROUP <= self.dst_node < UNKNOWN

    @property
    def payload(self) -> int:
        """Payload bytes: without TCP/IP headers if the size includes them.

        ns-2's UDP agents trace the given size, without a header.
        """
        if self.type not in ("tcp", "ack"):
            return self.bytes
        headers = self.header_bytes or 0
        return max(0, self.bytes - (headers if headers > 0 else TCP_HEADER_BYTES))


def _first(before: float | None, time_s: float) -> float:
    return time_s if before is None else before


def _add(cell: list[Any], *counts: int) -> None:
    for index, count in enumerate(counts):
        cell[index] += count


def _forget_beyond(known: OrderedDict[Any, Any], most: int) -> None:
    if len(known) > most:
        known.popitem(last=False)


def _note(stream: Stream, row: Row, place: int) -> None:
    """Note what a stream carries, from a line of its ends, or (place 3) from any."""
    if stream.types[place] is None:
        stream.types[place] = row.type
    is_ack, is_data = row.type == "ack", row.seq >= 0 or row.type not in CONTROL_TYPES
    if place == 3:
        stream.seen_acks &= is_ack
        stream.seen_data |= is_data
    else:
        stream.own = True
        stream.own_acks &= is_ack
        stream.own_data |= is_data


def _note_highest(stream: Stream, row: Row) -> None:
    """Note the highest number sent, and whether numbers advance by the payload, as FullTcp's do."""
    before = stream.highest_sent
    advance = 0 if before is None else row.seq - before
    if row.type != "ack" and advance > 1 and 2 * advance >= row.payload:
        stream.by_bytes = True
        stream.unacked.clear()
        stream.awaited.clear()
    if row.seq != NO_NUMBER:
        stream.highest_sent = row.seq if before is None else max(before, row.seq)


def _count_slow_start(stream: Stream, time_s: float, *, again: bool) -> None:
    """Count the packets that a stream sends before its first retransmission."""
    if stream.started_s is None:
        stream.started_s = time_s
    if stream.slow_start_end_s is not None:
        return
    if time_s != stream.last_sent_s:
        stream.last_sent_s, stream.pkts_then, stream.drops_then = time_s, 0, 0
    if again:  # what was sent at this very moment was not sent before it
        stream.slow_start_end_s = time_s
        stream.slow_start_pkts -= stream.pkts_then
        stream.slow_start_drops -= stream.drops_then
        return
    stream.slow_start_pkts += 1
    stream.pkts_then += 1


def _brings_new(stream: Stream, seq: int) -> bool:
    """Whether an arrival brings what its receiver has not had.

    A number above the highest so far is new; the numbers that it skips are a hole. A number below
    is new if it fills a hole. For streams that number bytes no holes are kept.
    """
    before = stream.highest_arrived
    if seq == NO_NUMBER:
        return True
    if before is None or seq > before:
        if before is not None and seq - 1 > before and not stream.by_bytes:
            stream.holes.append((before + 1, seq - 1))
        stream.highest_arrived = seq
        return True
    at = bisect.bisect_right(stream.holes, seq, key=lambda hole: hole[0]) - 1
    if at < 0 or seq > stream.holes[at][1]:
        return seq < 0
    first, last = stream.holes[at]
    left = [hole for hole in ((first, seq - 1), (seq + 1, last)) if hole[0] <= hole[1]]
    stream.holes[at : at + 1] = left
    return True


def _told(stream: Stream) -> tuple[Any, ...]:
    known = [None if each == UNKNOWN else each for each in stream.ends]
    own = stream.own
    kinds = [each for each in stream.types[:3] if each is not None] if own else stream.types[3:]
    jittered = stream.last_delay_s is not None
    started = stream.started_s is not None
    return (
        *known,
        kinds[0] if own or stream.entered else None,
        stream.own_acks if own else stream.seen_acks,
        stream.own_data if own else stream.seen_data,
        stream.by_bytes,
        stream.first_sent_s,
        stream.first_retransmission_s,
        stream.first_drop_s,
        stream.delay_min_s,
        stream.last_received_s,
        stream.longest_gap_s,
        stream.jitter_s if jittered else None,
        stream.delay_steps if jittered else None,
        stream.delay_step_sum_s if jittered else None,
        stream.slow_start_end_s,
        stream.started_s,
        stream.slow_start_pkts if started else None,
        stream.slow_start_drops if started else None,
        stream.route_changes,
        stream.forgotten_losses,
        *(stream.hops or (None, None, None)),
    )


def _link_row(link: Link) -> tuple[Any, ...]:
    busy = (link.periods, link.busy_bytes, link.busy_s)
    return (*link.ends, link.reached, link.coarse, link.before, *busy)


def _frame(
    rows: Iterable[tuple[Any, ...]], schema: Mapping[str, Any], numbered: str = ""
) -> pl.DataFrame:
    frame = pl.DataFrame(list(rows), schema=dict(schema), orient="row")
    if not numbered:
        return frame
    return frame.with_row_index(numbered).with_columns(pl.col(numbered).cast(pl.Int64))


def _cells(
    bins: Bins, subject: str, counts: tuple[str, ...], total: str, most: str
) -> pl.DataFrame:
    schema = {subject: _I64, "bin": _I64, **dict.fromkeys(counts, _I64)}
    schema |= dict.fromkeys([each for each in (total, most) if each], _F64)  # type: ignore[arg-type]
    rows = [
        (*key, *cell[: len(counts)], *(cell[4:5] if total else ()), *(cell[5:] if most else ()))
        for key, cell in bins.cells.items()
    ]
    return pl.DataFrame(rows, schema=schema, orient="row")


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
        return max(0, math.ceil(time_s / width_s - _ROUNDING) - 1)
    return max(0, int(time_s / width_s + _ROUNDING))
