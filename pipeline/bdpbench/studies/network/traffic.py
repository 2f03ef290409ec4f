"""Background traffic and changes over time of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bdpbench.contracts.plan import Scalar
from bdpbench.contracts.yaml_files import Location
from bdpbench.studies.flows import ResolvedFlow, check_protocol, set_by_parameters
from bdpbench.studies.network.links import Link, Wire
from bdpbench.studies.network.senders import ClassVariables, Route, route_of
from bdpbench.studies.network.values import Values
from bdpbench.studies.parts import (
    COMMON_OF_BACKGROUND,
    KEYS_OF_BACKGROUND,
    Background,
    Change,
    Quantity,
)

MOST_SOURCES = 1000
MOST_HOSTS = 5000
"""Servers and clients of a source: ns-2 finds the way from each node to each other."""

_QUANTITIES = {
    "page_pause_s": ("page_pause", "_mean_s"),
    "page_objects": ("page_objects", "_mean"),
    "object_pause_s": ("object_pause", "_mean_s"),
    "object_bytes": ("object_size", "_mean_bytes"),
}
_LINKS_OF_HOSTS = ("server_mbps", "server_delay_ms", "client_mbps", "client_delay_ms")


@dataclass(frozen=True)
class Source:
    """One source of background traffic.

    Attributes:
        kind: of it.
        route: over the bottlenecks.
        mbps: mean rate that it offers, Mbit/s.
        sender: as which its connections act on ns-2; None for UDP.
        more: keys of the script's arguments, and their values.
        hosts: nodes that it adds to the network.
    """

    kind: str
    route: Route
    mbps: float
    sender: ResolvedFlow | None
    more: Sequence[tuple[str, Scalar]]
    hosts: int = 2

    def arguments(self, index: int) -> Iterator[tuple[str, Scalar]]:
        """Keys of the script's arguments, and their values."""
        for name, value in self.more:
            yield f"background.{index}.{name}", value


def sources_of(
    values: Values, wires: Sequence[Wire], defaults: ClassVariables, duration_s: float
) -> list[Source]:
    """All background of a run.

    Raises:
        BdpbenchError: naming file and line, for what a kind lacks or does not have.
    """
    found: list[Source] = []
    for index, part in enumerate(values.study.scenarios[values.scenario].background):
        location = ("scenarios", values.scenario, "background", index)
        said = values.settled(part, location)
        _check_keys(values, said, location)
        _check_times(values, said, location, duration_s)
        source = _source(values, said, location, len(wires), defaults)
        found += [source] * int(said.count)
        if len(found) > MOST_SOURCES:
            raise values.study.error(location, f"more than {MOST_SOURCES} sources of background")
    return found


def _check_keys(values: Values, said: Background, location: Location) -> None:
    needed, optional = KEYS_OF_BACKGROUND[said.kind]
    for name in needed:
        if getattr(said, name) is None:
            raise values.study.error((*location, name), f"background of kind {said.kind} needs it")
    for name in said.model_fields_set:
        if name not in (*COMMON_OF_BACKGROUND, *needed, *optional):
            kinds = [kind for kind, keys in KEYS_OF_BACKGROUND.items() if name in sum(keys, ())]
            raise values.study.error(
                (*location, name),
                f"background of kind {said.kind} has no {name}",
                hint=f"{name} is of {' and '.join(kinds)}",
            )
    if said.shape is not None and float(said.shape) <= 1:
        raise values.study.error((*location, "shape"), "expected more than 1: no mean else")


def _check_times(values: Values, said: Background, location: Location, duration_s: float) -> None:
    latest_s = float(said.start_s) + float(said.start_within_s)
    if latest_s >= duration_s:
        raise values.study.error(
            (*location, "start_s"),
            f"it starts at {latest_s:g} s, and a run ends after {duration_s:g} s",
        )
    if said.stop_s is not None and float(said.stop_s) <= latest_s:
        raise values.study.error(
            (*location, "stop_s"), f"it stops at {said.stop_s} s and starts at {latest_s:g} s"
        )


def _source(
    values: Values, said: Background, location: Location, links: int, defaults: ClassVariables
) -> Source:
    leaves = None if said.leaves is None else int(said.leaves)
    route = route_of(values, location, int(said.enters), leaves, said.direction, links)
    own = said.access_mbps
    more: list[tuple[str, Scalar]] = [
        ("kind", said.kind),
        ("start_s", float(said.start_s)),
        ("access_mbps", values.number("access_mbps", "the access rate") if own is None else own),
        ("access_delay_ms", float(said.access_delay_ms)),
        *([("within_s", float(said.start_within_s))] if said.start_within_s else []),
        *([] if said.stop_s is None else [("stop_s", float(said.stop_s))]),
        *route.arguments(links),
    ]
    if said.kind == "web":
        return _web(values, said, location, route, more, defaults)
    names = ("rate_mbps", "packet_bytes", "burst_s", "idle_s", "shape")
    more += [(name, getattr(said, name)) for name in names if getattr(said, name) is not None]
    more += [("jitter", 1)] if said.jitter == "on" else []
    return Source(said.kind, route, _offered_mbps(said), None, more)


