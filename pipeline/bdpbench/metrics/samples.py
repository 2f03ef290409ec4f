"""Summaries of traces of sampled values (variables, queue monitors, two-column files)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

SAMPLES_SCHEMA = {
    "subject": pl.String,
    "name": pl.String,
    "samples": pl.Int64,
    "first_s": pl.Float64,
    "last_s": pl.Float64,
    "least": pl.Float64,
    "mean": pl.Float64,
    "largest": pl.Float64,
    "last": pl.Float64,
}
"""Columns of a summary of samples."""


def sum_samples(
    batches: Iterable[pl.DataFrame], subject: Sequence[str], name: str | None, values: Sequence[str]
) -> pl.DataFrame:
    """Extremes and means of sampled values, computed in one pass.

    Args:
        batches: frames with time_s (f64, s) and the columns named below, in the order of the trace.
        subject: columns that identify the owner of a value; null if a line does not name it.
        name: column that names the value, or None if ``values`` do.
        values: numeric columns.

    Returns:
        One row for each subject and name, as ``SAMPLES_SCHEMA``: mean gives all samples the same
            weight; last is the value of the last sample. Nulls and NaN do not count as samples.
    """
    keys = ["subject", "name"]
    known = pl.DataFrame(schema={**SAMPLES_SCHEMA, "sum": pl.Float64})
    for batch in batches:
        counted = (
            _long(batch, subject, name, values)
            .group_by(keys, maintain_order=True)
            .agg(
                pl.len().cast(pl.Int64).alias("samples"),
                first_s=pl.col("time_s").first(),
                last_s=pl.col("time_s").last(),
                least=pl.col("value").min(),
                largest=pl.col("value").max(),
                last=pl.col("value").last(),
                sum=pl.col("value").sum(),
            )
        )
        parts = pl.concat([known, counted], how="diagonal")
        known = parts.group_by(keys, maintain_order=True).agg(
            pl.col("samples", "sum").sum(),
            pl.col("first_s").min(),
            pl.col("last_s", "last").last(),
            pl.col("least").min(),
            pl.col("largest").max(),
        )
    return known.with_columns(mean=pl.col("sum") / pl.col("samples")).select(*SAMPLES_SCHEMA)


def _long(
    batch: pl.DataFrame, subject: Sequence[str], name: str | None, values: Sequence[str]
) -> pl.DataFrame:
    """subject, name, time_s, value: one row per sample."""
    whose = pl.concat_str(
        [pl.col(each).cast(pl.String) for each in subject] or [pl.lit("")],
        separator="-",
        ignore_nulls=True,
    )
    named = batch.select(
        "time_s",
        whose.alias("subject"),
        *([pl.col(name).cast(pl.String).alias("_name")] if name else []),
        *(pl.col(each).cast(pl.Float64) for each in values),
    )
    index = ["time_s", "subject", *(["_name"] if name else [])]
    long = named.unpivot(values, index=index, variable_name="name", value_name="_value")
    if name:
        long = long.with_columns(pl.col("_name").alias("name"))
    value = pl.col("_value")
    known = long.filter(value.is_not_null() & value.is_not_nan())
    return known.select("subject", "name", "time_s", value.alias("value"))
