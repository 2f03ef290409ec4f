"""The sums of a packet trace, row by row: what they are, and how packets are matched.

This is the definition. ``packet_sums.c`` does the same some fifty times as fast and replaces it
where a compiler is found; tests compare the two. What both remember between rows is bounded: more
packets than ``MOST_OPEN`` are on no path, so the trace lacks the lines of their ends.
"""

from __future__ import annotations

import bisect
import heapq
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from bdpbench.metrics.packets.rows import (
    ABSENT,
    BIN_ROUNDING,
    FIRST_GROUP,
    MOST_BINS,
    NO_NUMBER,
    NO_TYPE,
    NUMBERS,
    ROUTING,
    TCP_HEADER_BYTES,
    UNKNOWN,
    Event,
    Kind,
    Layer,
    width_ms,
)

MOST_OPEN = 2_000_000
"""Packets under way (in C without those of its lanes), and packets in queues."""

MOST_ARRIVED = 1_000_000
"""Packets that are known to have arrived."""

MOST_OF_GROUPS = 200_000
"""Packets to groups whose sending is known, and their arrivals at nodes."""

MOST_CELLS = 500_000
_SMOOTHING = 1 / 16  # RFC 3550, section 6.4.1
_SENDS, _RECEIVES, _FORWARDS, _DROPS = range(4)
_DOES: dict[int, int] = {
    **dict.fromkeys((int(Event.SENT), int(Event.ENTERS)), _SENDS),
    **dict.fromkeys((int(Event.DROPPED), int(Event.LOST)), _DROPS),
    int(Event.ARRIVES): _RECEIVES,
    int(Event.FORWARDED): _FORWARDS,
}
_NONE = -1  # no type was seen

Ends = tuple[int, int, int, int, int]
"""Flow, and node and port of the source and of the destination."""

Packet = tuple[int, ...]
"""What identifies a packet: its uid and ends. The old wireless format prints no flow id, a tunnel
wraps a packet into one with other ends and the same uid, and some agents reuse a uid."""


@dataclass(slots=True)
class Row:
    """A row: the columns of ``NUMBERS``, the kind of its type, and what follows from them."""

    time_s: float
    event: int
    from_node: int
    to_node: int
    type: int
    bytes: int
    flow: int
    src_node: int
    src_port: int
    dst_node: int
    dst_port: int
    seq: int
    uid: int
    header_bytes: int
    source: int
    receiver: int
    is_coarse: int
    layer: int
    node: int
    reason: int
    next_hop: int
    hops: int
    energy_j: float
    flags: int

    @property
    def kind(self) -> int:
        """``Kind.PLAIN``, ``Kind.CONTROL``, ``Kind.TCP`` or ``Kind.ACK``."""
        return self.flags & (ROUTING - 1)

    @property
    def ends(self) -> Ends:
        """The ends of its stream."""
        return self.flow, self.src_node, self.src_port, self.dst_node, self.dst_port

    @property
    def packet(self) -> Packet:
        """The packet, which keeps its uid on its way."""
        return self.uid, self.src_node, self.src_port, self.dst_node, self.dst_port

    @property
    def to_group(self) -> bool:
        """Whether it is multicast or broadcast."""
        return self.dst_node != UNKNOWN and (self.dst_node < 0 or self.dst_node >= FIRST_GROUP)

    @property
    def payload(self) -> int:
        """Payload bytes: without TCP/IP headers if the size includes them.

        ns-2's UDP agents trace the given size, without a header.
        """
        if self.kind not in (Kind.TCP, Kind.ACK):
            return self.bytes
        headers = self.header_bytes if self.header_bytes > 0 else TCP_HEADER_BYTES
        return max(0, self.bytes - headers)


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
        key = (subject, int(time_s * self._per_s + BIN_ROUNDING))
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


