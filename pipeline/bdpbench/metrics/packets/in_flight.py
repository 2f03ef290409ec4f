"""Packets between their source and their end: which arrived, were lost, or are in flight.

A packet is identified by its ends and the number (uid) that ns-2 gives it. The ends are needed,
since a tunnel wraps a packet into one with other ends and the same number. The order is needed as
well, since some agents reuse a number: then the first sending belongs to the first arrival or drop.
"""

from __future__ import annotations

import heapq
import types
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from bdpbench.metrics.packets.native import WiredFound
from bdpbench.metrics.packets.tracking import MOST_OPEN

_OPEN = types.MappingProxyType(
    {
        "packet": pl.Int64,
        "stream": pl.Int64,
        "sent_s": pl.Float64,
        "sent_payload": pl.Int64,
        "dropped": pl.Boolean,
    }
)
_LOST = types.MappingProxyType({"stream": pl.Int64, "time_s": pl.Float64})
_MOST_ARRIVED = 1_000_000


@dataclass(frozen=True)
class Ends:
    """The fates of the packets of a batch.

    Attributes:
        arrivals: those of the batch without duplicates, with sent_s (f64, s), null if the trace
            does not contain the packet's sending, and payload_bytes of at most what was sent.
        drops: all drops of the batch, with sent_s.
        lost: stream (i64), time_s (f64, s, of the sending) of dropped packets that are no longer
            expected to arrive.
    """

    arrivals: pl.DataFrame
    drops: pl.DataFrame
    lost: pl.DataFrame


