"""Where packets were lost, and why: partial sums over batches."""

from __future__ import annotations

import types

import polars as pl

from bdpbench.metrics.packets.bins import BinnedSums, Window
from bdpbench.metrics.packets.native import WiredFound

_KEYS = ("layer", "reason", "type")
_PLACE = ("node", *_KEYS)
_COUNTS = ("dropped_pkts", "dropped_bytes")
_CAUSED = types.MappingProxyType({"time_s": pl.Float64, "cause": pl.Int64})
_ON_A_LINK = "link"
_WIRED_REASONS = {"d": "queue", "e": "error model"}
_FIRST_DROP = 3  # number of event d in C; that of e follows


class Losses:
    """Drops by node, layer, reason and type of packet, and by bin of time.

    On links the layer is ``link``, and the reason ``queue`` (d lines, which include drops of error
    models without a trace of their own) or ``error model`` (e lines); the node is the one where the
    link begins. On wireless nodes all are as in the trace: IFQ, RTR, MAC, ... and NRTE, TTL, COL,
    ...

    Args:
        window: the time that is counted.
        width_s: width of the bins, s; None to choose it.
    """

    def __init__(self, window: Window, width_s: float | None = None) -> None:
        self._window = window
        texts = dict.fromkeys(_KEYS, pl.String)
        counts = dict.fromkeys(_COUNTS, pl.Int64)
        self._known = pl.DataFrame(schema={"node": pl.Int32, **texts, **counts})
        self._numbers: dict[tuple[str | None, str | None], int] = {}
        count = pl.len().cast(pl.Int64)
        self._bins = BinnedSums("cause", {"dropped_pkts": count}, width_s=width_s)

    @property
    def binned(self) -> tuple[BinnedSums, ...]:
        """The sums by bin."""
        return (self._bins,)

    def load(self, found: WiredFound) -> None:
        """Start from the drops of the rows summed in C."""
        reasons = pl.Series(_WIRED_REASONS.values())
        self._known = found.losses.select(
            pl.col("node").cast(pl.Int32),
            pl.lit(_ON_A_LINK).alias("layer"),
            reasons.gather(found.losses["event"] - _FIRST_DROP).alias("reason"),
            found.named(pl.col("type")).alias("type"),
            *_COUNTS,
        )
        self._numbers = {(_ON_A_LINK, reason): number for number, reason in enumerate(reasons)}
        cells = found.cells["causes"]
        self._bins.load(cells.rows, found.last_s, cells.index)

    def update(self, batch: pl.DataFrame) -> None:
        """Add a batch: time_s, event, type, bytes, and layer, node and reason if it has them."""
        drops = self._drops(batch)
        last_s = float(batch["time_s"][-1])
        if drops.is_empty():
            self._bins.add(pl.DataFrame(schema=_CAUSED), last_s)
            return
        counted = drops.group_by(_PLACE).agg(
            pl.len().cast(pl.Int64).alias("dropped_pkts"),
            pl.col("bytes").sum().alias("dropped_bytes"),
        )
        parts = pl.concat([self._known, counted])
        self._known = parts.group_by(_PLACE).agg(pl.col(_COUNTS).sum())
        numbers = self._numbered(counted)
        rows = drops.join(numbers, on=["layer", "reason"], nulls_equal=True)
        self._bins.add(rows.select(_CAUSED.keys()), last_s)

    def _drops(self, batch: pl.DataFrame) -> pl.DataFrame:
        """The drops of a batch in the window: time_s, node, layer, reason, type, bytes."""
        event = pl.col("event")
        drops = batch.lazy().filter(event.is_in(("d", "e", "D")) & self._window.holds())
        wireless = "layer" in batch.columns and "reason" in batch.columns
        layer = pl.col("layer").cast(pl.String) if wireless else pl.lit(None, pl.String)
        reason = pl.col("reason").cast(pl.String) if wireless else pl.lit(None, pl.String)
        node = pl.coalesce("node", "from_node") if wireless else pl.col("from_node")
        wired_reason = event.cast(pl.String).replace(_WIRED_REASONS)
        return drops.select(
            "time_s",
            node.alias("node"),
            layer.fill_null(_ON_A_LINK).alias("layer"),
            pl.when(layer.is_null()).then(wired_reason).otherwise(reason).alias("reason"),
            pl.col("type").cast(pl.String),
            pl.col("bytes").cast(pl.Int64),
        ).collect()

    def _numbered(self, counted: pl.DataFrame) -> pl.DataFrame:
        """layer, reason, cause (i64): the number of a cause of drops."""
        for layer, reason in counted.select("layer", "reason").unique().sort(pl.all()).iter_rows():
            self._numbers.setdefault((layer, reason), len(self._numbers))
        rows = [(layer, reason, number) for (layer, reason), number in self._numbers.items()]
        schema = {"layer": pl.String, "reason": pl.String, "cause": pl.Int64}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def result(self) -> pl.DataFrame:
        """layer, reason, type (str), dropped_pkts, dropped_bytes (i64), largest first."""
        return (
            self._known.group_by(_KEYS)
            .agg(pl.col(_COUNTS).sum())
            .sort("dropped_pkts", *_KEYS, descending=[True, False, False, False])
        )

    def by_node(self) -> pl.DataFrame:
        """Node (i32), layer, reason, type (str), dropped_pkts, dropped_bytes (i64)."""
        return self._known.sort(_PLACE)

    def series(self, width_s: float, end_s: float) -> pl.DataFrame:
        """layer, reason (str), bin, dropped_pkts (i64), ordered by cause and time."""
        names = self._numbered(self._known.head(0))
        bins = self._bins.result(width_s, end_s)
        return bins.join(names, on="cause").sort("layer", "reason", "bin").drop("cause")
