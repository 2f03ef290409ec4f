"""The flows of a run: protocols, delays, starts, ends, sizes, and paths over its bottlenecks.

What no flow can have is refused by a BdpbenchError that names file and line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bdpbench.contracts.plan import Output, Parameters, Scalar
from bdpbench.contracts.yaml_files import Location
from bdpbench.studies.parts import Flow
from bdpbench.studies.values import ClassVariables, Pairs, Route, Sender, Values, further
from bdpbench.units import MOST_FLOWS

_EPSILON_MS = 1e-9
_MEANINGS = {
    "access_mbps": "the access rate",
    "receiver_delay_ms": "the access delay of the receivers",
}


@dataclass(frozen=True)
class NetworkFlow(Sender):
    """A flow of a scenario without a script of its own.

    ``rtt_ms`` is without queues; ``size_pkts`` is None if it is endless; ``said`` is its kind in
    study.yaml, with values in place of references; ``more`` are further arguments of the script.
    """

    route: Route
    rtt_ms: float
    access_mbps: float
    size_pkts: int | None
    said: Flow
    more: Sequence[tuple[str, Scalar]]

    def outputs(self, index: int) -> Iterator[Output]:
        """Time series of the flow; its cwnd file has the variables that its protocol records."""
        if not self.said.recorded:
            return
        file, names = f"cwnd_hstcp{index}.out", list(self.protocol.record)
        for table in ("cwnd", "recorded") if names else ():
            yield {"file": file, "table": table, "flow": index, "names": names}
        if not names:
            yield {"file": file, "table": "cwnd", "flow": index}
        yield {"file": f"tput_hstcp{index}.out", "table": "throughput", "flow": index}


def flow_arguments(index: int, flow: Sender) -> Iterator[tuple[str, Scalar]]:
    """Keys of the script's arguments for a flow, and their values."""
    prefix = f"flow.{index}"
    yield f"{prefix}.agent", flow.protocol.agent
    yield f"{prefix}.sink", flow.protocol.sink
    yield f"{prefix}.start_s", flow.start_s
    if flow.access_delay_ms is not None:
        yield f"{prefix}.access_delay_ms", flow.access_delay_ms
    if flow.protocol.linux is not None:
        yield f"{prefix}.linux", flow.protocol.linux
    network = flow if isinstance(flow, NetworkFlow) else None
    if flow.protocol.record and (network is None or network.said.recorded):
        yield f"{prefix}.record", " ".join(flow.protocol.record)
    for name, value in network.more if network else ():
        yield f"{prefix}.{name}", value
    for variable, number in flow.settings.items():
        yield f"{prefix}.set.{variable}", number


def script_flows(values: Values, defaults: ClassVariables) -> list[Sender]:
    """The flows that a study's own script makes, in the order of study.yaml."""
    found: list[Sender] = []
    for said, location in _kinds(values):
        key = _protocol_key(values, said, location)
        access_ms = said.access_delay_ms
        delay_ms = values.optional("access_delay_ms") if access_ms is None else float(access_ms)
        protocol, settings = values.study.protocols[key], values.settings_of(key)
        found += [
            Sender(key, protocol, settings, defaults, start_s, delay_ms)
            for start_s in values.starts_of(said, location, "a flow")
        ]
    return found


def network_flows(
    values: Values, delays_ms: Sequence[float], defaults: ClassVariables
) -> list[NetworkFlow]:
    """All flows of a run of ``tcl/network.tcl``; ``delays_ms``: one way, of its bottlenecks."""
    found: list[NetworkFlow] = []
    for said, location in _kinds(values):
        route = values.route_of(said, location, len(delays_ms))
        receiver_ms = _own(values, said, "receiver_delay_ms")
        path_ms = sum(delays_ms[route.first : route.last + 1]) + receiver_ms
        access_ms, rtt_ms = _delays(values, said, location, path_ms)
        key = _protocol_key(values, said, location)
        protocol = values.study.protocols[key]
        sink = values.sink_of(protocol.sink, location)
        if sink != protocol.sink:
            protocol = protocol.model_copy(update={"sink": sink})
        size = None if said.size_pkts is None else int(said.size_pkts)
        access_mbps = _own(values, said, "access_mbps")
        if size is not None and said.stop_s is not None:
            ends = "a transfer of a given size ends when it is complete: remove one of them"
            raise values.error((*location, "stop_s"), ends)
        within_s = float(said.start_within_s)
        buffer = values.get("access_buffer_pkts")
        optional = (("access_buffer_pkts", buffer), ("stop_s", said.stop_s), ("packets", size))
        more: Pairs = [
            ("access_mbps", access_mbps),
            ("receiver_delay_ms", receiver_ms),
            *((name, value) for name, value in optional if value is not None),
            *([("within_s", within_s)] if within_s else []),
            *([] if said.recorded else [("recorded", 0)]),
            *further(said),
            *route.arguments(len(delays_ms)),
            *linux_parameters(values, key),
        ]
        settings = values.settings_of(key)
        for start_s in values.starts_of(said, location, "a flow"):
            sender = (key, protocol, settings, defaults, start_s, access_ms)
            found.append(NetworkFlow(*sender, route, rtt_ms, access_mbps, size, said, more))
    return found


