"""A sampled queue: the distribution of its length, its drops over time, and its delay."""

from __future__ import annotations

import polars as pl

from bdpbench.units import BITS_PER_BYTE


def cumulative_shares(samples: pl.Series) -> pl.DataFrame:
    """Cumulative distribution of equally weighted samples.

    Args:
        samples: numbers in any unit; nulls are left out.

    Returns:
        One row per distinct value, in ascending order: ``value`` f64, in the unit of the samples,
            and ``share_pct`` f64, % of the samples that are no larger.

    >>> cumulative_shares(pl.Series([3, 0, 0, 1])).rows()
    [(0.0, 50.0), (1.0, 75.0), (3.0, 100.0)]
    """
    counts = samples.drop_nulls().rename("value").value_counts(name="n").sort("value")
    return counts.select(
        pl.col("value").cast(pl.Float64),
        share_pct=100 * pl.col("n").cum_sum() / pl.col("n").sum(),
    )


def queue_shares(queue: pl.DataFrame) -> pl.DataFrame:
    """Share of the samples in which the queue was no longer than each length.

    Args:
        queue: link (str) and pkts (packets), samples at equal intervals.

    Returns:
        ``link`` str, ``pkts`` f64 (ascending within a link), ``share_pct`` f64.
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
    """Packets that a link dropped since the previous sample, or since the start.

    Args:
        queue: link (str), time_s (f64, s, rising within a link), drops (packets since the start).

    Returns:
        One row for each sample: ``link`` str, ``time_s`` f64, ``packets`` i64.
    """
    since = pl.col("drops").diff().over("link")
    return queue.select("link", "time_s", packets=since.fill_null(pl.col("drops")).cast(pl.Int64))


def queueing_delays(queue: pl.DataFrame, packet_bytes: float, rates: pl.DataFrame) -> pl.DataFrame:
    """The time that a link needs, at its current rate, to send the queue found by each sample.

    Args:
        queue: of one link: time_s (f64, s, rising), pkts (packets).
        packet_bytes: size of a packet on the link, bytes.
        rates: since_s (f64, s, rising, the first no later than the first sample), mbps (f64,
            Mbit/s, above 0).

    Returns:
        One row for each sample: ``time_s`` f64, ``ms`` f64.

    >>> queue = pl.DataFrame({"time_s": [1.0, 2.0, 3.0], "pkts": [0, 10, 10]})
    >>> rates = pl.DataFrame({"since_s": [0.0, 3.0], "mbps": [8.0, 4.0]})
    >>> queueing_delays(queue, 1000, rates)["ms"].to_list()
    [0.0, 10.0, 20.0]
    """
    rated = queue.join_asof(rates, left_on="time_s", right_on="since_s", strategy="backward")
    bits = BITS_PER_BYTE * packet_bytes * pl.col("pkts")
    return rated.select("time_s", ms=bits / (1e3 * pl.col("mbps")))
