"""A run of ``tcl/network.tcl``, resolved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bdpbench.contracts.plan import Output, Parameters, Scalar
from bdpbench.contracts.runs import OUTPUT_FOLDER
from bdpbench.studies.flows import ResolvedFlow, resolve_defaults
from bdpbench.studies.network.checks import (
    check_bursts,
    check_defaults,
    check_ecn,
    check_samples,
    check_two_way,
)
from bdpbench.studies.network.defaults import NETWORK_DEFAULTS
from bdpbench.studies.network.derived import told_of_flows, told_of_links
from bdpbench.studies.network.links import Link, Wire, links_of, wires_of
from bdpbench.studies.network.senders import NetworkFlow, flows_of
from bdpbench.studies.network.source import Source
from bdpbench.studies.network.traffic import change_arguments, changes_of, sources_of
from bdpbench.studies.network.values import Values
from bdpbench.studies.parts import Change
from bdpbench.studies.streams import is_traced
from bdpbench.studies.study import DURATION_ARGUMENT, NETWORK_SCRIPT, WEB_SCRIPT, Study
from bdpbench.units import bdp_packets

_LEAST_WINDOW_PKTS = 10_000
_EPSILON_MS = 1e-6
_ECN_ON = {"ecn_": 1.0}


@dataclass(frozen=True)
class Network:
    """Everything about a run.

    Attributes:
        links: its bottlenecks.
        flows: its flows.
        sources: its background.
        changes: of its bottlenecks over time.
        defaults: ns-2 class → variable → value.
        used: parameters of the run that had an effect.
        derived: parameters that follow from others, for metrics and labels.
        parameters: parameters of the run, as given.
    """

    links: Sequence[Link]
    flows: Sequence[NetworkFlow]
    sources: Sequence[Source]
    changes: Sequence[Change]
    defaults: dict[str, dict[str, float]]
    used: frozenset[str]
    derived: Parameters
    parameters: Parameters

    @property
    def script(self) -> str:
        """The script that simulates the run; PackMime and records of web pages need their own."""
        more = any(source.kind == "packmime" or source.pages for source in self.sources)
        return WEB_SCRIPT if more else NETWORK_SCRIPT

    @property
    def senders(self) -> list[ResolvedFlow]:
        """Senders that affect ns-2's behaviour: those of flows and of web connections."""
        return senders_of(self.flows, self.sources)

    @property
    def nodes(self) -> int:
        """Number of nodes of its network."""
        hosts = sum(source.hosts for source in self.sources)
        return 1 + len(self.links) + 2 * len(self.flows) + hosts

    def arguments(self) -> list[tuple[str, Scalar]]:
        """Keys of the script's arguments, and their values."""
        return [
            (DURATION_ARGUMENT, self.parameters[DURATION_ARGUMENT]),
            *self._samples(),
            ("links", len(self.links)),
            *(pair for i, link in enumerate(self.links) for pair in link.arguments(i)),
            *(
                (f"default.{name}.{variable}", value)
                for name, variables in self.defaults.items()
                for variable, value in variables.items()
            ),
            ("flows", len(self.flows)),
            *(pair for i, flow in enumerate(self.flows) for pair in _flow_arguments(i, flow)),
            *([("backgrounds", len(self.sources))] if self.sources else []),
            *(pair for i, source in enumerate(self.sources) for pair in source.arguments(i)),
            *change_arguments(self.changes),
            ("datadir", OUTPUT_FOLDER),
        ]

    def _samples(self) -> Iterator[tuple[str, Scalar]]:
        given = {**NETWORK_DEFAULTS, **self.parameters}
        yield "sample_s", given["sample_s"]
        yield "queue_sample_s", given.get("queue_sample_s", given["sample_s"])
        yield "trace", int(is_traced(self.parameters))
        yield "substream", given["substream"]

    def outputs(self) -> list[Output]:
        """Files that the script writes, and the tables that they become."""
        outputs: list[Output] = []
        for index, flow in enumerate(self.flows):
            outputs += _outputs_of(index, flow) if flow.recorded else []
        for index, link in enumerate(self.links):
            end = "" if index == 0 else f"_{link.name}"
            outputs.append({"file": f"queue{end}.out", "table": "queue", "link": link.name})
            outputs.append({"file": f"util{end}.out", "table": "utilization", "link": link.name})
            if link.kind.has_average:
                outputs.append({"file": f"red{end}.out", "table": "red", "link": link.name})
        if self._has_transfers():
            outputs.append({"file": "transfers.out", "table": "transfers"})
        if any(source.pages for source in self.sources):
            outputs.append({"file": "pages.out", "table": "pages"})
        outputs.append({"file": "report.txt", "table": "facts"})
        if is_traced(self.parameters):
            outputs.append({"file": "pckts.trq", "table": "packets"})
        return outputs

    def _has_transfers(self) -> bool:
        sized = any(flow.size_pkts is not None for flow in self.flows)
        return sized or any(source.transfers for source in self.sources)


def senders_of(flows: Sequence[NetworkFlow], sources: Sequence[Source]) -> list[ResolvedFlow]:
    """TCP senders: those of flows, and of web connections."""
    web = [source.sender for source in sources if source.sender is not None]
    return [*(each.flow for each in flows), *web]


def _outputs_of(index: int, each: NetworkFlow) -> Iterator[Output]:
    """Time-series files of a flow; its cwnd file has the variables that its protocol records."""
    file, names = f"cwnd_hstcp{index}.out", list(each.flow.protocol.record)
    if names:
        yield {"file": file, "table": "cwnd", "flow": index, "names": names}
        yield {"file": file, "table": "recorded", "flow": index, "names": names}
    else:
        yield {"file": file, "table": "cwnd", "flow": index}
    yield {"file": f"tput_hstcp{index}.out", "table": "throughput", "flow": index}


