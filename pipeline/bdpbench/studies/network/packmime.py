"""Background of kind packmime: ns-2's PackMimeHTTP."""

from __future__ import annotations

from bdpbench.contracts.yaml_files import Location
from bdpbench.studies.flows import ResolvedFlow
from bdpbench.studies.network.senders import ClassVariables, Route
from bdpbench.studies.network.source import Pairs, Source, hosts_arguments, quantity_arguments
from bdpbench.studies.network.values import Values
from bdpbench.studies.parts import PERSISTENT_KEYS, Background
from bdpbench.studies.study import Protocol

MOST_PAIRS = 10
"""Most client nodes, and most server nodes, of ns-2's PackMimeHTTP."""

LEAST_RATE_PER_S = 0.1
"""Below this rate, PackMime's interarrival times vary so much that thousands of connections begin
at once."""

_DEFAULT_TCP = "reno"
_VERSIONS = (1.0, 1.1)
_QUANTITIES = {
    "request_bytes": ("request_size", "_mean_bytes"),
    "response_bytes": ("response_size", "_mean_bytes"),
    "server_pause_s": ("server_pause", "_mean_s"),
    "connection_pages": ("connection_pages", "_mean"),
    "page_objects": ("page_objects", "_mean"),
    "page_pause_s": ("page_pause", "_mean_s"),
    "object_pause_s": ("object_pause", "_mean_s"),
}
# Mean of 20,000 draws from PackMime's own distribution of responses, bytes.
_RESPONSE_BYTES = 8000.0
# Before it begins, PackMime draws thousands of sizes and times.
_SETUP_S = 0.3


def packmime_source(
    values: Values,
    said: Background,
    location: Location,
    route: Route,
    more: Pairs,
    defaults: ClassVariables,
) -> Source:
    """Make a source of kind packmime.

    Raises:
        BdpbenchError: naming file and line, for a setting that it cannot have.
    """
    version = _version(values, said, location)
    _check_hosts(values, said, location)
    _check_rate(values, said, location)
    tcp = said.tcp or _DEFAULT_TCP
    segment_bytes = int(said.packet_bytes or values.number("packet_bytes", ""))
    more += [(name, getattr(said, name)) for name in ("rate_per_s", "servers", "clients")]
    more += [("segment_bytes", segment_bytes), ("http", f"{version:.1f}"), ("tcp", tcp)]
    more += [] if said.arrivals is None else [("arrivals", said.arrivals)]
    more += [("delayed_acks", 1)] if values.get("delayed_acks") == "on" else []
    more += hosts_arguments(values, said, location)
    for name, (key, suffix) in _QUANTITIES.items():
        more += quantity_arguments(values, said, location, name, key, suffix)
    for name in ("persistent_share", "single_share"):
        share = getattr(said, name)
        more += [] if share is None else [(name, share)]
    sender = _sender(tcp, defaults)
    hosts = int(said.servers or 0) + int(said.clients or 0)
    return Source(
        said.kind,
        route,
        _mbps(said),
        sender,
        more,
        hosts=hosts + 2,
        transfers=True,
        connections_per_s=float(said.rate_per_s or 0),
        setup_s=_SETUP_S,
    )


def _version(values: Values, said: Background, location: Location) -> float:
    """The HTTP version; keys that only 1.1 has are refused with 1.0."""
    version = 1.0 if said.http_version is None else float(said.http_version)
    if version not in _VERSIONS:
        raise values.study.error(
            (*location, "http_version"), f"expected 1.0 or 1.1 (got {version:g})"
        )
    for name in PERSISTENT_KEYS:
        if version == _VERSIONS[0] and getattr(said, name) is not None:
            raise values.study.error(
                (*location, name),
                f"{name} would have no effect: with HTTP 1.0 no connection is persistent",
                hint="write http_version: 1.1",
            )
    return version


def _check_hosts(values: Values, said: Background, location: Location) -> None:
    servers, clients = int(said.servers or 0), int(said.clients or 0)
    if servers != clients or servers > MOST_PAIRS:
        raise values.study.error(
            (*location, "clients"),
            f"expected as many clients as servers, {MOST_PAIRS} of each at most "
            f"(got {clients} and {servers})",
            hint="a node represents many hosts: PackMime's connections use pairs of nodes in turn",
        )


def _check_rate(values: Values, said: Background, location: Location) -> None:
    rate = float(said.rate_per_s or 0)
    if said.arrivals in (None, "packmime") and rate < LEAST_RATE_PER_S:
        raise values.study.error(
            (*location, "rate_per_s"),
            f"PackMime's arrivals need {LEAST_RATE_PER_S:g} connections per second at "
            f"least (got {rate:g})",
            hint="write arrivals: exponential for fewer",
        )


def _sender(tcp: str, defaults: ClassVariables) -> ResolvedFlow:
    """The sender that the ends of the connections count as for ns-2's behaviour."""
    agent = "TCP/FullTcp" if tcp == _DEFAULT_TCP else f"TCP/FullTcp/{tcp.title()}"
    protocol = Protocol(label=tcp, colour="#000000", agent=agent, sink=agent)
    return ResolvedFlow(tcp, protocol, {}, defaults, 0.0, None)


def _mbps(said: Background) -> float:
    """Rate of the responses, Mbit/s; only one response of a persistent connection is counted."""
    mean = _RESPONSE_BYTES if said.response_bytes is None else float(said.response_bytes.mean)
    return float(said.rate_per_s or 0) * 8 * mean / 1e6
