"""Metrics of a flow: its cwnd and what a loss costs it, its slow start, its throughput and goodput,
and points of its response function.
"""

from __future__ import annotations

import functools

import polars as pl

from bdpbench.metrics.definition import CUT, FULL, SETTLED, THESIS, Window, flow_metric
from bdpbench.metrics.series import (
    first_time_at_least,
    in_window,
    inside,
    mean,
    median,
    nth,
    number,
    settling_time,
    variation,
)
from bdpbench.metrics.views import FlowView, counted, second_half
from bdpbench.units import BITS_PER_BYTE

_of_cuts = functools.partial(flow_metric, tables=("cwnd",), parameters=("rtt_ms",))
_of_full_cuts = functools.partial(flow_metric, tables=("cwnd",), parameters=("bdp_pkts", "rtt_ms"))


@flow_metric(
    "s",
    "Time to 90 % of the BDP",
    f"{THESIS}, Table 1, column 2, and section 4 (BDP of 7,775 packets)",
    tables=("cwnd",),
    parameters=("bdp_pkts",),
    better="less",
    apart=0.05,
)
def time_to_90pct_cwnd(flow: FlowView) -> float | None:
    """Simulated time of the first cwnd sample {FULL} (bottleneck rate times nominal RTT, in packets
    of payload size).
    """
    return first_time_at_least(flow.cwnd, "cwnd_pkts", flow.full_pkts)


@_of_full_cuts(
    unit="s",
    title="Time to the top of the first ascent",
    text=f"Simulated time of the first peak {FULL}: the top of the first full ascent. "
    f"{SETTLED.format('the time at which')} {CUT}",
    source=f"{THESIS}, sections 4.1.3.1, 4.2.3.1 and 4.5.3.1",
    better="less",
    apart=0.05,
)
def time_to_max_cwnd(flow: FlowView) -> float | None:
    return nth(flow.full_cuts["peak_s"], 0) if flow.full_cuts.height else settled_s(flow)


@_of_full_cuts("packets", "cwnd at the first full peak", f"{THESIS}, section 4.3.3.1")
def first_full_peak(flow: FlowView) -> float | None:
    """cwnd at the first peak {FULL}: the largest cwnd that the flow had before its own losses.
    {CUT}
    """
    return nth(flow.full_cuts["peak_pkts"], 0)


@flow_metric("packets", "Largest cwnd", f"{THESIS}, section 4.3.3.1", tables=("cwnd",))
def max_cwnd(flow: FlowView) -> float | None:
    """Largest sample of cwnd."""
    return number(flow.cwnd["cwnd_pkts"].max())


def settled_s(flow: FlowView) -> float | None:
    """When a flow that reaches 90 % of the BDP settles, if it does by the last quarter."""
    if first_time_at_least(flow.cwnd, "cwnd_pkts", flow.full_pkts) is None:
        return None
    return settling_time(flow.cwnd, 0.75 * flow.run.duration_s)


@_of_cuts("s", "Time of the first cut of cwnd", f"{THESIS}, section 4.2.3.2")
def first_cut_time(flow: FlowView) -> float | None:
    """Time of the peak of the first cut, after which cwnd falls for the first time. {CUT}"""
    return nth(flow.cuts["peak_s"], 0)


@_of_full_cuts("1", "Share of cwnd kept at later cuts", f"{THESIS}, section 4.2.3.1")
def later_cut_ratio(flow: FlowView) -> float | None:
    """Median, over all cuts but the first whose peak is {FULL}, of cwnd after the cut divided by
    the peak. {CUT}
    """
    return median(kept_shares(flow.full_cuts.filter(pl.col("cut") > 0)))


@_of_full_cuts(
    "s",
    "Time to recover from a cut",
    f"{THESIS}, sections 4.1.3.1 and 4.2.3.1",
    better="less",
    apart=0.05,
)
def recovery_time(flow: FlowView) -> float | None:
    """Median time from a cut to the next peak, over the cuts {AFTER_FIRST_FULL_PEAK}. {CUT}"""
    return median(recovery_times(after_first_full_peak(flow)))


