"""A packet trace, batch by batch, reduced to what flows and links did in a window of time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import polars as pl

from bdpbench.errors import BdpbenchError
from bdpbench.metrics.packets.bins import Window, number_of_bin
from bdpbench.metrics.packets.events import (
    ENDS,
    FlowIds,
    Hosts,
    link_ends,
    link_number,
    split_events,
)
from bdpbench.metrics.packets.flows import FlowSums
from bdpbench.metrics.packets.links import LinkSums
from bdpbench.metrics.packets.losses import Losses

_ROWS_AT_ONCE = 1_000_000
"""Rows that are reduced at once: many against the cost of a call, few against memory."""

MOST_GIVEN_BINS = 1_000_000
"""Bins of a series whose width is given."""

_FLOW_COUNTS = (
    "sent_pkts",
    "sent_bytes",
    "retransmitted_pkts",
    "retransmitted_bytes",
    "received_pkts",
    "received_bytes",
    "good_bytes",
    "dropped_pkts",
    "dropped_bytes",
    "delays",
    "rtts",
)
_AT_SOURCE = ("sent_pkts", "sent_bytes", "retransmitted_pkts", "retransmitted_bytes")
_AT_RECEIVER = ("received_pkts", "received_bytes", "good_bytes")
_LINK_COUNTS = (
    "departed_pkts",
    "departed_bytes",
    "waited_pkts",
    "dropped_pkts",
    "dropped_bytes",
    "change_pkts",
)


_LOSSES = ("lost_pkts", "vanished_pkts")
KEPT_FLOWS = (
    "subject",
    "kind",
    *ENDS,
    "type",
    *_FLOW_COUNTS,
    "delay_sum_s",
    "delay_min_s",
    "delay_max_s",
    "jitter_s",
    "rtt_sum_s",
    "rtt_max_s",
    "first_sent_s",
    "first_drop_s",
    "first_retransmission_s",
    "last_received_s",
    "started_s",
    "slow_start_end_s",
    "slow_start_pkts",
    "slow_start_drops",
)
"""Columns of ``PacketSums.flows`` that are kept of a trace that never reaches the disk."""

FLOWS = (*KEPT_FLOWS, *_LOSSES, "delay_steps", "delay_step_sum_s")
"""Columns of ``PacketSums.flows``."""

KEPT_LINKS = (
    "subject",
    "from_node",
    "to_node",
    "entered_pkts",
    "entered_bytes",
    "came_pkts",
    "departed_pkts",
    "departed_bytes",
    "waited_pkts",
    "dropped_pkts",
    "dropped_bytes",
    "wait_sum_s",
    "wait_max_s",
    "length_area",
    "longest_pkts",
    "capacity_mbps",
)
"""Columns of ``PacketSums.links`` that are kept of a trace that never reaches the disk."""

LINKS = (*KEPT_LINKS, "shared")
"""Columns of ``PacketSums.links``."""


@dataclass(frozen=True)
class PacketSums:
    """What flows and links did: the frames that the metrics of packets are functions of.

    Attributes:
        start_s, end_s: the window, s, half-open; of a whole trace its first and last event.
        bin_s: width of the bins of the series, s.
        flows: one row a stream, data first, by flow id and start: subject (str: flow:1, or with
            its ends where several data streams share a flow id; acks:1 for ACKs, control:1 for
            packets without numbers), kind (data, acks, control), flow, src_node, src_port,
            dst_node, dst_port (i32), type (str); counts in the window (i64): sent_pkts, sent_bytes,
            retransmitted_pkts, retransmitted_bytes, received_pkts, received_bytes, good_bytes,
            dropped_pkts, dropped_bytes (of drop events: a packet can have several), delays, rtts;
            sums and extremes in s (f64): delay_sum_s, delay_min_s, delay_max_s, jitter_s,
            rtt_sum_s, rtt_max_s; times in s: first_sent_s, first_drop_s, first_retransmission_s,
            last_received_s; and of the whole trace up to end_s slow_start_end_s, slow_start_pkts,
            slow_start_drops, started_s. What the trace cannot tell, since it lacks the link of a
            stream's source or destination, is null. lost_pkts, vanished_pkts (i64): packets sent in
            the window that never arrived, dropped somewhere or without a drop event. delay_steps
            (i64), delay_step_sum_s (f64, s): differences of the delays of packets that arrive after
            one another, and the sum of their sizes.
        links: one row a link: subject (link:0-1), from_node, to_node (i32), entered_pkts,
            entered_bytes (+ lines), came_pkts (also those dropped before the queue),
            departed_pkts, departed_bytes, waited_pkts (for any time), dropped_pkts, dropped_bytes
            (i64), wait_sum_s, wait_max_s (f64, s), length_area (f64, packets · s), longest_pkts
            (i64), capacity_mbps (f64, Mbit/s, null where it is not known), shared (bool: whether it
            is a station's way onto a LAN or a satellite's channel).
        link_flows: link, flow (subjects), entered_pkts, entered_bytes (i64), first_s (f64, s).
        flow_series: subject, time_s (f64, s, end of the bin), mbps, goodput_mbps (f64, Mbit/s),
            delay_ms, rtt_ms (f64, means, ms), sent_pkts, dropped_pkts, retransmitted_pkts (i64).
            Bins in which nothing happened have no row.
        link_series: subject, time_s, mbps, queue_pkts (f64, mean), max_queue_pkts (i64),
            queueing_ms (f64, mean), dropped_pkts (i64).
        losses: layer, reason, type (str), dropped_pkts, dropped_bytes (i64), largest first.
        last_s: time of the last event, s.
        forgotten: packets whose end the trace did not hold.
    """

    start_s: float
    end_s: float
    bin_s: float
    flows: pl.DataFrame
    links: pl.DataFrame
    link_flows: pl.DataFrame
    flow_series: pl.DataFrame
    link_series: pl.DataFrame
    losses: pl.DataFrame
    last_s: float
    forgotten: int = 0

    @property
    def seconds(self) -> float:
        """Length of the window, s."""
        return self.end_s - self.start_s

    def tables(self) -> dict[str, pl.DataFrame]:
        """Name → frame, of what is kept of a trace that never reaches the disk."""
        return {
            "flows": self.flows.select(KEPT_FLOWS),
            "links": self.links.select(KEPT_LINKS),
            "link_flows": self.link_flows,
            "flow_series": self.flow_series,
            "link_series": self.link_series,
            "losses": self.losses,
        }

    def all_tables(self) -> dict[str, pl.DataFrame]:
        """Name → frame, of all that is known of a trace."""
        return {**self.tables(), "flows": self.flows, "links": self.links}


def sum_packets(
    batches: Iterable[pl.DataFrame],
    window: Window | None = None,
    *,
    bin_s: float | None = None,
    capacities: Mapping[tuple[int, int], float] | None = None,
) -> PacketSums:
    """Reduce a packet trace in one pass; memory holds what is in flight, and the series.

    Args:
        batches: frames of the columns ``events.COLUMNS``, in the order of the trace.
        window: time to measure; None for all. Events at its end or later are not looked at; those
            before its start only tell what was sent before, and how long queues are.
        bin_s: width of the bins of the series, s; None for one that divides the trace into at
            most five hundred.
        capacities: (from_node, to_node) → Mbit/s, of links whose capacity is known.

    Raises:
        BdpbenchError: for a trace without a packet event in the window, and for one with more than
            ``MOST_GIVEN_BINS`` bins of a width that was given.
    """
    meter = PacketMeter(window, bin_s=bin_s, capacities=capacities)
    for batch in batches:
        meter.update(batch)
        if meter.is_done:
            break
    return meter.result()


@dataclass
class PacketMeter:
    """``sum_packets``, for who gets batches one by one."""

    window: Window | None = None
    bin_s: float | None = None
    capacities: Mapping[tuple[int, int], float] | None = None
    is_done: bool = field(default=False, init=False)
    """Whether the window has ended, so that further batches change nothing."""

    def __post_init__(self) -> None:
        self._window = self.window or Window()
        self._flows = FlowSums(self._window, self.bin_s)
        self._links = LinkSums(self._window, self.bin_s)
        self._losses = Losses(self._window)
        self._flow_ids = FlowIds()
        self._hosts = Hosts()
        self._has_agents = False
        self._first_s = math.nan
        self._last_s = math.nan
        self._waiting: list[pl.DataFrame] = []
        self._rows = 0

    def update(self, batch: pl.DataFrame) -> None:
        """Add the lines of a batch."""
        if math.isfinite(self._window.end_s):
            self.is_done = bool((batch["time_s"] >= self._window.end_s).any())
            batch = batch.filter(pl.col("time_s") < self._window.end_s)
        self._waiting.append(batch)
        self._rows += batch.height
        if self._rows >= _ROWS_AT_ONCE:
            self._add_waiting()

    def _add_waiting(self, *, whole: bool = False) -> None:
        """Add the batches that wait to be enough; unless whole, without a last line with a +.

        A + and the - that follows it belong together, wherever a trace is cut.
        """
        rows = pl.concat(self._waiting, how="diagonal")
        waits = not whole and rows.height > 0 and rows["event"][-1] == "+"
        self._waiting = [rows.tail(1)] if waits else []
        self._rows = len(self._waiting)
        rows = rows.head(-1) if waits else rows
        if not rows.is_empty():
            self._add(rows)

    def _add(self, batch: pl.DataFrame) -> None:
        if math.isnan(self._first_s):
            self._first_s = float(batch["time_s"][0])
        self._last_s = float(batch["time_s"][-1])
        self._check_bins()
        batch = self._hosts.add(self._flow_ids.fill(batch))
        events = split_events(batch)
        self._has_agents = self._has_agents or events.has_agents
        # Much of either is work that keeps one processor busy only.
        with ThreadPoolExecutor(2) as pool:
            updates = [pool.submit(each.update, events) for each in (self._flows, self._links)]
            self._losses.update(batch)
            for update in updates:
                update.result()
        self._flows.learn(batch, self._links.streams())

    def _check_bins(self) -> None:
        """Refuse bins of a given width that are more than a series has room for."""
        start_s = max(self._first_s, self._window.start_s)
        if self.bin_s is not None and self._last_s - start_s > MOST_GIVEN_BINS * self.bin_s:
            raise BdpbenchError(
                f"bins of {self.bin_s:g} s are too narrow for a trace from {start_s:g} s to "
                f"{self._last_s:g} s: a series has at most {MOST_GIVEN_BINS:,}",
                hint="give wider bins, or a window",
            )

    def result(self) -> PacketSums:
        """The sums of all batches, after which no more can be added."""
        if self._waiting:
            self._add_waiting(whole=True)
        start_s, end_s = self._ends()
        series = (*self._flows.binned, *self._links.binned)
        bin_s = max(each.width_s for each in series)
        flow_bins, link_bins = (each.series(bin_s, end_s) for each in (self._flows, self._links))
        entered = self._links.by_flow()
        who = self._flows.totals().join(
            self._flows.losses(self._last_s), on="stream", how="left", maintain_order="left"
        )
        flows = _flow_totals(who, flow_bins, entered, has_agents=self._has_agents)
        links = self._link_totals(link_bins, entered, start_s, end_s)
        names = flows.select("stream", flow="subject")
        return PacketSums(
            start_s,
            end_s,
            bin_s,
            flows.select(FLOWS),
            links.select(LINKS),
            entered.join(names, on="stream")
            .join(links.select("link", subject="subject"), on="link")
            .select("flow", "entered_pkts", "entered_bytes", "first_s", link="subject")
            .sort("first_s", "link", "flow"),
            _flow_series(flow_bins, names, bin_s, (start_s, end_s)),
            self._link_series(link_bins, links, bin_s, (start_s, end_s)),
            self._losses.result(),
            self._last_s,
            self._flows.forgotten,
        )

    def _ends(self) -> tuple[float, float]:
        """Start and end of the window, s; of one without bounds the trace's own."""
        if math.isnan(self._first_s) or self._last_s < self._window.start_s:
            raise BdpbenchError("the trace has no packet event in the window")
        start_s, end_s = self._window.start_s, self._window.end_s
        return (
            start_s if math.isfinite(start_s) else self._first_s,
            end_s if math.isfinite(end_s) else self._last_s,
        )

    def _link_totals(
        self, bins: pl.DataFrame, entered: pl.DataFrame, start_s: float, end_s: float
    ) -> pl.DataFrame:
        sums = bins.group_by("link").agg(
            pl.col(*_LINK_COUNTS, "change_times_s", "wait_sum_s").sum(),
            pl.col("wait_max_s", "longest_pkts").max(),
        )
        came = entered.group_by("link").agg(pl.col("entered_pkts", "entered_bytes").sum())
        joined = (
            came.join(sums, on="link", how="full", coalesce=True)
            .join(self._links.lengths_at_start(), on="link", how="left")
            .join(self._capacities(), on="link", how="left")
        )
        counts = pl.col("entered_pkts", "entered_bytes", *_LINK_COUNTS, "pkts").fill_null(0)
        # A packet that is dropped before the queue has come to the link, and has no + line.
        gone = pl.col("departed_pkts") + pl.col("dropped_pkts") + pl.col("change_pkts")
        area = pl.col("pkts") * (end_s - start_s) + (
            pl.col("change_pkts") * end_s - pl.col("change_times_s").fill_null(0.0)
        )
        return (
            joined.with_columns(counts)
            .with_columns(
                *link_ends(),
                shared=self._links.is_shared(),
                length_area=area,
                came_pkts=pl.max_horizontal("entered_pkts", gone),
                longest_pkts=pl.max_horizontal("longest_pkts", "pkts"),
                wait_sum_s=pl.col("wait_sum_s").fill_null(0.0),
                wait_max_s=pl.col("wait_max_s").fill_null(0.0),
            )
            .with_columns(subject=pl.format("link:{}-{}", "from_node", "to_node"))
            .select("link", *LINKS, "pkts")
            .sort("from_node", "to_node")
        )

    def _capacities(self) -> pl.DataFrame:
        given = [
            (link_number(start, end), mbps)
            for (start, end), mbps in (self.capacities or {}).items()
        ]
        known = pl.DataFrame(
            given, schema={"link": pl.Int64, "capacity_mbps": pl.Float64}, orient="row"
        )
        measured = (
            self._links.capacities()
            .join(known, on="link", how="anti")
            .filter(~self._links.is_shared())
        )
        return pl.concat([known, measured])

    def _link_series(
        self, bins: pl.DataFrame, links: pl.DataFrame, bin_s: float, window: tuple[float, float]
    ) -> pl.DataFrame:
        full = _filled(bins, window, self._last_s, bin_s)
        start, end = _bin_ends(bin_s, window)
        change = pl.col("change_pkts").fill_null(0)
        at_start = (change.cum_sum().over("link") - change) + pl.col("pkts").fill_null(0)
        joined = full.join(
            links.select("link", "subject", "pkts"), on="link", maintain_order="left"
        )
        with_length = joined.with_columns(start=start, end=end, at_start=at_start)
        length = pl.col("end") - pl.col("start")
        area = pl.col("at_start") * length + (
            change * pl.col("end") - pl.col("change_times_s").fill_null(0.0)
        )
        return with_length.select(
            "subject",
            time_s="end",
            mbps=8e-6 * pl.col("departed_bytes").fill_null(0) / length,
            # Rounding leaves a queue that is empty a hair below zero.
            queue_pkts=(area / length).clip(0.0),
            max_queue_pkts=pl.max_horizontal("longest_pkts", "at_start"),
            queueing_ms=1e3 * pl.col("wait_sum_s") / pl.col("departed_pkts"),
            dropped_pkts=pl.col("dropped_pkts").fill_null(0),
        )


