"""Goodput by equation 18 of the paper, Jain's index of it, and friendliness.

Each is measured over the second half of a run, its steady state, and over the whole of it. Equation
18 is sent data less retransmitted data. Over the whole run this is what was acknowledged. In the
second half it is not: TCP/Linux can wait for one lost packet for minutes and go on sending, and
then everything since is acknowledged at once. So the second half counts what passed the bottleneck
for the first time.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import polars as pl

from bdpbench.metrics import FlowView, RunView, counted, flow_metric, run_metric, second_half
from bdpbench.metrics.fairness import jain_index, throughput_ratio
from bdpbench.units import BITS_PER_BYTE, total

_PAPER = "Ahmad, Ngadi and Mohamad (2013)"
_ACKNOWLEDGED = "ack_"
_STEADY = "over the second half of the run"
_WHOLE = "from the flow's start to the end of the run"
_PASSED = (
    "Data that passed the bottleneck for the first time: what passed it, without headers, less "
    "what the sender sent again beyond what had been lost"
)
_GOODPUT = "Data that was acknowledged for the first time, without headers and retransmissions"
_FRIENDLINESS = (
    "Jain's index of the goodputs of a variant and of Reno beside it: 1 where they share equally, "
    "0.5 where one of them gets everything"
)
_RECORDED = ("recorded", "facts")
_SENT = ("packet_bytes",)


def _goodputs(run: RunView) -> list[float | None]:
    return [_goodput_in_window(flow) for flow in run.flows("facts")]


def _goodputs_of_whole_run(run: RunView) -> list[float | None]:
    return [_goodput_since_start(flow) for flow in run.flows("recorded")]


def _records_acks(flow: FlowView) -> bool:
    return not _acks(flow).is_empty()


def _acks(flow: FlowView) -> pl.DataFrame:
    return flow.rows("recorded").filter(pl.col("name") == _ACKNOWLEDGED)


def _goodput_in_window(flow: FlowView) -> float | None:
    """Equation 18 over the window in which the script counts, the second half, Mbit/s."""
    passed, lost, again = map(flow.fact, ("packets", "drops", "retransmissions"))
    if passed is None or lost is None or again is None:
        return None
    start_s, end_s = counted(flow)
    packets = passed - max(0.0, again - lost)
    bits = BITS_PER_BYTE * flow.positive("packet_bytes") * packets
    return bits / 1e6 / (end_s - start_s)


def _goodput_since_start(flow: FlowView) -> float | None:
    """Equation 18 over the whole transfer, Mbit/s: ack_ is the last packet of those in order."""
    start_s, acks = flow.fact("start"), _acks(flow)
    if start_s is None or acks.is_empty():
        return None
    packets = float(acks["value"][-1]) + 1
    bits = BITS_PER_BYTE * flow.positive("packet_bytes") * packets
    return bits / 1e6 / (flow.run.duration_s - start_s)


def _has_flows(run: RunView) -> bool:
    return len(run.flows("facts")) > 1


def _all_record_acks(run: RunView) -> bool:
    return _has_flows(run) and all(_records_acks(flow) for flow in run.flows("recorded"))


def _is_beside_another(run: RunView) -> bool:
    flows = run.flows("facts")
    return len(flows) == 2 and len({flow.word("protocol") for flow in flows}) == 2


def _share(run: RunView, goodputs: Sequence[float | None]) -> float | None:
    known = [each for each in goodputs if each is not None]
    if len(known) < len(goodputs):
        return None
    return 100 * total(known) / run.positive("bottleneck_mbps")


_of_second_half = functools.partial(
    run_metric, tables=("facts",), parameters=_SENT, window=second_half
)
_of_whole_run = functools.partial(run_metric, tables=_RECORDED, parameters=_SENT)
_OF_PAIRS = f"{_PAPER}, section 6.3 (to share bandwidth equally with Standard TCP)"
_OF_FAIRNESS = f"{_PAPER}, equation 19; Jain, Chiu and Hawe (1984), DEC-TR-301"


@flow_metric(
    "Mbit/s",
    "Goodput, whole run",
    f"{_PAPER}, equation 18",
    tables=_RECORDED,
    parameters=_SENT,
    when=_records_acks,
    version="0de7a7dac35d",
    better="more",
    apart=0.02,
)
def goodput_of_whole_run(flow: FlowView) -> float | None:
    """{_GOODPUT}, {_WHOLE}."""
    return _goodput_since_start(flow)


@_of_second_half(
    "%",
    "Goodput",
    f"{_PAPER}, section 5 (steady state) and equation 18",
    parameters=(*_SENT, "bottleneck_mbps"),
    when=_has_flows,
    version="2be8fba391ab",
    better="more",
    apart=1.0,
    reference=100,
)
def goodput_share(run: RunView) -> float | None:
    """{_PASSED}, {_STEADY}, as the sum over the flows and a share of the bottleneck's rate."""
    return _share(run, _goodputs(run))


