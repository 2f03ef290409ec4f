"""Scenarios → runs: each point of a tier's grid, resolved, checked, and identified by its bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import cast

from bdpbench.contracts.paths import relative, tcl_dir
from bdpbench.contracts.plan import Output, Parameters, PlannedRun, Scalar
from bdpbench.contracts.runs import OUTPUT_FOLDER, REDUCED_TABLES, reduced_file
from bdpbench.errors import BdpbenchError
from bdpbench.studies.background import Source, is_recorded, source_arguments, sources_of
from bdpbench.studies.cost import estimated_cpu_s
from bdpbench.studies.engines import Translation
from bdpbench.studies.flows import (
    NetworkFlow,
    flow_arguments,
    flow_parameters,
    network_flows,
    script_flows,
)
from bdpbench.studies.identity import Identities, run_id
from bdpbench.studies.links import (
    Link,
    change_arguments,
    changes_of,
    check_bursts,
    link_parameters,
    links_of,
    wires_of,
)
from bdpbench.studies.load import script_path
from bdpbench.studies.ns3_program import is_ns3, ns3_identity
from bdpbench.studies.plan import label_of, note_equal, parameter_grid, tell_apart, tiers_of
from bdpbench.studies.study import (
    DURATION_ARGUMENT,
    NETWORK_SCRIPT,
    Study,
)
from bdpbench.studies.values import (
    ClassVariables,
    Pairs,
    Resolved,
    Values,
    argument_words,
    check_network,
    check_run,
)
from bdpbench.studies.vocabulary import NETWORK_DEFAULTS, NS3, PROTOCOL_PARAMETERS, is_traced
from bdpbench.units import bdp_packets

_LEAST_WINDOW_PKTS = 10_000
_EPSILON_MS = 1e-6


def expand_tier(study: Study, tier: str, identities: Identities | None = None) -> list[PlannedRun]:
    """All runs of a tier, in the order of ``study.yaml``; equal runs of a scenario appear once.

    So do runs whose buffers, given as shares of the BDP or as times, round to the same number of
    packets: the first of them has the values of the others as ``alike``.

    ``identities``, shared between tiers, read each script once.

    Raises:
        BdpbenchError: when the tier has no runs; naming file and line, when a run lacks a value,
            when a setting would not reach ns-2, or when two runs of a scenario differ in name only.
    """
    points = (
        (key, parameters)
        for key in study.scenarios
        for parameters in parameter_grid(study, key, tier)
    )
    planned = expand_points(study, points, identities or Identities())
    if not planned:
        raise BdpbenchError(
            f"study {study.key} has no runs in tier {tier!r}",
            hint="its tiers: " + ", ".join(tiers_of(study)),
        )
    return planned


def expand_points(
    study: Study, points: Iterable[tuple[str, Parameters]], identities: Identities
) -> list[PlannedRun]:
    """The same for given scenarios and parameters, see ``plan_run``."""
    runs: dict[tuple[str, str], PlannedRun] = {}
    for key, parameters in points:
        run = plan_run(study, key, parameters, identities)
        known = runs.setdefault((key, run["run_id"]), run)
        if known is not run:
            note_equal(study, known, run)
    planned = list(runs.values())
    tell_apart(study, planned)
    return planned


def plan_run(study: Study, key: str, given: Parameters, identities: Identities) -> PlannedRun:
    """One run of a scenario, of parameters with ``duration_s`` and without the computed ones.

    Raises:
        BdpbenchError: naming file and line, see ``expand_tier``.
    """
    values = Values(study, key, given)
    run = _resolved(values)
    parameters = _with_path({**run.derived, **given})
    check_run(values, parameters, run.flows, run.senders)
    outputs = identities.shared(_reduced(run.outputs, given))
    streams = list(dict.fromkeys(each["stream"] for each in outputs if "stream" in each))
    uses = {sender.use for sender in run.senders} if run.knows_senders else set()
    identity = (
        ns3_identity(run.argv)
        if is_ns3(run.script)
        else identities.of(run.path, run.argv, uses or None, streams)
    )
    named = [str(parameters[each]) for each in PROTOCOL_PARAMETERS if each in parameters]
    cost_s = estimated_cpu_s(parameters, len(run.flows), ns3=is_ns3(run.script))
    return {
        "run_id": run_id(identity),
        "identity": identity,
        "scenario": key,
        "label": label_of(study, values.scenario, parameters),
        "script": run.script,
        "argv": identity["argv"],
        "parameters": parameters,
        "outputs": outputs,
        "protocols": list(dict.fromkeys([flow.key for flow in run.flows] or named)),
        "estimated_cpu_s": round(cost_s, 2),
    }


def _resolved(values: Values) -> Resolved:
    """A run, by the script that its scenario has."""
    scenario = values.scenario
    if scenario.script == NETWORK_SCRIPT:
        return _network(values)
    defaults = values.class_defaults()
    flows = script_flows(values, defaults)
    outputs = _script_outputs(values, len(flows))
    values.used |= {*scenario.arguments}
    if any(each["table"] == "packets" for each in outputs):
        values.used.add("trace")
    pairs: Pairs = [
        (DURATION_ARGUMENT, values.parameters[DURATION_ARGUMENT]),
        *_script_parameters(values),
        *_default_arguments(defaults),
        *([("flows", len(flows))] if flows else []),
        *(pair for i, flow in enumerate(flows) for pair in flow_arguments(i, flow)),
        ("datadir", OUTPUT_FOLDER),
    ]
    script, path = _script(values.study, scenario.script)
    return Resolved(script, path, argument_words(pairs), outputs, flows, flows, {})


def _script(study: Study, script: str) -> tuple[str, Path]:
    """A script of a study as named in a plan, from ``tcl/``, and its path."""
    known = study.found_scripts
    if script not in known:
        path = script_path(study, script)
        if path is None:
            raise BdpbenchError("the script is gone", where=script)
        known[script] = relative(path, tcl_dir()), path
    return known[script]


def _reduced(outputs: list[Output], parameters: Parameters) -> list[Output]:
    """The outputs of a run, with its packet trace as the parameter ``trace`` asks.

    If the trace is streamed, it is replaced by the files that it is reduced to, whose ``stream`` is
    the name under which the script writes the trace.
    """
    kept: list[Output] = []
    for output in outputs:
        file = output["file"]
        if parameters.get("trace") != "stream" or output["table"] != "packets":
            kept.append(output)
            continue
        for name in REDUCED_TABLES:
            reduced = reduced_file(file, name)
            kept.append({"file": reduced, "table": f"packet_{name}", "stream": file})
    return kept


# ---------------------------------------------------------------- scripts of a study


def _script_parameters(values: Values) -> Iterator[tuple[str, Scalar]]:
    """The parameters that a study's script takes, and their values."""
    for index, name in enumerate(values.scenario.arguments):
        if name == "trace":
            yield name, int(is_traced(values.parameters))
        elif name in values.parameters:
            yield name, values.parameters[name]
        else:
            script = values.scenario.network or values.scenario.script
            raise values.error(
                (*values.base, "arguments", index),
                f"{name}, which {script} takes, has no value",
                hint="set it under parameters, sweep or cases, or in the topology",
            )


