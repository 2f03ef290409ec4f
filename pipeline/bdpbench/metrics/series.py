"""Measures on one series: pure functions of a frame that return a number or a frame.

Windows are half-open on the left, ``(start_s, end_s]``: the time of a bin is its end, so the bin at
start_s is before the window and the bin at end_s inside it. Instantaneous samples (cwnd, queue)
follow the same rule, so that adjacent windows share no sample.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from bdpbench.later import Schema, pl
from bdpbench.units import BITS_PER_BYTE, total

PEAK_SHARE = 0.9
"""Share of the nominal BDP or capacity that counts as reaching it (Sharma 2006, section 4.7.1)."""

MAX_SHARE = 0.99
"""Share of the largest throughput that counts as reaching it: a sawtooth rarely fills a second."""

CUT_SHARE = 0.95
"""A loss response leaves at most this share of cwnd: all variants studied remove 10 % or more."""

CUT_SCHEMA = Schema({"peak_s peak_pkts cut_s after_pkts": "Float64"})


def in_window(start_s: float, end_s: float) -> pl.Expr:
    """Rows of the window ``(start_s, end_s]``, in s.

    >>> pl.DataFrame({"time_s": [1.0, 2.0, 3.0]}).filter(in_window(1, 3))["time_s"].to_list()
    [2.0, 3.0]
    """
    return inside("time_s", start_s, end_s)


def inside(column: str, start_s: float, end_s: float) -> pl.Expr:
    """Rows whose ``column`` (s) is in the window ``(start_s, end_s]``."""
    return pl.col(column).is_between(start_s, end_s, closed="right")


def first_time_at_least(frame: pl.DataFrame, column: str, level: float) -> float | None:
    """Time in s of the first row whose ``column`` is at least ``level``; None if there is none.

    Args:
        frame: time_s (f64, s) and ``column`` (numeric), in the order of time.
        column: the quantity.
        level: the level, in the unit of the column.

    >>> frame = pl.DataFrame({"time_s": [0.1, 0.2, 0.3], "mbps": [1.0, 9.0, 10.0]})
    >>> first_time_at_least(frame, "mbps", 9.0)
    0.2
    """
    reached = frame.filter(pl.col(column) >= level)
    return None if reached.is_empty() else float(reached["time_s"][0])


def find_cuts(cwnd: pl.DataFrame, merge_s: float) -> pl.DataFrame:
    """Loss responses of a flow: decreases of cwnd by at least 5 % from one sample to the next.

    Decreases less than merge_s after the previous one belong to the same loss event, whose recovery
    lasts about a round trip: they form one cut, from the sample before the first decrease (the
    peak) to the sample after the last.

    Args:
        cwnd: cwnd of one flow: time_s (f64, s), cwnd_pkts (f64, packets), in the order of time.
        merge_s: the nominal RTT, s.

    Returns:
        One row per cut, in the order of time: peak_s (f64, s, last sample before the decrease),
        peak_pkts (f64, packets), cut_s (f64, s, first sample after the decrease), after_pkts (f64,
        packets, after the last decrease of the event). No rows for a flow without samples or
            losses.

    >>> cwnd = pl.DataFrame({"time_s": [0.0, 0.1, 0.2, 0.3], "cwnd_pkts": [8.0, 10.0, 5.0, 6.0]})
    >>> find_cuts(cwnd, merge_s=0.1).row(0)
    (0.1, 10.0, 0.2, 5.0)
    """
    time, pkts = pl.col("time_s"), pl.col("cwnd_pkts")
    falls = cwnd.select(
        peak_s=time.shift(1), peak_pkts=pkts.shift(1), cut_s=time, after_pkts=pkts
    ).filter(pl.col("after_pkts") <= CUT_SHARE * pl.col("peak_pkts"))
    event = (pl.col("cut_s").diff().fill_null(float("inf")) >= merge_s).cum_sum()
    return (
        falls.group_by(event.alias("event"), maintain_order=True)
        .agg(pl.first("peak_s", "peak_pkts", "cut_s"), pl.last("after_pkts"))
        .select(pl.col(name).cast(dtype) for name, dtype in CUT_SCHEMA.items())
    )


def variation(values: pl.Series) -> float | None:
    """Standard deviation of the values over their mean; None without values or with mean 0.

    >>> variation(pl.Series([1.0, 3.0]))
    0.5
    """
    mean, deviation = values.mean(), values.std(ddof=0)
    if not isinstance(mean, float) or not isinstance(deviation, float) or mean == 0:
        return None
    return deviation / mean


def mean(frame: pl.DataFrame, column: str, window: tuple[float, float]) -> float | None:
    """Mean over the rows of a window, s; for bins of equal length, the mean over time."""
    return number(frame.filter(in_window(*window))[column].mean())


def last_until(frame: pl.DataFrame, column: str, end_s: float) -> float | None:
    """The value of the last row up to end_s; None if there is none."""
    return number(frame.filter(pl.col("time_s") <= end_s)[column].last())


def nth(values: pl.Series, index: int) -> float | None:
    """The value with this index, from 0; None if there are fewer values."""
    return None if len(values) <= index else float(values[index])


def median(values: pl.Series) -> float | None:
    """The median; None without values."""
    return number(values.median())


def number(value: object) -> float | None:
    """A result of polars as a number; None if there is none."""
    return float(value) if isinstance(value, (int, float)) else None


def known_sum(values: Sequence[float | None]) -> float | None:
    """The sum; None if one of the values is unknown, or there are none."""
    known = [each for each in values if each is not None]
    return total(known) if known and len(known) == len(values) else None


def known_mean(values: Sequence[float | None]) -> float | None:
    """The mean; None if one of the values is unknown, or there are none."""
    known = [each for each in values if each is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(values) else None


def time_reached_and_kept(
    bins: pl.DataFrame, level_mbps: float, most_below_s: float
) -> float | None:
    """End in s of the first bin at or above level_mbps that begins a lasting stay.

    A stay ends when consecutive bins below the level last longer than most_below_s, and then does
    not count. The end of the run does not end a stay.

    Args:
        bins: bins of one link: time_s (f64, s, end of the bin), mbps (f64, Mbit/s), in order of
            time.
        level_mbps: the level, Mbit/s.
        most_below_s: longest time below the level, s.

    >>> bins = pl.DataFrame({"time_s": [1.0, 2.0, 3.0, 4.0], "mbps": [9.0, 5.0, 5.0, 9.0]})
    >>> time_reached_and_kept(bins, 9.0, 1.5), time_reached_and_kept(bins, 9.0, 2.0)
    (4.0, 1.0)
    """
    high = bins.select("time_s", high=pl.col("mbps") >= level_mbps)
    stretches = (
        high.group_by(pl.col("high").rle_id().alias("stretch"), maintain_order=True)
        .agg(pl.first("high"), start_s=pl.first("time_s"), end_s=pl.last("time_s"))
        .with_columns(below_s=(pl.col("end_s").shift(-1) - pl.col("end_s")).fill_null(0.0))
    )
    # A bin is a difference of two times, so 0.3 s may come out slightly larger.
    kept = stretches.filter(pl.col("high") & (pl.col("below_s") <= most_below_s + 1e-9))
    return None if kept.is_empty() else float(kept["start_s"][0])


def settling_time(cwnd: pl.DataFrame, since_s: float) -> float | None:
    """Time in s at which cwnd first comes within 1 % of its level from since_s on.

    None if it has no such level, because a sample after since_s is more than 1 % off their mean.

    Args:
        cwnd: cwnd of one flow: time_s (f64, s), cwnd_pkts (f64, packets), in the order of time.
        since_s: start of the level, s.

    >>> cwnd = pl.DataFrame({"time_s": [1.0, 2.0, 3.0], "cwnd_pkts": [50.0, 99.5, 100.0]})
    >>> settling_time(cwnd, since_s=1.5)
    2.0
    """
    held = cwnd.filter(pl.col("time_s") > since_s)["cwnd_pkts"]
    level = held.mean()
    if not isinstance(level, float) or level <= 0:
        return None
    if ((held - level).abs() > (1 - MAX_SHARE) * level).any():
        return None
    return first_time_at_least(cwnd, "cwnd_pkts", MAX_SHARE * level)


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
