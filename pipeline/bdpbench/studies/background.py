"""Background traffic of a run: UDP sources, web pages (PagePool/WebTraf), PackMimeHTTP, Tmix.

``remarks`` tells which runs of ``tcl/network.tcl`` do not differ between repetitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bdpbench.contracts.plan import PlannedRun, Scalar
from bdpbench.contracts.yaml_files import Location
from bdpbench.studies.flows import linux_parameters
from bdpbench.studies.parts import (
    COMMON_OF_BACKGROUND,
    KEYS_OF_BACKGROUND,
    PERSISTENT_KEYS,
    Background,
    Protocol,
    Quantity,
)
from bdpbench.studies.queues import QUEUE_KINDS
from bdpbench.studies.study import OWN_SCRIPTS
from bdpbench.studies.values import ClassVariables, Pairs, Route, Sender, Values
from bdpbench.units import BITS_PER_BYTE, MOST_SOURCES

MOST_HOSTS = 5000
"""Most servers and clients of a web source: ns-2 computes the routes between all nodes."""

MOST_VECTORS = 1_000_000
"""Most vectors that a source of Tmix draws: before the run begins, with 3.6 kB each."""

MOST_PAIRS = 10
"""Most client nodes, and most server nodes, of ns-2's PackMimeHTTP; most pairs of nodes of Tmix."""

LEAST_RATE_PER_S = 0.1
"""Below this rate, PackMime's interarrival times vary so much that thousands of connections begin
at once."""

_DEFAULT_TCP = "reno"
_VERSIONS = (1.0, 1.1)
_LINKS_OF_HOSTS = ("server_mbps", "server_delay_ms", "client_mbps", "client_delay_ms")
_QUANTITIES = {
    "page_pause_s": ("page_pause", "_mean_s"),
    "page_objects": ("page_objects", "_mean"),
    "object_pause_s": ("object_pause", "_mean_s"),
    "object_bytes": ("object_size", "_mean_bytes"),
    "request_bytes": ("request_size", "_mean_bytes"),
    "response_bytes": ("response_size", "_mean_bytes"),
    "server_pause_s": ("server_pause", "_mean_s"),
    "connection_pages": ("connection_pages", "_mean"),
    "exchanges": ("exchanges", "_mean"),
    "think_s": ("think", "_mean_s"),
}
"""Key of study.yaml → key of the script's arguments, and the suffix of the mean's key."""

_WEB = ("page_pause_s", "page_objects", "object_pause_s", "object_bytes")
_PACKMIME = (
    "request_bytes", "response_bytes", "server_pause_s", "connection_pages", "page_objects",
    "page_pause_s", "object_pause_s",
)  # fmt: skip

_TMIX = ("exchanges", "request_bytes", "response_bytes", "server_pause_s", "think_s")
_OF_DRAW = (
    "draw", "load", "small_share", "small_packet_bytes", "bin_s", "start_s", "packet_bytes",
    *_TMIX,
)  # fmt: skip


@dataclass(frozen=True)
class Source:
    """One source of background traffic.

    Attributes:
        kind: its kind.
        sender: the sender that its connections count as for ns-2's behaviour; None for UDP.
        arguments: keys of the script's arguments after the prefix, and their values.
        pages: whether the pages of the web are recorded.
    """

    kind: str
    sender: Sender | None
    arguments: Sequence[tuple[str, Scalar]]
    pages: bool = False


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
    """All background sources of a run, given the rates of its bottlenecks, Mbit/s.

    Raises:
        BdpbenchError: naming file and line, for keys that a kind lacks or does not have.
    """
    found: list[Source] = []
    links = len(rates_mbps)
    for index, part in enumerate(values.scenario.background):
        location = (*values.base, "background", index)
        values.check_stagger(part, location, "source")
        said = values.settled(part, location)
        _check_keys(values, said, location)
        route = values.route_of(said, location, links)
        if len(found) + int(said.count) > MOST_SOURCES:
            raise values.error(location, f"more than {MOST_SOURCES} sources of background")
        for start_s in values.starts_of(said, location, "it"):
            more = _common(values, said, route, links, start_s)
            if said.kind == "web":
                source = _web(values, said, location, more, defaults)
            elif said.kind == "packmime":
                source = _packmime(values, said, location, more, defaults)
            elif said.kind == "tmix":
                narrowest_mbps = min(rates_mbps[route.first : route.last + 1])
                source = _tmix(values, said, location, more, defaults, narrowest_mbps)
            else:
                source = _udp(said, more)
            found.append(source)
    return found


