"""Labels of runs, e.g. ``HS-TCP, buffer 40 packets, 500 s``."""

from __future__ import annotations

from collections.abc import Sequence

from bdpbench.contracts.plan import Parameters, PlannedRun, Scalar
from bdpbench.studies.flows import format_value
from bdpbench.studies.study import Scenario, Study
from bdpbench.studies.vocabulary import PROTOCOL_PARAMETERS

# A sweep of the RTT also varies the delays that add up to it, and the buffer follows the BDP.
_TOLD_BY_RTT = ("buffer_pkts", "bottleneck_delay_ms")


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
    parts += [
        _told(study, name, parameters[name])
        for name in _shown(study, swept_names(scenario))
        if name in parameters
    ]
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
            told = [_told_exactly(study, name, run["parameters"][name]) for name in own]
            run["label"] = ", ".join([run["label"], *told])


def _told(study: Study, name: str, value: Scalar) -> str:
    """The value of a parameter in a label."""
    declaration = study.vocabulary[name]
    if declaration.type == "queue" and value in study.queues:
        return study.queues[str(value)].label or str(value)
    if declaration.label:
        return declaration.label.replace("{}", format_value(value))
    return f"{name} {format_value(value)}"


def _told_exactly(study: Study, name: str, value: Scalar) -> str:
    """The same, followed by the key for a queue or protocol whose label another one shares."""
    told = _told(study, name, value)
    named = study.vocabulary[name].type in ("queue", "protocol")
    return f"{told} ({value})" if named and told != value else told


def _shown(study: Study, swept: Sequence[str]) -> list[str]:
    told = _TOLD_BY_RTT if "rtt_ms" in swept else ()
    return [
        name
        for name in swept
        if name not in told and (study.vocabulary[name].label or _own(study, name))
    ]


def _own(study: Study, name: str) -> bool:
    """Whether a parameter is one of the study's own that ns-2 gets."""
    return name in study.parameters and not study.parameters[name].nominal
