"""All metrics of a packet trace as rows, from the sums over its window."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from bdpbench.later import Schema, pl
from bdpbench.metrics.definition import CONVERGENCE_WINDOW_S, FAIR_ASYMMETRY
from bdpbench.metrics.fairness import (
    asymmetry,
    convergence_time,
    jain_index,
    max_min_shares,
    normalised_jain_index,
    throughput_ratio,
)
from bdpbench.metrics.packets.definitions import (
    PACKET_DEFINITIONS,
    PacketMetric,
    values_of,
)
from bdpbench.metrics.series import CUT_SHARE, PEAK_SHARE, first_time_at_least

if TYPE_CHECKING:
    from bdpbench.metrics.packets.totals import PacketSums

ROWS_SCHEMA = Schema(
    {
        "metric subject": "String",
        "value": "Float64",
        "unit": "String",
        "start_s end_s": "Float64",
        "definition": "String",
    }
)
"""Columns of the metrics of a trace: as in metrics.parquet, without run and scenario."""


_TOTALS = (
    *("throughput", "goodput", "packet_loss_rate", "packet_delivery_ratio", "one_way_delay"),
)
_SUMMED = (
    *("sent_pkts", "received_pkts", "received_bytes", "good_bytes"),
    *("lost_pkts", "vanished_pkts", "delays", "delay_sum_s"),
)
_PARTIAL = ("vanished_pkts", "delay_sum_s")
_SUMMED_ENERGY = ("remaining_energy", "spent_energy")
_ENERGY = (*_SUMMED_ENERGY, "depletion_time")
_TCP = "tcp"


_Value = tuple[str, str, "float | None"]
"""Metric, subject and value."""


def measure_packets(
    sums: PacketSums,
    flows: Collection[str] | None = None,
    links: Collection[str] | None = None,
    nodes: Collection[int] | None = None,
) -> pl.DataFrame:
    """Compute all metrics of a trace; ``PACKET_DEFINITIONS`` says what they mean.

    Args:
        sums: sums of the trace.
        flows: subjects of the flows to measure, and to compare with one another; all by default.
            Fair shares are always those among all flows.
        links: subjects of the links to measure; all by default.
        nodes: the nodes to measure; all by default.

    Returns:
        One row per metric and subject, in the order of the definitions: metric, subject ("flow:1",
        "link:0-1", "receiver:1>5", "node:3", "node:3/MAC", "node:3/MAC/COL", "drops:MAC/COL",
        "type:cbr", "type:cbr/AGT", "trace"), value (f64, null: unknown or not defined), unit,
        start_s, end_s (f64, s, the window, half-open), definition (its id).
    """
    data, used = with_shares(sums), sums.links
    if flows is not None:
        data = data.filter(pl.col("subject").is_in(list(flows)))
    if links is not None:
        used = used.filter(pl.col("subject").is_in(list(links)))
    receivers = sums.receivers.filter(pl.col("flow").is_in(data["subject"].implode()))
    is_whole = flows is None and links is None and nodes is None
    values = [
        *_by_row(data, _of("flow"), sums.seconds),
        *_by_row(receivers, _of("receiver"), sums.seconds),
        *_by_row(used, _of("link"), sums.seconds),
        *_of_nodes(sums, nodes),
        *(_by_row(sums.types, _of("type"), sums.seconds) if is_whole else ()),
        *_of_series(sums, data),
        *_of_all(sums, data),
    ]
    order = {metric: place for place, metric in enumerate(PACKET_DEFINITIONS)}
    rows = [
        (*each, definition.unit, sums.start_s, sums.end_s, definition.id)
        for each in sorted(values, key=lambda each: order[each[0]])
        for definition in [PACKET_DEFINITIONS[each[0]]]
    ]
    return pl.DataFrame(rows, schema=ROWS_SCHEMA, orient="row")


def _of(subject: str) -> list[PacketMetric]:
    """The metrics that are measured row by row, of a kind of subject."""
    found = PACKET_DEFINITIONS.values()
    return [each for each in found if each.subject == subject and each.measure is not None]


def _by_row(
    frame: pl.DataFrame, metrics: Iterable[PacketMetric], seconds: float
) -> Iterator[_Value]:
    if frame.is_empty():
        return
    names = frame["subject"].to_list()
    for values in values_of(metrics, frame, seconds):
        for name, value in zip(names, values.to_list(), strict=True):
            yield (values.name, name, value)


def _of_nodes(sums: PacketSums, chosen: Collection[int] | None) -> Iterator[_Value]:
    """What nodes did, their energy and their drops; drops of all nodes unless some are chosen."""
    nodes, energy, drops = (
        rows if chosen is None else rows.filter(pl.col("node").is_in(list(chosen)))
        for rows in (sums.nodes, sums.energy, sums.node_drops)
    )
    counts = [each for each in _of("node") if each.metric not in _ENERGY]
    yield from _by_row(nodes, counts, sums.seconds)
    yield from _by_row(energy, [PACKET_DEFINITIONS[name] for name in _ENERGY], sums.seconds)
    yield from _drops("node_drops", drops)
    if chosen is None:
        cause = pl.format("drops:{}/{}", "layer", pl.col("reason").fill_null("-"))
        yield from _drops("drops", sums.losses.with_columns(subject=cause))


def _drops(metric: str, rows: pl.DataFrame) -> Iterator[_Value]:
    """Drops of a layer for a reason, over all types of packets."""
    if rows.is_empty():
        return
    sums = rows.group_by("subject", maintain_order=True).agg(pl.col("dropped_pkts").sum())
    for subject, count in sums.iter_rows():
        yield (metric, subject, float(count))


def flow_bins(sums: PacketSums, subject: str) -> pl.DataFrame:
    """Throughput of a flow in all bins from the flow's first to the trace's last.

    Returns:
        time_s (f64, s, end of the bin), mbps (f64, Mbit/s), in the order of time.
    """
    own = sums.flow_series.filter(pl.col("subject") == subject).select("time_s", "mbps")
    return _on_grid(sums, own)


def _on_grid(sums: PacketSums, bins: pl.DataFrame) -> pl.DataFrame:
    if bins.is_empty():
        return bins
    # All series of a trace have the same bins.
    times = pl.concat([sums.flow_series["time_s"], sums.link_series["time_s"]]).unique().sort()
    grid = times.filter(times >= bins["time_s"][0]).to_frame()
    return grid.join(bins, on="time_s", how="left", maintain_order="left").fill_null(0.0)


def _of_series(sums: PacketSums, flows: pl.DataFrame) -> Iterator[_Value]:
    columns = ("subject", "tight_mbps", "first_sent_s", "first_drop_s")
    parts = sums.flow_series.select("subject", "time_s", "mbps").partition_by(
        "subject", as_dict=True, include_key=False
    )
    for name, tight_mbps, first_sent_s, first_drop_s in flows.select(columns).iter_rows():
        bins = parts.get((name,))
        if bins is not None:
            reached_s = time_to_share(bins, tight_mbps, first_sent_s)
            yield ("time_to_90pct_throughput", name, reached_s)
            recovery_s = recovery_after(bins, first_drop_s)
            yield ("throughput_recovery_time", name, recovery_s)


def time_to_share(
    bins: pl.DataFrame, capacity_mbps: float | None, since_s: float | None
) -> float | None:
    """Time in s from since_s to the end of the first bin at 90 % of a capacity or above.

    Args:
        bins: time_s (f64, s, end of the bin), mbps (f64, Mbit/s), in the order of time.
        capacity_mbps: Mbit/s.
        since_s: start of the time, s.
    """
    if capacity_mbps is None or since_s is None:
        return None
    reached_s = first_time_at_least(bins, "mbps", PEAK_SHARE * capacity_mbps)
    return None if reached_s is None else reached_s - since_s


def recovery_after(bins: pl.DataFrame, loss_s: float | None) -> float | None:
    """Time in s from a loss to the end of the first bin that is back at the earlier throughput.

    This means at least 95 % of the largest bin that ended by the time of the loss, after a bin
    below that.

    Args:
        bins: time_s (f64, s, end of the bin), mbps (f64, Mbit/s), in the order of time.
        loss_s: time of the loss, s.

    >>> bins = pl.DataFrame({"time_s": [1.0, 2.0, 3.0, 4.0], "mbps": [9.0, 10.0, 4.0, 9.8]})
    >>> recovery_after(bins, 2.5)
    1.5
    """
    if loss_s is None:
        return None
    before = bins.filter(pl.col("time_s") <= loss_s)["mbps"].max()
    if not isinstance(before, float) or before <= 0:
        return None
    level_mbps = CUT_SHARE * before
    later = bins.filter(pl.col("time_s") > loss_s)
    fallen = later.filter((pl.col("mbps") < level_mbps).cum_max())
    back_s = first_time_at_least(fallen, "mbps", level_mbps)
    return None if back_s is None else back_s - loss_s


def _together(flows: pl.DataFrame) -> pl.DataFrame:
    """All flows as one, with their sums; a sum with an unknown part is unknown."""
    return flows.select(
        pl.when(pl.col(name).is_not_null().all() | pl.lit(name in _PARTIAL))
        .then(pl.col(name).sum())
        .alias(name)
        for name in _SUMMED
    )


def _of_all(sums: PacketSums, flows: pl.DataFrame) -> Iterator[_Value]:
    rates = PACKET_DEFINITIONS["throughput"].of(flows, sums.seconds).to_list()
    if rates:
        measured = [PACKET_DEFINITIONS[name] for name in _TOTALS]
        for total in values_of(measured, _together(flows), sums.seconds):
            yield (f"total_{total.name}", "trace", total[0])
    yield from _of_network(sums)
    yield from _of_rates(rates, flows["started_s"].to_list())
    if len(rates) > 1:
        shares = flows["max_min_mbps"].to_list()
        yield ("max_min_fairness_index", "trace", normalised_jain_index(rates, shares))
    if len(rates) == 2:
        yield from _of_two(sums, flows.sort("started_s", maintain_order=True))


def _of_rates(rates: Sequence[float | None], started_s: Sequence[float | None]) -> Iterator[_Value]:
    """How flows share the network, from their throughputs and starts."""
    if len(rates) > 1:
        yield ("fairness_index", "trace", jain_index(rates))
    if len(rates) == 2:
        in_order = sorted(
            (0, 1), key=lambda each: (started_s[each] is not None, started_s[each] or 0)
        )
        first, second = (rates[each] for each in in_order)
        yield ("throughput_asymmetry", "trace", asymmetry(first, second))
        yield ("throughput_ratio", "trace", throughput_ratio(first, second))


def _of_network(sums: PacketSums) -> Iterator[_Value]:
    """Routing and energy of all nodes; none if the trace has no such lines."""
    if sums.routing_pkts is not None and sums.routing_bytes is not None:
        received = int(data_flows(sums)["received_pkts"].sum())
        load = sums.routing_pkts / received if received else None
        yield ("routing_overhead", "trace", float(sums.routing_pkts))
        yield ("routing_overhead_bytes", "trace", float(sums.routing_bytes))
        yield ("normalised_routing_load", "trace", load)
    if sums.energy.height:
        for name in _SUMMED_ENERGY:
            total = float(PACKET_DEFINITIONS[name].of(sums.energy, sums.seconds).sum())
            yield (f"total_{name}", "trace", total)
        dead_s = sums.energy["dead_s"].drop_nulls().to_list()
        yield ("nodes_with_energy", "trace", float(sums.energy.height - len(dead_s)))
        yield ("network_lifetime", "trace", min(dead_s, default=None))
        yield ("last_depletion_time", "trace", max(dead_s, default=None))


def _of_two(sums: PacketSums, flows: pl.DataFrame) -> Iterator[_Value]:
    one, two = (flow_bins(sums, name) for name in flows["subject"])
    start_s = flows["started_s"][1]
    if start_s is not None and one.height and two.height:
        fair_s = convergence_time(one, two, start_s, CONVERGENCE_WINDOW_S, FAIR_ASYMMETRY)
        yield ("throughput_convergence_time", "trace", fair_s)


def routes_of(sums: PacketSums) -> dict[str, list[str]]:
    """Data flow → the links that its packets entered, in the order of its first packet."""
    rows = sums.link_flows.sort("first_s", maintain_order=True)
    routes: dict[str, list[str]] = {name: [] for name in data_flows(sums)["subject"]}
    for flow, link in rows.select("flow", "link").iter_rows():
        if flow in routes:
            routes[flow].append(link)
    return routes


def data_flows(sums: PacketSums) -> pl.DataFrame:
    """The rows of ``sums.flows`` that carry data: neither ACKs nor packets without numbers."""
    return sums.flows.filter(pl.col("kind") == "data")


def with_shares(sums: PacketSums) -> pl.DataFrame:
    """The data flows with tight_mbps (capacity of the tight link) and max_min_mbps, Mbit/s."""
    flows, routes = data_flows(sums), routes_of(sums)
    capacities = {
        link: mbps
        for link, mbps in sums.links.select("subject", "capacity_mbps").iter_rows()
        if mbps is not None
    }
    shares = max_min_shares(routes, capacities, _demands(flows, sums.seconds))
    names = flows["subject"].to_list()
    return flows.with_columns(
        pl.Series("tight_mbps", _tight(names, routes, capacities), dtype=pl.Float64),
        pl.Series("max_min_mbps", [shares[name] for name in names], dtype=pl.Float64),
    )


def _tight(
    flows: Sequence[str], routes: Mapping[str, Sequence[str]], capacities: Mapping[str, float]
) -> list[float | None]:
    return [
        min((capacities[link] for link in routes[flow] if link in capacities), default=None)
        for flow in flows
    ]


def _demands(flows: pl.DataFrame, seconds: float) -> dict[str, float]:
    """Rates at which non-TCP flows send, Mbit/s; TCP flows have no demand."""
    rows = flows.filter((pl.col("type") != _TCP) & pl.col("sent_bytes").is_not_null()).select(
        "subject", "sent_bytes"
    )
    return {name: 8e-6 * size / seconds for name, size in rows.iter_rows()} if seconds > 0 else {}
