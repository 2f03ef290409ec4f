"""The flows of a run over its bottlenecks: delays, starts, ends, sizes, paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bdpbench.contracts.plan import Scalar
from bdpbench.contracts.yaml_files import Location
from bdpbench.studies.flows import (
    ResolvedFlow,
    check_protocol,
    set_by_parameters,
    setting_parameters,
)
from bdpbench.studies.limits import MOST_FLOWS
from bdpbench.studies.network.links import Wire
from bdpbench.studies.network.values import Values
from bdpbench.studies.study import Flow

ClassVariables = Mapping[str, Mapping[str, float]]
_DELAYING = {"TCPSink": "TCPSink/DelAck", "TCPSink/Sack1": "TCPSink/Sack1/DelAck"}
_EPSILON_MS = 1e-9


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
class NetworkFlow:
    """One flow.

    Attributes:
        flow: what every script gets.
        route: its path over the bottlenecks.
        rtt_ms: RTT without queues, ms.
        group: its group of flows; "" for none.
        size_pkts: packets that it transfers; None if it is endless.
        recorded: whether its time series are written.
        more: further keys of the script's arguments, and their values.
    """

    flow: ResolvedFlow
    route: Route
    rtt_ms: float
    group: str
    size_pkts: int | None
    recorded: bool
    more: Sequence[tuple[str, Scalar]]


def route_of(
    values: Values, location: Location, enters: int, leaves: int | None, direction: str, links: int
) -> Route:
    """The path of a flow or of background traffic.

    Raises:
        BdpbenchError: for a bottleneck that the chain does not have, or a path whose last
            bottleneck precedes its first.
    """
    last = links if leaves is None else leaves
    for name, value in (("enters", enters), ("leaves", last)):
        if value > links:
            have = "is one bottleneck" if links == 1 else f"are {links} bottlenecks"
            raise values.study.error(
                (*location, name),
                f"{name} is {value}, and there {have}",
                hint="give the topology more of them under bottlenecks:",
            )
    if enters > last:
        message = f"leaves is {last}, which is before enters, {enters}"
        raise values.study.error((*location, "leaves"), message)
    return Route(enters - 1, last - 1, direction == "reverse")


def flows_of(
    values: Values, wires: Sequence[Wire], defaults: ClassVariables, duration_s: float
) -> list[NetworkFlow]:
    """All flows of a run, in the order of study.yaml.

    Raises:
        BdpbenchError: naming file and line, for settings that no flow can have.
    """
    study = values.study
    found: list[NetworkFlow] = []
    for index, part in enumerate(study.scenarios[values.scenario].flows):
        location = ("scenarios", values.scenario, "flows", index)
        if part.stagger_s and part.count == 1:
            raise study.error(
                (*location, "stagger_s"),
                "this would have no effect: there is one flow",
                hint="write start_s, or count: how many there are",
            )
        said = values.settled(part, location)
        found += _kind_of_flow(values, wires, defaults, duration_s, said, location)
        if len(found) > MOST_FLOWS:
            raise study.error(location, f"a run would have more than {MOST_FLOWS} flows")
    return found


def _kind_of_flow(
    values: Values,
    wires: Sequence[Wire],
    defaults: ClassVariables,
    duration_s: float,
    said: Flow,
    location: Location,
) -> Iterator[NetworkFlow]:
    route = route_of(
        values, location, int(said.enters), _whole(said.leaves), said.direction, len(wires)
    )
    receiver_ms = _own(values, said, "receiver_delay_ms")
    access_ms, rtt_ms = _delays(values, said, location, wires[route.first : route.last + 1])
    key = str(said.protocol or _protocol_of(values, location))
    check_protocol(values.study, (*location, "protocol"), key)
    protocol = values.study.protocols[key]
    sink = sink_of(values, said.delayed_acks, protocol.sink, location)
    if sink != protocol.sink:
        protocol = protocol.model_copy(update={"sink": sink})
    size = _size(values, said, location, key)
    within_s = float(said.start_within_s)
    more: list[tuple[str, Scalar]] = [
        ("access_mbps", _own(values, said, "access_mbps")),
        ("receiver_delay_ms", receiver_ms),
        *_given(access_buffer_pkts=_access_buffer(values, said), stop_s=said.stop_s, packets=size),
        *([("within_s", within_s)] if within_s else []),
        *([] if said.recorded else [("recorded", 0)]),
        *route.arguments(len(wires)),
        *_linux_parameters(values, key),
    ]
    settings = settings_of(values, key)
    for number in range(int(said.count)):
        start_s = float(said.start_s) + number * float(said.stagger_s)
        _check_times(values, said, location, start_s, duration_s)
        flow = ResolvedFlow(key, protocol, settings, defaults, start_s, access_ms)
        yield NetworkFlow(flow, route, rtt_ms, said.group or "", size, said.recorded, more)


def _protocol_of(values: Values, location: Location) -> str:
    value = values.get("protocol")
    if value is None:
        raise values.study.error(
            location,
            "a flow names no protocol and the run has none",
            hint="set flows[].protocol, parameters.protocol or a sweep of protocol",
        )
    return str(value)


def _own(values: Values, said: Flow, name: str) -> float:
    """A flow's value of a key, or else the run's parameter of the same name."""
    own = getattr(said, name)
    meanings = {
        "access_mbps": "the access rate",
        "receiver_delay_ms": "the access delay of the receivers",
    }
    return values.number(name, meanings[name]) if own is None else float(own)


def _access_buffer(values: Values, said: Flow) -> Scalar | None:
    own = said.access_buffer_pkts
    return values.get("access_buffer_pkts") if own is None else own


def _delays(
    values: Values, said: Flow, location: Location, wires: Sequence[Wire]
) -> tuple[float, float]:
    """One-way delay of the sender's link, and the RTT without queues, ms."""
    rest_ms = sum(wire.delay_ms for wire in wires) + _own(values, said, "receiver_delay_ms")
    if said.rtt_ms is not None and said.access_delay_ms is not None:
        raise values.study.error(
            (*location, "rtt_ms"),
            "access_delay_ms is given as well, but each of them follows from the other",
            hint="leave out one of them",
        )
    if said.rtt_ms is not None:
        return _access_delay(values, (*location, "rtt_ms"), float(said.rtt_ms), rest_ms)
    if said.access_delay_ms is not None or values.has("access_delay_ms"):
        own = said.access_delay_ms
        access_ms = values.number("access_delay_ms", "") if own is None else float(own)
        return access_ms, 2 * (access_ms + rest_ms)
    if values.has("rtt_ms"):
        return _access_delay(values, location, values.number("rtt_ms", ""), rest_ms)
    values.number("access_delay_ms", "the access delay of the senders")
    raise AssertionError


