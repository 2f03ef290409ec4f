"""The bottlenecks of a run: rates, delays, queues with their variables, random losses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bdpbench.contracts.plan import Scalar
from bdpbench.contracts.yaml_files import Location, suggest
from bdpbench.studies.limits import LEAST_POSITIVE, MOST_VARIABLE
from bdpbench.studies.network.values import Values
from bdpbench.studies.parts import Bottleneck, QueueDeclaration
from bdpbench.studies.queues import HEADER_BYTES, QUEUE_KINDS, QueueKind
from bdpbench.studies.reach import place_of
from bdpbench.units import bdp_packets

ROUNDED_BUFFERS = ("buffer_ms", "buffer_bdp")
"""Parameters that are rounded to whole packets, so several values may give the same buffer."""

BUFFERS = ("buffer_pkts", *ROUNDED_BUFFERS)
LEAST_BUFFER_PKTS = 1
"""Smallest queue, packets, besides the packet being sent: with less, nothing would get through."""


@dataclass(frozen=True)
class Wire:
    """The part of a bottleneck that determines round trips.

    Attributes:
        said: its entry in study.yaml, with values in place of references.
        location: where the entry is.
        mbps: rate, Mbit/s.
        delay_ms: one way, ms.
    """

    said: Bottleneck
    location: Location
    mbps: float
    delay_ms: float


@dataclass(frozen=True)
class Link:
    """A bottleneck.

    Attributes:
        name: in tables and in the report of the run.
        wire: its rate and delay.
        kind: of its queue.
        variables: variables of ns-2's queue class.
        holds_pkts: packets that the queue holds.
        loss_rate: share of packets lost at random.
        loss_burst_pkts: mean number of packets lost in a row; None for independent losses.
    """

    name: str
    wire: Wire
    kind: QueueKind
    variables: Mapping[str, float]
    holds_pkts: int
    loss_rate: float
    loss_burst_pkts: float | None

    def arguments(self, index: int) -> Iterator[tuple[str, Scalar]]:
        """Keys of the script's arguments, and their values."""
        prefix = f"link.{index}"
        yield f"{prefix}.mbps", self.wire.mbps
        yield f"{prefix}.delay_ms", self.wire.delay_ms
        yield f"{prefix}.queue", self.kind.ns2_class
        for variable, value in self.variables.items():
            yield f"{prefix}.queue.{variable}", value
        if self.loss_rate:
            yield f"{prefix}.loss_rate", self.loss_rate
        if self.loss_burst_pkts is not None:
            yield f"{prefix}.loss_burst_pkts", self.loss_burst_pkts


def wires_of(values: Values) -> list[Wire]:
    """Rates and delays of the bottlenecks of a run."""
    topology = values.study.scenarios[values.scenario].topology
    base: Location = ("topologies", topology, "bottlenecks")
    parts = values.study.topologies[topology].bottlenecks
    if not parts:
        return [_wire(Bottleneck(), ("scenarios", values.scenario, "topology"), values)]
    return [
        _wire(values.settled(part, (*base, index)), (*base, index), values)
        for index, part in enumerate(parts)
    ]


def _wire(said: Bottleneck, location: Location, values: Values) -> Wire:
    mbps = said.bottleneck_mbps
    delay_ms = said.bottleneck_delay_ms
    return Wire(
        said,
        location,
        values.number("bottleneck_mbps", "the bottleneck rate") if mbps is None else float(mbps),
        values.number("bottleneck_delay_ms", "the bottleneck delay")
        if delay_ms is None
        else float(delay_ms),
    )


def name_of(index: int, count: int) -> str:
    """Name of a bottleneck in tables: ``bottleneck``, or ``bottleneck_1`` ... in a chain."""
    return "bottleneck" if count == 1 else f"bottleneck_{index + 1}"


def links_of(
    values: Values, wires: list[Wire], rtt_ms: float | None, packet_bytes: int
) -> list[Link]:
    """The bottlenecks with their queues.

    Args:
        values: parameters of the run.
        wires: as ``wires_of`` found them.
        rtt_ms: RTT of the BDP for buffer_bdp, ms; None if flows have different RTTs.
        packet_bytes: payload of a segment, bytes.
    """
    return [
        _link(values, wire, name_of(index, len(wires)), rtt_ms, packet_bytes)
        for index, wire in enumerate(wires)
    ]


def _link(values: Values, wire: Wire, name: str, rtt_ms: float | None, packet_bytes: int) -> Link:
    holds = _holds(values, wire, rtt_ms, packet_bytes)
    declared, kind, location = _queue(values, wire)
    marks = values.get("ecn") == "on" and bool(kind.ecn)
    settings = _settings(values, declared, kind, location)
    rate, burst = _losses(values, wire)
    variables = kind.variables(settings, packet_bytes + HEADER_BYTES, holds, marks)
    for variable, value in variables.items():
        if abs(value) > MOST_VARIABLE:
            raise values.study.error(
                (*location, "settings"),
                f"{variable} of ns-2's queue would be {value:g}: expected {MOST_VARIABLE} at most",
            )
    return Link(name, wire, kind, variables, holds, rate, burst)


