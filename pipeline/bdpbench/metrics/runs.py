"""How flows and groups of flows share a network, and whether a run still changes."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence

import polars as pl

from bdpbench.metrics import fairness
from bdpbench.metrics.definition import (
    BATCHES,
    BINS,
    CONVERGED_RATIO,
    CONVERGED_WINDOW_S,
    COUNTED,
    EVEN,
    HALF,
    MEAN,
    MEDIAN,
    THESIS,
    WITH_ALL,
    ZHANG,
    Window,
    family,
    flow_metric,
    group_metric,
    percentile,
    run_metric,
)
from bdpbench.metrics.groups import Group, Row, confidence_interval
from bdpbench.metrics.series import batch_means, inside, known_mean, known_sum, mean, number
from bdpbench.metrics.views import FlowView, RunView, counted, once, second_half
from bdpbench.units import total


def _has_flows(run: RunView) -> bool:
    return len(run.flows("throughput")) > 1


def _has_two_flows(run: RunView) -> bool:
    return len(run.flows("throughput")) == 2


def _is_long(run: RunView) -> bool:
    return run.duration_s >= 2 * BATCHES and bool(run.flows("throughput"))


def _has_one_link(run: RunView) -> bool:
    return len(run.links("utilization")) == 1


def _from_last_start(run: RunView) -> Window:
    starts = [flow.fact("start") for flow in run.flows("throughput")]
    return (max((each for each in starts if each is not None), default=0.0), run.duration_s)


def _starts_are_known(run: RunView) -> bool:
    flows = run.flows("throughput")
    return _has_flows(run) and all(flow.fact("start") is not None for flow in flows)


def _throughputs(run: RunView, window: Window) -> list[float | None]:
    return [mean(flow.throughput, "mbps", window) for flow in run.flows("throughput")]


_of_flows = functools.partial(run_metric, tables=("throughput",), when=_has_flows)
_of_two_flows = functools.partial(run_metric, tables=("throughput",), when=_has_two_flows)
_JAIN = "Jain, Chiu and Hawe (1984), DEC-TR-301"


@_of_flows(
    "1",
    "Jain's fairness index",
    f"{_JAIN}; RFC 5166, section 2.3.1",
    window=second_half,
    better="more",
    apart=0.02,
    reference=1,
)
def jain_index(run: RunView) -> float | None:
    """Jain's fairness index of the flows' mean throughputs x_i over {HALF}: (sum x_i)^2/(n sum
    x_i^2), from 1/n to 1 (fair).
    """
    return fairness.jain_index(run.mean_throughputs)


@_of_flows(
    "1",
    "Smallest over largest throughput",
    f"{EVEN}, section V and Figure 5",
    window=second_half,
    better="more",
    apart=0.05,
    reference=1,
)
def min_max_throughput_ratio(run: RunView) -> float | None:
    """Mean throughput of the slowest flow over that of the fastest, over {HALF}: 0 where a flow is
    starved, 1 is fair.
    """
    return fairness.smallest_to_largest(run.mean_throughputs)


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
    return fairness.smallest_to_largest(_throughputs(run, _from_last_start(run)))


@_of_flows(
    "s",
    "Time until the slowest flow gets 80 % of the fastest",
    "RFC 5166, section 2.3 (convergence times); ratio and window of bdpbench",
    better="less",
    apart=0.05,
)
def time_to_converge(run: RunView) -> float | None:
    """Time from the beginning of the first second in which the flow that comes last gets packets
    through the bottleneck to the end of the first {CONVERGED_WINDOW_S:g} s over which the slowest
    flow's throughput is at least {CONVERGED_RATIO:g} of the fastest's.
    """
    return fairness.time_to_ratio(run.table("throughput"), CONVERGED_WINDOW_S, CONVERGED_RATIO)


@_of_flows(
    "Mbit/s",
    "Total throughput",
    "RFC 5166, section 2.1.1 (throughput), summed up",
    window=second_half,
    better="more",
    apart=0.02,
)
def total_throughput(run: RunView) -> float | None:
    """Sum over the flows of what departed of them from the bottleneck's queue, {WITH_ALL}, over
    {HALF}. {BINS}
    """
    return known_sum(run.mean_throughputs)


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
    return confidence_interval(means).half_width if len(means) == BATCHES else None


@run_metric(
    "%",
    "Utilization by the flows",
    f"{ZHANG}, Tables 1 to 6",
    tables=("throughput", "utilization"),
    parameters=("bottleneck_mbps",),
    window=second_half,
    when=_has_one_link,
    better="more",
    apart=1.0,
    reference=100,
)
def flows_utilization(run: RunView) -> float | None:
    """Total throughput of the flows over the bottleneck's nominal rate in that time, over {HALF};
    unlike the link's utilization without what passes beside them, such as UDP or the web. Of runs
    with one bottleneck.
    """
    known = [each for each in run.mean_throughputs if each is not None]
    (link,) = run.links("utilization")
    return 100 * total(known) / link.capacity_mbps(second_half(run)) if known else None


@_of_two_flows(
    "1",
    "Asymmetry of the two flows",
    f"{THESIS}, sections 3.2 and 5; Bullot, Cottrell and Hughes-Jones (2003)",
    window=second_half,
    better="nearest",
    reference=0,
    apart=0.05,
)
def asymmetry(run: RunView) -> float | None:
    """{ASYMMETRY} second flow over {HALF}: 0 is fair, 1 is all to the first flow, -1 all to the
    second.
    """
    return fairness.asymmetry(*run.mean_throughputs)


_GROUPS = (
    "Groups are those that the scenario names, in the order of their first flows; transfers of "
    "finite size are left out."
)
_SHARE = (
    f"x_i is the flow's throughput, {WITH_ALL}, over its max-min fair share of the nominal rates "
    "of its access link and of the bottlenecks of its path, of which nothing is taken off for what "
    "sends beside the flows; transfers of finite size are left out"
)
_BACK = "back "


def _window_of_first(run: RunView) -> Window:
    return counted(_flows(run)[0])


@once
def _flows(run: RunView) -> Sequence[FlowView]:
    """The long-lived flows that have been counted, by number."""
    counted_flows = [
        each
        for each in run.flows("facts")
        if each.fact("window_end") is not None and not each.has_own("size_pkts")
    ]
    return sorted(counted_flows, key=lambda flow: flow.index)


def _groups(run: RunView) -> dict[str, list[FlowView]]:
    """Name of a group → its long-lived flows that have been counted."""
    groups: dict[str, list[FlowView]] = {}
    for flow in _flows(run):
        if flow.has_own("group"):
            groups.setdefault(flow.word("group"), []).append(flow)
    return groups


def _has_two_groups(run: RunView) -> bool:
    return len(_groups(run)) == 2


def _has_groups(run: RunView) -> bool:
    return len(_groups(run)) > 1


@once
def _has_paths(run: RunView) -> bool:
    flows = _flows(run)
    return len(flows) > 1 and all(flow.has("access_mbps") for flow in flows)


def _has_groups_and_paths(run: RunView) -> bool:
    return _has_groups(run) and _has_paths(run)


_of_groups = functools.partial(run_metric, tables=("facts",), window=_window_of_first)
_of_shares = functools.partial(
    run_metric, unit="1", tables=("facts", "utilization"), window=_window_of_first
)


def _throughput_of_group(index: int, run: RunView) -> float | None:
    group = list(_groups(run).values())[index]
    return known_sum([flow.fact("throughput") for flow in group])


for _index, _nth in enumerate(("first", "second")):
    _of_groups(
        name=f"{_nth}_group_throughput",
        unit="Mbit/s",
        title=f"Throughput of the {_nth} group",
        text=f"Sum of the throughputs of the flows of the {_nth} of two groups, {WITH_ALL}, "
        f"{COUNTED}. {_GROUPS}",
        source=f"{ZHANG}, Tables 1 to 6 (throughput of S{_index + 1})",
        when=_has_two_groups,
    )(functools.partial(_throughput_of_group, _index))


def _goodputs_of_groups(run: RunView) -> list[float | None]:
    """Mean goodput of a flow of each group, Mbit/s."""
    return [known_mean([f.fact("goodput") for f in flows]) for flows in _groups(run).values()]


@_of_groups(
    "1",
    "Goodput of a flow, first over second group",
    "RFC 5166, section 2.3 (fairness between flows); Floyd and Fall (1999), on TCP-friendly flows",
    when=_has_two_groups,
    better="nearest",
    reference=1,
    apart=0.05,
)
def group_goodput_ratio(run: RunView) -> float | None:
    """Mean goodput of a flow of the first of two groups over that of a flow of the second,
    {COUNTED}: 1 where they are friendly to each other. {_GROUPS}
    """
    return fairness.throughput_ratio(*_goodputs_of_groups(run))


def _is_beside_others(flow: FlowView) -> bool:
    return _has_paths(flow.run) and flow.index in _indices(flow.run)


@once
def _indices(run: RunView) -> frozenset[int]:
    return frozenset(flow.index for flow in _flows(run))


@flow_metric(
    "1",
    "Throughput over max-min fair share",
    f"{ZHANG}, section 3.1; Bertsekas and Gallager, Data Networks, section 6.5.2",
    tables=("facts", "utilization"),
    window=counted,
    when=_is_beside_others,
    better="nearest",
    reference=1,
    apart=0.05,
)
def fair_share_ratio(flow: FlowView) -> float | None:
    """Share x_i of the flow, {COUNTED}. {_SHARE}."""
    return _normalised(flow.run)[flow.index]


@_of_shares(
    title="Jain's index over max-min fair shares",
    source=f"{ZHANG}, section 3.1; Bertsekas and Gallager, Data Networks, section 6.5.2",
    when=_has_paths,
    better="more",
    apart=0.02,
    reference=1,
)
def max_min_jain_index(run: RunView) -> float | None:
    """Jain's fairness index (sum x_i)^2/(n sum x_i^2), {COUNTED}. {_SHARE}."""
    return fairness.jain_index(list(_normalised(run).values()))


