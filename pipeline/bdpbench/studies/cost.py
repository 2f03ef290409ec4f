"""How long a simulation will take, so that ``list`` and the progress can say so beforehand.

The CPU time of ns-2 is that of the packets which the bottleneck carries, of the lines of a packet
trace, and of the samples that Tcl takes of the flows. The constants are fitted on finished runs by
``tests/benchmarks/cost_model.py``, which prints them anew; a machine that is slower or faster than
the one they were fitted on has a factor of its own (``bdpbench.app.run.machine``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bdpbench.studies.streams import is_traced

_HEADER_BYTES = 50
_PROTOCOLS = ("protocol", "protocol_1", "protocol_2")
# Sampling interval of the scripts with one flow, s.
_SAMPLE_S = 0.01
# A queue tells of a packet three times (+, -, r), and of its ACK on the way back.
_LINES_PER_PACKET = 6
# Packets by which cwnd grows a round trip while a flow fills the path: the BDP over the time to
# 90 % of it, in round trips, of sharma2006's single flows. Limited slow start (RFC 3742) with the
# max_ssthresh of 100 packets that the studies set adds half of that; other laws add to it.
_FILLING = {"fast": 167, "bic": 82, "htcp": 63, "cubic": 29}
_FILLING_OTHERS = 50
# Buffer, as a share of the BDP, at which a flow that is alone uses half of the bottleneck.
_HALF_USE = {"htcp": 0.0099, "scalable": 0.0055}
_HALF_USE_OTHERS = 0.0018
# TCPs that halve cwnd and add a packet a round trip use three quarters of a path without a buffer,
# and all of it where the buffer holds the BDP.
_HALVING = {"tahoe", "reno", "newreno", "sack"}
# FAST wants alpha packets in the queue. In a short buffer that holds fewer it loses packets every
# round trip and uses next to nothing.
_STARVED_USE = 0.06
_STARVED_BUFFER = 0.1  # of the BDP


@dataclass(frozen=True)
class Costs:
    """What ns-2 takes on the reference machine, all in s of CPU time.

    Attributes:
        startup_s: reading its library and the script.
        packet_s: one packet over the three links of a dumbbell, and its ACK back.
        line_s: one line of a packet trace.
        sample_s: what the scripts record of one flow at one sampling time.
    """

    startup_s: float
    packet_s: float
    line_s: float
    sample_s: float


COSTS = {
    "fast": Costs(startup_s=0.05, packet_s=8.98e-07, line_s=3.37e-07, sample_s=3.86e-05),
    "stock": Costs(startup_s=0.05, packet_s=1.86e-06, line_s=3.89e-06, sample_s=3.86e-05),
}


@dataclass(frozen=True)
class Work:
    """What a run makes ns-2 do: packets over the bottleneck, trace lines, samples of flows."""

    packets: float
    lines: float
    samples: float

    def cpu_s(self, costs: Costs) -> float:
        """CPU time, s."""
        return (
            costs.startup_s
            + self.packets * costs.packet_s
            + self.lines * costs.line_s
            + self.samples * costs.sample_s
        )


def estimate_cpu_s(parameters: Mapping[str, Any], variant: str = "fast") -> float:
    """Predicted CPU time of a run on the reference machine, s; ``variant`` is "fast" or "stock"."""
    return expected_work(parameters).cpu_s(COSTS[variant])


def expected_work(parameters: Mapping[str, Any]) -> Work:
    """What a run of these parameters makes ns-2 do."""
    duration_s = float(parameters["duration_s"])
    packet_bits = 8 * (parameters.get("packet_bytes", 1000) + _HEADER_BYTES)
    capacity = parameters["bottleneck_mbps"] * 1e6 / packet_bits * duration_s
    packets = capacity * utilization(parameters) * _filled_share(parameters, duration_s)
    return Work(
        packets=packets,
        lines=packets * _LINES_PER_PACKET if is_traced(parameters) else 0.0,
        samples=duration_s / parameters.get("sample_s", _SAMPLE_S) * _flow_count(parameters),
    )


def _flow_count(parameters: Mapping[str, Any]) -> int:
    """Flows that the scripts record."""
    two = not {"protocol_2", "rtt_2_ms"}.isdisjoint(parameters)
    return int(parameters.get("flows", 2 if two else 1))


def utilization(parameters: Mapping[str, Any]) -> float:
    """Share of the bottleneck, 0 … 1, that its flows use once they have filled it.

    Several protocols use the geometric mean of what each would use alone.
    """
    names = _protocols(parameters)
    if not names or "bdp_pkts" not in parameters or "buffer_pkts" not in parameters:
        return 1.0
    return float(math.prod(_use_alone(name, parameters) for name in names) ** (1 / len(names)))


def _protocols(parameters: Mapping[str, Any]) -> list[str]:
    """Protocols of the flows, as the tables above write them."""
    names = [parameters[each] for each in _PROTOCOLS if each in parameters]
    return [name.replace("-", "").lower() for name in names]


def _use_alone(name: str, parameters: Mapping[str, Any]) -> float:
    buffer_share = float(parameters["buffer_pkts"] / parameters["bdp_pkts"])
    if name == "fast":
        holds_alpha = parameters["buffer_pkts"] >= parameters.get("fast_alpha_pkts", 0)
        return 1.0 if holds_alpha or buffer_share >= _STARVED_BUFFER else _STARVED_USE
    if name in _HALVING:
        return min(1.0, 0.75 + 0.25 * buffer_share)
    return 1.0 / (1.0 + (_HALF_USE.get(name, _HALF_USE_OTHERS) / buffer_share) ** 2)


def _filled_share(parameters: Mapping[str, Any], duration_s: float) -> float:
    """Share of the capacity that is left by the time in which the flows fill the path."""
    if "rtt_ms" not in parameters or "bdp_pkts" not in parameters:
        return 1.0
    speeds = [_FILLING.get(name, _FILLING_OTHERS) for name in _protocols(parameters)]
    round_trips = parameters["bdp_pkts"] / max(speeds, default=_FILLING_OTHERS)
    filling_s = round_trips * parameters["rtt_ms"] / 1000
    if duration_s < filling_s:
        return float(duration_s / (2 * filling_s))
    return float(1 - filling_s / (2 * duration_s))
