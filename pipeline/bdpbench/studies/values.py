"""The values of a run's parameters, parts of its scenario with these values, the run resolved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from bdpbench.contracts.plan import AgentUse, Output, Parameters, Scalar, format_value
from bdpbench.contracts.yaml_files import Location, Strict
from bdpbench.errors import BdpbenchError
from bdpbench.studies.parts import Background, Flow, Protocol
from bdpbench.studies.study import DURATION_ARGUMENT, Study
from bdpbench.units import MOST_VARIABLE

Part = TypeVar("Part", bound=Strict)
Pairs = list[tuple[str, Scalar]]
"""Keys of a script's arguments, and their values."""

ClassVariables = Mapping[str, Mapping[str, float]]
"""ns-2 class → variable → number."""

WINDOW_OPTION = "windowOption_"
_DELAYING = {"TCPSink": "TCPSink/DelAck", "TCPSink/Sack1": "TCPSink/Sack1/DelAck"}


@dataclass(frozen=True)
class Route:
    """A path: its first and its last bottleneck, counted from 0, and its direction."""

    first: int
    last: int
    reverse: bool

    def arguments(self, links: int) -> Iterator[tuple[str, Scalar]]:
        """Keys of the script's arguments, after the prefix, and their values."""
        if self.reverse:
            yield "reverse", 1
        if self.first > 0:
            yield "enters", self.first
        if self.last < links - 1:
            yield "leaves", self.last


@dataclass(frozen=True)
class Sender:
    """A flow, or the sender of background traffic.

    Attributes:
        key: key of its protocol.
        protocol: its agent, sink, linux and record.
        settings: variables of its agent, including those that parameters set.
        defaults: class defaults of the run, by ns-2 class.
        start_s: s.
        access_delay_ms: one way, ms; None if only the script knows it.
    """

    key: str
    protocol: Protocol
    settings: Mapping[str, float]
    defaults: ClassVariables
    start_s: float
    access_delay_ms: float | None

    @cached_property
    def use(self) -> AgentUse:
        """The sender, as far as it decides which code of ns-2 runs."""
        option = self.variable(WINDOW_OPTION)
        return AgentUse(
            self.protocol.agent, None if option is None else int(option), self.protocol.linux
        )

    def variable(self, name: str) -> float | None:
        """Value of a variable of its agent; None for ns-2's own default."""
        if name in self.settings:
            return self.settings[name]
        # An agent's class inherits from the classes whose names are prefixes of its own:
        # Agent/TCP/Sack1.
        parts = f"Agent/{self.protocol.agent}".split("/")
        for length in range(len(parts), 0, -1):
            variables = self.defaults.get("/".join(parts[:length]), {})
            if name in variables:
                return variables[name]
        return None


