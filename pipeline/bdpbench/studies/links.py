"""The bottlenecks of a run: rates, delays, queues with their variables, random losses.

What no bottleneck can have is refused by a BdpbenchError that names file and line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bdpbench.contracts.plan import Output, Parameters, Scalar, format_value
from bdpbench.contracts.yaml_files import Location
from bdpbench.studies.parts import Bottleneck, Change
from bdpbench.studies.queues import HEADER_BYTES, QueueKind
from bdpbench.studies.study import QueueDeclaration
from bdpbench.studies.values import Values, further
from bdpbench.units import LEAST_POSITIVE, MOST_VARIABLE, bdp_packets

_THRESHOLDS = {"min_th_pkts": "thresh_", "max_th_pkts": "maxthresh_"}
_CHANGED = {"bottleneck_mbps": "mbps", "bottleneck_delay_ms": "delay_ms", "loss_rate": "loss_rate"}
"""What a change may set → the key of the script's argument."""

ROUNDED_BUFFERS = ("buffer_ms", "buffer_bdp")
"""Parameters that are rounded to whole packets, so several values may give the same buffer."""

BUFFERS = ("buffer_pkts", *ROUNDED_BUFFERS)
LEAST_BUFFER_PKTS = 1
"""Smallest queue, packets, besides the packet being sent: with less, nothing would get through."""


@dataclass(frozen=True)
class Wire:
    """The part of a bottleneck that determines round trips.

    ``said`` is its entry in study.yaml, with values in place of references, at ``location``.
    """

    said: Bottleneck
    location: Location
    mbps: float
    delay_ms: float


