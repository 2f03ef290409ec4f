"""Reduces a packet trace, batch by batch, to what flows and links did in a window of time."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import polars as pl

from bdpbench.errors import BdpbenchError
from bdpbench.metrics.packets.meter import COUNTED, SERIES, Found, Meter
from bdpbench.metrics.packets.rows import (
    LATEST_S,
    ROUTING_TYPES,
    Rows,
    Window,
    goes_to_group,
    number_of_bin,
    readable_width_s,
    width_ms,
)
from bdpbench.metrics.packets.sums import FLOW_COUNTS, FLOWS, LINKS, LOSSES, PacketSums
from bdpbench.units import addresses_of

MOST_GIVEN_BINS = 1_000_000
"""Most bins of a series of given width."""

# Rows from whose lines flow ids and hosts are learned before they are summed.
_ROWS_AT_ONCE = 500_000
_ON_A_LINK = "link"
_AT_SOURCE = ("sent_pkts", "sent_bytes", "retransmitted_pkts", "retransmitted_bytes")
_AT_RECEIVER = ("received_pkts", "received_bytes", "good_bytes")
_LINK_COUNTS = (
    *("departed_pkts", "departed_bytes", "waited_pkts"),
    *("dropped_pkts", "dropped_bytes", "change_pkts"),
)
# ns-2 rounds times to 1 us, and to 0.1 ms at satellites; a capacity counts as known if the errors
# of all of its busy periods together are smaller than this.
_RESOLUTION_S, _COARSE_RESOLUTION_S = 1e-6, 1e-4
_LARGEST_ERROR = 0.005


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
        batches: frames of the columns ``COLUMNS``, in the order of the trace.
        window: time to measure; None for all. Events at its end or later are ignored; those before
            its start only determine which packets are in flight and the lengths of queues.
        bin_s: width of the bins of the series, s; None for one that divides the trace into at most
            five hundred.
        capacities: (from_node, to_node) → Mbit/s, of links whose capacity is known.
        compiled: False sums in Python, which is far slower, for comparison.

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
    """Whether rows are summed in C, if it can be compiled; else in Python."""
    is_done: bool = field(default=False, init=False)
    """Whether the window has ended, so that further batches change nothing."""

    def __post_init__(self) -> None:
        self._window = self.window or Window()
        self._meter = Meter(self._window.start_s, self.bin_s, compiled=self.compiled)
        self._rows = Rows()
        self._first_s = self._last_s = math.nan
        self._waiting: list[pl.DataFrame] = []
        self._found: Found | None = None

    def update(self, batch: pl.DataFrame) -> None:
        """Add the lines of a batch.

        Raises:
            BdpbenchError: for more bins of a given width than a series may have, and for a time
                that no event can have.
        """
        if math.isfinite(self._window.end_s):
            self.is_done = bool((batch["time_s"] >= self._window.end_s).any())
            batch = batch.filter(pl.col("time_s") < self._window.end_s)
        if batch.is_empty():
            return
        self._note_times(batch)
        self._waiting.append(batch)
        rows = sum(each.height for each in self._waiting)
        if rows >= _ROWS_AT_ONCE or (rows == batch.height and self._rows.are_plain(batch)):
            self._add_waiting()

    def _note_times(self, batch: pl.DataFrame) -> None:
        times_s = batch["time_s"]
        if not times_s.is_between(-LATEST_S, LATEST_S).all() or times_s.is_nan().any():
            raise BdpbenchError(f"the trace has a time beyond {LATEST_S:g} s")
        if math.isnan(self._first_s):
            self._first_s = float(times_s[0])
        self._last_s = float(times_s[-1])
        start_s = max(self._first_s, self._window.start_s)
        if self.bin_s is not None and self._last_s - start_s > MOST_GIVEN_BINS * self.bin_s:
            raise BdpbenchError(
                f"bins of {self.bin_s:g} s are too narrow for a trace from {start_s:g} s to "
                f"{self._last_s:g} s: a series has at most {MOST_GIVEN_BINS:,}",
                hint="give wider bins, or a window",
            )

    def _add_waiting(self) -> None:
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            whole = waiting[0] if len(waiting) == 1 else pl.concat(waiting, how="diagonal")
            self._meter.add(self._rows.prepared(whole))

    def finish(self) -> None:
        """Sum the rows that have been collected: no batch follows."""
        self._add_waiting()
        if self._found is None:
            self._found = self._meter.found()

    @property
    def _sums(self) -> Found:
        self.finish()
        assert self._found is not None  # noqa: S101 - finish() has found it
        return self._found

    @property
    def width_s(self) -> float:
        """Width of the bins, s."""
        return width_ms(self._sums.width_index) / 1e3 if self.bin_s is None else self.bin_s

    @property
    def readable_width_s(self) -> float:
        """Width of bins for people to look at, s; to be asked for after ``finish``.

        That of the bins so far, or wider where few packets arrived; a given width stays as it is.
        """
        if self.bin_s is not None or math.isnan(self._first_s):
            return self.width_s
        start_s = max(self._first_s, self._window.start_s)
        length_s = min(self._last_s, self._window.end_s) - start_s
        received = self._sums.series["received"].group_by("stream")
        most = received.agg(pl.col("received_pkts").sum())["received_pkts"].max()
        return readable_width_s(self.width_s, length_s, most if isinstance(most, int) else 0)

    def result(self, bin_s: float = 0.0) -> PacketSums:
        """The sums of all batches, after which no more can be added.

        Args:
            bin_s: least width of the bins of the series, s, such as that of another trace, so that
                both have the same bins.
        """
        found, window = self._sums, self._ends()
        width_s = max(bin_s, self.width_s)
        ratio, last = round(width_s / self.width_s), number_of_bin(window[1], width_s, before=True)
        bins = {name: _binned(name, rows, ratio, last) for name, rows in found.series.items()}
        flow_bins = _flow_bins(found, bins)
        ends = found.links.select("link", "from_node", "to_node")
        entered = found.entered.join(ends, on="link", maintain_order="left")
        flows = self._flow_totals(flow_bins, entered)
        links = self._link_totals(bins, entered, *window)
        names = flows.select("stream", flow="subject")
        receivers = self._receiver_totals(flows, entered)
        losses = found.losses
        routing_pkts, routing_bytes = self._routing(flows, entered)
        return PacketSums(
            window[0],
            window[1],
            width_s,
            flows.select(FLOWS),
            links.select(LINKS),
            _link_flows(entered, names, links),
            _flow_series(flow_bins, names, width_s, window),
            self._link_series(bins, links, width_s, window),
            _by_cause(losses),
            _loss_series(bins["causes"], found.causes, width_s, window),
            receivers,
            self._node_totals(flows, entered, receivers),
            _named(losses.sort("node", "layer", "reason", "type"), "node", "layer", "reason"),
            _named(found.energy.sort("node"), "node"),
            _energy_series(bins["levels"], width_s, window),
            routing_pkts,
            routing_bytes,
            self._last_s,
            found.forgotten,
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

    def _flow_totals(self, bins: pl.DataFrame, entered: pl.DataFrame) -> pl.DataFrame:
        put = entered.group_by("stream").agg(
            route_links=pl.len().cast(pl.Int64), route_pkts=pl.col("entered_pkts").sum()
        )
        known = self._sums.streams.filter(pl.col("type").is_not_null())
        who = known.join(self._lost(), on="stream", how="left", maintain_order="left")
        who = who.join(put, on="stream", how="left", maintain_order="left")
        return _flow_totals(who, bins, entered, has_agents=self._sums.has_agents)

    def _lost(self) -> pl.DataFrame:
        """Packets sent in the window that never arrived, by stream: lost_pkts, vanished_pkts (i64).

        A packet that was dropped is lost. One without a drop is in flight if it was sent no longer
        ago than the longest delay of its stream; otherwise it has vanished. If nothing of a stream
        ever arrived, all its packets have vanished.
        """
        found = self._sums
        received = found.series["received"].group_by("stream")
        longest = received.agg(longest_s=pl.col("delay_max_s").max())
        late = pl.col("sent_s") < self._last_s - pl.col("longest_s").fill_null(0.0)
        counts = (
            found.open.filter(self._window.holds("sent_s"))
            .join(longest, on="stream", how="left")
            .group_by("stream")
            .agg(
                dropped=pl.col("dropped").sum().cast(pl.Int64),
                vanished_pkts=(~pl.col("dropped") & late).sum().cast(pl.Int64),
            )
        )
        lost = pl.col("dropped").fill_null(0) + pl.col("forgotten_losses")
        joined = found.streams.select("stream", "forgotten_losses").join(
            counts, on="stream", how="left"
        )
        return joined.select("stream", pl.col("vanished_pkts").fill_null(0), lost_pkts=lost)

    def _receiver_totals(self, flows: pl.DataFrame, entered: pl.DataFrame) -> pl.DataFrame:
        sent_on = entered.select("stream", node="from_node", forwards=pl.lit(value=True))
        names = flows.select("stream", "sent_pkts", flow="subject")
        name = pl.col("flow").str.replace("^[a-z]+:", "")
        return (
            self._sums.receivers.join(names, on="stream")
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
        wireless = self._sums.nodes.sort("node", "layer")
        radio = wireless["node"].unique().implode()
        ends = self._rows.with_hosts(flows)
        # Packets that reached the agent of a wireless node are counted there; a group is no node.
        is_wired_node = ~pl.col("dst_host").is_in(radio) & ~goes_to_group()
        came = receivers.filter(~pl.col("node").is_in(radio))
        dropped = self._sums.losses.filter(pl.col("layer") == _ON_A_LINK)
        wired = _wired_nodes(
            entered,
            ends.with_columns(pl.when(is_wired_node).then("dst_host").alias("dst_host")),
            came.select("node", "received_pkts", "received_bytes"),
            dropped.select("node", "dropped_pkts", "dropped_bytes"),
        )
        return _named(pl.concat([wireless, wired]), "node", "layer")

    def _routing(
        self, flows: pl.DataFrame, entered: pl.DataFrame
    ) -> tuple[int, int] | tuple[None, None]:
        """Packets and bytes of routing; None if the trace has no lines that would show them."""
        types = flows.filter(pl.col("type").is_in(ROUTING_TYPES)).select("stream")
        put, found = entered.join(types, on="stream", how="semi"), self._sums
        if put.is_empty() and not found.has_routers:
            return None, None
        return (
            found.routing_pkts + int(put["entered_pkts"].sum()),
            found.routing_bytes + int(put["entered_bytes"].sum()),
        )

    def _link_totals(
        self, bins: Mapping[str, pl.DataFrame], entered: pl.DataFrame, start_s: float, end_s: float
    ) -> pl.DataFrame:
        joined_bins = _link_bins(bins)
        sums = joined_bins.group_by("link").agg(
            pl.col(*_LINK_COUNTS, "change_times_s", "wait_sum_s").sum(),
            pl.col("wait_max_s", "longest_pkts").max(),
        )
        came = entered.group_by("link").agg(pl.col("entered_pkts", "entered_bytes").sum())
        joined = (
            came.join(sums, on="link", how="full", coalesce=True)
            .join(self._sums.links, on="link", how="left")
            .join(self._capacities(entered), on="link", how="left")
            .rename({"before": "pkts"})
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
                shared=self._is_shared(entered),
                length_area=area,
                came_pkts=pl.max_horizontal("entered_pkts", gone),
                longest_pkts=pl.max_horizontal("longest_pkts", "pkts").cast(pl.Int64),
                wait_sum_s=pl.col("wait_sum_s").fill_null(0.0),
                wait_max_s=pl.col("wait_max_s").fill_null(0.0),
            )
            .with_columns(subject=pl.format("link:{}-{}", "from_node", "to_node"))
            .select("link", *LINKS, "pkts")
            .sort("from_node", "to_node")
        )

    def _is_shared(self, entered: pl.DataFrame) -> pl.Expr:
        """Whether a link connects a station to a medium that it shares with others.

        A LAN is a node without queues: stations send to it, and the packets that they receive from
        it never entered a queue there. A satellite's channel is a node with a negative number.
        """
        reached = self._sums.links.filter("reached")
        media = reached.join(entered, on="link", how="anti")["from_node"].unique()
        return pl.col("to_node").is_in(media.implode()) | (pl.col("to_node") < 0)

    def _capacities(self, entered: pl.DataFrame) -> pl.DataFrame:
        """link, capacity_mbps (f64, Mbit/s) as given or measured from packets back to back.

        Left out are satellite links from one node to several others: one queue may serve them all.
        """
        links = self._sums.links
        given = [(*ends, mbps) for ends, mbps in (self.capacities or {}).items()]
        schema = {"from_node": pl.Int32, "to_node": pl.Int32, "capacity_mbps": pl.Float64}
        known = links.join(
            pl.DataFrame(given, schema=schema, orient="row"), on=["from_node", "to_node"]
        ).select("link", "capacity_mbps")
        error_s = pl.when("coarse").then(_COARSE_RESOLUTION_S).otherwise(_RESOLUTION_S)
        in_space = links.filter("coarse")
        one_of_several = in_space.filter(pl.col("from_node").is_duplicated())
        measured = (
            links.filter(pl.col("periods") > 0)
            .filter(pl.col("periods") * error_s < _LARGEST_ERROR * pl.col("busy_s"))
            .filter(~self._is_shared(entered))
            .join(one_of_several, on="link", how="anti")
            .join(known, on="link", how="anti")
            .select("link", capacity_mbps=8e-6 * pl.col("busy_bytes") / pl.col("busy_s"))
        )
        return pl.concat([known, measured])

    def _link_series(
        self,
        bins: Mapping[str, pl.DataFrame],
        links: pl.DataFrame,
        bin_s: float,
        window: tuple[float, float],
    ) -> pl.DataFrame:
        full = _filled(_link_bins(bins), window, self._last_s, bin_s)
        start, end = _bin_ends(bin_s, window)
        change = pl.col("change_pkts").fill_null(0)
        at_start = (change.cum_sum().over("link") - change) + pl.col("pkts").fill_null(0)
        names = links.select("link", "subject", "from_node", "to_node", "pkts")
        joined = full.join(names, on="link").sort("from_node", "to_node", "bin")
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
            max_queue_pkts=pl.max_horizontal("longest_pkts", "at_start").cast(pl.Int64),
            queueing_ms=1e3 * pl.col("wait_sum_s") / pl.col("departed_pkts"),
            dropped_pkts=pl.col("dropped_pkts").fill_null(0),
        )


def _binned(name: str, rows: pl.DataFrame, ratio: int, last: int) -> pl.DataFrame:
    """The rows of a series in wider bins, in order; events at the end of the last belong to it."""
    subject, counts, total, most = SERIES[name]
    number = (pl.col("bin") // ratio).clip(upper_bound=last)
    sums = pl.col([*counts, *([total] if total else [])]).sum()
    largest = pl.col([most] if most else []).max()
    return (
        rows.with_columns(number).group_by(subject, "bin").agg(sums, largest).sort("bin", subject)
    )


def _joined(parts: Iterable[pl.DataFrame], subject: str) -> pl.DataFrame:
    full = functools.reduce(
        lambda one, other: one.join(other, on=[subject, "bin"], how="full", coalesce=True), parts
    )
    return full.sort(subject, "bin")


def _flow_bins(found: Found, bins: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Sums by stream and bin; null if nothing was counted."""
    # ACKs cannot be matched to packets of a stream whose sequence numbers are bytes.
    by_bytes = found.streams.filter("by_bytes")
    rtts = bins["round_trips"].join(by_bytes, on="stream", how="anti")
    joined = _joined([bins["sent"], bins["received"], bins["dropped"], rtts], "stream")
    return joined.join(bins["delivered"], on=["stream", "bin"], how="left", maintain_order="left")


