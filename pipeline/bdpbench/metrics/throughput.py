"""The throughput of flows: departures from the bottleneck, and acknowledged data."""

from __future__ import annotations

import polars as pl

from bdpbench.metrics.definition import flow_metric
from bdpbench.metrics.series import first_time_at_least, last_until, mean
from bdpbench.metrics.thresholds import MAX_SHARE
from bdpbench.metrics.views import FlowView, counted, second_half
from bdpbench.metrics.words import BINS, COUNTED, HALF, THESIS, XU
from bdpbench.units import BITS_PER_BYTE

_RECORDED, _ACK = "recorded", "ack_"


@flow_metric(
    unit="Mbit/s",
    title="Goodput seen by the sender",
    text="Data that the sender has seen acknowledged in order, without headers and "
    f"retransmissions, over {HALF}.",
    source=f"{XU}, section 4.2 and Figures 4.3 to 4.5 (throughput); goodput of RFC 5166, 2.1",
    tables=("acknowledged",),
    parameters=("packet_bytes",),
    window=second_half,
    version=1,
)
def acknowledged_rate(flow: FlowView) -> float | None:
    acks = flow.rows("acknowledged")
    first, last = (last_until(acks, "ack", end_s) for end_s in second_half(flow))
    if first is None or last is None:
        return None
    bits = BITS_PER_BYTE * flow.positive("packet_bytes") * (last - first)
    return bits / 1e6 / (flow.run.duration_s / 2)


def _has_goodput(flow: FlowView) -> bool:
    return flow.fact("goodput") is not None and bool(flow.fact("packets"))


def _has_retransmissions(flow: FlowView) -> bool:
    return flow.fact("retransmissions") is not None and bool(flow.fact("packets"))


@flow_metric(
    unit="Mbit/s",
    title="Goodput",
    text="Data of the flow that was acknowledged for the first time, without headers and "
    f"retransmissions, {COUNTED}. Of flows of which something departed in it.",
    source="RFC 5166, section 2.1.1 (goodput)",
    tables=("facts",),
    window=counted,
    when=_has_goodput,
    version=1,
)
def goodput(flow: FlowView) -> float | None:
    return flow.fact("goodput")


def _acknowledged(flow: FlowView) -> pl.DataFrame:
    """Samples of the highest packet known to be acknowledged by the sender, counted from 0."""
    samples = flow.rows(_RECORDED).filter(pl.col("name") == _ACK)
    return samples.filter(pl.col("time_s") > (flow.fact("start") or 0.0))


def _has_acknowledged(flow: FlowView) -> bool:
    return not flow.has_own("size_pkts") and not _acknowledged(flow).is_empty()


def _since_start(flow: FlowView) -> tuple[float, float]:
    return (flow.fact("start") or 0.0, float(_acknowledged(flow)["time_s"][-1]))


@flow_metric(
    unit="Mbit/s",
    title="Goodput of the whole run",
    text="Data of the flow that its sender has seen acknowledged in order, without headers and "
    "retransmissions, from the flow's start to the end of the run, slow start included. Of flows "
    f"without an end whose protocol records {_ACK}.",
    source="RFC 5166, section 2.1.1 (goodput)",
    tables=(_RECORDED, "facts"),
    parameters=("packet_bytes",),
    optional=("size_pkts",),
    window=_since_start,
    when=_has_acknowledged,
    version=1,
)
def overall_goodput(flow: FlowView) -> float | None:
    start_s, end_s = _since_start(flow)
    packets = float(_acknowledged(flow)["value"][-1]) + 1
    return BITS_PER_BYTE * flow.positive("packet_bytes") * packets / 1e6 / (end_s - start_s)


@flow_metric(
    unit="packets",
    title="Retransmissions",
    text=f"Packets that the flow's sender sent again, {COUNTED}. "
    "Of flows of which something departed in it.",
    source="ns-2, tcp.cc (nrexmitpack_)",
    tables=("facts",),
    window=counted,
    when=_has_retransmissions,
    version=1,
)
def retransmissions(flow: FlowView) -> float | None:
    return flow.fact("retransmissions")


@flow_metric(
    unit="s",
    title="Time to the largest throughput",
    text="End of the first second in which the flow's departures from the bottleneck's queue, "
    "headers and retransmissions included, are within 1 % of those in its busiest second.",
    source=f"{THESIS}, section 3.2, second metric, and sections 4.1.3.4 and 4.2.3.4",
    tables=("throughput",),
    version=1,
)
def time_to_max_throughput(flow: FlowView) -> float | None:
    return time_to_largest(flow.throughput)


@flow_metric(
    unit="Mbit/s",
    title="Mean throughput",
    text="Departures of the flow from the bottleneck's queue, headers and retransmissions "
    f"included, over {HALF}. {BINS}",
    source=f"{THESIS}, section 3.2",
    tables=("throughput",),
    window=second_half,
    version=1,
)
def mean_throughput(flow: FlowView) -> float | None:
    return mean(flow.throughput, "mbps", second_half(flow))


def time_to_largest(bins: pl.DataFrame) -> float | None:
    """End in s of the first bin within 1 % of the largest; None for a flow that sent nothing.

    Args:
        bins: bins of one flow: time_s (f64, s, end of the bin), mbps (f64, Mbit/s), in order of
            time.

    >>> bins = pl.DataFrame({"time_s": [1.0, 2.0, 3.0], "mbps": [50.0, 99.5, 100.0]})
    >>> time_to_largest(bins)
    2.0
    """
    largest_mbps = bins["mbps"].max()
    if not isinstance(largest_mbps, float) or largest_mbps <= 0:
        return None
    return first_time_at_least(bins, "mbps", MAX_SHARE * largest_mbps)
