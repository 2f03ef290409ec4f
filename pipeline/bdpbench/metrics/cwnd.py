"""A flow's cwnd: how it rises and how far, what a loss costs it, and what comes after."""

from __future__ import annotations

import functools

import polars as pl

from bdpbench.metrics.definition import flow_metric
from bdpbench.metrics.series import (
    first_time_at_least,
    in_window,
    median,
    nth,
    number,
    settling_time,
    variation,
)
from bdpbench.metrics.terms import CUT, CUT_SHARE, FULL, HALF, PEAK_SHARE, THESIS, XU, ZHANG
from bdpbench.metrics.views import FlowView, second_half

_of_cuts = functools.partial(flow_metric, tables=("cwnd",), parameters=("rtt_ms",))
_of_full_cuts = functools.partial(flow_metric, tables=("cwnd",), parameters=("bdp_pkts", "rtt_ms"))
_SETTLED = (
    "For a flow that has no such peak and holds its cwnd within 1 % over the last quarter of the "
    "run, {} it first comes within 1 % of that level."
)
_LATER = (
    "that follow the first full peak's own cut (a full peak is at or above 90 % of the nominal BDP)"
)


@flow_metric(
    unit="s",
    title="Time to 90 % of the BDP",
    text=f"Simulated time of the first cwnd sample {FULL} "
    "(bottleneck rate times nominal RTT, in packets of payload size).",
    source=f"{THESIS}, Table 1, column 2, and section 4 (BDP of 7,775 packets)",
    tables=("cwnd",),
    parameters=("bdp_pkts",),
)
def time_to_90pct_cwnd(flow: FlowView) -> float | None:
    return first_time_at_least(flow.cwnd, "cwnd_pkts", flow.full_pkts)


@flow_metric(
    unit="s",
    title="Time to 90 % of the BDP, one early loss",
    text="Simulated time, from the start of the run, of the first cwnd sample after the first cut "
    f"{FULL}. {CUT}",
    source=f"{THESIS}, Table 1, column 3, and section 4, experiment 2",
    tables=("cwnd",),
    parameters=("bdp_pkts", "rtt_ms", "drop_packet"),
)
def time_to_90pct_cwnd_after_drop(flow: FlowView) -> float | None:
    cut_s = nth(flow.cuts["cut_s"], 0)
    if cut_s is None:
        return None
    later = flow.cwnd.filter(pl.col("time_s") > cut_s)
    return first_time_at_least(later, "cwnd_pkts", flow.full_pkts)


@_of_full_cuts(
    unit="s",
    title="Time to the top of the first ascent",
    text=f"Simulated time of the first peak {FULL}: the top of the first full ascent. "
    f"{_SETTLED.format('the time at which')} {CUT}",
    source=f"{THESIS}, sections 4.1.3.1, 4.2.3.1 and 4.5.3.1",
)
def time_to_max_cwnd(flow: FlowView) -> float | None:
    return nth(flow.full_cuts["peak_s"], 0) if flow.full_cuts.height else _settled_s(flow)


@_of_full_cuts(
    unit="packets",
    title="cwnd at the first full peak",
    text=f"cwnd at the first peak {FULL}: the largest cwnd that the flow had before its own "
    f"losses. {CUT}",
    source=f"{THESIS}, section 4.3.3.1",
)
def first_full_peak(flow: FlowView) -> float | None:
    return nth(flow.full_cuts["peak_pkts"], 0)


@_of_full_cuts(
    unit="packets",
    title="cwnd at the second full peak",
    text=f"cwnd at the second peak {FULL}. {CUT}",
    source=f"{THESIS}, section 4.3.3.1",
)
def second_full_peak(flow: FlowView) -> float | None:
    return nth(flow.full_cuts["peak_pkts"], 1)


@flow_metric(
    unit="packets",
    title="Smallest cwnd",
    text=f"Smallest sample of cwnd over {HALF}. After a timeout cwnd is one packet for an RTT.",
    source=f"{ZHANG}, section 3.3 (windows that are reset to one packet)",
    tables=("cwnd",),
    window=second_half,
)
def min_cwnd(flow: FlowView) -> float | None:
    return number(flow.cwnd.filter(in_window(*second_half(flow)))["cwnd_pkts"].min())


@flow_metric(
    unit="packets",
    title="Largest cwnd",
    text="Largest sample of cwnd.",
    source=f"{THESIS}, section 4.3.3.1",
    tables=("cwnd",),
)
def max_cwnd(flow: FlowView) -> float | None:
    return number(flow.cwnd["cwnd_pkts"].max())