def _bin_ends(bin_s: float, window: tuple[float, float]) -> tuple[pl.Expr, pl.Expr]:
    """Start and end in s of the part of each bin that lies in the window."""
    number = pl.col("bin").cast(pl.Float64)
    # Rounded, since 3 · 0.1 is 0.30000000000000004.
    start, end = (number * bin_s).round(9), ((number + 1) * bin_s).round(9)
    return start.clip(lower_bound=window[0]), end.clip(upper_bound=window[1])


def _filled(
    bins: pl.DataFrame, window: tuple[float, float], last_s: float, bin_s: float
) -> pl.DataFrame:
    """Rows of all bins, in order, of links on which packets ever waited; of others as they are."""
    queues = bins.filter(pl.col("change_pkts").is_not_null()).select("link").unique()
    if queues.is_empty():
        return bins
    # An event at the very end of the last bin belongs to it.
    start_s, end_s = window
    first, last = number_of_bin(start_s, bin_s), int(bins.select(pl.col("bin").max()).item())
    last = max(last, min(number_of_bin(last_s, bin_s), number_of_bin(end_s, bin_s, before=True)))
    numbers = pl.DataFrame({"bin": range(first, last + 1)}, schema={"bin": pl.Int64})
    return (
        queues.join(numbers, how="cross")
        .join(bins, on=["link", "bin"], how="left")
        .vstack(bins.join(queues, on="link", how="anti"))
        .sort("link", "bin")
    )


