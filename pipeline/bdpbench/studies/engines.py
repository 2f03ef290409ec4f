"""The second engine: which runs ns-3 can simulate, and what its program gets of them.

``engine: ns3`` among the parameters of a run replaces ns-2 and
``tcl/network.tcl`` by ns-3 and ``simulation/ns3/network.cc``, which writes the same files. What of
a run that program cannot honour is refused with its reason: a comparison of two simulators is only
worth something if both simulate the same.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from bdpbench.contracts.paths import config_dir, relative, tcl_dir
from bdpbench.contracts.plan import PlannedRun, format_value
from bdpbench.contracts.yaml_files import Location
from bdpbench.studies.engine_queues import (
    QUEUE_COUNTERPARTS,
    DifferentQueueError,
    queue_arguments,
)
from bdpbench.studies.flows import NetworkFlow
from bdpbench.studies.links import Link
from bdpbench.studies.ns3_program import is_ns3, ns3_program
from bdpbench.studies.queues import HEADER_BYTES
from bdpbench.studies.values import WINDOW_OPTION, ClassVariables, Pairs, Resolved, Values
from bdpbench.studies.vocabulary import is_traced

_DELAYED_ACK_S = 0.1  # ns-2's interval_ of receivers that delay ACKs


@dataclass(frozen=True)
class Counterpart:
    """ns-3's congestion control for a sender of ns-2: its class, and attributes of every run.

    Attributes:
        variables: variable of ns-2 → the attribute that is set to its value, or the only value
            that ns-3 has.
        needed: variables that have to be given, as ns-2's default is another than ns-3's.
        differs: in what its law is another; "" if it is the same.
    """

    sender: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str | float] = field(default_factory=dict)
    needed: tuple[str, ...] = ()
    differs: str = ""


_BIC = {"Beta": "0.8", "BinarySearchCoefficient": "4", "SmoothPart": "20"}
COUNTERPARTS: Mapping[str, Counterpart] = types.MappingProxyType(
    {
        "windowOption_ 1": Counterpart("TcpLinuxReno"),
        "windowOption_ 8": Counterpart(
            "TcpHighSpeed",
            variables={
                "low_window_": 38.0,
                "high_window_": 83000.0,
                "high_p_": 1e-7,
                "high_decrease_": 0.1,
            },
        ),
        "windowOption_ 9": Counterpart(
            "TcpScalable",
            {"AIFactor": "100", "MDFactor": "0.125"},
            {"scalable_lwnd_": 100.0},
            needed=("scalable_lwnd_",),
        ),
        "windowOption_ 15": Counterpart(
            "TcpBic",
            {**_BIC, "LowWnd": "38", "MaxIncr": "32"},
            {
                "low_window_": "LowWnd",
                "smooth_bic_beta_": "Beta",
                "smooth_bic_B_": "BinarySearchCoefficient",
                "smooth_bic_max_increment_": "MaxIncr",
                "smooth_bic_smooth_part_": "SmoothPart",
                "smooth_bic_fast_convergence_": "FastConvergence",
            },
        ),
        "windowOption_ -10": Counterpart("TcpHtcp", variables={"htcp_delta_l_": "DeltaL"}),
        "linux reno": Counterpart("TcpLinuxReno"),
        "linux bic": Counterpart("TcpBic", {**_BIC, "LowWnd": "14", "MaxIncr": "16"}),
        "linux cubic": Counterpart("TcpCubic", {"Beta": "0.8", "C": "0.4", "HyStart": "false"}),
        "linux highspeed": Counterpart("TcpHighSpeed"),
        "linux htcp": Counterpart("TcpHtcp"),
        "linux scalable": Counterpart("TcpScalable", {"AIFactor": "50", "MDFactor": "0.125"}),
        "linux vegas": Counterpart("TcpVegas", {"Alpha": "2", "Beta": "4", "Gamma": "1"}),
        "linux westwood": Counterpart("TcpWestwood", {"ProtocolType": "WestwoodPlus"}),
        "folder bbr": Counterpart(
            "TcpBbr", differs="ns-3 simulates version 1 of BBR, ns-2 version 3"
        ),
        "folder dctcp": Counterpart("TcpDctcp", variables={"gain_": "DctcpShiftG"}),
        "folder cubic": Counterpart(
            "TcpCubic",
            variables={
                "c_": "C",
                "beta_": "Beta",
                "fast_convergence_": "FastConvergence",
                "hystart_": "HyStart",
            },
        ),
    }
)
"""Sender of ns-2 → ns-3's. To add one, add a row, and a case to the study ``two_simulators``."""