@flow_metric(
    "1",
    "Variation of cwnd",
    f"{THESIS}, sections 4.3.3.3, 4.5.3.1 and 4.5.3.3 (stable, oscillating)",
    tables=("cwnd",),
    window=second_half,
)
def cwnd_variation(flow: FlowView) -> float | None:
    """Standard deviation of the samples of cwnd over their mean, over {HALF}: 0 for a cwnd that is
    held, 0.19 for a straight saw-tooth between half and full.
    """
    return variation(flow.cwnd.filter(in_window(*second_half(flow)))["cwnd_pkts"])


def kept_shares(cuts: pl.DataFrame) -> pl.Series:
    return cuts["after_pkts"] / cuts["peak_pkts"]


def after_first_full_peak(flow: FlowView) -> pl.DataFrame:
    full, cuts = flow.full_cuts, flow.cuts
    return cuts.slice(int(full["cut"][0]) + 1) if full.height else cuts.clear()


def recovery_times(cuts: pl.DataFrame) -> pl.Series:
    """Times in s from each cut to the next peak; the last cut has none.

    Args:
        cuts: as ``find_cuts`` returns them.
    """
    return (cuts["peak_s"].shift(-1) - cuts["cut_s"]).drop_nulls()


_RECORDED, _ACK = "recorded", "ack_"


def mbps_of_payload(flow: FlowView, packets: float, window: Window) -> float:
    """Rate of packets of payload in a window; needs packet_bytes."""
    start_s, end_s = window
    return BITS_PER_BYTE * flow.positive("packet_bytes") * packets / 1e6 / (end_s - start_s)


def _counts(name: str, flow: FlowView) -> bool:
    """Whether the report counts it, of a flow of which something departed."""
    return flow.fact(name) is not None and bool(flow.fact("packets"))


@flow_metric(
    "Mbit/s",
    "Goodput",
    "RFC 5166, section 2.1.1 (goodput)",
    tables=("facts",),
    window=counted,
    when=functools.partial(_counts, "goodput"),
    better="more",
    apart=0.02,
)
def goodput(flow: FlowView) -> float | None:
    """Data of the flow that was acknowledged for the first time, without headers and
    retransmissions, {COUNTED}. Of flows of which something departed in it.
    """
    return flow.fact("goodput")


def _acknowledged(flow: FlowView) -> pl.DataFrame:
    """Samples of the highest packet known to be acknowledged by the sender, counted from 0."""
    samples = flow.rows(_RECORDED).filter(pl.col("name") == _ACK)
    return samples.filter(pl.col("time_s") > (flow.fact("start") or 0.0))


def _has_acknowledged(flow: FlowView) -> bool:
    return not flow.has_own("size_pkts") and not _acknowledged(flow).is_empty()


def _since_start(flow: FlowView) -> Window:
    return (flow.fact("start") or 0.0, float(_acknowledged(flow)["time_s"][-1]))


@flow_metric(
    "Mbit/s",
    "Goodput of the whole run",
    "RFC 5166, section 2.1.1 (goodput)",
    tables=(_RECORDED, "facts"),
    parameters=("packet_bytes",),
    window=_since_start,
    when=_has_acknowledged,
    better="more",
    apart=0.02,
)
def overall_goodput(flow: FlowView) -> float | None:
    """Data of the flow that its sender has seen acknowledged in order, without headers and
    retransmissions, from the flow's start to the end of the run, slow start included. Of flows
    without an end whose protocol records {_ACK}.
    """
    return mbps_of_payload(flow, float(_acknowledged(flow)["value"][-1]) + 1, _since_start(flow))


@flow_metric(
    "packets",
    "Retransmissions",
    "ns-2, tcp.cc (nrexmitpack_)",
    tables=("facts",),
    window=counted,
    when=functools.partial(_counts, "retransmissions"),
    better="less",
    apart=0.05,
)
def retransmissions(flow: FlowView) -> float | None:
    """Packets that the flow's sender sent again, {COUNTED}. Of flows of which something departed in
    it.
    """
    return flow.fact("retransmissions")


