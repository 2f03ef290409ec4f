"""Metrics of this study alone: of the tables and rankings that the thesis prints."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

import polars as pl

from bdpbench.metrics import (
    FlowView,
    Group,
    LinkView,
    Row,
    RunView,
    Window,
    fairness,
    flow_metric,
    group_metric,
    link_metric,
    rest_of,
    run_metric,
    second_half,
)
from bdpbench.metrics.definition import CONVERGENCE_WINDOW_S, FAIR_ASYMMETRY, THESIS
from bdpbench.metrics.flows import after_first_full_peak, kept_shares
from bdpbench.metrics.series import (
    CUT_SHARE,
    MAX_SHARE,
    first_time_at_least,
    in_window,
    mean,
    median,
    nth,
    variation,
)

_STAY_S = 1.25
"""Time in s from which a stay at a level counts as one, and time below it that does not end one."""

_of_cuts = functools.partial(flow_metric, tables=("cwnd",), parameters=("rtt_ms",))
_of_full_cuts = functools.partial(flow_metric, tables=("cwnd",), parameters=("bdp_pkts", "rtt_ms"))


def _has_two_flows(run: RunView) -> bool:
    return len(run.flows("throughput")) == 2


_of_two_flows = functools.partial(
    run_metric, tables=("throughput",), parameters=("flow2_start_s",), when=_has_two_flows
)


@flow_metric(
    "s",
    "Time to 90 % of the BDP, one early loss",
    f"{THESIS}, Table 1, column 3, and section 4, experiment 2",
    tables=("cwnd",),
    parameters=("bdp_pkts", "rtt_ms", "drop_packet"),
    better="less",
    apart=0.05,
)
def time_to_90pct_cwnd_after_drop(flow: FlowView) -> float | None:
    """Simulated time, from the start of the run, of the first cwnd sample after the first cut
    {FULL}. {CUT}
    """
    cut_s = nth(flow.cuts["cut_s"], 0)
    if cut_s is None:
        return None
    later = flow.cwnd.filter(pl.col("time_s") > cut_s)
    return first_time_at_least(later, "cwnd_pkts", flow.full_pkts)


@_of_full_cuts("packets", "cwnd at the second full peak", f"{THESIS}, section 4.3.3.1")
def second_full_peak(flow: FlowView) -> float | None:
    """cwnd at the second peak {FULL}. {CUT}"""
    return nth(flow.full_cuts["peak_pkts"], 1)


@_of_cuts("1", "Share of cwnd kept at the first cut", f"{THESIS}, section 4.1.3.1")
def first_cut_ratio(flow: FlowView) -> float | None:
    """cwnd after the first cut divided by its peak. {CUT}"""
    return nth(kept_shares(flow.cuts), 0)


@_of_cuts("1", "Share of cwnd kept at the second cut", f"{THESIS}, section 4.6.3.1")
def second_cut_ratio(flow: FlowView) -> float | None:
    """cwnd after the second cut divided by its peak. {CUT}"""
    return nth(kept_shares(flow.cuts), 1)


@_of_full_cuts(
    "%", "Growth of cwnd in an RTT", f"{THESIS}, Table 3: whether the increase parameter is fixed"
)
def growth_per_rtt(flow: FlowView) -> float | None:
    """Median growth of cwnd in a nominal RTT, as if it were exponential, of the ascents between
    cuts {AFTER_FIRST_FULL_PEAK}. {CUT}
    """
    return median(_growths_per_rtt(after_first_full_peak(flow), flow.rtt_s))


@_of_cuts(
    "s",
    "Time back to the first peak",
    f"{THESIS}, section 1.2, on Figures 2 and 3",
    better="less",
    apart=0.05,
)
def time_back_to_first_peak(flow: FlowView) -> float | None:
    """Time from the first cut to the first later cwnd sample at or above 95 % of that cut's peak.
    {CUT}
    """
    # The tops of a saw-tooth differ by a few packets.
    return _time_from_first_cut_to(CUT_SHARE, flow)


@_of_cuts("s", "Time near the peak of the first cut", f"{THESIS}, section 4.3.3.2")
def plateau_time(flow: FlowView) -> float | None:
    """Time from the first cut to the first later cwnd sample at or above 105 % of that cut's peak:
    how long the flow stays at the window at which it lost a packet. {CUT}
    """
    return _time_from_first_cut_to(2 - CUT_SHARE, flow)


def _time_from_first_cut_to(share_of_peak: float, flow: FlowView) -> float | None:
    if flow.cuts.is_empty():
        return None
    first = flow.cuts.row(0, named=True)
    later = flow.cwnd.filter(pl.col("time_s") > first["cut_s"])
    reached_s = first_time_at_least(later, "cwnd_pkts", share_of_peak * first["peak_pkts"])
    return None if reached_s is None else reached_s - float(first["cut_s"])


def _growths_per_rtt(cuts: pl.DataFrame, rtt_s: float) -> pl.Series:
    """Growth of cwnd in % per round trip, as if exponential, of each ascent between cuts.

    Args:
        cuts: as ``find_cuts`` returns them; no ascent follows the last.
        rtt_s: the nominal RTT, s.
    """
    round_trips = (pl.col("peak_s").shift(-1) - pl.col("cut_s")) / rtt_s
    ratio = pl.col("peak_pkts").shift(-1) / pl.col("after_pkts")
    growth = (100 * ((ratio.log() / round_trips).exp() - 1)).alias("growth_pct")
    return cuts.select(growth.filter(round_trips > 0))["growth_pct"]


@link_metric(
    "1",
    "Variation of the queue",
    f"{THESIS}, section 4.5.3.1 (Figures 43 to 47)",
    tables=("queue",),
    window=second_half,
)
def queue_variation(link: LinkView) -> float | None:
    """Standard deviation of the samples of the bottleneck's queue over their mean, over {HALF}: 0
    for a queue of constant length.
    """
    return variation(link.queue.filter(in_window(*second_half(link)))["pkts"])


def _from_flow2_start(run: RunView) -> Window:
    return (run.number("flow2_start_s"), run.duration_s)


@_of_two_flows(
    "1",
    "Asymmetry from the second flow's start",
    f"{THESIS}, section 3.2, over the window that HS-TCP's row of Table 2 fits",
    window=_from_flow2_start,
    better="nearest",
    reference=0,
    apart=0.05,
)
def asymmetry_from_flow2_start(run: RunView) -> float | None:
    """{ASYMMETRY} second flow from the second flow's start to the end of the run."""
    return fairness.asymmetry(
        *(mean(flow.throughput, "mbps", _from_flow2_start(run)) for flow in run.flows("throughput"))
    )


