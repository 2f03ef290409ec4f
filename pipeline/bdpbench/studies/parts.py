"""Parts of ``study.yaml``: protocols, flows, bottlenecks, background traffic, changes, outputs.

A number of a flow, a bottleneck, background traffic or a change may be replaced by ``$name``, the
value of a parameter of the run, which can be swept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Discriminator, Field, GetCoreSchemaHandler, Tag, model_validator
from pydantic_core import CoreSchema

from bdpbench.contracts.yaml_files import (
    MOST_NAME,
    Key,
    Label,
    ParameterName,
    Strict,
    VariableName,
)
from bdpbench.units import (
    LEAST_MBPS,
    LEAST_POSITIVE,
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
    above: float | None = None
    below: float | None = None

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        finite = False if self.kind is float else None
        bounds = Field(
            ge=self.least, le=self.most, gt=self.above, lt=self.below, allow_inf_nan=finite
        )
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
Shape = Annotated[float | str, _Settable(float, above=1, most=MOST_NUMBER)]
Variable = Annotated[float | str, _Settable(float, -MOST_VARIABLE, MOST_VARIABLE)]
Count = Annotated[int | str, _Settable(int, 1, MOST_COUNT)]
SourceCount = Annotated[int | str, _Settable(int, 1, MOST_SOURCES)]
FlowCount = Annotated[int | str, _Settable(int, 1, MOST_FLOWS)]
PacketBytes = Annotated[int | str, _Settable(int, 1, MOST_PACKET_BYTES)]
LinuxValue = Annotated[int | str, _Settable(int, -MOST_VARIABLE, MOST_VARIABLE)]
OnOff = Annotated[str, _Settable(Literal["on", "off"])]
Direction = Annotated[str, _Settable(Literal["forward", "reverse"])]

Setting = Annotated[float, Field(ge=-MOST_VARIABLE, le=MOST_VARIABLE, allow_inf_nan=False)]
QueueName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$", max_length=MOST_NAME)]
ClassName = Annotated[str, Field(pattern=r"^[A-Z][A-Za-z0-9/]*$", max_length=MOST_NAME)]
LinuxName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=MOST_NAME)]

Word = Annotated[str, Field(pattern=r"^\$?[A-Za-z][A-Za-z0-9_/-]*$", max_length=MOST_NAME)]
Argument = Annotated[float, Field(allow_inf_nan=False)] | Word
Arguments = Annotated[
    dict[ParameterName, Argument | list[Argument]],
    Field(description="What only the script of the scenario's network: takes"),
]


class Protocol(Strict):
    """One congestion control variant, and how a script creates its agents."""

    label: Label = Field(description="Name in tables and plots, e.g. HS-TCP")
    colour: str = Field(pattern=r"^#[0-9a-fA-F]{6}$", description="Colour in every plot, #rrggbb")
    folder: str = Field("", description="Folder, from that of the study, which gives the rest")
    agent: ClassName = Field("TCP/Sack1", description="ns-2 agent class, without 'Agent/'")
    sink: ClassName = Field("TCPSink/Sack1", description="ns-2 sink class, without 'Agent/'")
    linux: LinuxName | None = Field(None, description="Module of Agent/TCP/Linux, e.g. cubic")
    linux_parameters: dict[LinuxName, LinuxValue] = Field(
        default_factory=dict,
        description="Its parameters, e.g. beta: 717, in scenarios without a script of their own",
    )
    settings: dict[VariableName, Setting] = Field(
        default_factory=dict,
        description="Variables of its agents in addition to the defaults, e.g. windowOption_: 8",
    )
    record: list[VariableName] = Field(
        default_factory=list,
        description="Further variables of the agent, written after cwnd into its cwnd file",
    )


class Traffic(Strict):
    """What flows and background traffic have; ``$name`` stands for a parameter of the run."""

    count: SourceCount = Field(1, description="How many there are")
    direction: Direction = "forward"
    enters: Count = Field(1, description="First bottleneck of its path, counted from 1")
    leaves: Count | None = Field(None, description="Last bottleneck; that of the chain if absent")
    start_s: Time = Field(0.0, description="Start of the first, s")
    stagger_s: Time = Field(0.0, description="From one start to the next, s")
    start_within_s: Time = Field(0.0, description="Largest random delay of its start, s")
    access_mbps: Rate | None = Field(None, description="Rate of its access links, Mbit/s")


class Flow(Traffic):
    """One kind of flow of a scenario; what is absent is that of the run."""

    count: FlowCount = Field(1, description="How many there are")
    protocol: Key | Reference | None = None
    access_delay_ms: Delay | None = Field(None, description="One way to the first router, ms")
    rtt_ms: Rtt | None = Field(None, description="RTT without queues, in place of that delay, ms")
    receiver_delay_ms: Delay | None = Field(None, description="One way to its receiver, ms")
    stop_s: Interval | None = Field(None, description="When it stops sending new data, s")
    size_pkts: Count | None = Field(
        None, description="Packets that it transfers; endless if absent"
    )
    group: Key | None = Field(None, description="Name of a group of flows, for metrics of groups")
    recorded: bool = Field(True, description="Whether cwnd and throughput are written over time")
    arguments: Arguments = Field(default_factory=dict)


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
        "facts",
    ]
    flow: Annotated[int, Field(ge=0)] | None = None
    link: Annotated[str, Field(max_length=MOST_NAME)] | None = None


class Bottleneck(Strict):
    """One bottleneck of a chain; the run's parameters give the rest."""

    bottleneck_mbps: Rate | None = Field(None, description="Rate, Mbit/s")
    bottleneck_delay_ms: Delay | None = Field(None, description="One-way delay, ms")
    buffer_pkts: Count | None = Field(None, description="Packets that its queue holds")
    queue: QueueName | Reference | None = Field(None, description="Its queue")
    arguments: Arguments = Field(default_factory=dict)


