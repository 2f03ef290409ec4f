"""What a tier consists of: its grid of parameters, labels of runs, and the plan of all stages."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bdpbench.contracts.paths import relative
from bdpbench.contracts.plan import (
    PLAN_VERSION,
    Parameters,
    ParameterText,
    Plan,
    PlannedRun,
    ProtocolText,
    Scalar,
    ScenarioText,
    format_value,
)
from bdpbench.contracts.yaml_files import meant, suggest
from bdpbench.errors import BdpbenchError
from bdpbench.studies.links import ROUNDED_BUFFERS
from bdpbench.studies.study import Scenario, Study
from bdpbench.studies.values import Values
from bdpbench.studies.vocabulary import NS3, PROTOCOL_PARAMETERS, REPETITION
from bdpbench.units import unit_of


@dataclass(frozen=True)
class Selection:
    """The runs of these scenarios that have one of these protocols; an empty tuple selects all."""

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
        return (not self.scenarios or run["scenario"] in self.scenarios) and (
            not self.protocols or bool(set(self.protocols) & set(run["protocols"]))
        )


def tiers_of(study: Study) -> list[str]:
    """Tiers in which a study has runs, sorted."""
    return sorted({tier for scenario in study.scenarios.values() for tier in scenario.tiers})


def parameter_grid(study: Study, key: str, tier: str) -> Iterator[Parameters]:
    """Parameters of the runs of a scenario in a tier, as the study gives them."""
    scenario, vocabulary = study.scenarios[key], study.vocabulary

    def plain(given: Mapping[str, Scalar]) -> Parameters:
        return {name: vocabulary[name].plain(value) for name, value in given.items()}

    base = plain({**study.topologies[scenario.topology].parameters, **scenario.parameters})
    cases = [plain(case) for case in scenario.cases or [{}]]
    for entry in scenario.tiers.get(tier, []):  # type: ignore[call-overload]
        swept = [
            [plain({name: value}) for value in values]
            for name, values in zip(scenario.sweep, scenario.swept_values(entry), strict=True)
        ]
        for parts in itertools.product([base], *swept, cases):
            given: Parameters = dict(itertools.chain.from_iterable(map(dict.items, parts)))
            if all(given.get(name) in kept for name, kept in entry.only.items()):
                for each in _repeated(given, scenario, study.repetitions.get(key, [])):
                    yield {**each, "duration_s": float(entry.duration_s)}


def _repeated(
    given: Parameters, scenario: Scenario, cells: Sequence[Mapping[str, Scalar]]
) -> Iterator[Parameters]:
    """The parameters of a run, and after the last of its sweep those of added repetitions."""
    yield given
    swept = scenario.sweep.get(REPETITION, [])
    for cell in cells if given.get(REPETITION) in swept[-1:] else ():
        if all(given.get(name) == value for name, value in cell.items() if name != REPETITION):
            for number in range(int(given[REPETITION]) + 1, int(cell[REPETITION]) + 1):
                yield {**given, REPETITION: number}


def note_equal(study: Study, known: PlannedRun, run: PlannedRun) -> None:
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
        raise study.error(
            Values(study, run["scenario"], run["parameters"]).place_of(names[0]),
            f"two runs have the same arguments: {known['label']!r} and {run['label']!r} differ in "
            f"{', '.join(names)} alone, which ns-2 does not get",
            hint="also vary a parameter that the script takes, or leave out one of the values",
        )


# ---------------------------------------------------------------- labels

# A sweep of the RTT also varies the delays that add up to it, and the buffer follows the BDP.
_FOLLOW_RTT = ("buffer_pkts", "bottleneck_delay_ms")


def swept_names(scenario: Scenario) -> list[str]:
    """Parameters in which runs of a scenario differ, in the order of ``study.yaml``."""
    return list(
        dict.fromkeys([*scenario.sweep, *(name for case in scenario.cases for name in case)])
    )


def label_of(study: Study, scenario: Scenario, parameters: Parameters) -> str:
    """Protocols, RTTs and the swept parameters that have a label, duration."""
    protocols = [
        study.protocols[str(parameters[each])].label
        for each in PROTOCOL_PARAMETERS
        # Two groups with the same protocol also have it as the one of all flows.
        if each in parameters and not (each == "protocol" and "protocol_1" in parameters)
    ]
    parts = [" and ".join(protocols)] if protocols else [scenario.title]
    if "rtt_2_ms" in parameters and "rtt_3_ms" not in parameters:
        # A first flow without an RTT of its own has that of the run, or else that of the second
        # flow.
        first = parameters.get("rtt_1_ms", parameters.get("rtt_ms", parameters["rtt_2_ms"]))
        second = parameters["rtt_2_ms"]
        parts.append(f"RTT {format_value(first)}:{format_value(second)} ms")
    # What is swept is told, and the engine if it is not ns-2.
    engine = ["engine"] if parameters.get("engine") == NS3 else []
    told = dict.fromkeys([*swept_names(scenario), *engine])
    follow = _FOLLOW_RTT if "rtt_ms" in told else ()
    for name in told:
        own = study.parameters.get(name)
        is_told = own and not own.nominal and "label" not in own.model_fields_set
        if name in parameters and name not in follow and (study.vocabulary[name].label or is_told):
            parts.append(_words(study, name, parameters[name]))
    return ", ".join([*parts, f"{format_value(parameters['duration_s'])} s"])


def tell_apart(study: Study, runs: Sequence[PlannedRun]) -> None:
    """Extend equal labels of a scenario's runs, in place, by what differs between these runs."""
    alike: dict[tuple[str, str], list[PlannedRun]] = {}
    for run in runs:
        alike.setdefault((run["scenario"], run["label"]), []).append(run)
    for (key, _), group in alike.items():
        names = [
            name
            for name in swept_names(study.scenarios[key])
            if len({run["parameters"].get(name) for run in group}) > 1
        ]
        for run in group if len(group) > 1 else ():
            own = [name for name in names if name in run["parameters"]]
            told = [_exact_words(study, name, run["parameters"][name]) for name in own]
            run["label"] = ", ".join([run["label"], *told])


