"""What links carried and dropped, and their queues: partial sums over batches."""

from __future__ import annotations

import types
from collections import Counter, deque
from collections.abc import Iterable

import polars as pl

from bdpbench.metrics.packets.bins import BinnedSums, Window
from bdpbench.metrics.packets.events import Events, link_ends
from bdpbench.metrics.packets.native import WiredFound
from bdpbench.metrics.packets.paths import RouteChanges
from bdpbench.metrics.packets.tracking import MOST_OPEN

_ODD_UID = 0x2545F4914F6CDD1D
_ODD_TURN = -0x2917014799A6026D
_EARLIER = -(1 << 62)
_RESOLUTION_S = 1e-6
_COARSE_RESOLUTION_S = 1e-4
_LARGEST_ERROR = 0.005
_DEPARTURE = {"time_s": pl.Float64, "link": pl.Int64, "bytes": pl.Int64, "wait_s": pl.Float64}


class LinkSums:
    """Counts, bytes, queue lengths and queueing delays of links by bin of time.

    Args:
        window: the time that is counted; earlier events only set the initial state.
        width_s: width of the bins, s; None to choose it.
    """

    def __init__(self, window: Window, width_s: float | None) -> None:
        count, size = pl.len().cast(pl.Int64), pl.col("bytes").sum()
        wait = pl.col("wait_s")
        self._window = window
        self._queue = Queue()
        self._capacity = Capacity()
        self._entered = _EnteredByFlow()
        self._routes = RouteChanges(window)
        self._reached: set[int] = set()
        self._coarse: set[int] = set()
        self._before: list[pl.DataFrame] = []
        self._left = BinnedSums(
            "link", {"departed_pkts": count, "departed_bytes": size}, width_s=width_s
        )
        self._waits = BinnedSums(
            "link",
            {"waited_pkts": (wait > 0).sum().cast(pl.Int64), "wait_sum_s": wait.sum()},
            {"wait_max_s": wait.max()},
            width_s=width_s,
        )
        self._dropped = BinnedSums(
            "link", {"dropped_pkts": count, "dropped_bytes": size}, width_s=width_s
        )
        self._lengths = BinnedSums(
            "link",
            {
                "change_pkts": pl.col("change").sum(),
                "change_times_s": (pl.col("change") * pl.col("time_s")).sum(),
            },
            {"longest_pkts": pl.col("length").max()},
            width_s=width_s,
        )

    @property
    def binned(self) -> tuple[BinnedSums, ...]:
        """The sums by bin."""
        return self._left, self._waits, self._dropped, self._lengths

    def load(self, found: WiredFound) -> None:
        """Start from the sums of the rows summed in C."""
        self._queue.load(found)
        self._capacity.load(found)
        self._entered.load(found)
        self._routes.load(found)
        links = found.links
        self._reached = set(links.filter(pl.col("reached") == 1)["link"])
        self._before = [links.filter(pl.col("has_before") == 1).select("link", change="before")]
        names = ("departed", "waited", "dropped_on_link", "lengths")
        for sums, cells in zip(self.binned, (found.cells[name] for name in names), strict=True):
            sums.load(cells.rows, found.last_s, cells.index)

    def update(self, events: Events) -> None:
        """Add a batch."""
        waits, changes = self._queue.match(events.waiting)
        departed = pl.concat([events.passed, waits.select("time_s", "link", "bytes")])
        drops = events.drops.filter(pl.col("link").is_not_null())
        self._coarse.update(events.coarse.to_list())
        self._capacity.update(waits)
        found = [departed, waits, drops, changes]
        entries = events.entries
        if self._window.is_bounded:
            early = changes.filter(pl.col("time_s") < self._window.start_s)
            self._before.append(early.group_by("link").agg(pl.col("change").sum()))
            found = [each.filter(self._window.holds()) for each in found]
            entries = entries.filter(self._window.holds())
        for sums, rows in zip(self.binned, found, strict=True):
            sums.add(rows, events.last_s)
        self._routes.update(events, entries, self._entered.update(entries))
        self._reached.update(events.reached.to_list())

    def finish(self) -> None:
        """Finish: no batch follows, so lines that waited for the next one count as they are."""
        changes = self._queue.settle()
        if not changes.is_empty():
            early = changes.filter(pl.col("time_s") < self._window.start_s)
            self._before.append(early.group_by("link").agg(pl.col("change").sum()))
            last_s = float(changes["time_s"][-1])
            self._lengths.add(changes.filter(self._window.holds()), last_s)

    def series(self, width_s: float, end_s: float) -> pl.DataFrame:
        """Sums by link (i64) and bin (i64); null if nothing was counted."""
        parts = [each.result(width_s, end_s) for each in self.binned]
        joined = parts[0]
        for part in parts[1:]:
            joined = joined.join(part, on=["link", "bin"], how="full", coalesce=True)
        return joined.sort("link", "bin")

    def lengths_at_start(self) -> pl.DataFrame:
        """link, pkts (i64): packets in queues when the window begins; empty queues are left out."""
        empty = pl.DataFrame(schema={"link": pl.Int64, "change": pl.Int64})
        return pl.concat([empty, *self._before]).group_by("link").agg(pkts=pl.col("change").sum())

    def capacities(self) -> pl.DataFrame:
        """link, capacity_mbps (f64, Mbit/s), of links that were busy long enough to measure it.

        Left out are satellite links from one node to several others: one queue may serve them all.
        """
        known = self._capacity.result(self._coarse)
        in_space = pl.DataFrame({"link": sorted(self._coarse)}, schema={"link": pl.Int64})
        one_of_several = in_space.filter(link_ends()[0].is_duplicated())
        return known.join(one_of_several, on="link", how="anti")

    def is_shared(self) -> pl.Expr:
        """Whether a link connects a station to a medium that it shares with others.

        A LAN is a node without queues: stations send to it, and the packets that they receive from
        it never entered a queue there. A satellite's channel is a node with a negative number.
        """
        entered = set(self._entered.links().to_list())
        unqueued = pl.DataFrame(
            {"link": sorted(self._reached - entered)}, schema={"link": pl.Int64}
        )
        media = unqueued.select(link_ends()[0]).to_series().unique()
        to_node = link_ends()[1]
        return to_node.is_in(media.implode()) | (to_node < 0)

    def streams(self) -> pl.Series:
        """Streams that entered a link."""
        return self._entered.streams()

    def route_changes(self) -> pl.DataFrame:
        """stream, route_changes (i64); a missing stream has none."""
        return self._routes.result()

    def by_flow(self) -> pl.DataFrame:
        """link, stream, entered_pkts, entered_bytes, first_s: what each stream put on each link."""
        return self._entered.result()


