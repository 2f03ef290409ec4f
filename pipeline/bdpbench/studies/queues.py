"""The queues that a bottleneck can have: their parameters, and how ns-2 gets them.

To add a kind, add a row to ``QUEUE_KINDS``: ns-2's class, and the parameters with the variables
that they set. Nothing else knows kinds by name, and ``tcl/lib/chain.tcl`` sets
all variables that it is given. Every variable that affects the drops of a kind is set, so that no
scenario depends on ns-2's defaults, which have often changed for RED.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from bdpbench.units import (
    LEAST_SAMPLE_S,
    MOST_COUNT,
    MOST_PACKET_BYTES,
    MOST_TIME_S,
    MOST_VARIABLE,
)

HEADER_BYTES = 40
"""Bytes of the headers that ns-2 adds to the payload of a TCP segment."""

Settings = Mapping[str, float]


@dataclass(frozen=True)
class QueueParameter:
    """A parameter of a kind of queue.

    Attributes:
        variable: the variable of ns-2's class.
        text: what it is, with its unit.
        default: its default value, or how that follows from the preceding parameters (including
            ``packet_bytes``, the size of a whole packet); None if it is required.
        least, most: smallest and largest value.
        also: values outside that range with a special meaning.
        above: whether values must be larger than ``least``.
        integer: whether values must be whole numbers.
        reciprocal: whether the variable is 1 over the value.
    """

    variable: str
    text: str
    default: float | Callable[[Settings], float] | None = None
    least: float = 0.0
    most: float = MOST_VARIABLE
    also: tuple[float, ...] = ()
    above: bool = False
    integer: bool = False
    reciprocal: bool = False

    def problem(self, value: float) -> str | None:
        """The error in a value; None if it is valid."""
        if value in self.also:
            return None
        if self.integer and not float(value).is_integer():
            return "expected a whole number"
        too_small = value <= self.least if self.above else value < self.least
        if too_small or value > self.most:
            besides = "".join(f", or {each:g}" for each in self.also)
            sign = "more than" if self.above else "at least"
            top = (
                f" and at most {self.most:.10g}"
                if value > self.most or self.most < MOST_COUNT
                else ""
            )
            return f"expected {sign} {self.least:g}{top}{besides}"
        return None


@dataclass(frozen=True)
class QueueKind:
    """A kind of queue.

    Attributes:
        ns2_class: ns-2's class without ``Queue/``.
        text: what it does.
        parameters: name → parameter; those from which defaults of others follow come first.
        spare: packets by which its limit is larger than what it holds.
        fixed: variables with a fixed value.
        ecn: the variable that makes it mark packets instead of dropping them; "" if it cannot.
        has_average: whether ns-2 reports its average and max_p, as for RED.
        rising: pairs of parameters, of which the second must be larger.
    """

    ns2_class: str
    text: str
    parameters: Mapping[str, QueueParameter]
    spare: int = 0
    fixed: Mapping[str, float] = field(default_factory=dict)
    ecn: str = ""
    has_average: bool = False
    rising: tuple[tuple[str, str], ...] = ()

    def variables(self, settings: Settings, packet_bytes: int, holds: int, marks: bool) -> Settings:
        """ns-2's variables for settings that have no problem; others have their defaults.

        ``packet_bytes`` is the size of a whole packet, including headers; ``holds`` is in packets.
        """
        values = {"packet_bytes": float(packet_bytes)}
        found: dict[str, float] = {}
        for name, parameter in self.parameters.items():
            default = parameter.default
            given = default(values) if callable(default) else default
            values[name] = settings.get(name, given or 0.0)
            value = values[name]
            found[parameter.variable] = 1 / value if parameter.reciprocal else value
        found |= {**self.fixed, "limit_": float(holds + self.spare)}
        return found | ({self.ecn: float(marks)} if self.ecn else {})


def _switch(variable: str, text: str, default: float) -> QueueParameter:
    return QueueParameter(variable, f"{text}: 1 yes, 0 no", default, most=1, integer=True)


def _time(variable: str, text: str, default: float) -> QueueParameter:
    return QueueParameter(variable, f"{text}, s", default, LEAST_SAMPLE_S, MOST_TIME_S)


def _share(variable: str, text: str, default: float) -> QueueParameter:
    return QueueParameter(variable, text, default, most=1, above=True)


def _packet(variable: str, text: str, most: int = MOST_PACKET_BYTES) -> QueueParameter:
    """Bytes, by default of a whole packet."""
    return QueueParameter(
        variable, f"{text}; a whole packet", operator.itemgetter("packet_bytes"), 1, most,
        integer=True,
    )  # fmt: skip


_RED = {
    "min_th_pkts": QueueParameter(
        "thresh_", "average queue from which on packets are dropped", above=True
    ),
    "max_th_pkts": QueueParameter(
        "maxthresh_",
        "average queue at which the share of drops is max_p; 3 min_th_pkts",
        lambda values: 3 * values["min_th_pkts"],
        above=True,
    ),
    "max_p": replace(
        _share("linterm_", "share of packets dropped at max_th_pkts", 0.1), reciprocal=True
    ),
    "weight": QueueParameter(
        "q_weight_",
        "weight of a new length in the average queue; 0: 1 - exp(-1/C), -1: 1 - exp(-1/(10 T C)), "
        "-2: 1 - exp(-10/C) with C the link's rate in mean packets per second and T the larger of "
        "0.1 s and 3 times the sum of delay and sending time",
        0.002,
        most=1,
        also=(-1.0, -2.0),
    ),
    "gentle": _switch(
        "gentle_", "whether the share of drops rises to 1 gradually, up to twice max_th_pkts", 1
    ),
    "wait": _switch("wait_", "whether drops are spaced apart", 1),
    "mark_below_p": QueueParameter(
        "mark_p_",
        "share up to which packets are marked; from it on they are dropped; 2: all are marked",
        0.1,
        0,
        1,
        also=(2.0,),
    ),
    "mean_packet_bytes": _packet(
        "mean_pktsize_", "bytes of a mean packet, used to convert bytes and packets"
    ),
    "counts_bytes": _switch(
        "queue_in_bytes_",
        "whether the queue is measured in bytes, with thresholds times mean packet",
        0,
    ),
    "drops_by_size": _switch(
        "bytes_", "whether larger packets are dropped more often, in proportion to their size", 0
    ),
}
_RED_FIXED = {
    "use_mark_p_": 1.0,
    "drop_tail_": 1.0,
    "drop_front_": 0.0,
    "drop_rand_": 0.0,
    "ns1_compat_": 0.0,
    "cautious_": 0.0,
    "feng_adaptive_": 0.0,
}
_ADAPTIVE = {
    "alpha": QueueParameter("alpha_", "largest step of an increase of max_p", 0.01, above=True),
    "beta": _share("beta_", "factor of a decrease of max_p", 0.9),
    "interval_s": _time("interval_", "shortest time between changes of max_p", 0.5),
    "top_p": _share("top_", "largest max_p", 0.5),
    "bottom_p": QueueParameter(
        "bottom_", "smallest max_p; 0: the smaller of 0.01 and 80,000 over the rate in bit/s", 0.01
    ),
}

_CODEL = {
    "target_s": _time("target_", "waiting time that it accepts", 0.005),
    "interval_s": _time("interval_", "how long that may be exceeded", 0.1),
    "packet_bytes": _packet("packet_bytes_", "largest packet, bytes: so short a queue never drops"),
}


def _red(
    text: str,
    more: Mapping[str, QueueParameter] = types.MappingProxyType({}),
    ns2_class: str = "RED",
    adaptive: float = 0.0,
) -> QueueKind:
    """RED or, with more parameters, one of the kinds that adapt it."""
    own = {"weight": replace(_RED["weight"], default=0.0), **more} if more else {}
    limits = (("bottom_p", "top_p"),) if "bottom_p" in more else ()
    return QueueKind(
        ns2_class,
        text,
        {**_RED, **own},
        fixed={**_RED_FIXED, "adaptive_": adaptive},
        ecn="setbit_",
        has_average=True,
        rising=(("min_th_pkts", "max_th_pkts"), *limits),
    )


QUEUE_KINDS: Mapping[str, QueueKind] = types.MappingProxyType(
    {
        "DropTail": QueueKind(
            "DropTail",
            "drops arriving packets when it is full",
            {
                "drop_front": _switch(
                    "drop_front_", "whether the first packet is dropped instead", 0
                )
            },
            spare=1,  # ns-2 drops if length + 1 >= limit_
            fixed={"queue_in_bytes_": 0.0},
        ),
        "RED": _red(
            "drops or marks at random, with a probability that rises with its average length"
        ),
        "ARED": _red(
            "RED that adapts max_p, so that the average stays halfway between the thresholds",
            _ADAPTIVE,
            adaptive=1.0,
        ),
        "gARED": _red(
            "RED that adapts max_p only while the average moves away from its target",
            {
                **{name: each for name, each in _ADAPTIVE.items() if name != "bottom_p"},
                "clock": _switch(
                    "gared_clock_",
                    "whether max_p is checked every interval_s instead of at the first arrival "
                    "that finds a reason later than interval_s after its last change",
                    1,
                ),
            },
            "RED/Gared",
        ),
        "CoDel": QueueKind(
            "CoDel",
            "drops or marks departing packets, ever more often, once all have waited longer than "
            "its target for an interval (RFC 8289)",
            _CODEL,
            ecn="setbit_",
        ),
        "FqCoDel": QueueKind(
            "FqCoDel",
            "serves flows in turn by bytes, new ones first, each through its own CoDel; drops "
            "from the longest queue (RFC 8290)",
            {
                **_CODEL,
                "quantum_bytes": _packet(
                    "quantum_", "bytes that a flow may send per turn", MOST_COUNT
                ),
            },
            ecn="setbit_",
        ),
        "PIE": QueueKind(
            "PIE",
            "drops or marks arriving packets with a probability that follows the queueing delay "
            "and its change (RFC 8033)",
            {
                "target_s": _time("target_", "queueing delay that it aims at", 0.015),
                "update_s": _time("update_", "time between updates of the probability", 0.015),
                "burst_s": QueueParameter(
                    "burst_", "how long a burst may last that it lets pass, s", 0.15, 0, MOST_TIME_S
                ),
                "alpha_hz": QueueParameter(
                    "alpha_", "weight of the distance from the target, 1/s", 0.125
                ),
                "beta_hz": QueueParameter("beta_", "weight of the delay's change, 1/s", 1.25),
                "packet_bytes": _packet(
                    "packet_bytes_", "mean packet, bytes: a queue of two never drops"
                ),
                "mark_below_p": QueueParameter(
                    "mark_share_",
                    "probability up to which packets are marked; above it they are dropped",
                    0.1,
                    0,
                    1,
                ),
            },
            ecn="setbit_",
        ),
    }
)
"""Kind of queue → its description. To add a kind, add a row."""