def _access_delay(
    values: Values, location: Location, rtt_ms: float, rest_ms: float
) -> tuple[float, float]:
    access_ms = round(rtt_ms / 2 - rest_ms, 9)
    if access_ms < -_EPSILON_MS:
        raise values.study.error(
            location,
            f"an RTT of {rtt_ms:g} ms, but the path alone has {2 * rest_ms:g} ms",
            hint="expected at least twice the delays of the bottlenecks and of the receiver",
        )
    return max(0.0, access_ms), rtt_ms


def sink_of(values: Values, own: str | None, sink: str, location: Location) -> str:
    """The class of a receiver, as ``delayed_acks`` of the flow or of the run selects it.

    Raises:
        BdpbenchError: for a class that does not exist both with and without delayed ACKs.
    """
    delays = own or values.get("delayed_acks")
    if delays is None:
        return sink
    plain = {value: name for name, value in _DELAYING.items()}.get(sink, sink)
    wanted = _DELAYING.get(plain) if delays == "on" else plain
    if wanted is None or plain not in _DELAYING:
        raise values.study.error(
            location,
            f"delayed_acks is given, but the receiver is {sink}",
            hint=f"expected a protocol with sink {' or '.join(_DELAYING)}",
        )
    return wanted


def _size(values: Values, said: Flow, location: Location, protocol: str) -> int | None:
    """Number of packets that a flow transfers."""
    if said.size_pkts is not None and said.size_bytes is not None:
        raise values.study.error((*location, "size_bytes"), "size_pkts is given as well")
    if said.stop_s is not None and (said.size_pkts or said.size_bytes):
        raise values.study.error(
            (*location, "stop_s"),
            "a transfer of a given size ends when it is complete: remove one of them",
        )
    if said.size_bytes is not None:
        return -(-int(said.size_bytes) // int(values.number("packet_bytes", "")))
    return _whole(said.size_pkts)


def _whole(value: int | str | None) -> int | None:
    return None if value is None else int(value)


def _given(**keys: Scalar | None) -> list[tuple[str, Scalar]]:
    return [(name, value) for name, value in keys.items() if value is not None]


def _check_times(
    values: Values, said: Flow, location: Location, start_s: float, duration_s: float
) -> None:
    latest_s = start_s + float(said.start_within_s)
    if latest_s >= duration_s:
        raise values.study.error(
            (*location, "start_s"),
            f"a flow starts at {latest_s:g} s, but a run ends after {duration_s:g} s",
        )
    if said.stop_s is not None and float(said.stop_s) <= latest_s:
        raise values.study.error(
            (*location, "stop_s"), f"a flow stops at {said.stop_s} s but starts at {latest_s:g} s"
        )
    if said.stop_s is not None and float(said.stop_s) >= duration_s:
        raise values.study.error(
            (*location, "stop_s"),
            f"a flow stops at {said.stop_s} s, but a run ends after {duration_s:g} s",
            hint="leave out stop_s: it stops with the run",
        )


def settings_of(values: Values, protocol: str) -> dict[str, float]:
    """Variables of a protocol's agents, including those that parameters set."""
    study = values.study
    values.used |= set(setting_parameters(study.vocabulary, protocol, values.parameters))
    return {
        **study.protocols[protocol].settings,
        **set_by_parameters(study, protocol, values.parameters),
    }


def _linux_parameters(values: Values, protocol: str) -> Iterator[tuple[str, Scalar]]:
    declared = values.study.protocols[protocol]
    for name, value in declared.linux_parameters.items():
        location = ("protocols", protocol, "linux_parameters", name)
        found = values.of(value, location)
        if isinstance(found, str) or not float(found).is_integer():
            raise values.study.error(location, f"expected a whole number (got {found!r})")
        yield f"linux.{name}", int(found)
