"""How long a simulation will take, so that ``list`` and the progress can say so beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bdpbench.model.streams import is_traced

# CPU time of ns-2 for one data packet that crosses the dumbbell, and its ACK, in seconds.
# Fitted on single flows at 622 Mbit/s with the -O2 build; see tests/benchmarks.
SECONDS_PER_PACKET = 2.0e-6
TRACE_FACTOR = 4.0
STARTUP_S = 0.1
_HEADER_BYTES = 50


def estimate_cpu_s(parameters: Mapping[str, Any]) -> float:
    """Predicted CPU time of a run in seconds: packets that a full bottleneck carries, times cost.

    A run that leaves the bottleneck idle takes less; one with several flows a little more.
    """
    packet_bits = 8 * (parameters.get("packet_bytes", 1000) + _HEADER_BYTES)
    packets = parameters["bottleneck_mbps"] * 1e6 / packet_bits * parameters["duration_s"]
    factor = TRACE_FACTOR if is_traced(parameters) else 1.0
    return STARTUP_S + float(packets) * SECONDS_PER_PACKET * factor