@flow_metric(
    "s",
    "Time to the largest throughput",
    f"{THESIS}, section 3.2, second metric, and sections 4.1.3.4 and 4.2.3.4",
    tables=("throughput",),
    better="less",
    apart=0.05,
)
def time_to_max_throughput(flow: FlowView) -> float | None:
    """End of the first second in which the flow's departures from the bottleneck's queue,
    {WITH_ALL}, are within 1 % of those in its busiest second.
    """
    return _time_to_largest(flow.throughput)


def _time_to_largest(bins: pl.DataFrame) -> float | None:
    """End in s of the first bin within 1 % of the largest; None for a flow that sent nothing.

    Args:
        bins: bins of one flow: time_s (f64, s, end of the bin), mbps (f64, Mbit/s), in order of
            time.

    >>> bins = pl.DataFrame({"time_s": [1.0, 2.0, 3.0], "mbps": [50.0, 99.5, 100.0]})
    >>> _time_to_largest(bins)
    2.0
    """
    largest_mbps = bins["mbps"].max()
    if not isinstance(largest_mbps, float) or largest_mbps <= 0:
        return None
    return first_time_at_least(bins, "mbps", MAX_SHARE * largest_mbps)


@_of_two_flows(
    "s",
    "Time until the flows share fairly",
    f"{THESIS}, sections 4.1.3.5, 4.6.3.5 and 4.7.2 (slow and fast convergence)",
    window=_from_flow2_start,
    better="less",
    apart=0.05,
)
def convergence_time(run: RunView) -> float | None:
    """Time from the second flow's start to the end of the first {CONVERGENCE_WINDOW_S:g} s over
    which the two flows' throughputs have an |asymmetry| of at most {FAIR_ASYMMETRY:g}.
    """
    first, second = (flow.throughput for flow in run.flows("throughput"))
    return fairness.convergence_time(
        first, second, run.number("flow2_start_s"), CONVERGENCE_WINDOW_S, FAIR_ASYMMETRY
    )


@flow_metric(
    "s",
    "Time to 90 % of the BDP, one early loss, the crossing that lasts",
    f"{THESIS}, Table 1, column 3, read as the crossing that lasts",
    tables=("cwnd",),
    parameters=("bdp_pkts", "rtt_ms", "drop_packet"),
    version="013f57a28cee",
    better="less",
    apart=0.05,
)
def time_to_90pct_cwnd_after_drop_kept(flow: FlowView) -> float | None:
    """Simulated time, from the start of the run, of the first cwnd sample after the first cut at or
    above 90 % of the nominal bandwidth-delay product that begins a stay there of at least
    {_STAY_S:g} s.
    """
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
        .filter(pl.col("high") & (pl.col("end_s") - pl.col("start_s") >= _STAY_S - 1e-9))
    )
    return None if stays.is_empty() else float(stays["start_s"][0])


_REACHED = "time_to_90pct_utilization_kept"
# Parameters that are derived from the swept one, or only set the length of observation.
_BESIDE_RTT = frozenset({"rtt_ms", "bottleneck_delay_ms", "buffer_pkts", "bdp_pkts", "duration_s"})
_BESIDE_DROP = frozenset({"drop_packet", "duration_s"})

