"""Fewer points, same picture: reduces a long series for a chart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import polars as pl

_ROW = "__row"
_BIN = "__bin"
# For so few rows, a loop in Python is faster than making a query.
_FEW = 1000


def reduce_min_max(
    frame: pl.DataFrame | pl.LazyFrame, x: str, y: str, by: Sequence[str], bins: int
) -> pl.DataFrame:
    """Keep, of every series, the extremes of each of ``bins`` equal intervals of ``x``.

    An interval corresponds to a pixel column of a chart, which is painted from its smallest to its
    largest ``y``. So a spike of one sample, such as the peak of cwnd before a loss, survives;
    averaging or taking every n-th sample would lose it. If an extreme is reached several times, the
    first time is kept. The first and the last sample of a series are kept as well.

    Args:
        frame: columns ``by``, ``x`` and ``y``, in any unit; rows of a series ordered by ``x``.
        x: numeric column of the abscissa.
        y: numeric column of the ordinate.
        by: columns that identify a series, at least one.
        bins: intervals between the smallest and the largest ``x`` of a series, at least 1.

    Returns:
        The columns ``by``, ``x``, ``y``, rows in the order of the input, at most ``2 · bins + 2``
            per series. Samples whose ``x`` or ``y`` is null, NaN or infinite are left out.

    Raises:
        ValueError: when ``bins`` is below 1 or ``by`` is empty.
    """
    if bins < 1 or not by:
        raise ValueError(f"bins must be at least 1 and by not empty, not {bins} and {by!r}")
    columns = frame.lazy().select(*by, x, y).collect()
    if columns.height <= _FEW and columns.schema[x] == pl.Float64:
        return columns[_kept_of_few(columns.rows(), bins)]
    samples = columns.with_row_index(_ROW).filter(_is_finite(x) & _is_finite(y))
    parts = samples.partition_by(list(by), maintain_order=True) if samples.height else []
    if not parts:
        return samples.drop(_ROW)
    kept = pl.concat([_kept_rows(part[_ROW], part[x], part[y], bins) for part in parts])
    return columns[kept.unique().sort()]


def _kept_of_few(rows: Sequence[tuple[Any, ...]], bins: int) -> list[int]:
    """Indices of the rows to keep; each row has the names of its series, x, and y."""
    series: dict[tuple[object, ...], list[tuple[int, float, float]]] = {}
    for number, (*key, x, y) in enumerate(rows):
        if x is not None and y is not None and math.isfinite(x) and math.isfinite(y):
            series.setdefault(tuple(key), []).append((number, x, y))
    kept: set[int] = set()
    for points in series.values():
        kept |= _extremes(points, bins) | {points[0][0], points[-1][0]}
    return sorted(kept)


def _extremes(points: Sequence[tuple[int, float, float]], bins: int) -> set[int]:
    """Rows with the first smallest and the first largest y of each bin of a series."""
    start = min(x for _, x, _ in points)
    span = max(x for _, x, _ in points) - start
    lowest: dict[int, tuple[int, float]] = {}
    highest: dict[int, tuple[int, float]] = {}
    for row, x, y in points:
        number = min(bins - 1, math.floor((x - start) * bins / span)) if span > 0 else 0
        if number not in lowest or y < lowest[number][1]:
            lowest[number] = row, y
        if number not in highest or y > highest[number][1]:
            highest[number] = row, y
    return {row for extremes in (lowest, highest) for row, _ in extremes.values()}


def _kept_rows(rows: pl.Series, x: pl.Series, y: pl.Series, bins: int) -> pl.Series:
    """Indices of the rows of one series to keep."""
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
