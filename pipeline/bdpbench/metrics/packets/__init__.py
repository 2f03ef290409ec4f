"""Metrics of packet traces: batches of trace lines in, sums and metrics out, in one pass."""

from __future__ import annotations

from bdpbench.metrics.packets.definitions import MEASURED_AT_ENDS, PACKET_DEFINITIONS
from bdpbench.metrics.packets.rows import COLUMNS, Window
from bdpbench.metrics.packets.summary import measure_packets
from bdpbench.metrics.packets.sums import PacketMeter, sum_packets
from bdpbench.metrics.packets.totals import PacketSums

__all__ = [
    "COLUMNS",
    "MEASURED_AT_ENDS",
    "PACKET_DEFINITIONS",
    "PacketMeter",
    "PacketSums",
    "Window",
    "measure_packets",
    "sum_packets",
]
