"""Parts of a scenario that ``tcl/network.tcl`` simulates, as written in ``study.yaml``.

These are queues, the bottlenecks of a chain, background traffic and changes over time. Every number
may be replaced by ``$name``, the value of a parameter of the run, which can be swept.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag, WithJsonSchema, model_validator

from bdpbench.studies.limits import (
    LEAST_MBPS,
    LEAST_POSITIVE,
    LEAST_SAMPLE_S,
    MOST_COUNT,
    MOST_DELAY_MS,
    MOST_FLOWS,
    MOST_MBPS,
    MOST_NAME,
    MOST_NUMBER,
    MOST_PACKET_BYTES,
    MOST_SOURCES,
    MOST_TIME_S,
    MOST_VARIABLE,
)
from bdpbench.studies.queues import QUEUE_KINDS
from bdpbench.studies.vocabulary import Key, Label, Strict

Reference = Annotated[str, Field(pattern=r"^\$[a-z][a-z0-9_]*$")]
"""``$name``: the value of a parameter of the run."""


_VALUE, _REFERENCE = Tag("[value]"), Tag("[reference]")


def _tag_of(value: object) -> str:
    """Which of the two types a value is meant to be, so that errors mention only that one."""
    return "[reference]" if isinstance(value, str) and value.startswith("$") else "[value]"


_EITHER = Discriminator(_tag_of)

Number = Annotated[
    Annotated[float, Field(ge=-MOST_NUMBER, le=MOST_NUMBER, allow_inf_nan=False), _VALUE]
    | Annotated[Reference, _REFERENCE],
    _EITHER,
]
Rate = Annotated[
    Annotated[float, Field(ge=LEAST_MBPS, le=MOST_MBPS, allow_inf_nan=False), _VALUE]
    | Annotated[Reference, _REFERENCE],
    _EITHER,
]
Delay = Annotated[
    Annotated[float, Field(ge=0, le=MOST_DELAY_MS, allow_inf_nan=False), _VALUE]
    | Annotated[Reference, _REFERENCE],
    _EITHER,
]
Rtt = Annotated[
    Annotated[float, Field(ge=LEAST_POSITIVE, le=6 * MOST_DELAY_MS, allow_inf_nan=False), _VALUE]
    | Annotated[Reference, _REFERENCE],
    _EITHER,
]
Time = Annotated[
    Annotated[float, Field(ge=0, le=MOST_TIME_S, allow_inf_nan=False), _VALUE]
    | Annotated[Reference, _REFERENCE],
    _EITHER,
]
Interval = Annotated[
    Annotated[float, Field(ge=LEAST_POSITIVE, le=MOST_TIME_S, allow_inf_nan=False), _VALUE]
    | Annotated[Reference, _REFERENCE],
    _EITHER,
]
Share = Annotated[
    Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False), _VALUE]
    | Annotated[Reference, _REFERENCE],
    _EITHER,
]
Positive = Annotated[
    Annotated[float, Field(ge=LEAST_POSITIVE, le=MOST_NUMBER, allow_inf_nan=False), _VALUE]
    | Annotated[Reference, _REFERENCE],
    _EITHER,
]
Count = Annotated[
    Annotated[int, Field(ge=1, le=MOST_COUNT), _VALUE] | Annotated[Reference, _REFERENCE], _EITHER
]
SourceCount = Annotated[
    Annotated[int, Field(ge=1, le=MOST_SOURCES), _VALUE] | Annotated[Reference, _REFERENCE],
    _EITHER,
]
FlowCount = Annotated[
    Annotated[int, Field(ge=1, le=MOST_FLOWS), _VALUE] | Annotated[Reference, _REFERENCE], _EITHER
]
Variable = Annotated[
    Annotated[float, Field(ge=-MOST_VARIABLE, le=MOST_VARIABLE, allow_inf_nan=False), _VALUE]
    | Annotated[Reference, _REFERENCE],
    _EITHER,
]
PacketBytes = Annotated[
    Annotated[int, Field(ge=1, le=MOST_PACKET_BYTES), _VALUE] | Annotated[Reference, _REFERENCE],
    _EITHER,
]
LinuxValue = Annotated[
    Annotated[int, Field(ge=-MOST_VARIABLE, le=MOST_VARIABLE), _VALUE]
    | Annotated[Reference, _REFERENCE],
    _EITHER,
]
OnOff = Annotated[
    Annotated[Literal["on", "off"], _VALUE] | Annotated[Reference, _REFERENCE], _EITHER
]
Direction = Annotated[
    Annotated[Literal["forward", "reverse"], _VALUE] | Annotated[Reference, _REFERENCE], _EITHER
]

QueueName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$", max_length=MOST_NAME)]
ParameterOfQueue = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=MOST_NAME)]

_SETTINGS = {
    name: {"type": ["number", "string"], "description": parameter.text}
    for kind in QUEUE_KINDS.values()
    for name, parameter in kind.parameters.items()
}


class QueueDeclaration(Strict):
    """A queue of a bottleneck: its kind, and settings that differ from the kind's defaults."""

    kind: Annotated[str, WithJsonSchema({"type": "string", "enum": list(QUEUE_KINDS)})] = Field(
        description="Kind of queue"
    )
    label: Label = Field("", description="Name in tables and plots; its key if absent")
    settings: Annotated[
        dict[ParameterOfQueue, Number],
        WithJsonSchema({"type": "object", "properties": _SETTINGS, "additionalProperties": False}),
    ] = Field(default_factory=dict, description="Parameter of its kind → value")


