"""The web's period, what a repetition adds to an index of means, and the introduction's numbers.

The introduction speaks of TCP Reno at 10 Gbit/s and an RTT of 100 ms, by Reno's law. A recovery
there takes an hour, so its numbers are computed from what runs of any size show: how fast cwnd
grows, and which window a rate of losses allows.
"""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from collections.abc import Iterable, Iterator

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
    run_metric,
    second_half,
)
from bdpbench.metrics.definition import BINS, COUNTED, HALF, OF_GROUPS, WITH_ALL, ZHANG
from bdpbench.metrics.flows import packets_added_per_rtt
from bdpbench.metrics.runs import (
    fair_shares,
    flow_groups,
    has_paths,
    has_two_groups,
    window_of_flows,
)
from bdpbench.metrics.series import (
    in_window,
    inside,
    known_mean,
    known_sum,
    last_until,
    mean,
    number,
)
from bdpbench.units import BITS_PER_BYTE

_PAPER = "Zhang, Hasegawa and Murata (2005)"
_HEADER_BYTES = 40
_ALIVE: Window = (50.0, 800.0)
_FULL_PKTS = 83_333
_FULL = f"a window of {_FULL_PKTS:,} packets, which fills 10 Gbit/s at an RTT of 100 ms"
_OF_RENO = ("throughput", "cwnd")
_LOST = ("loss_rate", "packet_bytes", "rtt_ms")


_of_groups = functools.partial(run_metric, tables=("facts",), window=window_of_flows)
_of_shares = functools.partial(
    run_metric, unit="1", tables=("facts", "utilization"), window=window_of_flows
)


def _has_groups(run: RunView) -> bool:
    return len(flow_groups(run)) > 1


def _has_groups_and_paths(run: RunView) -> bool:
    return _has_groups(run) and has_paths(run)


def _throughput_of_group(index: int, run: RunView) -> float | None:
    group = list(flow_groups(run).values())[index]
    return known_sum([flow.fact("throughput") for flow in group])


for _index, _nth in enumerate(("first", "second")):
    _of_groups(
        name=f"{_nth}_group_throughput",
        unit="Mbit/s",
        title=f"Throughput of the {_nth} group",
        text=f"Sum of the throughputs of the flows of the {_nth} of two groups, {WITH_ALL}, "
        f"{COUNTED}. {OF_GROUPS}",
        source=f"{ZHANG}, Tables 1 to 6 (throughput of S{_index + 1})",
        when=has_two_groups,
    )(functools.partial(_throughput_of_group, _index))


@_of_shares(
    title="Jain's index over max-min fair shares",
    source=f"{ZHANG}, section 3.1; Bertsekas and Gallager, Data Networks, section 6.5.2",
    when=has_paths,
    better="more",
    apart=0.02,
    reference=1,
)
def max_min_jain_index(run: RunView) -> float | None:
    """Jain's fairness index (sum x_i)^2/(n sum x_i^2), {COUNTED}. {OF_SHARE}."""
    return fairness.jain_index(list(fair_shares(run).values()))


@_of_shares(
    title="Jain's index of the groups over fair shares",
    source=f"{ZHANG}, section 3.1, of means over groups",
    when=_has_groups_and_paths,
    better="more",
    apart=0.02,
    reference=1,
)
def group_max_min_jain_index(run: RunView) -> float | None:
    """Jain's fairness index of the groups' means of x_i, {COUNTED}. {OF_SHARE}. {OF_GROUPS}"""
    shares = fair_shares(run)
    groups = flow_groups(run).values()
    return fairness.jain_index([known_mean([shares[f.index] for f in flows]) for flows in groups])


BATCHES = 10
"""Number of batches of the second half of a run: ten to thirty are enough (Schmeiser 1982)."""

_T = 2.2621571627982053
"""Student's t for 95 % and the mean of ten batches (NIST/SEMATECH e-Handbook, table 1.3.6.7.2)."""


def _is_long(run: RunView) -> bool:
    return run.duration_s >= 2 * BATCHES and bool(run.flows("throughput"))


