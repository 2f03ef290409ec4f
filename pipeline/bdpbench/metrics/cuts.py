"""What a flow's losses cost it: cuts of cwnd, and what comes after them."""

from __future__ import annotations

import polars as pl

from bdpbench.metrics.definition import flow_metric
from bdpbench.metrics.series import first_time_at_least, in_window, median, nth, variation
from bdpbench.metrics.thresholds import CUT_SHARE
from bdpbench.metrics.views import FlowView, second_half
from bdpbench.metrics.words import CUT, HALF, THESIS, XU


@flow_metric(
    unit="s",
    title="Time of the first cut of cwnd",
    text=f"Time of the peak of the first cut, after which cwnd falls for the first time. {CUT}",
    source=f"{THESIS}, section 4.2.3.2",
    tables=("cwnd",),
    parameters=("rtt_ms",),
    version=1,
)
def first_cut_time(flow: FlowView) -> float | None:
    return nth(flow.cuts["peak_s"], 0)


@flow_metric(
    unit="1",
    title="Share of cwnd kept at the first cut",
    text=f"cwnd after the first cut divided by its peak. {CUT}",
    source=f"{THESIS}, section 4.1.3.1",
    tables=("cwnd",),
    parameters=("rtt_ms",),
    version=1,
)
def first_cut_ratio(flow: FlowView) -> float | None:
    return nth(_kept(flow.cuts), 0)


@flow_metric(
    unit="packets",
    title="cwnd after the first cut",
    text=f"cwnd after the first cut, in the first sample behind it. {CUT}",
    source=f"{XU}, section 3.2 (cwnd of Westwood and Vegas as congestion avoidance begins)",
    tables=("cwnd",),
    parameters=("rtt_ms",),
    version=1,
)
def first_cut_after(flow: FlowView) -> float | None:
    return nth(flow.cuts["after_pkts"], 0)


@flow_metric(
    unit="1",
    title="Share of cwnd kept at the second cut",
    text=f"cwnd after the second cut divided by its peak. {CUT}",
    source=f"{THESIS}, section 4.6.3.1",
    tables=("cwnd",),
    parameters=("rtt_ms",),
    version=1,
)
def second_cut_ratio(flow: FlowView) -> float | None:
    return nth(_kept(flow.cuts), 1)


@flow_metric(
    unit="1",
    title="Share of cwnd kept at later cuts",
    text="Median, over all cuts but the first whose peak is at or above 90 % of the nominal "
    f"bandwidth-delay product, of cwnd after the cut divided by the peak. {CUT}",
    source=f"{THESIS}, section 4.2.3.1",
    tables=("cwnd",),
    parameters=("bdp_pkts", "rtt_ms"),
    version=1,
)
def later_cut_ratio(flow: FlowView) -> float | None:
    return median(_kept(flow.full_cuts.filter(pl.col("cut") > 0)))


@flow_metric(
    unit="1",
    title="Share of cwnd kept at the first full peak",
    text="cwnd after the first cut whose peak is at or above 90 % of the nominal bandwidth-delay "
    f"product, divided by the peak. {CUT}",
    source=f"{XU}, section 3.4 (Scalable TCP's first peak)",
    tables=("cwnd",),
    parameters=("bdp_pkts", "rtt_ms"),
    version=1,
)
def first_full_cut_ratio(flow: FlowView) -> float | None:
    return nth(_kept(flow.full_cuts), 0)


@flow_metric(
    unit="s",
    title="Time to recover from a cut",
    text="Median time from a cut to the next peak, over the cuts that follow the first full peak's "
    f"own cut (a full peak is at or above 90 % of the nominal BDP). {CUT}",
    source=f"{THESIS}, sections 4.1.3.1 and 4.2.3.1",
    tables=("cwnd",),
    parameters=("bdp_pkts", "rtt_ms"),
    version=1,
)
def recovery_time(flow: FlowView) -> float | None:
    return median(recovery_times(_after_first_full_peak(flow)))


@flow_metric(
    unit="%",
    title="Growth of cwnd in an RTT",
    text="Median growth of cwnd in a nominal RTT, as if it were exponential, of the ascents "
    "between cuts that follow the first full peak's own cut (a full peak is at or above 90 % "
    f"of the nominal BDP). {CUT}",
    source=f"{THESIS}, Table 3: whether the increase parameter is fixed",
    tables=("cwnd",),
    parameters=("bdp_pkts", "rtt_ms"),
    version=1,
)
def growth_per_rtt(flow: FlowView) -> float | None:
    return median(growths_per_rtt(_after_first_full_peak(flow), flow.rtt_s))


@flow_metric(
    unit="s",
    title="Time back to the first peak",
    text="Time from the first cut to the first later cwnd sample at or above 95 % of that cut's "
    f"peak. {CUT}",
    source=f"{THESIS}, section 1.2, on Figures 2 and 3",
    tables=("cwnd",),
    parameters=("rtt_ms",),
    version=1,
)
def time_back_to_first_peak(flow: FlowView) -> float | None:
    # The tops of a saw-tooth differ by a few packets.
    return _time_from_first_cut_to(CUT_SHARE, flow)


@flow_metric(
    unit="s",
    title="Time near the peak of the first cut",
    text="Time from the first cut to the first later cwnd sample at or above 105 % of that cut's "
    f"peak: how long the flow stays at the window at which it lost a packet. {CUT}",
    source=f"{THESIS}, section 4.3.3.2",
    tables=("cwnd",),
    parameters=("rtt_ms",),
    version=1,
)
def plateau_time(flow: FlowView) -> float | None:
    return _time_from_first_cut_to(2 - CUT_SHARE, flow)


@flow_metric(
    unit="s",
    title="Time from the first to the second full peak",
    text="Time from the first to the second peak at or above 90 % of the nominal bandwidth-delay "
    f"product to which cwnd has grown, by at least 5 % since the cut before it. {CUT}",
    source=f"{XU}, section 3.4 (the time that Scalable TCP needs to get back to its peak)",
    tables=("cwnd",),
    parameters=("bdp_pkts", "rtt_ms"),
    version=1,
)
def full_peak_interval(flow: FlowView) -> float | None:
    return nth(flow.risen_full_cuts["peak_s"].diff(), 1)


@flow_metric(
    unit="s",
    title="Time of cuts after the first full peak",
    text="Time from the first peak at or above 90 % of the nominal bandwidth-delay product to the "
    "last cut before the second such peak to which cwnd has grown, by at least 5 % since the "
    f"cut before it: how long the flow goes on cutting before it grows again. {CUT}",
    source=f"{XU}, section 3.4 (the time to resolve the congestion)",
    tables=("cwnd",),
    parameters=("bdp_pkts", "rtt_ms"),
    version=1,
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
    version=1,
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
    return cuts.select((pl.col("peak_s").shift(-1) - pl.col("cut_s")).alias("recovery_s"))[
        "recovery_s"
    ].drop_nulls()


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