@dataclass(frozen=True)
class Link:
    """A bottleneck under its name in tables, with a queue of a kind and its variables in ns-2.

    ``loss_burst_pkts``: mean number of packets lost in a row; None for independent losses.
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
        yield from ((f"{prefix}.{name}", value) for name, value in further(self.wire.said))
        yield f"{prefix}.queue", self.kind.ns2_class
        for variable, value in self.variables.items():
            yield f"{prefix}.queue.{variable}", value
        if self.loss_rate:
            yield f"{prefix}.loss_rate", self.loss_rate
        if self.loss_burst_pkts is not None:
            yield f"{prefix}.loss_burst_pkts", self.loss_burst_pkts

    def outputs(self, index: int) -> Iterator[Output]:
        """Files about the bottleneck, and the tables that they become."""
        end = "" if index == 0 else f"_{self.name}"
        yield {"file": f"queue{end}.out", "table": "queue", "link": self.name}
        yield {"file": f"util{end}.out", "table": "utilization", "link": self.name}
        if self.kind.has_average:
            yield {"file": f"red{end}.out", "table": "red", "link": self.name}


def wires_of(values: Values) -> list[Wire]:
    """Rates and delays of the bottlenecks of a run."""
    topology = values.scenario.topology
    parts = values.study.topologies[topology].bottlenecks
    found = []
    for index, part in enumerate(parts or [Bottleneck()]):
        place: Location = ("topologies", topology, "bottlenecks", index)
        place = place if parts else (*values.base, "topology")
        said = values.settled(part, place)
        mbps, delay_ms = said.bottleneck_mbps, said.bottleneck_delay_ms
        if mbps is None:
            mbps = values.number("bottleneck_mbps", "the bottleneck rate")
        if delay_ms is None:
            delay_ms = values.number("bottleneck_delay_ms", "the bottleneck delay")
        found.append(Wire(said, place, float(mbps), float(delay_ms)))
    return found


def links_of(
    values: Values, wires: Sequence[Wire], rtt_ms: float | None, packet_bytes: int
) -> list[Link]:
    """The bottlenecks with their queues.

    ``rtt_ms`` is that of the BDP for buffer_bdp, None if flows have several; ``packet_bytes`` is
    the payload of a segment.
    """
    found = []
    for number, wire in enumerate(wires, start=1):
        holds = _holds(values, wire, rtt_ms, packet_bytes)
        declared, kind, location = _queue(values, wire)
        marks = values.get("ecn") == "on" and bool(kind.ecn)
        settings = _settings(values, declared, kind, location)
        rate, burst = values.number("loss_rate", ""), values.optional("loss_burst_pkts")
        _check_burst(values, wire.location, rate, burst)
        variables = kind.variables(settings, packet_bytes + HEADER_BYTES, holds, marks)
        for variable, value in variables.items():
            if abs(value) > MOST_VARIABLE:
                said = f"would be {value:g}: expected {MOST_VARIABLE} at most"
                place = (*location, "settings")
                raise values.error(place, f"{variable} of ns-2's queue {said}")
        name = f"bottleneck_{number}" if len(wires) > 1 else "bottleneck"
        found.append(Link(name, wire, kind, variables, holds, rate, burst))
    return found


def _holds(values: Values, wire: Wire, rtt_ms: float | None, packet_bytes: int) -> int:
    """Packets that the queue of a bottleneck holds."""
    own: dict[str, Scalar | None] = {"buffer_pkts": wire.said.buffer_pkts}
    is_own = wire.said.buffer_pkts is not None
    given = own if is_own else {name: values.get(name) for name in BUFFERS if values.has(name)}
    if len(given) != 1:
        several = f"{' and '.join(given)} are given"
        raise values.error(
            values.base if given else (*values.base, "topology"),
            several if given else "the buffer of the bottleneck has no value",
            hint="give one of buffer_pkts, buffer_ms and buffer_bdp",
        )
    ((name, said),) = given.items()
    holds, wire_bytes = float(said or 0), packet_bytes + HEADER_BYTES
    if name == "buffer_ms":
        holds = bdp_packets(wire.mbps, holds, wire_bytes)
    if name == "buffer_bdp":
        if rtt_ms is None:
            raise values.error(
                wire.location,
                "buffer_bdp is a share of rate times RTT, and the flows of this run have several "
                "RTTs",
                hint="give the RTT for this computation as rtt_ms under parameters",
            )
        holds *= bdp_packets(wire.mbps, rtt_ms, packet_bytes)
    if round(holds) * wire_bytes > MOST_VARIABLE:
        raise values.error(
            (*wire.location, name) if is_own else values.place_of(name),
            f"the queue would hold {round(holds):,} packets of {wire_bytes} bytes, and ns-2 counts "
            "its bytes in 32 bits",
            hint=f"expected a buffer of {MOST_VARIABLE // wire_bytes:,} packets at most",
        )
    return max(LEAST_BUFFER_PKTS, round(holds))


def _queue(values: Values, wire: Wire) -> tuple[QueueDeclaration, QueueKind, Location]:
    """Declaration and kind of a bottleneck's queue, and where it is declared."""
    own = wire.said.queue
    key = str(values.get("queue") if own is None else own)
    queues, kinds = values.study.queues, values.study.queue_kinds
    values.study.require((*wire.location, "queue"), key, [*queues, *kinds], "queue")
    if key in queues:
        return queues[key], kinds[key], ("queues", key)
    return QueueDeclaration(kind=key), kinds[key], values.base


def _settings(
    values: Values, declared: QueueDeclaration, kind: QueueKind, location: Location
) -> dict[str, float]:
    """Settings of a queue, each in range."""
    found: dict[str, float] = {}
    for name, value in declared.settings.items():
        place = (*location, "settings", name)
        found[name] = values.number_of(value, place)
        if problem := kind.parameters[name].problem(found[name]):
            raise values.error(place, f"{problem} (got {found[name]:g})")
    for name, parameter in kind.parameters.items():
        if parameter.default is None and name not in found:
            raise values.error(
                location,
                f"a queue of kind {declared.kind} needs {name}: {parameter.text}",
                hint=f"declare it: queues: {{MyQueue: {{kind: {declared.kind}, settings: "
                f"{{{name}: ...}}}}}}",
            )
    for smaller, larger in kind.rising:
        if larger in found and found[larger] <= found.get(smaller, -1.0):
            place = (*location, "settings", larger)
            raise values.error(place, f"expected more than {smaller}, {found[smaller]:g}")
    return found