def _words(study: Study, name: str, value: Scalar) -> str:
    """The value of a parameter in a label."""
    declaration = study.vocabulary[name]
    if declaration.type == "queue" and value in study.queues:
        return study.queues[str(value)].label or str(value)
    if declaration.label:
        return declaration.label.replace("{}", format_value(value))
    return f"{name} {format_value(value)}"


def _exact_words(study: Study, name: str, value: Scalar) -> str:
    """The same, followed by the key for a queue or protocol whose label another one shares."""
    told = _words(study, name, value)
    named = study.vocabulary[name].type in ("queue", "protocol")
    return f"{told} ({value})" if named and told != value else told


# ---------------------------------------------------------------- plan.json


def make_plan(
    study: Study,
    tier: str,
    ns2_build_id: str,
    runs: Sequence[PlannedRun],
    evaluation_sha256: str,
) -> Plan:
    """Plan of the runs of a tier: what to simulate, and what the report says about it."""
    protocols: dict[str, ProtocolText] = {}
    for key, each in study.protocols.items():
        protocols[key] = {"label": each.label, "colour": each.colour}
        if each.folder:
            protocols[key]["folder"] = relative(Path(each.folder))
    parameters: dict[str, ParameterText] = {}
    for name, declaration in study.vocabulary.items():
        parameters[name] = {
            "unit": declaration.unit or unit_of(name),
            "description": declaration.description,
            "nominal": declaration.nominal,
        }
        if declaration.type == "queue" and study.queues:
            labels = {key: queue.label or key for key, queue in study.queues.items()}
            parameters[name]["labels"] = labels
    plan: Plan = {
        "schema_version": PLAN_VERSION,
        "study": study.key,
        "folder": relative(study.folder),
        "title": study.title,
        "tier": tier,
        "ns2_build_id": ns2_build_id,
        "protocols": protocols,
        "scenarios": {key: _text_of(study, each) for key, each in study.scenarios.items()},
        "parameters": parameters,
        "runs": list(runs),
        "evaluation_sha256": evaluation_sha256,
    }
    folders = {
        key: relative(Path(each.folder)) for key, each in study.queues.items() if each.folder
    }
    if folders:
        plan["queue_folders"] = folders
    return plan


def _text_of(study: Study, scenario: Scenario) -> ScenarioText:
    path = study.topologies[scenario.topology].description
    durations = [entry.duration_s for entries in scenario.tiers.values() for entry in entries]
    told: ScenarioText = {
        "title": scenario.title,
        "section": scenario.section,
        "figures": scenario.figures,
        "description": " ".join(filter(None, (scenario.description, path and f"Topology: {path}"))),
        "summary": scenario.summary,
        "script": scenario.script,
        "longest_s": max(durations, default=0),
        "swept": swept_names(scenario),
    }
    if scenario.question:
        told["question"] = scenario.question
        told["answers"] = scenario.answers
    if scenario.tradeoffs:
        told["tradeoffs"] = scenario.tradeoffs
    if not scenario.time_series:
        told["time_series"] = False
    return told