def _default_arguments(defaults: ClassVariables) -> Iterator[tuple[str, Scalar]]:
    for name, variables in defaults.items():
        for variable, value in variables.items():
            yield f"default.{name}.{variable}", value


def _script_outputs(values: Values, flows: int) -> list[Output]:
    """The files that a study's script writes, and the tables that they become."""
    scenario, name, trace = values.scenario, str(values.scenario.outputs), values.place_of("trace")
    always = "trace" not in scenario.arguments
    outputs: list[Output] = []
    for index, each in enumerate(values.study.output_sets[name]):
        if each.flow is not None and scenario.flows and each.flow >= flows:
            raise values.error(
                ("output_sets", name, index, "flow"),
                f"{each.file} is of flow {each.flow}, and a run of {values.key} has {flows}",
                hint="flows are counted from 0",
            )
        if each.table == "packets" and always and values.parameters.get("trace") == "none":
            raise values.error(
                trace,
                "trace: none would have no effect: the script always writes its packet trace",
                hint="list trace under arguments: if the script takes it",
            )
        if each.table != "packets" or always or is_traced(values.parameters):
            outputs.append(cast("Output", each.model_dump(exclude_none=True)))
    if is_traced(values.parameters) and not any(each["table"] == "packets" for each in outputs):
        raise values.error(
            trace,
            f"trace: {values.parameters['trace']}, but the script writes no packet trace",
            hint=f"give output_sets.{name} a file with table: packets",
        )
    return outputs


# ---------------------------------------------------------------- tcl/network.tcl