class InFlight:
    """Matches arrivals and drops of packets with their sendings, one each.

    A drop need not be the end of a packet: a wireless frame may have been delivered before (DUP, or
    RET without the acknowledgement of the MAC), routing may send the packet another way, and a LAN
    drops copies of it. A dropped packet is lost if it has not arrived by the end of the trace.
    Further arrivals of a packet are duplicates made by the network and are left out.
    """

    def __init__(self) -> None:
        self._open = pl.DataFrame(schema=_OPEN)
        self._arrived: deque[pl.Series] = deque()
        self._sent_once = False
        self.forgotten = 0

    def load(self, found: WiredFound) -> None:
        """Start from the open packets of the rows summed in C."""
        self._open = (
            found.sendings.filter(pl.col("open") == 1)
            .sort("sent_s", maintain_order=True)
            .select("packet", "stream", "sent_s", "sent_payload", dropped=pl.col("dropped") == 1)
        )
        self._remember(found.arrived["packet"])

    def sendings(self, sends: pl.DataFrame) -> pl.DataFrame:
        """``sends`` (packet, time_s), each packet once per time.

        A multicast source has a line for each of its links.
        """
        packets = pl.concat([self._open["packet"], sends["packet"]])
        self._sent_once = packets.n_unique() == packets.len()
        if self._sent_once:
            return sends
        sends = sends.unique(["packet", "time_s"], keep="first", maintain_order=True)
        now = self._open.select("packet", time_s="sent_s")
        return sends.join(now, on=["packet", "time_s"], how="anti", maintain_order="left")

    def match(self, sends: pl.DataFrame, arrivals: pl.DataFrame, drops: pl.DataFrame) -> Ends:
        """The fates of a batch's packets; ``sends`` as ``sendings`` returns them.

        Args:
            sends: packet, stream (i64), time_s (f64, s), payload_bytes (i64).
            arrivals: packet, time_s, payload_bytes.
            drops: packet, time_s.
        """
        started = pl.concat(
            [
                self._open,
                sends.select(
                    "packet",
                    "stream",
                    sent_s="time_s",
                    sent_payload="payload_bytes",
                    dropped=pl.lit(value=False),
                ),
            ]
        )
        sent = None if self._sent_once else started["packet"]
        repeated = _repeated(sent, arrivals["packet"])
        if repeated.is_empty():
            return self._match_once(started, arrivals, drops)
        once = [_without(each, repeated) for each in (started, arrivals, drops)]
        again = [_only(each, repeated) for each in (started, arrivals, drops)]
        plain = self._match_once(*once)
        ordered = _InOrder(*again).ends()
        arrivals = _together(plain.arrivals, self._first_time(ordered.ends.arrivals))
        self._remember(ordered.arrived, ordered.open)
        return Ends(
            arrivals,
            _together(plain.drops, ordered.ends.drops),
            plain.lost,
        )

    def _match_once(
        self, started: pl.DataFrame, arrivals: pl.DataFrame, drops: pl.DataFrame
    ) -> Ends:
        """The fates of packets that were sent once and arrived or were dropped at most once."""
        arrived = arrivals.join(
            started.select("packet", "sent_s", "sent_payload").with_row_index("row"),
            on="packet",
            how="left",
            maintain_order="left",
        )
        early = pl.col("sent_s") > pl.col("time_s")
        if arrived.select(early.any()).item():
            arrived = arrived.with_columns(
                pl.when(~early).then(name).alias(name) for name in ("row", "sent_s", "sent_payload")
            )
        ended = arrived.filter(pl.col("row").is_not_null()).select("row", "packet")
        arrived = arrived.drop("row")
        found = ended["packet"]
        is_open = pl.repeat(value=True, n=started.height, dtype=pl.Boolean, eager=True)
        left = started.filter(is_open.scatter(ended["row"], values=False))
        dropped = _with_sending(drops, started)
        if not dropped.is_empty():
            known = dropped.filter(pl.col("sent_s").is_not_null())["packet"]
            is_dropped = pl.col("dropped") | pl.col("packet").is_in(known.implode())
            left = left.with_columns(is_dropped)
        arrived = self._first_time(_with_payload(arrived))
        excess = max(0, left.height - MOST_OPEN)
        self.forgotten += excess
        self._open = left.slice(excess)
        self._remember(found)
        lost = left.head(excess).filter("dropped")
        return Ends(arrived, dropped, lost.select("stream", time_s="sent_s"))

    def _first_time(self, arrived: pl.DataFrame) -> pl.DataFrame:
        """Arrivals without those of packets that have arrived before."""
        unknown = arrived.filter(pl.col("sent_s").is_null())["packet"]
        if unknown.is_empty() or not self._arrived:
            return arrived
        again = [unknown.filter(unknown.is_in(each.implode())) for each in self._arrived]
        is_again = pl.col("sent_s").is_null() & pl.col("packet").is_in(pl.concat(again).implode())
        return arrived.filter(~is_again)

    def _remember(self, arrived: pl.Series, still_open: pl.DataFrame | None = None) -> None:
        if still_open is not None:
            self._open = pl.concat([self._open, still_open]).tail(MOST_OPEN)
        if not arrived.is_empty():
            self._arrived.append(arrived)
        while sum(each.len() for each in self._arrived) > _MOST_ARRIVED:
            self._arrived.popleft()

    def rest(self, longest: pl.DataFrame, last_s: float) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Packets that had not arrived by the trace's end: those dropped, and those vanished.

        A packet without a drop is in flight if it was sent no longer ago than the longest delay of
        its stream; otherwise it has vanished.

        Args:
            longest: stream, delay_max_s (f64, s).
            last_s: end of the trace, s.

        Returns:
            Two frames of stream (i64), time_s (f64, s, of the sending).
        """
        rows = self._open.select("stream", "dropped", time_s="sent_s")
        known = rows.filter(~pl.col("dropped")).join(longest, on="stream", how="left")
        # If nothing of a stream ever arrived, it has no longest delay, and all its packets have
        # vanished.
        since_s = last_s - pl.col("delay_max_s").fill_null(0.0)
        columns = list(_LOST)
        return (
            rows.filter("dropped").select(columns),
            known.filter(pl.col("time_s") < since_s).select(columns),
        )


def _with_sending(drops: pl.DataFrame, started: pl.DataFrame) -> pl.DataFrame:
    """``drops`` with sent_s, null for a packet that was not sent before."""
    sent = started.filter(pl.col("packet").is_in(drops["packet"].implode()))
    joined = drops.join(
        sent.select("packet", "sent_s"), on="packet", how="left", maintain_order="left"
    )
    return joined.with_columns(pl.when(pl.col("sent_s") <= pl.col("time_s")).then("sent_s"))


def _with_payload(arrived: pl.DataFrame) -> pl.DataFrame:
    """At most the payload that was sent: wireless nodes add 20 bytes of IP header to UDP's."""
    payload = pl.min_horizontal("payload_bytes", "sent_payload")
    return arrived.with_columns(payload_bytes=payload).drop("sent_payload")


