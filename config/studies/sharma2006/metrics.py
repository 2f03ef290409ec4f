"""Metrics of this study alone: of the tables and rankings that the thesis prints."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from bdpbench.metrics import FlowView, Group, Row, flow_metric, group_metric, rest_of

_THESIS = "Sharma (2006)"

# s; that of the times at 20 and 220 ms (time_to_90pct_utilization_kept).
_LEAST_STAY_S = 1.25


@flow_metric(
    unit="s",
    title="Time to 90 % of the BDP, one early loss, the crossing that lasts",
    text="Simulated time, from the start of the run, of the first cwnd sample after the first cut "
    "at or above 90 % of the nominal bandwidth-delay product that begins a stay there of at least "
    f"{_LEAST_STAY_S:g} s.",
    source=f"{_THESIS}, Table 1, column 3, read as the crossing that lasts",
    tables=("cwnd",),
    parameters=("bdp_pkts", "rtt_ms", "drop_packet"),
    version="013f57a28cee",
)
def time_to_90pct_cwnd_after_drop_kept(flow: FlowView) -> float | None:
    """Start of the first stay at 90 % of the BDP after the first cut, s."""
    first_cut = flow.cuts["cut_s"].head(1)
    if first_cut.is_empty():
        return None
    high = flow.cwnd.filter(pl.col("time_s") > first_cut[0]).select(
        "time_s", high=pl.col("cwnd_pkts") >= flow.full_pkts
    )
    stays = (
        high.group_by(pl.col("high").rle_id().alias("stretch"), maintain_order=True)
        .agg(pl.first("high"), start_s=pl.first("time_s"), end_s=pl.last("time_s"))
        # Samples are differences of decimal times: 1.25 s may come out a little less.
        .filter(pl.col("high") & (pl.col("end_s") - pl.col("start_s") >= _LEAST_STAY_S - 1e-9))
    )
    return None if stays.is_empty() else float(stays["start_s"][0])


_REACHED = "time_to_90pct_utilization_kept"
# Parameters that are derived from the swept one, or only set the length of observation.
_BESIDE_RTT = frozenset({"rtt_ms", "bottleneck_delay_ms", "buffer_pkts", "bdp_pkts", "duration_s"})
_BESIDE_DROP = frozenset({"drop_packet", "duration_s"})

Found = Iterator[tuple[Row, float | None]]


@group_metric(
    unit="s",
    title="Largest minus smallest RTT, time to 90 %",
    text=f"{_REACHED} at the largest RTT of the sweep minus that at the smallest RTT at "
    "which it has a value.",
    source=f"{_THESIS}, Table 1, column 8, and its footnote",
    metrics=(_REACHED,),
)
def rtt_border_difference(group: Group) -> Found:
    for largest, smallest in _borders(group):
        yield largest, largest.minus(smallest)


@group_metric(
    unit="s",
    title="Largest minus smallest RTT, time to the largest throughput",
    text="time_to_max_throughput at the largest RTT of the sweep minus that at the smallest RTT "
    f"at which {_REACHED} has a value.",
    source=f"{_THESIS}, section 4.5.3.4",
    metrics=(_REACHED, "time_to_max_throughput"),
)
def rtt_max_throughput_difference(group: Group) -> Found:
    times = {(row.run_id, row.scenario): row for row in group.rows_of("time_to_max_throughput")}
    for borders in _borders(group):
        late, early = (times.get((row.run_id, row.scenario)) for row in borders)
        if late is not None and early is not None:
            yield borders[0], late.minus(early)


def _borders(group: Group) -> Iterator[tuple[Row, Row]]:
    """For each sweep, the rows of its largest RTT and of the smallest that reached, if known.

    The smallest is known if all smaller RTTs were measured as well. If no RTT reached the level, it
    is the smallest of all.
    """
    for rows, points in group.sweeps_of(_REACHED, "rtt_ms", _BESIDE_RTT):
        measured = [row.at("rtt_ms") for row in rows]
        index = next((i for i, row in enumerate(rows) if row.value is not None), 0)
        known = measured[-1] == points[-1] and measured[: index + 1] == list(points[: index + 1])
        if known and index < len(rows) - 1:
            yield rows[-1], rows[index]


@group_metric(
    unit="s",
    title="Delay of the top of the ascent by one early loss",
    text="time_to_max_cwnd of the run with an enforced drop minus that of the run that is equal "
    "but for the drop.",
    source=f"{_THESIS}, sections 4.1.3.2 and 4.2.3.2",
    metrics=("time_to_max_cwnd",),
)
def drop_delay(group: Group) -> Found:
    return _delays(group, "time_to_max_cwnd", "time_to_max_cwnd")


@group_metric(
    unit="s",
    title="Delay of 90 % of the BDP by one early loss",
    text="time_to_90pct_cwnd_after_drop of the run with an enforced drop minus time_to_90pct_cwnd "
    "of the run that is equal but for the drop.",
    source=f"{_THESIS}, sections 4.3.3.2 and 4.4.3.2",
    metrics=("time_to_90pct_cwnd_after_drop", "time_to_90pct_cwnd"),
)
def drop_delay_90pct(group: Group) -> Found:
    return _delays(group, "time_to_90pct_cwnd_after_drop", "time_to_90pct_cwnd")


def _delays(group: Group, after: str, before: str) -> Found:
    without_drop: dict[str, Row] = {}
    for row in group.rows_of(before):
        if row.parameters.get("drop_packet") is None:
            key = rest_of(row.parameters, _BESIDE_DROP)
            # Of equal runs, the one that was long enough to see it.
            if key not in without_drop or without_drop[key].value is None:
                without_drop[key] = row
    for row in group.rows_of(after):
        other = without_drop.get(rest_of(row.parameters, _BESIDE_DROP))
        if row.parameters.get("drop_packet") is not None and other is not None:
            yield row, row.minus(other)