@_of_shares(
    title="Jain's index of the groups over fair shares",
    source=f"{ZHANG}, section 3.1, of means over groups",
    when=_has_groups_and_paths,
    better="more",
    apart=0.02,
    reference=1,
)
def group_max_min_jain_index(run: RunView) -> float | None:
    """Jain's fairness index of the groups' means of x_i, {COUNTED}. {_SHARE}. {_GROUPS}"""
    shares = _normalised(run)
    groups = _groups(run).values()
    return fairness.jain_index([known_mean([shares[f.index] for f in flows]) for flows in groups])


@once
def _normalised(run: RunView) -> Mapping[int, float | None]:
    """Flow → its throughput over its max-min fair share."""
    flows, window = _flows(run), _window_of_first(run)
    routes = {str(flow.index): _route(flow) for flow in flows}
    capacities = {f"access {flow.index}": flow.positive("access_mbps") for flow in flows}
    capacities |= {
        name: run.link(name.removeprefix(_BACK)).capacity_mbps(window)
        for _, *bottlenecks in routes.values()
        for name in bottlenecks
    }
    shares = fairness.max_min_shares(routes, capacities)
    return {
        flow.index: fairness.throughput_ratio(flow.fact("throughput"), shares[str(flow.index)])
        for flow in flows
    }


