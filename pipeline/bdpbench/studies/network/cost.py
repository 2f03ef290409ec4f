"""Predicted cost of a run of ``tcl/network.tcl``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from bdpbench.contracts.plan import Output, Parameters
from bdpbench.studies.cost import COSTS, expected_work, halves
from bdpbench.studies.flows import ResolvedFlow
from bdpbench.studies.network.links import Link
from bdpbench.studies.network.resolve import Network
from bdpbench.studies.network.senders import NetworkFlow
from bdpbench.studies.queues import HEADER_BYTES
from bdpbench.studies.streams import is_traced

_LINES_PER_PACKET = 6
# ns-2 computes the routes between all nodes before it begins: 1,000 nodes take 8.6 s.
_NODE_PAIR_S = 8.6e-6
# Web connections are set up in Tcl: 1.4 ms per object of PagePool, 1.0 ms per object of PackMime.
_CONNECTION_S = 1.2e-3
# Additional time per packet if the queue maintains an average of its length.
_AVERAGING = 1.2
# Mean cwnd in packets at loss rate p: 1.22 / p^0.5 (Mathis et al. 1997), or for high-speed laws
# 0.12 / p^0.835 (RFC 3649) where that is larger.
_STANDARD_RESPONSE = (1.22, 0.5)
_HIGH_SPEED_RESPONSE = (0.12, 0.835)


def network_cpu_s(
    network: Network, parameters: Parameters, outputs: Sequence[Output], variant: str = "fast"
) -> float:
    """Predicted CPU time of a run on the reference machine, s.

    Long-lived flows fill the slowest bottleneck as in ``studies.cost``, unless their access links
    or random losses prevent it; finite flows and background traffic carry no more than they have to
    send. A packet costs the same on each bottleneck.
    """
    duration_s = float(parameters["duration_s"])
    flows = [flow.flow for flow in network.flows]
    work = expected_work(parameters, flows, outputs)
    packet_bits = 8 * (int(parameters["packet_bytes"]) + HEADER_BYTES)
    offered = sum(source.mbps for source in network.sources) * 1e6 / packet_bits * duration_s
    carried = sum(_most_pkts(network, flow, packet_bits, duration_s) for flow in network.flows)
    packets = min(work.packets, offered + carried) * len(network.links)
    averaging = _AVERAGING if any(link.kind.has_average for link in network.links) else 1.0
    found = replace(
        work,
        packets=packets * averaging,
        lines=packets * _LINES_PER_PACKET if is_traced(parameters) else 0.0,
        under_way_pkts=work.under_way_pkts + _queued_pkts(network),
    )
    web_s: float = sum(
        source.setup_s + source.connections_per_s * duration_s * _CONNECTION_S
        for source in network.sources
    )
    return found.cpu_s(COSTS[variant]) + _NODE_PAIR_S * network.nodes**2 + web_s


def _most_pkts(network: Network, flow: NetworkFlow, packet_bits: float, duration_s: float) -> float:
    """Most packets that a flow can send, given its size, its access links and its losses."""
    pkts_per_s = [float(dict(flow.more)["access_mbps"]) * 1e6 / packet_bits]
    kept = math.prod(1 - link.loss_rate for link in _links_of(network, flow))
    if kept < 1 and flow.rtt_ms > 0:
        pkts_per_s.append(_cwnd_at(1 - kept, flow.flow) / flow.rtt_ms * 1000)
    sent = min(pkts_per_s) * max(0.0, duration_s - flow.flow.start_s)
    return sent if flow.size_pkts is None else min(sent, flow.size_pkts)


def _links_of(network: Network, flow: NetworkFlow) -> Sequence[Link]:
    return network.links[flow.route.first : flow.route.last + 1]


def _cwnd_at(loss: float, flow: ResolvedFlow) -> float:
    """Mean cwnd, packets, at a loss rate."""
    standard, high_speed = (
        factor / math.pow(loss, power)
        for factor, power in (_STANDARD_RESPONSE, _HIGH_SPEED_RESPONSE)
    )
    return standard if halves(flow) else max(standard, high_speed)


def _queued_pkts(network: Network) -> float:
    """Packets that may queue at an access link that is slower than the bottlenecks."""
    slowest = min(link.wire.mbps for link in network.links)
    access = [dict(flow.more) for flow in network.flows]
    return sum(
        float(each.get("access_buffer_pkts", 0))
        for each in access
        if float(each["access_mbps"]) < slowest
    )
