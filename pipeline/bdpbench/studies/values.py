"""The values of a run's parameters, parts of its scenario with these values, the run resolved.

Nothing in a run is ignored, contradicted, or more than ns-2 can hold: what is wrong is refused by a
BdpbenchError that names file and line. A parameter reaches ns-2 as
an argument of the script, by a reference in a flow or in class defaults, or by setting variables of
an agent. Otherwise it has to be declared nominal, so that only metrics and labels read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from bdpbench.contracts.plan import AgentUse, Output, Parameters, Scalar, format_value
from bdpbench.contracts.yaml_files import Location, Strict
from bdpbench.errors import BdpbenchError
from bdpbench.studies.parts import Background, Bottleneck, Flow, OwnSource, Protocol
from bdpbench.studies.queues import HEADER_BYTES
from bdpbench.studies.study import DURATION_ARGUMENT, NETWORK_SCRIPT, Study
from bdpbench.studies.vocabulary import PROTOCOL_PARAMETERS
from bdpbench.units import BITS_PER_BYTE, MOST_VARIABLE, MOST_WINDOW_PKTS

Part = TypeVar("Part", bound=Strict)
Pairs = list[tuple[str, Scalar]]
"""Keys of a script's arguments, and their values."""

ClassVariables = Mapping[str, Mapping[str, float]]
"""ns-2 class → variable → number."""

WINDOW_OPTION = "windowOption_"
_NO_EFFECT = "this would have no effect: "
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
    """A flow, or the sender of background traffic, of the protocol with a key.

    ``settings`` includes the variables that parameters set; ``defaults`` are those of the run's
    classes; ``access_delay_ms``, one way, is None if only the script knows it.
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

    ``parameters`` are those that the study gives, with ``duration_s``, and ``fallbacks`` those that
    it need not give; ``base`` is the place of the scenario in study.yaml.
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
        """A parameter that is a number."""
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
        """A value, or that of the parameter that it refers to."""
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
        """The same for a number of ns-2."""
        number = self.of(value, location)
        if isinstance(number, str):
            raise self.error(location, f"expected a number, got {number!r}")
        if abs(number) > MOST_VARIABLE:
            raise self.error(location, f"expected {MOST_VARIABLE} at most, got {number:g}")
        return float(number)

    def settled(self, part: Part, location: Location) -> Part:
        """A part of the study with values in place of the parameters that it names."""
        values = part.model_dump(exclude_unset=True)
        changed = {name: self._inside(value, (*location, name)) for name, value in values.items()}
        if changed == values:
            return part
        return self.study.source.validate_part(type(part), changed, location)

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
        """A protocol of the study."""
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

    def sink_of(self, sink: str, location: Location) -> str:
        """The class of a receiver, as ``delayed_acks`` of the run selects it."""
        delays = self.get("delayed_acks")
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
        """The path of a flow or of background traffic over a chain of bottlenecks."""
        first = int(said.enters)
        last = links if said.leaves is None else int(said.leaves)
        have = "is one bottleneck" if links == 1 else f"are {links} bottlenecks"
        for name, value in (("enters", first), ("leaves", last)):
            if value > links:
                raise self.error(
                    (*location, name),
                    f"{name} is {value}, and there {have}",
                    hint="give the topology more of them under bottlenecks:",
                )
        if first > last:
            message = f"leaves is {last}, which is before enters, {first}"
            raise self.error((*location, "leaves"), message)
        return Route(first - 1, last - 1, said.direction == "reverse")

    def check_stagger(self, part: Flow | Background, location: Location, what: str) -> None:
        """Refuse a delay between the starts of a kind of which there is one in all runs."""
        if part.stagger_s and part.count == 1:
            message, hint = f"there is one {what}", "write start_s, or count: how many there are"
            raise self.error((*location, "stagger_s"), f"{_NO_EFFECT}{message}", hint=hint)

    def starts_of(self, said: Flow | Background, location: Location, what: str) -> Iterator[float]:
        """When the flows or sources of one kind start, s."""
        ends = f"but a run ends after {self.duration_s:g} s"
        stop_s = getattr(said, "stop_s", None)
        for number in range(int(said.count)):
            start_s = float(said.start_s) + number * float(said.stagger_s)
            latest_s = start_s + float(said.start_within_s)
            if latest_s >= self.duration_s:
                message = f"{what} starts at {latest_s:g} s, {ends}"
                raise self.error((*location, "start_s"), message)
            if stop_s is not None and float(stop_s) <= latest_s:
                message = f"{what} stops at {stop_s} s but starts at {latest_s:g} s"
                raise self.error((*location, "stop_s"), message)
            if stop_s is not None and float(stop_s) >= self.duration_s:
                hint = "leave out stop_s: it stops with the run"
                raise self.error(
                    (*location, "stop_s"), f"{what} stops at {stop_s} s, {ends}", hint=hint
                )
            yield start_s


@dataclass(frozen=True)
class Resolved:
    """A run resolved: what its script gets and writes.

    ``script`` is its name in plans; ``senders`` decide how ns-2 behaves, unless the
    script has more; ``derived`` are parameters that follow from others, for metrics and labels.
    """

    script: str
    path: Path
    argv: Sequence[str]
    outputs: list[Output]
    flows: Sequence[Sender]
    senders: Sequence[Sender]
    derived: Parameters
    knows_senders: bool = True


def further(said: Flow | Bottleneck | OwnSource) -> Iterator[tuple[str, Scalar]]:
    """Keys and values of what only the script of the scenario's ``network:`` takes."""
    for name, value in said.arguments.items():
        yield name, " ".join(map(format_value, value)) if isinstance(value, list) else value


