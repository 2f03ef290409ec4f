"""Measures on one series: pure functions of a frame that return a number or a frame.

Windows are half-open on the left, ``(start_s, end_s]``: a bin is stamped with its end, so the bin
stamped start_s lies before the window and the one stamped end_s inside it. Samples of a moment
(cwnd, queue) follow the same rule, so that neighbouring windows share no sample.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from bdpbench.metrics.registry import CUT_SHARE, MAX_SHARE

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
        level: in the unit of the column.

    >>> frame = pl.DataFrame({"time_s": [0.1, 0.2, 0.3], "mbps": [1.0, 9.0, 10.0]})
    >>> first_time_at_least(frame, "mbps", 9.0)
    0.2
    """
    reached = frame.filter(pl.col(column) >= level)
    return None if reached.is_empty() else float(reached["time_s"][0])


def find_cuts(cwnd: pl.DataFrame, merge_s: float) -> pl.DataFrame:
    """Loss responses of a flow: falls of cwnd by at least 5 % from one sample to the next.

    Falls less than merge_s after the one before belong to the same loss event, whose recovery
    lasts about a round trip: they make one cut, from the sample before the first fall (the peak)
    to the sample after the last.

    Args:
        cwnd: of one flow: time_s (f64, s), cwnd_pkts (f64, packets), in the order of time.
        merge_s: the nominal RTT, s.

    Returns:
        One row a cut, in the order of time: peak_s (f64, s, last sample before the fall),
        peak_pkts (f64, packets), cut_s (f64, s, first sample after the fall), after_pkts (f64,
        packets, after the last fall of the event). No rows for a flow without samples or losses.

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


def recovery_times(cuts: pl.DataFrame) -> pl.Series:
    """Times in s from each cut to the next peak; the last cut has none.

    Args:
        cuts: as ``find_cuts`` returns them.
    """
    return cuts.select((pl.col("peak_s").shift(-1) - pl.col("cut_s")).alias("recovery_s"))[
        "recovery_s"
    ].drop_nulls()


def time_reached_again(
    bins: pl.DataFrame, level_mbps: float, since_s: float | None
) -> float | None:
    """End in s of the first bin at or above level_mbps after one below it, later than since_s.

    Args:
        bins: of one link: time_s (f64, s, end of the bin), mbps (f64, Mbit/s), in order of time.
        level_mbps: Mbit/s.
        since_s: s; None (there was no cut) gives None.

    >>> bins = pl.DataFrame({"time_s": [1.0, 2.0, 3.0, 4.0], "mbps": [9.0, 9.0, 5.0, 9.0]})
    >>> time_reached_again(bins, 9.0, since_s=1.5)
    4.0
    """
    if since_s is None:
        return None
    later = bins.filter(pl.col("time_s") > since_s)
    below = later.filter(pl.col("mbps") < level_mbps)
    if below.is_empty():
        return None
    return first_time_at_least(
        later.filter(pl.col("time_s") > below["time_s"][0]), "mbps", level_mbps
    )


def time_back_to_first_peak(cwnd: pl.DataFrame, cuts: pl.DataFrame) -> float | None:
    """Time in s from the first cut until cwnd is back near the cut's peak; None if it never is.

    Back means within 5 % of the peak: the tops of a saw-tooth differ by a few packets.

    Args:
        cwnd: of one flow: time_s (f64, s), cwnd_pkts (f64, packets), in the order of time.
        cuts: of the flow, as ``find_cuts`` returns them.
    """
    if cuts.is_empty():
        return None
    first = cuts.row(0, named=True)
    later = cwnd.filter(pl.col("time_s") > first["cut_s"])
    back_s = first_time_at_least(later, "cwnd_pkts", CUT_SHARE * first["peak_pkts"])
    return None if back_s is None else back_s - float(first["cut_s"])


def time_to_max_throughput(bins: pl.DataFrame) -> float | None:
    """End in s of the first bin within 1 % of the largest; None for a flow that sent nothing.

    Args:
        bins: of one flow: time_s (f64, s, end of the bin), mbps (f64, Mbit/s), in order of time.

    >>> bins = pl.DataFrame({"time_s": [1.0, 2.0, 3.0], "mbps": [50.0, 99.5, 100.0]})
    >>> time_to_max_throughput(bins)
    2.0
    """
    largest_mbps = bins["mbps"].max()
    if not isinstance(largest_mbps, float) or largest_mbps <= 0:
        return None
    return first_time_at_least(bins, "mbps", MAX_SHARE * largest_mbps)


def asymmetry(first: float | None, second: float | None) -> float | None:
    """(x1 - x2)/(x1 + x2) of two throughputs in Mbit/s (sharma2006, section 3.2).

    None where a flow was not measured or neither sent anything.

    >>> asymmetry(300.0, 100.0)
    0.5
    """
    if first is None or second is None or first + second == 0:
        return None
    return (first - second) / (first + second)


def jain_index(throughputs: Sequence[float | None]) -> float | None:
    """(sum x)^2/(n sum x^2) of throughputs in Mbit/s (Jain, Chiu and Hawe 1984).

    None where a flow was not measured or none sent anything.

    >>> jain_index([3.0, 0.0])
    0.5
    """
    known = [each for each in throughputs if each is not None]
    # Scaled by the largest, since the square of a tiny rate underflows.
    largest = max(known, default=0.0)
    if len(known) < len(throughputs) or largest == 0:
        return None
    scaled = [each / largest for each in known]
    return float(sum(scaled) ** 2 / (len(scaled) * sum(each * each for each in scaled)))