def _flow_totals(
    who: pl.DataFrame, bins: pl.DataFrame, entered: pl.DataFrame, *, has_agents: bool
) -> pl.DataFrame:
    sums = bins.group_by("stream").agg(
        pl.col(*_FLOW_COUNTS, "delay_sum_s", "rtt_sum_s").sum(),
        pl.col("delay_max_s", "rtt_max_s").max(),
    )
    starts, ends = (entered.select(link_ends()[side]).to_series().unique() for side in (0, 1))
    # Where agents are traced, all of them are: a flow without a line of its receiver has starved.
    sees_source = (
        (pl.col("sent_pkts") > 0) | pl.col("src_node").is_in(starts.implode()) | has_agents
    )
    sees_receiver = (
        (pl.col("received_pkts") > 0) | pl.col("dst_node").is_in(ends.implode()) | has_agents
    )
    counted = who.join(sums, on="stream", how="left", maintain_order="left").with_columns(
        pl.col(*_FLOW_COUNTS, *_LOSSES).fill_null(0), _kind().alias("kind")
    )
    slow_start = pl.when((pl.col("kind") == "data") & (pl.col("type") == "tcp"))
    return counted.with_columns(
        *(pl.when(sees_source).then(name).alias(name) for name in (*_AT_SOURCE, "lost_pkts")),
        *(pl.when(sees_receiver).then(name).alias(name) for name in _AT_RECEIVER),
        *(
            slow_start.then(name).alias(name)
            for name in ("slow_start_end_s", "slow_start_pkts", "slow_start_drops")
        ),
        # Of a receiver that is not traced nobody knows what arrived.
        vanished_pkts=pl.when(sees_source & sees_receiver).then("vanished_pkts"),
        subject=_flow_subject(),
    ).sort(pl.col("kind") == "control", pl.col("kind") == "acks", "flow", "started_s")


