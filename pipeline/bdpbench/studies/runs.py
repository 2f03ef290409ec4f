"""Scenarios → runs: expanded sweeps, script arguments, and ids that identify their bytes."""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from bdpbench.contracts.paths import relative, tcl_dir
from bdpbench.contracts.plan import Identity, Output, Parameters, PlannedRun, Scalar
from bdpbench.contracts.runs import OUTPUT_FOLDER
from bdpbench.contracts.yaml_files import meant, suggest
from bdpbench.errors import BdpbenchError
from bdpbench.studies.arguments import argument_words, script_arguments
from bdpbench.studies.checks import script_path
from bdpbench.studies.cost import estimate_cpu_s
from bdpbench.studies.flows import ResolvedFlow, format_value, resolve_defaults, resolve_flows
from bdpbench.studies.identity import (
    AgentUse,
    ns2_digest,
    queue_classes,
    queues_named,
    run_id,
    tcl_digest,
    tcl_files,
)
from bdpbench.studies.labels import label_of, tell_apart
from bdpbench.studies.linux import check_samples
from bdpbench.studies.magnitudes import check_magnitudes
from bdpbench.studies.network import network
from bdpbench.studies.network.cost import network_cpu_s
from bdpbench.studies.network.links import ROUNDED_BUFFERS
from bdpbench.studies.reach import check_reach, check_segment, check_used, place_of
from bdpbench.studies.scripts import original_arguments, original_files
from bdpbench.studies.streams import is_traced, outputs_of_trace, streams_of
from bdpbench.studies.study import NETWORK_SCRIPT, Scenario, Study
from bdpbench.studies.vocabulary import PROTOCOL_PARAMETERS
from bdpbench.units import bdp_packets

__all__ = [
    "OUTPUT_FOLDER",
    "Identities",
    "Selection",
    "expand_tier",
    "format_value",
    "plan_run",
    "tiers_of",
]


@dataclass(frozen=True)
class Selection:
    """Which runs of a tier are wanted; an empty tuple selects all."""

    scenarios: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()

    def in_study(self, study: Study) -> Selection:
        """The selection with the study's own spelling of the names.

        Raises:
            BdpbenchError: for a name that the study does not have, with a suggestion.
        """

        def own(option: str, name: str, known: Collection[str]) -> str:
            found = meant(name, known)
            if found is None:
                said = f"study {study.key} has no {option} {name!r}"
                raise BdpbenchError(said, where=f"--{option}", hint=suggest(name, known))
            return found

        return Selection(
            tuple(own("scenario", each, study.scenarios) for each in self.scenarios),
            tuple(own("protocol", each, study.protocols) for each in self.protocols),
        )

    def wants(self, run: PlannedRun) -> bool:
        """Whether the run is selected."""
        scenario_wanted = not self.scenarios or run["scenario"] in self.scenarios
        protocol_wanted = not self.protocols or bool(set(self.protocols) & set(run["protocols"]))
        return scenario_wanted and protocol_wanted


def tiers_of(study: Study) -> list[str]:
    """Tiers in which a study has runs, sorted."""
    return sorted({tier for scenario in study.scenarios.values() for tier in scenario.tiers})


def expand_tier(study: Study, tier: str, identities: Identities | None = None) -> list[PlannedRun]:
    """All runs of a tier, in the order of ``study.yaml``; equal runs of a scenario appear once.

    So do runs whose buffers, given as shares of the BDP or as times, round to the same number of
    packets: the first of them has the values of the others as ``alike``.

    Args:
        study: the study of the tier.
        tier: name of the tier.
        identities: makes the identities of the runs; sharing it between tiers reads each script
            once.

    Raises:
        BdpbenchError: when the tier has no runs; naming file and line, when a run lacks a value,
            when a setting would not reach ns-2, or when two runs of a scenario differ in name only.
    """
    runs: dict[tuple[str, str], PlannedRun] = {}
    identities = identities or Identities()
    for key, scenario in study.scenarios.items():
        for parameters in _grid(study, scenario, tier):
            run = plan_run(study, key, parameters, identities)
            known = runs.setdefault((key, run["run_id"]), run)
            if known is not run:
                _note_equal(study, known, run)
    if not runs:
        raise BdpbenchError(
            f"study {study.key} has no runs in tier {tier!r}",
            hint="its tiers: " + ", ".join(tiers_of(study)),
        )
    planned = list(runs.values())
    tell_apart(study, planned)
    return planned


def _grid(study: Study, scenario: Scenario, tier: str) -> Iterator[Parameters]:
    """Parameters of the runs of a tier, as the study gives them."""
    base = {**study.topologies[scenario.topology].parameters, **scenario.parameters}
    vocabulary = study.vocabulary
    for entry in scenario.tiers.get(tier, []):  # type: ignore[call-overload]
        for values in itertools.product(*scenario.swept_values(entry)):
            grid = dict(zip(scenario.sweep, values, strict=True))
            for case in scenario.cases or [{}]:
                parameters = {**base, **grid, **case}
                if all(parameters.get(name) in kept for name, kept in entry.only.items()):
                    plain = {
                        name: vocabulary[name].plain(value) for name, value in parameters.items()
                    }
                    yield {**plain, "duration_s": float(entry.duration_s)}