def _link_bins(bins: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Sums by link and bin; null if nothing was counted."""
    return _joined(
        [bins[name] for name in ("departed", "waited", "dropped_on_link", "lengths")], "link"
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
    starts, ends = (entered[name].unique().implode() for name in ("from_node", "to_node"))
    # If agents are traced, all of them are: a flow without a line of its receiver has starved.
    sees_source = (pl.col("sent_pkts") > 0) | pl.col("src_node").is_in(starts) | has_agents
    sees_receiver = (pl.col("received_pkts") > 0) | pl.col("dst_node").is_in(ends) | has_agents
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
        route_changes=pl.when(~goes_to_group()).then("route_changes"),
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
    )


def _link_flows(entered: pl.DataFrame, names: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
    return (
        entered.join(names, on="stream")
        .join(links.select("link", subject="subject"), on="link")
        .select("flow", "entered_pkts", "entered_bytes", "first_s", link="subject")
        .sort("first_s", "link", "flow")
    )


def _wired_nodes(
    entered: pl.DataFrame, streams: pl.DataFrame, came: pl.DataFrame, dropped: pl.DataFrame
) -> pl.DataFrame:
    """What nodes did on links: what entered them, came to hosts, and was dropped."""
    put = entered.join(streams.select("stream", "src_host"), on="stream", how="left")
    own = (pl.col("from_node") == pl.col("src_host")).fill_null(value=False)
    sent = put.group_by(node="from_node").agg(
        pl.col(f"entered_{unit}").filter(which).sum().alias(f"{what}_{unit}")
        for what, which in (("sent", own), ("forwarded", ~own))
        for unit in ("pkts", "bytes")
    )
    received = streams.filter(pl.col("dst_host").is_not_null()).select(
        "received_pkts", "received_bytes", node="dst_host"
    )
    schema = {"node": pl.Int32, **dict.fromkeys(COUNTED, pl.Int64)}
    parts = [pl.DataFrame(schema=schema), sent, received, came, dropped]
    return (
        pl.concat(parts, how="diagonal")
        .group_by("node")
        .agg(pl.col(COUNTED).sum())
        .filter(pl.sum_horizontal(COUNTED) > 0)
        .select("node", pl.lit(_ON_A_LINK).alias("layer"), *COUNTED)
        .sort("node")
    )


def _named(rows: pl.DataFrame, *parts: str) -> pl.DataFrame:
    """Rows of nodes with a column subject: node:3, node:3/MAC, node:3/MAC/COL."""
    names = [pl.col(part).cast(pl.String).fill_null("-") for part in parts]
    subject = pl.lit("node:") + pl.concat_str(names, separator="/")
    return rows.select(subject.alias("subject"), *rows.columns)


def _by_cause(losses: pl.DataFrame) -> pl.DataFrame:
    """The losses of all nodes together, largest first."""
    keys = ("layer", "reason", "type")
    return (
        losses.group_by(keys)
        .agg(pl.col("dropped_pkts", "dropped_bytes").sum())
        .sort("dropped_pkts", *keys, descending=[True, False, False, False])
    )


def _loss_series(
    bins: pl.DataFrame,
    causes: list[tuple[str, str | None]],
    bin_s: float,
    window: tuple[float, float],
) -> pl.DataFrame:
    start, end = _bin_ends(bin_s, window)
    rows = [(number, *each) for number, each in enumerate(causes)]
    schema = {"cause": pl.Int64, "layer": pl.String, "reason": pl.String}
    named = bins.join(pl.DataFrame(rows, schema=schema, orient="row"), on="cause")
    return named.sort("layer", "reason", "bin").select(
        pl.format("drops:{}/{}", "layer", pl.col("reason").fill_null("-")).alias("subject"),
        end.alias("time_s"),
        "dropped_pkts",
        drops_per_s=pl.col("dropped_pkts") / (end - start),
    )


def _energy_series(bins: pl.DataFrame, bin_s: float, window: tuple[float, float]) -> pl.DataFrame:
    """Energy at the end of each bin: nodes do not recharge, so the smallest value is the last."""
    return bins.sort("node", "bin").select(
        pl.format("node:{}", "node").alias("subject"),
        _bin_ends(bin_s, window)[1].alias("time_s"),
        energy_j=-pl.col("below_j"),
    )
