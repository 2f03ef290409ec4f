"""Metrics of flows and of links: functions of the sums over a window, with a value per row.

Their meanings are in ``definitions.py``. The frames are those of ``PacketSums``: flows (after
``routes.with_shares``), links, receivers, nodes and energy; seconds is the length of the window. A
value is null if it cannot be determined from the trace, or there was nothing to measure.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import TypeAlias

import polars as pl

from bdpbench.metrics.fairness import tcp_friendly_rate

Measure: TypeAlias = Callable[[pl.DataFrame, float], pl.Series]

_BITS_TO_MEGABITS = 8e-6
_MS = 1e3
_LOST = pl.col("lost_pkts") + pl.col("vanished_pkts").fill_null(0)


def throughput(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """Throughput at the receiver, Mbit/s, from received_bytes.

    >>> throughput(pl.DataFrame({"received_bytes": [1_250_000]}), 2.0).to_list()  # 10 Mbit in 2 s
    [5.0]
    """
    return _rate(flows, "received_bytes", seconds)


def goodput(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """Goodput at the receiver, Mbit/s, from good_bytes: payload that arrived for the first time."""
    return _rate(flows, "good_bytes", seconds)


def sending_goodput(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """(sent - retransmitted)/time at the source, Mbit/s, from sent_bytes, retransmitted_bytes.

    >>> sent = pl.DataFrame({"sent_bytes": [3000], "retransmitted_bytes": [1000]})
    >>> sending_goodput(sent, 1.0).to_list()
    [0.016]
    """
    new_bytes = pl.col("sent_bytes") - pl.col("retransmitted_bytes")
    return _rate(flows.with_columns(new_bytes=new_bytes), "new_bytes", seconds)


def normalised_goodput(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """Goodput over the capacity of the tight link, from good_bytes and tight_mbps (Mbit/s)."""
    return goodput(flows, seconds) / flows["tight_mbps"]


def retransmissions(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """Retransmitted packets, from retransmitted_pkts."""
    return flows["retransmitted_pkts"].cast(pl.Float64)


def retransmission_rate(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """Share of sent packets that are retransmissions, from retransmitted_pkts, sent_pkts."""
    return _ratio(flows, pl.col("retransmitted_pkts"), pl.col("sent_pkts"))


def packet_loss_rate(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """Share of sent packets that never arrived, from lost_pkts, vanished_pkts, sent_pkts.

    >>> counts = {"lost_pkts": [2, 0], "vanished_pkts": [1, None], "sent_pkts": [200, 0]}
    >>> lost = pl.DataFrame(counts)
    >>> packet_loss_rate(lost, 1.0).to_list()
    [0.015, None]
    """
    return _ratio(flows, _LOST, pl.col("sent_pkts"))


def packet_delivery_ratio(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """Packets received whose sending is known over packets sent, from delays, sent_pkts.

    None if received_pkts is.

    >>> counts = {"received_pkts": [3, 0, None], "delays": [3, 0, 0], "sent_pkts": [4, 5, 4]}
    >>> packet_delivery_ratio(pl.DataFrame(counts), 1.0).to_list()
    [0.75, 0.0, None]
    """
    delivered = pl.when(pl.col("received_pkts").is_not_null()).then("delays")
    return _ratio(flows, delivered, pl.col("sent_pkts"))


def lifetime_throughput(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """Throughput from first_sent_s to last_received_s (s), Mbit/s, from received_bytes.

    >>> times = {"first_sent_s": [1.0], "last_received_s": [3.0], "received_bytes": [1_250_000]}
    >>> lifetime_throughput(pl.DataFrame(times), 100.0).to_list()
    [5.0]
    """
    life_s = pl.col("last_received_s") - pl.col("first_sent_s")
    return _ratio(flows, _BITS_TO_MEGABITS * pl.col("received_bytes"), life_s)


def slow_start_duration(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """Time in s to the first retransmission, from slow_start_end_s, started_s."""
    return flows["slow_start_end_s"] - flows["started_s"]


def slow_start_loss_rate(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """Share of slow start's packets that were dropped, from slow_start_drops, slow_start_pkts."""
    return _ratio(flows, pl.col("slow_start_drops"), pl.col("slow_start_pkts"))


