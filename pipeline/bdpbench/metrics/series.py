"""Measures on one series: pure functions of a frame that return a number or a frame.

Windows are half-open on the left, ``(start_s, end_s]``: a bin is stamped with its end, so the bin
stamped start_s lies before the window and the one stamped end_s inside it. Samples of a moment
(cwnd, queue) follow the same rule, so that neighbouring windows share no sample.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from bdpbench.metrics.registry import CUT_SHARE, FAIRNESS_REGIONS, MAX_SHARE

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


def time_reached_and_kept(
    bins: pl.DataFrame, level_mbps: float, most_below_s: float
) -> float | None:
    """End in s of the first bin at or above level_mbps that begins a stay there.

    A stay ends when the bins below the level that follow it make up more than most_below_s; one
    that is broken up so does not count. The end of the run breaks no stay.

    Args:
        bins: of one link: time_s (f64, s, end of the bin), mbps (f64, Mbit/s), in order of time.
        level_mbps: Mbit/s.
        most_below_s: s.

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
    # A bin is a difference of two times: 0.3 s may come out a little more than that.
    kept = stretches.filter(pl.col("high") & (pl.col("below_s") <= most_below_s + 1e-9))
    return _first(kept["start_s"])


def time_back_to_first_peak(cwnd: pl.DataFrame, cuts: pl.DataFrame) -> float | None:
    """Time in s from the first cut until cwnd is back near the cut's peak; None if it never is.

    Back means within 5 % of the peak: the tops of a saw-tooth differ by a few packets.

    Args:
        cwnd: of one flow: time_s (f64, s), cwnd_pkts (f64, packets), in the order of time.
        cuts: of the flow, as ``find_cuts`` returns them.
    """
    return _time_from_first_cut_to(CUT_SHARE, cwnd, cuts)


def plateau_time(cwnd: pl.DataFrame, cuts: pl.DataFrame) -> float | None:
    """Time in s from the first cut until cwnd is clear of the cut's peak; None if it never is.

    Clear means more than 5 % above the peak: until then the flow probes near the window at which
    it lost a packet.

    Args:
        cwnd: of one flow: time_s (f64, s), cwnd_pkts (f64, packets), in the order of time.
        cuts: of the flow, as ``find_cuts`` returns them.
    """
    return _time_from_first_cut_to(2 - CUT_SHARE, cwnd, cuts)


def _time_from_first_cut_to(
    share_of_peak: float, cwnd: pl.DataFrame, cuts: pl.DataFrame
) -> float | None:
    if cuts.is_empty():
        return None
    first = cuts.row(0, named=True)
    later = cwnd.filter(pl.col("time_s") > first["cut_s"])
    reached_s = first_time_at_least(later, "cwnd_pkts", share_of_peak * first["peak_pkts"])
    return None if reached_s is None else reached_s - float(first["cut_s"])


def slow_start_end(cwnd: pl.DataFrame, ssthresh: pl.DataFrame) -> tuple[float | None, float | None]:
    """When slow start ends, and the ssthresh that its end leaves.

    A loss, or the law of Vegas, sets ssthresh to cwnd or less; within a sampling interval of an
    RTT slow start at most doubles cwnd. What sets ssthresh to more than twice cwnd of the sample
    before is the agent's own limit of its start.

    Args:
        cwnd: of one flow: time_s (f64, s), cwnd_pkts (f64, packets), in the order of time.
        ssthresh: of the flow, at the same times: time_s (f64, s), ssthresh_pkts (f64, packets).

    Returns:
        Time in s of the last sample before ssthresh is first set so, and its value in packets
        after that; None and None where it never is.

    >>> cwnd = pl.DataFrame({"time_s": [0.0, 0.1, 0.2], "cwnd_pkts": [1.0, 60.0, 40.0]})
    >>> samples = {"time_s": [0.0, 0.1, 0.2], "ssthresh_pkts": [99.0, 99.0, 40.0]}
    >>> slow_start_end(cwnd, pl.DataFrame(samples))
    (0.1, 40.0)
    """
    now, before = pl.col("ssthresh_pkts"), pl.col("ssthresh_pkts").shift(1)
    last_cwnd = pl.col("cwnd_pkts").shift(1)
    ends = (
        ssthresh.join(cwnd, on="time_s")
        .sort("time_s")
        .with_columns(
            before_s=pl.col("time_s").shift(1), is_end=(now != before) & (now <= 2 * last_cwnd)
        )
        .filter("is_end")
    )
    if ends.is_empty():
        return None, None
    first = ends.row(0, named=True)
    return float(first["before_s"]), float(first["ssthresh_pkts"])


