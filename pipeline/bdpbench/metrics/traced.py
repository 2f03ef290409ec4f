"""Metrics of a flow from a streamed packet trace."""

from __future__ import annotations

from bdpbench.metrics.definition import flow_metric
from bdpbench.metrics.packets import rates
from bdpbench.metrics.packets.definitions import PACKET_DEFINITIONS
from bdpbench.metrics.views import PACKET_FLOWS, FlowView

_DURATION = PACKET_DEFINITIONS["slow_start_duration"]
_LOSS_RATE = PACKET_DEFINITIONS["slow_start_loss_rate"]


@flow_metric(
    unit=_DURATION.unit,
    title="Time to the first retransmission",
    text=_DURATION.text,
    source=_DURATION.source,
    tables=(PACKET_FLOWS,),
    version=_DURATION.version,
)
def slow_start_duration(flow: FlowView) -> float | None:
    rows = flow.rows(PACKET_FLOWS)
    value: float | None = rates.slow_start_duration(rows, flow.run.duration_s)[0]
    return value


@flow_metric(
    unit=_LOSS_RATE.unit,
    title="Loss rate before the first retransmission",
    text=_LOSS_RATE.text,
    source=_LOSS_RATE.source,
    tables=(PACKET_FLOWS,),
    version=_LOSS_RATE.version,
)
def slow_start_loss_rate(flow: FlowView) -> float | None:
    rows = flow.rows(PACKET_FLOWS)
    value: float | None = rates.slow_start_loss_rate(rows, flow.run.duration_s)[0]
    return value
