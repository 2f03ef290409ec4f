"""Receivers of multicast and broadcast packets, each counted separately."""

from __future__ import annotations

import types

import polars as pl

from bdpbench.metrics.packets.bins import Window
from bdpbench.metrics.packets.events import goes_to_group

_MOST_SENT = 200_000
_MOST_SEEN = 200_000
_PAIR = ("packet", "node")
_COUNTS = ("received_pkts", "received_bytes", "delays", "delay_sum_s")
_SCHEMA = types.MappingProxyType(
    {
        "stream": pl.Int64,
        "node": pl.Int32,
        "received_pkts": pl.Int64,
        "received_bytes": pl.Int64,
        "delays": pl.Int64,
        "delay_sum_s": pl.Float64,
        "delay_max_s": pl.Float64,
    }
)


class Receivers:
    """What arrived at each node of packets without a single destination node.

    A node at which a copy arrives is a receiver, whether it forwards the packet or not, since the
    lines of links do not show which nodes have joined a group. Each node counts a packet once. A
    delay is known if the sending is among the last 200,000 of such packets.

    Args:
        window: the time that is counted.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self._sent = pl.DataFrame(schema={"packet": pl.Int64, "sent_s": pl.Float64})
        self._seen = pl.DataFrame(schema={"packet": pl.Int64, "node": pl.Int32})
        self._known = pl.DataFrame(schema=_SCHEMA)

    def update(self, sends: pl.DataFrame, copies: pl.DataFrame) -> None:
        """Add a batch.

        Args:
            sends: all packets sent: packet (i64), time_s (f64, s), dst_node (i32).
            copies: packet, stream (i64), time_s, bytes (i64), node (i32), in the order of time.
        """
        begun = sends.filter(goes_to_group()).select("packet", sent_s="time_s")
        if begun.is_empty() and copies.is_empty():
            return
        sent = pl.concat([self._sent, begun]).unique("packet", keep="first", maintain_order=True)
        if not copies.is_empty():
            first = copies.unique(_PAIR, keep="first", maintain_order=True)
            fresh = first.join(self._seen, on=_PAIR, how="anti", maintain_order="left")
            self._seen = pl.concat([self._seen, fresh.select(_PAIR)]).tail(_MOST_SEEN)
            self._count(fresh.join(sent, on="packet", how="left", maintain_order="left"))
        self._sent = sent.tail(_MOST_SENT)

    def _count(self, copies: pl.DataFrame) -> None:
        delay = pl.col("time_s") - pl.col("sent_s")
        counted = (
            copies.filter(self._window.holds())
            .group_by("stream", "node")
            .agg(
                received_pkts=pl.len().cast(pl.Int64),
                received_bytes=pl.col("bytes").sum(),
                delays=delay.count().cast(pl.Int64),
                delay_sum_s=delay.sum(),
                delay_max_s=delay.max(),
            )
        )
        self._known = (
            pl.concat([self._known, counted])
            .group_by("stream", "node")
            .agg(pl.col(*_COUNTS).sum(), pl.col("delay_max_s").max())
        )

    def result(self) -> pl.DataFrame:
        """One row per stream and node, in order.

        Returns:
            stream (i64), node (i32), received_pkts, received_bytes, delays (i64), delay_sum_s,
            delay_max_s (f64, s).
        """
        return self._known.sort("stream", "node")