def _offered_mbps(said: Background) -> float:
    """Mean rate of a source over UDP, Mbit/s."""
    burst_s, idle_s = float(said.burst_s or 1), float(said.idle_s or 0)
    return float(said.rate_mbps or 0) * burst_s / (burst_s + idle_s)


# ---------------------------------------------------------------- web


def _web(
    values: Values,
    said: Background,
    location: Location,
    route: Route,
    more: list[tuple[str, Scalar]],
    defaults: ClassVariables,
) -> Source:
    segment_bytes = int(said.packet_bytes or values.number("packet_bytes", ""))
    sender = _sender(values, said, location, defaults)
    hosts = int(said.servers or 0) + int(said.clients or 0)
    if hosts > MOST_HOSTS:
        raise values.study.error(
            (*location, "clients"),
            f"expected {MOST_HOSTS} servers and clients at most, got {hosts}",
        )
    more += [(name, getattr(said, name)) for name in ("servers", "clients", "sessions")]
    more += [] if said.pages is None else [("pages", said.pages)]
    more += [("segment_bytes", segment_bytes)]
    more += [pair for name in _LINKS_OF_HOSTS for pair in _range(values, said, location, name)]
    more += [pair for name in _QUANTITIES for pair in _quantity(values, said, location, name)]
    more += [("agent", sender.protocol.agent), ("sink", sender.protocol.sink)]
    more += [(f"set.{name}", value) for name, value in sender.settings.items()]
    return Source(said.kind, route, _web_mbps(said), sender, more, hosts + 2)


def _sender(
    values: Values, said: Background, location: Location, defaults: ClassVariables
) -> ResolvedFlow:
    """The sender of the connections."""
    study = values.study
    place = (*location, "protocol")
    key = str(said.protocol)
    check_protocol(study, place, key)
    protocol = study.protocols[key]
    if protocol.linux is not None:
        raise study.error(place, "web connections cannot be TCP/Linux: expected another protocol")
    settings = {**protocol.settings, **set_by_parameters(study, key, values.parameters)}
    return ResolvedFlow(key, protocol, settings, defaults, 0.0, None)


def _range(
    values: Values, said: Background, location: Location, name: str
) -> Iterator[tuple[str, Scalar]]:
    """Smallest and largest value of a link of hosts."""
    given = getattr(said, name)
    bounds = given if isinstance(given, list) else [given, given]
    if len(bounds) != 2 or float(bounds[0]) > float(bounds[1]):
        raise values.study.error(
            (*location, name), f"expected a number or [least, most] (got {given!r})"
        )
    role, _, unit = name.partition("_")
    yield name, bounds[0]
    yield f"{role}_most_{unit}", bounds[1]


def _quantity(
    values: Values, said: Background, location: Location, name: str
) -> Iterator[tuple[str, Scalar]]:
    quantity: Quantity = getattr(said, name)
    pareto = quantity.distribution.startswith("pareto")
    place = (*location, name, "shape")
    if pareto and (quantity.shape is None or float(quantity.shape) <= 1):
        raise values.study.error(place, f"{quantity.distribution} needs a shape above 1")
    if not pareto and quantity.shape is not None:
        raise values.study.error(place, f"{quantity.distribution} has no shape")
    key, suffix = _QUANTITIES[name]
    yield key, quantity.distribution
    yield f"{key}{suffix}", quantity.mean
    if quantity.shape is not None:
        yield f"{key}_shape", quantity.shape


def _web_mbps(said: Background) -> float:
    """Rate of all sessions, Mbit/s, if connections took no time."""
    means = {name: float(getattr(said, name).mean) for name in _QUANTITIES}
    page_s = means["page_pause_s"] + means["page_objects"] * means["object_pause_s"]
    page_bits = 8 * means["page_objects"] * means["object_bytes"]
    return int(said.sessions or 0) * page_bits / page_s / 1e6


# ---------------------------------------------------------------- changes


def changes_of(values: Values, links: Sequence[Link], duration_s: float) -> list[Change]:
    """Changes of a run, in order of time.

    Raises:
        BdpbenchError: naming file and line, for one of no bottleneck, or after the end.
    """
    found: list[Change] = []
    for index, part in enumerate(values.study.scenarios[values.scenario].changes):
        location = ("scenarios", values.scenario, "changes", index)
        said = values.settled(part, location)
        if int(said.bottleneck) > len(links):
            raise values.study.error(
                (*location, "bottleneck"),
                f"bottleneck is {said.bottleneck}, and the topology has {len(links)}",
            )
        if float(said.at_s) >= duration_s:
            raise values.study.error(
                (*location, "at_s"),
                f"at_s is {said.at_s}, and a run ends after {duration_s:g} s",
            )
        found.append(said)
    return sorted(found, key=lambda change: float(change.at_s))


def change_arguments(changes: Sequence[Change]) -> Iterator[tuple[str, Scalar]]:
    """Keys of the script's arguments for changes, and their values."""
    if changes:
        yield "changes", len(changes)
    names = {"bottleneck_mbps": "mbps", "bottleneck_delay_ms": "delay_ms", "loss_rate": "loss_rate"}
    for index, change in enumerate(changes):
        yield f"change.{index}.at_s", float(change.at_s)
        yield f"change.{index}.link", int(change.bottleneck) - 1
        for name, key in names.items():
            value = getattr(change, name)
            if value is not None:
                yield f"change.{index}.{key}", value
