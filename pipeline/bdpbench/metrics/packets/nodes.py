"""What nodes sent, received, forwarded and dropped, and their remaining energy."""

from __future__ import annotations

import types

import polars as pl

from bdpbench.metrics.packets.bins import BinnedSums, Window
from bdpbench.metrics.packets.events import (
    ROUTER_LAYER,
    ROUTING_TYPES,
    WIRELESS_FORWARDED,
    WIRELESS_SENT,
)

COUNTED = ("sent", "received", "forwarded", "dropped")
"""What can happen to packets at a layer of a node."""

NODE_COUNTS = tuple(f"{what}_{unit}" for what in COUNTED for unit in ("pkts", "bytes"))
"""Columns of the counts of a node."""

ON_A_LINK = "link"
"""The layer of wired nodes."""

NODES = types.MappingProxyType(
    {"node": pl.Int32, "layer": pl.String, **dict.fromkeys(NODE_COUNTS, pl.Int64)}
)
"""Columns of what nodes did."""

_EVENTS = types.MappingProxyType(
    {
        "sent": WIRELESS_SENT,
        "received": ("r",),
        "forwarded": WIRELESS_FORWARDED,
        "dropped": ("D", "d"),
    }
)
_LEVELS = types.MappingProxyType(
    {
        "node": pl.Int32,
        "first_j": pl.Float64,
        "last_j": pl.Float64,
    }
)


class WirelessNodes:
    """Lines of wireless nodes, counted by node and layer, and packets of routing protocols.

    Args:
        window: the time that is counted.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self._known = pl.DataFrame(schema=NODES)
        self.routing_pkts = 0
        """Packets of routing that a router sent or forwarded."""
        self.routing_bytes = 0
        self.has_routers = False
        """Whether lines of routers (RTR) were there to be counted."""

    def update(self, lines: pl.DataFrame | None) -> None:
        """Add lines of wireless nodes: time_s, event, node, layer, type, bytes."""
        if lines is None:
            return
        own = lines.filter(self._window.holds())
        size = pl.col("bytes").cast(pl.Int64)
        counts = []
        for what, events in _EVENTS.items():
            is_such = pl.col("event").is_in(events)
            counts.append(is_such.sum().cast(pl.Int64).alias(f"{what}_pkts"))
            counts.append(size.filter(is_such).sum().alias(f"{what}_bytes"))
        found = own.group_by("node", pl.col("layer").cast(pl.String)).agg(counts)
        parts = pl.concat([self._known, found.select(NODES.keys())])
        self._known = parts.group_by("node", "layer").agg(pl.col(*NODE_COUNTS).sum())
        self._add_routing(own)

    def _add_routing(self, lines: pl.DataFrame) -> None:
        of_router = lines.filter(pl.col("layer") == ROUTER_LAYER)
        self.has_routers = self.has_routers or not of_router.is_empty()
        sent = of_router.filter(
            pl.col("event").is_in((*WIRELESS_SENT, *WIRELESS_FORWARDED))
            & pl.col("type").cast(pl.String).is_in(ROUTING_TYPES)
        )
        self.routing_pkts += sent.height
        self.routing_bytes += int(sent["bytes"].sum())

    def result(self) -> pl.DataFrame:
        """Node (i32), layer (str), and NODE_COUNTS (i64)."""
        return self._known.sort("node", "layer")


class Energy:
    """Energy of nodes at their first and last line in the window, and at the end of each bin.

    Nodes do not recharge, so the smallest value of a bin is its last. Without an energy model the
    lines have -1.

    Args:
        window: the time that is counted.
        width_s: width of the bins, s; None to choose it.
    """

    def __init__(self, window: Window, width_s: float | None) -> None:
        self._window = window
        self._levels = pl.DataFrame(schema=_LEVELS)
        self._bins = BinnedSums(
            "node", {}, {"below_j": (-pl.col("energy_j")).max()}, width_s=width_s
        )

    @property
    def binned(self) -> tuple[BinnedSums, ...]:
        """The sums by bin."""
        return (self._bins,)

    def update(self, lines: pl.DataFrame | None, last_s: float) -> None:
        """Add lines of wireless nodes: time_s, node, energy_j."""
        columns = {"time_s": pl.Float64, "node": pl.Int64, "energy_j": pl.Float64}
        own = pl.DataFrame(schema=columns)
        if lines is not None and "energy_j" in lines.columns:
            known = (pl.col("energy_j") >= 0) & self._window.holds()
            own = lines.filter(known).select("time_s", pl.col("node").cast(pl.Int64), "energy_j")
        self._bins.add(own, last_s)
        if not own.is_empty():
            level = pl.col("energy_j")
            found = own.group_by(pl.col("node").cast(pl.Int32), maintain_order=True).agg(
                first_j=level.first(), last_j=level.last()
            )
            self._levels = (
                pl.concat([self._levels, found])
                .group_by("node", maintain_order=True)
                .agg(pl.col("first_j").first(), pl.col("last_j").last())
            )

    def levels(self) -> pl.DataFrame:
        """Node (i32), first_j, last_j (f64, J), of nodes with an energy model."""
        return self._levels.sort("node")

    def series(self, width_s: float, end_s: float) -> pl.DataFrame:
        """node, bin (i64), energy_j (f64, J, at the end of the bin)."""
        return (
            self._bins.result(width_s, end_s)
            .select("node", "bin", energy_j=-pl.col("below_j"))
            .sort("node", "bin")
        )


def wired_nodes(
    entered: pl.DataFrame, streams: pl.DataFrame, dropped: pl.DataFrame, came: pl.DataFrame
) -> pl.DataFrame:
    """What nodes did on links.

    Args:
        entered: what each stream put on each link: from_node (i32), stream (i64), entered_pkts,
            entered_bytes (i64).
        streams: stream, src_host, dst_host (i32, nodes), received_pkts, received_bytes (i64, over
            links).
        dropped: node (i32), dropped_pkts, dropped_bytes (i64).
        came: copies of multicast packets: node, received_pkts, received_bytes.

    Returns:
        Columns of ``NODES``.
    """
    put = entered.join(streams.select("stream", "src_host"), on="stream", how="left")
    own = pl.col("from_node") == pl.col("src_host")
    names = {"entered_pkts": "pkts", "entered_bytes": "bytes"}
    sums = [
        pl.col(name).filter(which).sum().alias(f"{what}_{unit}")
        for what, which in (("sent", own.fill_null(False)), ("forwarded", ~own.fill_null(False)))
        for name, unit in names.items()
    ]
    sent = put.group_by(node="from_node").agg(sums)
    received = streams.filter(pl.col("dst_host").is_not_null()).select(
        "received_pkts", "received_bytes", node="dst_host"
    )
    parts = [sent, received, came, dropped]
    return (
        pl.concat([pl.DataFrame(schema=NODES), *parts], how="diagonal")
        .group_by("node")
        .agg(pl.col(*NODE_COUNTS).sum())
        .filter(pl.sum_horizontal(NODE_COUNTS) > 0)
        .select("node", pl.lit(ON_A_LINK).alias("layer"), *NODE_COUNTS)
        .sort("node")
    )