class Bottleneck(Strict):
    """One bottleneck of a chain; the run's parameters give the rest."""

    bottleneck_mbps: Rate | None = Field(None, description="Rate, Mbit/s")
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


Probability = Annotated[
    Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), _VALUE]
    | Annotated[Reference, _REFERENCE],
    _EITHER,
]
PerSecond = Annotated[
    Annotated[float, Field(ge=LEAST_POSITIVE, le=1 / LEAST_SAMPLE_S, allow_inf_nan=False), _VALUE]
    | Annotated[Reference, _REFERENCE],
    _EITHER,
]
Arrivals = Annotated[
    Annotated[Literal["packmime", "exponential", "constant"], _VALUE]
    | Annotated[Reference, _REFERENCE],
    _EITHER,
]
FullTcp = Annotated[
    Annotated[Literal["reno", "tahoe", "newreno", "sack"], _VALUE]
    | Annotated[Reference, _REFERENCE],
    _EITHER,
]

BackgroundKind = Literal["cbr", "exponential", "pareto", "web", "packmime"]


class Background(Strict):
    """Background traffic; its kind determines the allowed keys."""

    kind: BackgroundKind = Field(description="What sends")
    count: SourceCount = Field(1, description="Number of such sources")
    direction: Direction = Field("forward", description="forward, as for most flows, or reverse")
    enters: Count = Field(1, description="First bottleneck of its path, counted from 1")
    leaves: Count | None = Field(None, description="Last bottleneck of its path")
    start_s: Time = Field(0.0, description="Start, s")
    start_within_s: Time = Field(
        0.0, description="It starts at a random time within this interval from there, s"
    )
    stop_s: Interval | None = Field(None, description="When it stops, s")
    access_mbps: Rate | None = Field(None, description="Rate of its access links, Mbit/s")
    access_delay_ms: Delay = Field(0.0, description="One-way delay of its access links, ms")
    rate_mbps: Rate | None = Field(None, description="Rate while it sends, Mbit/s")
    packet_bytes: PacketBytes | None = Field(
        None,
        description="Bytes of a packet, headers included; for web and packmime, data of a segment",
    )
    jitter: OnOff | None = Field(
        None, description="cbr: whether the times between packets vary by up to half of their mean"
    )
    burst_s: Interval | None = Field(None, description="Mean time of a burst, s")
    idle_s: Time | None = Field(None, description="Mean time between bursts, s")
    shape: Positive | None = Field(None, description="pareto: shape of the times, above 1")
    protocol: Key | Reference | None = Field(None, description="web: protocol of the connections")
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
    request_bytes: Quantity | None = Field(None, description="packmime: bytes of a request")
    response_bytes: Quantity | None = Field(None, description="packmime: bytes of a response")
    server_pause_s: Quantity | None = Field(
        None, description="packmime: from a request's last byte to the response, s"
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


COMMON_OF_BACKGROUND = (
    "kind", "count", "direction", "enters", "leaves", "start_s", "start_within_s",
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
}  # fmt: skip
"""Kind of background → the keys that it needs, and those that it may also have."""