def _route(flow: FlowView) -> list[str]:
    """Links that a flow crosses: its own, and the bottlenecks of its path in its direction."""
    links = [link.name for link in flow.run.links("utilization")]
    first = int(flow.number("enters")) if flow.has_own("enters") else 1
    last = int(flow.number("leaves")) if flow.has_own("leaves") else len(links)
    names = links if len(links) == 1 else [f"bottleneck_{i}" for i in range(first, last + 1)]
    is_back = flow.has_own("direction") and flow.word("direction") == "reverse"
    return [f"access {flow.index}", *(_BACK * is_back + name for name in names)]


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
    return _is_long(run) and _has_two_groups(run)


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
    first, _ = _groups(run).values()
    return _drift(run, pl.concat([flow.throughput for flow in first]))


def _parts_of_second_half(run: RunView, bins: pl.DataFrame, parts: int) -> list[float]:
    """Means of the total throughput of flows over equal parts of the second half, Mbit/s."""
    totals = bins.group_by("time_s").agg(pl.col("mbps").sum()).sort("time_s")
    return batch_means(totals, "mbps", second_half(run), parts)


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
def fairness_points(group: Group) -> Iterator[tuple[Row, float | None]]:
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
                points = sum(
                    pair.count(protocol) * fairness.fairness_region(value)
                    for pair, value in known.items()
                )
                yield pairs[protocol, protocol], points


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


