"""What flows, links and nodes did in a window of time, from the sums of the rows of a trace."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bdpbench.later import pl
from bdpbench.metrics.packets.meter import COUNTED, SERIES, Found
from bdpbench.metrics.packets.rows import (
    ENDS,
    ROUTING_TYPES,
    UNKNOWN,
    Window,
    goes_to_group,
    number_of_bin,
)

FLOW_COUNTS = (
    *("sent_pkts", "sent_bytes", "retransmitted_pkts", "retransmitted_bytes", "received_pkts"),
    *("received_bytes", "good_bytes", "dropped_pkts", "dropped_bytes", "delays", "rtts"),
)
"""Counts of a flow that are sums over bins."""

KEPT_FLOWS = (
    *("subject", "kind", *ENDS, "type"),
    *FLOW_COUNTS,
    *("delay_sum_s", "delay_min_s", "delay_max_s", "jitter_s", "rtt_sum_s", "rtt_max_s"),
    *("first_sent_s", "first_drop_s", "first_retransmission_s", "last_received_s", "started_s"),
    *("slow_start_end_s", "slow_start_pkts", "slow_start_drops"),
)
"""Columns of ``PacketSums.flows`` that are kept of a streamed trace."""

FLOWS = (
    *(*KEPT_FLOWS, "lost_pkts", "vanished_pkts", "delay_steps", "delay_step_sum_s"),
    *("longest_gap_s", "route_links", "route_pkts", "hop_pkts", "hop_sum", "hop_max"),
    "route_changes",
)
"""Columns of ``PacketSums.flows``."""

KEPT_LINKS = (
    *("subject", "from_node", "to_node", "entered_pkts", "entered_bytes", "came_pkts"),
    *("departed_pkts", "departed_bytes", "waited_pkts", "dropped_pkts", "dropped_bytes"),
    *("wait_sum_s", "wait_max_s", "length_area", "longest_pkts", "capacity_mbps"),
)
"""Columns of ``PacketSums.links`` that are kept of a streamed trace."""

LINKS = (*KEPT_LINKS, "shared")
"""Columns of ``PacketSums.links``."""

KEPT_FLOW_SERIES = (
    *("subject", "time_s", "mbps", "goodput_mbps", "delay_ms", "rtt_ms", "sent_pkts"),
    *("dropped_pkts", "retransmitted_pkts"),
)
"""Columns of ``PacketSums.flow_series`` that are kept of a streamed trace."""


_ON_A_LINK = "link"
_FILLED = ("lost_pkts", "vanished_pkts", "route_links", "route_pkts")
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


@dataclass(frozen=True)
class PacketSums:
    """What flows, links and nodes did: the frames from which the packet metrics are computed.

    Attributes:
        start_s, end_s: the window, s, half-open; for a whole trace its first and last event.
        bin_s: width of the bins of the series, s.
        flows: one row per stream, data first, by flow id and start: subject (str: flow:1, or with
            its ends if several data streams share a flow id; acks:1 for ACKs, control:1 for packets
            without numbers), kind (data, acks, control), flow, src_node, src_port, dst_node,
            dst_port (i32), type (str); counts in the window (i64): sent_pkts, sent_bytes,
            retransmitted_pkts, retransmitted_bytes, received_pkts, received_bytes, good_bytes,
            dropped_pkts, dropped_bytes (of drop events: a packet can have several), delays, rtts;
            sums and extremes in s (f64): delay_sum_s, delay_min_s, delay_max_s, jitter_s,
            rtt_sum_s, rtt_max_s; times in s: first_sent_s, first_drop_s, first_retransmission_s,
            last_received_s; and of the whole trace up to end_s slow_start_end_s, slow_start_pkts,
            slow_start_drops, started_s. Values are null if they are unknown because the trace lacks
            the link of a stream's source or destination. lost_pkts, vanished_pkts (i64): packets
            sent in the window that never arrived, dropped somewhere or without a drop event.
            delay_steps (i64), delay_step_sum_s (f64, s): number of differences between the delays
            of consecutive arrivals, and the sum of their absolute values. longest_gap_s (f64, s):
            between two arrivals. route_links, route_pkts (i64): number of links that its packets
            entered, and how often they did; hop_pkts, hop_sum, hop_max (i64, null if no line has
            hops): packets whose hops are given in a line of a wireless node, and the sum and
            maximum of their hops; route_changes (i64).
        links: one row per link: subject (link:0-1), from_node, to_node (i32), entered_pkts,
            entered_bytes (+ lines), came_pkts (including those dropped before the queue),
            departed_pkts, departed_bytes, waited_pkts (for any time), dropped_pkts, dropped_bytes
            (i64), wait_sum_s, wait_max_s (f64, s), length_area (f64, packets · s), longest_pkts
            (i64), capacity_mbps (f64, Mbit/s, null if unknown), shared (bool: whether it connects a
            station to a LAN or a satellite's channel).
        link_flows: link, flow (subjects), entered_pkts, entered_bytes (i64), first_s (f64, s).
        flow_series: subject, time_s (f64, s, end of the bin), mbps, goodput_mbps (f64, Mbit/s),
            delay_ms, rtt_ms (f64, means, ms), sent_pkts, dropped_pkts, retransmitted_pkts (i64).
            Bins in which nothing happened have no row. delivered_pkts (i64): packets sent in the
            bin that arrived in it or later; delivered_pct (f64, %): their share.
        link_series: subject, time_s, mbps, queue_pkts (f64, mean), max_queue_pkts (i64),
            queueing_ms (f64, mean), dropped_pkts (i64).
        losses: layer, reason, type (str), dropped_pkts, dropped_bytes (i64), largest first.
        loss_series: subject (drops:layer/reason), time_s, dropped_pkts (i64), drops_per_s (f64).
        receivers: for multicast and broadcast packets, one row per stream and node at which they
            arrived: subject (receiver:1>5), flow (subject), node (i32), forwards (bool: whether it
            forwarded them over a link), received_pkts, received_bytes, delays, sent_pkts (i64,
            sent_pkts by the source), delay_sum_s, delay_max_s (f64, s).
        nodes: one row per node and layer: subject (node:3/AGT), node (i32), layer (str, "link" for
            wires), sent, received, forwarded and dropped, each _pkts and _bytes (i64).
        types: one row per type of packets, for their ends (layer null) and for each layer of
            wireless nodes: subject (type:cbr, type:cbr/AGT), type, layer (str), sent, received,
            forwarded and dropped, each _pkts and _bytes, delays, hop_pkts, hop_sum, routing_pkts
            (sent and forwarded by routers, of types of routing), data_pkts (received, of data
            flows) (i64), delay_sum_s (f64, s); null where they have no meaning.
        node_drops: subject (node:3/MAC/COL), node, layer, reason, type, dropped_pkts,
            dropped_bytes.
        energy: subject (node:3), node, first_j, last_j (f64, J), dead_s (f64, s, of the first line
            without energy, or null) of nodes with an energy model.
        node_series: subject (node:3), time_s (f64, s), energy_j (f64, J, at the bin's end).
        alive_series: subject (trace), time_s (f64, s), nodes (i64, with energy at the bin's end).
        routing_pkts, routing_bytes: packets of routing protocols, counted on each hop; None if the
            trace has no lines that would show them.
        last_s: time of the last event, s.
        forgotten: packets whose end the trace did not contain.
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
    loss_series: pl.DataFrame
    receivers: pl.DataFrame
    nodes: pl.DataFrame
    types: pl.DataFrame
    node_drops: pl.DataFrame
    energy: pl.DataFrame
    node_series: pl.DataFrame
    alive_series: pl.DataFrame
    routing_pkts: int | None
    routing_bytes: int | None
    last_s: float
    forgotten: int = 0

    @property
    def seconds(self) -> float:
        """Length of the window, s."""
        return self.end_s - self.start_s

    def tables(self) -> dict[str, pl.DataFrame]:
        """Name → frame, for what is kept of a streamed trace."""
        return {
            "flows": self.flows.select(KEPT_FLOWS),
            "links": self.links.select(KEPT_LINKS),
            "link_flows": self.link_flows,
            "flow_series": self.flow_series.select(KEPT_FLOW_SERIES),
            "link_series": self.link_series,
            "losses": self.losses,
        }

    def all_tables(self) -> dict[str, pl.DataFrame]:
        """Name → frame, for everything that is known of a trace."""
        return {name: each for name, each in vars(self).items() if isinstance(each, pl.DataFrame)}


@dataclass(frozen=True)
class Totals:
    """What flows, links and nodes did in a window, from the sums of its rows.

    Attributes:
        found: the sums of the rows.
        window: the window as it was given.
        start_s, end_s: its ends, s, or those of the trace.
        width_s: width of the bins of the series, s.
        ratio: how many bins of ``found`` make one of these.
        last_s: time of the last event, s.
        capacities: (from_node, to_node) → Mbit/s, of links whose capacity is known.
    """

    found: Found
    window: Window
    start_s: float
    end_s: float
    width_s: float
    ratio: int
    last_s: float
    capacities: Mapping[tuple[int, int], float]

    def sums(self) -> PacketSums:
        """All frames."""
        found, flow_bins, link_bins = self.found, self._flow_bins(), self._link_bins()
        ends = found.links.select("link", "from_node", "to_node")
        entered = found.entered.join(ends, on="link", maintain_order="left")
        flows = self._flow_totals(flow_bins, entered)
        links = self._link_totals(link_bins, entered)
        names = flows.select("stream", flow="subject")
        receivers = self._receiver_totals(flows, entered)
        drops = found.losses.sort("node", "layer", "reason", "type")
        routing_pkts, routing_bytes = self._routing(flows, entered)
        node_series = self._energy_series(self._binned("levels"))
        return PacketSums(
            start_s=self.start_s,
            end_s=self.end_s,
            bin_s=self.width_s,
            flows=flows.select(FLOWS),
            links=links.select(LINKS),
            link_flows=_link_flows(entered, names, links),
            flow_series=self._flow_series(flow_bins, names),
            link_series=self._link_series(link_bins, links),
            losses=_by_cause(found.losses),
            loss_series=self._loss_series(self._binned("causes")),
            receivers=receivers,
            nodes=self._node_totals(flows, entered, receivers),
            types=self._types(flows),
            node_drops=_named(drops, "node", "layer", "reason"),
            energy=_named(found.energy.sort("node"), "node"),
            node_series=node_series,
            alive_series=self._alive_series(node_series),
            routing_pkts=routing_pkts,
            routing_bytes=routing_bytes,
            last_s=self.last_s,
            forgotten=found.state.forgotten,
        )

    def _flow_totals(self, bins: pl.DataFrame, entered: pl.DataFrame) -> pl.DataFrame:
        put = entered.group_by("stream").agg(
            route_links=pl.len().cast(pl.Int64), route_pkts=pl.col("entered_pkts").sum()
        )
        who = self.found.named.lazy()
        for each in (self.found.streams, self._lost(), put):
            who = who.join(each.lazy(), on="stream", how="left", maintain_order="left")
        return _flow_totals(who, bins).collect()

    def _lost(self) -> pl.DataFrame:
        """Packets sent in the window that never arrived, by stream: lost_pkts, vanished_pkts (i64).

        A packet that was dropped is lost. One without a drop is in flight if it was sent no longer
        ago than the longest delay of its stream; otherwise it has vanished. If nothing of a stream
        ever arrived, all its packets have vanished.
        """
        found = self.found
        received = found.series["received"].group_by("stream")
        longest = received.agg(longest_s=pl.col("delay_max_s").max())
        late = pl.col("sent_s") < self.last_s - pl.col("longest_s").fill_null(0.0)
        counts = (
            found.open.lazy()
            .filter(self.window.holds("sent_s"))
            .join(longest.lazy(), on="stream", how="left")
            .group_by("stream")
            .agg(
                dropped=pl.col("dropped").sum().cast(pl.Int64),
                vanished_pkts=(~pl.col("dropped") & late).sum().cast(pl.Int64),
            )
        )
        lost = pl.col("dropped").fill_null(0) + pl.col("forgotten_losses")
        streams = found.streams.lazy().select("stream", "forgotten_losses")
        joined = streams.join(counts, on="stream", how="left")
        vanished = pl.col("vanished_pkts").fill_null(0)
        return joined.select("stream", vanished, lost_pkts=lost).collect()

    def _receiver_totals(self, flows: pl.DataFrame, entered: pl.DataFrame) -> pl.DataFrame:
        sent_on = entered.select("stream", node="from_node", forwards=pl.lit(value=True))
        names = flows.select("stream", "sent_pkts", flow="subject")
        name = pl.col("flow").str.replace("^[a-z]+:", "")
        return (
            self.found.receivers.join(names, on="stream")
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
        by_type = self.found.nodes.group_by("node", "layer").agg(pl.col(COUNTED).sum())
        wireless = by_type.sort("node", "layer")
        radio = wireless["node"].unique().implode()
        ends = self._with_hosts(flows)
        # Packets that reached the agent of a wireless node are counted there; a group is no node.
        is_wired_node = ~pl.col("dst_host").is_in(radio) & ~goes_to_group()
        came = receivers.filter(~pl.col("node").is_in(radio))
        dropped = self.found.losses.filter(pl.col("layer") == _ON_A_LINK)
        wired = _wired_nodes(
            entered,
            ends.with_columns(pl.when(is_wired_node).then("dst_host").alias("dst_host")),
            came.select("node", "received_pkts", "received_bytes"),
            dropped.select("node", "dropped_pkts", "dropped_bytes"),
        )
        return _named(pl.concat([wireless, wired]), "node", "layer")

    def _with_hosts(self, flows: pl.DataFrame) -> pl.DataFrame:
        """Flows with src_host and dst_host: the nodes of their addresses, null for unknown ones."""
        hosts = self.found.hosts
        for end in ("src", "dst"):
            address, host = f"{end}_node", f"{end}_host"
            if hosts.is_empty():
                flows = flows.with_columns(pl.col(address).alias(host))
            else:
                known = hosts.rename({"address": address, "host": host})
                known = known.with_columns(pl.when(pl.col(host) != UNKNOWN).then(host).alias(host))
                flows = flows.join(known, on=address, how="left", maintain_order="left")
        return flows

    def _types(self, flows: pl.DataFrame) -> pl.DataFrame:
        """Types of packets at their ends, and at each layer of wireless nodes."""
        counts = ("sent_pkts", "sent_bytes", "received_pkts", "received_bytes")
        more = ("dropped_pkts", "dropped_bytes", "delays", "delay_sum_s", "hop_pkts", "hop_sum")
        sums = [pl.col(each).sum() for each in (*counts, *more)]
        at_ends = flows.group_by("type").agg(sums)
        at_layers = self.found.nodes.group_by("type", "layer").agg(pl.col(COUNTED).sum())
        data_pkts = flows.filter(pl.col("kind") == "data")["received_pkts"].sum()
        of_routers = (pl.col("layer") == "RTR") & pl.col("type").is_in(ROUTING_TYPES)
        routing_pkts = pl.when(of_routers).then(pl.col("sent_pkts") + pl.col("forwarded_pkts"))
        both = (
            pl.concat([at_ends, at_layers], how="diagonal")
            .filter(pl.col("type").is_not_null())
            .with_columns(routing_pkts.alias("routing_pkts"), data_pkts=pl.lit(data_pkts))
        )
        name = pl.concat_str("type", "layer", separator="/", ignore_nulls=True)
        return both.select(pl.format("type:{}", name).alias("subject"), pl.all()).sort("subject")

    def _routing(
        self, flows: pl.DataFrame, entered: pl.DataFrame
    ) -> tuple[int, int] | tuple[None, None]:
        """Packets and bytes of routing; None if the trace has no lines that would show them."""
        types = flows.filter(pl.col("type").is_in(ROUTING_TYPES)).select("stream")
        put, found = entered.join(types, on="stream", how="semi"), self.found
        if put.is_empty() and not found.state.has_routers:
            return None, None
        return (
            found.state.routing_pkts + int(put["entered_pkts"].sum()),
            found.state.routing_bytes + int(put["entered_bytes"].sum()),
        )

    def _link_totals(self, bins: pl.DataFrame, entered: pl.DataFrame) -> pl.DataFrame:
        sums = (
            bins.lazy()
            .group_by("link")
            .agg(
                pl.col(*_LINK_COUNTS, "change_times_s", "wait_sum_s").sum(),
                pl.col("wait_max_s", "longest_pkts").max(),
            )
        )
        came = entered.lazy().group_by("link").agg(pl.col("entered_pkts", "entered_bytes").sum())
        joined = (
            came.join(sums, on="link", how="full", coalesce=True)
            .join(self.found.links.lazy(), on="link", how="left")
            .join(self._capacities(entered).lazy(), on="link", how="left")
            .rename({"before": "pkts"})
        )
        counts = pl.col("entered_pkts", "entered_bytes", *_LINK_COUNTS, "pkts").fill_null(0)
        # A packet that is dropped before the queue has arrived at the link, but has no + line.
        gone = pl.col("departed_pkts") + pl.col("dropped_pkts") + pl.col("change_pkts")
        area = pl.col("pkts") * (self.end_s - self.start_s) + (
            pl.col("change_pkts") * self.end_s - pl.col("change_times_s").fill_null(0.0)
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
            .collect()
        )

    def _is_shared(self, entered: pl.DataFrame) -> pl.Expr:
        """Whether a link connects a station to a medium that it shares with others.

        A LAN is a node without queues: stations send to it, and the packets that they receive from
        it never entered a queue there. A satellite's channel is a node with a negative number.
        """
        reached = self.found.links.filter("reached")
        media = reached.join(entered, on="link", how="anti")["from_node"].unique()
        return pl.col("to_node").is_in(media.implode()) | (pl.col("to_node") < 0)

    def _capacities(self, entered: pl.DataFrame) -> pl.DataFrame:
        """link, capacity_mbps (f64, Mbit/s) as given or measured from packets back to back.

        Left out are satellite links from one node to several others: one queue may serve them all.
        """
        links = self.found.links
        given = [(*ends, mbps) for ends, mbps in self.capacities.items()]
        schema = {"from_node": pl.Int32, "to_node": pl.Int32, "capacity_mbps": pl.Float64}
        known = links.join(
            pl.DataFrame(given, schema=schema, orient="row"), on=["from_node", "to_node"]
        ).select("link", "capacity_mbps")
        error_s = pl.when("coarse").then(_COARSE_RESOLUTION_S).otherwise(_RESOLUTION_S)
        in_space = links.filter("coarse")
        one_of_several = in_space.filter(pl.col("from_node").is_duplicated())
        measured = (
            links.lazy()
            .filter(pl.col("periods") > 0)
            .filter(pl.col("periods") * error_s < _LARGEST_ERROR * pl.col("busy_s"))
            .filter(~self._is_shared(entered))
            .join(one_of_several.lazy(), on="link", how="anti")
            .join(known.lazy(), on="link", how="anti")
            .select("link", capacity_mbps=8e-6 * pl.col("busy_bytes") / pl.col("busy_s"))
            .collect()
        )
        return pl.concat([known, measured])

    def _link_series(self, bins: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
        full, (start, end) = self._filled(bins), self._bin_ends()
        change = pl.col("change_pkts").fill_null(0)
        at_start = (change.cum_sum().over("link") - change) + pl.col("pkts").fill_null(0)
        names = links.select("link", "subject", "from_node", "to_node", "pkts")
        joined = full.lazy().join(names.lazy(), on="link").sort("from_node", "to_node", "bin")
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
        ).collect()

    def _flow_series(self, bins: pl.DataFrame, names: pl.DataFrame) -> pl.DataFrame:
        start, end = self._bin_ends()
        length = end - start
        return (
            bins.lazy()
            .join(names.lazy(), on="stream", maintain_order="left")
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
            .collect()
        )

    def _loss_series(self, bins: pl.DataFrame) -> pl.DataFrame:
        start, end = self._bin_ends()
        rows = [(number, *each) for number, each in enumerate(self.found.causes)]
        schema = {"cause": pl.Int64, "layer": pl.String, "reason": pl.String}
        named = bins.join(pl.DataFrame(rows, schema=schema, orient="row"), on="cause")
        return named.sort("layer", "reason", "bin").select(
            pl.format("drops:{}/{}", "layer", pl.col("reason").fill_null("-")).alias("subject"),
            end.alias("time_s"),
            "dropped_pkts",
            drops_per_s=pl.col("dropped_pkts") / (end - start),
        )

    def _energy_series(self, bins: pl.DataFrame) -> pl.DataFrame:
        """Energy at the end of each bin: nodes do not recharge, so the least value is the last."""
        return bins.sort("node", "bin").select(
            pl.format("node:{}", "node").alias("subject"),
            self._bin_ends()[1].alias("time_s"),
            energy_j=-pl.col("below_j"),
        )

    def _alive_series(self, of_nodes: pl.DataFrame) -> pl.DataFrame:
        times_s = of_nodes["time_s"].unique().sort()
        dead_s = self.found.energy["dead_s"].drop_nulls().sort()
        alive = self.found.energy.height - dead_s.search_sorted(times_s, side="right")
        return pl.DataFrame({"time_s": times_s, "nodes": alive.cast(pl.Int64)}).select(
            pl.lit("trace").alias("subject"), "time_s", "nodes"
        )

    def _bin_ends(self) -> tuple[pl.Expr, pl.Expr]:
        """Start and end, s, of the part of each bin that is in the window."""
        number = pl.col("bin").cast(pl.Float64)
        # Rounded, since 3 · 0.1 is 0.30000000000000004.
        start, end = (number * self.width_s).round(9), ((number + 1) * self.width_s).round(9)
        return start.clip(lower_bound=self.start_s), end.clip(upper_bound=self.end_s)

    def _filled(self, bins: pl.DataFrame) -> pl.DataFrame:
        """Rows of all bins, in order, for links on which packets waited; others are unchanged."""
        queues = bins.filter(pl.col("change_pkts").is_not_null()).select("link").unique()
        if queues.is_empty():
            return bins
        # An event exactly at the end of the last bin belongs to that bin.
        first = number_of_bin(self.start_s, self.width_s)
        last = min(
            number_of_bin(self.last_s, self.width_s),
            number_of_bin(self.end_s, self.width_s, before=True),
        )
        last = max(last, int(bins.select(pl.col("bin").max()).item()))
        numbers = pl.DataFrame({"bin": range(first, last + 1)}, schema={"bin": pl.Int64})
        return (
            queues.join(numbers, how="cross")
            .join(bins, on=["link", "bin"], how="left")
            .vstack(bins.join(queues, on="link", how="anti"))
            .sort("link", "bin")
        )

    def _binned(self, name: str) -> pl.DataFrame:
        """A series in wider bins, in order; events at the end of the last belong to it."""
        last = number_of_bin(self.end_s, self.width_s, before=True)
        subject, counts, total, most = SERIES[name]
        if self.found.series[name].is_empty():
            return self.found.series[name]
        number = (pl.col("bin") // self.ratio).clip(upper_bound=last)
        sums = pl.col([*counts, *([total] if total else [])]).sum()
        largest = pl.col([most] if most else []).max()
        return (
            self.found.series[name]
            .lazy()
            .with_columns(number)
            .group_by(subject, "bin")
            .agg(sums, largest)
            .sort("bin", subject)
            .collect()
        )

    def _flow_bins(self) -> pl.DataFrame:
        """Sums by stream and bin; null if nothing was counted."""
        # ACKs cannot be matched to packets of a stream whose sequence numbers are bytes.
        by_bytes = self.found.streams.filter("by_bytes")
        rtts = self._binned("round_trips").join(by_bytes, on="stream", how="anti")
        joined = _joined([*map(self._binned, ("sent", "received", "dropped")), rtts], "stream")
        return joined.join(
            self._binned("delivered"), on=["stream", "bin"], how="left", maintain_order="left"
        )

    def _link_bins(self) -> pl.DataFrame:
        """Sums by link and bin; null if nothing was counted."""
        return _joined(
            map(self._binned, ("departed", "waited", "dropped_on_link", "lengths")), "link"
        )


def _joined(parts: Iterable[pl.DataFrame], subject: str) -> pl.DataFrame:
    full = functools.reduce(
        lambda one, other: one.join(other, on=[subject, "bin"], how="full", coalesce=True), parts
    )
    return full.sort(subject, "bin")


def _flow_totals(who: pl.LazyFrame, bins: pl.DataFrame) -> pl.LazyFrame:
    sums = (
        bins.lazy()
        .group_by("stream")
        .agg(
            pl.col(*FLOW_COUNTS, "delay_sum_s", "rtt_sum_s").sum(),
            pl.col("delay_max_s", "rtt_max_s").max(),
        )
    )
    sees_source = (pl.col("sent_pkts") > 0) | pl.col("source_is_traced")
    sees_receiver = (pl.col("received_pkts") > 0) | pl.col("receiver_is_traced")
    counted = who.join(sums, on="stream", how="left", maintain_order="left").with_columns(
        pl.col(*FLOW_COUNTS, *_FILLED).fill_null(0)
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
        .lazy()
        .group_by("node")
        .agg(pl.col(COUNTED).sum())
        .filter(pl.sum_horizontal(COUNTED) > 0)
        .select("node", pl.lit(_ON_A_LINK).alias("layer"), *COUNTED)
        .sort("node")
        .collect()
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