def _repeated(*packets: pl.Series | None) -> pl.Series:
    """Packets that occur more than once among those sent, or among those that arrived."""
    found = [
        each.filter(each.is_duplicated()).unique()
        for each in packets
        if each is not None and each.n_unique() < each.len()
    ]
    return pl.concat(found).unique() if found else pl.Series("packet", [], pl.Int64)


def _without(rows: pl.DataFrame, packets: pl.Series) -> pl.DataFrame:
    return rows.filter(~pl.col("packet").is_in(packets.implode()))


def _only(rows: pl.DataFrame, packets: pl.Series) -> pl.DataFrame:
    return rows.filter(pl.col("packet").is_in(packets.implode()))


def _together(one: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    """Rows of both frames, in the order of time."""
    return pl.concat([one, other.select(one.columns)]).sort("time_s", maintain_order=True)


@dataclass(frozen=True)
class _Matched:
    ends: Ends
    open: pl.DataFrame
    arrived: pl.Series


class _InOrder:
    """Fates of packets whose number was sent, or arrived, more than once: matched one by one."""

    def __init__(self, started: pl.DataFrame, arrivals: pl.DataFrame, drops: pl.DataFrame) -> None:
        self._arrivals, self._drops = arrivals, drops
        self._sent = started.rows()
        # By packet: sendings that wait for an end, and those of which nothing but a drop is known,
        # the first to be sent in front.
        self._waiting: dict[int, deque[int]] = {}
        self._lost: dict[int, list[int]] = {}
        self._dropped = started["dropped"].to_list()
        self._arrival_of: list[int | None] = [None] * arrivals.height
        self._drop_of: list[int | None] = [None] * drops.height
        self._again: set[int] = set()
        self._seen: set[int] = set()

    def ends(self) -> _Matched:
        """Go through the events in the order of time; of equal times, sendings come first."""
        for _, kind, index, packet in sorted(self._events()):
            if kind == 0:
                self._start(index, packet)
            elif kind == 1:
                self._arrive(index, packet)
            else:
                self._drop(index, packet)
        left = (*self._waiting.values(), *self._lost.values())
        waiting = sorted(index for each in left for index in each)
        still_open = pl.DataFrame(
            [(*self._sent[index][:-1], self._dropped[index]) for index in waiting],
            schema=_OPEN,
            orient="row",
        )
        return _Matched(
            Ends(
                self._matched_arrivals(),
                self._drops.with_columns(self._times(self._drop_of)),
                pl.DataFrame(schema=_LOST),
            ),
            still_open,
            pl.Series("packet", sorted(self._seen), pl.Int64),
        )

    def _events(self) -> Iterator[tuple[float, int, int, int]]:
        for index, (packet, _, sent_s, _, _) in enumerate(self._sent):
            yield sent_s, 0, index, packet
        for kind, rows in ((1, self._arrivals), (2, self._drops)):
            for index, (time_s, packet) in enumerate(rows.select("time_s", "packet").iter_rows()):
                yield time_s, kind, index, packet

    def _start(self, index: int, packet: int) -> None:
        if self._dropped[index]:
            heapq.heappush(self._lost.setdefault(packet, []), index)
        else:
            self._waiting.setdefault(packet, deque()).append(index)

    def _arrive(self, index: int, packet: int) -> None:
        # A packet without a drop is more likely to have arrived.
        if waiting := self._waiting.get(packet):
            found = waiting.popleft()
        elif lost := self._lost.get(packet):
            found = heapq.heappop(lost)
        else:
            if packet in self._seen:
                self._again.add(index)
            return
        self._arrival_of[index] = found
        self._seen.add(packet)

    def _drop(self, index: int, packet: int) -> None:
        if waiting := self._waiting.get(packet):
            found = waiting.popleft()
            self._drop_of[index] = found
            self._dropped[found] = True
            heapq.heappush(self._lost.setdefault(packet, []), found)

    def _times(self, sent: list[int | None]) -> pl.Series:
        times = [None if index is None else self._sent[index][2] for index in sent]
        return pl.Series("sent_s", times, pl.Float64)

    def _matched_arrivals(self) -> pl.DataFrame:
        payloads = [None if i is None else self._sent[i][3] for i in self._arrival_of]
        rows = self._arrivals.with_columns(
            self._times(self._arrival_of), pl.Series("sent_payload", payloads, pl.Int64)
        )
        keep = [index not in self._again for index in range(rows.height)]
        return _with_payload(rows.filter(pl.Series(keep, dtype=pl.Boolean)))
