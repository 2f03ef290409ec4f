"""How flows and groups of flows share a network, and whether a run still changes."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import polars as pl

from bdpbench.metrics import fairness
from bdpbench.metrics.definition import (
    CONVERGED_RATIO,
    CONVERGED_WINDOW_S,
    EVEN,
    MEAN,
    THESIS,
    ZHANG,
    Window,
    family,
    flow_metric,
    percentile,
    run_metric,
)
from bdpbench.metrics.series import known_mean, known_sum
from bdpbench.metrics.views import FlowView, RunView, counted, once, second_half
from bdpbench.units import total


def _has_flows(run: RunView) -> bool:
    return len(run.flows("throughput")) > 1


def _has_two_flows(run: RunView) -> bool:
    return len(run.flows("throughput")) == 2


def _has_one_link(run: RunView) -> bool:
    return len(run.links("utilization")) == 1


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


_BACK = "back "


def window_of_flows(run: RunView) -> Window:
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


def flow_groups(run: RunView) -> dict[str, list[FlowView]]:
    """Name of a group → its long-lived flows that have been counted."""
    groups: dict[str, list[FlowView]] = {}
    for flow in _flows(run):
        if flow.has_own("group"):
            groups.setdefault(flow.word("group"), []).append(flow)
    return groups


def has_two_groups(run: RunView) -> bool:
    return len(flow_groups(run)) == 2


@once
def has_paths(run: RunView) -> bool:
    flows = _flows(run)
    return len(flows) > 1 and all(flow.has("access_mbps") for flow in flows)


_of_groups = functools.partial(run_metric, tables=("facts",), window=window_of_flows)


def _goodputs_of_groups(run: RunView) -> list[float | None]:
    """Mean goodput of a flow of each group, Mbit/s."""
    return [known_mean([f.fact("goodput") for f in flows]) for flows in flow_groups(run).values()]


@_of_groups(
    "1",
    "Goodput of a flow, first over second group",
    "RFC 5166, section 2.3 (fairness between flows); Floyd and Fall (1999), on TCP-friendly flows",
    when=has_two_groups,
    better="nearest",
    reference=1,
    apart=0.05,
)
def group_goodput_ratio(run: RunView) -> float | None:
    """Mean goodput of a flow of the first of two groups over that of a flow of the second,
    {COUNTED}: 1 where they are friendly to each other. {OF_GROUPS}
    """
    return fairness.throughput_ratio(*_goodputs_of_groups(run))


def _is_beside_others(flow: FlowView) -> bool:
    return has_paths(flow.run) and flow.index in _indices(flow.run)


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
    """Share x_i of the flow, {COUNTED}. {OF_SHARE}."""
    return fair_shares(flow.run)[flow.index]


@once
def fair_shares(run: RunView) -> Mapping[int, float | None]:
    """Flow → its throughput over its max-min fair share."""
    flows, window = _flows(run), window_of_flows(run)
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


def _times_s(kind: str, run: RunView) -> pl.Series:
    """How long the finished transfers of a kind took."""
    rows = run.table("transfers").filter(pl.col("kind") == kind)
    return rows["end_s"] - rows["start_s"]


def _has_any(kind: str, run: RunView) -> bool:
    return not _times_s(kind, run).is_empty()


def _has_finite_flows(run: RunView) -> bool:
    flows = int(run.number("flows")) if run.has("flows") else 0
    finite = (run.flow(index).has_own("size_pkts") for index in range(flows))
    return _has_any("flow", run) or any(finite)


_FCT = "Dukkipati and McKeown (2006), Why Flow-Completion Time is the Right Metric"
_of_transfers = functools.partial(run_metric, tables=("transfers",), better="less", apart=0.05)


@run_metric(
    "1",
    "Finished flows",
    _FCT,
    tables=("transfers",),
    when=_has_finite_flows,
    better="more",
    apart=1.0,
)
def finished_flows(run: RunView) -> float | None:
    """How many flows of finite size had ended by the end of the run."""
    return float(len(_times_s("flow", run)))


family(
    functools.partial(_of_transfers, "s", source=_FCT, when=functools.partial(_has_any, "flow")),
    MEAN,
    percentile(95),
    name="flow_completion_time",
    title="completion time of flows",
    text="completion time of the flows of finite size, from a flow's start to the ACK of its last "
    "byte. Flows that have not ended by the end of the run are left out.",
)(functools.partial(_times_s, "flow"))
_WEB = "Feldmann, Gilbert, Huang and Willinger (1999), the model of ns-2's PagePool/WebTraf"
_has_objects = functools.partial(_has_any, "object")


@run_metric(
    "1",
    "Finished objects",
    _WEB,
    tables=("transfers",),
    when=_has_objects,
    better="more",
    apart=1.0,
)
def finished_objects(run: RunView) -> float | None:
    """How many of the web's objects had arrived by the end of the run."""
    return float(len(_times_s("object", run)))


family(
    functools.partial(_of_transfers, "s", source=_WEB, when=_has_objects),
    percentile(95),
    name="object_response_time",
    title="response time of objects",
    text="response time of the web's objects, from the request of an object to the ACK of its last "
    "byte, or, of PackMime's, to its arrival. Objects that have not arrived by the end of the run "
    "are left out.",
)(functools.partial(_times_s, "object"))