class Values:
    """The values of a run's parameters, which remember which of them were used.

    Attributes:
        study: the study of the run.
        key: key of its scenario.
        scenario: its scenario.
        base: place of the scenario in study.yaml.
        parameters: name → value, as the study gives them, with ``duration_s``.
        fallbacks: name → value of parameters that the study need not give.
        used: parameters that were looked up, so that they have an effect.
    """

    def __init__(self, study: Study, key: str, parameters: Parameters) -> None:
        self.study, self.key = study, key
        self.scenario = study.scenarios[key]
        self.base: Location = ("scenarios", key)
        self.parameters = parameters
        self.fallbacks: Parameters = {}
        self.used: set[str] = {DURATION_ARGUMENT}

    @property
    def duration_s(self) -> float:
        """How long the run is simulated, s."""
        return float(self.parameters[DURATION_ARGUMENT])

    @property
    def is_original(self) -> bool:
        """Whether a script of the study's authors runs, which declares itself what it takes."""
        return self.scenario.scripts is not None and self.scenario.original is not None

    def error(self, location: Location, message: str, *, hint: str = "") -> BdpbenchError:
        """The error to raise about the value at ``location`` of study.yaml."""
        return self.study.error(location, message, hint=hint)

    def place_of(self, name: str) -> Location:
        """Where the study sets a parameter of the run."""
        for index, case in enumerate(self.scenario.cases):
            if name in case:
                return (*self.base, "cases", index, name)
        for block in ("sweep", "parameters"):
            if name in getattr(self.scenario, block):
                return (*self.base, block, name)
        return ("topologies", self.scenario.topology, "parameters", name)

    def has(self, name: str) -> bool:
        """Whether the run has a parameter; asking does not count as use."""
        return name in self.parameters

    def get(self, name: str) -> Scalar | None:
        """A parameter, or a fallback if the run does not have it."""
        self.used.add(name)
        return self.parameters.get(name, self.fallbacks.get(name))

    def number(self, name: str, meaning: str) -> float:
        """A parameter that is a number.

        Raises:
            BdpbenchError: when the run does not have it, saying where it could be set.
        """
        value = self.get(name)
        if value is None:
            raise self.error(
                (*self.base, "topology"),
                f"{name}, {meaning}, has no value",
                hint=f"set it under topologies.{self.scenario.topology}.parameters, or in the "
                "scenario",
            )
        return float(value)

    def optional(self, name: str) -> float | None:
        """A numeric parameter; None if the run does not have it."""
        value = self.get(name)
        return None if value is None else float(value)

    def of(self, value: Scalar, location: Location) -> Scalar:
        """A value, or that of the parameter that it refers to.

        Raises:
            BdpbenchError: when the run has no such parameter.
        """
        if not isinstance(value, str) or not value.startswith("$"):
            return value
        name = value[1:]
        self.used.add(name)
        if name not in self.parameters:
            raise self.error(
                location,
                f"{name} has no value",
                hint="set it under parameters, sweep or cases, or in the topology",
            )
        return self.parameters[name]

    def number_of(self, value: Scalar, location: Location) -> float:
        """The same for a number of ns-2.

        Raises:
            BdpbenchError: as ``of``, and for a word or a number that ns-2 cannot hold.
        """
        number = self.of(value, location)
        if isinstance(number, str):
            raise self.error(location, f"expected a number, got {number!r}")
        if abs(number) > MOST_VARIABLE:
            raise self.error(location, f"expected {MOST_VARIABLE} at most, got {number:g}")
        return float(number)

    def settled(self, part: Part, location: Location) -> Part:
        """A part of the study with values in place of the parameters that it names.

        Raises:
            BdpbenchError: when the run has no such parameter, or its value is out of range.
        """
        values = part.model_dump(exclude_unset=True)
        changed = {name: self._inside(value, (*location, name)) for name, value in values.items()}
        if changed == values:
            return part
        return self.study.settled(part, changed, location)

    def _inside(self, value: object, location: Location) -> object:
        if isinstance(value, dict):
            return {name: self._inside(each, (*location, name)) for name, each in value.items()}
        if isinstance(value, list):
            return [self._inside(each, (*location, i)) for i, each in enumerate(value)]
        if isinstance(value, str):
            found = self.of(value, location)
            whole = isinstance(found, float) and found.is_integer()
            return int(found) if whole else found
        return value

    def protocol(self, key: str, location: Location) -> Protocol:
        """A protocol of the study.

        Raises:
            BdpbenchError: with a suggestion, when the study does not have it.
        """
        self.study.require(location, key, self.study.protocols, "protocol")
        return self.study.protocols[key]

    def settings_of(self, key: str) -> dict[str, float]:
        """Variables of a protocol's agents, including those that parameters set."""
        settings = dict(self.study.protocols[key].settings)
        for name in self.parameters:
            declaration = self.study.vocabulary.get(name)
            for variable in declaration.sets.get(key, ()) if declaration else ():
                self.used.add(name)
                settings[variable] = self.number_of(self.parameters[name], ("parameters", name))
        return settings

    def class_defaults(self) -> dict[str, dict[str, float]]:
        """Class defaults of the run: those of the study, overridden by those of its scenario."""
        resolved: dict[str, dict[str, float]] = {}
        for name, variables in self.study.defaults_of(self.scenario).items():
            for variable, value in variables.items():
                number = self.number_of(value, self.place_of_default(name, variable))
                resolved.setdefault(name, {})[variable] = number
        return resolved

    def place_of_default(self, name: str, *variable: str) -> Location:
        """Where study.yaml gives a class default, or the defaults of a class."""
        given = self.scenario.defaults.get(name, {})
        own = all(each in given for each in variable) and name in self.scenario.defaults
        return (*(self.base if own else ()), "defaults", name, *variable)

    def sink_of(self, own: str | None, sink: str, location: Location) -> str:
        """The class of a receiver, as ``delayed_acks`` of the flow or of the run selects it.

        Raises:
            BdpbenchError: for a class that does not exist both with and without delayed ACKs.
        """
        delays = own or self.get("delayed_acks")
        if delays is None:
            return sink
        plain = {value: name for name, value in _DELAYING.items()}.get(sink, sink)
        if plain not in _DELAYING:
            raise self.error(
                location,
                f"delayed_acks is given, but the receiver is {sink}",
                hint=f"expected a protocol with sink {' or '.join(_DELAYING)}",
            )
        return _DELAYING[plain] if delays == "on" else plain

    def route_of(self, said: Flow | Background, location: Location, links: int) -> Route:
        """The path of a flow or of background traffic over a chain of bottlenecks.

        Raises:
            BdpbenchError: for a bottleneck that the chain does not have, or a path whose last
                bottleneck precedes its first.
        """
        first = int(said.enters)
        last = links if said.leaves is None else int(said.leaves)
        for name, value in (("enters", first), ("leaves", last)):
            if value > links:
                have = "is one bottleneck" if links == 1 else f"are {links} bottlenecks"
                raise self.error(
                    (*location, name),
                    f"{name} is {value}, and there {have}",
                    hint="give the topology more of them under bottlenecks:",
                )
        if first > last:
            message = f"leaves is {last}, which is before enters, {first}"
            raise self.error((*location, "leaves"), message)
        return Route(first - 1, last - 1, said.direction == "reverse")

    def check_times(
        self, said: Flow | Background, location: Location, start_s: float, what: str
    ) -> None:
        """Refuse what would start or stop after the end of the run, or stop before it starts.

        Raises:
            BdpbenchError: naming the time.
        """
        latest_s = start_s + float(said.start_within_s)
        ends = f"but a run ends after {self.duration_s:g} s"
        if latest_s >= self.duration_s:
            message = f"{what} starts at {latest_s:g} s, {ends}"
            raise self.error((*location, "start_s"), message)
        if said.stop_s is None:
            return
        if float(said.stop_s) <= latest_s:
            message = f"{what} stops at {said.stop_s} s but starts at {latest_s:g} s"
            raise self.error((*location, "stop_s"), message)
        if float(said.stop_s) >= self.duration_s:
            raise self.error(
                (*location, "stop_s"),
                f"{what} stops at {said.stop_s} s, {ends}",
                hint="leave out stop_s: it stops with the run",
            )


@dataclass(frozen=True)
class Resolved:
    """A run resolved: what its script gets and writes.

    Attributes:
        script: the script, as plans name it.
        path: its path.
        files: all Tcl files that it reads, if they cannot be followed from there.
        argv: arguments of the script.
        outputs: files that it writes, and the tables that they become.
        flows: flows of the run.
        senders: the senders that decide how ns-2 behaves; None if only the script knows them.
        derived: parameters that follow from others, for metrics and labels.
        cpu_s: predicts the CPU time on the reference machine, s, from all parameters.
    """

    script: str
    path: Path
    files: Sequence[Path]
    argv: Sequence[str]
    outputs: list[Output]
    flows: Sequence[Sender]
    senders: Sequence[Sender] | None
    derived: Parameters
    cpu_s: Callable[[Parameters], float]


def argument_words(pairs: Sequence[tuple[str, Scalar]]) -> list[str]:
    """Keys and values as a script gets them: ``-key value``."""
    return [text for name, value in pairs for text in (f"-{name}", format_value(value))]