class Queue:
    """Packets in queues, and their waiting times.

    A queue contains the packets that have entered it (``+``) and neither left it (``-``) nor been
    dropped. The packet being transmitted is no longer in it. A packet that leaves or is dropped at
    the time of its arrival was never in it, and one that an error model drops before the queue has
    no ``+``. Of packets with the same number, the first to enter is the first to leave.
    """

    def __init__(self) -> None:
        self._open = pl.DataFrame(
            schema={
                "key": pl.Int64,
                "entered_s": pl.Float64,
                "link": pl.Int64,
                "bytes": pl.Int64,
                "entered_row": pl.Int64,
            }
        )
        self._exits = pl.DataFrame(
            schema={"link": pl.Int64, "time_s": pl.Float64, "row": pl.Int64, "change": pl.Int64}
        )
        self._lengths = pl.DataFrame(schema={"link": pl.Int64, "length": pl.Int64})

    def load(self, found: WiredFound) -> None:
        """Start from the queues of the rows summed in C."""
        row = pl.int_range(pl.len(), dtype=pl.Int64) - pl.len().cast(pl.Int64)
        unsettled = found.unsettled.with_columns(row.alias("entered_row"))
        rises, falls = (unsettled.filter(pl.col("by") == by) for by in (1, -1))
        waiting = found.queued.filter(pl.col("open") == 1).sort("entered_s", maintain_order=True)
        came_last = pl.col("entered_s") == found.last_s
        self._open = (
            waiting.join(rises.drop("by"), on=["link", "change"], how="left", maintain_order="left")
            .with_columns(pl.when(came_last).then("entered_row").alias("entered_row"))
            .select(self._open.columns)
        )
        self._exits = falls.select(
            "link", row="entered_row", change="by", time_s=pl.lit(found.last_s)
        ).select(self._exits.columns)
        self._lengths = found.links.select("link", "length")

    def settle(self) -> pl.DataFrame:
        """Count the changes at the last time in C, if no batch follows; see ``match``."""
        none = {"row": pl.UInt32, "event": pl.String, "time_s": pl.Float64, "link": pl.Int64}
        return self.match(pl.DataFrame(schema={**none, "uid": pl.Int64, "bytes": pl.Int64}))[1]

    def match(self, lines: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Departures and changes of length of a batch.

        Args:
            lines: row (u32), event, time_s (f64, s), link, uid, bytes (i64), in the order of the
                trace.

        Returns:
            Departures: time_s (f64, s), link, bytes (i64), wait_s (f64, s), in order of time, those
                of the same time in the order of the trace. wait_s is null if the trace does not
                contain the arrival. Changes: time_s, link,
            change (i64, 1 or -1), length (i64, packets after it), in the order of the trace.
        """
        key = (pl.col("uid") * _ODD_UID + pl.col("link")).alias("key")
        is_entry, row = pl.col("event") == "+", pl.col("row").cast(pl.Int64)
        entries = lines.filter(is_entry).select(
            key, "link", "bytes", entered_s="time_s", entered_row=row
        )
        exits = lines.filter(~is_entry).select(
            key, "time_s", "link", "bytes", left_row=row, departs=pl.col("event") == "-"
        )
        entries, exits = _paired(pl.concat([self._open, entries], how="diagonal"), exits)
        stays = entries.join(
            exits.select("pair", "left_row", "departs", left_s="time_s"),
            on="pair",
            how="left",
            maintain_order="left",
        )
        self._open = stays.filter(pl.col("left_s").is_null()).select(self._open.columns)
        self._open = self._open.tail(MOST_OPEN).with_columns(entered_row=pl.lit(None, pl.Int64))
        changes = self._changes(stays)
        self._exits = self._exits.clear()
        return self._departures(stays, exits), changes

    def _departures(self, stays: pl.DataFrame, exits: pl.DataFrame) -> pl.DataFrame:
        waited_s = pl.col("left_s") - pl.col("entered_s")
        departed = stays.filter("departs").select(
            "link", "bytes", "left_row", time_s="left_s", wait_s=waited_s
        )
        if departed.height < exits["departs"].sum():
            unknown = exits.filter("departs").join(stays, on="pair", how="anti")
            no_wait = pl.lit(None, pl.Float64)
            columns = unknown.select("link", "bytes", "left_row", "time_s", wait_s=no_wait)
            departed = pl.concat([departed, columns])
        return departed.sort("time_s", "left_row").drop("left_row")

    def _changes(self, stays: pl.DataFrame) -> pl.DataFrame:
        # Packets that a full queue rejects, or an idle link takes at once, were never in the queue.
        held = (pl.col("left_s") > pl.col("entered_s")).fill_null(value=True)
        of_batch = pl.col("entered_row").is_not_null()
        up = stays.filter(held & of_batch).select(
            "link", time_s="entered_s", row="entered_row", change=pl.lit(1, pl.Int64)
        )
        # Arrivals of earlier batches were counted there, except at the last time that C summed.
        down = stays.filter(pl.col("left_s").is_not_null() & (held | ~of_batch)).select(
            "link", time_s="left_s", row="left_row", change=pl.lit(-1, pl.Int64)
        )
        changes = (
            pl.concat([self._exits, *(each.select(self._exits.columns) for each in (up, down))])
            .sort("row")
            .join(self._lengths, on="link", how="left", maintain_order="left")
        )
        before = pl.col("length").fill_null(0)
        changes = changes.with_columns(length=pl.col("change").cum_sum().over("link") + before)
        now = changes.group_by("link").agg(pl.col("length").last())
        others = self._lengths.join(now, on="link", how="anti")
        self._lengths = pl.concat([others, now])
        return changes.drop("row")


def _paired(entries: pl.DataFrame, exits: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Both frames with the column pair (i64), equal for an entry and the matching exit.

    Args:
        entries: key (i64), entered_row (i64, null for those of earlier batches), in order.
        exits: key, left_row (i64).
    """
    repeated = [
        each.filter(each.is_duplicated())
        for each in (entries["key"], exits["key"])
        if each.n_unique() < each.len()
    ]
    if not repeated:
        return entries.with_columns(pair="key"), exits.with_columns(pair="key")
    events = [
        (_EARLIER if row is None else row, True, index, key)
        for index, (key, row) in enumerate(entries.select("key", "entered_row").iter_rows())
    ]
    events += [
        (row, False, index, key)
        for index, (key, row) in enumerate(exits.select("key", "left_row").iter_rows())
    ]
    again = set(pl.concat(repeated).to_list())
    turns = _turns([each for each in events if each[3] in again])
    found = []
    for which, rows in ((True, entries), (False, exits)):
        turn = pl.Series([turns.get((which, index), 0) for index in range(rows.height)])
        found.append(rows.with_columns(pair=pl.col("key") + turn.cast(pl.Int64) * _ODD_TURN))
    return found[0], found[1]


def _turns(events: list[tuple[int, bool, int, int]]) -> dict[tuple[bool, int], int]:
    """(is entry, index) → number of the stay among those of its key; -1 for an exit alone.

    >>> _turns([(0, True, 0, 7), (1, False, 0, 7), (2, True, 1, 7)])
    {(True, 0): 1, (False, 0): 1, (True, 1): 2}
    """
    waiting: dict[int, deque[int]] = {}
    count: Counter[int] = Counter()
    turns = {}
    for _, is_entry, index, key in sorted(events):
        inside = waiting.setdefault(key, deque())
        if is_entry:
            count[key] += 1
            inside.append(count[key])
            turns[True, index] = count[key]
        else:
            turns[False, index] = inside.popleft() if inside else -1
    return turns


class Capacity:
    """Capacities of links, from packets that left their queue back to back.

    A packet that waited while its predecessor left was sent when the transmission of that one
    ended, so the time between their departures is the predecessor's transmission time. Both must
    have waited: packets that found the link idle are handled separately, and are few on a busy
    link. ns-2 rounds times to 1 us, and to 0.1 ms at satellites, so the ends of a busy period may
    be off by as much; a capacity counts as known if all of these errors together are below 0.5 %.
    """

    _SUMS = types.MappingProxyType(
        {"link": pl.Int64, "periods": pl.Int64, "bytes": pl.Int64, "busy_s": pl.Float64}
    )

    def __init__(self) -> None:
        self._last = pl.DataFrame(schema=_DEPARTURE)
        self._sums = pl.DataFrame(schema=self._SUMS)

    def load(self, found: WiredFound) -> None:
        """Start from the busy periods of the rows summed in C."""
        left = found.links.filter(pl.col("has_last") == 1)
        self._last = left.select("link", time_s="last_s", bytes="last_bytes", wait_s="last_wait_s")
        self._last = self._last.select(*_DEPARTURE)
        busy = found.links.filter(pl.col("periods") > 0)
        self._sums = busy.select("link", "periods", "busy_s", bytes="busy_bytes")
        self._sums = self._sums.select(*self._SUMS)

    def update(self, departures: pl.DataFrame) -> None:
        """Add departures, as ``Queue.match`` returns them."""
        rows = pl.concat([self._last, departures.select(*_DEPARTURE)])
        self._last = rows.group_by("link").last().select(*_DEPARTURE)
        next_s, next_wait_s = (pl.col(name).shift(-1).over("link") for name in ("time_s", "wait_s"))
        follows = (next_s - next_wait_s <= pl.col("time_s")).fill_null(value=False)
        marked = rows.with_columns(next_s=next_s, follows=follows)
        begins = ~pl.col("follows").shift(1, fill_value=False).over("link")
        found = (
            marked.with_columns(begins=begins)
            .filter("follows")
            .group_by("link")
            .agg(
                pl.col("begins").sum().cast(pl.Int64).alias("periods"),
                pl.col("bytes").sum(),
                busy_s=(pl.col("next_s") - pl.col("time_s")).sum(),
            )
        )
        parts = pl.concat([self._sums, found])
        self._sums = parts.group_by("link").agg(pl.col("periods", "bytes", "busy_s").sum())

    def result(self, coarse: Iterable[int] = ()) -> pl.DataFrame:
        """link, capacity_mbps (f64, Mbit/s); ``coarse`` are links of satellites."""
        links = pl.Series(sorted(coarse), dtype=pl.Int64)
        resolution_s = (
            pl.when(pl.col("link").is_in(links.implode()))
            .then(_COARSE_RESOLUTION_S)
            .otherwise(_RESOLUTION_S)
        )
        known = pl.col("periods") * resolution_s < _LARGEST_ERROR * pl.col("busy_s")
        return self._sums.filter(known).select(
            "link", capacity_mbps=8e-6 * pl.col("bytes") / pl.col("busy_s")
        )


class _EnteredByFlow:
    """Packets and bytes that each stream sent into each link: its route, and its share."""

    def __init__(self) -> None:
        self._parts: list[pl.DataFrame] = []

    def load(self, found: WiredFound) -> None:
        self._parts = [found.entered]

    def update(self, entries: pl.LazyFrame) -> pl.DataFrame:
        """Add packets that entered links; return the sums of these alone."""
        # Grouping by one 64-bit key is twice as fast as by two.
        group = (pl.col("link") * _ODD_UID + pl.col("stream")).alias("_group")
        part = (
            entries.group_by(group)
            .agg(
                pl.first("link", "stream"),
                pl.len().cast(pl.Int64).alias("entered_pkts"),
                pl.col("bytes").sum().alias("entered_bytes"),
                pl.col("time_s").first().alias("first_s"),
            )
            .drop("_group")
            .collect()
        )
        self._parts.append(part)
        if len(self._parts) > 64:
            self._parts = [self.result()]
        return part

    def links(self) -> pl.Series:
        return pl.concat([each["link"] for each in self._parts]).unique()

    def streams(self) -> pl.Series:
        return pl.concat([each["stream"] for each in self._parts]).unique()

    def result(self) -> pl.DataFrame:
        schema = {
            "link": pl.Int64,
            "stream": pl.Int64,
            "entered_pkts": pl.Int64,
            "entered_bytes": pl.Int64,
            "first_s": pl.Float64,
        }
        return (
            pl.concat([pl.DataFrame(schema=schema), *self._parts])
            .group_by("link", "stream")
            .agg(pl.col("entered_pkts", "entered_bytes").sum(), pl.col("first_s").min())
        )