@run_metric(
    "Mbit/s",
    "Half-width of the total throughput's confidence interval",
    "Schmeiser (1982), Batch size effects in the analysis of simulation output; Law and "
    "Kelton, Simulation Modeling and Analysis, on batch means",
    tables=("throughput",),
    window=second_half,
    when=_is_long,
)
def total_throughput_half_width(run: RunView) -> float | None:
    """Half of the width of the confidence interval at 95 % of the total throughput, by batch means:
    {HALF} is cut into {BATCHES} parts of equal length, whose means are taken to be independent of
    one another. Measured where a part holds a second at least.
    """
    means = _parts_of_second_half(run, run.table("throughput"), BATCHES)
    if len(means) < BATCHES:
        return None
    # Equal means may have a deviation by rounding.
    deviation = statistics.stdev(means) if min(means) < max(means) else 0.0
    return _T * deviation / math.sqrt(BATCHES)


_DRIFT = (
    f"Change from the first to the second part of {HALF}, of equal length, in per cent of the mean "
    "of both: near 0 where the run is long enough to have become stationary. Measured in runs of "
    f"{2 * BATCHES} s or more. {BINS}"
)


_of_drifts = functools.partial(
    run_metric,
    unit="%",
    source="Law and Kelton, Simulation Modeling and Analysis, on the initial transient",
    window=second_half,
)


def _is_long_with_two_groups(run: RunView) -> bool:
    return _is_long(run) and has_two_groups(run)


@_of_drifts(
    title="Drift of the total throughput",
    tables=("throughput",),
    when=_is_long,
    better="nearest",
    reference=0,
    apart=1.0,
)
def total_throughput_drift(run: RunView) -> float | None:
    """Total throughput of the flows. {_DRIFT}"""
    return _drift(run, run.table("throughput"))


@_of_drifts(
    title="Drift of the first group's throughput",
    tables=("facts", "throughput"),
    when=_is_long_with_two_groups,
    better="nearest",
    reference=0,
    apart=1.0,
)
def first_group_throughput_drift(run: RunView) -> float | None:
    """Throughput of the first of two groups of flows. {_DRIFT}"""
    first, _ = flow_groups(run).values()
    return _drift(run, pl.concat([flow.throughput for flow in first]))


def _parts_of_second_half(run: RunView, bins: pl.DataFrame, parts: int) -> list[float]:
    """Means of the total throughput of flows over equal parts of the second half, Mbit/s."""
    totals = bins.group_by("time_s").agg(pl.col("mbps").sum()).sort("time_s")
    return _batch_means(totals, "mbps", second_half(run), parts)


def _batch_means(
    frame: pl.DataFrame, column: str, window: tuple[float, float], batches: int
) -> list[float]:
    """Means over equal parts of a window, in s; a part without rows has no mean.

    >>> frame = pl.DataFrame({"time_s": [1.0, 2.0, 3.0, 4.0], "mbps": [1.0, 3.0, 5.0, 7.0]})
    >>> _batch_means(frame, "mbps", (0, 4), 2)
    [2.0, 6.0]
    """
    start_s, end_s = window
    parts: list[list[float]] = [[] for _ in range(batches)]
    rows = frame.filter(in_window(start_s, end_s)).select("time_s", column)
    for time_s, value in rows.iter_rows():
        # A row at the end of a part belongs to it, as for windows.
        part = math.ceil((time_s - start_s) / (end_s - start_s) * batches - 1e-9) - 1
        parts[max(0, part)].append(value)
    return [math.fsum(part) / len(part) for part in parts if part]


def _drift(run: RunView, bins: pl.DataFrame) -> float | None:
    """Change between the parts of the second half, %; None if nothing departed in it."""
    means = _parts_of_second_half(run, bins, 2)
    if len(means) < 2 or not sum(means):
        return None
    early, late = means
    return 100 * (late - early) / ((early + late) / 2)


def _with_rtt(run: RunView) -> list[FlowView]:
    return [flow for flow in run.flows("cwnd") if flow.has("rtt_ms")]


def _has_rtts(run: RunView) -> bool:
    return len(_with_rtt(run)) > 1


@run_metric(
    "1",
    "Synchronization of losses",
    "Hassayoun and Ros (2008), Loss Synchronization and Router Buffer Sizing with "
    "High-Speed Versions of TCP; the event of RFC 5348, section 5.2",
    tables=("cwnd",),
    window=second_half,
    when=_has_rtts,
)
def loss_synchronization(run: RunView) -> float | None:
    """Mean, over the loss events, of the share of the flows that cut cwnd in one, over {HALF}: from
    1/n, each flow loses alone, to 1, all lose together. A loss event begins with a cut that belongs
    to none and lasts for one nominal RTT, the largest of the flows': all cuts that begin in it are
    its own. {CUT}
    """
    flows = _with_rtt(run)
    cuts = pl.concat([flow.cuts.select("cut_s", flow=pl.lit(flow.index)) for flow in flows])
    late = cuts.filter(inside("cut_s", *second_half(run)))
    events = loss_events(late, max(flow.rtt_s for flow in flows))
    return number((events["flows"] / len(flows)).mean())