def _holds(values: Values, wire: Wire, rtt_ms: float | None, packet_bytes: int) -> int:
    """Packets that the queue of a bottleneck holds."""
    own = {name: getattr(wire.said, name) for name in BUFFERS}
    given = {name: value for name, value in own.items() if value is not None}
    location = wire.location
    if not given:
        given = {name: values.get(name) for name in BUFFERS if values.has(name)}
        location = ("scenarios", values.scenario)
    if len(given) != 1:
        told = f"{' and '.join(given)} are given" if given else "has no value"
        raise values.study.error(
            location if given else ("scenarios", values.scenario, "topology"),
            f"the buffer of the bottleneck {told}" if not given else f"{told}",
            hint="give one of buffer_pkts, buffer_ms and buffer_bdp",
        )
    ((name, value),) = given.items()
    holds = _in_packets(values, wire, name, float(value), rtt_ms, packet_bytes)
    wire_bytes = packet_bytes + HEADER_BYTES
    if holds * wire_bytes > MOST_VARIABLE:
        raise values.study.error(
            place_of(values.study, values.scenario, name)
            if own[name] is None
            else (*wire.location, name),
            f"the queue would hold {holds:,} packets of {wire_bytes} bytes, and ns-2 counts its "
            "bytes in 32 bits",
            hint=f"expected a buffer of {MOST_VARIABLE // wire_bytes:,} packets at most",
        )
    return max(LEAST_BUFFER_PKTS, holds)


def _in_packets(
    values: Values, wire: Wire, name: str, value: float, rtt_ms: float | None, packet_bytes: int
) -> int:
    if name == "buffer_pkts":
        return int(value)
    if name == "buffer_ms":
        return round(bdp_packets(wire.mbps, value, packet_bytes + HEADER_BYTES))
    if rtt_ms is None:
        raise values.study.error(
            wire.location,
            "buffer_bdp is a share of rate times RTT, and the flows of this run have several RTTs",
            hint="give the RTT for this computation as rtt_ms under parameters",
        )
    return round(value * bdp_packets(wire.mbps, rtt_ms, packet_bytes))


def _queue(values: Values, wire: Wire) -> tuple[QueueDeclaration, QueueKind, Location]:
    """Declaration and kind of a bottleneck's queue, and where it is declared."""
    own = wire.said.queue
    key = str(values.get("queue") if own is None else own)
    queues = values.study.queues
    if key in queues:
        return queues[key], QUEUE_KINDS[queues[key].kind], ("queues", key)
    if key not in QUEUE_KINDS:
        known = [*queues, *QUEUE_KINDS]
        raise values.study.error(
            (*wire.location, "queue"), f"unknown queue {key!r}", hint=suggest(key, known)
        )
    return QueueDeclaration(kind=key), QUEUE_KINDS[key], ("scenarios", values.scenario)


def _settings(
    values: Values, declared: QueueDeclaration, kind: QueueKind, location: Location
) -> dict[str, float]:
    """Settings of a queue, each in range."""
    study = values.study
    found: dict[str, float] = {}
    for name, value in declared.settings.items():
        place = (*location, "settings", name)
        number = values.of(value, place)
        if isinstance(number, str):
            raise study.error(place, f"expected a number, got {number!r}")
        problem = kind.parameters[name].problem(number)
        if problem:
            raise study.error(place, f"{problem} (got {number:g})")
        found[name] = float(number)
    for name, parameter in kind.parameters.items():
        if parameter.default is None and name not in found:
            raise study.error(
                location,
                f"a queue of kind {declared.kind} needs {name}: {parameter.text}",
                hint=f"declare it: queues: {{MyQueue: {{kind: {declared.kind}, settings: "
                f"{{{name}: ...}}}}}}",
            )
    for smaller, larger in kind.rising:
        if larger in found and found[larger] <= found.get(smaller, -1.0):
            place = (*location, "settings", larger)
            raise study.error(place, f"expected more than {smaller}, {found[smaller]:g}")
    return found


def _losses(values: Values, wire: Wire) -> tuple[float, float | None]:
    """Share of packets lost at random, and the mean number of consecutive losses."""
    own = wire.said.loss_rate
    rate = values.number("loss_rate", "") if own is None else float(own)
    own = wire.said.loss_burst_pkts
    burst = values.optional("loss_burst_pkts") if own is None else float(own)
    check_burst(values, wire.location, rate, burst)
    return rate, burst


def check_burst(values: Values, location: Location, rate: float, burst: float | None) -> None:
    """Refuse a share of losses that cannot come in bursts of the given mean length.

    Raises:
        BdpbenchError: naming the bottleneck or its change.
    """
    if burst is None:
        return
    if burst * (1 - rate) <= 1:
        raise values.study.error(
            location,
            f"loss_burst_pkts is {burst:g}, but independent losses come in bursts of "
            f"{1 / (1 - rate):g} on average",
            hint="expected more; leave loss_burst_pkts out for independent losses",
        )
    if 0 < rate < LEAST_POSITIVE * burst:
        message = f"loss_rate is {rate:g}, too small for bursts of {burst:g} packets"
        raise values.study.error(location, message, hint="write loss_rate: 0 for no losses")
