"""Parts of ``study.yaml``: protocols, flows, bottlenecks, background traffic, changes, outputs.

A number of a flow, a bottleneck, background traffic or a change may be replaced by ``$name``, the
value of a parameter of the run, which can be swept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Discriminator, Field, GetCoreSchemaHandler, Tag, model_validator
from pydantic_core import CoreSchema

from bdpbench.contracts.yaml_files import MOST_NAME, Key, Label, Strict, VariableName
from bdpbench.units import (
    LEAST_MBPS,
    LEAST_POSITIVE,
    LEAST_SAMPLE_S,
    MOST_COUNT,
    MOST_DELAY_MS,
    MOST_FLOWS,
    MOST_MBPS,
    MOST_NUMBER,
    MOST_PACKET_BYTES,
    MOST_SOURCES,
    MOST_TIME_S,
    MOST_VARIABLE,
)

Reference = Annotated[str, Field(pattern=r"^\$[a-z][a-z0-9_]*$")]
"""``$name``: the value of a parameter of the run."""


def _tag_of(value: object) -> str:
    """Which of the two a value is meant to be, so that errors mention only that one."""
    return "[reference]" if isinstance(value, str) and value.startswith("$") else "[value]"


@dataclass(frozen=True)
class _Settable:
    """Makes a type of values from ``least`` to ``most`` accept ``$name`` as well."""

    kind: object = float
    least: float | None = None
    most: float | None = None
    below: float | None = None

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        finite = False if self.kind is float else None
        bounds = Field(ge=self.least, le=self.most, lt=self.below, allow_inf_nan=finite)
        value = Annotated[self.kind, bounds, Tag("[value]")]  # type: ignore[name-defined]
        reference = Annotated[Reference, Tag("[reference]")]
        return handler.generate_schema(Annotated[value | reference, Discriminator(_tag_of)])


Number = Annotated[float | str, _Settable(float, -MOST_NUMBER, MOST_NUMBER)]
Rate = Annotated[float | str, _Settable(float, LEAST_MBPS, MOST_MBPS)]
Delay = Annotated[float | str, _Settable(float, 0, MOST_DELAY_MS)]
Rtt = Annotated[float | str, _Settable(float, LEAST_POSITIVE, 6 * MOST_DELAY_MS)]
Time = Annotated[float | str, _Settable(float, 0, MOST_TIME_S)]
Interval = Annotated[float | str, _Settable(float, LEAST_POSITIVE, MOST_TIME_S)]
Share = Annotated[float | str, _Settable(float, 0, below=1)]
Probability = Annotated[float | str, _Settable(float, 0, 1)]
Positive = Annotated[float | str, _Settable(float, LEAST_POSITIVE, MOST_NUMBER)]
PerSecond = Annotated[float | str, _Settable(float, LEAST_POSITIVE, 1 / LEAST_SAMPLE_S)]
Variable = Annotated[float | str, _Settable(float, -MOST_VARIABLE, MOST_VARIABLE)]
Count = Annotated[int | str, _Settable(int, 1, MOST_COUNT)]
SourceCount = Annotated[int | str, _Settable(int, 1, MOST_SOURCES)]
FlowCount = Annotated[int | str, _Settable(int, 1, MOST_FLOWS)]
PacketBytes = Annotated[int | str, _Settable(int, 1, MOST_PACKET_BYTES)]
LinuxValue = Annotated[int | str, _Settable(int, -MOST_VARIABLE, MOST_VARIABLE)]
OnOff = Annotated[str, _Settable(Literal["on", "off"])]
Direction = Annotated[str, _Settable(Literal["forward", "reverse"])]
Arrivals = Annotated[str, _Settable(Literal["packmime", "exponential", "constant"])]
FullTcp = Annotated[str, _Settable(Literal["reno", "tahoe", "newreno", "sack"])]

Setting = Annotated[float, Field(ge=-MOST_VARIABLE, le=MOST_VARIABLE, allow_inf_nan=False)]
QueueName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$", max_length=MOST_NAME)]
ClassName = Annotated[str, Field(pattern=r"^[A-Z][A-Za-z0-9/]*$", max_length=MOST_NAME)]
LinuxName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=MOST_NAME)]


class Protocol(Strict):
    """One congestion control variant, and how a script creates its agents."""

    label: Label = Field(description="Name in tables and plots, e.g. HS-TCP")
    colour: str = Field(pattern=r"^#[0-9a-fA-F]{6}$", description="Colour in every plot, #rrggbb")
    folder: str = Field(
        "",
        description="Folder of a protocol of one's own, from that of the study; it gives the rest",
    )
    agent: ClassName = Field("TCP/Sack1", description="ns-2 agent class, without 'Agent/'")
    sink: ClassName = Field("TCPSink/Sack1", description="ns-2 sink class, without 'Agent/'")
    linux: LinuxName | None = Field(
        None, description="Congestion control of Agent/TCP/Linux, e.g. cubic or naive_reno"
    )
    linux_parameters: dict[LinuxName, LinuxValue] = Field(
        default_factory=dict,
        description="Parameters of that congestion control, whole numbers, e.g. beta: 717; of "
        "scenarios without a script of their own",
    )
    settings: dict[VariableName, Setting] = Field(
        default_factory=dict,
        description="Variables of its agents in addition to the defaults, e.g. windowOption_: 8",
    )
    record: list[VariableName] = Field(
        default_factory=list,
        description="Further variables of the agent, written after cwnd into its cwnd file",
    )


class Flow(Strict):
    """One kind of flow of a scenario; ``$name`` stands for a parameter of the run."""

    protocol: Key | Reference | None = Field(
        None, description="Protocol; that of the run if absent"
    )
    count: FlowCount = Field(1, description="Number of such flows")
    start_s: Time = Field(0.0, description="Start of the first flow, s")
    stagger_s: Time = Field(0.0, description="Delay between the starts of consecutive flows, s")
    access_delay_ms: Delay | None = Field(
        None, description="One-way delay to the first router, ms; that of the run if absent"
    )
    rtt_ms: Rtt | None = Field(
        None, description="RTT without queues, ms, from which the delay to the first router follows"
    )
    receiver_delay_ms: Delay | None = Field(
        None, description="One-way delay of the receiver's link, ms; that of the run if absent"
    )
    access_mbps: Rate | None = Field(
        None, description="Rate of its access links, Mbit/s; that of the run if absent"
    )
    access_buffer_pkts: Count | None = Field(
        None, description="Size of its sender's queue, packets; a whole window if absent"
    )
    start_within_s: Time = Field(
        0.0, description="It starts at a random time within this interval after its start, s"
    )
    stop_s: Interval | None = Field(None, description="When it stops sending new data, s")
    size_pkts: Count | None = Field(
        None, description="Packets that it transfers; endless if absent"
    )
    size_bytes: Count | None = Field(
        None, description="Bytes that it transfers, rounded up to whole packets"
    )
    direction: Direction = Field(
        "forward", description="forward, or reverse for the opposite direction"
    )
    enters: Count = Field(1, description="First bottleneck of its path, counted from 1")
    leaves: Count | None = Field(
        None, description="Last bottleneck of its path; the last of the chain if absent"
    )
    delayed_acks: OnOff | None = Field(
        None, description="Whether its receiver delays ACKs; that of the run if absent"
    )
    group: Key | None = Field(None, description="Name of a group of flows, for metrics of groups")
    recorded: bool = Field(
        True, description="Whether its cwnd and throughput are written over time"
    )
    loses: list[Count] = Field(
        default_factory=list,
        max_length=1000,
        description="Packets that its sender's link loses, counted from 1, which is the SYN, in "
        "the order in which it sends them",
    )
    milestones: bool = Field(
        False, description="Whether the times of its first 10, 100, 1000, … packets are recorded"
    )


class Output(Strict):
    """A file that a script writes, and the table that it becomes."""

    file: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$", max_length=MOST_NAME)]
    table: Literal[
        "cwnd",
        "ssthresh",
        "sequence",
        "acknowledged",
        "throughput",
        "queue",
        "utilization",
        "packets",
        "red",
        "transfers",
        "pages",
        "facts",
    ]
    flow: Annotated[int, Field(ge=0)] | None = None
    link: Annotated[str, Field(max_length=MOST_NAME)] | None = None


class Bottleneck(Strict):
    """One bottleneck of a chain; the run's parameters give the rest."""

    bottleneck_mbps: Rate | None = Field(None, description="Rate, Mbit/s")
    reverse_mbps: Rate | None = Field(None, description="Its rate in the reverse direction, Mbit/s")
    bottleneck_delay_ms: Delay | None = Field(None, description="One-way delay, ms")
    buffer_pkts: Count | None = Field(None, description="Packets that its queue holds")
    buffer_ms: Positive | None = Field(None, description="Time in which a full queue drains, ms")
    buffer_bdp: Positive | None = Field(None, description="Its queue as a share of the BDP")
    queue: QueueName | Reference | None = Field(None, description="Its queue")
    loss_rate: Share | None = Field(None, description="Share of packets lost at random")
    loss_burst_pkts: Positive | None = Field(
        None, description="Mean number of consecutive packets lost"
    )


