"""Arguments and output files of ``tcl/dumbbell.tcl``, the script of scenarios made by config."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bdpbench.errors import BdpbenchError
from bdpbench.studies.streams import is_traced
from bdpbench.studies.study import Protocol, Scenario, Study

DEFAULT_SAMPLE_S = 0.1

_REQUIRED = {
    "bottleneck_mbps": "the bottleneck rate",
    "bottleneck_delay_ms": "the bottleneck delay",
    "access_mbps": "the access rate",
    "access_delay_ms": "the access delay of the senders",
    "receiver_delay_ms": "the access delay of the receivers",
    "buffer_pkts": "the bottleneck queue limit",
    "packet_bytes": "the segment size",
}


@dataclass(frozen=True)
class ResolvedFlow:
    """One flow: its protocol (key and definition), start (s) and one-way access delay (ms)."""

    key: str
    protocol: Protocol
    start_s: float
    access_delay_ms: float


def expand_flows(
    study: Study, key: str, scenario: Scenario, parameters: Mapping[str, Any]
) -> list[ResolvedFlow]:
    """The flows of a run in order.

    Raises:
        BdpbenchError: when the topology lacks a parameter or a flow has no protocol.
    """
    for name, meaning in _REQUIRED.items():
        if name not in parameters:
            raise BdpbenchError(f"scenario {key}: {name}, {meaning}, has no value")
    flows = []
    for group in scenario.flows:
        protocol = group.protocol or parameters.get("protocol")
        if protocol is None:
            raise BdpbenchError(
                f"scenario {key}: a flow names no protocol and the run has none",
                hint="set flows[].protocol, parameters.protocol or a sweep of protocol",
            )
        delay = group.access_delay_ms
        flows += [
            ResolvedFlow(
                key=protocol,
                protocol=study.protocols[protocol],
                start_s=group.start_s + index * group.stagger_s,
                access_delay_ms=parameters["access_delay_ms"] if delay is None else delay,
            )
            for index in range(group.count)
        ]
    return flows


def dumbbell_arguments(
    flows: Sequence[ResolvedFlow], parameters: Mapping[str, Any]
) -> tuple[str, ...]:
    """``-key value`` pairs for the script; numbers in the units of their names."""
    pairs: list[tuple[str, Any]] = [("duration_s", parameters["duration_s"])]
    pairs += [(name, parameters[name]) for name in _REQUIRED if name != "access_delay_ms"]
    pairs += [
        ("sample_s", parameters.get("sample_s", DEFAULT_SAMPLE_S)),
        ("queue", parameters.get("queue", "DropTail")),
        ("trace", int(is_traced(parameters))),
        ("run", parameters.get("run", 1)),
        ("datadir", "out"),
        ("flows", len(flows)),
    ]
    for index, flow in enumerate(flows):
        pairs += _flow_arguments(f"flow.{index}", flow)
    return tuple(text for name, value in pairs for text in (f"-{name}", f"{_plain(value)}"))


def _flow_arguments(prefix: str, flow: ResolvedFlow) -> list[tuple[str, Any]]:
    pairs: list[tuple[str, Any]] = [
        (f"{prefix}.agent", flow.protocol.agent),
        (f"{prefix}.sink", flow.protocol.sink),
        (f"{prefix}.start_s", flow.start_s),
        (f"{prefix}.access_delay_ms", flow.access_delay_ms),
    ]
    if flow.protocol.linux is not None:
        pairs.append((f"{prefix}.linux", flow.protocol.linux))
    pairs += [(f"{prefix}.set.{name}", value) for name, value in flow.protocol.settings.items()]
    return pairs


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def dumbbell_outputs(flows: int, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Files that the script writes for ``flows`` flows, and the tables that they become."""
    outputs: list[dict[str, Any]] = []
    for flow in range(flows):
        outputs.append({"file": f"cwnd_hstcp{flow}.out", "table": "cwnd", "flow": flow})
        outputs.append({"file": f"tput_hstcp{flow}.out", "table": "throughput", "flow": flow})
    outputs.append({"file": "queue.out", "table": "queue", "link": "bottleneck"})
    outputs.append({"file": "util.out", "table": "utilization", "link": "bottleneck"})
    if is_traced(parameters):
        outputs.append({"file": "pckts.trq", "table": "packets"})
    return outputs
