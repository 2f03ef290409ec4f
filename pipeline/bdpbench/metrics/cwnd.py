"""How a flow's cwnd rises, and how far."""

from __future__ import annotations

import polars as pl

from bdpbench.metrics.definition import flow_metric
from bdpbench.metrics.series import first_time_at_least, nth, number
from bdpbench.metrics.thresholds import MAX_SHARE, PEAK_SHARE
from bdpbench.metrics.views import FlowView
from bdpbench.metrics.words import CUT, THESIS, XU


@flow_metric(
    unit="s",
    title="Time to 90 % of the BDP",
    text="Simulated time of the first cwnd sample at or above 90 % of the nominal "
    "bandwidth-delay product (bottleneck rate times nominal RTT, in packets of payload size).",
    source=f"{THESIS}, Table 1, column 2, and section 4 (BDP of 7,775 packets)",
    tables=("cwnd",),
    parameters=("bdp_pkts",),
    version=1,
)
def time_to_90pct_cwnd(flow: FlowView) -> float | None:
    return first_time_at_least(flow.cwnd, "cwnd_pkts", flow.full_pkts)


@flow_metric(
    unit="s",
    title="Time to 90 % of the BDP, one early loss",
    text="Simulated time, from the start of the run, of the first cwnd sample after the first cut "
    f"at or above 90 % of the nominal bandwidth-delay product. {CUT}",
    source=f"{THESIS}, Table 1, column 3, and section 4, experiment 2",
    tables=("cwnd",),
    parameters=("bdp_pkts", "rtt_ms", "drop_packet"),
    version=1,
)
def time_to_90pct_cwnd_after_drop(flow: FlowView) -> float | None:
    cut_s = nth(flow.cuts["cut_s"], 0)
    if cut_s is None:
        return None
    later = flow.cwnd.filter(pl.col("time_s") > cut_s)
    return first_time_at_least(later, "cwnd_pkts", flow.full_pkts)


@flow_metric(
    unit="s",
    title="Time to the top of the first ascent",
    text="Simulated time of the first peak at or above 90 % of the nominal bandwidth-delay "
    "product: the top of the first full ascent. For a flow that has no such peak and holds "
    "its cwnd within 1 % over the last quarter of the run, the time at which it first comes "
    f"within 1 % of that level. {CUT}",
    source=f"{THESIS}, sections 4.1.3.1, 4.2.3.1 and 4.5.3.1",
    tables=("cwnd",),
    parameters=("bdp_pkts", "rtt_ms"),
    version=1,
)
def time_to_max_cwnd(flow: FlowView) -> float | None:
    if flow.full_cuts.height:
        return nth(flow.full_cuts["peak_s"], 0)
    return _settled_s(flow)


@flow_metric(
    unit="packets",
    title="cwnd at the first full peak",
    text="cwnd at the first peak at or above 90 % of the nominal bandwidth-delay product: the "
    f"largest cwnd that the flow had before its own losses. {CUT}",
    source=f"{THESIS}, section 4.3.3.1",
    tables=("cwnd",),
    parameters=("bdp_pkts", "rtt_ms"),
    version=1,
)
def first_full_peak(flow: FlowView) -> float | None:
    return nth(flow.full_cuts["peak_pkts"], 0)


@flow_metric(
    unit="packets",
    title="cwnd at the second full peak",
    text=f"cwnd at the second peak at or above 90 % of the nominal bandwidth-delay product. {CUT}",
    source=f"{THESIS}, section 4.3.3.1",
    tables=("cwnd",),
    parameters=("bdp_pkts", "rtt_ms"),
    version=1,
)
def second_full_peak(flow: FlowView) -> float | None:
    return nth(flow.full_cuts["peak_pkts"], 1)


@flow_metric(
    unit="packets",
    title="Largest cwnd",
    text="Largest sample of cwnd.",
    source=f"{THESIS}, section 4.3.3.1",
    tables=("cwnd",),
    version=1,
)
def max_cwnd(flow: FlowView) -> float | None:
    return number(flow.cwnd["cwnd_pkts"].max())


@flow_metric(
    unit="s",
    title="Time from the first cut to the next top",
    text="Time from the first cut to the next peak at or above 90 % of what path and buffer hold, "
    "the nominal bandwidth-delay product plus the bottleneck's buffer. For a flow that has no "
    "such peak and holds its cwnd within 1 % over the last quarter of the run, to the time at "
    f"which it first comes within 1 % of that level. {CUT}",
    source=f"{XU}, section 3.2 and Figure 3.9 (the first congestion avoidance phase)",
    tables=("cwnd",),
    parameters=("bdp_pkts", "rtt_ms"),
    optional=("buffer_pkts",),
    version=1,
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