def _kind() -> pl.Expr:
    return (pl.when("is_ack").then(pl.lit("acks")).when("is_data").then(pl.lit("data"))).otherwise(
        pl.lit("control")
    )


def _flow_subject() -> pl.Expr:
    """flow:<fid> (acks:, control:), with the ends where streams of a kind share the flow id."""
    kind = pl.when(pl.col("kind") == "data").then(pl.lit("flow")).otherwise("kind")
    ends = pl.format("{}.{}-{}.{}", *_or_dash("src_node", "src_port", "dst_node", "dst_port"))
    fid = pl.col("flow").cast(pl.String)
    alone = pl.len().over("kind", "flow") == 1
    name = pl.when(fid.is_null()).then(ends).when(alone).then(fid).otherwise(fid + "/" + ends)
    return kind + ":" + name


def _or_dash(*names: str) -> list[pl.Expr]:
    return [pl.col(name).cast(pl.String).fill_null("-") for name in names]


def _flow_series(
    bins: pl.DataFrame, names: pl.DataFrame, bin_s: float, window: tuple[float, float]
) -> pl.DataFrame:
    start, end = _bin_ends(bin_s, window)
    length = end - start
    return (
        bins.join(names, on="stream", maintain_order="left")
        .select(
            "stream",
            subject="flow",
            time_s=end,
            mbps=8e-6 * pl.col("received_bytes").fill_null(0) / length,
            goodput_mbps=8e-6 * pl.col("good_bytes").fill_null(0) / length,
            delay_ms=1e3 * pl.col("delay_sum_s") / pl.col("delays"),
            rtt_ms=1e3 * pl.col("rtt_sum_s") / pl.col("rtts"),
            sent_pkts=pl.col("sent_pkts").fill_null(0),
            dropped_pkts=pl.col("dropped_pkts").fill_null(0),
            retransmitted_pkts=pl.col("retransmitted_pkts").fill_null(0),
        )
        .sort("subject", "time_s")
        .drop("stream")
    )
