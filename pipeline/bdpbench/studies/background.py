"""Background traffic of a run: UDP sources, web pages (PagePool/WebTraf), a script's own kinds.

What no source can have is refused by a BdpbenchError that names file and line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bdpbench.contracts.plan import Scalar
from bdpbench.contracts.yaml_files import Location
from bdpbench.studies import parts
from bdpbench.studies.flows import linux_parameters
from bdpbench.studies.parts import OwnSource, Quantity, Web
from bdpbench.studies.values import ClassVariables, Pairs, Route, Sender, Values, further
from bdpbench.units import MOST_SOURCES

MOST_HOSTS = 5000
"""Most servers and clients of a web source: ns-2 computes the routes between all nodes."""

_LINKS_OF_HOSTS = ("server_mbps", "server_delay_ms", "client_mbps", "client_delay_ms")
_UDP = ("cbr", "exponential")
_QUANTITIES = {
    "page_pause_s": ("page_pause", "_mean_s"),
    "page_objects": ("page_objects", "_mean"),
    "object_pause_s": ("object_pause", "_mean_s"),
    "object_bytes": ("object_size", "_mean_bytes"),
}
"""Key of study.yaml → key of the script's arguments, and the suffix of the mean's key."""


@dataclass(frozen=True)
class Source:
    """One source of background traffic; ``arguments`` are those of the script, after the prefix.

    ``sender`` is what its connections count as for ns-2's behaviour, None if it has none; of a
    source that only a script has, it may not be known.
    """

    kind: str
    sender: Sender | None
    arguments: Sequence[tuple[str, Scalar]]


def is_recorded(source: Source) -> bool:
    """Whether the script records its transfers: it has connections, or the script decides."""
    return source.sender is not None or source.kind not in _UDP


def source_arguments(sources: Sequence[Source]) -> Iterator[tuple[str, Scalar]]:
    """Keys of the script's arguments for background traffic, and their values."""
    if sources:
        yield "backgrounds", len(sources)
    for index, source in enumerate(sources):
        for name, value in source.arguments:
            yield f"background.{index}.{name}", value


def sources_of(
    values: Values, rates_mbps: Sequence[float], defaults: ClassVariables
) -> list[Source]:
    """All background sources of a run, given the rates of its bottlenecks, Mbit/s."""
    found: list[Source] = []
    links = len(rates_mbps)
    for index, part in enumerate(values.scenario.background):
        location = (*values.base, "background", index)
        values.check_stagger(part, location, "source")
        said = values.settled(part, location)
        route = values.route_of(said, location, links)
        if len(found) + int(said.count) > MOST_SOURCES:
            raise values.error(location, f"more than {MOST_SOURCES} sources of background")
        for start_s in values.starts_of(said, location, "it"):
            more = _common(values, said, route, links, start_s)
            if isinstance(said, Web):
                source = _web(values, said, location, more, defaults)
            elif isinstance(said, OwnSource):
                narrowest_mbps = min(rates_mbps[route.first : route.last + 1])
                source = _own(values, said, location, more, defaults, narrowest_mbps)
            else:
                more += _given(said, "rate_mbps", "packet_bytes", "burst_s", "idle_s")
                more += [("jitter", 1)] if getattr(said, "jitter", None) == "on" else []
                source = Source(said.kind, None, more)
            found.append(source)
    return found


def _common(
    values: Values, said: parts.Background, route: Route, links: int, start_s: float
) -> Pairs:
    """Arguments of all kinds of sources."""
    own, stop_s = said.access_mbps, getattr(said, "stop_s", None)
    return [
        ("kind", said.kind),
        ("start_s", start_s),
        ("access_mbps", values.number("access_mbps", "the access rate") if own is None else own),
        ("access_delay_ms", float(said.access_delay_ms)),
        *([("within_s", float(said.start_within_s))] if said.start_within_s else []),
        *([] if stop_s is None else [("stop_s", float(stop_s))]),
        *route.arguments(links),
    ]


def _given(said: parts.Background, *names: str) -> Iterator[tuple[str, Scalar]]:
    """Keys that a source has, and their values."""
    for name in names:
        value = getattr(said, name, None)
        if value is not None:
            yield name, value


# ---------------------------------------------------------------- web


def _web(
    values: Values, said: Web, location: Location, more: Pairs, defaults: ClassVariables
) -> Source:
    place, key = (*location, "protocol"), said.protocol
    if values.protocol(key, place).linux is not None:
        raise values.error(place, "web connections cannot be TCP/Linux: expected another protocol")
    sender = _sender(values, key, location, defaults)
    hosts = int(said.servers) + int(said.clients)
    if hosts > MOST_HOSTS:
        message = f"expected {MOST_HOSTS} servers and clients at most, got {hosts}"
        raise values.error((*location, "clients"), message)
    more += [*_given(said, "servers", "clients", "sessions", "pages")]
    segment_bytes = int(said.packet_bytes or values.number("packet_bytes", ""))
    more += [("segment_bytes", segment_bytes)]
    more += _hosts(values, said, location)
    more += _quantities(said)
    more += _agent(values, sender)
    return Source(said.kind, sender, more)


# ---------------------------------------------------------------- of the scenario's own script


def _own(
    values: Values,
    said: OwnSource,
    location: Location,
    more: Pairs,
    defaults: ClassVariables,
    narrowest_mbps: float,
) -> Source:
    sender, place = None, (*location, "arguments")
    for name, value in further(said):
        if name == "protocol":
            sender = _sender(values, str(value), place, defaults)
            more += _agent(values, sender)
        elif name == "load":
            load = values.number_of(value, (*place, name))
            more.append(("offered_mbps", load * narrowest_mbps))
        else:
            more.append((name, value))
    return Source(said.kind, sender, more)


# ---------------------------------------------------------------- all of them


def _sender(values: Values, key: str, location: Location, defaults: ClassVariables) -> Sender:
    """The sender of the connections of a source."""
    protocol = values.protocol(key, (*location, "protocol"))
    sink = values.sink_of(protocol.sink, location)
    protocol = protocol.model_copy(update={"sink": sink})
    return Sender(key, protocol, values.settings_of(key), defaults, 0.0, None)


def _agent(values: Values, sender: Sender) -> Iterator[tuple[str, Scalar]]:
    """Arguments of the sender of the connections of a source."""
    yield from (("agent", sender.protocol.agent), ("sink", sender.protocol.sink))
    if sender.protocol.linux is not None:
        yield "linux", sender.protocol.linux
        yield from linux_parameters(values, sender.key)
    yield from ((f"set.{name}", value) for name, value in sender.settings.items())


def _hosts(values: Values, said: Web, location: Location) -> Iterator[tuple[str, Scalar]]:
    """Arguments for the smallest and largest values of the links of servers and clients."""
    for name in _LINKS_OF_HOSTS:
        given = getattr(said, name)
        bounds = given if isinstance(given, list) else [given, given]
        if len(bounds) != 2 or float(bounds[0]) > float(bounds[1]):
            message = f"expected a number or [least, most] (got {given!r})"
            raise values.error((*location, name), message)
        yield name, bounds[0]
        yield name.replace("_", "_most_", 1), bounds[1]  # server_most_mbps


def _quantities(said: Web) -> Iterator[tuple[str, Scalar]]:
    """Arguments for distribution, mean and shape of each quantity."""
    for name, (key, suffix) in _QUANTITIES.items():
        quantity: Quantity | None = getattr(said, name, None)
        if quantity is None:
            continue
        yield key, quantity.distribution
        yield f"{key}{suffix}", quantity.mean
        if quantity.shape is not None:
            yield f"{key}_shape", quantity.shape
