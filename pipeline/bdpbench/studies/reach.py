"""Checks that nothing in a study is without effect: each parameter of a run must reach ns-2.

A parameter is an argument of the script, is referenced in a flow or in class defaults, sets
variables of an agent, or is declared nominal, so that only metrics and labels read it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from bdpbench.contracts.plan import Output, Parameters
from bdpbench.contracts.yaml_files import Location
from bdpbench.errors import BdpbenchError
from bdpbench.studies.flows import ResolvedFlow, referenced
from bdpbench.studies.study import DURATION_ARGUMENT, NETWORK_SCRIPT, Scenario, Study

_RTTS = ("rtt_ms", "rtt_1_ms", "rtt_2_ms")
_SEGMENT_VARIABLE = "packetSize_"


def check_reach(
    study: Study,
    key: str,
    parameters: Parameters,
    flows: Sequence[ResolvedFlow],
    outputs: Sequence[Output],
) -> None:
    """Refuse a run with a parameter that would be ignored or contradicted.

    Args:
        study: the study of the run.
        key: key of its scenario.
        parameters: as the study gives them, without the computed ones.
        flows: flows of the run.
        outputs: files that its script writes.

    Raises:
        BdpbenchError: naming file, line, parameter, and what would give it an effect.
    """
    scenario = study.scenarios[key]
    used = set(_used(study, scenario, flows, outputs))
    for name in parameters:
        nominal = bool(study.vocabulary[name].nominal) if name in study.vocabulary else True
        if name not in used and not nominal:
            raise _without_effect(study, key, name)
    check_segment(study, key, parameters, flows)


def check_used(study: Study, key: str, parameters: Parameters, used: Collection[str]) -> None:
    """Refuse a run of ``tcl/network.tcl`` with a parameter that had no effect.

    Args:
        study: the study of the run.
        key: key of its scenario.
        parameters: as the study gives them.
        used: those that had an effect.

    Raises:
        BdpbenchError: naming file, line, parameter, and what would give it an effect.
    """
    for name in parameters:
        nominal = name in study.parameters and bool(study.parameters[name].nominal)
        if name not in used and not nominal:
            raise _without_effect(study, key, name)


def place_of(study: Study, key: str, name: str) -> Location:
    """Where a study sets a parameter of a scenario's runs."""
    scenario = study.scenarios[key]
    base = ("scenarios", key)
    for index, case in enumerate(scenario.cases):
        if name in case:
            return (*base, "cases", index, name)
    if name in scenario.sweep:
        return (*base, "sweep", name)
    if name in scenario.parameters:
        return (*base, "parameters", name)
    return ("topologies", scenario.topology, "parameters", name)


def _used(
    study: Study, scenario: Scenario, flows: Sequence[ResolvedFlow], outputs: Sequence[Output]
) -> Iterator[str]:
    """Parameters that reach ns-2."""
    yield DURATION_ARGUMENT
    yield from scenario.arguments
    for group in scenario.flows:
        yield from filter(
            None, (referenced(getattr(group, each)) for each in type(group).model_fields)
        )
        if group.protocol is None:
            yield "protocol"
        if group.access_delay_ms is None:
            yield "access_delay_ms"
    for variables in study.defaults_of(scenario).values():
        yield from filter(None, map(referenced, variables.values()))
    protocols = {flow.key for flow in flows}
    for name, declaration in study.vocabulary.items():
        if protocols & set(declaration.sets):
            yield name
    if any(output["table"] == "packets" or "stream" in output for output in outputs):
        yield "trace"


def _without_effect(study: Study, key: str, name: str) -> BdpbenchError:
    scenario = study.scenarios[key]
    sets = study.vocabulary[name].sets
    if sets:
        reason = f"no flow of this run uses {' or '.join(sets)}, whose agents it sets"
        hint = "give it only to the runs of that protocol, with cases or another scenario"
    elif name in ("protocol", "protocol_1", "protocol_2", "access_delay_ms", "flow2_start_s"):
        reason = f"no flow of {key} uses it"
        hint = f"write ${name} where a flow of the scenario should use it"
    elif name == "flows":
        reason, hint = f"no flow of {key} uses it", "write count: $flows at a flow"
    elif name == "packet_bytes":
        reason = f"{scenario.script} does not take it"
        hint = f"set it by defaults: {{Agent/TCP: {{{_SEGMENT_VARIABLE}: $packet_bytes}}}}"
    elif name in _RTTS and scenario.script == NETWORK_SCRIPT:
        reason = "the RTT of each flow follows from access_delay_ms or rtt_ms of its own"
        hint = f"leave out access_delay_ms, or write rtt_ms: ${name} at a flow"
    elif scenario.script == NETWORK_SCRIPT:
        reason = f"nothing in {key} uses it"
        hint = f"write ${name} where it should be used, or remove it"
    else:
        reason = f"{scenario.script} does not take it"
        hint = "list it under arguments: if the script takes it; remove it otherwise"
    return study.error(
        place_of(study, key, name), f"{name} would have no effect: {reason}", hint=hint
    )


def check_segment(
    study: Study, key: str, parameters: Parameters, flows: Sequence[ResolvedFlow]
) -> None:
    """Refuse a segment size for metrics that differs from the one that the agents send.

    Raises:
        BdpbenchError: naming both sizes.
    """
    given = parameters.get("packet_bytes")
    for flow in flows if given is not None else ():
        size = flow.variable(_SEGMENT_VARIABLE)
        if size is not None and size != given:
            raise study.error(
                place_of(study, key, "packet_bytes"),
                f"packet_bytes is {given}, but {_SEGMENT_VARIABLE} of {flow.key} is {size:g}",
                hint=f"write {_SEGMENT_VARIABLE}: $packet_bytes",
            )
