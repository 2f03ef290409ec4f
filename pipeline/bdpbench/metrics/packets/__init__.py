"""Metrics of packet traces: batches of trace lines in, sums and metrics out, in one pass."""

from __future__ import annotations

from bdpbench.metrics.packets.definitions import PACKET_DEFINITIONS, PacketMetric, extent_of
from bdpbench.metrics.packets.rows import COLUMNS, Extent, Window
from bdpbench.metrics.packets.summary import measure_packets, measure_received
from bdpbench.metrics.packets.sums import PacketMeter, sum_packets
from bdpbench.metrics.packets.totals import PacketSums

__all__ = [
    "COLUMNS",
    "PACKET_DEFINITIONS",
    "Extent",
    "PacketMeter",
    "PacketMetric",
    "PacketSums",
    "Window",
    "extent_of",
    "measure_packets",
    "measure_received",
    "sum_packets",
]