def _flow_arguments(index: int, each: NetworkFlow) -> Iterator[tuple[str, Scalar]]:
    prefix, flow = f"flow.{index}", each.flow
    yield f"{prefix}.agent", flow.protocol.agent
    yield f"{prefix}.sink", flow.protocol.sink
    yield f"{prefix}.start_s", flow.start_s
    yield f"{prefix}.access_delay_ms", flow.access_delay_ms or 0.0
    if flow.protocol.linux is not None:
        yield f"{prefix}.linux", flow.protocol.linux
    if flow.protocol.record and each.recorded:
        yield f"{prefix}.record", " ".join(flow.protocol.record)
    for name, value in each.more:
        yield f"{prefix}.{name}", value
    for variable, number in flow.settings.items():
        yield f"{prefix}.set.{variable}", number


def network(study: Study, scenario: str, parameters: Parameters) -> Network:
    """Resolve a run of a scenario without a script of its own.

    Args:
        study: the study of the run.
        scenario: key of its scenario.
        parameters: parameters of the run with duration_s, without the computed ones.

    Raises:
        BdpbenchError: naming file and line, for what ns-2 cannot simulate.
    """
    values = Values(study, scenario, parameters)
    values.used |= {DURATION_ARGUMENT, "sample_s", "queue_sample_s", "substream", "trace"}
    packet_bytes = int(values.number("packet_bytes", "the segment size"))
    duration_s = float(parameters[DURATION_ARGUMENT])
    defaults = resolve_defaults(study, scenario, study.scenarios[scenario], parameters)
    wires = wires_of(values)
    flows = flows_of(values, wires, defaults, duration_s)
    sources = sources_of(values, wires, defaults, duration_s)
    nominal_ms = _nominal_rtt(values, flows)
    links = links_of(values, wires, nominal_ms, packet_bytes)
    changes = changes_of(values, links, duration_s)
    senders = senders_of(flows, sources)
    check_samples(values)
    check_bursts(values, links, changes)
    check_defaults(values, defaults, senders)
    check_two_way(values, senders)
    check_ecn(values, links, senders)
    if senders:
        _add_defaults(defaults, values, wires, links, flows, packet_bytes)
    derived = _derived(flows, wires, links, nominal_ms, packet_bytes)
    derived |= {**told_of_flows(flows, len(links)), **told_of_links(links, changes)}
    used = frozenset(values.used | _referenced_by_defaults(values))
    return Network(links, flows, sources, changes, defaults, used, derived, parameters)


def _referenced_by_defaults(values: Values) -> set[str]:
    scenario = values.study.scenarios[values.scenario]
    return {
        value[1:]
        for variables in values.study.defaults_of(scenario).values()
        for value in variables.values()
        if isinstance(value, str)
    }


def _nominal_rtt(values: Values, flows: Sequence[NetworkFlow]) -> float | None:
    """RTT of the run as a whole, ms; None if its flows have different RTTs.

    If the run gives an RTT although its flows have their own, it only serves to compute shares of
    the BDP, and has no effect without them.
    """
    if values.has("rtt_ms"):
        if values.has("buffer_bdp"):
            values.get("rtt_ms")
        return float(values.parameters["rtt_ms"])
    found = {round(flow.rtt_ms, 6) for flow in flows}
    return found.pop() if len(found) == 1 else None


def _add_defaults(
    defaults: dict[str, dict[str, float]],
    values: Values,
    wires: Sequence[Wire],
    links: Sequence[Link],
    flows: Sequence[NetworkFlow],
    packet_bytes: int,
) -> None:
    """Defaults for every TCP sender: segment size, a window that never limits it, ECN."""
    own = {
        "packetSize_": float(packet_bytes),
        "window_": _ample_window(wires, links, flows, packet_bytes),
        **(_ECN_ON if values.get("ecn") == "on" else {}),
    }
    given = defaults.get("Agent/TCP", {})
    defaults["Agent/TCP"] = {**own, **given}


def _ample_window(
    wires: Sequence[Wire], links: Sequence[Link], flows: Sequence[NetworkFlow], packet_bytes: int
) -> float:
    """A window that never limits a flow, packets: several times what path and buffers can hold."""
    fastest_mbps = max(wire.mbps for wire in wires)
    rtt_ms = max((flow.rtt_ms for flow in flows), default=0.0)
    held = sum(link.holds_pkts for link in links)
    return float(
        max(_LEAST_WINDOW_PKTS, int(4 * (bdp_packets(fastest_mbps, rtt_ms, packet_bytes) + held)))
    )


def _derived(
    flows: Sequence[NetworkFlow],
    wires: Sequence[Wire],
    links: Sequence[Link],
    nominal_ms: float | None,
    packet_bytes: int,
) -> Parameters:
    """Parameters that follow from others."""
    found: Parameters = {"flows": len(flows), "packet_bytes": packet_bytes}
    found["bottleneck_mbps"] = min(wire.mbps for wire in wires)
    if len(links) == 1:
        found["buffer_pkts"] = links[0].holds_pkts
        found["bottleneck_delay_ms"] = wires[0].delay_ms
    if nominal_ms is not None:
        found["rtt_ms"] = nominal_ms
    if any(abs(flow.rtt_ms - (nominal_ms or 0)) > _EPSILON_MS for flow in flows):
        found |= {f"rtt_{i}_ms": flow.rtt_ms for i, flow in enumerate(flows, start=1)}
    return found