def _network(values: Values) -> Resolved:
    """A run of the script that takes a scenario as study.yaml describes it."""
    values.fallbacks = NETWORK_DEFAULTS
    values.used |= {"sample_s", "queue_sample_s", "substream", "trace"}
    values.used |= {*values.scenario.arguments}
    packet_bytes = int(values.number("packet_bytes", "the segment size"))
    defaults = values.class_defaults()
    wires = wires_of(values)
    flows = network_flows(values, [wire.delay_ms for wire in wires], defaults)
    sources = sources_of(values, [wire.mbps for wire in wires], defaults)
    rtt_ms = _nominal_rtt(values, flows)
    links = links_of(values, wires, rtt_ms, packet_bytes)
    changes = changes_of(values, links)
    senders = [*flows, *(source.sender for source in sources if source.sender is not None)]
    knows_senders = all(each.sender or not is_recorded(each) for each in sources)
    check_bursts(values, changes)
    marks = any(link.kind.ecn for link in links)
    check_network(values, defaults, senders, marks=marks, knows_senders=knows_senders)
    if senders or not knows_senders:
        defaults["Agent/TCP"] = {
            "packetSize_": float(packet_bytes),
            "window_": _ample_window(links, flows, packet_bytes),
            **({"ecn_": 1.0} if values.get("ecn") == "on" else {}),
            **defaults.get("Agent/TCP", {}),
        }
    pairs: Pairs = [
        (DURATION_ARGUMENT, values.parameters[DURATION_ARGUMENT]),
        *_samples(values),
        ("links", len(links)),
        *(pair for i, link in enumerate(links) for pair in link.arguments(i)),
        *_default_arguments(defaults),
        ("flows", len(flows)),
        *(pair for i, flow in enumerate(flows) for pair in flow_arguments(i, flow)),
        *source_arguments(sources),
        *change_arguments(changes),
        *_script_parameters(values),
        ("datadir", OUTPUT_FOLDER),
    ]
    script, path = _script(values.study, values.scenario.network or NETWORK_SCRIPT)
    outputs = list(_network_outputs(values, links, flows, sources))
    derived: Parameters = {
        "flows": len(flows),
        "packet_bytes": packet_bytes,
        **({} if rtt_ms is None else {"rtt_ms": rtt_ms}),
        **_flow_rtts(flows, rtt_ms),
        **flow_parameters(flows, len(links)),
        **link_parameters(links, changes),
        **_protocols(flows),
    }
    words = argument_words(pairs)
    resolved = Resolved(script, path, words, outputs, flows, senders, derived, knows_senders)
    if values.get("engine") != NS3:
        return resolved
    more = {"background traffic": sources, "changes of its bottlenecks": changes}
    is_more = " and ".join(what for what, parts in more.items() if parts)
    return Translation(values, resolved, links, defaults).resolved(is_more)


def _samples(values: Values) -> Iterator[tuple[str, Scalar]]:
    given = {**NETWORK_DEFAULTS, **values.parameters}
    yield "sample_s", given["sample_s"]
    yield "queue_sample_s", given.get("queue_sample_s", given["sample_s"])
    yield "trace", int(is_traced(values.parameters))
    yield "substream", given["substream"]


def _network_outputs(
    values: Values, links: Sequence[Link], flows: Sequence[NetworkFlow], sources: Sequence[Source]
) -> Iterator[Output]:
    """Files that the script writes, and the tables that they become."""
    for index, flow in enumerate(flows):
        yield from flow.outputs(index)
    for index, link in enumerate(links):
        yield from link.outputs(index)
    if any(flow.size_pkts is not None for flow in flows) or any(map(is_recorded, sources)):
        yield {"file": "transfers.out", "table": "transfers"}
    yield {"file": "report.txt", "table": "facts"}
    if is_traced(values.parameters):
        yield {"file": "pckts.trq", "table": "packets"}


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


def _ample_window(links: Sequence[Link], flows: Sequence[NetworkFlow], packet_bytes: int) -> float:
    """A window that never limits a flow, packets: several times what path and buffers can hold."""
    fastest_mbps = max(link.wire.mbps for link in links)
    rtt_ms = max((flow.rtt_ms for flow in flows), default=0.0)
    held = sum(link.holds_pkts for link in links)
    path_pkts = bdp_packets(fastest_mbps, rtt_ms, packet_bytes)
    return float(max(_LEAST_WINDOW_PKTS, int(4 * (path_pkts + held))))


def _flow_rtts(flows: Sequence[NetworkFlow], nominal_ms: float | None) -> Parameters:
    """RTTs of the flows, if any differs from that of the run."""
    if all(abs(flow.rtt_ms - (nominal_ms or 0)) <= _EPSILON_MS for flow in flows):
        return {}
    return {f"rtt_{i}_ms": flow.rtt_ms for i, flow in enumerate(flows, start=1)}


def _protocols(flows: Sequence[NetworkFlow]) -> Parameters:
    """Parameters that name the protocols, as scenarios with a script of their own have them."""
    keys = [flow.key for flow in flows]
    if len(set(keys)) == 1:
        return {"protocol": keys[0]}
    return {"protocol_1": keys[0], "protocol_2": keys[1]} if len(keys) == 2 else {}


# ---------------------------------------------------------------- computed parameters


def _with_path(given: Parameters) -> Parameters:
    """Parameters with the nominal RTT and BDP added, if the scenario leaves them to be computed."""
    parameters = dict(given)
    delays = ("access_delay_ms", "bottleneck_delay_ms", "receiver_delay_ms")
    if "rtt_ms" not in parameters and all(each in parameters for each in delays):
        parameters["rtt_ms"] = 2 * sum(float(parameters[each]) for each in delays)
    if all(each in parameters for each in ("bottleneck_mbps", "rtt_ms", "packet_bytes")):
        mbps, rtt_ms = float(parameters["bottleneck_mbps"]), float(parameters["rtt_ms"])
        bdp_pkts = round(bdp_packets(mbps, rtt_ms, int(parameters["packet_bytes"])), 3)
        if bdp_pkts > 0:  # metrics compare cwnd with it
            parameters["bdp_pkts"] = bdp_pkts
    # Metrics divide by an RTT, which a path without delays does not have.
    return {
        name: value
        for name, value in sorted(parameters.items())
        if value != 0 or not re.fullmatch(r"rtt_([0-9]+_)?ms", name)
    }
