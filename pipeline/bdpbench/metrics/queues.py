"""Of a sampled queue: how long it was for which share of the time, and what it dropped when."""

from __future__ import annotations

import polars as pl


def cumulative_shares(samples: pl.Series) -> pl.DataFrame:
    """Cumulative distribution of equally weighted samples.

    Args:
        samples: numbers in any unit; nulls are left out.

    Returns:
        A row a distinct value, rising: ``value`` f64, in the unit of the samples, and
        ``share_pct`` f64, % of the samples that are at most so large.

    >>> cumulative_shares(pl.Series([3, 0, 0, 1])).rows()
    [(0.0, 50.0), (1.0, 75.0), (3.0, 100.0)]
    """
    counts = samples.drop_nulls().rename("value").value_counts(name="n").sort("value")
    return counts.select(
        pl.col("value").cast(pl.Float64),
        share_pct=100 * pl.col("n").cum_sum() / pl.col("n").sum(),
    )


def queue_shares(queue: pl.DataFrame) -> pl.DataFrame:
    """Share of the samples at which the queue was no longer than a length.

    Args:
        queue: link (str) and pkts (packets), samples at equal distances of time.

    Returns:
        ``link`` str, ``pkts`` f64 (rising within a link), ``share_pct`` f64.
    """
    parts = queue.partition_by("link", as_dict=True, maintain_order=True)
    shares = [
        cumulative_shares(part["pkts"]).select(
            pl.lit(link, pl.String).alias("link"), pkts="value", share_pct="share_pct"
        )
        for (link,), part in parts.items()
    ]
    schema = {"link": pl.String, "pkts": pl.Float64, "share_pct": pl.Float64}
    return pl.concat([pl.DataFrame(schema=schema), *shares])


def drops_per_sample(queue: pl.DataFrame) -> pl.DataFrame:
    """Packets that a link dropped since the sample before, or since the start.

    Args:
        queue: link (str), time_s (f64, s, rising within a link), drops (packets since the start).

    Returns:
        A row a sample: ``link`` str, ``time_s`` f64, ``packets`` i64.
    """
    since = pl.col("drops").diff().over("link")
    return queue.select("link", "time_s", packets=since.fill_null(pl.col("drops")).cast(pl.Int64))