@_of_full_cuts(
    unit="s",
    title="Time from the first cut to the next top",
    text="Time from the first cut to the next peak at or above 90 % of what path and buffer hold, "
    "the nominal bandwidth-delay product plus the bottleneck's buffer. "
    f"{_SETTLED.format('to the time at which')} {CUT}",
    source=f"{XU}, section 3.2 and Figure 3.9 (the first congestion avoidance phase)",
    optional=("buffer_pkts",),
)
def first_recovery_time(flow: FlowView) -> float | None:
    cuts = flow.cuts
    if cuts.is_empty():
        return None
    buffer_pkts = flow.number("buffer_pkts") if flow.has("buffer_pkts") else 0.0
    top_pkts = PEAK_SHARE * (flow.positive("bdp_pkts") + buffer_pkts)
    cut_s = float(cuts["cut_s"][0])
    tops = cuts.slice(1).filter(pl.col("peak_pkts") >= top_pkts)
    top_s = nth(tops["peak_s"], 0) if tops.height else _settled_s(flow)
    return None if top_s is None or top_s < cut_s else top_s - cut_s


def _settled_s(flow: FlowView) -> float | None:
    """When a flow that reaches 90 % of the BDP settles, if it does by the last quarter."""
    if first_time_at_least(flow.cwnd, "cwnd_pkts", flow.full_pkts) is None:
        return None
    return settling_time(flow.cwnd, 0.75 * flow.run.duration_s)


@_of_cuts(
    unit="s",
    title="Time of the first cut of cwnd",
    text=f"Time of the peak of the first cut, after which cwnd falls for the first time. {CUT}",
    source=f"{THESIS}, section 4.2.3.2",
)
def first_cut_time(flow: FlowView) -> float | None:
    return nth(flow.cuts["peak_s"], 0)


@_of_cuts(
    unit="1",
    title="Share of cwnd kept at the first cut",
    text=f"cwnd after the first cut divided by its peak. {CUT}",
    source=f"{THESIS}, section 4.1.3.1",
)
def first_cut_ratio(flow: FlowView) -> float | None:
    return nth(_kept(flow.cuts), 0)


@_of_cuts(
    unit="packets",
    title="cwnd after the first cut",
    text=f"cwnd after the first cut, in the first sample behind it. {CUT}",
    source=f"{XU}, section 3.2 (cwnd of Westwood and Vegas as congestion avoidance begins)",
)
def first_cut_after(flow: FlowView) -> float | None:
    return nth(flow.cuts["after_pkts"], 0)


@_of_cuts(
    unit="1",
    title="Share of cwnd kept at the second cut",
    text=f"cwnd after the second cut divided by its peak. {CUT}",
    source=f"{THESIS}, section 4.6.3.1",
)
def second_cut_ratio(flow: FlowView) -> float | None:
    return nth(_kept(flow.cuts), 1)


@_of_full_cuts(
    unit="1",
    title="Share of cwnd kept at later cuts",
    text=f"Median, over all cuts but the first whose peak is {FULL}, of cwnd after the cut divided "
    f"by the peak. {CUT}",
    source=f"{THESIS}, section 4.2.3.1",
)
def later_cut_ratio(flow: FlowView) -> float | None:
    return median(_kept(flow.full_cuts.filter(pl.col("cut") > 0)))


@_of_full_cuts(
    unit="1",
    title="Share of cwnd kept at the first full peak",
    text=f"cwnd after the first cut whose peak is {FULL}, divided by the peak. {CUT}",
    source=f"{XU}, section 3.4 (Scalable TCP's first peak)",
)
def first_full_cut_ratio(flow: FlowView) -> float | None:
    return nth(_kept(flow.full_cuts), 0)


@_of_full_cuts(
    unit="s",
    title="Time to recover from a cut",
    text=f"Median time from a cut to the next peak, over the cuts {_LATER}. {CUT}",
    source=f"{THESIS}, sections 4.1.3.1 and 4.2.3.1",
)
def recovery_time(flow: FlowView) -> float | None:
    return median(recovery_times(_after_first_full_peak(flow)))


@_of_full_cuts(
    unit="%",
    title="Growth of cwnd in an RTT",
    text="Median growth of cwnd in a nominal RTT, as if it were exponential, of the ascents "
    f"between cuts {_LATER}. {CUT}",
    source=f"{THESIS}, Table 3: whether the increase parameter is fixed",
)
def growth_per_rtt(flow: FlowView) -> float | None:
    return median(growths_per_rtt(_after_first_full_peak(flow), flow.rtt_s))