class Change(Strict):
    """A change of a bottleneck during a run."""

    at_s: Time = Field(description="When, s")
    bottleneck: Count = Field(
        1, description="Number of the bottleneck in the chain, counted from 1"
    )
    bottleneck_mbps: Rate | None = Field(None, description="Rate from then on, Mbit/s")
    bottleneck_delay_ms: Delay | None = Field(
        None, description="One-way delay of packets from then on, ms"
    )
    loss_rate: Share | None = Field(
        None, description="Share of packets lost at random from then on"
    )

    @model_validator(mode="after")
    def _changes_something(self) -> Change:
        if (self.bottleneck_mbps, self.bottleneck_delay_ms, self.loss_rate) == (None, None, None):
            raise ValueError(
                "this has no effect: expected bottleneck_mbps, bottleneck_delay_ms or loss_rate"
            )
        return self


class Quantity(Strict):
    """A random quantity: its distribution, its mean and, for Pareto's, its shape."""

    distribution: Literal["constant", "exponential", "pareto", "paretoii"] = "constant"
    mean: Positive = Field(description="Mean, in the unit of the quantity")
    shape: Positive | None = Field(None, description="Shape of a Pareto distribution, above 1")


BackgroundKind = Literal["cbr", "exponential", "pareto", "web", "packmime", "tmix"]