def _check_keys(values: Values, said: Background, location: Location) -> None:
    needed, optional = KEYS_OF_BACKGROUND[said.kind]
    for name in needed:
        if getattr(said, name) is None:
            raise values.error((*location, name), f"background of kind {said.kind} needs it")
    for name in said.model_fields_set:
        if name not in (*COMMON_OF_BACKGROUND, *needed, *optional):
            kinds = [kind for kind, keys in KEYS_OF_BACKGROUND.items() if name in sum(keys, ())]
            raise values.error(
                (*location, name),
                f"background of kind {said.kind} has no {name}",
                hint=f"{name} is of {', '.join(kinds)}",
            )
    if said.shape is not None and float(said.shape) <= 1:
        message = "expected more than 1: otherwise there is no mean"
        raise values.error((*location, "shape"), message)


def _common(values: Values, said: Background, route: Route, links: int, start_s: float) -> Pairs:
    """Arguments of all kinds of sources."""
    own = said.access_mbps
    return [
        ("kind", said.kind),
        ("start_s", start_s),
        ("access_mbps", values.number("access_mbps", "the access rate") if own is None else own),
        ("access_delay_ms", float(said.access_delay_ms)),
        *([("within_s", float(said.start_within_s))] if said.start_within_s else []),
        *([] if said.stop_s is None else [("stop_s", float(said.stop_s))]),
        *route.arguments(links),
    ]


def _given(said: Background, *names: str) -> Iterator[tuple[str, Scalar]]:
    """Keys that a source has, and their values."""
    for name in names:
        value = getattr(said, name)
        if value is not None:
            yield name, value


def _udp(said: Background, more: Pairs) -> Source:
    more += _given(said, "rate_mbps", "packet_bytes", "burst_s", "idle_s", "shape")
    more += [("jitter", 1)] if said.jitter == "on" else []
    return Source(said.kind, None, more)


# ---------------------------------------------------------------- web


def _web(
    values: Values, said: Background, location: Location, more: Pairs, defaults: ClassVariables
) -> Source:
    segment_bytes = int(said.packet_bytes or values.number("packet_bytes", ""))
    place, key = (*location, "protocol"), str(said.protocol)
    if values.protocol(key, place).linux is not None:
        raise values.error(place, "web connections cannot be TCP/Linux: expected another protocol")
    sender = _sender(values, key, location, defaults)
    hosts = int(said.servers or 0) + int(said.clients or 0)
    if hosts > MOST_HOSTS:
        raise values.error(
            (*location, "clients"),
            f"expected {MOST_HOSTS} servers and clients at most, got {hosts}",
        )
    more += [*_given(said, "servers", "clients", "sessions", "pages")]
    more += [("segment_bytes", segment_bytes)]
    more += _hosts(values, said, location)
    more += _quantities(values, said, location, _WEB)
    more += [("agent", sender.protocol.agent), ("sink", sender.protocol.sink)]
    more += [(f"set.{name}", value) for name, value in sender.settings.items()]
    pages = said.record_pages == "on"
    more += [("record_pages", 1)] if pages else []
    return Source(said.kind, sender, more, pages=pages)


def _mean(quantity: Quantity | None) -> float:
    return float(quantity.mean) if quantity else 0.0


# ---------------------------------------------------------------- PackMime


