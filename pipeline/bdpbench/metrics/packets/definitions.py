"""What each metric of a packet trace means, and how it follows from the sums over a window."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from bdpbench.later import pl
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


_SUBJECTS: tuple[Subject, ...] = ("flow", "receiver", "link", "node", "drops", "type", "run")

_PER_S = "per_window_s"
"""Column: one over the length of the window, 1/s; null for one without length."""

_QUEUEING = "RFC 5166, section 2.2 (queueing)"
_BROCH = "Broch, Maltz, Johnson, Hu and Jetcheva (1998), MobiCom, section 5"
_PATHS = f"{_BROCH} (path optimality)"
_JAIN = "Jain, Chiu and Hawe (1984), DEC-TR-301"
_TRACE_CC = "ns-2, trace/cmu-trace.cc and trace/trace.cc"
_ENERGY = "ns-2, mobile/energy-model.h"
_LIFETIME = "Dietrich and Dressler (2009), ACM TOSN 5(1), section 4 (lifetime by living nodes)"
_LOAD = "Das, Perkins and Royer (2000), INFOCOM, section 4 (normalized routing load)"
_AT_ENDS = "at its source or receiver; of a layer, by that layer of all wireless nodes"
_RATES = "RFC 5166, section 2.1"
_LOSS = "RFC 7680; RFC 5166, section 2.3"
_DELAY = "RFC 7679; RFC 5166, section 2.2"
_NETWORK = "RFC 5166, section 2.1, of the network"
_MBIT, _MS = 8e-6, 1e3
Number = TypeVar("Number", float, "pl.Expr")


def _number(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.Float64)


def per_second(seconds: float) -> float | None:
    """One over the length of a window, 1/s; None for one without length."""
    return 1 / seconds if seconds > 0 else None


def mbps_of(size: Number, per_s: Number) -> Number:
    """Bytes in a window as Mbit/s, from one over its length (1/s)."""
    return _MBIT * size * per_s


def _rate(of_bytes: str | pl.Expr) -> pl.Expr:
    """Bytes in the window as Mbit/s."""
    size = pl.col(of_bytes) if isinstance(of_bytes, str) else of_bytes
    return mbps_of(size.cast(pl.Float64), pl.col(_PER_S))


def _ratio(part: str | pl.Expr, whole: str | pl.Expr) -> pl.Expr:
    """Part over whole; null where there is no whole."""
    one, other = (pl.col(each) if isinstance(each, str) else each for each in (part, whole))
    return pl.when(other > 0).then(one / other)


def _friendliness_of(flow: Mapping[str, float | None]) -> float | None:
    x, size, rtt_s, loss = (flow[name] for name in ("x", "size", "rtt_s", "loss"))
    if x is None or size is None or not rtt_s or not loss:
        return None
    return x / tcp_friendly_rate(size, rtt_s, loss)


def _life_s() -> pl.Expr:
    return pl.col("last_received_s") - pl.col("first_sent_s")


def _delay_ms() -> pl.Expr:
    return _ratio(_MS * pl.col("delay_sum_s"), "delays")


def _rtt_ms() -> pl.Expr:
    return _ratio(_MS * pl.col("rtt_sum_s"), "rtts")


def _loss_rate() -> pl.Expr:
    return _ratio(pl.col("lost_pkts") + pl.col("vanished_pkts").fill_null(0), "sent_pkts")


def _of_paths(by_radio: pl.Expr, on_wires: pl.Expr) -> pl.Expr:
    """A value of wireless nodes, or one of links; null where packets took both."""
    radio, wires = pl.col("hop_pkts") > 0, pl.col("route_pkts") > 0
    of_either = pl.when(radio & ~wires).then(by_radio).when(wires & radio.is_null())
    return of_either.then(on_wires).cast(pl.Float64)


def _friendliness() -> pl.Expr:
    return pl.struct(
        x=_rate("received_bytes"),
        size=pl.col("sent_bytes") / pl.col("sent_pkts"),
        rtt_s=_rtt_ms() * (1 / _MS),
        loss=_loss_rate(),
    ).map_elements(_friendliness_of, return_dtype=pl.Float64)


@dataclass(frozen=True, kw_only=True)
class PacketMetric(Definition):
    """A metric of a packet trace.

    Attributes:
        measure: its value of each flow, link, receiver or node, from the columns of ``PacketSums``
            (flows after ``with_shares``) and per_window_s (1/s): null if the trace does not tell
            it, or there was nothing to measure. None for what is measured otherwise.
        heading: its column in a table for a terminal, where those with % show shares; of the trace
            the words of a line, or with {} of the line of all flows. "" for what is not shown.
    """

    title: str = ""
    heading: str = ""
    measure: Callable[[], pl.Expr] | None = None

    def of(self, rows: pl.DataFrame, seconds: float) -> pl.Series:
        """Its values in a window of a length."""
        return values_of([self], rows, seconds)[self.metric]


def values_of(metrics: Iterable[PacketMetric], rows: pl.DataFrame, seconds: float) -> pl.DataFrame:
    """Values of metrics of rows in a window of a length: a column for each metric."""
    per_s = pl.lit(per_second(seconds), pl.Float64).alias(_PER_S)
    measures = {each.metric: each.measure() for each in metrics if each.measure is not None}
    return rows.with_columns(per_s).select(**measures)


def _define(
    subject: Subject,
    metric: str,
    unit: str,
    source: str,
    measure: Callable[[], pl.Expr] | str | None = None,
    version: int = 1,
    heading: str = "",
) -> Callable[[str], PacketMetric]:
    """Everything about a metric but its text, which follows; a measure may be a column."""
    measure = functools.partial(_number, measure) if isinstance(measure, str) else measure
    told: dict[str, Any] = {"unit": unit, "source": source, "measure": measure}
    told |= {"version": version, "heading": heading}
    return lambda text: PacketMetric(metric=metric, subject=subject, text=text, **told)


_flow, _receiver, _link, _node, _drops, _type, _run = (
    functools.partial(_define, subject) for subject in _SUBJECTS
)
_OF_NODES = {
    "sent": "sent in the window: s lines of a wireless node; on wires + lines at links of the node "
    "that is the packet's source.",
    "received": "received in the window: r lines of a wireless node; on wires packets received at "
    "their destination, and copies of packets to a group.",
    "forwarded": "sent on in the window: f lines of a wireless node; on wires + lines at links of "
    "a node that is not the packet's source.",
    "dropped": "dropped in the window: D or d lines of a wireless node; on wires d and e lines at "
    "links that begin at it. A packet can be dropped more than once, and be delivered all the "
    "same.",
}
_ALL = (
    _flow("throughput", "Mbit/s", _RATES, lambda: _rate("received_bytes"), heading="Mbit/s")(
        "Bytes of the flow received in the window, headers and retransmissions included, over the "
        f"window's length. A packet is {_RECEIVED}. {_ONCE} {_WIRE}"
    ),
    _flow("goodput", "Mbit/s", _RATES, lambda: _rate("good_bytes"), heading="goodput")(
        "Payload that the receiver got for the first time in the window, over the window's length: "
        "(received - duplicates)/time, without the 40 bytes of TCP and IP headers. A number "
        "received before is a duplicate; of agents that number bytes (FullTcp), any number that "
        "is not above the highest so far."
    ),
    _flow(
        "sending_goodput",
        "Mbit/s",
        "RFC 5166, section 2.1, at the sender",
        lambda: _rate(pl.col("sent_bytes") - pl.col("retransmitted_bytes")),
    )(
        "(sent - retransmitted)/time at the source, bytes with headers in the window over the "
        f"window's length. {_SENT}."
    ),
    _flow("normalised_goodput", "1", _RATES, lambda: _rate("good_bytes") / pl.col("tight_mbps"))(
        f"goodput over the capacity of {_TIGHT}."
    ),
    _flow(
        "retransmissions",
        "packets",
        "ns-2, tcp.cc (nrexmitpack_)",
        "retransmitted_pkts",
        heading="resent",
    )(
        "Packets sent in the window whose number is not above the highest that their source has "
        "sent, which is what ns-2's agents count in nrexmitpack_. ACKs have none."
    ),
    _flow(
        "retransmission_rate",
        "1",
        "ns-2, tcp.cc (nrexmitpack_, ndatapack_)",
        lambda: _ratio("retransmitted_pkts", "sent_pkts"),
    )("retransmissions over all packets sent in the window."),
    _flow(
        "packet_loss_rate", "1", _LOSS, _loss_rate, version=2, heading="loss %"
    )(  # 1 counted drops
        "Packets of the flow that were sent in the window and never received, over all that were "
        "sent in it. A packet that was dropped somewhere is lost if it has not been received by "
        "the end of the trace, since a frame may be dropped beside its delivery; one that nobody "
        "dropped if it was sent longer before the end than the flow's largest one-way delay. "
        "Later ones are under way. "
        f"{_SENT}."
    ),
    _flow(
        "packet_delivery_ratio",
        "1",
        _BROCH,
        lambda: _ratio(pl.when(pl.col("received_pkts").is_not_null()).then("delays"), "sent_pkts"),
    )(
        "Packets of the flow received in the window, whose sending the trace holds, over those "
        "that it sent in it; packets that are under way at the window's ends count on one side "
        f"only. {_SENT}; it is {_RECEIVED}. {_ONCE}"
    ),
    _flow(
        "lifetime_throughput",
        "Mbit/s",
        "RFC 5166, section 2.1, over the flow's own time",
        lambda: _ratio(_MBIT * pl.col("received_bytes"), _life_s()),
    )(
        "Bytes of the flow received in the window over the time from its first packet sent to its "
        "last packet received, both in the window: what awk scripts over traces compute. "
        "throughput divides the same bytes by the window's length."
    ),
    _flow(
        "slow_start_duration",
        "s",
        "RFC 5681, section 3.1",
        lambda: pl.col("slow_start_end_s") - pl.col("started_s"),
    )(
        "Time from the flow's first packet to its first retransmission: until then its sender has "
        "seen no loss. Over the whole trace up to the window's end; no value without a "
        "retransmission."
    ),
    _flow(
        "slow_start_loss_rate",
        "1",
        "RFC 5166, section 2.3, over RFC 5681's slow start",
        lambda: _ratio("slow_start_drops", "slow_start_pkts"),
    )(
        "Of the packets that the flow sent before its first retransmission, the share that was "
        "dropped. Over the whole trace up to the window's end."
    ),
    _flow("one_way_delay", "ms", _DELAY, _delay_ms, heading="delay ms")(
        f"Mean time from a packet's sending to its arrival, of packets {_RECEIVED} in the window. "
        f"{_SENT}, so that the wait in the first queue counts."
    ),
    _flow("max_one_way_delay", "ms", "RFC 7679", lambda: _MS * pl.col("delay_max_s"))(
        "Largest one-way delay of a packet received in the window."
    ),
    _flow(
        "delay_variation",
        "ms",
        "RFC 5481, section 4.2 (PDV)",
        lambda: _delay_ms() - _MS * pl.col("delay_min_s"),
    )("Mean packet delay variation: one-way delay minus the least one-way delay in the window."),
    _flow(
        "jitter",
        "ms",
        "RFC 3550, section 6.4.1",
        lambda: _MS * pl.col("jitter_s"),
        heading="jitter ms",
    )(
        "Interarrival jitter at the window's end: J := J + (|D| - J)/16 at each arrival, where D "
        "is the difference of the one-way delays of two packets that arrive after one another."
    ),
    _flow(
        "mean_jitter",
        "ms",
        "RFC 5481, section 4.1 (IPDV), its mean size",
        lambda: _ratio(_MS * pl.col("delay_step_sum_s"), "delay_steps"),
    )(
        "Mean of |D| over the arrivals in the window, where D is the difference of the one-way "
        "delays of two packets that arrive after one another; jitter smooths the same |D|."
    ),
    _flow("rtt", "ms", "RFC 6298, section 3; Karn and Partridge (1987)", _rtt_ms, heading="RTT ms")(
        "Mean time from a data packet's sending to the arrival of the first ACK with its number at "
        "the source, of ACKs that arrive in the window. No sample of a packet sent more than once, "
        "nor of an ACK that covers one (Karn); with delayed ACKs only the last packet that an ACK "
        "covers gives a sample. Not for agents that number bytes (FullTcp)."
    ),
    _flow("max_rtt", "ms", "RFC 6298, section 3", lambda: _MS * pl.col("rtt_max_s"))(
        "Largest RTT sample in the window, taken as for rtt."
    ),
    _flow("response_time", "s", "RFC 5166, section 2.1 (transfer times)", _life_s)(
        "Time from the flow's first packet sent to its last packet received, both in the window: "
        "the response time of a page or object that is a flow of its own."
    ),
    _flow("time_to_90pct_throughput", "s", "Sharma (2006), Table 1, of throughput")(
        "Time from the flow's first packet sent to the end of the first bin in which its "
        f"throughput is at or above {PEAK_SHARE:.0%} of the capacity of {_TIGHT}; {_BINS}."
    ),
    _flow("throughput_recovery_time", "s", "RFC 5166, section 2.4 (response to changes)")(
        "Time from the flow's first loss in the window to the end of the first later bin in which "
        "its throughput is back at 95 % or more of the largest before the loss, having been "
        f"below that; {_BINS}."
    ),
    _flow(
        "max_min_share",
        "Mbit/s",
        "Bertsekas and Gallager, Data Networks, section 6.5.2; RFC 5166, section 2.3.1",
        "max_min_mbps",
        heading="fair Mbit/s",
    )(
        "Max-min fair share by progressive filling over the routes of all data flows and the known "
        "capacities of their links: all rates rise together, and a flow stops where a link is "
        "full. Flows that are not TCP want no more than they send."
    ),
    _flow("tcp_friendliness", "1", "RFC 5348, section 3.1", _friendliness)(
        "throughput over the rate of a conforming TCP with the flow's mean packet size, mean RTT "
        "and packet loss rate, by the TCP throughput equation with t_RTO = 4 RTT and b = 1. The "
        "loss rate is taken for the loss event rate, so that losses in bursts count more."
    ),
    _flow(
        "hop_count",
        "hops",
        _PATHS,
        lambda: _of_paths(
            pl.col("hop_sum") / pl.col("hop_pkts"), _ratio("route_pkts", "sent_pkts")
        ),
        heading="hops",
    )(
        "Mean number of hops of a packet. Where lines of wireless nodes tell the hops of a packet "
        "(tcp and cbr), of the packets received in the window. On wires the times that packets of "
        "the flow entered a traced link over the packets sent, so that a lost packet counts with "
        "the links that it came to. No value where a flow has both kinds of hops."
    ),
    _flow(
        "path_length",
        "hops",
        _PATHS,
        lambda: _of_paths(pl.col("hop_max"), pl.col("route_links")),
    )(
        "Most hops of a packet received in the window, as lines of wireless nodes tell them. On "
        "wires the number of traced links that packets of the flow entered, which is the length of "
        "its path as long as its route does not change."
    ),
    _flow("route_changes", "changes", "definition of bdpbench", "route_changes")(
        "How often in the window a node sent a packet of the flow to another next node than the "
        "packet of the flow before it: the far end of the link that the packet entered or, on a "
        "wireless node, the next hop of what its router sent or forwarded (s and f at RTR). A flow "
        "that takes several ways in turn changes all the time; one to a group or to all has none."
    ),
    _flow(
        "longest_gap",
        "s",
        "Koodli, RFC 5568, section 1 (handover latency), at the receiver",
        "longest_gap_s",
        heading="gap s",
    )(
        "Largest time between two packets of the flow that arrive after one another in the window. "
        "Of a flow that sends all the time it is how long its longest handover or route break "
        "kept packets away."
    ),
    _receiver(
        "receiver_throughput",
        "Mbit/s",
        "RFC 5166, section 2.1, at each receiver",
        lambda: _rate("received_bytes"),
        heading="Mbit/s",
    )(
        "Bytes of a flow to a group or to all that came to the node in the window, over the "
        "window's length. A packet has come to a node with an r line there (wireless: r at AGT), "
        "and counts once at each node. A wired node that sends the packet on is a receiver too, "
        "since links do not show who has joined the group."
    ),
    _receiver(
        "receiver_delivery_ratio",
        "1",
        "packet_delivery_ratio, at each receiver",
        lambda: _ratio("received_pkts", "sent_pkts"),
        heading="delivered %",
    )(
        "Packets of a flow to a group or to all that came to the node in the window over those "
        "that the flow's source sent in it."
    ),
    _receiver("receiver_delay", "ms", "RFC 7679, at each receiver", _delay_ms, heading="delay ms")(
        "Mean time from the sending of a packet to a group or to all to its coming to the node."
    ),
    _receiver(
        "receiver_max_delay",
        "ms",
        "RFC 7679, at each receiver",
        lambda: _MS * pl.col("delay_max_s"),
        heading="max ms",
    )("Largest time from the sending of a packet to a group or to all to its coming to the node."),
    _link("link_throughput", "Mbit/s", _RATES, lambda: _rate("departed_bytes"), heading="Mbit/s")(
        "Bytes that began their transmission over the link in the window (- lines), over the "
        f"window's length. {_WIRE}"
    ),
    _link(
        "link_utilization",
        "1",
        _RATES,
        lambda: _rate("departed_bytes") / pl.col("capacity_mbps"),
        heading="used %",
    )("link_throughput over the link's capacity, given or measured."),
    _link(
        "link_capacity",
        "Mbit/s",
        "definition of bdpbench",
        "capacity_mbps",
        heading="capacity",
    )(
        "Capacity as given, or else measured: bytes of packets that waited and were followed by "
        "one that had waited for them, over the time between the two departures. ns-2's times are "
        "rounded to 1 us, or 0.1 ms at satellites; known where the busy periods are long enough "
        "for an error below 0.5 %. A station's way onto a shared medium, a LAN or a satellite's "
        "channel, has none of its own unless it is given, nor has a node's way over satellites to "
        "one of several others."
    ),
    _link(
        "link_loss_rate",
        "1",
        "RFC 5166, section 2.3",
        lambda: _ratio(pl.when(~pl.col("shared")).then("dropped_pkts"), "came_pkts"),
        heading="loss %",
    )(
        "Packets dropped at the link in the window over those that came to it (+ lines, and drops "
        "of packets that never entered the queue). None for a shared medium, which drops a copy at "
        "each station that a packet is not for."
    ),
    _link(
        "mean_queue_length",
        "packets",
        _QUEUEING,
        lambda: (pl.col("length_area") * pl.col(_PER_S)).clip(0.0),
        heading="mean queue",
    )("Mean over time of the packets in the link's queue, without the one being transmitted."),
    _link("max_queue_length", "packets", _QUEUEING, "longest_pkts", heading="max")(
        "Most packets in the link's queue at any moment of the window. A packet that a full queue "
        "turns away was never in it; one that finds the link idle is in it for no time."
    ),
    _link(
        "queueing_delay",
        "ms",
        _QUEUEING,
        lambda: _ratio(_MS * pl.col("wait_sum_s"), "departed_pkts"),
        heading="wait ms",
    )("Mean time from a packet's + to its - line, of packets that left the queue in the window."),
    _link(
        "max_queueing_delay", "ms", _QUEUEING, lambda: _MS * pl.col("wait_max_s"), heading="max ms"
    )("Largest time from a packet's + to its - line, of packets that left in the window."),
    *(
        _node(f"node_{did}", "packets", _TRACE_CC, f"{did}_pkts", heading=did)(
            f"Packets that the layer of the node {text}"
        )
        for did, text in _OF_NODES.items()
    ),
    _drops("node_drops", "packets", "ns-2, trace/cmu-trace.h")(
        "node_dropped of one layer for one reason, as the trace names both."
    ),
    _drops("drops", "packets", "ns-2, trace/cmu-trace.h")(
        "Packets dropped in the window by all nodes, of one layer for one reason, as the trace "
        "names both; on links the queue or an error model."
    ),
    _node("remaining_energy", "J", _ENERGY, "last_j", heading="left J")(
        "Energy of the node at its last line in the window that tells it."
    ),
    _node(
        "spent_energy",
        "J",
        _ENERGY,
        lambda: pl.col("first_j") - pl.col("last_j"),
        heading="spent J",
    )("Energy of the node at its first line in the window that tells it less that at its last."),
    _node("depletion_time", "s", _ENERGY, "dead_s", heading="used up at s")(
        "Time of the first line in the window that tells that the node has no energy left; no "
        "value for a node that has some."
    ),
    _type("type_sent", "packets", _TRACE_CC, "sent_pkts", heading="sent")(
        f"Packets of the type sent in the window: {_AT_ENDS}."
    ),
    _type("type_received", "packets", _TRACE_CC, "received_pkts", heading="received")(
        f"Packets of the type received in the window: {_AT_ENDS}."
    ),
    _type("type_received_bytes", "bytes", _TRACE_CC, "received_bytes")(
        "Bytes of the packets that type_received counts, with all headers that the trace counts."
    ),
    _type("type_forwarded", "packets", _TRACE_CC, "forwarded_pkts", heading="forwarded")(
        "Packets of the type that the layer of wireless nodes sent on in the window (f lines)."
    ),
    _type("type_dropped", "packets", _TRACE_CC, "dropped_pkts", heading="dropped")(
        "Drops of packets of the type in the window, anywhere or by the layer; one packet can be "
        "dropped more than once, and be delivered all the same."
    ),
    _type(
        "type_delivery_ratio",
        "1",
        _BROCH,
        lambda: _ratio("delays", "sent_pkts"),
        heading="delivered %",
    )(
        "packet_delivery_ratio of all streams of the type together: packets received whose sending "
        "the trace holds over packets sent."
    ),
    _type("type_delay", "ms", _DELAY, _delay_ms, heading="delay ms")(
        "Mean one-way delay of the packets of the type, from their source to their receiver."
    ),
    _type("type_hop_count", "hops", _BROCH, lambda: _ratio("hop_sum", "hop_pkts"), heading="hops")(
        "Mean number of hops of the packets of the type that were received, where lines of "
        "wireless nodes tell it (tcp and cbr)."
    ),
    _type(
        "type_routing_load", "1", _LOAD, lambda: _ratio("routing_pkts", "data_pkts"), heading="load"
    )(
        "Of a type of packets of routing: how many of them routers (RTR) sent and forwarded, each "
        "hop counted, over the packets of data flows received in the window."
    ),
    _run("total_throughput", "Mbit/s", _NETWORK, heading="{} Mbit/s")(
        "Sum of throughput over all data flows."
    ),
    _run("total_goodput", "Mbit/s", _NETWORK, heading="{} Mbit/s goodput")(
        "Sum of goodput over all data flows."
    ),
    _run("total_packet_loss_rate", "1", _LOSS, heading="{} % lost")(
        "packet_loss_rate of all data flows together: packets lost over packets sent."
    ),
    _run("total_packet_delivery_ratio", "1", _BROCH, heading="{} % delivered")(
        "packet_delivery_ratio of all data flows together: packets received over packets sent."
    ),
    _run("total_one_way_delay", "ms", _DELAY, heading="{} ms mean delay")(
        "Mean one-way delay of the packets of all data flows, each packet counted alike."
    ),
    _run("routing_overhead", "packets", _BROCH, heading="routing overhead, packets")(
        "Packets of routing protocols sent in the window, each hop counted: s and f lines of "
        "routers (RTR) of wireless nodes, + lines of links. Packets of routing are those of the "
        f"types {', '.join(ROUTING_TYPES)} (message is DSDV's). No value where no line of a router "
        "or of such a packet is traced."
    ),
    _run("routing_overhead_bytes", "bytes", _BROCH, heading="routing overhead, bytes")(
        "Bytes of the packets that routing_overhead counts."
    ),
    _run(
        "normalised_routing_load",
        "1",
        _LOAD,
        heading="normalised routing load, routing packets per packet received",
    )("routing_overhead over the packets of data flows received in the window."),
    _run("total_remaining_energy", "J", _ENERGY, heading="energy left in all nodes, J")(
        "Sum of remaining_energy over all nodes."
    ),
    _run("total_spent_energy", "J", _ENERGY, heading="energy spent by all nodes, J")(
        "Sum of spent_energy over all nodes."
    ),
    _run("nodes_with_energy", "nodes", _ENERGY, heading="nodes with energy at the end")(
        "Nodes with an energy model that have energy left at the end of the window."
    ),
    _run("network_lifetime", "s", _LIFETIME, heading="first node without energy, s")(
        "The earliest depletion_time of all nodes: until then every node has energy (the n-of-n "
        "lifetime). No value if no node has used its energy up."
    ),
    _run("last_depletion_time", "s", _LIFETIME, heading="last node without energy, s")(
        "The latest depletion_time of all nodes; nodes that have energy left have none."
    ),
    _run(
        "fairness_index",
        "1",
        f"{_JAIN}; RFC 5166, section 2.3.1",
        heading="Jain's fairness index",
    )(
        "Jain's index of the throughputs x_i of the data flows: (sum x_i)^2/(n sum x_i^2), from "
        "1/n to 1 (fair)."
    ),
    _run(
        "max_min_fairness_index",
        "1",
        f"{_JAIN}, section on normalised allocations",
        heading="Jain's index of throughput over max-min fair share",
    )(
        "Jain's index of throughput over max_min_share, of the data flows: 1 where each flow gets "
        "the same part of its max-min fair share."
    ),
    _run(
        "throughput_asymmetry",
        "1",
        "Bullot, Cottrell and Hughes-Jones (2003)",
        heading="asymmetry (x1 - x2)/(x1 + x2)",
    )("(x1 - x2)/(x1 + x2) of the throughputs of two data flows, in the order of their start."),
    _run("throughput_ratio", "1", "RFC 5166, section 2.3", heading="throughput ratio x1/x2")(
        "x1/x2 of the throughputs of two data flows, in the order of their start."
    ),
    _run(
        "throughput_convergence_time",
        "s",
        "RFC 5166, section 2.5 (convergence)",
        heading="convergence time, s",
    )(
        "Of two data flows, time from the start of the second to the end of the first bin from "
        f"which their throughputs over 10 s have an |asymmetry| of at most {FAIR_ASYMMETRY:g}."
    ),
)

PACKET_DEFINITIONS: Mapping[str, PacketMetric] = types.MappingProxyType(
    {each.metric: each for each in _ALL}
)
"""Metric of a packet trace → its definition, in the order in which reports list them."""