@_of_whole_run(
    "%",
    "Goodput, whole run",
    f"{_PAPER}, equation 18",
    parameters=(*_SENT, "bottleneck_mbps"),
    when=_all_record_acks,
    version="ed4e45fc98a1",
    better="more",
    apart=1.0,
    reference=100,
)
def goodput_share_of_whole_run(run: RunView) -> float | None:
    """{_GOODPUT}, {_WHOLE}, as the sum over the flows and a share of the bottleneck's rate."""
    return _share(run, _goodputs_of_whole_run(run))


@_of_second_half(
    "1",
    "Jain's fairness index",
    _OF_FAIRNESS,
    when=_has_flows,
    version="4bf738cca4e4",
    better="more",
    apart=0.02,
    reference=1,
)
def goodput_jain_index(run: RunView) -> float | None:
    """(sum x)^2/(n sum x^2) of the flows' goodputs x, {_STEADY}."""
    return jain_index(_goodputs(run))


@_of_whole_run(
    "1",
    "Jain's fairness index, whole run",
    _OF_FAIRNESS,
    when=_all_record_acks,
    version="dec5e5824800",
    better="more",
    apart=0.02,
    reference=1,
)
def goodput_jain_index_of_whole_run(run: RunView) -> float | None:
    """(sum x)^2/(n sum x^2) of the flows' goodputs x, {_WHOLE}."""
    return jain_index(_goodputs_of_whole_run(run))


@_of_second_half(
    "1",
    "Friendliness",
    _OF_PAIRS,
    when=_is_beside_another,
    version="5ac1d7af34ee",
    better="more",
    apart=0.02,
    reference=1,
)
def friendliness(run: RunView) -> float | None:
    """{_FRIENDLINESS}, {_STEADY}."""
    return jain_index(_goodputs(run))


@_of_whole_run(
    "1",
    "Friendliness, whole run",
    _OF_PAIRS,
    when=_is_beside_another,
    version="b274fea2b54a",
    better="more",
    apart=0.02,
    reference=1,
)
def friendliness_of_whole_run(run: RunView) -> float | None:
    """{_FRIENDLINESS}, {_WHOLE}."""
    return jain_index(_goodputs_of_whole_run(run))


@_of_second_half(
    "1",
    "Goodput of Reno over half of the link",
    f"{_PAPER}, section 5 (not more than a conforming flow would consume)",
    parameters=(*_SENT, "bottleneck_mbps"),
    when=_is_beside_another,
    version="7b1ba54b631a",
    better="nearest",
    reference=1,
    apart=0.05,
)
def share_left_to_second(run: RunView) -> float | None:
    """Goodput of the second flow, which is Reno's, over half of the bottleneck's rate, {_STEADY}:
    what the variant beside it leaves to Reno.
    """
    return throughput_ratio(_goodputs(run)[1], run.positive("bottleneck_mbps") / 2)