def _packmime(
    values: Values, said: Background, location: Location, more: Pairs, defaults: ClassVariables
) -> Source:
    version = _version(values, said, location)
    _check_packmime(values, said, location)
    tcp = said.tcp or _DEFAULT_TCP
    segment_bytes = int(said.packet_bytes or values.number("packet_bytes", ""))
    more += _given(said, "rate_per_s", "servers", "clients")
    more += [("segment_bytes", segment_bytes), ("http", f"{version:.1f}"), ("tcp", tcp)]
    more += _given(said, "arrivals")
    more += [("delayed_acks", 1)] if values.get("delayed_acks") == "on" else []
    more += _hosts(values, said, location)
    more += _quantities(values, said, location, _PACKMIME)
    more += _given(said, "persistent_share", "single_share")
    # The sender that the ends of the connections count as for ns-2's behaviour.
    agent = "TCP/FullTcp" if tcp == _DEFAULT_TCP else f"TCP/FullTcp/{tcp.title()}"
    protocol = Protocol(label=tcp, colour="#000000", agent=agent, sink=agent)
    return Source(said.kind, Sender(tcp, protocol, {}, defaults, 0.0, None), more)


def _version(values: Values, said: Background, location: Location) -> float:
    """The HTTP version; keys that only 1.1 has are refused with 1.0."""
    version = 1.0 if said.http_version is None else float(said.http_version)
    if version not in _VERSIONS:
        raise values.error((*location, "http_version"), f"expected 1.0 or 1.1 (got {version:g})")
    for name in PERSISTENT_KEYS:
        if version == _VERSIONS[0] and getattr(said, name) is not None:
            raise values.error(
                (*location, name),
                f"{name} would have no effect: with HTTP 1.0 no connection is persistent",
                hint="write http_version: 1.1",
            )
    return version


def _check_packmime(values: Values, said: Background, location: Location) -> None:
    servers, clients = int(said.servers or 0), int(said.clients or 0)
    if servers != clients or servers > MOST_PAIRS:
        raise values.error(
            (*location, "clients"),
            f"expected as many clients as servers, {MOST_PAIRS} of each at most "
            f"(got {clients} and {servers})",
            hint="a node represents many hosts: PackMime's connections use pairs of nodes in turn",
        )
    rate = float(said.rate_per_s or 0)
    if said.arrivals in (None, "packmime") and rate < LEAST_RATE_PER_S:
        raise values.error(
            (*location, "rate_per_s"),
            f"PackMime's arrivals need {LEAST_RATE_PER_S:g} connections per second at "
            f"least (got {rate:g})",
            hint="write arrivals: exponential for fewer",
        )


# ---------------------------------------------------------------- Tmix


def _tmix(
    values: Values,
    said: Background,
    location: Location,
    more: Pairs,
    defaults: ClassVariables,
    narrowest_mbps: float,
) -> Source:
    _check_tmix(values, said, location)
    key = said.protocol or values.get("protocol")
    if key is None:
        message = "background of kind tmix names no protocol, and the run has none"
        raise values.error(location, message)
    sender = _sender(values, str(key), location, defaults)
    delays = {name: getattr(said, name) for name in ("acceptor_delays_ms", "initiator_delays_ms")}
    more += [
        (name, " ".join(f"{float(each):g}" for each in given)) for name, given in delays.items()
    ]
    more += [("agent", sender.protocol.agent), ("sink", sender.protocol.sink)]
    if sender.protocol.linux is not None:
        more += [("linux", sender.protocol.linux), *linux_parameters(values, sender.key)]
    more += [(f"set.{name}", value) for name, value in sender.settings.items()]
    more += _given(said, "bin_s", "prefill_s", "prefill_within_s", "draw")
    lasts_s = values.duration_s - float(said.start_s)
    segment_bytes = int(said.packet_bytes or values.number("packet_bytes", ""))
    mbps = float(said.load or 0) * narrowest_mbps
    more += [("offered_mbps", mbps), ("segment_bytes", segment_bytes)]
    if said.small_share is not None:
        more += [("small_share", said.small_share)]
        more += [("small_segment_bytes", int(said.small_packet_bytes or 0))]
    more += _quantities(values, said, location, _TMIX)
    per_s = mbps * 1e6 / BITS_PER_BYTE / max(1.0, _mean(said.response_bytes))
    per_s /= max(1.0, _mean(said.exchanges))
    if per_s * lasts_s > MOST_VECTORS:
        raise values.error(
            (*location, "response_bytes"),
            f"some {per_s * lasts_s:,.0f} connections would be drawn, expected "
            f"{MOST_VECTORS:,} at most",
            hint="larger responses, more exchanges, a lower load or a shorter run",
        )
    return Source(said.kind, sender, more)


