"""What flows, links and nodes did in a window of time: the input of the packet metrics."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from bdpbench.metrics.packets.rows import ENDS

FLOW_COUNTS = (
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
"""Counts of a flow that are sums over bins."""

LOSSES = ("lost_pkts", "vanished_pkts")
"""Counts of packets that never arrived."""

KEPT_FLOWS = (
    "subject",
    "kind",
    *ENDS,
    "type",
    *FLOW_COUNTS,
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
"""Columns of ``PacketSums.flows`` that are kept of a streamed trace."""

PATHS = ("route_links", "route_pkts", "hop_pkts", "hop_sum", "hop_max", "route_changes")
"""Columns of the path of a flow."""

FLOWS = (
    *KEPT_FLOWS,
    *LOSSES,
    *("delay_steps", "delay_step_sum_s"),
    *("longest_gap_s", *PATHS),
)
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
"""Columns of ``PacketSums.links`` that are kept of a streamed trace."""

LINKS = (*KEPT_LINKS, "shared")
"""Columns of ``PacketSums.links``."""

KEPT_FLOW_SERIES = (
    "subject",
    "time_s",
    "mbps",
    "goodput_mbps",
    "delay_ms",
    "rtt_ms",
    "sent_pkts",
    "dropped_pkts",
    "retransmitted_pkts",
)
"""Columns of ``PacketSums.flow_series`` that are kept of a streamed trace."""


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
        node_drops: subject (node:3/MAC/COL), node, layer, reason, type, dropped_pkts,
            dropped_bytes.
        energy: subject (node:3), node, first_j, last_j (f64, J) of nodes with an energy model.
        node_series: subject (node:3), time_s (f64, s), energy_j (f64, J, at the bin's end).
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
    node_drops: pl.DataFrame
    energy: pl.DataFrame
    node_series: pl.DataFrame
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
        return {
            **self.tables(),
            "flows": self.flows,
            "links": self.links,
            "flow_series": self.flow_series,
            "loss_series": self.loss_series,
            "receivers": self.receivers,
            "nodes": self.nodes,
            "node_drops": self.node_drops,
            "energy": self.energy,
            "node_series": self.node_series,
        }
