"""Defaults of parameters of ``tcl/network.tcl`` that a scenario does not set."""

from __future__ import annotations

from bdpbench.contracts.plan import Parameters

NETWORK_DEFAULTS: Parameters = {
    "sample_s": 0.1,
    "queue": "DropTail",
    "substream": 1,
    "receiver_delay_ms": 0.0,
    "packet_bytes": 1000,
    "loss_rate": 0.0,
}
"""Parameter → value. The default of queue_sample_s is the value of sample_s."""
