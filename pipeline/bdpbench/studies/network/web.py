"""Background of kind web: ns-2's PagePool/WebTraf."""

from __future__ import annotations

from bdpbench.contracts.yaml_files import Location
from bdpbench.studies.flows import ResolvedFlow, check_protocol
from bdpbench.studies.network.senders import ClassVariables, Route, settings_of, sink_of
from bdpbench.studies.network.source import Pairs, Source, hosts_arguments, quantity_arguments
from bdpbench.studies.network.values import Values
from bdpbench.studies.parts import Background

MOST_HOSTS = 5000
"""Most servers and clients of a source: ns-2 computes the routes between all nodes."""

# A session's first agents, which are created each time.
_SETUP_S = 0.015
_QUANTITIES = {
    "page_pause_s": ("page_pause", "_mean_s"),
    "page_objects": ("page_objects", "_mean"),
    "object_pause_s": ("object_pause", "_mean_s"),
    "object_bytes": ("object_size", "_mean_bytes"),
}


def web_source(
    values: Values,
    said: Background,
    location: Location,
    route: Route,
    more: Pairs,
    defaults: ClassVariables,
) -> Source:
    """Make a source of kind web.

    Raises:
        BdpbenchError: naming file and line, for a setting that it cannot have.
    """
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
    more += hosts_arguments(values, said, location)
    for name, (key, suffix) in _QUANTITIES.items():
        more += quantity_arguments(values, said, location, name, key, suffix)
    more += [("agent", sender.protocol.agent), ("sink", sender.protocol.sink)]
    more += [(f"set.{name}", value) for name, value in sender.settings.items()]
    pages = said.record_pages == "on"
    more += [("record_pages", 1)] if pages else []
    return Source(
        said.kind,
        route,
        _objects_per_s(said) * 8 * _mean(said, "object_bytes") / 1e6,
        sender,
        more,
        hosts=hosts + 2,
        transfers=True,
        pages=pages,
        connections_per_s=_objects_per_s(said),
        setup_s=_SETUP_S * int(said.sessions or 0),
    )


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
    sink = sink_of(values, None, protocol.sink, location)
    protocol = protocol.model_copy(update={"sink": sink})
    return ResolvedFlow(key, protocol, settings_of(values, key), defaults, 0.0, None)


def _mean(said: Background, name: str) -> float:
    return float(getattr(said, name).mean)


def _objects_per_s(said: Background) -> float:
    """Objects that all sessions together request per second if connections take no time."""
    objects = _mean(said, "page_objects")
    page_s = _mean(said, "page_pause_s") + objects * _mean(said, "object_pause_s")
    return int(said.sessions or 0) * objects / page_s
