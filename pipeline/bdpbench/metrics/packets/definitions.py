"""What each metric of a packet trace means, and how it follows from the sums over a window."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from bdpbench.metrics.definition import FAIR_ASYMMETRY, Definition, Subject
from bdpbench.metrics.fairness import tcp_friendly_rate
from bdpbench.metrics.packets.rows import ROUTING_TYPES
from bdpbench.metrics.series import PEAK_SHARE

_SENT = (
    "A packet is sent with its + line at the link that begins at its source (wireless: s at AGT)"
)
_RECEIVED = "received with its r line at its destination (wireless: r at AGT)"
_ONCE = (
    "A packet that arrives again, as a duplicate that the network made or at a further receiver of "
    "a broadcast, is received once."
)
_WIRE = (
    "Bytes are those of the trace: with TCP and IP headers (40 bytes) for ns-2's TCP agents, "
    "without headers for its UDP agents, which trace the size that they were given."
)
_TIGHT = (
    "the link of its route with the least known capacity (given, or measured from packets that "
    "left a queue one right after another)"
)
_BINS = "bins of the series, each stamped with its end"


PER_SECOND = pl.col("per_window_s")
"""One over the length of the window, 1/s; null for one without length."""

_MBIT, _MS = 8e-6, 1e3


def _number(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.Float64)


def _rate(of_bytes: str | pl.Expr) -> pl.Expr:
    """Bytes in the window as Mbit/s."""
    size = pl.col(of_bytes) if isinstance(of_bytes, str) else of_bytes
    return _MBIT * size.cast(pl.Float64) * PER_SECOND


def _ratio(part: str | pl.Expr, whole: str | pl.Expr) -> pl.Expr:
    """Part over whole; null where there is no whole."""
    one, other = (pl.col(each) if isinstance(each, str) else each for each in (part, whole))
    return pl.when(other > 0).then(one / other)


def _friendliness(flow: Mapping[str, float | None]) -> float | None:
    x, size, rtt_s, loss = (flow[name] for name in ("x", "size", "rtt_s", "loss"))
    if x is None or size is None or not rtt_s or not loss:
        return None
    return x / tcp_friendly_rate(size, rtt_s, loss)


_LIFE_S = pl.col("last_received_s") - pl.col("first_sent_s")
_DELAY_MS = _ratio(_MS * pl.col("delay_sum_s"), "delays")
_RTT_MS = _ratio(_MS * pl.col("rtt_sum_s"), "rtts")
_LOSS_RATE = _ratio(pl.col("lost_pkts") + pl.col("vanished_pkts").fill_null(0), "sent_pkts")
_BY_RADIO, _ON_WIRES = pl.col("hop_pkts") > 0, pl.col("route_pkts") > 0
_FRIENDLINESS = pl.struct(
    x=_rate("received_bytes"),
    size=pl.col("sent_bytes") / pl.col("sent_pkts"),
    rtt_s=_RTT_MS * (1 / _MS),
    loss=_LOSS_RATE,
).map_elements(_friendliness, return_dtype=pl.Float64)


@dataclass(frozen=True, kw_only=True)
class PacketMetric(Definition):
    """A metric of a packet trace.

    Attributes:
        measure: its value of each flow, link, receiver or node, from the columns of ``PacketSums``
            (flows after ``with_shares``) and ``PER_SECOND``: null if the trace does not tell it, or
            there was nothing to measure. None for what is measured otherwise.
    """

    title: str = ""
    measure: pl.Expr | None = None

    def of(self, rows: pl.DataFrame, seconds: float) -> pl.Series:
        """Its values in a window of a length."""
        assert self.measure is not None  # noqa: S101 - of a metric of rows
        per_s = pl.lit(1 / seconds if seconds > 0 else None, pl.Float64).alias("per_window_s")
        return rows.with_columns(per_s).select(value=self.measure)["value"]


def _define(
    metric: str,
    subject: Subject,
    unit: str,
    text: str,
    source: str,
    **more: Any,
) -> PacketMetric:
    return PacketMetric(metric=metric, subject=subject, unit=unit, text=text, source=source, **more)


_ALL = (
    _define(
        "throughput",
        "flow",
        "Mbit/s",
        "Bytes of the flow received in the window, headers and retransmissions included, over the "
        f"window's length. A packet is {_RECEIVED}. {_ONCE} {_WIRE}",
        "RFC 5166, section 2.1",
        measure=_rate("received_bytes"),
    ),
    _define(
        "goodput",
        "flow",
        "Mbit/s",
        "Payload that the receiver got for the first time in the window, over the window's length: "
        "(received - duplicates)/time, without the 40 bytes of TCP and IP headers. A number "
        "received before is a duplicate; of agents that number bytes (FullTcp), any number that "
        "is not above the highest so far.",
        "RFC 5166, section 2.1",
        measure=_rate("good_bytes"),
    ),
    _define(
        "sending_goodput",
        "flow",
        "Mbit/s",
        "(sent - retransmitted)/time at the source, bytes with headers in the window over the "
        f"window's length. {_SENT}.",
        "RFC 5166, section 2.1, at the sender",
        measure=_rate(pl.col("sent_bytes") - pl.col("retransmitted_bytes")),
    ),
    _define(
        "normalised_goodput",
        "flow",
        "1",
        f"goodput over the capacity of {_TIGHT}.",
        "RFC 5166, section 2.1",
        measure=_rate("good_bytes") / pl.col("tight_mbps"),
    ),
    _define(
        "retransmissions",
        "flow",
        "packets",
        "Packets sent in the window whose number is not above the highest that their source has "
        "sent, which is what ns-2's agents count in nrexmitpack_. ACKs have none.",
        "ns-2, tcp.cc (nrexmitpack_)",
        measure=_number("retransmitted_pkts"),
    ),
    _define(
        "retransmission_rate",
        "flow",
        "1",
        "retransmissions over all packets sent in the window.",
        "ns-2, tcp.cc (nrexmitpack_, ndatapack_)",
        measure=_ratio("retransmitted_pkts", "sent_pkts"),
    ),
    _define(
        "packet_loss_rate",
        "flow",
        "1",
        "Packets of the flow that were sent in the window and never received, over all that were "
        "sent in it. A packet that was dropped somewhere is lost if it has not been received by "
        "the end of the trace, since a frame may be dropped beside its delivery; one that nobody "
        "dropped if it was sent longer before the end than the flow's largest one-way delay. "
        "Later ones are under way. "
        f"{_SENT}.",
        "RFC 7680; RFC 5166, section 2.3",
        version=2,  # 1 counted drops: several for some packets, even for some that arrived
        measure=_LOSS_RATE,
    ),
    _define(
        "packet_delivery_ratio",
        "flow",
        "1",
        "Packets of the flow received in the window, whose sending the trace holds, over those "
        "that it sent in it; packets that are under way at the window's ends count on one side "
        f"only. {_SENT}; it is {_RECEIVED}. {_ONCE}",
        "Broch, Maltz, Johnson, Hu and Jetcheva (1998), MobiCom, section 5",
        measure=_ratio(pl.when(pl.col("received_pkts").is_not_null()).then("delays"), "sent_pkts"),
    ),
    _define(
        "lifetime_throughput",
        "flow",
        "Mbit/s",
        "Bytes of the flow received in the window over the time from its first packet sent to its "
        "last packet received, both in the window: what awk scripts over traces compute. "
        "throughput divides the same bytes by the window's length.",
        "RFC 5166, section 2.1, over the flow's own time",
        measure=_ratio(_MBIT * pl.col("received_bytes"), _LIFE_S),
    ),
    _define(
        "slow_start_duration",
        "flow",
        "s",
        "Time from the flow's first packet to its first retransmission: until then its sender has "
        "seen no loss. Over the whole trace up to the window's end; no value without a "
        "retransmission.",
        "RFC 5681, section 3.1",
        measure=pl.col("slow_start_end_s") - pl.col("started_s"),
    ),
    _define(
        "slow_start_loss_rate",
        "flow",
        "1",
        "Of the packets that the flow sent before its first retransmission, the share that was "
        "dropped. Over the whole trace up to the window's end.",
        "RFC 5166, section 2.3, over RFC 5681's slow start",
        measure=_ratio("slow_start_drops", "slow_start_pkts"),
    ),
    _define(
        "one_way_delay",
        "flow",
        "ms",
        f"Mean time from a packet's sending to its arrival, of packets {_RECEIVED} in the window. "
        f"{_SENT}, so that the wait in the first queue counts.",
        "RFC 7679; RFC 5166, section 2.2",
        measure=_DELAY_MS,
    ),
    _define(
        "max_one_way_delay",
        "flow",
        "ms",
        "Largest one-way delay of a packet received in the window.",
        "RFC 7679",
        measure=_MS * pl.col("delay_max_s"),
    ),
    _define(
        "delay_variation",
        "flow",
        "ms",
        "Mean packet delay variation: one-way delay minus the least one-way delay in the window.",
        "RFC 5481, section 4.2 (PDV)",
        measure=_DELAY_MS - _MS * pl.col("delay_min_s"),
    ),
    _define(
        "jitter",
        "flow",
        "ms",
        "Interarrival jitter at the window's end: J := J + (|D| - J)/16 at each arrival, where D "
        "is the difference of the one-way delays of two packets that arrive after one another.",
        "RFC 3550, section 6.4.1",
        measure=_MS * pl.col("jitter_s"),
    ),
    _define(
        "mean_jitter",
        "flow",
        "ms",
        "Mean of |D| over the arrivals in the window, where D is the difference of the one-way "
        "delays of two packets that arrive after one another; jitter smooths the same |D|.",
        "RFC 5481, section 4.1 (IPDV), its mean size",
        measure=_ratio(_MS * pl.col("delay_step_sum_s"), "delay_steps"),
    ),
    _define(
        "rtt",
        "flow",
        "ms",
        "Mean time from a data packet's sending to the arrival of the first ACK with its number at "
        "the source, of ACKs that arrive in the window. No sample of a packet sent more than once, "
        "nor of an ACK that covers one (Karn); with delayed ACKs only the last packet that an ACK "
        "covers gives a sample. Not for agents that number bytes (FullTcp).",
        "RFC 6298, section 3; Karn and Partridge (1987)",
        measure=_RTT_MS,
    ),
    _define(
        "max_rtt",
        "flow",
        "ms",
        "Largest RTT sample in the window, taken as for rtt.",
        "RFC 6298, section 3",
        measure=_MS * pl.col("rtt_max_s"),
    ),
    _define(
        "response_time",
        "flow",
        "s",
        "Time from the flow's first packet sent to its last packet received, both in the window: "
        "the response time of a page or object that is a flow of its own.",
        "RFC 5166, section 2.1 (transfer times)",
        measure=_LIFE_S,
    ),
    _define(
        "time_to_90pct_throughput",
        "flow",
        "s",
        "Time from the flow's first packet sent to the end of the first bin in which its "
        f"throughput is at or above {PEAK_SHARE:.0%} of the capacity of {_TIGHT}; {_BINS}.",
        "Sharma (2006), Table 1, of throughput",
    ),
    _define(
        "throughput_recovery_time",
        "flow",
        "s",
        "Time from the flow's first loss in the window to the end of the first later bin in which "
        "its throughput is back at 95 % or more of the largest before the loss, having been "
        f"below that; {_BINS}.",
        "RFC 5166, section 2.4 (response to changes)",
    ),
    _define(
        "max_min_share",
        "flow",
        "Mbit/s",
        "Max-min fair share by progressive filling over the routes of all data flows and the known "
        "capacities of their links: all rates rise together, and a flow stops where a link is "
        "full. Flows that are not TCP want no more than they send.",
        "Bertsekas and Gallager, Data Networks, section 6.5.2; RFC 5166, section 2.3.1",
        measure=pl.col("max_min_mbps"),
    ),
    _define(
        "tcp_friendliness",
        "flow",
        "1",
        "throughput over the rate of a conforming TCP with the flow's mean packet size, mean RTT "
        "and packet loss rate, by the TCP throughput equation with t_RTO = 4 RTT and b = 1. The "
        "loss rate is taken for the loss event rate, so that losses in bursts count more.",
        "RFC 5348, section 3.1",
        measure=_FRIENDLINESS,
    ),
    _define(
        "hop_count",
        "flow",
        "hops",
        "Mean number of hops of a packet. Where lines of wireless nodes tell the hops of a packet "
        "(tcp and cbr), of the packets received in the window. On wires the times that packets of "
        "the flow entered a traced link over the packets sent, so that a lost packet counts with "
        "the links that it came to. No value where a flow has both kinds of hops.",
        "Broch, Maltz, Johnson, Hu and Jetcheva (1998), MobiCom, section 5 (path optimality)",
        measure=pl.when(_BY_RADIO & ~_ON_WIRES)
        .then(pl.col("hop_sum") / pl.col("hop_pkts"))
        .when(_ON_WIRES & _BY_RADIO.is_null() & (pl.col("sent_pkts") > 0))
        .then(pl.col("route_pkts") / pl.col("sent_pkts")),
    ),
    _define(
        "path_length",
        "flow",
        "hops",
        "Most hops of a packet received in the window, as lines of wireless nodes tell them. On "
        "wires the number of traced links that packets of the flow entered, which is the length of "
        "its path as long as its route does not change.",
        "Broch, Maltz, Johnson, Hu and Jetcheva (1998), MobiCom, section 5 (path optimality)",
        measure=pl.when(_BY_RADIO & ~_ON_WIRES)
        .then("hop_max")
        .when(_ON_WIRES & _BY_RADIO.is_null())
        .then("route_links")
        .cast(pl.Float64),
    ),
    _define(
        "route_changes",
        "flow",
        "changes",
        "How often in the window a node sent a packet of the flow to another next node than the "
        "packet of the flow before it: the far end of the link that the packet entered or, on a "
        "wireless node, the next hop of what its router sent or forwarded (s and f at RTR). A flow "
        "that takes several ways in turn changes all the time; one to a group or to all has none.",
        "definition of bdpbench",
        measure=_number("route_changes"),
    ),
    _define(
        "longest_gap",
        "flow",
        "s",
        "Largest time between two packets of the flow that arrive after one another in the window. "
        "Of a flow that sends all the time it is how long its longest handover or route break "
        "kept packets away.",
        "Koodli, RFC 5568, section 1 (handover latency), at the receiver",
        measure=pl.col("longest_gap_s"),
    ),
    _define(
        "receiver_throughput",
        "receiver",
        "Mbit/s",
        "Bytes of a flow to a group or to all that came to the node in the window, over the "
        "window's length. A packet has come to a node with an r line there (wireless: r at AGT), "
        "and counts once at each node. A wired node that sends the packet on is a receiver too, "
        "since links do not show who has joined the group.",
        "RFC 5166, section 2.1, at each receiver",
        measure=_rate("received_bytes"),
    ),
    _define(
        "receiver_delivery_ratio",
        "receiver",
        "1",
        "Packets of a flow to a group or to all that came to the node in the window over those "
        "that the flow's source sent in it.",
        "packet_delivery_ratio, at each receiver",
        measure=_ratio("received_pkts", "sent_pkts"),
    ),
    _define(
        "receiver_delay",
        "receiver",
        "ms",
        "Mean time from the sending of a packet to a group or to all to its coming to the node.",
        "RFC 7679, at each receiver",
        measure=_DELAY_MS,
    ),
    _define(
        "receiver_max_delay",
        "receiver",
        "ms",
        "Largest time from the sending of a packet to a group or to all to its coming to the node.",
        "RFC 7679, at each receiver",
        measure=_MS * pl.col("delay_max_s"),
    ),
    _define(
        "link_throughput",
        "link",
        "Mbit/s",
        "Bytes that began their transmission over the link in the window (- lines), over the "
        f"window's length. {_WIRE}",
        "RFC 5166, section 2.1",
        measure=_rate("departed_bytes"),
    ),
    _define(
        "link_utilization",
        "link",
        "1",
        "link_throughput over the link's capacity, given or measured.",
        "RFC 5166, section 2.1",
        measure=_rate("departed_bytes") / pl.col("capacity_mbps"),
    ),
    _define(
        "link_capacity",
        "link",
        "Mbit/s",
        "Capacity as given, or else measured: bytes of packets that waited and were followed by "
        "one that had waited for them, over the time between the two departures. ns-2's times are "
        "rounded to 1 us, or 0.1 ms at satellites; known where the busy periods are long enough "
        "for an error below 0.5 %. A station's way onto a shared medium, a LAN or a satellite's "
        "channel, has none of its own unless it is given, nor has a node's way over satellites to "
        "one of several others.",
        "definition of bdpbench",
        measure=pl.col("capacity_mbps"),
    ),
    _define(
        "link_loss_rate",
        "link",
        "1",
        "Packets dropped at the link in the window over those that came to it (+ lines, and drops "
        "of packets that never entered the queue). None for a shared medium, which drops a copy at "
        "each station that a packet is not for.",
        "RFC 5166, section 2.3",
        measure=_ratio(pl.when(~pl.col("shared")).then("dropped_pkts"), "came_pkts"),
    ),
    _define(
        "mean_queue_length",
        "link",
        "packets",
        "Mean over time of the packets in the link's queue, without the one being transmitted.",
        "RFC 5166, section 2.2 (queueing)",
        measure=(pl.col("length_area") * PER_SECOND).clip(0.0),
    ),
    _define(
        "max_queue_length",
        "link",
        "packets",
        "Most packets in the link's queue at any moment of the window. A packet that a full queue "
        "turns away was never in it; one that finds the link idle is in it for no time.",
        "RFC 5166, section 2.2 (queueing)",
        measure=_number("longest_pkts"),
    ),
    _define(
        "queueing_delay",
        "link",
        "ms",
        "Mean time from a packet's + to its - line, of packets that left the queue in the window.",
        "RFC 5166, section 2.2 (queueing)",
        measure=_ratio(_MS * pl.col("wait_sum_s"), "departed_pkts"),
    ),
    _define(
        "max_queueing_delay",
        "link",
        "ms",
        "Largest time from a packet's + to its - line, of packets that left in the window.",
        "RFC 5166, section 2.2 (queueing)",
        measure=_MS * pl.col("wait_max_s"),
    ),
    _define(
        "node_sent",
        "node",
        "packets",
        "Packets that the layer of the node sent in the window: s lines of a wireless node; on "
        "wires + lines at links of the node that is the packet's source.",
        "ns-2, trace/cmu-trace.cc and trace/trace.cc",
        measure=_number("sent_pkts"),
    ),
    _define(
        "node_received",
        "node",
        "packets",
        "Packets that the layer of the node received in the window: r lines of a wireless node; on "
        "wires packets received at their destination, and copies of packets to a group.",
        "ns-2, trace/cmu-trace.cc and trace/trace.cc",
        measure=_number("received_pkts"),
    ),
    _define(
        "node_forwarded",
        "node",
        "packets",
        "Packets that the layer of the node sent on in the window: f lines of a wireless node; on "
        "wires + lines at links of a node that is not the packet's source.",
        "ns-2, trace/cmu-trace.cc and trace/trace.cc",
        measure=_number("forwarded_pkts"),
    ),
    _define(
        "node_dropped",
        "node",
        "packets",
        "Packets that the layer of the node dropped in the window: D or d lines of a wireless "
        "node; on wires d and e lines at links that begin at it. A packet can be dropped more than "
        "once, and be delivered all the same.",
        "ns-2, trace/cmu-trace.cc and trace/trace.cc",
        measure=_number("dropped_pkts"),
    ),
    _define(
        "node_drops",
        "drops",
        "packets",
        "node_dropped of one layer for one reason, as the trace names both.",
        "ns-2, trace/cmu-trace.h",
    ),
    _define(
        "drops",
        "drops",
        "packets",
        "Packets dropped in the window by all nodes, of one layer for one reason, as the trace "
        "names both; on links the queue or an error model.",
        "ns-2, trace/cmu-trace.h",
    ),
    _define(
        "remaining_energy",
        "node",
        "J",
        "Energy of the node at its last line in the window that tells it.",
        "ns-2, mobile/energy-model.h",
        measure=pl.col("last_j"),
    ),
    _define(
        "spent_energy",
        "node",
        "J",
        "Energy of the node at its first line in the window that tells it less that at its last.",
        "ns-2, mobile/energy-model.h",
        measure=pl.col("first_j") - pl.col("last_j"),
    ),
    _define(
        "total_throughput",
        "run",
        "Mbit/s",
        "Sum of throughput over all data flows.",
        "RFC 5166, section 2.1, of the network",
    ),
    _define(
        "total_goodput",
        "run",
        "Mbit/s",
        "Sum of goodput over all data flows.",
        "RFC 5166, section 2.1, of the network",
    ),
    _define(
        "total_packet_loss_rate",
        "run",
        "1",
        "packet_loss_rate of all data flows together: packets lost over packets sent.",
        "RFC 7680; RFC 5166, section 2.3",
    ),
    _define(
        "total_packet_delivery_ratio",
        "run",
        "1",
        "packet_delivery_ratio of all data flows together: packets received over packets sent.",
        "Broch, Maltz, Johnson, Hu and Jetcheva (1998), MobiCom, section 5",
    ),
    _define(
        "total_one_way_delay",
        "run",
        "ms",
        "Mean one-way delay of the packets of all data flows, each packet counted alike.",
        "RFC 7679; RFC 5166, section 2.2",
    ),
    _define(
        "routing_overhead",
        "run",
        "packets",
        "Packets of routing protocols sent in the window, each hop counted: s and f lines of "
        "routers (RTR) of wireless nodes, + lines of links. Packets of routing are those of the "
        f"types {', '.join(ROUTING_TYPES)} (message is DSDV's). No value where no line of a router "
        "or of such a packet is traced.",
        "Broch, Maltz, Johnson, Hu and Jetcheva (1998), MobiCom, section 5",
    ),
    _define(
        "routing_overhead_bytes",
        "run",
        "bytes",
        "Bytes of the packets that routing_overhead counts.",
        "Broch, Maltz, Johnson, Hu and Jetcheva (1998), MobiCom, section 5",
    ),
    _define(
        "normalised_routing_load",
        "run",
        "1",
        "routing_overhead over the packets of data flows received in the window.",
        "Das, Perkins and Royer (2000), INFOCOM, section 4 (normalized routing load)",
    ),
    _define(
        "total_remaining_energy",
        "run",
        "J",
        "Sum of remaining_energy over all nodes.",
        "ns-2, mobile/energy-model.h",
    ),
    _define(
        "total_spent_energy",
        "run",
        "J",
        "Sum of spent_energy over all nodes.",
        "ns-2, mobile/energy-model.h",
    ),
    _define(
        "fairness_index",
        "run",
        "1",
        "Jain's index of the throughputs x_i of the data flows: (sum x_i)^2/(n sum x_i^2), from "
        "1/n to 1 (fair).",
        "Jain, Chiu and Hawe (1984), DEC-TR-301; RFC 5166, section 2.3.1",
    ),
    _define(
        "max_min_fairness_index",
        "run",
        "1",
        "Jain's index of throughput over max_min_share, of the data flows: 1 where each flow gets "
        "the same part of its max-min fair share.",
        "Jain, Chiu and Hawe (1984), DEC-TR-301, section on normalised allocations",
    ),
    _define(
        "throughput_asymmetry",
        "run",
        "1",
        "(x1 - x2)/(x1 + x2) of the throughputs of two data flows, in the order of their start.",
        "Bullot, Cottrell and Hughes-Jones (2003)",
    ),
    _define(
        "throughput_ratio",
        "run",
        "1",
        "x1/x2 of the throughputs of two data flows, in the order of their start.",
        "RFC 5166, section 2.3",
    ),
    _define(
        "throughput_convergence_time",
        "run",
        "s",
        "Of two data flows, time from the start of the second to the end of the first bin from "
        f"which their throughputs over 10 s have an |asymmetry| of at most {FAIR_ASYMMETRY:g}.",
        "RFC 5166, section 2.5 (convergence)",
    ),
)

PACKET_DEFINITIONS: Mapping[str, PacketMetric] = types.MappingProxyType(
    {each.metric: each for each in _ALL}
)
"""Metric of a packet trace → its definition, in the order in which reports list them."""