Found = Iterator[tuple[Row, float | None]]


@group_metric(
    "s",
    "Largest minus smallest RTT, time to 90 %",
    f"{THESIS}, Table 1, column 8, and its footnote",
    metrics=(_REACHED,),
)
def rtt_border_difference(group: Group) -> Found:
    """{_REACHED} at the largest RTT of the sweep minus that at the smallest RTT at which it has a
    value.
    """
    for largest, smallest in _borders(group):
        yield largest, largest.minus(smallest)


@group_metric(
    "s",
    "Largest minus smallest RTT, time to the largest throughput",
    f"{THESIS}, section 4.5.3.4",
    metrics=(_REACHED, "time_to_max_throughput"),
)
def rtt_max_throughput_difference(group: Group) -> Found:
    """time_to_max_throughput at the largest RTT of the sweep minus that at the smallest RTT at
    which {_REACHED} has a value.
    """
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
    "s",
    "Delay of the top of the ascent by one early loss",
    f"{THESIS}, sections 4.1.3.2 and 4.2.3.2",
    metrics=("time_to_max_cwnd",),
)
def drop_delay(group: Group) -> Found:
    """time_to_max_cwnd of the run with an enforced drop minus that of the run that is equal but for
    the drop.
    """
    return _delays(group, "time_to_max_cwnd", "time_to_max_cwnd")


@group_metric(
    "s",
    "Delay of 90 % of the BDP by one early loss",
    f"{THESIS}, sections 4.3.3.2 and 4.4.3.2",
    metrics=("time_to_90pct_cwnd_after_drop", "time_to_90pct_cwnd"),
)
def drop_delay_90pct(group: Group) -> Found:
    """time_to_90pct_cwnd_after_drop of the run with an enforced drop minus time_to_90pct_cwnd of
    the run that is equal but for the drop.
    """
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


_UTILIZATION_LEVEL = 90.0


# Parameters that differ in a sweep of the buffer, which may only be longer to observe.
_BESIDE_BUFFER = frozenset({"buffer_pkts", "duration_s"})


@group_metric(
    "packets",
    "Smallest buffer with more than 90 % utilization",
    f"{THESIS}, Table 1, column 5",
    metrics=("utilization",),
    better="less",
    apart=0.05,
)
def min_buffer_90pct(group: Group) -> Iterator[tuple[Row, float | None]]:
    """Smallest buffer of the sweep with which utilization over the second half of the run is above
    90 %. Measured where all smaller buffers of the sweep have been simulated too.
    """
    for found, points in group.sweeps_of("utilization", "buffer_pkts", _BESIDE_BUFFER):
        yield from _smallest_buffer(found, points)


def _smallest_buffer(
    rows: Sequence[Row], points: Sequence[float]
) -> Iterator[tuple[Row, float | None]]:
    by_buffer = {row.at("buffer_pkts"): row for row in rows}
    for buffer_pkts in points:
        row = by_buffer.get(buffer_pkts)
        if row is None:  # not simulated, although it might suffice
            return
        if row.value is not None and row.value > _UTILIZATION_LEVEL:
            yield row, buffer_pkts
            return
    yield rows[-1], None


_REGIONS = 5
_PAIR = ("protocol_1", "protocol_2")
_BESIDE_PAIR = frozenset({*_PAIR, "duration_s"})


@group_metric(
    "1",
    "Points against all protocols",
    f"{THESIS}, section 6.2",
    metrics=("asymmetry",),
    better="less",
    apart=1.0,
)
def fairness_points(group: Group) -> Found:
    """Points of the protocol of both flows, over all ordered pairs of protocols that were run with
    the same parameters: 1 to 5, the region of |asymmetry| in five equal parts from 0 to 1, for each
    of its flows in each pair. Measured where all pairs have been simulated.
    """
    for rows in group.alike("asymmetry", _BESIDE_PAIR):
        pairs = {
            tuple(str(row.parameters[name]) for name in _PAIR): row
            for row in rows
            if all(name in row.parameters for name in _PAIR)
        }
        protocols = list(dict.fromkeys(protocol for pair in pairs for protocol in pair))
        known = {pair: row.value for pair, row in pairs.items() if row.value is not None}
        if len(protocols) > 1 and len(known) == len(protocols) ** 2:
            for protocol in protocols:
                points = sum(pair.count(protocol) * _region(value) for pair, value in known.items())
                yield pairs[protocol, protocol], points


def _region(of_asymmetry: float) -> int:
    """Region of an asymmetry: |A| in five equal parts, from 1 (fair) to 5 (Sharma 2006, 5.2).

    >>> [_region(each) for each in (0.0, -0.19, 0.2, 0.5, -1.0)]
    [1, 1, 2, 3, 5]
    """
    return min(_REGIONS, int(abs(of_asymmetry) * _REGIONS) + 1)
