"""Metrics of this study alone: of the first loss, and of what comes after it."""

from __future__ import annotations

import functools

import polars as pl

from bdpbench.contracts.judged import Better
from bdpbench.metrics import FlowView, LinkView, flow_metric, link_metric, second_half, whole
from bdpbench.metrics.definition import CUT, SETTLED
from bdpbench.metrics.flows import kept_shares, mbps_of_payload, settled_s
from bdpbench.metrics.packets.definitions import PACKET_DEFINITIONS, PacketMetric
from bdpbench.metrics.series import (
    CUT_SHARE,
    PEAK_SHARE,
    first_time_at_least,
    last_until,
    mean,
    nth,
)
from bdpbench.metrics.views import PACKET_FLOWS

XU = "Xu (2004)"
SLOW_START = (
    "the one before ssthresh is first set to what cwnd is then or less, by a loss or by the "
    "sender's law."
)

_of_cuts = functools.partial(flow_metric, tables=("cwnd",), parameters=("rtt_ms",))
_of_full_cuts = functools.partial(flow_metric, tables=("cwnd",), parameters=("bdp_pkts", "rtt_ms"))


@_of_full_cuts(
    "s",
    "Time from the first cut to the next top",
    f"{XU}, section 3.2 and Figure 3.9 (the first congestion avoidance phase)",
    text="Time from the first cut to the next peak at or above 90 % of what path and buffer hold, "
    "the nominal bandwidth-delay product plus the bottleneck's buffer. "
    f"{SETTLED.format('to the time at which')} {CUT}",
    better="less",
    apart=0.05,
)
def first_recovery_time(flow: FlowView) -> float | None:
    cuts = flow.cuts
    if cuts.is_empty():
        return None
    buffer_pkts = flow.number("buffer_pkts") if flow.has("buffer_pkts") else 0.0
    top_pkts = PEAK_SHARE * (flow.positive("bdp_pkts") + buffer_pkts)
    cut_s = float(cuts["cut_s"][0])
    tops = cuts.slice(1).filter(pl.col("peak_pkts") >= top_pkts)
    top_s = nth(tops["peak_s"], 0) if tops.height else settled_s(flow)
    return None if top_s is None or top_s < cut_s else top_s - cut_s


@link_metric(
    "%",
    "Link utilization over the whole run",
    f"{XU}, section 3.2 and Figure 3.2 (channel utilization, normalized throughput)",
    tables=("utilization",),
    parameters=("bottleneck_mbps",),
    better="more",
    apart=1.0,
    reference=100,
)
def overall_utilization(link: LinkView) -> float | None:
    """{DEPARTURES}, {WITH_ALL}, over the whole run, as a share of the link's nominal capacity in
    that time.
    """
    mean_mbps = mean(link.departures, "mbps", whole(link))
    return None if mean_mbps is None else 100 * mean_mbps / link.capacity_mbps(whole(link))


@flow_metric(
    "s",
    "End of the first slow start",
    f"{XU}, section 3.2 and Figure 3.7 (duration of slow start)",
    tables=("ssthresh", "cwnd"),
)
def slow_start_end(flow: FlowView) -> float | None:
    """Time of the last sample of slow start: {SLOW_START}"""
    return end_of_slow_start(flow.cwnd, flow.ssthresh)[0]


@flow_metric(
    "packets",
    "ssthresh after the first loss",
    f"{XU}, section 3.2 and Figure 3.10",
    tables=("ssthresh", "cwnd"),
)
def first_ssthresh(flow: FlowView) -> float | None:
    """Value of ssthresh that the end of slow start leaves: what the first loss leaves of cwnd, the
    window at which congestion avoidance begins. The last sample of slow start is {SLOW_START}
    """
    return end_of_slow_start(flow.cwnd, flow.ssthresh)[1]


def _of_trace(metric: PacketMetric, flow: FlowView) -> float | None:
    value: float | None = metric.of(flow.rows(PACKET_FLOWS), flow.run.duration_s)[0]
    return value


_OF_SLOW_START: tuple[tuple[str, str, Better], ...] = (
    ("slow_start_duration", "Time to the first retransmission", ""),
    ("slow_start_loss_rate", "Loss rate before the first retransmission", "less"),
)


for _name, _title, _better in _OF_SLOW_START:
    _metric = PACKET_DEFINITIONS[_name]
    flow_metric(
        *(_metric.unit, _title, _metric.source),
        name=_name,
        text=_metric.text,
        tables=(PACKET_FLOWS,),
        better=_better,
        apart=0.001 if _better else 0.0,
    )(functools.partial(_of_trace, _metric))


@_of_cuts(
    "packets",
    "cwnd after the first cut",
    f"{XU}, section 3.2 (cwnd of Westwood and Vegas as congestion avoidance begins)",
)
def first_cut_after(flow: FlowView) -> float | None:
    """cwnd after the first cut, in the first sample behind it. {CUT}"""
    return nth(flow.cuts["after_pkts"], 0)


@_of_full_cuts(
    "1",
    "Share of cwnd kept at the first full peak",
    f"{XU}, section 3.4 (Scalable TCP's first peak)",
)
def first_full_cut_ratio(flow: FlowView) -> float | None:
    """cwnd after the first cut whose peak is {FULL}, divided by the peak. {CUT}"""
    return nth(kept_shares(flow.full_cuts), 0)


