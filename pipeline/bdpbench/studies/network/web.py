"""Background of kind web: ns-2's PagePool/WebTraf."""

from __future__ import annotations

from bdpbench.contracts.yaml_files import Location
from bdpbench.studies.flows import ResolvedFlow, check_protocol
from bdpbench.studies.network.senders import ClassVariables, Route, settings_of, sink_of
from bdpbench.studies.network.source import Pairs, Source, hosts_arguments, quantity_arguments
from bdpbench.studies.network.values import Values
from bdpbench.studies.parts import Background

MOST_HOSTS = 5000
"""Servers and clients of a source: ns-2 finds the way from each node to each other."""

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
    """A source of kind web.

    Raises:
        BdpbenchError: naming file and line, for what it cannot have.
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
    return Source(said.kind, route, _mbps(said), sender, more, hosts + 2, True, pages)


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
        raise study.error(place, "web connections are no TCP/Linux: expected another protocol")
    sink = sink_of(values, None, protocol.sink, location)
    protocol = protocol.model_copy(update={"sink": sink})
    return ResolvedFlow(key, protocol, settings_of(values, key), defaults, 0.0, None)


def _mbps(said: Background) -> float:
    """Rate of all sessions, Mbit/s, if connections took no time."""
    means = {name: float(getattr(said, name).mean) for name in _QUANTITIES}
    page_s = means["page_pause_s"] + means["page_objects"] * means["object_pause_s"]
    page_bits = 8 * means["page_objects"] * means["object_bytes"]
    return int(said.sessions or 0) * page_bits / page_s / 1e6
