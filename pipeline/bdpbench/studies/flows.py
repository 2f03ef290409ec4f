"""The flows of a run: those of its scenario, with the values of the run's parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from bdpbench.contracts.plan import Parameters, Scalar
from bdpbench.contracts.yaml_files import Location
from bdpbench.studies.identity import AgentUse
from bdpbench.studies.limits import MOST_FLOWS, MOST_VARIABLE
from bdpbench.studies.study import Flow, Protocol, Scenario, Study, known_or_suggest
from bdpbench.studies.vocabulary import ParameterDeclaration

WINDOW_OPTION = "windowOption_"


@dataclass(frozen=True)
class ResolvedFlow:
    """One flow.

    Attributes:
        key: key of its protocol, from which agent, sink, linux and record come.
        settings: variables of its agent, including those that parameters set.
        defaults: class defaults of the run, by ns-2 class.
        start_s: s.
        access_delay_ms: one way, ms; None if only the script knows it.
    """

    key: str
    protocol: Protocol
    settings: Mapping[str, float]
    defaults: Mapping[str, Mapping[str, float]]
    start_s: float
    access_delay_ms: float | None

    @cached_property
    def use(self) -> AgentUse:
        """The sender of this flow, as far as it decides which code of ns-2 runs."""
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


def format_value(value: Scalar) -> str:
    """A parameter as ns-2 gets it: integers without a decimal point, floats as Python prints them.

    >>> format_value(30.0), format_value(0.01), format_value("HS")
    ('30', '0.01', 'HS')
    """
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def referenced(value: object) -> str | None:
    """Name of the parameter that ``$name`` refers to; None for a literal value."""
    return value[1:] if isinstance(value, str) and value.startswith("$") else None


def value_of(study: Study, value: Scalar, parameters: Parameters, location: Location) -> Scalar:
    """A value, or that of the parameter that it refers to.

    Raises:
        BdpbenchError: when the run has no such parameter.
    """
    name = referenced(value)
    if name is None:
        return value
    if name not in parameters:
        raise study.error(
            location,
            f"{name} has no value",
            hint="set it under parameters, sweep or cases, or in the topology",
        )
    return parameters[name]


def resolve_defaults(
    study: Study, key: str, scenario: Scenario, parameters: Parameters
) -> dict[str, dict[str, float]]:
    """Class defaults of a run: those of the study, overridden by those of its scenario."""
    resolved: dict[str, dict[str, float]] = {}
    for name, variables in study.defaults_of(scenario).items():
        for variable, value in variables.items():
            own = variable in scenario.defaults.get(name, {})
            base = ("scenarios", key, "defaults") if own else ("defaults",)
            number = _setting(study, (*base, name, variable), value, parameters)
            resolved.setdefault(name, {})[variable] = number
    return resolved


def resolve_flows(
    study: Study,
    key: str,
    scenario: Scenario,
    parameters: Parameters,
    defaults: Mapping[str, Mapping[str, float]],
) -> list[ResolvedFlow]:
    """The flows of a run in their order.

    Raises:
        BdpbenchError: naming file and line, when a flow lacks a protocol or a parameter, or starts
            after the end of the run.
    """
    flows: list[ResolvedFlow] = []
    for index, group in enumerate(scenario.flows):
        base = ("scenarios", key, "flows", index)
        flows += _resolve(study, base, group, parameters, defaults)
        if len(flows) > MOST_FLOWS:
            raise study.error(base, f"a run would have more than {MOST_FLOWS} flows")
    return flows


def _resolve(
    study: Study,
    base: Location,
    group: Flow,
    parameters: Parameters,
    defaults: Mapping[str, Mapping[str, float]],
) -> Iterator[ResolvedFlow]:
    name = _protocol_of(study, base, group, parameters)
    delay = group.access_delay_ms
    if delay is None:
        delay_ms = _optional(parameters.get("access_delay_ms"))
    else:
        delay_ms = _number(study, (*base, "access_delay_ms"), delay, parameters)
    start_s = _number(study, (*base, "start_s"), group.start_s, parameters)
    stagger_s = _number(study, (*base, "stagger_s"), group.stagger_s, parameters)
    settings = {**study.protocols[name].settings, **set_by_parameters(study, name, parameters)}
    for number in range(_count(study, (*base, "count"), group.count, parameters)):
        starts_s = start_s + number * stagger_s
        if starts_s >= float(parameters["duration_s"]):
            raise study.error(
                (*base, "start_s"),
                f"a flow starts at {starts_s:g} s, and a run ends after "
                f"{float(parameters['duration_s']):g} s",
            )
        yield ResolvedFlow(name, study.protocols[name], settings, defaults, starts_s, delay_ms)


def _protocol_of(study: Study, base: Location, group: Flow, parameters: Parameters) -> str:
    if group.protocol is None and "protocol" not in parameters:
        raise study.error(
            base,
            "a flow names no protocol and the run has none",
            hint="set flows[].protocol, parameters.protocol or a sweep of protocol",
        )
    location = (*base, "protocol")
    name = str(value_of(study, group.protocol or "$protocol", parameters, location))
    check_protocol(study, location, name)
    return name


def check_protocol(study: Study, location: Location, name: str) -> None:
    """Refuse a protocol that the study does not have.

    Raises:
        BdpbenchError: with a suggestion.
    """
    unknown = known_or_suggest(name, study.protocols, "protocol")
    if unknown:
        raise study.error(location, unknown[0], hint=unknown[1])


def _signed(study: Study, location: Location, value: Scalar, parameters: Parameters) -> float:
    found = value_of(study, value, parameters, location)
    if isinstance(found, str):
        raise study.error(location, f"expected a number, got {found!r}")
    return float(found)


def _setting(study: Study, location: Location, value: Scalar, parameters: Parameters) -> float:
    number = _signed(study, location, value, parameters)
    if abs(number) > MOST_VARIABLE:
        raise study.error(location, f"expected {MOST_VARIABLE} at most, got {number:g}")
    return number


def _number(study: Study, location: Location, value: Scalar, parameters: Parameters) -> float:
    found = _signed(study, location, value, parameters)
    if found < 0:
        raise study.error(location, f"expected a number that is not negative, got {found:g}")
    return found


def _count(study: Study, location: Location, value: Scalar, parameters: Parameters) -> int:
    found = _number(study, location, value, parameters)
    if not 1 <= found <= MOST_FLOWS or not found.is_integer():
        raise study.error(location, f"expected 1 to {MOST_FLOWS} flows, got {found:g}")
    return int(found)


def _optional(value: Scalar | None) -> float | None:
    return None if value is None else float(value)


def setting_parameters(
    vocabulary: Mapping[str, ParameterDeclaration], protocol: str, parameters: Parameters
) -> dict[str, list[str]]:
    """Parameter of a run → the variables of a protocol's agents that it sets."""
    return {
        name: vocabulary[name].sets[protocol]
        for name in parameters
        if name in vocabulary and protocol in vocabulary[name].sets
    }


def set_by_parameters(study: Study, protocol: str, parameters: Parameters) -> dict[str, float]:
    """The variables of a protocol's agents that parameters set, and their values."""
    return {
        variable: _setting(study, ("parameters", name), parameters[name], parameters)
        for name, variables in setting_parameters(study.vocabulary, protocol, parameters).items()
        for variable in variables
    }


def flow_arguments(flows: Sequence[ResolvedFlow]) -> Iterator[tuple[str, Scalar]]:
    """Keys of the script's arguments for its flows, and their values; none without flows."""
    if flows:
        yield "flows", len(flows)
    for index, flow in enumerate(flows):
        prefix = f"flow.{index}"
        yield f"{prefix}.agent", flow.protocol.agent
        yield f"{prefix}.sink", flow.protocol.sink
        yield f"{prefix}.start_s", flow.start_s
        if flow.access_delay_ms is not None:
            yield f"{prefix}.access_delay_ms", flow.access_delay_ms
        if flow.protocol.linux is not None:
            yield f"{prefix}.linux", flow.protocol.linux
        if flow.protocol.record:
            yield f"{prefix}.record", " ".join(flow.protocol.record)
        for variable, value in flow.settings.items():
            yield f"{prefix}.set.{variable}", value
