"""Arguments of a script: pairs ``-name value``, in a fixed order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from bdpbench.contracts.plan import Parameters, Scalar
from bdpbench.contracts.runs import OUTPUT_FOLDER
from bdpbench.studies.flows import ResolvedFlow, flow_arguments, format_value
from bdpbench.studies.streams import is_traced
from bdpbench.studies.study import DURATION_ARGUMENT, Study


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
    return argument_words(pairs)


def argument_words(pairs: Iterable[tuple[str, Scalar]]) -> list[str]:
    """Keys and values as a script gets them: ``-key value``."""
    return [text for name, value in pairs for text in (f"-{name}", format_value(value))]


def _named(study: Study, key: str, parameters: Parameters) -> Iterator[tuple[str, Scalar]]:
    scenario = study.scenarios[key]
    for index, name in enumerate(scenario.arguments):
        if name == "trace":
            yield name, int(is_traced(parameters))
        elif name in parameters:
            yield name, parameters[name]
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