_STATISTICS = (MEAN, MEDIAN, percentile(95), percentile(99))
_FCT = "Dukkipati and McKeown (2006), Why Flow-Completion Time is the Right Metric"
_WEB = "Feldmann, Gilbert, Huang and Willinger (1999), the model of ns-2's PagePool/WebTraf"


def _transfers(kind: str, what: str, times: str, text: str, source: str) -> None:
    """Declare how many transfers of a kind have finished, and how long they took."""

    def times_s(run: RunView) -> pl.Series:
        rows = run.table("transfers").filter(pl.col("kind") == kind)
        return rows["end_s"] - rows["start_s"]

    def has_any(run: RunView) -> bool:
        return not times_s(run).is_empty()

    def is_expected(run: RunView) -> bool:
        flows = int(run.number("flows")) if kind == "flow" and run.has("flows") else 0
        finite = (run.flow(index).has_own("size_pkts") for index in range(flows))
        return has_any(run) or any(finite)

    of_transfers = functools.partial(run_metric, source=source, tables=("transfers",))
    of_transfers(
        "1",
        f"Finished {kind}s",
        name=f"finished_{kind}s",
        text=f"How many {what} by the end of the run.",
        when=is_expected,
        better="more",
        apart=1.0,
    )(lambda run: float(len(times_s(run))))
    family(
        functools.partial(of_transfers, "s", when=has_any, better="less", apart=0.05),
        *_STATISTICS,
        name=f"{kind}_{times.replace(' ', '_')}",
        title=f"{times} of {kind}s",
        text=f"{times} of {text}",
    )(times_s)


_transfers(
    *("flow", "flows of finite size had ended", "completion time"),
    text="the flows of finite size, from a flow's start to the ACK of its last byte. Flows that "
    "have not ended by the end of the run are left out.",
    source=_FCT,
)
_transfers(
    *("object", "of the web's objects had arrived", "response time"),
    text="the web's objects, from the request of an object to the ACK of its last byte, or, of "
    "PackMime's, to its arrival. Objects that have not arrived by the end of the run are left out.",
    source=_WEB,
)
_transfers(
    *("page", "of the web's pages had arrived", "response time"),
    text="the web's pages, from the request of a page to the ACK of the last byte of its last "
    "object. Pages that have not arrived by the end of the run are left out.",
    source=_WEB,
)


def _knows_pages(run: RunView) -> bool:
    return not run.table("pages").is_empty()


@run_metric("1", "Objects of a page", _WEB, tables=("pages",), when=_knows_pages)
def mean_page_objects(run: RunView) -> float | None:
    """Mean number of objects of the web's pages that had arrived by the end of the run."""
    return number(run.table("pages")["objects"].mean())