def loss_events(cuts: pl.DataFrame, event_s: float) -> pl.DataFrame:
    """Loss events of several flows, and how many flows each event affects.

    Args:
        cuts: cut_s (f64, s), flow.
        event_s: duration of an event from its first cut on, s.

    Returns:
        One row per event: start_s (f64, s), flows (u32, number that cut cwnd in it).

    >>> cuts = pl.DataFrame({"cut_s": [1.0, 1.05, 1.2, 3.0], "flow": [0, 1, 0, 1]})
    >>> loss_events(cuts, 0.1).rows()
    [(1.0, 2), (1.2, 1), (3.0, 1)]
    """
    events: list[tuple[float, set[int]]] = []
    for cut_s, flow in cuts.sort("cut_s").select("cut_s", "flow").iter_rows():
        if not events or cut_s - events[-1][0] >= event_s:
            events.append((cut_s, set()))
        events[-1][1].add(flow)
    rows = [(start_s, len(flows)) for start_s, flows in events]
    return pl.DataFrame(rows, schema={"start_s": pl.Float64, "flows": pl.UInt32}, orient="row")


@link_metric(
    "1",
    "Mean max_p",
    "Floyd, Gummadi and Shenker (2001), Adaptive RED, section 4",
    tables=("red",),
    window=second_half,
)
def mean_max_p(link: LinkView) -> float | None:
    """Mean, over samples at equal distances, of max_p, the probability of a drop that RED has at
    its upper threshold, over {HALF}. Only adaptive queues change it.
    """
    return mean(link.rows("red"), "max_p", second_half(link))


_ALL_REPETITIONS = (
    "Of runs that differ in their random numbers alone (substream), where all planned repetitions "
    "are measured; the value belongs to the first of them."
)


@group_metric(
    "%",
    "Mean utilization by the flows",
    f"{ZHANG}, Tables 1 to 6 (confidence intervals of the total)",
    metrics=("flows_utilization",),
    better="more",
    apart=1.0,
    reference=100,
)
def repeated_flows_utilization(group: Group) -> Iterator[tuple[Row, float | None]]:
    """Mean of flows_utilization over repetitions. {_ALL_REPETITIONS}"""
    for rows in group.repetitions_of("flows_utilization"):
        yield rows[0], known_mean([row.value for row in rows])


@group_metric(
    "1",
    "Jain's index of mean throughputs over fair shares",
    f"{ZHANG}, section 3.1 and Tables 1 to 6 (average throughput)",
    metrics=("fair_share_ratio",),
    better="more",
    apart=0.02,
    reference=1,
)
def repeated_max_min_jain_index(group: Group) -> Iterator[tuple[Row, float | None]]:
    """Jain's fairness index of the means of fair_share_ratio over repetitions, a mean for each
    flow. With more and more repetitions it approaches group_max_min_jain_index where the flows of a
    group are alike. {_ALL_REPETITIONS}
    """
    for rows in group.repetitions_of("fair_share_ratio"):
        yield rows[0], jain_index_of_means(rows)


def jain_index_of_means(rows: Iterable[Row]) -> float | None:
    """Jain's fairness index of the mean values of each subject, None as for any values."""
    subjects: dict[str, list[float | None]] = {}
    for row in rows:
        subjects.setdefault(row.subject, []).append(row.value)
    return fairness.jain_index([known_mean(each) for each in subjects.values()])


def _while_alive(view: LinkView | RunView) -> Window:
    return _ALIVE


def _lasts(view: LinkView | RunView) -> bool:
    return view.run.duration_s >= _ALIVE[1]