def _note_equal(study: Study, known: PlannedRun, run: PlannedRun) -> None:
    """Note a buffer, as a share of the BDP or a time, that equals another run's in packets.

    Raises:
        BdpbenchError: for two runs that are equal for ns-2 but differ in anything else.
    """
    both = {**known["parameters"], **run["parameters"]}
    names = [
        name
        for name in both
        if known["parameters"].get(name) != run["parameters"].get(name) and name != "bdp_pkts"
    ]
    if len(names) == 1 and names[0] in ROUNDED_BUFFERS:
        value = run["parameters"][names[0]]
        alike = known.setdefault("alike", {}).setdefault(names[0], [])
        if value not in alike:
            alike.append(value)
    elif names:
        _refuse_equal(study, known, run, names)


def _refuse_equal(study: Study, known: PlannedRun, run: PlannedRun, names: Sequence[str]) -> None:
    raise study.error(
        place_of(study, run["scenario"], names[0]),
        f"two runs have the same arguments: {known['label']!r} and {run['label']!r} differ in "
        f"{', '.join(names)} alone, which ns-2 does not get",
        hint="also vary a parameter that the script takes, or leave out one of the values",
    )


class Identities:
    """Makes the identities of many runs; each script and each set of agents is examined once."""

    def __init__(self) -> None:
        self._scripts: dict[Path, tuple[str, frozenset[str]]] = {}
        self._places: dict[tuple[Path, str], tuple[str, Path]] = {}
        self._behaviours: dict[tuple[frozenset[AgentUse] | None, frozenset[str]], str] = {}
        self._outputs: dict[str, list[Output]] = {}
        self._queue_classes: frozenset[str] | None = None

    def shared(self, outputs: list[Output]) -> list[Output]:
        """The same list for equal outputs: among tens of thousands of runs few differ."""
        return self._outputs.setdefault(json.dumps(outputs), outputs)

    def _queues_in(self, argv: Sequence[str]) -> frozenset[str]:
        """Classes of queues with files of their own that the arguments name."""
        if self._queue_classes is None:
            self._queue_classes = queue_classes()
        text = "\0".join(argv)
        return frozenset(each for each in self._queue_classes if each in text)

    def script(self, study: Study, script: str) -> tuple[str, Path]:
        """A script of a study as named in a plan, and its path; each is looked up once.

        Raises:
            BdpbenchError: when it does not exist.
        """
        place = (study.folder, script)
        if place not in self._places:
            self._places[place] = _script(study, script)
        return self._places[place]

    def of(
        self,
        script: Path,
        files: Sequence[Path],
        argv: Sequence[str],
        flows: Sequence[ResolvedFlow],
        outputs: Sequence[Output],
    ) -> Identity:
        """Identity of a run; ``files``: the Tcl files of a script whose sources are not known."""
        if script not in self._scripts:
            read = files or tcl_files(script)
            self._scripts[script] = (tcl_digest(read), queues_named((), read))
        tcl, queues = self._scripts[script]
        uses = (frozenset(flow.use for flow in flows) or None, queues | self._queues_in(argv))
        if uses not in self._behaviours:
            self._behaviours[uses] = ns2_digest(*uses)
        return {
            "argv": [sys.intern(word) for word in argv],  # most of many runs share them
            "tcl": tcl,
            "ns2": self._behaviours[uses],
            "streams": streams_of(outputs),
        }


def plan_run(study: Study, key: str, given: Parameters, identities: Identities) -> PlannedRun:
    """One run of a scenario.

    Args:
        study: the study of the run.
        key: key of its scenario.
        given: parameters with ``duration_s``, without the computed ones.
        identities: makes its identity.

    Raises:
        BdpbenchError: naming file and line, see ``expand_tier``.
    """
    scenario = study.scenarios[key]
    if scenario.script == NETWORK_SCRIPT:
        return _network_run(study, key, given, identities)
    defaults = resolve_defaults(study, key, scenario, given)
    flows = resolve_flows(study, key, scenario, given, defaults)
    _check_flow_count(study, key, given, flows)
    check_samples(study, flows)
    outputs = identities.shared(_outputs(study, key, given, len(flows)))
    if scenario.scripts is None or scenario.original is None:
        check_reach(study, key, given, flows, outputs)
        argv = script_arguments(study, key, given, defaults, flows)
        script, path = identities.script(study, scenario.script)
        identity = identities.of(path, (), argv, flows, outputs)
    else:
        argv = original_arguments(study, key, given)
        script = scenario.original.script
        files = original_files(Path(scenario.scripts), script)
        # Its agents are unknown, because the script creates them itself.
        identity = identities.of(Path(scenario.scripts) / script, files, argv, (), outputs)
    parameters = _with_derived(given)
    check_magnitudes(study, key, parameters, flows)
    cpu_s = estimate_cpu_s(parameters, flows, outputs)
    return _planned(study, key, script, identity, parameters, flows, outputs, cpu_s)