class Change(Strict):
    """A change of a bottleneck during a run."""

    at_s: Time = Field(description="When, s")
    bottleneck: Count = Field(1, description="Its number in the chain, counted from 1")
    bottleneck_mbps: Rate | None = Field(None, description="Rate from then on, Mbit/s")
    bottleneck_delay_ms: Delay | None = Field(None, description="One-way delay, ms")
    loss_rate: Share | None = Field(None, description="Share of packets lost at random")

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
    shape: Shape | None = Field(None, description="Shape of a Pareto distribution, above 1")

    @model_validator(mode="after")
    def _has_its_shape(self) -> Quantity:
        if self.distribution.startswith("pareto") is (self.shape is None):
            needs = "needs a shape above 1" if self.shape is None else "has no shape"
            raise ValueError(f"{self.distribution} {needs}")
        return self


# ---------------------------------------------------------------- background


class _Source(Traffic):
    access_delay_ms: Delay = Field(0.0, description="One-way delay of its access links, ms")


class _Udp(_Source):
    rate_mbps: Rate = Field(description="Rate while it sends, Mbit/s")
    packet_bytes: PacketBytes = Field(description="Bytes of a packet, headers included")
    stop_s: Interval | None = Field(None, description="When it stops, s")


class Cbr(_Udp):
    """UDP at a constant rate."""

    kind: Literal["cbr"]
    jitter: OnOff | None = Field(None, description="Whether times between packets vary by half")


class Exponential(_Udp):
    """UDP in bursts and pauses with exponential distributions."""

    kind: Literal["exponential"]
    burst_s: Interval = Field(description="Mean time of a burst, s")
    idle_s: Time = Field(description="Mean time between bursts, s")


class Web(_Source):
    """Sessions of web users, ns-2's PagePool/WebTraf."""

    kind: Literal["web"]
    packet_bytes: PacketBytes | None = Field(None, description="Data of a segment, bytes")
    servers: Count
    clients: Count
    server_mbps: Rate | list[Rate] = Field(description="Of their links, or [least, most], Mbit/s")
    server_delay_ms: Delay | list[Delay] = Field(description="One way, or [least, most], ms")
    client_mbps: Rate | list[Rate] = Field(description="Of their links, or [least, most], Mbit/s")
    client_delay_ms: Delay | list[Delay] = Field(description="One way, or [least, most], ms")
    protocol: Key | Reference = Field(description="Protocol of the connections")
    sessions: Count = Field(description="Sessions of users")
    pages: Count | None = Field(None, description="Pages of a session; endless if absent")
    page_pause_s: Quantity = Field(description="From a page to the next, s")
    page_objects: Quantity = Field(description="Objects of a page")
    object_pause_s: Quantity = Field(description="Between two objects, s")
    object_bytes: Quantity = Field(description="Bytes of an object")


class OwnSource(_Source):
    """Traffic of a kind that the script of the scenario's ``network:`` has.

    Of its arguments, ``protocol`` stands for those of a sender, and ``load``, a share of the rate
    of the narrowest bottleneck, for offered_mbps.
    """

    kind: Key
    arguments: Arguments


EXPECTED_KIND = "expected kind: cbr, exponential or web, or one of the script that network: names"


def _kind_of(value: object) -> str:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    is_own = isinstance(value, OwnSource) or (isinstance(value, dict) and "arguments" in value)
    return "[own]" if is_own else f"[{kind}]"


Background = Annotated[
    Annotated[Cbr, Tag("[cbr]")]
    | Annotated[Exponential, Tag("[exponential]")]
    | Annotated[Web, Tag("[web]")]
    | Annotated[OwnSource, Tag("[own]")],
    Discriminator(
        _kind_of,
        custom_error_type="kind",
        custom_error_message=EXPECTED_KIND,
    ),
]
"""Background traffic: what its kind has."""