@link_metric(
    "%",
    "Loss rate from 50 to 800 s",
    f"{_PAPER}, section 5",
    tables=("queue", "utilization", "transfers"),
    parameters=("packet_bytes",),
    window=_while_alive,
    when=_lasts,
    better="less",
    apart=0.1,
)
def loss_rate_of_web_period(link: LinkView) -> float | None:
    """Packets that the queue dropped from 50 s to 800 s, as a share of those that it dropped or
    that departed in this time; what departed is counted in whole packets.
    """
    dropped = [last_until(link.rows("queue"), "drops", at_s) for at_s in _ALIVE]
    mbps = mean(link.rows("utilization"), "mbps", _ALIVE)
    packet_bits = BITS_PER_BYTE * (link.positive("packet_bytes") + _HEADER_BYTES)
    departed = (mbps or 0.0) * 1e6 * (_ALIVE[1] - _ALIVE[0]) / packet_bits
    lost = (dropped[1] or 0.0) - (dropped[0] or 0.0)
    return 100 * lost / (lost + departed) if departed else None


def _response_times_s(run: RunView) -> pl.Series:
    start_s, end_s = _ALIVE
    ended = pl.col("end_s").is_between(start_s, end_s, closed="right")
    rows = run.table("transfers").filter((pl.col("kind") == "object") & ended)
    return rows["end_s"] - rows["start_s"]


_of_objects = functools.partial(
    run_metric,
    unit="s",
    text="Response time of the web's objects that arrived from 50 s to 800 s, from the request of "
    "an object to the ACK of its last byte.",
    source=f"{_PAPER}, section 5 and Figure 12",
    tables=("transfers",),
    window=_while_alive,
    when=_lasts,
)


@_of_objects(title="Mean response time from 50 to 800 s", better="less", apart=0.05)
def mean_response_time_of_web_period(run: RunView) -> float | None:
    return number(_response_times_s(run).mean())


@_of_objects(title="Median response time from 50 to 800 s", better="less", apart=0.05)
def median_response_time_of_web_period(run: RunView) -> float | None:
    return number(_response_times_s(run).median())


@flow_metric(
    "1",
    "Loss rate for 83,333 packets",
    f"{_PAPER}, section 1",
    tables=_OF_RENO,
    parameters=_LOST,
    window=second_half,
    better="less",
    apart=0.001,
)
def full_window_loss_rate(flow: FlowView) -> float | None:
    """Loss rate that allows {_FULL}: the mean cwnd over the second half of the run at a known loss
    rate p goes with 1/sqrt(p).
    """
    window = mean(flow.cwnd, "cwnd_pkts", second_half(flow))
    return flow.positive("loss_rate") * (window / _FULL_PKTS) ** 2 if window else None


@flow_metric(
    "1",
    "RTTs to recover 83,333 packets",
    f"{_PAPER}, section 1",
    tables=_OF_RENO,
    parameters=_LOST,
    window=second_half,
    better="less",
    apart=1.0,
)
def full_window_recovery_rtts(flow: FlowView) -> float | None:
    """Round trips in which cwnd grows back from half of {_FULL}, at the growth between cuts over
    the second half of the run.
    """
    gained = packets_added_per_rtt.compute(flow)
    return _FULL_PKTS / 2 / gained if gained else None


@flow_metric(
    "packets",
    "Smallest cwnd",
    f"{_PAPER}, section 3.3 (windows that are reset to one packet)",
    text="Smallest sample of cwnd over the second half of the run, (duration/2, duration]. After a "
    "timeout cwnd is one packet for an RTT.",
    tables=("cwnd",),
    window=second_half,
)
def min_cwnd(flow: FlowView) -> float | None:
    return number(flow.cwnd.filter(in_window(*second_half(flow)))["cwnd_pkts"].min())


@group_metric(
    "1",
    "What a repetition adds to Jain's index of mean throughputs",
    "Tukey (1958), Bias and confidence in not-quite large samples",
    metrics=("fair_share_ratio",),
    better="more",
    apart=0.02,
    reference=1,
    version=2,
)
def jackknifed_max_min_jain_index(group: Group) -> Iterator[tuple[Row, float | None]]:
    """Pseudo-value of repeated_max_min_jain_index for each of n repetitions: n times the index of
    all, minus n - 1 times that of the others. A single repetition has a smaller index than their
    means, because chance makes its flows unequal; its pseudo-value has not, as of a mean it is the
    repetition's own value. It may be above 1, where an index never is.
    """
    for rows in group.repetitions_of("fair_share_ratio"):
        firsts = [next(run) for _, run in itertools.groupby(rows, key=lambda row: row.run_id)]
        of_all, runs = jain_index_of_means(rows), len(firsts)
        for first in firsts:
            of_others = jain_index_of_means(row for row in rows if row.run_id != first.run_id)
            if of_all is not None and of_others is not None:
                yield first, runs * of_all - (runs - 1) * of_others
