"""The vocabulary of a study: what a parameter is, and the parameters that all studies share.

A parameter is declared with its unit, its range and the way in which ns-2 gets it, in the table
below or under ``parameters:`` of a ``study.yaml``. Nothing else may occur in a block of parameters,
and a parameter that does not reach ns-2 is refused when the runs are planned
(``bdpbench.studies.values``).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from bdpbench.contracts.plan import Parameters, Scalar
from bdpbench.contracts.yaml_files import Key, Label, Strict, VariableName
from bdpbench.units import (
    LEAST_MBPS,
    LEAST_SAMPLE_S,
    MOST_COUNT,
    MOST_DELAY_MS,
    MOST_FLOWS,
    MOST_MBPS,
    MOST_NUMBER,
    MOST_PACKET_BYTES,
    MOST_SUBSTREAM,
    MOST_TIME_S,
)

NS2, NS3 = "ns2", "ns3"
"""Values of the parameter ``engine``: the simulator of a run."""

PROTOCOL_PARAMETERS = ("protocol", "protocol_1", "protocol_2")
"""Parameters whose value is the key of a protocol."""

REPETITION = "substream"
"""Parameter that distinguishes repetitions: the substream of random numbers."""

Bound = Annotated[float, Field(allow_inf_nan=False)]

_BOUNDS = (
    ("minimum", operator.lt, "at least"),
    ("above", operator.le, "a number greater than"),
    ("maximum", operator.gt, "at most"),
    ("below", operator.ge, "a number less than"),
)


class ParameterDeclaration(Strict):
    """What a parameter is, and how ns-2 gets it: as an argument unless stated otherwise."""

    description: str = Field(description="What it is, in a sentence for the report")
    unit: Label = Field(
        "", description="Unit, e.g. packets; if absent, the unit at the end of the name"
    )
    label: Label = Field(
        "",
        description='Name of a run in a sweep, with {} for the value: alpha {} packets; "": none',
    )
    type: Literal["number", "integer", "word", "protocol", "queue"] = Field(
        "number", description="Type of its values; for a protocol or a queue, its key"
    )
    minimum: Bound | None = Field(None, description="Smallest value")
    above: Bound | None = Field(None, description="Values are larger than this")
    maximum: Bound | None = Field(None, description="Largest value")
    below: Bound | None = Field(None, description="Values are smaller than this")
    choices: list[Label] = Field(default_factory=list, description="The allowed words")
    sets: dict[Key, list[VariableName]] = Field(
        default_factory=dict,
        description="Protocol → variables of its agents that are set to the value",
    )
    nominal: str = Field(
        "", description="Why ns-2 does not get it: only metrics and labels read it, because …"
    )

    @model_validator(mode="after")
    def _consistent(self) -> ParameterDeclaration:
        if self.sets and self.nominal:
            raise ValueError("a parameter that sets variables is not nominal: remove one of them")
        if self.choices and self.type != "word":
            raise ValueError("choices are those of a parameter of type word")
        if self.label and self.label.count("{}") != 1:
            raise ValueError("label: expected {} once, in place of the value")
        return self

    def problem(self, value: object) -> str | None:
        """The error in a value; None if it is valid."""
        if self.type in ("word", "protocol", "queue"):
            if not isinstance(value, str):
                return "expected a word"
            unknown = self.choices and value not in self.choices
            return f"expected one of {', '.join(self.choices)}" if unknown else None
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            return "expected a number"
        if isinstance(value, float) and not math.isfinite(value):
            return "expected a finite number"
        largest = MOST_COUNT if self.type == "integer" else MOST_NUMBER
        if abs(value) > largest:
            return f"expected a number of at most {largest:g}, with either sign"
        if self.type == "integer" and not float(value).is_integer():
            return "expected a whole number"
        for name, is_outside, expected in _BOUNDS:
            bound = getattr(self, name)
            if bound is not None and is_outside(value, bound):
                return f"expected {expected} {bound:g}"
        return None

    def plain(self, value: Scalar) -> Scalar:
        """A value without problems, as int, float or str, whatever type YAML gave it."""
        if isinstance(value, str):
            return str(value)
        return int(value) if self.type == "integer" else float(value)


def is_traced(parameters: Parameters) -> bool:
    """Whether the script of a run writes a packet trace, to a file or a pipe."""
    return parameters.get("trace") in ("packets", "stream")


_RTT = "it is the sum of the delays of the path, rounded as the study names it"
_KINDS: Mapping[str, dict[str, Any]] = {
    "rate": {"minimum": LEAST_MBPS, "maximum": MOST_MBPS},
    "delay": {"minimum": 0.0, "maximum": MOST_DELAY_MS},
    "rtt": {"above": 0.0, "maximum": 6 * MOST_DELAY_MS, "nominal": _RTT},
    "time": {"minimum": 0.0, "maximum": MOST_TIME_S},
    "interval": {"minimum": LEAST_SAMPLE_S, "maximum": MOST_TIME_S},
    "count": {"type": "integer", "minimum": 1.0, "maximum": MOST_COUNT},
    "switch": {"type": "word", "choices": ["off", "on"]},
    "packet": {"type": "integer", "minimum": 1.0, "maximum": MOST_PACKET_BYTES},
    "flows": {"type": "integer", "minimum": 1.0, "maximum": MOST_FLOWS},
    "substream": {"type": "integer", "minimum": 1.0, "maximum": MOST_SUBSTREAM},
    "buffer": {"above": 0.0, "maximum": MOST_DELAY_MS},
    "bdp": {"above": 0.0, "unit": "BDP"},
    "share": {"minimum": 0.0, "below": 1.0},
    "engine": {"type": "word", "choices": [NS2, NS3]},
    "trace": {"type": "word", "choices": ["none", "packets", "stream"]},
    "protocol": {"type": "protocol"},
}
_COMMON: Mapping[str, tuple[str | dict[str, Any], str, str]] = {
    "protocol": ("protocol", "Protocol of every flow that does not name one", ""),
    "protocol_1": ("protocol", "Protocol of the flow that starts first", ""),
    "protocol_2": ("protocol", "Protocol of the second flow", ""),
    "flow2_start_s": ("time", "Start of the second flow, s", "second flow at {} s"),
    "bottleneck_mbps": ("rate", "Bottleneck rate, Mbit/s", "{} Mbit/s"),
    "bottleneck_delay_ms": (
        "delay",
        "One-way propagation delay of the bottleneck, ms",
        "bottleneck delay {} ms",
    ),
    "access_mbps": ("rate", "Rate of the access links, Mbit/s", "access {} Mbit/s"),
    "access_delay_ms": ("delay", "One way to the first router, ms", "access delay {} ms"),
    "access_delay_1_ms": ("delay", "access_delay_ms of the first flow, ms", ""),
    "access_delay_2_ms": ("delay", "access_delay_ms of the second flow, ms", ""),
    "receiver_delay_ms": ("delay", "One way to a receiver, ms", "receiver delay {} ms"),
    "rtt_ms": ("rtt", "Nominal RTT, ms, from which absent delays follow", "RTT {} ms"),
    "rtt_1_ms": ("rtt", "Nominal RTT of the first flow, ms", ""),
    "rtt_2_ms": ("rtt", "Nominal RTT of the second flow, ms", ""),
    "buffer_pkts": ("count", "What the queue of the bottleneck holds", "buffer {} packets"),
    "packet_bytes": ("packet", "TCP payload of a segment, bytes", "segments of {} bytes"),
    "buffer_ms": ("buffer", "Time in which a full queue drains, ms", "buffer {} ms"),
    "buffer_bdp": ("bdp", "Queue of the bottleneck as a share of the BDP", "buffer {} BDP"),
    "access_buffer_pkts": ("count", "The same of access links", "access buffer {} packets"),
    "queue": ({"type": "queue"}, "Queue of the bottleneck", "{}"),
    "ecn": ("switch", "Whether senders, receivers and queues use ECN", "ECN {}"),
    "delayed_acks": ("switch", "Whether receivers delay ACKs", "delayed ACKs {}"),
    "loss_rate": ("share", "Share of packets that the bottleneck loses at random", "loss {}"),
    "loss_burst_pkts": (
        {"above": 1.0},
        "Mean number of consecutive packets that the bottleneck loses",
        "lost in bursts of {} packets",
    ),
    "drop_packet": ("count", "Number of the packet that is dropped", "packet {} dropped"),
    "flows": ("flows", "Number of flows", "{} flows"),
    "sample_s": ("interval", "Sampling interval of cwnd, s", "a sample every {} s"),
    "queue_sample_s": ("interval", "Sampling interval of the queue, s", ""),
    "substream": ("substream", "Substream of ns-2's random number generator", "repetition {}"),
    "engine": ("engine", "Simulator of the run: ns-2.35 or ns-3.37", "engine {}"),
    "trace": ("trace", "Packet trace of the bottleneck: kept, or reduced while ns-2 runs", ""),
}
COMMON: Mapping[str, ParameterDeclaration] = {
    name: ParameterDeclaration(
        description=description,
        label=label,
        **(_KINDS[kind] if isinstance(kind, str) else kind),
    )
    for name, (kind, description, label) in _COMMON.items()
}
"""The parameters that every study may use; units of their values as their names say."""

NETWORK_DEFAULTS: Parameters = {
    "sample_s": 0.1,
    "queue": "DropTail",
    "substream": 1,
    "receiver_delay_ms": 0.0,
    "packet_bytes": 1000,
    "loss_rate": 0.0,
}
"""Parameter → its value in scenarios without a script of their own that do not set it.

The default of queue_sample_s is the value of sample_s.
"""