def grown_again(cuts: pl.DataFrame) -> pl.DataFrame:
    """The cuts before which cwnd has grown, by at least 5 %, since the cut before; and the first.

    Args:
        cuts: as ``find_cuts`` returns them.
    """
    grown = pl.col("after_pkts").shift(1) <= CUT_SHARE * pl.col("peak_pkts")
    return cuts.filter(grown.fill_null(True))


def congestion_time(cuts: pl.DataFrame, full: pl.DataFrame) -> float | None:
    """Time in s from the first full peak to the last cut before the second; None without both.

    Args:
        cuts: of a flow, as ``find_cuts`` returns them.
        full: those of them whose peak counts as full.

    >>> cuts = pl.DataFrame({"peak_s": [1.0, 2.0, 9.0], "cut_s": [1.1, 2.1, 9.1]})
    >>> round(congestion_time(cuts, cuts.filter(pl.col("peak_s") != 2.0)), 3)
    1.1
    """
    if full.height < 2:
        return None
    first_s, second_s = full["peak_s"][:2]
    last_cut_s = cuts.filter(pl.col("peak_s") < second_s)["cut_s"][-1]
    return float(last_cut_s - first_s)


def settling_time(cwnd: pl.DataFrame, since_s: float) -> float | None:
    """Time in s at which cwnd first comes within 1 % of the level that it holds from since_s on.

    None where it holds none: a sample after since_s is more than 1 % off their mean.

    Args:
        cwnd: of one flow: time_s (f64, s), cwnd_pkts (f64, packets), in the order of time.
        since_s: s.

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


def growth_per_rtt(cuts: pl.DataFrame, rtt_s: float) -> pl.Series:
    """Growth of cwnd in % a round trip, as if it were exponential, of each ascent between cuts.

    Args:
        cuts: as ``find_cuts`` returns them; the last has no ascent after it.
        rtt_s: the nominal RTT, s.

    >>> row = {"peak_s": [1.0, 8.0], "peak_pkts": [20.0, 20.0]}
    >>> cuts = pl.DataFrame({**row, "cut_s": [1.0, 9.0], "after_pkts": [10.0, 10.0]})
    >>> [round(each, 3) for each in growth_per_rtt(cuts, rtt_s=7.0)]  # doubled in an RTT
    [100.0]
    """
    round_trips = (pl.col("peak_s").shift(-1) - pl.col("cut_s")) / rtt_s
    ratio = pl.col("peak_pkts").shift(-1) / pl.col("after_pkts")
    growth = (100 * ((ratio.log() / round_trips).exp() - 1)).alias("growth_pct")
    return cuts.select(growth.filter(round_trips > 0))["growth_pct"]


def variation(values: pl.Series) -> float | None:
    """Standard deviation of the values over their mean; None without values or with mean 0.

    >>> variation(pl.Series([1.0, 3.0]))
    0.5
    """
    mean, deviation = values.mean(), values.std(ddof=0)
    if not isinstance(mean, float) or not isinstance(deviation, float) or mean == 0:
        return None
    return deviation / mean


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


def fairness_region(of_asymmetry: float) -> int:
    """Region of an asymmetry: |A| in five equal parts, from 1 (fair) to 5 (sharma2006, 5.2).

    >>> [fairness_region(each) for each in (0.0, -0.19, 0.2, 0.5, -1.0)]
    [1, 1, 2, 3, 5]
    """
    return min(FAIRNESS_REGIONS, int(abs(of_asymmetry) * FAIRNESS_REGIONS) + 1)


def convergence_time(
    first: pl.DataFrame, second: pl.DataFrame, start_s: float, window_s: float, most: float
) -> float | None:
    """Time in s from start_s to the end of the first window in which two flows share fairly.

    Args:
        first: bins of one flow: time_s (f64, s, end of the bin), mbps (f64, Mbit/s), in order of
            time.
        second: bins of the other, with equal times.
        start_s: start of the second flow, s.
        window_s: length of the windows, s; one begins with every bin.
        most: largest |asymmetry| that counts as fair.
    """
    both = first.select("time_s", one="mbps").join(second.select("time_s", two="mbps"), on="time_s")
    both = both.filter(pl.col("time_s") > start_s).sort("time_s")
    step_s = both["time_s"].diff().median()
    if not isinstance(step_s, float):
        return None
    rows = max(1, round(window_s / step_s))
    sums = both.select("time_s", pl.col("one", "two").rolling_sum(rows)).drop_nulls()
    difference, total = (pl.col("one") - pl.col("two")).abs(), pl.col("one") + pl.col("two")
    fair_s = _first(sums.filter((total > 0) & (difference <= most * total))["time_s"])
    return None if fair_s is None else fair_s - start_s


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


def _first(values: pl.Series) -> float | None:
    return None if values.is_empty() else float(values[0])