def _kinds(values: Values) -> Iterator[tuple[Flow, Location]]:
    """The kinds of flows of a scenario with the values of the run, and where they are."""
    total = 0
    for index, part in enumerate(values.scenario.flows):
        location = (*values.base, "flows", index)
        values.check_stagger(part, location, "flow")
        said = values.settled(part, location)
        total += int(said.count)
        if total > MOST_FLOWS:
            raise values.error(location, f"a run would have more than {MOST_FLOWS} flows")
        yield said, location


def _protocol_key(values: Values, said: Flow, location: Location) -> str:
    key = said.protocol or values.get("protocol")
    if key is None:
        raise values.error(
            location,
            "a flow names no protocol and the run has none",
            hint="set flows[].protocol, parameters.protocol or a sweep of protocol",
        )
    values.protocol(str(key), (*location, "protocol"))
    return str(key)


def _own(values: Values, said: Flow, name: str) -> float:
    """A flow's value of a key, or else the run's parameter of the same name."""
    own = getattr(said, name)
    return values.number(name, _MEANINGS[name]) if own is None else float(own)


def _delays(values: Values, said: Flow, location: Location, path_ms: float) -> tuple[float, float]:
    """One-way delay of the sender's link, and the RTT without queues, ms.

    ``path_ms``: one-way delay of the rest of the path.
    """
    own = said.access_delay_ms
    if said.rtt_ms is not None and own is not None:
        raise values.error(
            (*location, "rtt_ms"),
            "access_delay_ms is given as well, but each of them follows from the other",
            hint="leave out one of them",
        )
    if said.rtt_ms is not None:
        rtt_ms, location = float(said.rtt_ms), (*location, "rtt_ms")
    elif own is None and values.has("rtt_ms") and not values.has("access_delay_ms"):
        rtt_ms = values.number("rtt_ms", "")
    else:
        meaning = "the access delay of the senders"
        access_ms = values.number("access_delay_ms", meaning) if own is None else float(own)
        return access_ms, 2 * (access_ms + path_ms)
    access_ms = round(rtt_ms / 2 - path_ms, 9)
    if access_ms < -_EPSILON_MS:
        raise values.error(
            location,
            f"an RTT of {rtt_ms:g} ms, but the path alone has {2 * path_ms:g} ms",
            hint="expected at least twice the delays of the bottlenecks and of the receiver",
        )
    return max(0.0, access_ms), rtt_ms


def linux_parameters(values: Values, key: str) -> Iterator[tuple[str, Scalar]]:
    """Arguments of a protocol's parameters of TCP/Linux, after the prefix."""
    for name, value in values.study.protocols[key].linux_parameters.items():
        location = ("protocols", key, "linux_parameters", name)
        found = values.of(value, location)
        if isinstance(found, str) or not float(found).is_integer():
            raise values.error(location, f"expected a whole number (got {found!r})")
        yield f"linux.{name}", int(found)


def flow_parameters(flows: Sequence[NetworkFlow], links: int) -> Parameters:
    """What metrics and labels read of flows: groups, sizes, paths, access rates.

    Those of a single flow contain its number, counted from 1: ``access_2_mbps``. If more than two
    flows have different protocols, each has a parameter: ``flow_protocol_3``.
    """
    found: Parameters = {}
    keys = [flow.key for flow in flows]
    if len(keys) > 2 and len(set(keys)) > 1:
        found |= {f"flow_protocol_{i}": key for i, key in enumerate(keys, start=1)}
    if len({flow.access_mbps for flow in flows}) == 1:
        found["access_mbps"] = flows[0].access_mbps
    else:
        found |= {f"access_{i}_mbps": flow.access_mbps for i, flow in enumerate(flows, start=1)}
    for i, flow in enumerate(flows, start=1):
        if flow.said.group:
            found[f"group_{i}"] = flow.said.group
        found |= {f"{name}_{i}": value for name, value in further(flow.said)}
        if flow.size_pkts is not None:
            found[f"size_{i}_pkts"] = flow.size_pkts
        if flow.route.first > 0:
            found[f"enters_{i}"] = flow.route.first + 1
        if flow.route.last < links - 1:
            found[f"leaves_{i}"] = flow.route.last + 1
        if flow.route.reverse:
            found[f"direction_{i}"] = "reverse"
    return found
