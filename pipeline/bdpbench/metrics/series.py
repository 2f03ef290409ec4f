"""Measures on one series: pure functions of a frame that return a number or a frame.

Windows are half-open on the left, ``(start_s, end_s]``: the time of a bin is its end, so the bin at
start_s is before the window and the bin at end_s inside it. Instantaneous samples (cwnd, queue)
follow the same rule, so that adjacent windows share no sample.
"""

from __future__ import annotations

import math
import statistics

import polars as pl

from bdpbench.metrics.thresholds import CUT_SHARE

# Tolerance of times as shares of a window, which are differences of binary numbers.
_ROUNDING = 1e-9

CUT_SCHEMA = {
    "peak_s": pl.Float64,
    "peak_pkts": pl.Float64,
    "cut_s": pl.Float64,
    "after_pkts": pl.Float64,
}


def in_window(start_s: float, end_s: float) -> pl.Expr:
    """Rows of the window ``(start_s, end_s]``, in s.

    >>> pl.DataFrame({"time_s": [1.0, 2.0, 3.0]}).filter(in_window(1, 3))["time_s"].to_list()
    [2.0, 3.0]
    """
    return pl.col("time_s").is_between(start_s, end_s, closed="right")


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


def grown_again(cuts: pl.DataFrame) -> pl.DataFrame:
    """The first cut, and all before which cwnd has grown by at least 5 % since the previous cut.

    Args:
        cuts: as ``find_cuts`` returns them.
    """
    grown = pl.col("after_pkts").shift(1) <= CUT_SHARE * pl.col("peak_pkts")
    return cuts.filter(grown.fill_null(True))


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


def batch_means(
    frame: pl.DataFrame, column: str, window: tuple[float, float], batches: int
) -> list[float]:
    """Means over equal parts of a window, in s; a part without rows has no mean.

    >>> frame = pl.DataFrame({"time_s": [1.0, 2.0, 3.0, 4.0], "mbps": [1.0, 3.0, 5.0, 7.0]})
    >>> batch_means(frame, "mbps", (0, 4), 2)
    [2.0, 6.0]
    """
    start_s, end_s = window
    parts: list[list[float]] = [[] for _ in range(batches)]
    rows = frame.filter(in_window(start_s, end_s)).select("time_s", column)
    for time_s, value in rows.iter_rows():
        # A row at the end of a part belongs to it, as for windows.
        part = math.ceil((time_s - start_s) / (end_s - start_s) * batches - _ROUNDING) - 1
        parts[max(0, part)].append(value)
    return [statistics.fmean(part) for part in parts if part]


def last_until(frame: pl.DataFrame, column: str, end_s: float) -> float | None:
    """The value of the last row up to end_s; None if there is none."""
    return number(frame.filter(pl.col("time_s") <= end_s)[column].last())


def nth(values: pl.Series, index: int) -> float | None:
    """The value with this index, from 0; None if there are fewer values."""
    return None if len(values) <= index else float(values[index])


def nearest_rank(values: pl.Series, share_pct: float) -> float | None:
    """The nearest-rank percentile of the values; None without values.

    >>> nearest_rank(pl.Series([4.0, 1.0, 3.0, 2.0]), 50), nearest_rank(pl.Series([7, 8]), 99)
    (2.0, 8.0)
    """
    rank = math.ceil(len(values) * share_pct / 100)
    return nth(values.sort(), max(rank, 1) - 1)


def median(values: pl.Series) -> float | None:
    """The median; None without values."""
    return number(values.median())


def number(value: object) -> float | None:
    """A result of polars as a number; None if there is none."""
    return float(value) if isinstance(value, (int, float)) else None