def argument_words(pairs: Sequence[tuple[str, Scalar]]) -> list[str]:
    """Keys and values as a script gets them: ``-key value``."""
    return [text for name, value in pairs for text in (f"-{name}", format_value(value))]


# ---------------------------------------------------------------- checks of a run

_RTTS = ("rtt_ms", "rtt_1_ms", "rtt_2_ms")
_FLOW_PARAMETERS = (*PROTOCOL_PARAMETERS, "access_delay_ms", "flow2_start_s", "flows")
_STEP_S = 0.01
_SET_BY_KEYS = {"segsize_": "packet_bytes", "segsperack_": "delayed_acks"}


def check_run(
    values: Values, parameters: Parameters, flows: Sequence[Sender], senders: Sequence[Sender]
) -> None:
    """Refuse a run that ns-2 cannot simulate as the study describes it.

    ``parameters`` are those of ``values`` with the computed ones, ``senders`` all that are of TCP.
    """
    given = values.parameters.get("flows", len(flows))
    if given != len(flows):
        raise values.error(
            values.place_of("flows"),
            f"flows is {given}, but the scenario makes {len(flows)}",
            hint="write count: $flows at a flow, or leave out flows, which is then counted",
        )
    # In scenarios without a script of their own, the common RTTs have an effect.
    is_network = values.scenario.script == NETWORK_SCRIPT
    declared = values.study.parameters if is_network else values.study.vocabulary
    for name in values.parameters:
        nominal = name in declared and bool(declared[name].nominal)
        if name not in values.used and not nominal:
            reason, hint = _without_effect(values, name, is_network=is_network)
            message = f"{name} would have no effect: {reason}"
            raise values.error(values.place_of(name), message, hint=hint)
    for sender in senders:
        _check_sender(values, parameters, sender)
    if all(name in parameters for name in ("bottleneck_mbps", "packet_bytes")):
        wire_bytes = int(parameters["packet_bytes"]) + HEADER_BYTES
        packet_s = BITS_PER_BYTE * wire_bytes / (1e6 * float(parameters["bottleneck_mbps"]))
        if packet_s >= values.duration_s:
            raise values.error(
                values.place_of("bottleneck_mbps"),
                f"no packet gets through: sending one of {wire_bytes} bytes takes "
                f"{packet_s:g} s, and a run ends after {values.duration_s:g} s",
                hint="a higher rate, smaller packets or a longer duration_s",
            )


def _without_effect(values: Values, name: str, *, is_network: bool) -> tuple[str, str]:
    """Why a parameter has no effect, and a hint."""
    sets = values.study.vocabulary[name].sets
    if sets:
        reason = f"no flow of this run uses {' or '.join(sets)}, whose agents it sets"
        return reason, "give it only to the runs of that protocol, with cases or another scenario"
    if name in _RTTS and is_network:
        reason = "the RTT of each flow follows from access_delay_ms or rtt_ms of its own"
        return reason, f"leave out access_delay_ms, or write rtt_ms: ${name} at a flow"
    if is_network or name in _FLOW_PARAMETERS:
        hint = f"write ${name} where it should be used, or remove it"
        return f"nothing in {values.key} uses it", hint
    hint = f"list it under arguments: if the script takes it, or write ${name} under defaults:"
    return f"{values.scenario.script} does not take it", hint