class Memory(OrderedDict[Any, Any]):
    """The last of some keys, with a value for each."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def note(self, key: object, value: object = None) -> None:
        """Remember a key, and forget the oldest if there are too many."""
        self[key] = value
        if len(self) > self._most:
            self.popitem(last=False)


@dataclass(slots=True)
class Stream:
    """What one agent sends to another; times in s, None for what never happened."""

    flow: int
    src_node: int
    src_port: int
    dst_node: int
    dst_port: int
    number: int
    sent_type: int = _NONE
    arrived_type: int = _NONE
    dropped_type: int = _NONE
    seen_type: int = _NONE
    own: bool = False
    own_acks: bool = True
    own_data: bool = False
    seen_acks: bool = True
    seen_data: bool = False
    entered: bool = False
    by_bytes: bool = False
    first_sent_s: float | None = None
    first_retransmission_s: float | None = None
    first_drop_s: float | None = None
    delay_min_s: float | None = None
    last_received_s: float | None = None
    longest_gap_s: float | None = None
    last_delay_s: float | None = None
    jitter_s: float = 0.0
    delay_step_sum_s: float = 0.0
    delay_steps: int = 0
    slow_start_end_s: float | None = None
    started_s: float | None = None
    slow_start_pkts: int = 0
    slow_start_drops: int = 0
    route_changes: int = 0
    forgotten_losses: int = 0
    hop_pkts: int = 0
    hop_sum: int = 0
    hop_max: int = 0
    highest_sent: int | None = None
    highest_arrived: int | None = None
    holes: list[tuple[int, int]] = field(default_factory=list)  # ascending: first and last number
    acked: int = -1
    unacked: dict[int, float | None] = field(default_factory=dict)  # None: sent more than once
    awaited: list[int] = field(default_factory=list)  # the same numbers, as a heap
    last_sent_s: float | None = None  # with what slow start counted of that moment
    pkts_then: int = 0
    drops_then: int = 0


@dataclass(slots=True)
class Link:
    """A link, the packets that have waited for it, and the changes of its queue of one moment."""

    from_node: int
    to_node: int
    number: int
    reached: bool = False
    coarse: bool = False
    length: int = 0
    before: int = 0
    changes: list[int] = field(default_factory=list)
    changes_s: float = 0.0
    moment: int = 0
    periods: int = 0
    busy_bytes: int = 0
    busy_s: float = 0.0
    last_s: float | None = None
    last_bytes: int = 0
    follows: bool = False


@dataclass(slots=True)
class Sending:
    """A packet that is under way."""

    number: int
    stream: Stream
    sent_s: float
    payload: int
    dropped: bool = False


class RowByRow:
    """The sums of rows from ``start_s`` on; earlier rows only set the initial state.

    Args:
        start_s: start of the window, s.
        width_s: width of the bins of the series, s; None to choose it.
    """

    def __init__(self, start_s: float, width_s: float | None) -> None:
        self._start_s = start_s
        self._bins: dict[str, Bins] = defaultdict(lambda: Bins(width_s))
        self._last_s = 0.0
        self._streams: dict[Ends, Stream] = {}
        self._links: dict[tuple[int, int], Link] = {}
        # By packet: its sendings that wait for an end, and those of which a drop is known.
        self._open: dict[Packet, tuple[deque[Sending], deque[Sending]]] = {}
        self._under_way: dict[int, tuple[Packet, Sending]] = {}
        self._sent = self._forgotten = 0
        self._arrived, self._sent_to_group = Memory(MOST_ARRIVED), Memory(MOST_OF_GROUPS)
        self._copies, self._unsent = Memory(MOST_OF_GROUPS), Memory(MOST_OF_GROUPS)
        self._queued: OrderedDict[tuple[int, int], deque[tuple[float, int, int, int]]] = (
            OrderedDict()
        )
        self._queued_count = 0
        self._held: tuple[Link, int, float, int] | None = None
        self._next: dict[tuple[int, int], tuple[int, int]] = {}
        self._causes: dict[tuple[int, int], int] = {}
        # Tables of what is found: numbers of streams, links, nodes → counts and sums.
        self._tables: dict[str, dict[tuple[int, ...], list[Any]]] = defaultdict(dict)
        self._routing = [0, 0]
        self._has_routers = self._has_agents = False

    def add(self, rows: pl.DataFrame, events: bytes, types: Sequence[int]) -> None:
        """Add rows of the columns ``NUMBERS``, in the order of the trace.

        Args:
            rows: the rows; columns after ``uid`` may be missing.
            events: code of an event → what it is.
            types: code of a type of packets → its kind.
        """
        given = {name: rows[name].to_list() for name in rows.columns}
        given.setdefault("src_host", given["src_node"])
        given.setdefault("dst_host", given["dst_node"])
        kinds = {
            code: Kind.PLAIN if code == NO_TYPE else types[code] for code in set(given["type"])
        }
        given["event"] = [events[code] for code in given["event"]]
        columns = [
            given[name] if name in given else [ABSENT[name]] * rows.height for name in NUMBERS
        ]
        for values in zip(*columns, [kinds[code] for code in given["type"]], strict=True):
            row = Row(*values)
            self._last_s = max(self._last_s, row.time_s)
            if row.event == Event.READING:
                self._note_energy(row)
            elif row.layer == Layer.LINK:
                self._take_wired(row)
            else:
                self._take_wireless(row)

    def _counts(self, time_s: float) -> bool:
        return time_s >= self._start_s

    # ---- links ----

    def _take_wired(self, row: Row) -> None:
        stream, link = self._stream_of(row.ends), self._link_of(row.from_node, row.to_node)
        link.coarse |= bool(row.is_coarse)
        held, self._held = self._held, None
        if held is not None and self._leaves_at_once(held, row, link):
            pass
        elif row.event == Event.ENTERS:
            self._enter(row, stream, link)
        elif row.event in (Event.LEAVES, Event.DROPPED, Event.ERROR):
            if row.event != Event.LEAVES:
                self._drop(row, stream, link)
            self._leave(row, link)
        elif row.event == Event.ARRIVES:
            link.reached = True
            if row.to_node == row.receiver:
                self._arrive(row, stream)
            if row.to_group:
                self._copy(row, stream, row.to_node)
        stream.seen_type = row.type if stream.seen_type == _NONE else stream.seen_type
        stream.seen_acks &= row.kind == Kind.ACK
        stream.seen_data |= _has_data(row)

    def _enter(self, row: Row, stream: Stream, link: Link) -> None:
        """A packet enters a queue; the next row may be that it leaves it at once."""
        if self._counts(row.time_s):
            stream.entered = True
            entry = self._tables["entered"].setdefault(
                (link.number, stream.number), [0, 0, row.time_s]
            )
            _add(entry, 1, row.bytes)
            self._route(stream, row.from_node, (Layer.LINK, row.to_node), row.time_s)
        if row.from_node == row.source:
            self._send(row, stream)
        self._held = (link, row.uid, row.time_s, row.bytes)

    def _leaves_at_once(self, held: tuple[Link, int, float, int], row: Row, link: Link) -> bool:
        """Whether a row is that the packet of the row before leaves; else that one waits."""
        before, uid, time_s, size = held
        same = before is link and (uid, time_s) == (row.uid, row.time_s)
        if row.event == Event.LEAVES and same:
            self._count_departure(link, time_s, size)
            return True
        self._wait(*held)
        return False

    def _wait(self, link: Link, uid: int, time_s: float, size: int) -> None:
        self._change(link, time_s, 1)
        entry = (time_s, size, link.moment, len(link.changes) - 1)
        self._queued.setdefault((uid, link.number), deque()).append(entry)
        self._queued_count += 1
        if self._queued_count > MOST_OPEN:  # the trace lacks the lines of their leaving
            self._queued_count -= len(self._queued.popitem(last=False)[1])

    def _leave(self, row: Row, link: Link) -> None:
        """A packet leaves a queue or is dropped; of one uid, the first to enter is the first."""
        waiting = self._queued.get((row.uid, link.number))
        if not waiting:
            if row.event == Event.LEAVES:
                self._depart(link, row.time_s, row.bytes, None)
            return
        entered_s, size, moment, change = waiting.popleft()
        self._queued_count -= 1
        if not waiting:
            del self._queued[row.uid, link.number]
        if moment == link.moment and row.time_s == link.changes_s:  # it was never in the queue
            link.changes[change] = 0
        else:
            self._change(link, row.time_s, -1)
        if row.event == Event.LEAVES:
            self._depart(link, row.time_s, size, row.time_s - entered_s)

    def _depart(self, link: Link, time_s: float, size: int, wait_s: float | None) -> None:
        """A packet begins its transmission; one that waited for that before it shows the capacity.

        A packet that waited while its predecessor left was sent when the transmission of that one
        ended, so the time between their departures is the predecessor's transmission time.
        """
        known = link.last_s is not None and wait_s is not None
        if known and link.last_s is not None and time_s - (wait_s or 0.0) <= link.last_s:
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
                _add(cell, wait_s > 0)
                _measure(cell, wait_s)

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
        link.moment += 1

    def _route(self, stream: Stream, node: int, to: tuple[int, int], time_s: float) -> None:
        """Where a node sends a stream's packets: another next node is a change of the route."""
        before = self._next.get((stream.number, node))
        self._next[stream.number, node] = to
        if before is not None and before != to and self._counts(time_s):
            stream.route_changes += 1

    # ---- wireless nodes ----

    def _take_wireless(self, row: Row) -> None:
        does = _DOES.get(row.event)
        self._has_agents |= row.layer == Layer.AGENT
        if self._counts(row.time_s):
            self._count_at_node(row, does)
        self._note_energy(row)
        if row.layer == Layer.AGENT and does == _SENDS:
            self._send(row, self._stream_of(row.ends))
        elif row.layer == Layer.AGENT and does == _RECEIVES:
            stream = self._stream_of(row.ends)
            if row.hops != UNKNOWN and self._counts(row.time_s):
                stream.hop_max = max(stream.hop_max if stream.hop_pkts else row.hops, row.hops)
                stream.hop_pkts += 1
                stream.hop_sum += row.hops
            self._arrive(row, stream)
            if row.to_group:
                self._copy(row, stream, row.node)
        elif does == _DROPS:
            self._drop(row, self._stream_of(row.ends) if row.src_node != UNKNOWN else None, None)
        is_on_its_way = (
            row.layer == Layer.ROUTER and does in (_SENDS, _FORWARDS) and not row.to_group
        )
        if is_on_its_way and row.next_hop >= 0:
            to = (Layer.ROUTER, row.next_hop)
            self._route(self._stream_of(row.ends), row.node, to, row.time_s)

    def _count_at_node(self, row: Row, does: int | None) -> None:
        counts = self._tables["nodes"].setdefault((row.node, row.layer, row.type), [0] * 8)
        if does is not None:
            counts[2 * does] += 1
            counts[2 * does + 1] += row.bytes
        self._has_routers |= row.layer == Layer.ROUTER
        if row.layer == Layer.ROUTER and does in (_SENDS, _FORWARDS) and row.flags & ROUTING:
            _add(self._routing, 1, row.bytes)

    def _note_energy(self, row: Row) -> None:
        """Energy of a node at its first and last line, and when it was used up."""
        if row.energy_j < 0 or not self._counts(row.time_s):  # -1 without an energy model
            return
        level = self._tables["energy"].setdefault((row.node,), [row.energy_j, 0.0, None])
        level[1] = row.energy_j
        if row.energy_j == 0 and level[2] is None:
            level[2] = row.time_s
        cell = self._bins["levels"].at(row.node, row.time_s)
        cell[5] = _larger(cell[5], -row.energy_j)

    # ---- packets ----

    def _send(self, row: Row, stream: Stream) -> None:
        """A packet leaves its source; a multicast source has a line at each of its links."""
        sendings = self._open.setdefault(row.packet, (deque(), deque()))
        if any(each and each[-1].sent_s == row.time_s for each in sendings):
            return
        again = stream.highest_sent is not None and 0 <= row.seq <= stream.highest_sent
        again = again and row.kind != Kind.ACK
        stream.sent_type = row.type if stream.sent_type == _NONE else stream.sent_type
        _note_own(stream, row)
        _note_highest(stream, row)
        _count_slow_start(stream, row.time_s, again=again)
        if row.kind == Kind.TCP and not stream.by_bytes and row.seq > stream.acked:
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
        if row.to_group and row.packet not in self._sent_to_group:
            self._sent_to_group.note(row.packet, row.time_s)
        self._sent += 1
        sending = Sending(self._sent, stream, row.time_s, row.payload)
        sendings[0].append(sending)
        self._under_way[sending.number] = (row.packet, sending)
        if len(self._under_way) > MOST_OPEN:
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        packet, sending = next(iter(self._under_way.values()))
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
        del self._under_way[sending.number]

    def _arrive(self, row: Row, stream: Stream) -> None:
        """A packet comes to its receiver; what comes again is a duplicate that the network made."""
        stream.arrived_type = row.type if stream.arrived_type == _NONE else stream.arrived_type
        _note_own(stream, row)
        sendings = self._open.get(row.packet)
        if sendings is None and (row.packet in self._arrived or self._is_copy(row)):
            return
        payload, delay_s = row.payload, None
        if sendings:
            # A packet that nobody has dropped is more likely to have arrived.
            sending = (sendings[0] or sendings[1])[0]
            self._end(row.packet, sending)
            self._arrived.pop(row.packet, None)
            self._arrived.note(row.packet, sending.sent_s)
            delay_s = row.time_s - sending.sent_s
            # Wireless nodes add 20 bytes of IP header to UDP's.
            payload = min(payload, sending.payload)
            if self._counts(sending.sent_s):
                self._bins["delivered"].at(stream.number, sending.sent_s)[0] += 1
        is_new = _brings_new(stream, row.seq)
        if self._counts(row.time_s):
            self._count_arrival(row, stream, payload if is_new else 0, delay_s)
        if row.kind == Kind.ACK:
            self._acknowledge(row)

    def _is_copy(self, row: Row) -> bool:
        """Whether a packet to a group, whose sending is not traced, came to another node before."""
        if not row.to_group or row.packet in self._unsent:
            return row.to_group
        self._unsent.note(row.packet, row.time_s)
        return False

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
        _measure(cell, delay_s)
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
            _add(cell, 1)
            _measure(cell, row.time_s - sent_s)

    def _drop(self, row: Row, stream: Stream | None, link: Link | None) -> None:
        """A drop, which need not be the end of a packet: LANs and wireless nodes drop copies."""
        if stream is not None:
            self._drop_of(stream, row)
        if not self._counts(row.time_s):
            return
        if stream is not None:
            _add(self._bins["dropped"].at(stream.number, row.time_s), 1, row.bytes)
            stream.first_drop_s = _first(stream.first_drop_s, row.time_s)
        node, cause = row.node, (row.layer, row.reason)
        if link is not None:
            _add(self._bins["dropped_on_link"].at(link.number, row.time_s), 1, row.bytes)
            node, cause = row.from_node, (Layer.LINK, int(row.event == Event.ERROR))
        number = self._causes.setdefault(cause, len(self._causes))
        _add(self._bins["causes"].at(number, row.time_s), 1)
        _add(self._tables["losses"].setdefault((node, number, row.type), [0, 0]), 1, row.bytes)

    def _drop_of(self, stream: Stream, row: Row) -> None:
        """Note of a stream that a packet was dropped, the first of those that wait for an end."""
        stream.dropped_type = row.type if stream.dropped_type == _NONE else stream.dropped_type
        _note_own(stream, row)
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

    def _copy(self, row: Row, stream: Stream, node: int) -> None:
        """A packet to a group has come to a node, which counts it once."""
        if (row.packet, node) in self._copies:
            return
        self._copies.note((row.packet, node))
        if self._counts(row.time_s):
            counts = self._tables["receivers"].setdefault(
                (stream.number, node), [0, 0, 0, 0.0, None]
            )
            _add(counts, 1, row.bytes)
            sent_s = self._sent_to_group.get(row.packet)
            if sent_s is not None:
                counts[2] += 1
                counts[3] += row.time_s - sent_s
                counts[4] = _larger(counts[4], row.time_s - sent_s)

    def _stream_of(self, ends: Ends) -> Stream:
        if ends not in self._streams:
            self._streams[ends] = Stream(*ends, len(self._streams))
        return self._streams[ends]

    def _link_of(self, from_node: int, to_node: int) -> Link:
        ends = (from_node, to_node)
        if ends not in self._links:
            self._links[ends] = Link(*ends, len(self._links))
        return self._links[ends]

    # ---- what is found ----

    def finish(self) -> tuple[int, ...]:
        """The sums of all rows; no row follows.

        Returns:
            Index of the width of the bins, packets and bytes of routing, whether there were lines
            of routers and of agents, and how many packets were forgotten.
        """
        if self._held is not None:
            self._wait(*self._held)
            self._held = None
        for link in self._links.values():
            self._apply(link)
        self._bins["sent"].reach(self._last_s)
        index = max(bins.index for bins in self._bins.values())
        for bins in self._bins.values():
            bins.reach(self._last_s)
            index = max(index, bins.index)
        for bins in self._bins.values():
            if bins.index < index:
                bins.widen_to(index)
        return (index, *self._routing, self._has_routers, self._has_agents, self._forgotten)

    def rows(self, table: str, members: Sequence[str]) -> Iterable[Sequence[Any]]:
        """The rows of a table or series, with the values of its members in order."""
        if table in ("streams", "links"):
            items = self._streams if table == "streams" else self._links
            return [[getattr(each, name) for name in members] for each in items.values()]
        if table == "open":
            under_way = [each for _, each in self._under_way.values()]
            return [(True, each.dropped, each.stream.number, each.sent_s) for each in under_way]
        if table == "causes":
            return list(self._causes)
        bins = self._bins.get(table.removesuffix("_bins"))
        found = bins.cells if bins else self._tables[table]
        return [(*key, *values) for key, values in found.items()]


def _first(before: float | None, time_s: float) -> float:
    return time_s if before is None else before


def _larger(one: float | None, other: float | None) -> float | None:
    return other if one is None else one if other is None else max(one, other)


def _add(cell: list[Any], *counts: int) -> None:
    for index, count in enumerate(counts):
        cell[index] += count


def _measure(cell: list[Any], seconds: float) -> None:
    """Add a time to the sum of a cell, and note it if it is the largest."""
    cell[4] += seconds
    cell[5] = _larger(cell[5], seconds)


def _has_data(row: Row) -> bool:
    return row.seq >= 0 or row.kind != Kind.CONTROL


def _note_own(stream: Stream, row: Row) -> None:
    """Note what a stream carries, from a line of its ends."""
    stream.own = True
    stream.own_acks &= row.kind == Kind.ACK
    stream.own_data |= _has_data(row)


def _note_highest(stream: Stream, row: Row) -> None:
    """Note the highest number sent, and whether numbers advance by the payload, as FullTcp's do."""
    before = stream.highest_sent
    advance = 0 if before is None else row.seq - before
    if row.kind != Kind.ACK and advance > 1 and 2 * advance >= row.payload:
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
