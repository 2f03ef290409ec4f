"""Fewer points, same picture: what is kept of a long series for a chart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import polars as pl

_ROW = "__row"
_BIN = "__bin"


def reduce_min_max(
    frame: pl.DataFrame | pl.LazyFrame, x: str, y: str, by: Sequence[str], bins: int
) -> pl.DataFrame:
    """Keep, of every series, the extremes of each of ``bins`` equal intervals of ``x``.

    An interval stands for one pixel column of a chart: the column is painted from its smallest to
    its largest ``y``, so that a spike of one sample, such as the peak of cwnd before a loss,
    survives, which averaging or taking every n-th sample would lose. Where an extreme is reached
    several times, the first time is kept. The first and the last sample of a series stay as well.

    Args:
        frame: columns ``by``, ``x`` and ``y``, in any unit; rows of a series in order of ``x``.
        x: numeric column of the abscissa.
        y: numeric column of the ordinate.
        by: columns that name a series, at least one.
        bins: intervals between the smallest and the largest ``x`` of a series, at least 1.

    Returns:
        The columns ``by``, ``x``, ``y``, rows in their order of input, at most ``2 · bins + 2`` a
        series. Samples whose ``x`` or ``y`` is null, NaN or infinite are left out.

    Raises:
        ValueError: when ``bins`` is below 1 or ``by`` is empty.
    """
    if bins < 1 or not by:
        raise ValueError(f"bins must be at least 1 and by not empty, not {bins} and {by!r}")
    samples = (
        frame.lazy()
        .select(*by, x, y)
        .filter(_is_finite(x) & _is_finite(y))
        .with_row_index(_ROW)
        .collect()
    )
    parts = samples.partition_by(list(by), maintain_order=True) if samples.height else []
    if not parts:
        return samples.drop(_ROW)
    kept = pl.concat([_kept_rows(part[_ROW], part[x], part[y], bins) for part in parts])
    return samples[kept.unique().sort()].drop(_ROW)


def _kept_rows(rows: pl.Series, x: pl.Series, y: pl.Series, bins: int) -> pl.Series:
    """Numbers of the rows of one series that stay."""
    extremes = (
        pl.DataFrame({_BIN: _bin_of(x, bins), _ROW: rows, "y": y})
        .group_by(_BIN)
        .agg(
            pl.col(_ROW).gather(pl.col("y").arg_min()).first(),
            pl.col(_ROW).gather(pl.col("y").arg_max()).first().alias("last"),
        )
    )
    return pl.concat([rows.head(1), rows.tail(1), extremes[_ROW], extremes["last"]])


def _is_finite(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.Float64).is_finite().fill_null(value=False)


def _bin_of(x: pl.Series, bins: int) -> pl.Series:
    start = cast("float", x.min())
    span = cast("float", x.max()) - start
    if not span > 0:
        return pl.zeros(len(x), pl.Int64, eager=True)
    return ((x - start) * bins / span).floor().clip(0, bins - 1).cast(pl.Int64)