def _check_sender(values: Values, parameters: Parameters, sender: Sender) -> None:
    """Refuse a sender that ns-2 cannot make as the study describes it."""
    settings = ("protocols", sender.key, "settings")
    # Compound estimates the queue once per round trip, from more than two RTT samples. With
    # timestamps ns-2 takes a sample from each ACK, without them one per round trip, so that
    # Compound's delay window stays 0. Receivers of TCP/Linux always echo timestamps
    # (``tcl/lib/agents.tcl``).
    own = sender.protocol.settings.get("timestamps_")
    by_parameter = sender.settings.get("timestamps_") != own
    off = not sender.variable("timestamps_")
    if sender.protocol.linux == "compound" and off and not by_parameter:
        raise values.error(
            ("protocols", sender.key, "linux"),
            "Compound without timestamps behaves exactly like Reno: its delay window opens "
            "only with more than two RTT samples per round trip",
            hint=f"write settings: {{timestamps_: 1}} for {sender.key}",
        )
    given, size = parameters.get("packet_bytes"), sender.variable("packetSize_")
    if given is not None and size is not None and size != given:
        raise values.error(
            values.place_of("packet_bytes"),
            f"packet_bytes is {given}, but packetSize_ of {sender.key} is {size:g}",
            hint="write packetSize_: $packet_bytes",
        )
    window_pkts = sender.variable("window_") or 0
    if window_pkts > MOST_WINDOW_PKTS:
        is_own = "window_" in sender.settings
        four_times = "set it; if it is not set, it is four times what path and buffers hold"
        raise values.error(
            (*settings, "window_") if is_own else values.base,
            f"window_ of {sender.key} is {window_pkts:,.0f} packets, and ns-2 can keep "
            f"{MOST_WINDOW_PKTS:,} at most",
            hint="" if is_own else four_times,
        )


# ---------------------------------------------------------------- scenarios without a script


def check_network(
    values: Values,
    defaults: ClassVariables,
    senders: Sequence[Sender],
    *,
    marks: bool,
    knows_senders: bool,
) -> None:
    """Refuse settings without effect in a run of ``tcl/network.tcl``.

    ``defaults`` are those that study and scenario give; ``marks``: whether a queue marks packets.
    Unless ``knows_senders``, the script has senders of classes that only it knows.
    """
    # The resolution in files is 0.01 s.
    for name in ("sample_s", "queue_sample_s"):
        given = values.parameters.get(name, _STEP_S)
        steps = round(float(given) / _STEP_S, 9)
        if steps < 1 or not steps.is_integer():
            message = f"{name}: expected a multiple of {_STEP_S} s (got {given})"
            raise values.error(values.place_of(name), message)
    _check_defaults(values, defaults, senders, knows_senders=knows_senders)
    _check_ecn(values, senders, marks=marks, knows_senders=knows_senders)


def _check_defaults(
    values: Values, defaults: ClassVariables, senders: Sequence[Sender], *, knows_senders: bool
) -> None:
    """Refuse defaults of a class that neither the study's protocols nor this run use.

    A class that only other protocols of the study use is allowed, because a sweep may be over all
    of them. Defaults of queues are refused, since every variable of a queue is set anyway, and so
    are those of variables that keys of study.yaml set.
    """
    protocols = [*values.study.protocols.values(), *(each.protocol for each in senders)]
    made = {f"Agent/{name}/" for each in protocols for name in (each.agent, each.sink)}
    agents = {f"Agent/{each.protocol.agent}/" for each in senders}
    for name, variables in defaults.items():
        place = values.place_of_default(name)
        if name == "Queue" or name.startswith("Queue/"):
            said = f"{_NO_EFFECT}every variable of the bottleneck's queue is set"
            hint = "declare the queue under queues: with its settings, and name it with queue:"
            raise values.error(place, said, hint=hint)
        if knows_senders and not any(each.startswith(f"{name}/") for each in made):
            kinds = ", ".join(sorted(each.removesuffix("/") for each in made)) or "none over TCP"
            said = f"{_NO_EFFECT}nothing here is of class {name}"
            hint = f"senders and receivers of the study: {kinds}"
            raise values.error(place, said, hint=hint)
        for variable in _SET_BY_KEYS.keys() & variables.keys():
            if any(each.startswith(f"{name}/") for each in agents):
                said = f"{_NO_EFFECT}{_SET_BY_KEYS[variable]} sets {variable}"
                raise values.error(values.place_of_default(name, variable), said)


def _check_ecn(
    values: Values, senders: Sequence[Sender], *, marks: bool, knows_senders: bool
) -> None:
    """Refuse ECN that is not on in senders, receivers and queues alike."""
    is_on = values.get("ecn") == "on"
    if is_on and knows_senders and not senders:
        raise values.error(values.base, "ecn is on, and nothing in this run is sent over TCP")
    if is_on and not marks:
        marking = [name for name, kind in values.study.queue_kinds.items() if kind.ecn]
        raise values.error(
            values.base,
            "ecn is on, and no queue of this run marks packets",
            hint=f"give a bottleneck a queue of kind {', '.join(marking[:-1])} or {marking[-1]}",
        )
    for sender in senders:
        if sender.variable("ecn_") is not None:
            own = "ecn_" in sender.protocol.settings
            raise values.error(
                ("protocols", sender.key, "settings", "ecn_") if own else values.base,
                "ecn_ alone is half of ECN: the queue would not mark",
                hint="write ecn: on among the parameters; that sets senders and queues",
            )