class Background(Strict):
    """Background traffic; its kind determines the allowed keys."""

    kind: BackgroundKind = Field(description="What sends")
    count: SourceCount = Field(1, description="Number of such sources")
    direction: Direction = Field("forward", description="forward, as for most flows, or reverse")
    enters: Count = Field(1, description="First bottleneck of its path, counted from 1")
    leaves: Count | None = Field(None, description="Last bottleneck of its path")
    start_s: Time = Field(0.0, description="Start of the first such source, s")
    stagger_s: Time = Field(0.0, description="Delay between the starts of consecutive sources, s")
    start_within_s: Time = Field(
        0.0, description="It starts at a random time within this interval from there, s"
    )
    stop_s: Interval | None = Field(None, description="When it stops, s")
    access_mbps: Rate | None = Field(None, description="Rate of its access links, Mbit/s")
    access_delay_ms: Delay = Field(0.0, description="One-way delay of its access links, ms")
    rate_mbps: Rate | None = Field(None, description="Rate while it sends, Mbit/s")
    packet_bytes: PacketBytes | None = Field(
        None,
        description="Bytes of a packet, headers included; for web, packmime and tmix, data of a "
        "segment",
    )
    jitter: OnOff | None = Field(
        None, description="cbr: whether the times between packets vary by up to half of their mean"
    )
    burst_s: Interval | None = Field(None, description="Mean time of a burst, s")
    idle_s: Time | None = Field(None, description="Mean time between bursts, s")
    shape: Positive | None = Field(None, description="pareto: shape of the times, above 1")
    protocol: Key | Reference | None = Field(
        None,
        description="web, tmix: protocol of the connections; for tmix, that of the run if absent",
    )
    servers: Count | None = Field(None, description="web, packmime: servers")
    clients: Count | None = Field(None, description="web, packmime: clients")
    sessions: Count | None = Field(None, description="web: sessions of users")
    pages: Count | None = Field(None, description="web: pages of a session; endless if absent")
    server_mbps: Rate | list[Rate] | None = Field(
        None, description="web, packmime: rate of the servers' links, or [least, most], Mbit/s"
    )
    server_delay_ms: Delay | list[Delay] | None = Field(
        None, description="web, packmime: one-way delay of the servers' links, or [least, most], ms"
    )
    client_mbps: Rate | list[Rate] | None = Field(
        None, description="web, packmime: rate of the clients' links, or [least, most], Mbit/s"
    )
    client_delay_ms: Delay | list[Delay] | None = Field(
        None, description="web, packmime: one-way delay of the clients' links, or [least, most], ms"
    )
    page_pause_s: Quantity | None = Field(
        None, description="web, packmime: from a page to the next, s"
    )
    page_objects: Quantity | None = Field(None, description="web, packmime: objects of a page")
    object_pause_s: Quantity | None = Field(
        None, description="web, packmime: between two objects, s"
    )
    object_bytes: Quantity | None = Field(None, description="web: bytes of an object")
    record_pages: OnOff | None = Field(None, description="web: whether its pages are recorded")
    rate_per_s: PerSecond | None = Field(None, description="packmime: new connections per second")
    arrivals: Arrivals | None = Field(
        None, description="packmime: distribution of the times between new connections"
    )
    http_version: Number | None = Field(None, description="packmime: version of HTTP, 1.0 or 1.1")
    tcp: FullTcp | None = Field(
        None, description="packmime: TCP of the connections, reno if absent"
    )
    request_bytes: Quantity | None = Field(None, description="packmime, tmix: bytes of a request")
    response_bytes: Quantity | None = Field(None, description="packmime, tmix: bytes of a response")
    server_pause_s: Quantity | None = Field(
        None, description="packmime, tmix: from a request's last byte to the response, s"
    )
    persistent_share: Probability | None = Field(
        None, description="packmime: share of connections that are persistent"
    )
    single_share: Probability | None = Field(
        None, description="packmime: share of pages with one object, of connections with several"
    )
    connection_pages: Quantity | None = Field(
        None, description="packmime: pages of a persistent connection"
    )
    acceptor_delays_ms: list[Delay] | None = Field(
        None, min_length=1, description="tmix: one-way delay of each acceptor's link, ms"
    )
    initiator_delays_ms: list[Delay] | None = Field(
        None, min_length=1, description="tmix: one-way delay of each initiator's link, ms"
    )
    load: Positive | None = Field(
        None,
        description="tmix: what its connections offer, as a share of the rate of the narrowest "
        "bottleneck",
    )
    small_share: Probability | None = Field(
        None, description="tmix: share of the connections with smaller segments"
    )
    small_packet_bytes: PacketBytes | None = Field(
        None, description="tmix: data of their segments, bytes"
    )
    exchanges: Quantity | None = Field(
        None, description="tmix: requests of a connection, rounded up"
    )
    think_s: Quantity | None = Field(
        None, description="tmix: from a response's last byte to the next request, s"
    )
    bin_s: Interval | None = Field(
        None, description="tmix: length of the intervals of connections that are shuffled, s"
    )
    prefill_s: Interval | None = Field(
        None, description="tmix: long connections that start before are started just before, s"
    )
    prefill_within_s: Interval | None = Field(
        None, description="tmix: the interval in which these are started, s"
    )
    draw: Count | None = Field(
        None, description="tmix: sources with the same number have the same connections"
    )