_SOCKET_VARIABLES = {
    "windowInit_": "InitialCwnd",
    "minrto_": "MinRto",
    "tcpTick_": "ClockGranularity",
}
_TIMES = {"MinRto", "ClockGranularity", "DeltaL"}
_SWITCHES = {"FastConvergence", "HyStart"}
# Variables of every sender: the path of these is another, or ns-3 has only this value.
_ELSEWHERE = {"packetSize_", "window_", "ecn_", WINDOW_OPTION}
_FIXED = {"timestamps_": 1.0}  # a sample of the RTT from each ACK
_SINKS = {"TCPSink": 1, "TCPSink/Sack1": 1, "TCPSink/DelAck": 2, "TCPSink/Sack1/DelAck": 2}
_SACK = {"TCP/Sack1": "true", "TCP/Linux": "true", "TCP/Newreno": "false"}

_NOT_WRITTEN = {"red"}  # ns-3 tells nobody RED's average

# What is the same for all runs: ns-2's values where ns-3 has others, and no end of patience.
_DEFAULTS = {
    "TcpL4Protocol.RecoveryType": "ns3::TcpClassicRecovery",  # cut at once, as ns-2 does
    "TcpSocket.ConnCount": "1000000",
    "TcpSocket.DataRetries": "1000000",
    "TcpSocket.DelAckTimeout": f"{_DELAYED_ACK_S}s",
    "TcpSocket.InitialCwnd": "2",
    "TcpSocketBase.ClockGranularity": "0.01s",
    "TcpSocketBase.MinRto": "0.2s",
    "TcpSocketBase.Timestamp": "false",
}


def engine_remarks(runs: Iterable[PlannedRun]) -> list[str]:
    """In what the laws of some runs of ns-3 are others than those of ns-2, a sentence for each."""
    senders = {word for run in runs if is_ns3(run["script"]) for word in run["argv"]}
    return [
        f"{each.sender}: {each.differs}"
        for each in COUNTERPARTS.values()
        if each.differs and each.sender in senders
    ]


