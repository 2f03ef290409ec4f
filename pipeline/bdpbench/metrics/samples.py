"""Sampled values over time, such as cwnd and queue lengths: summary, and points to draw."""

from __future__ import annotations

from collections.abc import Sequence

from bdpbench.later import Schema, pl

SAMPLES_SCHEMA = Schema(
    {
        "subject name": "String",
        "samples": "Int64",
        "first_s last_s least mean largest last": "Float64",
        "falls": "Int64",
        "first_fall_s": "Float64",
        "falls_to_one": "Int64",
        "kept_share": "Float64",
    }
)
"""Columns of a summary of samples."""

FALL = 0.1
"""Share of a value that a fall takes away at least. A cut of cwnd takes 10 % (HS-TCP with large
windows) or more; what a sender in recovery or without congestion takes back is less."""

MOST_BINS = 500
"""Most bins of a drawn series: as many as a chart can show."""

_KEYS = ("subject", "name")
_FALLS = ("falls", "first_fall_s", "falls_to_one")
_LEAST_WIDTH_S = 1e-3
_ENDS = ("first", "least", "largest", "last")


class SampleMeter:
    """Sums up samples in one pass; memory grows with their subjects, not with their number.

    ``mean`` gives all samples the same weight; ``last`` is the value of the last sample. A *fall*
    is a sample smaller than the one before by ``FALL`` of that one; ``falls_to_one`` counts those
    that leave at most 1 (a cwnd after a timeout), and ``kept_share`` is the mean share that a fall
    leaves.
    """

    def __init__(self) -> None:
        self._sums = pl.DataFrame(schema={**SAMPLES_SCHEMA, "sum": pl.Float64, "kept": pl.Float64})
        self._cells = pl.DataFrame()
        self._origin_s = 0.0
        self._width_s = _LEAST_WIDTH_S

    def add(self, samples: pl.DataFrame) -> None:
        """Add samples as ``long_samples`` gives them, in the order of the trace."""
        if samples.is_empty():
            return
        self._add_points(samples)
        before = self._sums.select(*_KEYS, _last="last")
        compared = (
            samples.join(before, on=_KEYS, how="left", maintain_order="left")
            .with_columns(_before=pl.col("value").shift(1).over(_KEYS).fill_null(pl.col("_last")))
            .with_columns(_fell=pl.col("value") < (1 - FALL) * pl.col("_before"))
        )
        counted = compared.group_by(_KEYS, maintain_order=True).agg(
            pl.len().cast(pl.Int64).alias("samples"),
            first_s=pl.col("time_s").first(),
            last_s=pl.col("time_s").last(),
            least=pl.col("value").min(),
            largest=pl.col("value").max(),
            last=pl.col("value").last(),
            sum=pl.col("value").sum(),
            falls=pl.col("_fell").sum().cast(pl.Int64),
            first_fall_s=pl.col("time_s").filter("_fell").first(),
            falls_to_one=(pl.col("_fell") & (pl.col("value") <= 1)).sum().cast(pl.Int64),
            kept=(pl.col("value") / pl.col("_before")).filter("_fell").sum(),
        )
        parts = pl.concat([self._sums, counted], how="diagonal")
        self._sums = parts.group_by(_KEYS, maintain_order=True).agg(
            pl.col("samples", "sum", "falls", "falls_to_one", "kept").sum(),
            pl.col("first_s", "first_fall_s", "least").min(),
            pl.col("last_s", "last").last(),
            pl.col("largest").max(),
        )

    def _add_points(self, samples: pl.DataFrame) -> None:
        if self._cells.is_empty():
            self._origin_s = samples["time_s"][0]
        end_s = samples["time_s"][-1] - self._origin_s
        while end_s > MOST_BINS * self._width_s:
            self._width_s *= 2
            if not self._cells.is_empty():
                self._cells = _merged(self._cells.with_columns(pl.col("bin") // 2))
        ends = {
            f"{end}{of}": name for end in _ENDS for of, name in (("", "value"), ("_s", "time_s"))
        }
        place = ((pl.col("time_s") - self._origin_s) / self._width_s).floor().cast(pl.Int64)
        cells = samples.select(*_KEYS, place.alias("bin"), **ends)
        known = [] if self._cells.is_empty() else [self._cells]
        self._cells = _merged(pl.concat([*known, cells]))

    @property
    def summary(self) -> pl.DataFrame:
        """One row for each subject and name, as ``SAMPLES_SCHEMA``.

        Falls are null but for cwnd, and for values that their file does not name.
        """
        name, falls = pl.col("name"), pl.col("falls")
        is_window = name.str.to_lowercase().str.contains("cwnd", literal=True) | (name == "value")
        return self._sums.with_columns(
            mean=pl.col("sum") / pl.col("samples"),
            kept_share=pl.when(is_window & (falls > 0)).then(pl.col("kept") / falls),
            **{each: pl.when(is_window).then(each) for each in _FALLS},
        ).select(*SAMPLES_SCHEMA)

    @property
    def points(self) -> pl.DataFrame:
        """subject, name, time_s, value: of each bin the first, least, largest and last sample."""
        if self._cells.is_empty():
            return pl.DataFrame(
                schema={
                    **dict.fromkeys(_KEYS, pl.String),
                    "time_s": pl.Float64,
                    "value": pl.Float64,
                }
            )
        parts = [
            self._cells.select(*_KEYS, "bin", time_s=f"{end}_s", value=end, place=pl.lit(place))
            for place, end in enumerate(_ENDS)
        ]
        ordered = pl.concat(parts).sort(*_KEYS, "bin", "time_s", "place", maintain_order=True)
        return ordered.unique(
            [*_KEYS, "time_s", "value"], keep="first", maintain_order=True
        ).select(*_KEYS, "time_s", "value")


def _merged(cells: pl.DataFrame) -> pl.DataFrame:
    """Cells with one row for each subject, name and bin."""
    least, largest = pl.col("least").arg_min(), pl.col("largest").arg_max()
    return cells.group_by(*_KEYS, "bin", maintain_order=True).agg(
        pl.col("first", "first_s").first(),
        pl.col("least", "least_s").get(least),
        pl.col("largest", "largest_s").get(largest),
        pl.col("last", "last_s").last(),
    )


def long_samples(
    rows: pl.LazyFrame, subject: Sequence[str], name: str | None, values: Sequence[str]
) -> pl.LazyFrame:
    """Samples as rows of subject, name, time_s (f64, s) and value (f64), without nulls and NaN.

    Args:
        rows: time_s (f64, s) and the columns named below, in the order of the trace.
        subject: columns that identify the owner of a value; null if a line does not name it.
        name: column that names the value, "value" where it is null; or None if ``values`` do.
        values: numeric columns.
    """
    whose = pl.concat_str(
        [pl.col(each).cast(pl.String) for each in subject] or [pl.lit("")],
        separator="-",
        ignore_nulls=True,
    )
    named = pl.col(name).cast(pl.String).fill_null("value") if name else None
    value = pl.col("value")
    parts = [
        rows.select(
            subject=whose,
            name=pl.lit(each) if named is None else named,
            time_s="time_s",
            value=pl.col(each).cast(pl.Float64),
        )
        for each in values
    ]
    joined = parts[0] if len(parts) == 1 else pl.concat(parts)
    return joined.filter(value.is_not_null() & value.is_not_nan())
