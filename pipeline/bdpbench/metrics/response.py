"""A point of a flow's response function: the window that it has at which rate of losses."""

from __future__ import annotations

from bdpbench.metrics.definition import flow_metric
from bdpbench.metrics.series import mean
from bdpbench.metrics.views import FlowView, second_half
from bdpbench.metrics.words import CUT, HALF
from bdpbench.units import BITS_PER_BYTE


@flow_metric(
    unit="1",
    title="Loss events per packet",
    text=f"Cuts of cwnd over the packets that departed from the bottleneck, over {HALF}; packets "
    f"are departures, headers included, over the payload's size. {CUT}",
    source="RFC 5348, section 5 (losses within an RTT are one event); RFC 3649, section 2",
    tables=("throughput", "cwnd"),
    parameters=("packet_bytes", "rtt_ms"),
    window=second_half,
    version=1,
)
def loss_event_rate(flow: FlowView) -> float | None:
    start_s, end_s = second_half(flow)
    mean_mbps = mean(flow.throughput, "mbps", (start_s, end_s)) or 0.0
    bits = mean_mbps * 1e6 * (end_s - start_s)
    packets = bits / BITS_PER_BYTE / flow.positive("packet_bytes")
    inside = flow.cuts["cut_s"].is_between(start_s, end_s, closed="right")
    return int(inside.sum()) / packets if packets else None


# Only beside its rate of losses is it a point: hence the tables and parameters of that.
@flow_metric(
    unit="packets",
    title="Mean cwnd",
    text=f"Mean of the samples of cwnd over {HALF}.",
    source="RFC 3649, section 2 (the congestion window of a response function)",
    tables=("throughput", "cwnd"),
    parameters=("packet_bytes", "rtt_ms"),
    window=second_half,
    version=1,
)
def mean_cwnd(flow: FlowView) -> float | None:
    return mean(flow.cwnd, "cwnd_pkts", second_half(flow))