@_of_cuts(
    unit="s",
    title="Time back to the first peak",
    text="Time from the first cut to the first later cwnd sample at or above 95 % of that cut's "
    f"peak. {CUT}",
    source=f"{THESIS}, section 1.2, on Figures 2 and 3",
)
def time_back_to_first_peak(flow: FlowView) -> float | None:
    # The tops of a saw-tooth differ by a few packets.
    return _time_from_first_cut_to(CUT_SHARE, flow)


@_of_cuts(
    unit="s",
    title="Time near the peak of the first cut",
    text="Time from the first cut to the first later cwnd sample at or above 105 % of that cut's "
    f"peak: how long the flow stays at the window at which it lost a packet. {CUT}",
    source=f"{THESIS}, section 4.3.3.2",
)
def plateau_time(flow: FlowView) -> float | None:
    return _time_from_first_cut_to(2 - CUT_SHARE, flow)


@_of_full_cuts(
    unit="s",
    title="Time from the first to the second full peak",
    text=f"Time from the first to the second peak {FULL} to which cwnd has grown, by at least 5 % "
    f"since the cut before it. {CUT}",
    source=f"{XU}, section 3.4 (the time that Scalable TCP needs to get back to its peak)",
)
def full_peak_interval(flow: FlowView) -> float | None:
    return nth(flow.risen_full_cuts["peak_s"].diff(), 1)


@_of_full_cuts(
    unit="s",
    title="Time of cuts after the first full peak",
    text=f"Time from the first peak {FULL} to the last cut before the second such peak to which "
    "cwnd has grown, by at least 5 % since the cut before it: how long the flow goes on cutting "
    f"before it grows again. {CUT}",
    source=f"{XU}, section 3.4 (the time to resolve the congestion)",
)
def congestion_time(flow: FlowView) -> float | None:
    full = flow.risen_full_cuts
    if full.height < 2:
        return None
    first_s, second_s = full["peak_s"][:2]
    last_cut_s = flow.cuts.filter(pl.col("peak_s") < second_s)["cut_s"][-1]
    return float(last_cut_s - first_s)


@flow_metric(
    unit="1",
    title="Variation of cwnd",
    text=f"Standard deviation of the samples of cwnd over their mean, over {HALF}: 0 for a cwnd "
    "that is held, 0.19 for a straight saw-tooth between half and full.",
    source=f"{THESIS}, sections 4.3.3.3, 4.5.3.1 and 4.5.3.3 (stable, oscillating)",
    tables=("cwnd",),
    window=second_half,
)
def cwnd_variation(flow: FlowView) -> float | None:
    return variation(flow.cwnd.filter(in_window(*second_half(flow)))["cwnd_pkts"])


def _kept(cuts: pl.DataFrame) -> pl.Series:
    return cuts["after_pkts"] / cuts["peak_pkts"]


def _after_first_full_peak(flow: FlowView) -> pl.DataFrame:
    full, cuts = flow.full_cuts, flow.cuts
    return cuts.slice(int(full["cut"][0]) + 1) if full.height else cuts.clear()


def _time_from_first_cut_to(share_of_peak: float, flow: FlowView) -> float | None:
    if flow.cuts.is_empty():
        return None
    first = flow.cuts.row(0, named=True)
    later = flow.cwnd.filter(pl.col("time_s") > first["cut_s"])
    reached_s = first_time_at_least(later, "cwnd_pkts", share_of_peak * first["peak_pkts"])
    return None if reached_s is None else reached_s - float(first["cut_s"])


def recovery_times(cuts: pl.DataFrame) -> pl.Series:
    """Times in s from each cut to the next peak; the last cut has none.

    Args:
        cuts: as ``find_cuts`` returns them.
    """
    return (cuts["peak_s"].shift(-1) - cuts["cut_s"]).drop_nulls()


def growths_per_rtt(cuts: pl.DataFrame, rtt_s: float) -> pl.Series:
    """Growth of cwnd in % per round trip, as if exponential, of each ascent between cuts.

    Args:
        cuts: as ``find_cuts`` returns them; no ascent follows the last.
        rtt_s: the nominal RTT, s.

    >>> row = {"peak_s": [1.0, 8.0], "peak_pkts": [20.0, 20.0]}
    >>> cuts = pl.DataFrame({**row, "cut_s": [1.0, 9.0], "after_pkts": [10.0, 10.0]})
    >>> [round(each, 3) for each in growths_per_rtt(cuts, rtt_s=7.0)]  # doubled in an RTT
    [100.0]
    """
    round_trips = (pl.col("peak_s").shift(-1) - pl.col("cut_s")) / rtt_s
    ratio = pl.col("peak_pkts").shift(-1) / pl.col("after_pkts")
    growth = (100 * ((ratio.log() / round_trips).exp() - 1)).alias("growth_pct")
    return cuts.select(growth.filter(round_trips > 0))["growth_pct"]