@dataclass(frozen=True)
class Translation:
    """A run of ``tcl/network.tcl``, as ns-2 would get it, in the terms of ns-3's program."""

    values: Values
    run: Resolved
    links: Sequence[Link]
    defaults: ClassVariables

    @property
    def _flows(self) -> list[NetworkFlow]:
        return [flow for flow in self.run.flows if isinstance(flow, NetworkFlow)]

    def resolved(self, is_more: str) -> Resolved:
        """The run of ns-3; ``is_more``: what else it has, such as background, that ns-3 has not.

        Raises:
            BdpbenchError: for what ns-3 cannot honour, with its name and place.
        """
        values, run = self.values, self.run
        if is_more:
            self._refuse(values.base, is_more)
        if is_traced(values.parameters):
            self._refuse(values.place_of("trace"), f"trace: {values.parameters['trace']}")
        # Of what scripts that add to network.tcl take, ns-3 has the packets that flows lose.
        given = [flow.said.arguments for flow in self._flows]
        given += [link.wire.said.arguments for link in self.links]
        more = {*values.scenario.arguments, *(name for each in given for name in each)} - {"loses"}
        if more:
            named = f"{', '.join(sorted(more))} of {values.scenario.network}"
            self._refuse((*values.base, "network"), named)
        self._check_defaults()
        words = dict(zip(run.argv[::2], run.argv[1::2], strict=True))
        kept = ("duration_s", "sample_s", "queue_sample_s", "seed", "substream", "datadir")
        pairs: Pairs = [(name, words[f"-{name}"]) for name in kept if f"-{name}" in words]
        if "-queue_sample_s" not in words:
            pairs.append(("queue_sample_s", words["-sample_s"]))
        if "-seed" not in words:
            pairs.append(("seed", 9999))
        pairs += [
            ("packet_bytes", format_value(self._variable("packetSize_"))),
            ("window_pkts", format_value(self._variable("window_"))),
            *((f"default.{name}", value) for name, value in self._class_defaults().items()),
            ("links", len(self.links)),
            *(pair for i, link in enumerate(self.links) for pair in self._link(i, link)),
            ("flows", len(self._flows)),
            *(pair for i, flow in enumerate(self._flows) for pair in self._flow(i, flow)),
        ]
        argv = [word for name, value in pairs for word in (f"-{name}", format_value(value))]
        path = ns3_program()

        outputs = [each for each in run.outputs if each["table"] not in _NOT_WRITTEN]
        script = relative(path, tcl_dir())
        return Resolved(script, path, argv, outputs, run.flows, run.senders, run.derived)

    def _refuse(self, location: Location, what: str, reason: str = "") -> NoReturn:
        raise self.values.error(
            location,
            f"ns-3 cannot simulate this run as it is: {what}" + (f": {reason}" if reason else ""),
            hint="docs/ns3.md lists what it can",
        )

    def _check_defaults(self) -> None:
        for name in self.defaults:
            if not any(
                f"Agent/{flow.protocol.agent}/".startswith(f"{name}/") for flow in self._flows
            ):
                self._refuse(self.values.place_of_default(name), f"defaults of {name}")

    def _class_defaults(self) -> dict[str, str]:
        """Defaults of ns-3's classes."""
        found = dict(_DEFAULTS)
        if any(link.kind.ns2_class == "FqCoDel" for link in self.links):
            whole = self._variable("packetSize_") + HEADER_BYTES
            found["CoDelQueueDisc.MinBytes"] = format_value(whole + 1)  # its lines are made later
        return found

    def _variable(self, name: str) -> float:
        """A variable that all flows of a run have to share."""
        found = {flow.variable(name) for flow in self._flows}
        if len(found) != 1 or None in found:
            self._refuse(self.values.base, f"flows with different {name}")
        return float(found.pop() or 0)

    def _link(self, index: int, link: Link) -> Iterator[tuple[str, int | float | str]]:
        prefix = f"link.{index}"
        yield f"{prefix}.mbps", link.wire.mbps
        yield f"{prefix}.delay_ms", link.wire.delay_ms
        yield f"{prefix}.holds_pkts", link.holds_pkts
        for name, value in self._queue(link):
            yield f"{prefix}.{name}", value
        if link.loss_rate:
            yield f"{prefix}.loss_rate", link.loss_rate
            if link.loss_burst_pkts is not None:
                yield f"{prefix}.loss_burst_pkts", link.loss_burst_pkts

    def _queue(self, link: Link) -> Iterator[tuple[str, str]]:
        own = link.wire.said.queue is not None
        location = link.wire.location if own else self.values.place_of("queue")
        kinds = self.values.study.queue_kinds.items()
        kind = next(name for name, each in kinds if each is link.kind)
        if kind == "DropTail":
            if link.variables["drop_front_"]:
                self._refuse(location, "drop_front of a queue", "it drops arriving packets")
            return
        if kind not in QUEUE_COUNTERPARTS:
            known = ", ".join(("DropTail", *QUEUE_COUNTERPARTS))
            self._refuse(location, f"a queue of kind {kind}", f"it has {known}")
        try:
            yield from queue_arguments(link, kind, self._variable("packetSize_"))
        except DifferentQueueError as error:
            setting, reason = error.args
            self._refuse(location, f"{setting} of a queue of kind {kind}", reason)

    def _flow(self, index: int, flow: NetworkFlow) -> Iterator[tuple[str, int | float | str]]:
        location, prefix = ("protocols", flow.key), f"flow.{index}"
        counterpart = self._counterpart(flow)
        if flow.protocol.record:
            self._refuse((*location, "record"), f"record: {flow.protocol.record}")
        if flow.protocol.linux_parameters:
            self._refuse((*location, "linux_parameters"), "parameters of Linux's modules")
        if flow.protocol.sink not in _SINKS:
            self._refuse(location, f"a receiver of class {flow.protocol.sink}")
        yield f"{prefix}.sender", counterpart.sender
        attributes, socket = self._attributes(flow, counterpart)
        for name, value in attributes.items():
            yield f"{prefix}.set.{name}", value
        for name, value in socket.items():
            yield f"{prefix}.socket.{name}", value
        yield f"{prefix}.start_s", flow.start_s
        yield f"{prefix}.access_delay_ms", flow.access_delay_ms or 0.0
        for name, each in flow.more:
            if name in ("stop_s", "access_buffer_pkts"):
                self._refuse(self.values.base, f"{name} of a flow")
            yield f"{prefix}.{name}", each

    def _counterpart(self, flow: NetworkFlow) -> Counterpart:
        key, location = _sender_of(flow), ("protocols", flow.key)
        found = COUNTERPARTS.get(key)
        if found is None:
            reason = "ns-3 has no counterpart of it that is checked"
            self._refuse(location, f"{flow.key} ({flow.protocol.agent}, {key})", reason)
        return found

    def _attributes(
        self, flow: NetworkFlow, counterpart: Counterpart
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Attributes of a flow's congestion control, and those of its sockets."""
        attributes = dict(counterpart.attributes)
        socket = {
            "Sack": _SACK.get(flow.protocol.agent, "true"),
            "DelAckCount": str(_SINKS[flow.protocol.sink]),
            "UseEcn": "On" if self.values.get("ecn") == "on" else "Off",
        }
        known: dict[str, str | float] = {**_FIXED, **_SOCKET_VARIABLES, **counterpart.variables}
        given = _given_variables(flow, self.defaults)
        for name in (*counterpart.needed, *sorted(given - _ELSEWHERE)):
            location = ("protocols", flow.key, *(("settings", name) if name in given else ()))
            value, meaning = flow.variable(name), known.get(name)
            if meaning is None:
                self._refuse(location, f"{name} of {flow.key}")
            if isinstance(meaning, float):
                if value != meaning:
                    reason = f"ns-3's {counterpart.sender} has {meaning:g}"
                    self._refuse(location, f"{name} of {flow.key}", reason)
                continue
            kept = socket if meaning in _SOCKET_VARIABLES.values() else attributes
            kept[meaning] = _attribute_text(meaning, value or 0.0)
        return attributes, socket


def _sender_of(flow: NetworkFlow) -> str:
    """A sender as ``COUNTERPARTS`` names it."""
    protocol = flow.protocol
    if protocol.folder:
        folder = Path(protocol.folder)
        own = config_dir() / "protocols"
        return f"folder {folder.name if folder.resolve().parent == own.resolve() else folder}"
    if protocol.linux is not None:
        return f"linux {protocol.linux}"
    if protocol.agent in _SACK:
        return f"{WINDOW_OPTION} {flow.use.window_option or 1}"
    return protocol.agent


def _given_variables(flow: NetworkFlow, defaults: ClassVariables) -> set[str]:
    """Variables of a sender that the study gives."""
    classes = (name for name in defaults if f"Agent/{flow.protocol.agent}/".startswith(f"{name}/"))
    return {*flow.settings, *(variable for name in classes for variable in defaults[name])}


def _attribute_text(attribute: str, value: float) -> str:
    if attribute in _TIMES:
        return f"{value:g}s"
    if attribute in _SWITCHES:
        return "true" if value else "false"
    return format_value(value)
