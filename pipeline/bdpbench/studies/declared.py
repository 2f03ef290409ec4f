"""The classes and variables of ns-2 that a study names, and where it names them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from bdpbench.contracts.yaml_files import Location
from bdpbench.studies.queues import QUEUE_KINDS
from bdpbench.studies.study import ClassDefaults, Protocol, Study


@dataclass(frozen=True)
class Declared:
    """A class, variable or congestion control that ns-2 has to have.

    Attributes:
        kind: a sender's or receiver's class, a variable of a sender, a congestion control of
            TCP/Linux, a parameter of one, or a variable with a class default.
        ns2_class: without "Agent/", except for class defaults; for a parameter, its congestion
            control.
        name: of the variable, the congestion control or its parameter; "" for a class.
        location: where study.yaml names it.
    """

    kind: Literal["agent", "sink", "variable", "linux", "parameter", "default"]
    ns2_class: str
    name: str
    location: Location


def declared_by(study: Study) -> list[Declared]:
    """Everything of ns-2 that a study names, in the order of its file."""
    return [
        *_of_defaults(("defaults",), study.defaults),
        *(
            each
            for key, protocol in study.protocols.items()
            for each in _of_protocol(("protocols", key), protocol)
        ),
        *_set_by_parameters(study),
        *_of_queues(study),
        *(
            each
            for key, scenario in study.scenarios.items()
            for each in _of_defaults(("scenarios", key, "defaults"), scenario.defaults)
        ),
    ]


def _of_defaults(base: Location, defaults: ClassDefaults) -> Iterator[Declared]:
    for ns2_class, variables in defaults.items():
        for name in variables:
            yield Declared("default", ns2_class, name, (*base, ns2_class, name))


def _of_protocol(base: Location, protocol: Protocol) -> Iterator[Declared]:
    yield Declared("agent", protocol.agent, "", (*base, "agent"))
    yield Declared("sink", protocol.sink, "", (*base, "sink"))
    if protocol.linux is not None:
        yield Declared("linux", protocol.agent, protocol.linux, (*base, "linux"))
        for name in protocol.linux_parameters:
            place = (*base, "linux_parameters", name)
            yield Declared("parameter", protocol.linux, name, place)
    for name in protocol.settings:
        yield Declared("variable", protocol.agent, name, (*base, "settings", name))
    for index, name in enumerate(protocol.record):
        yield Declared("variable", protocol.agent, name, (*base, "record", index))


def _of_queues(study: Study) -> Iterator[Declared]:
    for key, queue in study.queues.items():
        kind = QUEUE_KINDS[queue.kind]
        for parameter in kind.parameters.values():
            ns2_class = f"Queue/{kind.ns2_class}"
            yield Declared("default", ns2_class, parameter.variable, ("queues", key, "kind"))


def _set_by_parameters(study: Study) -> Iterator[Declared]:
    for key, parameter in study.parameters.items():
        protocols: Mapping[str, list[str]] = parameter.sets or {}
        for protocol, names in protocols.items():
            for index, name in enumerate(names):
                location = ("parameters", key, "sets", protocol, index)
                yield Declared("variable", study.protocols[protocol].agent, name, location)
