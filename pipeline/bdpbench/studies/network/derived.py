"""Parameters of a run that follow from its flows and links, for metrics, charts and labels.

Those of a single flow or bottleneck contain its number, counted from 1: ``access_2_mbps``.
"""

from __future__ import annotations

from collections.abc import Sequence

from bdpbench.contracts.plan import Parameters
from bdpbench.studies.flows import format_value
from bdpbench.studies.network.links import Link
from bdpbench.studies.network.senders import NetworkFlow
from bdpbench.studies.parts import Change

_PAIR = 2
_THRESHOLDS = {"min_th_pkts": "thresh_", "max_th_pkts": "maxthresh_"}


def told_of_flows(flows: Sequence[NetworkFlow], links: int) -> Parameters:
    """Groups, sizes and paths of flows that have them, and access rates.

    If more than two flows have different protocols, each has a parameter: ``flow_protocol_3``.
    """
    found: Parameters = {}
    keys = [flow.flow.key for flow in flows]
    if len(keys) > _PAIR and len(set(keys)) > 1:
        found |= {f"flow_protocol_{i}": key for i, key in enumerate(keys, start=1)}
    rates = [float(dict(flow.more)["access_mbps"]) for flow in flows]
    if len(set(rates)) == 1:
        found["access_mbps"] = rates[0]
    else:
        found |= {f"access_{i}_mbps": mbps for i, mbps in enumerate(rates, start=1)}
    for i, flow in enumerate(flows, start=1):
        if flow.group:
            found[f"group_{i}"] = flow.group
        if flow.size_pkts is not None:
            found[f"size_{i}_pkts"] = flow.size_pkts
        if flow.route.first > 0:
            found[f"enters_{i}"] = flow.route.first + 1
        if flow.route.last < links - 1:
            found[f"leaves_{i}"] = flow.route.last + 1
        if flow.route.reverse:
            found[f"direction_{i}"] = "reverse"
    return found


def told_of_links(links: Sequence[Link], changes: Sequence[Change]) -> Parameters:
    """Rates of the bottlenecks of a chain, changes of rates, and RED's thresholds.

    Changes of a rate are written as ``5 from 20 s, 10 from 30 s``, in Mbit/s.
    """
    found: Parameters = {}
    for number, link in enumerate(links, start=1):
        if len(links) > 1:
            found[f"{link.name}_mbps"] = link.wire.mbps
        own = sorted(
            (float(each.at_s), float(each.bottleneck_mbps))
            for each in changes
            if each.bottleneck == number and each.bottleneck_mbps is not None
        )
        if own:
            found[f"{link.name}_mbps_changes"] = ", ".join(
                f"{format_value(mbps)} from {format_value(at_s)} s" for at_s, mbps in own
            )
    if len(links) == 1 and links[0].kind.has_average:
        variables = links[0].variables
        found |= {name: variables[variable] for name, variable in _THRESHOLDS.items()}
    return found
