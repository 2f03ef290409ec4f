"""Reduces a packet trace, batch by batch, to what flows and links did in a window of time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import polars as pl

from bdpbench.errors import BdpbenchError
from bdpbench.metrics.packets.bins import Window, number_of_bin, readable_width_s
from bdpbench.metrics.packets.events import (
    ROUTING_TYPES,
    WIRELESS_COLUMNS,
    FlowIds,
    Hosts,
    goes_to_group,
    link_ends,
    link_number,
    split_events,
    with_frames_ends,
)
from bdpbench.metrics.packets.flows import FlowSums
from bdpbench.metrics.packets.links import LinkSums
from bdpbench.metrics.packets.losses import Losses
from bdpbench.metrics.packets.native import WiredSums
from bdpbench.metrics.packets.nodes import Energy, WirelessNodes, wired_nodes
from bdpbench.metrics.packets.paths import Hops
from bdpbench.metrics.packets.receivers import Receivers
from bdpbench.metrics.packets.sums import (
    FLOW_COUNTS,
    FLOWS,
    LINKS,
    LOSSES,
    PacketSums,
)
from bdpbench.units import addresses_of

_ROWS_AT_ONCE = 500_000
"""Rows that are reduced at once: many compared with the cost of a call, few compared with
memory."""

MOST_GIVEN_BINS = 1_000_000
"""Most bins of a series of given width."""

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


def sum_packets(
    batches: Iterable[pl.DataFrame],
    window: Window | None = None,
    *,
    bin_s: float | None = None,
    capacities: Mapping[tuple[int, int], float] | None = None,
    compiled: bool = True,
) -> PacketSums:
    """Reduce a packet trace in one pass; memory holds the packets in flight, and the series.

    Args:
        batches: frames of the columns ``events.COLUMNS``, in the order of the trace.
        window: time to measure; None for all. Events at its end or later are ignored; those before
            its start only determine which packets are in flight and the lengths of queues.
        bin_s: width of the bins of the series, s; None for one that divides the trace into at most
            five hundred.
        capacities: (from_node, to_node) → Mbit/s, of links whose capacity is known.
        compiled: False sums wired traces by frames as well, which is slower, for comparison.

    Raises:
        BdpbenchError: for a trace without a packet event in the window, and for more than
            ``MOST_GIVEN_BINS`` bins of a given width.
    """
    meter = PacketMeter(window, bin_s, capacities, compiled)
    for batch in batches:
        meter.update(batch)
        if meter.is_done:
            break
    return meter.result()


@dataclass
class PacketMeter:
    """``sum_packets`` for callers that receive batches one by one."""

    window: Window | None = None
    bin_s: float | None = None
    capacities: Mapping[tuple[int, int], float] | None = None
    compiled: bool = True
    """Whether rows of wired traces are summed in C, as far as it knows them; else by frames."""
    is_done: bool = field(default=False, init=False)
    """Whether the window has ended, so that further batches change nothing."""

    def __post_init__(self) -> None:
        self._window = self.window or Window()
        self._flows = FlowSums(self._window, self.bin_s)
        self._links = LinkSums(self._window, self.bin_s)
        self._losses = Losses(self._window, self.bin_s)
        self._nodes = WirelessNodes(self._window)
        self._energy = Energy(self._window, self.bin_s)
        self._hops = Hops(self._window)
        self._receivers = Receivers(self._window)
        self._wired = WiredSums.of(self._window, self.bin_s) if self.compiled else None
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
        if self._wired is not None and not batch.is_empty():
            batch = self._left_by(self._wired, batch)
        if "layer" in batch.columns and batch["layer"].null_count() == batch.height:
            batch = batch.drop(WIRELESS_COLUMNS, strict=False)
        if batch.is_empty():
            return
        self._waiting.append(batch)
        self._rows += batch.height
        if self._rows >= _ROWS_AT_ONCE:
            self._add_waiting()

    def _left_by(self, wired: WiredSums, batch: pl.DataFrame) -> pl.DataFrame:
        """The rows of a batch that C does not sum; after the first such row, all rows."""
        taken = wired.add(batch)
        if taken:
            self._note_times(batch.head(taken))
        if taken < batch.height:
            self._load(wired)
        return batch.slice(taken)

    def _load(self, wired: WiredSums) -> None:
        """Continue by frames from the state that C has reached."""
        self._wired = None
        if wired.is_begun:
            found = wired.finish()
            for part in (self._flows, self._links, self._losses, self._flow_ids):
                part.load(found)
            self._energy.update(None, found.last_s)

    def _note_times(self, batch: pl.DataFrame) -> None:
        if math.isnan(self._first_s):
            self._first_s = float(batch["time_s"][0])
        self._last_s = float(batch["time_s"][-1])
        self._check_bins()

    def _add_waiting(self, *, whole: bool = False) -> None:
        """Add the batches that have accumulated; unless ``whole``, without a final line with a +.

        A + and the - that follows it must be in the same batch.
        """
        rows = pl.concat(self._waiting, how="diagonal")
        waits = not whole and rows.height > 0 and rows["event"][-1] == "+"
        self._waiting = [rows.tail(1)] if waits else []
        self._rows = len(self._waiting)
        rows = rows.head(-1) if waits else rows
        if not rows.is_empty():
            self._add(rows)

    def _add(self, batch: pl.DataFrame) -> None:
        self._note_times(batch)
        batch = self._hosts.add(self._flow_ids.fill(with_frames_ends(batch)))
        events = split_events(batch)
        self._has_agents = self._has_agents or events.has_agents
        # Much of the work of each uses only one processor.
        with ThreadPoolExecutor(2) as pool:
            updates = [pool.submit(each.update, events) for each in (self._flows, self._links)]
            self._losses.update(batch)
            self._receivers.update(events.sends, events.copies)
            self._nodes.update(events.wireless)
            self._energy.update(events.wireless, events.last_s)
            self._hops.update(events.wireless)
            for update in updates:
                update.result()
        self._flows.learn(batch, self._links.streams())

    def _check_bins(self) -> None:
        """Refuse more bins of a given width than a series may have."""
        start_s = max(self._first_s, self._window.start_s)
        if self.bin_s is not None and self._last_s - start_s > MOST_GIVEN_BINS * self.bin_s:
            raise BdpbenchError(
                f"bins of {self.bin_s:g} s are too narrow for a trace from {start_s:g} s to "
                f"{self._last_s:g} s: a series has at most {MOST_GIVEN_BINS:,}",
                hint="give wider bins, or a window",
            )

    def finish(self) -> None:
        """Add the accumulated batches: no batch follows."""
        if self._wired is not None:
            self._load(self._wired)
        if self._waiting:
            self._add_waiting(whole=True)
            self._waiting = []
        self._links.finish()

    def result(self, bin_s: float = 0.0) -> PacketSums:
        """The sums of all batches, after which no more can be added.

        Args:
            bin_s: least width of the bins of the series, s, such as that of another trace, so that
                both have the same bins.
        """
        self.finish()
        window = self._ends()
        width_s = max(bin_s, self.width_s)
        entered = self._links.by_flow()
        flow_bins, link_bins = (
            each.series(width_s, window[1]) for each in (self._flows, self._links)
        )
        flows = self._flow_totals(flow_bins, entered)
        links = self._link_totals(link_bins, entered, *window)
        names = flows.select("stream", flow="subject")
        delivered = self._flows.delivered(width_s, window[1])
        flow_bins = flow_bins.join(
            delivered, on=["stream", "bin"], how="left", maintain_order="left"
        )
        receivers = self._receiver_totals(flows, entered)
        routing_pkts, routing_bytes = self._routing(flows, entered)
        return PacketSums(
            window[0],
            window[1],
            width_s,
            flows.select(FLOWS),
            links.select(LINKS),
            _link_flows(entered, names, links),
            _flow_series(flow_bins, names, width_s, window),
            self._link_series(link_bins, links, width_s, window),
            self._losses.result(),
            _loss_series(self._losses.series(width_s, window[1]), width_s, window),
            receivers,
            self._node_totals(flows, entered, receivers),
            _named(self._losses.by_node(), "node", "layer", "reason"),
            _named(self._energy.levels(), "node"),
            _energy_series(self._energy.series(width_s, window[1]), width_s, window),
            routing_pkts,
            routing_bytes,
            self._last_s,
            self._flows.forgotten,
        )

    @property
    def width_s(self) -> float:
        """Width of the bins so far, s."""
        others = (*self._links.binned, *self._losses.binned, *self._energy.binned)
        return max(*self._flows.widths_s, *(each.width_s for each in others))

    @property
    def readable_width_s(self) -> float:
        """Width of bins for people to look at, s; to be asked for after ``finish``.

        That of the bins so far, or wider where few packets arrived; a given width stays as it is.
        """
        if self.bin_s is not None or math.isnan(self._first_s):
            return self.width_s
        start_s = max(self._first_s, self._window.start_s)
        length_s = min(self._last_s, self._window.end_s) - start_s
        return readable_width_s(self.width_s, length_s, self._flows.most_received_pkts())

    def _flow_totals(self, bins: pl.DataFrame, entered: pl.DataFrame) -> pl.DataFrame:
        put = entered.group_by("stream").agg(
            route_links=pl.len().cast(pl.Int64), route_pkts=pl.col("entered_pkts").sum()
        )
        who = self._flows.totals()
        for part in (
            self._flows.losses(self._last_s),
            put,
            self._hops.result(),
            self._links.route_changes(),
        ):
            who = who.join(part, on="stream", how="left", maintain_order="left")
        return _flow_totals(who, bins, entered, has_agents=self._has_agents)

    def _receiver_totals(self, flows: pl.DataFrame, entered: pl.DataFrame) -> pl.DataFrame:
        sent_on = entered.select("stream", link_ends()[0].alias("node"), forwards=pl.lit(True))
        names = flows.select("stream", "sent_pkts", flow="subject")
        name = pl.col("flow").str.replace("^[a-z]+:", "")
        return (
            self._receivers.result()
            .join(names, on="stream")
            .join(sent_on.unique(), on=["stream", "node"], how="left")
            .select(
                pl.format("receiver:{}>{}", name, "node").alias("subject"),
                *("flow", "node"),
                pl.col("forwards").fill_null(value=False),
                *("received_pkts", "received_bytes", "delays", "sent_pkts"),
                *("delay_sum_s", "delay_max_s"),
            )
            .sort("flow", "node")
        )

    def _node_totals(
        self, flows: pl.DataFrame, entered: pl.DataFrame, receivers: pl.DataFrame
    ) -> pl.DataFrame:
        wireless = self._nodes.result()
        radio = wireless["node"].unique().implode()
        ends = self._hosts.nodes_of(flows)
        # Packets that reached the agent of a wireless node are counted there; a group is no node.
        is_wired_node = ~pl.col("dst_host").is_in(radio) & ~goes_to_group()
        over_links = ends.with_columns(pl.when(is_wired_node).then("dst_host").alias("dst_host"))
        dropped = self._losses.by_node().filter(pl.col("layer") == "link")
        wired = wired_nodes(
            entered.with_columns(link_ends()[0]),
            over_links,
            dropped.select("node", "dropped_pkts", "dropped_bytes"),
            receivers.filter(~pl.col("node").is_in(radio)).select(
                "node", "received_pkts", "received_bytes"
            ),
        )
        return _named(pl.concat([wireless, wired]), "node", "layer")

    def _routing(
        self, flows: pl.DataFrame, entered: pl.DataFrame
    ) -> tuple[int, int] | tuple[None, None]:
        """Packets and bytes of routing; None if the trace has no lines that would show them."""
        types = flows.filter(pl.col("type").is_in(ROUTING_TYPES)).select("stream")
        put = entered.join(types, on="stream", how="semi")
        if put.is_empty() and not self._nodes.has_routers:
            return None, None
        return (
            self._nodes.routing_pkts + int(put["entered_pkts"].sum()),
            self._nodes.routing_bytes + int(put["entered_bytes"].sum()),
        )

    def _ends(self) -> tuple[float, float]:
        """Start and end of the window, s; if it is unbounded, those of the trace."""
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
        # A packet that is dropped before the queue has arrived at the link, but has no + line.
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
            # Rounding may leave an empty queue slightly below zero.
            queue_pkts=(area / length).clip(0.0),
            max_queue_pkts=pl.max_horizontal("longest_pkts", "at_start"),
            queueing_ms=1e3 * pl.col("wait_sum_s") / pl.col("departed_pkts"),
            dropped_pkts=pl.col("dropped_pkts").fill_null(0),
        )


def _bin_ends(bin_s: float, window: tuple[float, float]) -> tuple[pl.Expr, pl.Expr]:
    """Start and end, s, of the part of each bin that is in the window."""
    number = pl.col("bin").cast(pl.Float64)
    # Rounded, since 3 · 0.1 is 0.30000000000000004.
    start, end = (number * bin_s).round(9), ((number + 1) * bin_s).round(9)
    return start.clip(lower_bound=window[0]), end.clip(upper_bound=window[1])


def _filled(
    bins: pl.DataFrame, window: tuple[float, float], last_s: float, bin_s: float
) -> pl.DataFrame:
    """Rows of all bins, in order, for links on which packets ever waited; others are unchanged."""
    queues = bins.filter(pl.col("change_pkts").is_not_null()).select("link").unique()
    if queues.is_empty():
        return bins
    # An event exactly at the end of the last bin belongs to that bin.
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
        pl.col(*FLOW_COUNTS, "delay_sum_s", "rtt_sum_s").sum(),
        pl.col("delay_max_s", "rtt_max_s").max(),
    )
    starts, ends = (entered.select(link_ends()[side]).to_series().unique() for side in (0, 1))
    # If agents are traced, all of them are: a flow without a line of its receiver has starved.
    sees_source = (
        (pl.col("sent_pkts") > 0) | pl.col("src_node").is_in(starts.implode()) | has_agents
    )
    sees_receiver = (
        (pl.col("received_pkts") > 0) | pl.col("dst_node").is_in(ends.implode()) | has_agents
    )
    counted = who.join(sums, on="stream", how="left", maintain_order="left").with_columns(
        pl.col(*FLOW_COUNTS, *LOSSES, "route_links", "route_pkts").fill_null(0),
        _kind().alias("kind"),
    )
    slow_start = pl.when((pl.col("kind") == "data") & (pl.col("type") == "tcp"))
    return counted.with_columns(
        *(pl.when(sees_source).then(name).alias(name) for name in (*_AT_SOURCE, "lost_pkts")),
        *(pl.when(sees_receiver).then(name).alias(name) for name in _AT_RECEIVER),
        *(
            slow_start.then(name).alias(name)
            for name in ("slow_start_end_s", "slow_start_pkts", "slow_start_drops")
        ),
        # What arrived at a receiver that is not traced is unknown.
        vanished_pkts=pl.when(sees_source & sees_receiver).then("vanished_pkts"),
        # Multicast and broadcast packets take several paths at once.
        route_changes=pl.when(~goes_to_group()).then(pl.col("route_changes").fill_null(0)),
        subject=_flow_subject(who),
    ).sort(pl.col("kind") == "control", pl.col("kind") == "acks", "flow", "started_s")


def _kind() -> pl.Expr:
    return (pl.when("is_ack").then(pl.lit("acks")).when("is_data").then(pl.lit("data"))).otherwise(
        pl.lit("control")
    )


def _flow_subject(who: pl.DataFrame) -> pl.Expr:
    """flow:<fid> (acks:, control:), with the ends if streams of a kind share the flow id."""
    kind = pl.when(pl.col("kind") == "data").then(pl.lit("flow")).otherwise("kind")
    nodes = pl.concat([who["src_node"], who["dst_node"]]).unique().to_list()
    shown = addresses_of(nodes)
    names = {node: shown(node) for node in nodes}
    ends = pl.format("{}.{}-{}.{}", *_ends_shown(names))
    fid = pl.col("flow").cast(pl.String)
    alone = pl.len().over("kind", "flow") == 1
    name = pl.when(fid.is_null()).then(ends).when(alone).then(fid).otherwise(fid + "/" + ends)
    return kind + ":" + name


def _ends_shown(names: Mapping[int | None, str]) -> Iterator[pl.Expr]:
    """src_node, src_port, dst_node and dst_port as text; nodes by their names."""
    for end in ("src", "dst"):
        node, port = pl.col(f"{end}_node"), pl.col(f"{end}_port")
        yield node.replace_strict(list(names), list(names.values()), return_dtype=pl.String)
        yield port.cast(pl.String).fill_null("-")


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
            delivered_pkts=pl.col("delivered_pkts").fill_null(0),
            delivered_pct=pl.when(pl.col("sent_pkts") > 0).then(
                100 * pl.col("delivered_pkts").fill_null(0) / pl.col("sent_pkts")
            ),
        )
        .sort("subject", "time_s")
        .drop("stream")
    )


def _link_flows(entered: pl.DataFrame, names: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
    return (
        entered.join(names, on="stream")
        .join(links.select("link", subject="subject"), on="link")
        .select("flow", "entered_pkts", "entered_bytes", "first_s", link="subject")
        .sort("first_s", "link", "flow")
    )


def _named(rows: pl.DataFrame, *parts: str) -> pl.DataFrame:
    """Rows of nodes with a column subject: node:3, node:3/MAC, node:3/MAC/COL."""
    names = [pl.col(part).cast(pl.String).fill_null("-") for part in parts]
    subject = pl.lit("node:") + pl.concat_str(names, separator="/")
    return rows.select(subject.alias("subject"), *rows.columns)


def _loss_series(bins: pl.DataFrame, bin_s: float, window: tuple[float, float]) -> pl.DataFrame:
    start, end = _bin_ends(bin_s, window)
    return bins.select(
        pl.format("drops:{}/{}", "layer", pl.col("reason").fill_null("-")).alias("subject"),
        end.alias("time_s"),
        "dropped_pkts",
        drops_per_s=pl.col("dropped_pkts") / (end - start),
    )


def _energy_series(bins: pl.DataFrame, bin_s: float, window: tuple[float, float]) -> pl.DataFrame:
    return bins.select(
        pl.format("node:{}", "node").alias("subject"),
        _bin_ends(bin_s, window)[1].alias("time_s"),
        "energy_j",
    )