COMMON_OF_BACKGROUND = (
    "kind", "count", "direction", "enters", "leaves", "start_s", "stagger_s", "start_within_s",
    "access_mbps", "access_delay_ms",
)  # fmt: skip
"""Keys of all kinds of background; the default of access_mbps is that of the run."""

PERSISTENT_KEYS = (
    "persistent_share", "single_share", "connection_pages", "page_objects", "page_pause_s",
    "object_pause_s",
)  # fmt: skip
"""Keys of packmime about persistent connections, which only HTTP 1.1 has."""

KEYS_OF_BACKGROUND: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "cbr": (("rate_mbps", "packet_bytes"), ("stop_s", "jitter")),
    "exponential": (("rate_mbps", "packet_bytes", "burst_s", "idle_s"), ("stop_s",)),
    "pareto": (("rate_mbps", "packet_bytes", "burst_s", "idle_s", "shape"), ("stop_s",)),
    "web": (
        (
            "servers", "clients", "sessions", "server_mbps", "server_delay_ms", "client_mbps",
            "client_delay_ms", "page_pause_s", "page_objects", "object_pause_s", "object_bytes",
            "protocol",
        ),
        ("pages", "packet_bytes", "record_pages"),
    ),
    "packmime": (
        (
            "rate_per_s", "servers", "clients", "server_mbps", "server_delay_ms", "client_mbps",
            "client_delay_ms",
        ),
        (
            "packet_bytes", "stop_s", "arrivals", "http_version", "tcp", "request_bytes",
            "response_bytes", "server_pause_s", *PERSISTENT_KEYS,
        ),
    ),
    "tmix": (
        (
            "acceptor_delays_ms", "initiator_delays_ms", "load", "exchanges", "request_bytes",
            "response_bytes", "server_pause_s", "think_s",
        ),
        (
            "protocol", "packet_bytes", "small_share", "small_packet_bytes", "bin_s", "prefill_s",
            "prefill_within_s", "draw",
        ),
    ),
}  # fmt: skip
"""Kind of background → the keys that it needs, and those that it may also have."""
