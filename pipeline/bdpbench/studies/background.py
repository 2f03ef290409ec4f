"""Background traffic of a run: UDP sources, web pages (PagePool/WebTraf), PackMimeHTTP, Tmix.

``remarks`` tells which runs of ``tcl/network.tcl`` do not differ between repetitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bdpbench.contracts.plan import PlannedRun, Scalar
from bdpbench.contracts.yaml_files import Location
from bdpbench.studies import parts
from bdpbench.studies.flows import linux_parameters
from bdpbench.studies.parts import Packmime, Protocol, Quantity, Tmix, Web
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

_LINKS_OF_HOSTS = ("server_mbps", "server_delay_ms", "client_mbps", "client_delay_ms")
_QUANTITIES = {
    "page_pause_s": ("page_pause", "_mean_s"),
    "page_objects": ("page_objects", "_mean"),
    "object_pause_s": ("object_pause", "_mean_s"),
    "object_bytes": ("object_size", "_mean_bytes"),
    "exchanges": ("exchanges", "_mean"),
    "request_bytes": ("request_size", "_mean_bytes"),
    "response_bytes": ("response_size", "_mean_bytes"),
    "server_pause_s": ("server_pause", "_mean_s"),
    "think_s": ("think", "_mean_s"),
}
"""Key of study.yaml → key of the script's arguments, and the suffix of the mean's key."""

_OF_DRAW = (
    "draw", "load", "small_share", "small_packet_bytes", "bin_s", "start_s", "packet_bytes",
    "exchanges", "request_bytes", "response_bytes", "server_pause_s", "think_s",
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
        BdpbenchError: naming file and line, for what no source can have.
    """
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
            elif isinstance(said, Packmime):
                source = _packmime(values, said, location, more, defaults)
            elif isinstance(said, Tmix):
                narrowest_mbps = min(rates_mbps[route.first : route.last + 1])
                source = _tmix(values, said, location, more, defaults, narrowest_mbps)
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


def _segment_bytes(values: Values, said: Web | Packmime | Tmix) -> int:
    return int(said.packet_bytes or values.number("packet_bytes", ""))


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
    more += [("segment_bytes", _segment_bytes(values, said))]
    more += _hosts(values, said, location)
    more += _quantities(said)
    more += [("agent", sender.protocol.agent), ("sink", sender.protocol.sink)]
    more += [(f"set.{name}", value) for name, value in sender.settings.items()]
    pages = said.record_pages == "on"
    more += [("record_pages", 1)] if pages else []
    return Source(said.kind, sender, more, pages=pages)


def _packmime(
    values: Values, said: Packmime, location: Location, more: Pairs, defaults: ClassVariables
) -> Source:
    if float(said.http_version) not in (1.0, 1.1):
        message = f"expected 1.0 or 1.1 (got {said.http_version})"
        raise values.error((*location, "http_version"), message)
    if said.servers != said.clients or int(said.servers) > MOST_PAIRS:
        raise values.error(
            (*location, "clients"),
            f"expected as many clients as servers, {MOST_PAIRS} of each at most "
            f"(got {said.clients} and {said.servers})",
            hint="a node represents many hosts: PackMime's connections use pairs of nodes in turn",
        )
    more += _given(said, "rate_per_s", "servers", "clients")
    more += [("segment_bytes", _segment_bytes(values, said))]
    more += [("http", f"{float(said.http_version):.1f}"), ("tcp", "reno")]
    more += [("delayed_acks", 1)] if values.get("delayed_acks") == "on" else []
    more += _hosts(values, said, location)
    # The sender that the ends of the connections count as for ns-2's behaviour.
    ends = Protocol(label="reno", colour="#000000", agent="TCP/FullTcp", sink="TCP/FullTcp")
    return Source(said.kind, Sender("reno", ends, {}, defaults, 0.0, None), more)


# ---------------------------------------------------------------- Tmix