def _check_tmix(values: Values, said: Background, location: Location) -> None:
    """Refuse too many pairs of hosts, and keys without effect."""
    pairs = len(said.acceptor_delays_ms or ()) * len(said.initiator_delays_ms or ())
    if pairs > MOST_PAIRS:
        message = f"expected {MOST_PAIRS} pairs of acceptors and initiators at most, got {pairs}"
        raise values.error((*location, "initiator_delays_ms"), message)
    if (said.small_share is None) != (said.small_packet_bytes is None):
        raise values.error(location, "small_share and small_packet_bytes go together")
    if said.start_within_s:
        message = "it would have no effect: the starts of the connections are drawn"
        raise values.error((*location, "start_within_s"), message)
    if said.draw is not None:
        _check_draw(values, said, location)
    _check_tmix_times(values, said, location)


def _check_draw(values: Values, said: Background, location: Location) -> None:
    """Refuse a number of a draw that no other source like it has."""
    alike = [
        int(each.count)
        for index, part in enumerate(values.scenario.background)
        for each in [values.settled(part, (*values.base, "background", index))]
        if each.kind == "tmix" and all(getattr(each, k) == getattr(said, k) for k in _OF_DRAW)
    ]
    if sum(alike) == 1:
        raise values.error(
            (*location, "draw"),
            "it would have no effect: no other source has the same number and draws from the same"
            " keys",
        )


def _check_tmix_times(values: Values, said: Background, location: Location) -> None:
    if said.prefill_within_s is not None:
        if said.prefill_s is None:
            raise values.error((*location, "prefill_within_s"), "it needs prefill_s")
        if float(said.prefill_within_s) > float(said.prefill_s):
            message = f"expected prefill_s at most, {float(said.prefill_s):g} s"
            raise values.error((*location, "prefill_within_s"), message)
    for name in ("prefill_s", "bin_s"):
        value = getattr(said, name)
        if value is not None and float(value) >= values.duration_s:
            message = f"expected less than the duration of a run, {values.duration_s:g} s"
            raise values.error((*location, name), message)


# ---------------------------------------------------------------- all of them


def _sender(values: Values, key: str, location: Location, defaults: ClassVariables) -> Sender:
    """The sender of the connections of a source."""
    protocol = values.protocol(key, (*location, "protocol"))
    sink = values.sink_of(None, protocol.sink, location)
    protocol = protocol.model_copy(update={"sink": sink})
    return Sender(key, protocol, values.settings_of(key), defaults, 0.0, None)


def _hosts(values: Values, said: Background, location: Location) -> Iterator[tuple[str, Scalar]]:
    """Arguments for the smallest and largest values of the links of servers and clients."""
    for name in _LINKS_OF_HOSTS:
        given = getattr(said, name)
        bounds = given if isinstance(given, list) else [given, given]
        if len(bounds) != 2 or float(bounds[0]) > float(bounds[1]):
            message = f"expected a number or [least, most] (got {given!r})"
            raise values.error((*location, name), message)
        yield name, bounds[0]
        yield _most(name), bounds[1]


def _most(name: str) -> str:
    """Key for the largest value of a link of hosts: ``server_most_mbps``."""
    return name.replace("_", "_most_", 1)


def _quantities(
    values: Values, said: Background, location: Location, names: Sequence[str]
) -> Iterator[tuple[str, Scalar]]:
    """Arguments for distribution, mean and shape of each quantity that is given."""
    for name in names:
        quantity: Quantity | None = getattr(said, name)
        if quantity is None:
            continue
        pareto = quantity.distribution.startswith("pareto")
        place = (*location, name, "shape")
        if pareto and (quantity.shape is None or float(quantity.shape) <= 1):
            raise values.error(place, f"{quantity.distribution} needs a shape above 1")
        if not pareto and quantity.shape is not None:
            raise values.error(place, f"{quantity.distribution} has no shape")
        key, suffix = _QUANTITIES[name]
        yield key, quantity.distribution
        yield f"{key}{suffix}", quantity.mean
        if quantity.shape is not None:
            yield f"{key}_shape", quantity.shape