@flow_metric(
    "Mbit/s",
    "Mean throughput",
    f"{THESIS}, section 3.2",
    tables=("throughput",),
    window=second_half,
    better="more",
    apart=0.02,
)
def mean_throughput(flow: FlowView) -> float | None:
    """Departures of the flow from the bottleneck's queue, {WITH_ALL}, over {HALF}. {BINS}"""
    return mean(flow.throughput, "mbps", second_half(flow))


# Each is a point only together with the loss rate, hence the tables and parameters of the latter.
_of_response = functools.partial(
    flow_metric,
    tables=("throughput", "cwnd"),
    parameters=("packet_bytes", "rtt_ms"),
    window=second_half,
)


@_of_response(
    "1",
    "Loss events per packet",
    "RFC 5348, section 5 (losses within an RTT are one event); RFC 3649, section 2",
)
def loss_event_rate(flow: FlowView) -> float | None:
    """Cuts of cwnd over the packets that departed from the bottleneck, over {HALF}; packets are
    departures, headers included, over the payload's size. {CUT}
    """
    start_s, end_s = second_half(flow)
    mean_mbps = mean(flow.throughput, "mbps", (start_s, end_s)) or 0.0
    bits = mean_mbps * 1e6 * (end_s - start_s)
    packets = bits / BITS_PER_BYTE / flow.positive("packet_bytes")
    return _late_cuts(flow).height / packets if packets else None


@_of_response(
    "packets", "Mean cwnd", "RFC 3649, section 2 (the congestion window of a response function)"
)
def mean_cwnd(flow: FlowView) -> float | None:
    """Mean of the samples of cwnd over {HALF}."""
    return mean(flow.cwnd, "cwnd_pkts", second_half(flow))


@_of_response(
    "packets",
    "Packets that cwnd gains in an RTT",
    "RFC 3649, section 5 (a(w)); Floyd and Fall (1999), on increase and decrease",
)
def packets_added_per_rtt(flow: FlowView) -> float | None:
    """What cwnd gained between the cuts of {HALF}, over the nominal RTTs that it took: a(w) of laws
    that are written as w := w + a(w)/w for each ACK. {CUT}
    """
    gained_pkts, took_s = _ascents(_late_cuts(flow)).sum().row(0)
    return gained_pkts / (took_s / flow.rtt_s) if took_s else None


@_of_response(
    "1",
    "Share of cwnd given up at a cut",
    "RFC 3649, section 5 (b(w)); Floyd and Fall (1999), on increase and decrease",
)
def mean_cut_share(flow: FlowView) -> float | None:
    """Mean over the cuts of {HALF} of what cwnd lost over its peak: b(w) of laws that are written
    as w := (1 - b(w)) w. {CUT}
    """
    cuts = _late_cuts(flow)
    return number(cuts.select(1 - pl.col("after_pkts") / pl.col("peak_pkts")).to_series().mean())


def _late_cuts(flow: FlowView) -> pl.DataFrame:
    """The cuts of the second half of the run."""
    return flow.cuts.filter(inside("cut_s", *second_half(flow)))


def _ascents(cuts: pl.DataFrame) -> pl.DataFrame:
    """gained_pkts (f64, packets) and took_s (f64, s) from each cut to the peak before the next.

    >>> cuts = pl.DataFrame(
    ...     {"peak_s": [1, 9], "peak_pkts": [20, 18], "cut_s": [2, 10], "after_pkts": [10, 9]}
    ... )
    >>> _ascents(cuts).rows()
    [(8, 7)]
    """
    gained_pkts, took_s = (
        pl.col(peak).shift(-1) - pl.col(after)
        for peak, after in (("peak_pkts", "after_pkts"), ("peak_s", "cut_s"))
    )
    ascents = cuts.select(gained_pkts=gained_pkts, took_s=took_s).drop_nulls()
    return ascents.filter(pl.col("took_s") > 0)