def one_way_delay(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """Mean one-way delay, ms, from delay_sum_s (s), delays."""
    return _ratio(flows, _MS * pl.col("delay_sum_s"), pl.col("delays"))


def max_one_way_delay(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """Largest one-way delay, ms, from delay_max_s (s)."""
    return _MS * flows["delay_max_s"]


def delay_variation(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """Mean packet delay variation, ms, from delay_sum_s, delay_min_s (s), delays.

    >>> delays = pl.DataFrame({"delay_sum_s": [0.9], "delays": [3], "delay_min_s": [0.2]})
    >>> round(delay_variation(delays, 1.0)[0], 9)  # 0.2, 0.3 and 0.4 s: 0, 100 and 200 ms
    100.0
    """
    return one_way_delay(flows, seconds) - _MS * flows["delay_min_s"]


def jitter(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """RFC 3550's interarrival jitter, ms, from jitter_s (s)."""
    return _MS * flows["jitter_s"]


def mean_jitter(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """Mean absolute change of the delay, ms, from delay_step_sum_s (s), delay_steps."""
    return _ratio(flows, _MS * pl.col("delay_step_sum_s"), pl.col("delay_steps"))


def rtt(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """Mean round-trip time, ms, from rtt_sum_s (s), rtts."""
    return _ratio(flows, _MS * pl.col("rtt_sum_s"), pl.col("rtts"))


def max_rtt(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """Largest round-trip time, ms, from rtt_max_s (s)."""
    return _MS * flows["rtt_max_s"]


def response_time(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """Time from the first packet sent to the last received, s: last_received_s - first_sent_s."""
    return flows["last_received_s"] - flows["first_sent_s"]


def hop_count(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """Mean number of hops, from hop_sum, hop_pkts (wireless) or route_pkts, sent_pkts (wired).

    >>> hops = {"hop_sum": [6, None, 1], "hop_pkts": [2, None, 1]}
    >>> hops |= {"route_pkts": [0, 9, 1], "sent_pkts": [2, 3, 1]}
    >>> hop_count(pl.DataFrame(hops), 1.0).to_list()
    [3.0, 3.0, None]
    """
    by_radio, on_wires = pl.col("hop_pkts") > 0, pl.col("route_pkts") > 0
    mean = (
        pl.when(by_radio & ~on_wires)
        .then(pl.col("hop_sum") / pl.col("hop_pkts"))
        .when(on_wires & by_radio.is_null() & (pl.col("sent_pkts") > 0))
        .then(pl.col("route_pkts") / pl.col("sent_pkts"))
    )
    return flows.select(mean.alias("hop_count")).to_series()


def path_length(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """Most hops (hop_max), or links of the route (route_links); None if a flow has both."""
    by_radio, on_wires = pl.col("hop_pkts") > 0, pl.col("route_links") > 0
    length = (
        pl.when(by_radio & ~on_wires)
        .then("hop_max")
        .when(on_wires & by_radio.is_null())
        .then("route_links")
    )
    return flows.select(length.cast(pl.Float64).alias("path_length")).to_series()


def route_changes(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """Number of route changes, from route_changes."""
    return flows["route_changes"].cast(pl.Float64)


def longest_gap(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """Largest time between two arrivals, s, from longest_gap_s."""
    return flows["longest_gap_s"]


def receiver_throughput(receivers: pl.DataFrame, seconds: float) -> pl.Series:
    """Throughput at one receiver of a group, Mbit/s, from received_bytes."""
    return _rate(receivers, "received_bytes", seconds)


def receiver_delivery_ratio(receivers: pl.DataFrame, seconds: float) -> pl.Series:
    """Share of the source's packets that arrived at one receiver, from received_pkts, sent_pkts."""
    return _ratio(receivers, pl.col("received_pkts"), pl.col("sent_pkts"))


def receiver_delay(receivers: pl.DataFrame, seconds: float) -> pl.Series:
    """Mean one-way delay to one receiver of a group, ms, from delay_sum_s (s), delays."""
    return one_way_delay(receivers, seconds)


def receiver_max_delay(receivers: pl.DataFrame, seconds: float) -> pl.Series:
    """Largest one-way delay to one receiver of a group, ms, from delay_max_s (s)."""
    return max_one_way_delay(receivers, seconds)


def node_sent(nodes: pl.DataFrame, seconds: float) -> pl.Series:
    """Packets that a layer of a node sent, from sent_pkts."""
    return nodes["sent_pkts"].cast(pl.Float64)


def node_received(nodes: pl.DataFrame, seconds: float) -> pl.Series:
    """Packets that a layer of a node received, from received_pkts."""
    return nodes["received_pkts"].cast(pl.Float64)


def node_forwarded(nodes: pl.DataFrame, seconds: float) -> pl.Series:
    """Packets that a layer of a node forwarded, from forwarded_pkts."""
    return nodes["forwarded_pkts"].cast(pl.Float64)


def node_dropped(nodes: pl.DataFrame, seconds: float) -> pl.Series:
    """Packets that a layer of a node dropped, from dropped_pkts."""
    return nodes["dropped_pkts"].cast(pl.Float64)


def remaining_energy(energy: pl.DataFrame, seconds: float) -> pl.Series:
    """Energy left, J, from last_j."""
    return energy["last_j"]


def spent_energy(energy: pl.DataFrame, seconds: float) -> pl.Series:
    """Energy spent, J, from first_j, last_j."""
    return energy["first_j"] - energy["last_j"]


def max_min_share(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """Max-min fair share, Mbit/s, from max_min_mbps."""
    return flows["max_min_mbps"]


def tcp_friendliness(flows: pl.DataFrame, seconds: float) -> pl.Series:
    """Throughput over that of a conforming TCP with the same RTT, packet size and loss rate."""
    rows = flows.select(
        x=throughput(flows, seconds),
        size=pl.col("sent_bytes") / pl.col("sent_pkts"),
        rtt_s=rtt(flows, seconds) / _MS,
        loss=packet_loss_rate(flows, seconds),
    ).iter_rows()
    values = [
        x / tcp_friendly_rate(size, rtt_s, loss) if x is not None and rtt_s and loss else None
        for x, size, rtt_s, loss in rows
    ]
    return pl.Series(values, dtype=pl.Float64)


def link_throughput(links: pl.DataFrame, seconds: float) -> pl.Series:
    """Throughput of a link, Mbit/s, from departed_bytes."""
    return _rate(links, "departed_bytes", seconds)


def link_utilization(links: pl.DataFrame, seconds: float) -> pl.Series:
    """Throughput over capacity of a link, from departed_bytes, capacity_mbps (Mbit/s)."""
    return link_throughput(links, seconds) / links["capacity_mbps"]


def link_capacity(links: pl.DataFrame, seconds: float) -> pl.Series:
    """Capacity of a link, Mbit/s, from capacity_mbps."""
    return links["capacity_mbps"]


def link_loss_rate(links: pl.DataFrame, seconds: float) -> pl.Series:
    """Share of the packets arriving at a link that were dropped, from dropped_pkts, came_pkts.

    None if ``shared``: a LAN drops a copy of a packet at each station other than its receiver.
    """
    return _ratio(links, pl.when(~pl.col("shared")).then("dropped_pkts"), pl.col("came_pkts"))


def mean_queue_length(links: pl.DataFrame, seconds: float) -> pl.Series:
    """Mean length of a queue over time, packets, from length_area (packets · s)."""
    return _over(links["length_area"], seconds).clip(0.0)


def max_queue_length(links: pl.DataFrame, seconds: float) -> pl.Series:
    """Largest number of packets in a queue, from longest_pkts."""
    return links["longest_pkts"].cast(pl.Float64)


def queueing_delay(links: pl.DataFrame, seconds: float) -> pl.Series:
    """Mean time in a queue, ms, from wait_sum_s (s), departed_pkts."""
    return _ratio(links, _MS * pl.col("wait_sum_s"), pl.col("departed_pkts"))


def max_queueing_delay(links: pl.DataFrame, seconds: float) -> pl.Series:
    """Largest time in a queue, ms, from wait_max_s (s)."""
    return _MS * links["wait_max_s"]


def _by_name(*measures: Measure) -> Mapping[str, Measure]:
    return types.MappingProxyType({each.__name__: each for each in measures})


FLOW_MEASURES = _by_name(
    throughput,
    goodput,
    sending_goodput,
    normalised_goodput,
    retransmissions,
    retransmission_rate,
    packet_loss_rate,
    packet_delivery_ratio,
    lifetime_throughput,
    slow_start_duration,
    slow_start_loss_rate,
    one_way_delay,
    max_one_way_delay,
    delay_variation,
    jitter,
    mean_jitter,
    rtt,
    max_rtt,
    response_time,
    hop_count,
    path_length,
    route_changes,
    longest_gap,
    max_min_share,
    tcp_friendliness,
)
"""Metric of a flow → the function that measures it."""


def total_measures(flows: pl.DataFrame, seconds: float) -> dict[str, float | None]:
    """Metric of all flows together → its value, computed for one flow with their sums.

    >>> one = {name: [1, 1] for name in SUMMED}
    >>> total_measures(pl.DataFrame(one), 1.0)["total_packet_delivery_ratio"]
    1.0
    """
    # A sum with an unknown part is unknown.
    sums = flows.select(
        pl.when(pl.col(name).is_not_null().all() | pl.lit(name in _PARTIAL))
        .then(pl.col(name).sum())
        .alias(name)
        for name in SUMMED
    )
    measures = (throughput, goodput, packet_loss_rate, packet_delivery_ratio, one_way_delay)
    return {f"total_{each.__name__}": each(sums, seconds)[0] for each in measures}


SUMMED = (
    *("sent_pkts", "received_pkts", "received_bytes", "good_bytes"),
    *("lost_pkts", "vanished_pkts", "delays", "delay_sum_s"),
)
"""Columns of flows that are summed for the network."""

_PARTIAL = ("vanished_pkts", "delay_sum_s")

LINK_MEASURES = _by_name(
    link_throughput,
    link_utilization,
    link_capacity,
    link_loss_rate,
    mean_queue_length,
    max_queue_length,
    queueing_delay,
    max_queueing_delay,
)
"""Metric of a link → the function that measures it."""

RECEIVER_MEASURES = _by_name(
    receiver_throughput, receiver_delivery_ratio, receiver_delay, receiver_max_delay
)
"""Metric of a multicast receiver → the function that measures it."""

NODE_MEASURES = _by_name(node_sent, node_received, node_forwarded, node_dropped)
"""Metric of a layer of a node → the function that measures it."""

ENERGY_MEASURES = _by_name(remaining_energy, spent_energy)
"""Metric of the energy of a node → the function that measures it."""


def _rate(frame: pl.DataFrame, column: str, seconds: float) -> pl.Series:
    return _over(_BITS_TO_MEGABITS * frame[column].cast(pl.Float64), seconds)


def _over(values: pl.Series, seconds: float) -> pl.Series:
    """Values per second; null in a window without length."""
    return values / (seconds if seconds > 0 else None)


def _ratio(frame: pl.DataFrame, part: pl.Expr, whole: pl.Expr) -> pl.Series:
    return frame.select(pl.when(whole > 0).then(part / whole).alias("ratio"))["ratio"]
