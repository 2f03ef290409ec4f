"""Metrics of this study alone: its own windows, and means over repetitions and over delays."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

import polars as pl

from bdpbench.metrics import (
    FlowView,
    Group,
    LinkView,
    Row,
    RunView,
    Window,
    counted,
    flow_metric,
    group_metric,
    link_metric,
    run_metric,
    second_half,
)
from bdpbench.metrics.definition import BINS, EVEN, ZHANG  # noqa: F401 - words of definitions
from bdpbench.metrics.fairness import smallest_to_largest, time_to_ratio
from bdpbench.metrics.series import inside, mean, median, number

_RATIO = "min_max_ratio_from_last_start"
_CONVERGED = "time_to_converge"
_FAIR = "time_to_fair_share"

_FAIR_RATIO = 0.95
_FAIR_WINDOW_S = 20.0
_END_S = 100.0
_BEFORE_500_S: Window = (400.0, 500.0)

_BESIDE_RUN = frozenset({"substream"})
# What follows from the delay, beside the delay itself.
_BESIDE_DELAYS = frozenset(
    {"substream", "rtt_ms", "access_delay_ms", "bdp_pkts", "buffer_pkts", "buffer_ms"}
)
_REPETITIONS = "over the repetitions of the run"
_DELAYS = (
    "of the means over repetitions of the ratio of the smallest to the largest throughput from the "
    "last start, over all delays of the scenario. Measured where all of them have been simulated, "
    "and told of the first repetition at the shortest delay."
)


def _last_100_s(run: RunView) -> Window:
    return (run.duration_s - _END_S, run.duration_s)


def _before_500_s(_: RunView) -> Window:
    return _BEFORE_500_S


def _has_pair(run: RunView) -> bool:
    return len(run.flows("throughput")) == 2 and run.duration_s > 2 * _END_S


def _outlasts_500_s(run: RunView) -> bool:
    return _has_pair(run) and run.duration_s >= 600


def _ratio(run: RunView, window: Window) -> float | None:
    flows = run.flows("throughput")
    return smallest_to_largest([mean(flow.throughput, "mbps", window) for flow in flows])


def _from_last_start(run: RunView) -> Window:
    starts = [flow.fact("start") for flow in run.flows("throughput")]
    return (max((each for each in starts if each is not None), default=0.0), run.duration_s)


def _starts_are_known(run: RunView) -> bool:
    flows = run.flows("throughput")
    return len(flows) > 1 and all(flow.fact("start") is not None for flow in flows)


@run_metric(
    "1",
    "Smallest over largest throughput, from the last start",
    f"{EVEN}, section V and Figure 5",
    tables=("throughput", "facts"),
    window=_from_last_start,
    when=_starts_are_known,
    better="more",
    apart=0.05,
    reference=1,
)
def min_max_ratio_from_last_start(run: RunView) -> float | None:
    """Mean throughput of the slowest flow over that of the fastest, from the start of the flow that
    starts last to the end of the run. {BINS}
    """
    return _ratio(run, _from_last_start(run))


@run_metric(
    "1",
    "Smallest over largest throughput, last 100 s",
    f"{EVEN}, section V",
    tables=("throughput",),
    window=_last_100_s,
    when=_has_pair,
    version="60f2269d0b98",
    better="more",
    apart=0.05,
    reference=1,
)
def ratio_of_last_100_s(run: RunView) -> float | None:
    """Mean throughput of the slower flow over that of the faster, over the last 100 s of the
    run.
    """
    return _ratio(run, _last_100_s(run))


@run_metric(
    "1",
    "Smallest over largest throughput, 400 to 500 s",
    f"{EVEN}, section V, on FAST at 162 ms",
    tables=("throughput",),
    window=_before_500_s,
    when=_outlasts_500_s,
    version="c4ab2ca9b8a6",
    better="more",
    apart=0.05,
    reference=1,
)
def ratio_before_500_s(run: RunView) -> float | None:
    """Mean throughput of the slower flow over that of the faster, from 400 to 500 s."""
    return _ratio(run, _BEFORE_500_S)


@run_metric(
    "s",
    "Time until both flows get the same within 5 %",
    f"{EVEN}, Figure 5 (within 5 %); the window is bdpbench's",
    tables=("throughput",),
    when=_has_pair,
    version="884020490b19",
    better="less",
    apart=0.05,
)
def time_to_fair_share(run: RunView) -> float | None:
    """Time from the beginning of the first second in which the flow that comes last gets packets
    through the bottleneck to the end of the first {_FAIR_WINDOW_S:g} s over which the slower flow's
    throughput is at least {_FAIR_RATIO:g} of the faster's.
    """
    return time_to_ratio(run.table("throughput"), _FAIR_WINDOW_S, _FAIR_RATIO)


@flow_metric(
    "1",
    "Share of cwnd kept, median of all cuts",
    f"{EVEN}, section V, on HS-TCP's decrease",
    tables=("cwnd",),
    parameters=("rtt_ms",),
    version="4080734d68b3",
)
def share_kept(flow: FlowView) -> float | None:
    """Median, over the cuts of the second half of the run, of cwnd after the cut over its peak."""
    cuts = _late(flow)
    return median(cuts["after_pkts"] / cuts["peak_pkts"])


@flow_metric(
    "packets per RTT",
    "Increase of cwnd, median of all ascents",
    f"{EVEN}, section V, on HS-TCP's increase",
    tables=("cwnd",),
    parameters=("rtt_ms",),
    version="04e7c7163497",
)
def increase_per_rtt(flow: FlowView) -> float | None:
    """Median, over the ascents from one cut to the next in the second half of the run, of the
    packets by which cwnd grows in a nominal RTT.
    """
    round_trips = (pl.col("peak_s").shift(-1) - pl.col("cut_s")) / flow.rtt_s
    grown = pl.col("peak_pkts").shift(-1) - pl.col("after_pkts")
    ascents = _late(flow).select(grown=grown / round_trips, round_trips=round_trips).drop_nulls()
    return median(ascents.filter(pl.col("round_trips") >= 1)["grown"])


def _late(flow: FlowView) -> pl.DataFrame:
    return flow.cuts.filter(pl.col("peak_s") > flow.run.duration_s / 2)


@group_metric(
    "1",
    "Mean ratio of the throughputs",
    f"{EVEN}, section IV-A and Figure 5",
    metrics=(_RATIO,),
    version="bc4fe234d66a",
    better="more",
    apart=0.05,
    reference=1,
)
def mean_ratio(group: Group) -> Iterator[tuple[Row, float | None]]:
    """Arithmetic mean of the ratio of the smallest to the largest throughput from the last start,
    {_REPETITIONS}.
    """
    for rows in _repetitions(group, _RATIO):
        yield rows[0], _mean(rows)


@group_metric(
    "1",
    "Standard error of the ratio",
    f"{EVEN}, section IV-A (the error of a measurement)",
    metrics=(_RATIO,),
    version="d7d5e164f3db",
)
def ratio_standard_error(group: Group) -> Iterator[tuple[Row, float | None]]:
    """Standard error of the mean of the ratio of the smallest to the largest throughput from the
    last start, s/√n, {_REPETITIONS}, of two or more.
    """
    for rows in _repetitions(group, _RATIO):
        values = [row.value for row in rows if row.value is not None]
        if len(values) == len(rows) > 1:
            yield rows[0], statistics.stdev(values) / len(values) ** 0.5


@group_metric(
    "1",
    "Mean ratio over the delays",
    f"{EVEN}, Figure 5",
    metrics=(_RATIO,),
    version="70d7a481f043",
    better="more",
    apart=0.05,
    reference=1,
)
def ratio_over_delays(group: Group) -> Iterator[tuple[Row, float | None]]:
    """Mean {_DELAYS}"""
    for row, means in _delays(group):
        yield row, statistics.fmean(means)


@group_metric(
    "1",
    "Smallest ratio over the delays",
    f"{EVEN}, Figure 5",
    metrics=(_RATIO,),
    version="5d3055b9b3ff",
    better="more",
    apart=0.05,
    reference=1,
)
def smallest_ratio_over_delays(group: Group) -> Iterator[tuple[Row, float | None]]:
    """Smallest {_DELAYS}"""
    for row, means in _delays(group):
        yield row, min(means)


@group_metric(
    "1",
    "Spread of the ratio over the delays",
    f"{EVEN}, section V (large variations in fairness)",
    metrics=(_RATIO,),
    version="764c60c9fc52",
)
def ratio_spread_over_delays(group: Group) -> Iterator[tuple[Row, float | None]]:
    """Largest less the smallest {_DELAYS}"""
    for row, means in _delays(group):
        yield row, max(means) - min(means)


@group_metric(
    "1",
    "Share of repetitions that converge",
    f"{EVEN}, section V",
    metrics=(_CONVERGED,),
    version="292347f2c0d8",
    better="more",
    apart=0.2,
    reference=1,
)
def converging_share(group: Group) -> Iterator[tuple[Row, float | None]]:
    """Share of the repetitions in which the slower flow reaches 80 % of the faster for 20 s."""
    for rows in _repetitions(group, _CONVERGED):
        yield rows[0], _share_reached(rows)


@group_metric(
    "1",
    "Share of repetitions that become fair",
    f"{EVEN}, section V",
    metrics=(_FAIR,),
    version="399d49bfe91e",
    better="more",
    apart=0.2,
    reference=1,
)
def fair_share(group: Group) -> Iterator[tuple[Row, float | None]]:
    """Share of the repetitions in which both flows get the same within 5 % for 20 s."""
    for rows in _repetitions(group, _FAIR):
        yield rows[0], _share_reached(rows)


@group_metric(
    "s",
    "Mean time to converge, at least",
    f"{EVEN}, section V",
    metrics=(_CONVERGED,),
    version="ba3217a3a0d1",
    better="less",
    apart=0.05,
)
def least_time_to_converge(group: Group) -> Iterator[tuple[Row, float | None]]:
    """Mean of the time until the slower flow has 80 % of the faster's throughput for 20 s,
    {_REPETITIONS}. One that never gets there counts with the time from the second start to the end
    of the run, so that the mean is a lower bound then.
    """
    for rows in _repetitions(group, _CONVERGED):
        yield rows[0], statistics.fmean(_watched_s(r) if r.value is None else r.value for r in rows)


def _repetitions(group: Group, metric: str) -> Iterator[list[Row]]:
    """The rows of a metric, those of repetitions of one run together, in their order."""
    for rows in group.alike(metric, _BESIDE_RUN):
        yield _in_order(rows)


def _watched_s(row: Row) -> float:
    """How long there were two flows, s."""
    start_s = row.parameters.get("flow2_start_s", 0.0)
    return row.end_s - (float(start_s) if isinstance(start_s, (int, float)) else 0.0)


def _in_order(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row.at("substream"))


def _delays(group: Group) -> Iterator[tuple[Row, list[float]]]:
    """The first row of each curve over the delay, and its means over repetitions."""
    for rows, delays in group.sweeps_of(_RATIO, "rtt_ms", _BESIDE_DELAYS):
        at = {delay: [row for row in rows if row.at("rtt_ms") == delay] for delay in delays}
        means = [_mean(found) if found else None for found in at.values()]
        known = [each for each in means if each is not None]
        if len(known) == len(delays):
            yield _in_order(at[delays[0]])[0], known


def _mean(rows: Sequence[Row]) -> float | None:
    values = [row.value for row in rows if row.value is not None]
    return statistics.fmean(values) if len(values) == len(rows) else None


def _share_reached(rows: Sequence[Row]) -> float:
    return sum(row.value is not None for row in rows) / len(rows)


def _modes(flow: FlowView) -> pl.DataFrame:
    return flow.rows("recorded").filter(pl.col("name") == "mode_")


def _has_mode(flow: FlowView) -> bool:
    return not _modes(flow).is_empty()


@flow_metric(
    "1",
    "Changes of mode",
    f"{ZHANG}, section 4.1; {EVEN}, section V",
    tables=("recorded",),
    window=second_half,
    when=_has_mode,
)
def mode_changes(flow: FlowView) -> float | None:
    """How often a sample of the agent's variable mode_ differs from the one before it, over {HALF}.
    Of flows whose protocol records that variable.
    """
    changed = _modes(flow).with_columns(changed=pl.col("value") != pl.col("value").shift(1))
    return number(changed.filter(inside("time_s", *second_half(flow)))["changed"].sum())


def _has_random_losses(link: LinkView) -> bool:
    return bool(link.fact("packets")) and link.fact("random_losses") is not None


@link_metric(
    "packets",
    "Random losses",
    "ns-2, errmodel.cc; RFC 5166, section 2.1.3",
    tables=("queue", "facts"),
    window=counted,
    when=_has_random_losses,
)
def random_losses(link: LinkView) -> float | None:
    """Packets that were lost at random before the link's queue, as the scenario says, and not by
    the queue, {COUNTED}.
    """
    return link.fact("random_losses")
