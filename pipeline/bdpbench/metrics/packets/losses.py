"""Where packets were lost, and why: partial sums over batches."""

from __future__ import annotations

import polars as pl

from bdpbench.metrics.packets.bins import Window

_KEYS = ("layer", "reason", "type")
_ON_A_LINK = "link"
_WIRED_REASONS = {"d": "queue", "e": "error model"}


class Losses:
    """Drops by layer, reason and type of packet.

    On links the layer is ``link``, and the reason ``queue`` (d lines, among which error models
    without a trace of their own put theirs) or ``error model`` (e lines). On wireless nodes both
    are those of the trace: IFQ, RTR, MAC, ... and NRTE, TTL, COL, ...

    Args:
        window: the time that is counted.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        counts = dict.fromkeys(("dropped_pkts", "dropped_bytes"), pl.Int64)
        schema = {**dict.fromkeys(_KEYS, pl.String), **counts}
        self._known = pl.DataFrame(schema=schema)

    def update(self, batch: pl.DataFrame) -> None:
        """Add a batch: time_s, event, type, bytes, and layer and reason where there are."""
        event = pl.col("event")
        drops = batch.lazy().filter(event.is_in(("d", "e", "D")) & self._window.holds())
        wireless = "layer" in batch.columns and "reason" in batch.columns
        layer = pl.col("layer").cast(pl.String) if wireless else pl.lit(None, pl.String)
        reason = pl.col("reason").cast(pl.String) if wireless else pl.lit(None, pl.String)
        wired_reason = event.cast(pl.String).replace(_WIRED_REASONS)
        counted = (
            drops.select(
                layer.fill_null(_ON_A_LINK).alias("layer"),
                pl.when(layer.is_null()).then(wired_reason).otherwise(reason).alias("reason"),
                pl.col("type").cast(pl.String),
                pl.col("bytes").cast(pl.Int64),
            )
            .group_by(_KEYS)
            .agg(
                pl.len().cast(pl.Int64).alias("dropped_pkts"),
                pl.col("bytes").sum().alias("dropped_bytes"),
            )
            .collect()
        )
        parts = pl.concat([self._known, counted])
        self._known = parts.group_by(_KEYS).agg(pl.col("dropped_pkts", "dropped_bytes").sum())

    def result(self) -> pl.DataFrame:
        """layer, reason, type (str), dropped_pkts, dropped_bytes (i64), largest first."""
        return self._known.sort("dropped_pkts", *_KEYS, descending=[True, False, False, False])