def _network_run(study: Study, key: str, given: Parameters, identities: Identities) -> PlannedRun:
    """A run of the script that takes a scenario as study.yaml describes it."""
    resolved = network(study, key, given)
    _check_flow_count(study, key, given, [flow.flow for flow in resolved.flows])
    check_samples(study, resolved.senders)
    check_used(study, key, given, resolved.used)
    check_segment(study, key, {**resolved.derived, **given}, resolved.senders)
    outputs = outputs_of_trace(resolved.outputs(), given)
    argv = argument_words(resolved.arguments())
    script, path = identities.script(study, resolved.script)
    identity = identities.of(path, (), argv, resolved.senders, outputs)
    flows = [flow.flow for flow in resolved.flows]
    parameters = _with_derived({**resolved.derived, **_protocols_of(flows), **given})
    check_magnitudes(study, key, parameters, resolved.senders)
    cpu_s = network_cpu_s(resolved, parameters, outputs)
    return _planned(study, key, script, identity, parameters, flows, outputs, cpu_s)


def _planned(
    study: Study,
    key: str,
    script: str,
    identity: Identity,
    parameters: Parameters,
    flows: Sequence[ResolvedFlow],
    outputs: list[Output],
    cpu_s: float,
) -> PlannedRun:
    scenario = study.scenarios[key]
    return {
        "run_id": run_id(identity),
        "identity": identity,
        "scenario": key,
        "label": label_of(study, scenario, parameters),
        "script": script,
        "argv": identity["argv"],
        "parameters": parameters,
        "outputs": outputs,
        "protocols": _protocols(parameters, flows),
        "estimated_cpu_s": round(cpu_s, 2),
        "scripts": scenario.scripts and relative(Path(scenario.scripts)),
    }


def _script(study: Study, script: str) -> tuple[str, Path]:
    """A script of a study as named in a plan, from ``tcl/``, and its path."""
    path = script_path(study, script)
    if path is None:
        raise BdpbenchError("the script is gone", where=script)
    return relative(path, tcl_dir()), path


def _check_flow_count(
    study: Study, key: str, given: Parameters, flows: Sequence[ResolvedFlow]
) -> None:
    if "flows" in given and given["flows"] != len(flows):
        raise study.error(
            place_of(study, key, "flows"),
            f"flows is {given['flows']}, but the scenario makes {len(flows)}",
            hint="write count: $flows at a flow, or leave out flows, which is then counted",
        )


def _outputs(study: Study, key: str, parameters: Parameters, flows: int) -> list[Output]:
    scenario = study.scenarios[key]
    outputs: list[Output] = []
    for index, each in enumerate(study.output_sets[str(scenario.outputs)]):
        if each.flow is not None and scenario.flows and each.flow >= flows:
            raise study.error(
                ("output_sets", str(scenario.outputs), index, "flow"),
                f"{each.file} is of flow {each.flow}, and a run of {key} has {flows}",
                hint="flows are counted from 0",
            )
        if each.table != "packets" or _writes_trace(study, key, parameters):
            outputs.append(cast("Output", each.model_dump(exclude_none=True)))
    if is_traced(parameters) and not any(each["table"] == "packets" for each in outputs):
        raise study.error(
            place_of(study, key, "trace"),
            f"trace: {parameters['trace']}, but the script writes no packet trace",
            hint=f"give output_sets.{scenario.outputs} a file with table: packets",
        )
    return outputs_of_trace(outputs, parameters)


def _writes_trace(study: Study, key: str, parameters: Parameters) -> bool:
    """Whether a script whose outputs include a packet trace writes it in this run."""
    if "trace" in study.scenarios[key].arguments:
        return is_traced(parameters)
    if parameters.get("trace") == "none":
        raise study.error(
            place_of(study, key, "trace"),
            "trace: none would have no effect: the script always writes its packet trace",
            hint="list trace under arguments: if the script takes it",
        )
    return True


def _protocols(parameters: Parameters, flows: Sequence[ResolvedFlow]) -> list[str]:
    named = [str(parameters[each]) for each in PROTOCOL_PARAMETERS if each in parameters]
    return list(dict.fromkeys([flow.key for flow in flows] or named))


def _with_derived(given: Parameters) -> Parameters:
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
    return {name: value for name, value in sorted(parameters.items()) if not _no_rtt(name, value)}


def _no_rtt(name: str, value: Scalar) -> bool:
    return value == 0 and re.fullmatch(r"rtt_([0-9]+_)?ms", name) is not None


def _protocols_of(flows: Sequence[ResolvedFlow]) -> Parameters:
    """Parameters that name the protocols of flows in scenarios with a script of their own."""
    keys = [flow.key for flow in flows]
    if len(set(keys)) == 1:
        return {"protocol": keys[0]}
    if len(keys) == 2:
        return {"protocol_1": keys[0], "protocol_2": keys[1]}
    return {}