def _check_burst(values: Values, location: Location, rate: float, burst: float | None) -> None:
    """Refuse a share of losses that cannot come in bursts of the given mean length."""
    if burst is None:
        return
    if burst * (1 - rate) <= 1:
        raise values.error(
            location,
            f"loss_burst_pkts is {burst:g}, but independent losses come in bursts of "
            f"{1 / (1 - rate):g} on average",
            hint="expected more; leave loss_burst_pkts out for independent losses",
        )
    if 0 < rate < LEAST_POSITIVE * burst:
        message = f"loss_rate is {rate:g}, too small for bursts of {burst:g} packets"
        raise values.error(location, message, hint="write loss_rate: 0 for no losses")


def check_bursts(values: Values, changes: Sequence[Change]) -> None:
    """Refuse a mean burst length of losses if no packet is ever lost at random.

    An explicit loss_rate of 0, as in a sweep, is allowed.
    """
    lost = values.has("loss_rate") or any(each.loss_rate for each in changes)
    if values.has("loss_burst_pkts") and not lost:
        raise values.error(
            values.place_of("loss_burst_pkts"),
            "loss_burst_pkts would have no effect: no packet is lost at random",
            hint="also give loss_rate, the share of packets that are lost",
        )


# ---------------------------------------------------------------- changes


def changes_of(values: Values, links: Sequence[Link]) -> list[Change]:
    """Changes of the bottlenecks during a run, in order of time."""
    found: list[Change] = []
    for index, part in enumerate(values.scenario.changes):
        location = (*values.base, "changes", index)
        said = values.settled(part, location)
        if int(said.bottleneck) > len(links):
            raise values.error(
                (*location, "bottleneck"),
                f"bottleneck is {said.bottleneck}, but the topology has {len(links)}",
            )
        if float(said.at_s) >= values.duration_s:
            raise values.error(
                (*location, "at_s"),
                f"at_s is {said.at_s}, but a run ends after {values.duration_s:g} s",
            )
        if said.loss_rate is not None:
            burst = links[int(said.bottleneck) - 1].loss_burst_pkts
            _check_burst(values, (*location, "loss_rate"), float(said.loss_rate), burst)
        # Of two values for one thing at one time the first would have no effect.
        alike = [e for e in found if (e.at_s, e.bottleneck) == (said.at_s, said.bottleneck)]
        for name in _CHANGED:
            if sum(getattr(each, name) is not None for each in (*alike, said)) > 1:
                message = (
                    f"another change sets {name} of bottleneck {said.bottleneck} at {said.at_s} s"
                )
                raise values.error((*location, name), message, hint="leave out one of them")
        found.append(said)
    return sorted(found, key=lambda change: float(change.at_s))


def change_arguments(changes: Sequence[Change]) -> Iterator[tuple[str, Scalar]]:
    """Keys of the script's arguments for changes, and their values."""
    if changes:
        yield "changes", len(changes)
    for index, change in enumerate(changes):
        yield f"change.{index}.at_s", float(change.at_s)
        yield f"change.{index}.link", int(change.bottleneck) - 1
        for name, key in _CHANGED.items():
            value = getattr(change, name)
            if value is not None:
                yield f"change.{index}.{key}", value


def link_parameters(links: Sequence[Link], changes: Sequence[Change]) -> Parameters:
    """What metrics and labels read of bottlenecks: rates, their changes, and RED's thresholds.

    Changes of a rate are written as ``5 from 20 s, 10 from 30 s``, in Mbit/s.
    """
    found: Parameters = {"bottleneck_mbps": min(link.wire.mbps for link in links)}
    for number, link in enumerate(links, start=1):
        if len(links) > 1:
            found[f"{link.name}_mbps"] = link.wire.mbps
        own = sorted(
            (float(each.at_s), float(each.bottleneck_mbps))
            for each in changes
            if each.bottleneck == number and each.bottleneck_mbps is not None
        )
        if own:
            found[f"{link.name}_mbps_changes"] = ", ".join(
                f"{format_value(mbps)} from {format_value(at_s)} s" for at_s, mbps in own
            )
    if len(links) == 1:
        found["buffer_pkts"] = links[0].holds_pkts
        found["bottleneck_delay_ms"] = links[0].wire.delay_ms
        if links[0].kind.has_average:
            variables = links[0].variables
            found |= {name: variables[variable] for name, variable in _THRESHOLDS.items()}
    return found
