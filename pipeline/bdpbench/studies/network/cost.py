"""How much a run of ``tcl/network.tcl`` makes ns-2 do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bdpbench.contracts.plan import Output, Parameters
from bdpbench.studies.cost import COSTS, expected_work
from bdpbench.studies.network.resolve import Network
from bdpbench.studies.queues import HEADER_BYTES
from bdpbench.studies.streams import is_traced

_LINES_PER_PACKET = 6
# ns-2 finds the way from each node to each other before it begins: 1,000 nodes take 8.6 s.
_NODE_PAIR_S = 8.6e-6
# Connections of the web are set up in Tcl: 1.4 ms an object of PagePool, 1.0 ms one of PackMime.
_CONNECTION_S = 1.2e-3


def network_cpu_s(
    network: Network, parameters: Parameters, outputs: Sequence[Output], variant: str = "fast"
) -> float:
    """Predicted CPU time of a run on the reference machine, s.

    Endless flows fill the slowest bottleneck, as ``studies.cost`` has it; flows that end and
    background alone carry no more than they have. A packet costs as much on each bottleneck.
    """
    duration_s = float(parameters["duration_s"])
    flows = [flow.flow for flow in network.flows]
    work = expected_work(parameters, flows, outputs)
    filled = work.packets
    if all(flow.size_pkts is not None for flow in network.flows):
        packet_bits = 8 * (int(parameters["packet_bytes"]) + HEADER_BYTES)
        offered = sum(source.mbps for source in network.sources) * 1e6 / packet_bits * duration_s
        filled = min(filled, offered + sum(flow.size_pkts or 0 for flow in network.flows))
    packets = filled * len(network.links)
    lines = packets * _LINES_PER_PACKET if is_traced(parameters) else 0.0
    routing_s = _NODE_PAIR_S * network.nodes**2
    web_s = sum(
        source.setup_s + source.connections_per_s * duration_s * _CONNECTION_S
        for source in network.sources
    )
    return replace(work, packets=packets, lines=lines).cpu_s(COSTS[variant]) + routing_s + web_s
