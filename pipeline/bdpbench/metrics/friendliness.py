"""How groups of flows share a network, and how flows with different paths share it."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from bdpbench.metrics import fairness
from bdpbench.metrics.definition import run_metric
from bdpbench.metrics.views import FlowView, RunView, counted
from bdpbench.metrics.words import COUNTED, ZHANG

_TABLES = ("facts", "utilization")
_FLOW = ("group", "size_pkts")
_PATH = (
    "access_mbps",
    "bottleneck_mbps",
    "bottleneck_mbps_changes",
    "enters",
    "leaves",
    "direction",
    "size_pkts",
)
_BACK = "back "
_GROUPS = (
    "Groups are those that the scenario names, in the order of their first flows; transfers of "
    "finite size are left out."
)
_SHARE = (
    "x_i is the flow's throughput, headers and retransmissions included, over its max-min fair "
    "share of the nominal rates of its access link and of the bottlenecks of its path, of which "
    "nothing is taken off for what sends beside the flows; transfers of finite size are left out"
)


def _window_of_first(run: RunView) -> tuple[float, float]:
    return counted(_flows(run)[0])


def _flows(run: RunView) -> list[FlowView]:
    """The long-lived flows that have been counted, by number."""
    counted_flows = [
        each
        for each in run.flows("facts")
        if each.fact("window_end") is not None and not each.has_own("size_pkts")
    ]
    return sorted(counted_flows, key=lambda flow: flow.index)


def groups_of(run: RunView) -> dict[str, list[FlowView]]:
    """Name of a group → its long-lived flows that have been counted."""
    groups: dict[str, list[FlowView]] = {}
    for flow in _flows(run):
        if flow.has_own("group"):
            groups.setdefault(flow.word("group"), []).append(flow)
    return groups


def has_two_groups(run: RunView) -> bool:
    """Whether the scenario has two groups of such flows."""
    return len(groups_of(run)) == 2


def _has_groups(run: RunView) -> bool:
    return len(groups_of(run)) > 1


def _has_paths(run: RunView) -> bool:
    flows = _flows(run)
    return len(flows) > 1 and all(flow.has("access_mbps") for flow in flows)


def _has_groups_and_paths(run: RunView) -> bool:
    return _has_groups(run) and _has_paths(run)


@run_metric(
    unit="Mbit/s",
    title="Throughput of the first group",
    text="Sum of the throughputs of the flows of the first of two groups, headers and "
    f"retransmissions included, {COUNTED}. {_GROUPS}",
    source=f"{ZHANG}, Tables 1 to 6 (throughput of S1)",
    tables=("facts",),
    optional=_FLOW,
    window=_window_of_first,
    when=has_two_groups,
    version=1,
)
def first_group_throughput(run: RunView) -> float | None:
    first, _ = groups_of(run).values()
    return _sum(first, "throughput")


@run_metric(
    unit="Mbit/s",
    title="Throughput of the second group",
    text="Sum of the throughputs of the flows of the second of two groups, headers and "
    f"retransmissions included, {COUNTED}. {_GROUPS}",
    source=f"{ZHANG}, Tables 1 to 6 (throughput of S2)",
    tables=("facts",),
    optional=_FLOW,
    window=_window_of_first,
    when=has_two_groups,
    version=1,
)
def second_group_throughput(run: RunView) -> float | None:
    _, second = groups_of(run).values()
    return _sum(second, "throughput")


@run_metric(
    unit="1",
    title="Goodput of a flow, first over second group",
    text="Mean goodput of a flow of the first of two groups over that of a flow of the second, "
    f"{COUNTED}: 1 where they are friendly to each other. {_GROUPS}",
    source="RFC 5166, section 2.3 (fairness between flows); Floyd and Fall (1999), on "
    "TCP-friendly flows",
    tables=("facts",),
    optional=_FLOW,
    window=_window_of_first,
    when=has_two_groups,
    version=1,
)
def group_goodput_ratio(run: RunView) -> float | None:
    first, second = (_mean(flows, "goodput") for flows in groups_of(run).values())
    return fairness.throughput_ratio(first, second)


@run_metric(
    unit="1",
    title="Jain's fairness index of the groups",
    text="Jain's fairness index of the groups' mean goodputs of a flow, "
    f"{COUNTED}: flows of one group may differ. {_GROUPS}",
    source="Jain, Chiu and Hawe (1984), DEC-TR-301, of means over groups",
    tables=("facts",),
    optional=_FLOW,
    window=_window_of_first,
    when=_has_groups,
    version=1,
)
def group_jain_index(run: RunView) -> float | None:
    return fairness.jain_index([_mean(flows, "goodput") for flows in groups_of(run).values()])


@run_metric(
    unit="1",
    title="Jain's index over max-min fair shares",
    text=f"Jain's fairness index (sum x_i)^2/(n sum x_i^2), {COUNTED}. {_SHARE}.",
    source=f"{ZHANG}, section 3.1; Bertsekas and Gallager, Data Networks, section 6.5.2",
    tables=_TABLES,
    optional=_PATH,
    window=_window_of_first,
    when=_has_paths,
    version=1,
)
def max_min_jain_index(run: RunView) -> float | None:
    return fairness.jain_index(list(_normalised(run).values()))


@run_metric(
    unit="1",
    title="Jain's index of the groups over fair shares",
    text=f"Jain's fairness index of the groups' means of x_i, {COUNTED}. {_SHARE}. {_GROUPS}",
    source=f"{ZHANG}, section 3.1, of means over groups",
    tables=_TABLES,
    optional=(*_PATH, "group"),
    window=_window_of_first,
    when=_has_groups_and_paths,
    version=1,
)
def group_max_min_jain_index(run: RunView) -> float | None:
    shares = _normalised(run)
    means = [_mean_of([shares[flow.index] for flow in flows]) for flows in groups_of(run).values()]
    return fairness.jain_index(means)


def _sum(flows: Sequence[FlowView], fact: str) -> float | None:
    known = [value for flow in flows if (value := flow.fact(fact)) is not None]
    return sum(known) if len(known) == len(flows) else None


def _mean(flows: Sequence[FlowView], fact: str) -> float | None:
    return _mean_of([flow.fact(fact) for flow in flows])


def _mean_of(values: Sequence[float | None]) -> float | None:
    known = [each for each in values if each is not None]
    return statistics.fmean(known) if known and len(known) == len(values) else None


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
