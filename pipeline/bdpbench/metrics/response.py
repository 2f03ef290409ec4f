"""Points of a flow's response function, and what its packet trace says of its slow start."""

from __future__ import annotations

import functools

import polars as pl

from bdpbench.metrics.definition import flow_metric
from bdpbench.metrics.packets.definitions import PACKET_DEFINITIONS, PacketMetric
from bdpbench.metrics.series import inside, mean, number
from bdpbench.metrics.terms import CUT, HALF
from bdpbench.metrics.views import PACKET_FLOWS, FlowView, second_half
from bdpbench.units import BITS_PER_BYTE

# Each is a point only together with the loss rate, hence the tables and parameters of the latter.
_of_response = functools.partial(
    flow_metric,
    tables=("throughput", "cwnd"),
    parameters=("packet_bytes", "rtt_ms"),
    window=second_half,
)


@_of_response(
    unit="1",
    title="Loss events per packet",
    text=f"Cuts of cwnd over the packets that departed from the bottleneck, over {HALF}; packets "
    f"are departures, headers included, over the payload's size. {CUT}",
    source="RFC 5348, section 5 (losses within an RTT are one event); RFC 3649, section 2",
)
def loss_event_rate(flow: FlowView) -> float | None:
    start_s, end_s = second_half(flow)
    mean_mbps = mean(flow.throughput, "mbps", (start_s, end_s)) or 0.0
    bits = mean_mbps * 1e6 * (end_s - start_s)
    packets = bits / BITS_PER_BYTE / flow.positive("packet_bytes")
    return _late_cuts(flow).height / packets if packets else None


@_of_response(
    unit="packets",
    title="Mean cwnd",
    text=f"Mean of the samples of cwnd over {HALF}.",
    source="RFC 3649, section 2 (the congestion window of a response function)",
)
def mean_cwnd(flow: FlowView) -> float | None:
    return mean(flow.cwnd, "cwnd_pkts", second_half(flow))


@_of_response(
    unit="packets",
    title="Packets that cwnd gains in an RTT",
    text=f"What cwnd gained between the cuts of {HALF}, over the nominal RTTs that it took: a(w) "
    f"of laws that are written as w := w + a(w)/w for each ACK. {CUT}",
    source="RFC 3649, section 5 (a(w)); Floyd and Fall (1999), on increase and decrease",
)
def packets_added_per_rtt(flow: FlowView) -> float | None:
    gained_pkts, took_s = _ascents(_late_cuts(flow)).sum().row(0)
    return gained_pkts / (took_s / flow.rtt_s) if took_s else None


@_of_response(
    unit="1",
    title="Share of cwnd given up at a cut",
    text=f"Mean over the cuts of {HALF} of what cwnd lost over its peak: b(w) of laws that are "
    f"written as w := (1 - b(w)) w. {CUT}",
    source="RFC 3649, section 5 (b(w)); Floyd and Fall (1999), on increase and decrease",
)
def mean_cut_share(flow: FlowView) -> float | None:
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


def _of_trace(metric: PacketMetric, flow: FlowView) -> float | None:
    value: float | None = metric.of(flow.rows(PACKET_FLOWS), flow.run.duration_s)[0]
    return value


for _name, _title in (
    ("slow_start_duration", "Time to the first retransmission"),
    ("slow_start_loss_rate", "Loss rate before the first retransmission"),
):
    _metric = PACKET_DEFINITIONS[_name]
    flow_metric(
        name=_name,
        unit=_metric.unit,
        title=_title,
        text=_metric.text,
        source=_metric.source,
        tables=(PACKET_FLOWS,),
    )(functools.partial(_of_trace, _metric))