# ---------------------------------------------------------------- randomness

_RANDOM_QUEUES = {kind.ns2_class for kind in QUEUE_KINDS.values() if kind.random}
_ABOVE_NOUGHT = re.compile(r"(\.loss_rate|\.within_s|\.jitter|[._]overhead_|\.queue\.random_)$")
_QUEUE = re.compile(r"link\.\d+\.queue$")
_OF_SOURCE = re.compile(r"-background\.(\d+)\.(.+)")

_OF_WEB = ("page_pause", "page_objects", "object_pause", "object_size")
_OF_PACKMIME = ("request_size", "response_size", "server_pause")
_OF_PERSISTENT = ("connection_pages", "page_objects", "page_pause", "object_pause")


def draws(argv: Sequence[str]) -> bool:
    """Whether a run with these arguments draws random numbers that affect its packets.

    In any case ns-2 draws the phase of each TCP sender's coarse clock, which affects timeouts only.
    """
    sources: dict[str, dict[str, str]] = {}
    for name, value in zip(argv[::2], argv[1::2], strict=True):
        if _is_random(name, value):
            return True
        found = _OF_SOURCE.fullmatch(name)
        if found:
            sources.setdefault(found[1], {})[found[2]] = value
    return any(map(_source_draws, sources.values()))


def _is_random(name: str, value: str) -> bool:
    if _QUEUE.search(name):
        return value in _RANDOM_QUEUES
    return bool(_ABOVE_NOUGHT.search(name)) and float(value) > 0


def _source_draws(source: Mapping[str, str]) -> bool:
    """Whether a background source draws more than its start and its jitter."""
    kind = source["kind"]
    if kind == "web":
        # The server of a page and the client of a session are drawn.
        several = source["servers"] != "1" or source["clients"] != "1"
        return several or _vary(source, _OF_WEB) or _links_vary(source)
    if kind == "packmime":
        return _packmime_draws(source)
    return kind != "cbr"


def _packmime_draws(source: Mapping[str, str]) -> bool:
    share = 0.0
    if source["http"] == "1.1":
        share = float(source.get("persistent_share", "0.5"))  # PackMime's own is between 0 and 1
    return (
        source.get("arrivals") != "constant"
        or _vary(source, _OF_PACKMIME)
        or 0 < share < 1
        or (share == 1 and (_vary(source, _OF_PERSISTENT) or _pages_vary(source)))
        or _links_vary(source)
    )


def _pages_vary(source: Mapping[str, str]) -> bool:
    """Whether it is random which pages have a single object."""
    alone = float(source["connection_pages_mean"]) <= 1
    return not alone and float(source.get("single_share", "0.5")) not in (0, 1)


def _vary(source: Mapping[str, str], quantities: Iterable[str]) -> bool:
    """Whether one of these quantities is random; ns-2's own distributions are."""
    return any(source.get(name) != "constant" for name in quantities)


def _links_vary(source: Mapping[str, str]) -> bool:
    return any(source[name] != source[_most(name)] for name in _LINKS_OF_HOSTS)


def remarks(runs: Iterable[PlannedRun]) -> list[str]:
    """Remarks on repetitions that do not differ, one sentence per scenario."""
    scenarios: dict[str, list[tuple[bool, object]]] = {}
    for run in runs:
        if run["script"] in OWN_SCRIPTS:
            facts = (draws(run["argv"]), run["parameters"].get("substream"))
            scenarios.setdefault(run["scenario"], []).append(facts)
    return [remark for each in scenarios.items() for remark in _remarks(*each)]


def _remarks(scenario: str, runs: Sequence[tuple[bool, object]]) -> Iterator[str]:
    """A remark on the runs of a scenario, each given by whether it draws and its substream."""
    equal = [substream for drawing, substream in runs if not drawing]
    if len(set(equal)) > 1:
        which = "its runs" if len(equal) == len(runs) else f"{len(equal)} of its {len(runs)} runs"
        yield (
            f"{scenario}: nothing in {which} is random, so {len(set(equal))} substreams give the "
            "same packets; give flows start_within_s, or overhead_, for repetitions that differ"
        )
