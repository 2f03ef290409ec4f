"""Metrics of packet traces: batches of trace lines in, sums and metrics out, in one pass."""

from __future__ import annotations

from bdpbench.metrics.packets.definitions import PACKET_DEFINITIONS, PacketMetric
from bdpbench.metrics.packets.rows import COLUMNS, Window
from bdpbench.metrics.packets.summary import measure_packets
from bdpbench.metrics.packets.sums import PacketMeter, sum_packets
from bdpbench.metrics.packets.totals import PacketSums

__all__ = [
    "COLUMNS",
    "PACKET_DEFINITIONS",
    "PacketMeter",
    "PacketMetric",
    "PacketSums",
    "Window",
    "measure_packets",
    "sum_packets",
]
