"""The paths of packets: hops, route changes, and gaps between arrivals."""

from __future__ import annotations

import types

import polars as pl

from bdpbench.metrics.packets.bins import Window
from bdpbench.metrics.packets.events import (
    AGENT_LAYER,
    ROUTER_LAYER,
    WIRELESS_FORWARDED,
    WIRELESS_SENT,
    Events,
    goes_to_group,
)
from bdpbench.metrics.packets.native import WiredFound

_HOPS = types.MappingProxyType(
    {
        "stream": pl.Int64,
        "hop_pkts": pl.Int64,
        "hop_sum": pl.Int64,
        "hop_max": pl.Int64,
    }
)
_NEXT = types.MappingProxyType({"stream": pl.Int64, "node": pl.Int64, "next": pl.Int64})
_TO_BITS = 32
_TO_OFFSET = 1 << (_TO_BITS - 1)


class Hops:
    """Hops of packets that reached an agent of a wireless node, as given in their lines.

    Args:
        window: the time that is counted.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self._known = pl.DataFrame(schema=_HOPS)

    def update(self, lines: pl.DataFrame | None) -> None:
        """Add lines of wireless nodes: time_s, event, layer, stream, hops."""
        if lines is None or "hops" not in lines.columns:
            return
        came = (pl.col("event") == "r") & (pl.col("layer") == AGENT_LAYER)
        hops = pl.col("hops").cast(pl.Int64)
        found = (
            lines.filter(came & pl.col("hops").is_not_null() & self._window.holds())
            .group_by("stream")
            .agg(hop_pkts=pl.len().cast(pl.Int64), hop_sum=hops.sum(), hop_max=hops.max())
        )
        self._known = (
            pl.concat([self._known, found])
            .group_by("stream")
            .agg(pl.col("hop_pkts", "hop_sum").sum(), pl.col("hop_max").max())
        )

    def result(self) -> pl.DataFrame:
        """stream, hop_pkts, hop_sum, hop_max (i64)."""
        return self._known


class RouteChanges:
    """How often a node sends a stream's packet to another next node than the previous one.

    On links the next node is that of the + line, on wireless nodes the next hop of a packet that
    the router sends or forwards. Multicast and broadcast packets have no single next node.

    Args:
        window: the time that is counted.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self._last = pl.DataFrame(schema=_NEXT)
        self._alone: set[tuple[int, int]] = set()
        self._changes = pl.DataFrame(schema={"stream": pl.Int64, "route_changes": pl.Int64})

    def load(self, found: WiredFound) -> None:
        """Start from the routes of the rows summed in C."""
        self._last = found.routes.select("stream", "node", next=pl.col("next") + _TO_OFFSET)
        changed = found.streams.filter(pl.col("route_changes") > 0)
        self._changes = changed.select("stream", "route_changes")

    def update(self, events: Events, entries: pl.LazyFrame, put: pl.DataFrame) -> None:
        """Add a batch.

        Args:
            events: of the batch.
            entries: packets that entered links in the window: time_s, link, stream.
            put: link and stream (i64) of the entries.
        """
        moved = self._moved(put)
        steps = (
            [
                entries.filter(pl.col("stream").is_in(moved.implode()))
                .select(
                    "time_s",
                    "stream",
                    node=pl.col("link") // (1 << _TO_BITS),
                    next=pl.col("link") % (1 << _TO_BITS),
                )
                .collect()
            ]
            if not moved.is_empty()
            else []
        )
        if events.wireless is not None and "next_hop" in events.wireless.columns:
            steps.append(_sent_on(events.wireless))
        for each in steps:
            self._add(each)

    def _moved(self, put: pl.DataFrame) -> pl.Series:
        """Streams for which a node has several next nodes, in the batch or since an earlier one."""
        used = set(put.select("stream", "link").iter_rows())
        if used <= self._alone:
            return pl.Series("stream", [], pl.Int64)
        pairs = put.select(
            "stream",
            node=pl.col("link") // (1 << _TO_BITS),
            next=pl.col("link") % (1 << _TO_BITS),
        )
        both = pl.concat([self._last, pairs]).unique()
        several = both.group_by("stream", "node").agg(pl.len()).filter(pl.col("len") > 1)
        alone = pairs.join(several, on=["stream", "node"], how="anti")
        self._last = pl.concat([self._last, alone]).unique(maintain_order=True)
        self._alone = self._alone | used if several.is_empty() else set()
        return several["stream"].unique()

    def _add(self, steps: pl.DataFrame) -> None:
        pair = ["stream", "node"]
        rows = pl.concat(
            [
                self._last.select("stream", "node", "next", time_s=pl.lit(None, pl.Float64)),
                steps.select("stream", "node", "next", "time_s"),
            ]
        )
        changed = (pl.col("next") != pl.col("next").shift(1).over(pair)).fill_null(value=False)
        found = (
            rows.filter(changed)
            .filter(self._window.holds())
            .group_by("stream")
            .agg(route_changes=pl.len().cast(pl.Int64))
        )
        parts = pl.concat([self._changes, found])
        self._changes = parts.group_by("stream").agg(pl.col("route_changes").sum())
        self._last = rows.group_by(pair, maintain_order=True).agg(pl.col("next").last())

    def result(self) -> pl.DataFrame:
        """stream, route_changes (i64); a missing stream has none."""
        return self._changes


def _sent_on(lines: pl.DataFrame) -> pl.DataFrame:
    """Packets that routers of wireless nodes sent to a next node: time_s, stream, node, next."""
    sent = (
        pl.col("event").is_in((*WIRELESS_SENT, *WIRELESS_FORWARDED))
        & (pl.col("layer") == ROUTER_LAYER)
        & (pl.col("next_hop") >= 0)
        & ~goes_to_group()
    )
    return lines.filter(sent).select(
        "time_s",
        "stream",
        node=pl.col("node").cast(pl.Int64),
        next=pl.col("next_hop").cast(pl.Int64),
    )