def _tmix(
    values: Values,
    said: Tmix,
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
    for name in ("acceptor_delays_ms", "initiator_delays_ms"):
        more += [(name, " ".join(f"{float(each):g}" for each in getattr(said, name)))]
    more += [("agent", sender.protocol.agent), ("sink", sender.protocol.sink)]
    if sender.protocol.linux is not None:
        more += [("linux", sender.protocol.linux), *linux_parameters(values, sender.key)]
    more += [(f"set.{name}", value) for name, value in sender.settings.items()]
    more += _given(said, "bin_s", "prefill_s", "prefill_within_s", "draw")
    mbps = float(said.load) * narrowest_mbps
    more += [("offered_mbps", mbps), ("segment_bytes", _segment_bytes(values, said))]
    if said.small_share is not None:
        more += [("small_share", said.small_share)]
        more += [("small_segment_bytes", int(said.small_packet_bytes or 0))]
    more += _quantities(said)
    per_s = mbps * 1e6 / BITS_PER_BYTE / max(1.0, float(said.response_bytes.mean))
    drawn = per_s / max(1.0, float(said.exchanges.mean)) * (values.duration_s - float(said.start_s))
    if drawn > MOST_VECTORS:
        raise values.error(
            (*location, "response_bytes"),
            f"some {drawn:,.0f} connections would be drawn, expected {MOST_VECTORS:,} at most",
            hint="larger responses, more exchanges, a lower load or a shorter run",
        )
    return Source(said.kind, sender, more)


def _check_tmix(values: Values, said: Tmix, location: Location) -> None:
    """Refuse too many pairs of hosts, and keys without effect."""
    pairs = len(said.acceptor_delays_ms) * len(said.initiator_delays_ms)
    duration_s, prefill_s = values.duration_s, float(said.prefill_s or 0)
    within_s, bin_s = float(said.prefill_within_s or 0), float(said.bin_s or 0)
    shorter = f"expected less than the duration of a run, {duration_s:g} s"
    rules = (
        (
            pairs > MOST_PAIRS,
            "initiator_delays_ms",
            f"expected {MOST_PAIRS} pairs of acceptors and initiators at most, got {pairs}",
        ),
        (
            (said.small_share is None) is not (said.small_packet_bytes is None),
            "small_share",
            "small_share and small_packet_bytes go together",
        ),
        (
            bool(said.start_within_s),
            "start_within_s",
            "it would have no effect: the starts of the connections are drawn",
        ),
        (
            said.draw is not None and _sources_like(values, said) == 1,
            "draw",
            "it would have no effect: no other source has the same number and draws from the same"
            " keys",
        ),
        (within_s > 0 and not prefill_s, "prefill_within_s", "it needs prefill_s"),
        (
            within_s > prefill_s,
            "prefill_within_s",
            f"expected prefill_s at most, {prefill_s:g} s",
        ),
        (prefill_s >= duration_s, "prefill_s", shorter),
        (bin_s >= duration_s, "bin_s", shorter),
    )
    for is_wrong, name, message in rules:
        if is_wrong:
            raise values.error((*location, name), message)


def _sources_like(values: Values, said: Tmix) -> int:
    """Sources of a run that draw the same connections."""
    return sum(
        int(each.count)
        for index, part in enumerate(values.scenario.background)
        for each in [values.settled(part, (*values.base, "background", index))]
        if isinstance(each, Tmix) and all(getattr(each, k) == getattr(said, k) for k in _OF_DRAW)
    )


# ---------------------------------------------------------------- all of them


def _sender(values: Values, key: str, location: Location, defaults: ClassVariables) -> Sender:
    """The sender of the connections of a source."""
    protocol = values.protocol(key, (*location, "protocol"))
    sink = values.sink_of(protocol.sink, location)
    protocol = protocol.model_copy(update={"sink": sink})
    return Sender(key, protocol, values.settings_of(key), defaults, 0.0, None)


def _hosts(
    values: Values, said: Web | Packmime, location: Location
) -> Iterator[tuple[str, Scalar]]:
    """Arguments for the smallest and largest values of the links of servers and clients."""
    for name in _LINKS_OF_HOSTS:
        given = getattr(said, name)
        bounds = given if isinstance(given, list) else [given, given]
        if len(bounds) != 2 or float(bounds[0]) > float(bounds[1]):
            message = f"expected a number or [least, most] (got {given!r})"
            raise values.error((*location, name), message)
        yield name, bounds[0]
        yield name.replace("_", "_most_", 1), bounds[1]  # server_most_mbps


def _quantities(said: Web | Tmix) -> Iterator[tuple[str, Scalar]]:
    """Arguments for distribution, mean and shape of each quantity."""
    for name, (key, suffix) in _QUANTITIES.items():
        quantity: Quantity | None = getattr(said, name, None)
        if quantity is None:
            continue
        yield key, quantity.distribution
        yield f"{key}{suffix}", quantity.mean
        if quantity.shape is not None:
            yield f"{key}_shape", quantity.shape


# ---------------------------------------------------------------- randomness

_RANDOM_QUEUES = {kind.ns2_class for kind in QUEUE_KINDS.values() if kind.random}
_ABOVE_NOUGHT = re.compile(r"(\.loss_rate|\.within_s|\.jitter|[._]overhead_|\.queue\.random_)$")


def draws(argv: Sequence[str]) -> bool:
    """Whether a run with these arguments may draw random numbers that affect its packets.

    In any case ns-2 draws the phase of each TCP sender's coarse clock, which affects timeouts only.
    """
    for name, value in zip(argv[::2], argv[1::2], strict=True):
        is_random = (
            (name.endswith(".queue") and value in _RANDOM_QUEUES)
            or (name.endswith(".kind") and value != "cbr")
            or (_ABOVE_NOUGHT.search(name) and float(value) > 0)
        )
        if is_random:
            return True
    return False


def remarks(runs: Iterable[PlannedRun]) -> list[str]:
    """Remarks on repetitions that do not differ, one sentence per scenario."""
    scenarios: dict[str, list[PlannedRun]] = {}
    for run in runs:
        if run["script"] in OWN_SCRIPTS:
            scenarios.setdefault(run["scenario"], []).append(run)
    found = []
    for scenario, own in scenarios.items():
        equal = [run["parameters"].get("substream") for run in own if not draws(run["argv"])]
        if len(set(equal)) > 1:
            which = "its runs" if len(equal) == len(own) else f"{len(equal)} of its {len(own)} runs"
            found.append(
                f"{scenario}: nothing in {which} is random, so {len(set(equal))} substreams give "
                "the same packets; give flows start_within_s, or overhead_, for repetitions that "
                "differ"
            )
    return found
