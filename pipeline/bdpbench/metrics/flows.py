"""A flow's first slow start, its throughput, and what of it is acknowledged."""

from __future__ import annotations

import functools

import polars as pl

from bdpbench.metrics.definition import flow_metric
from bdpbench.metrics.series import end_of_slow_start, last_until, mean, time_to_largest
from bdpbench.metrics.terms import BINS, COUNTED, HALF, THESIS, WITH_ALL, XU
from bdpbench.metrics.views import FlowView, Window, counted, second_half
from bdpbench.units import BITS_PER_BYTE

_RECORDED, _ACK = "recorded", "ack_"
_SLOW_START = (
    "the one before ssthresh is first set to what cwnd is then or less, by a loss or by the "
    "sender's law."
)


@flow_metric(
    unit="s",
    title="End of the first slow start",
    text=f"Time of the last sample of slow start: {_SLOW_START}",
    source=f"{XU}, section 3.2 and Figure 3.7 (duration of slow start)",
    tables=("ssthresh", "cwnd"),
)
def slow_start_end(flow: FlowView) -> float | None:
    return end_of_slow_start(flow.cwnd, flow.ssthresh)[0]


@flow_metric(
    unit="packets",
    title="ssthresh after the first loss",
    text="Value of ssthresh that the end of slow start leaves: what the first loss leaves of cwnd, "
    "the window at which congestion avoidance begins. The last sample of slow start is "
    f"{_SLOW_START}",
    source=f"{XU}, section 3.2 and Figure 3.10",
    tables=("ssthresh", "cwnd"),
)
def first_ssthresh(flow: FlowView) -> float | None:
    return end_of_slow_start(flow.cwnd, flow.ssthresh)[1]


def _is_alone(flow: FlowView) -> bool:
    """Whether all drops of the run's only queue are drops of this flow."""
    run = flow.run
    flows = (run.flows("ssthresh"), run.flows("sequence"))
    return all(len(each) == 1 for each in (*flows, run.links("queue")))


@flow_metric(
    unit="%",
    title="Loss rate of the first slow start",
    text="Packets dropped by the bottleneck's queue up to the end of slow start, as a share of "
    f"those that the flow had sent by then. Of a run with one flow. The end is {_SLOW_START}",
    source=f"{XU}, section 3.2 and Figure 3.8",
    tables=("ssthresh", "cwnd", "sequence", "queue"),
    when=_is_alone,
)
def loss_rate_in_slow_start(flow: FlowView) -> float | None:
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
    unit="Mbit/s",
    title="Goodput seen by the sender",
    text="Data that the sender has seen acknowledged in order, without headers and "
    f"retransmissions, over {HALF}.",
    source=f"{XU}, section 4.2 and Figures 4.3 to 4.5 (throughput); goodput of RFC 5166, 2.1",
    tables=("acknowledged",),
    parameters=("packet_bytes",),
    window=second_half,
)
def acknowledged_rate(flow: FlowView) -> float | None:
    acks = flow.rows("acknowledged")
    first, last = (last_until(acks, "ack", end_s) for end_s in second_half(flow))
    if first is None or last is None:
        return None
    return _mbps(flow, last - first, second_half(flow))


def _mbps(flow: FlowView, packets: float, window: Window) -> float:
    """Rate of packets of payload in a window; needs packet_bytes."""
    start_s, end_s = window
    return BITS_PER_BYTE * flow.positive("packet_bytes") * packets / 1e6 / (end_s - start_s)


def _counts(name: str, flow: FlowView) -> bool:
    """Whether the report counts it, of a flow of which something departed."""
    return flow.fact(name) is not None and bool(flow.fact("packets"))


@flow_metric(
    unit="Mbit/s",
    title="Goodput",
    text="Data of the flow that was acknowledged for the first time, without headers and "
    f"retransmissions, {COUNTED}. Of flows of which something departed in it.",
    source="RFC 5166, section 2.1.1 (goodput)",
    tables=("facts",),
    window=counted,
    when=functools.partial(_counts, "goodput"),
)
def goodput(flow: FlowView) -> float | None:
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
)
def overall_goodput(flow: FlowView) -> float | None:
    return _mbps(flow, float(_acknowledged(flow)["value"][-1]) + 1, _since_start(flow))


@flow_metric(
    unit="packets",
    title="Retransmissions",
    text=f"Packets that the flow's sender sent again, {COUNTED}. "
    "Of flows of which something departed in it.",
    source="ns-2, tcp.cc (nrexmitpack_)",
    tables=("facts",),
    window=counted,
    when=functools.partial(_counts, "retransmissions"),
)
def retransmissions(flow: FlowView) -> float | None:
    return flow.fact("retransmissions")


@flow_metric(
    unit="s",
    title="Time to the largest throughput",
    text="End of the first second in which the flow's departures from the bottleneck's queue, "
    f"{WITH_ALL}, are within 1 % of those in its busiest second.",
    source=f"{THESIS}, section 3.2, second metric, and sections 4.1.3.4 and 4.2.3.4",
    tables=("throughput",),
)
def time_to_max_throughput(flow: FlowView) -> float | None:
    return time_to_largest(flow.throughput)


@flow_metric(
    unit="Mbit/s",
    title="Mean throughput",
    text=f"Departures of the flow from the bottleneck's queue, {WITH_ALL}, over {HALF}. {BINS}",
    source=f"{THESIS}, section 3.2",
    tables=("throughput",),
    window=second_half,
)
def mean_throughput(flow: FlowView) -> float | None:
    return mean(flow.throughput, "mbps", second_half(flow))