@_of_full_cuts(
    "s",
    "Time from the first to the second full peak",
    f"{XU}, section 3.4 (the time that Scalable TCP needs to get back to its peak)",
)
def full_peak_interval(flow: FlowView) -> float | None:
    """Time from the first to the second peak {FULL} to which cwnd has grown, by at least 5 % since
    the cut before it. {CUT}
    """
    return nth(_risen_full_cuts(flow)["peak_s"].diff(), 1)


@_of_full_cuts(
    "s",
    "Time of cuts after the first full peak",
    f"{XU}, section 3.4 (the time to resolve the congestion)",
)
def congestion_time(flow: FlowView) -> float | None:
    """Time from the first peak {FULL} to the last cut before the second such peak to which cwnd has
    grown, by at least 5 % since the cut before it: how long the flow goes on cutting before it
    grows again. {CUT}
    """
    full = _risen_full_cuts(flow)
    if full.height < 2:
        return None
    first_s, second_s = full["peak_s"][:2]
    last_cut_s = flow.cuts.filter(pl.col("peak_s") < second_s)["cut_s"][-1]
    return float(last_cut_s - first_s)


@flow_metric(
    "packets",
    "ssthresh of the first rise",
    f"{XU}, section 3.2 and Figure 3.10 (where congestion avoidance begins)",
    tables=("cwnd", "ssthresh"),
    parameters=("bdp_pkts", "rtt_ms"),
)
def rise_ssthresh(flow: FlowView) -> float | None:
    """Value of ssthresh at the first peak {FULL}, or at the end of a run in which cwnd gets there
    without a peak: what the losses of slow start, and those of repairing them, have left of it. The
    rise begins there. {CUT}
    """
    if first_time_at_least(flow.cwnd, "cwnd_pkts", flow.full_pkts) is None:
        return None
    peak_s = nth(flow.full_cuts["peak_s"], 0)
    return last_until(flow.ssthresh, "ssthresh_pkts", peak_s or flow.run.duration_s)


def _risen_full_cuts(flow: FlowView) -> pl.DataFrame:
    """The cuts from a full peak to which cwnd has grown by 5 % since the previous cut."""
    grown = pl.col("after_pkts").shift(1) <= CUT_SHARE * pl.col("peak_pkts")
    risen = flow.cuts.filter(grown.fill_null(value=True))
    return risen.filter(pl.col("peak_pkts") >= flow.full_pkts)


def _is_alone(flow: FlowView) -> bool:
    """Whether all drops of the run's only queue are drops of this flow."""
    run = flow.run
    flows = (run.flows("ssthresh"), run.flows("sequence"))
    return all(len(each) == 1 for each in (*flows, run.links("queue")))


@flow_metric(
    "%",
    "Loss rate of the first slow start",
    f"{XU}, section 3.2 and Figure 3.8",
    tables=("ssthresh", "cwnd", "sequence", "queue"),
    when=_is_alone,
    better="less",
    apart=0.1,
)
def loss_rate_in_slow_start(flow: FlowView) -> float | None:
    """Packets dropped by the bottleneck's queue up to the end of slow start, as a share of those
    that the flow had sent by then. Of a run with one flow. The end is {SLOW_START}
    """
    end_s, _ = end_of_slow_start(flow.cwnd, flow.ssthresh)
    if end_s is None:
        return None
    (link,) = flow.run.links("queue")
    highest = last_until(flow.rows("sequence"), "seq", end_s)
    drops = last_until(link.queue, "drops", end_s)
    if highest is None or drops is None or highest < 0:
        return None
    return 100 * drops / (highest + 1)  # packets are numbered from 0


@flow_metric(
    "Mbit/s",
    "Goodput seen by the sender",
    f"{XU}, section 4.2 and Figures 4.3 to 4.5 (throughput); goodput of RFC 5166, 2.1",
    tables=("acknowledged",),
    parameters=("packet_bytes",),
    window=second_half,
    better="more",
    apart=0.02,
)
def acknowledged_rate(flow: FlowView) -> float | None:
    """Data that the sender has seen acknowledged in order, without headers and retransmissions,
    over {HALF}.
    """
    acks = flow.rows("acknowledged")
    first, last = (last_until(acks, "ack", end_s) for end_s in second_half(flow))
    if first is None or last is None:
        return None
    return mbps_of_payload(flow, last - first, second_half(flow))


def end_of_slow_start(
    cwnd: pl.DataFrame, ssthresh: pl.DataFrame
) -> tuple[float | None, float | None]:
    """When slow start ends, and the ssthresh that results.

    A loss, or the law of Vegas, sets ssthresh to cwnd or less, and slow start at most doubles cwnd
    within a sampling interval of one RTT. So an ssthresh of more than twice the previous sample of
    cwnd is the agent's own initial limit.

    Args:
        cwnd: cwnd of one flow: time_s (f64, s), cwnd_pkts (f64, packets), in the order of time.
        ssthresh: ssthresh of the flow, at the same times: time_s (f64, s), ssthresh_pkts (f64,
            packets).

    Returns:
        Time in s of the last sample before ssthresh is first set this way, and its new value in
            packets; None and None if it never is.

    >>> cwnd = pl.DataFrame({"time_s": [0.0, 0.1, 0.2], "cwnd_pkts": [1.0, 60.0, 40.0]})
    >>> samples = {"time_s": [0.0, 0.1, 0.2], "ssthresh_pkts": [99.0, 99.0, 40.0]}
    >>> end_of_slow_start(cwnd, pl.DataFrame(samples))
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
