"""What a script of ns-2 is started with: pairs ``-name value``, in an order that never varies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bdpbench.contracts.plan import Parameters, Scalar
from bdpbench.contracts.runs import OUTPUT_FOLDER
from bdpbench.studies.dumbbell import DUMBBELL_ARGUMENTS, DUMBBELL_DEFAULTS
from bdpbench.studies.flows import ResolvedFlow, flow_arguments, format_value
from bdpbench.studies.streams import is_traced
from bdpbench.studies.study import DUMBBELL_SCRIPT, DURATION_ARGUMENT, Scenario, Study


def argument_names(scenario: Scenario) -> Sequence[str]:
    """Parameters that the script of a scenario takes by name."""
    return DUMBBELL_ARGUMENTS if scenario.script == DUMBBELL_SCRIPT else scenario.arguments


def script_arguments(
    study: Study,
    key: str,
    parameters: Parameters,
    defaults: Mapping[str, Mapping[str, float]],
    flows: Sequence[ResolvedFlow],
) -> list[str]:
    """Arguments of the scenario's script: duration, parameters, class defaults, flows, folder.

    Raises:
        BdpbenchError: when a parameter that the script takes has no value.
    """
    pairs = [
        (DURATION_ARGUMENT, parameters[DURATION_ARGUMENT]),
        *_named(study, key, parameters),
        *_class_defaults(defaults),
        *flow_arguments(flows),
        ("datadir", OUTPUT_FOLDER),
    ]
    return [text for name, value in pairs for text in (f"-{name}", format_value(value))]


def _named(study: Study, key: str, parameters: Parameters) -> Iterator[tuple[str, Scalar]]:
    scenario = study.scenarios[key]
    given = parameters
    if scenario.script == DUMBBELL_SCRIPT:
        given = {**DUMBBELL_DEFAULTS, **parameters}
        given.setdefault("queue_sample_s", given["sample_s"])
    for index, name in enumerate(argument_names(scenario)):
        if name == "trace":
            yield name, int(is_traced(parameters))
        elif name in given:
            yield name, given[name]
        else:
            raise study.error(
                ("scenarios", key, "arguments", index),
                f"{name}, which {scenario.script} takes, has no value",
                hint="set it under parameters, sweep or cases, or in the topology",
            )


def _class_defaults(
    defaults: Mapping[str, Mapping[str, float]],
) -> Iterator[tuple[str, Scalar]]:
    for name, variables in defaults.items():
        for variable, value in variables.items():
            yield f"default.{name}.{variable}", value
