"""The web's period, what a repetition adds to an index of means, and the introduction's numbers.

The introduction speaks of TCP Reno at 10 Gbit/s and an RTT of 100 ms, by Reno's law. A recovery
there takes an hour, so its numbers are computed from what runs of any size show: how large packets
are, how fast cwnd grows, and which window a rate of losses allows.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator

import polars as pl

from bdpbench.metrics import (
    FlowView,
    Group,
    LinkView,
    Row,
    RunView,
    Window,
    flow_metric,
    group_metric,
    link_metric,
    run_metric,
    second_half,
)
from bdpbench.metrics.flows import packets_added_per_rtt
from bdpbench.metrics.runs import jain_index_of_means
from bdpbench.metrics.series import in_window, last_until, mean, number
from bdpbench.units import BITS_PER_BYTE

_PAPER = "Zhang, Hasegawa and Murata (2005)"
_HEADER_BYTES = 40
_ALIVE: Window = (50.0, 800.0)
_FULL_MBPS = 10_000.0
_FULL_RTT_S = 0.1
_FULL_PKTS = 83_333
_FULL = f"a window of {_FULL_PKTS:,} packets, which fills 10 Gbit/s at an RTT of 100 ms"
_OF_RENO = ("throughput", "cwnd")
_LOST = ("loss_rate", "packet_bytes", "rtt_ms")


def _while_alive(view: LinkView | RunView) -> Window:
    return _ALIVE


def _lasts(view: LinkView | RunView) -> bool:
    return view.run.duration_s >= _ALIVE[1]


@link_metric(
    "%",
    "Loss rate from 50 to 800 s",
    f"{_PAPER}, section 5",
    tables=("queue", "utilization", "transfers"),
    parameters=("packet_bytes",),
    window=_while_alive,
    when=_lasts,
    better="less",
    apart=0.1,
)
def loss_rate_of_web_period(link: LinkView) -> float | None:
    """Packets that the queue dropped from 50 s to 800 s, as a share of those that it dropped or
    that departed in this time; what departed is counted in whole packets.
    """
    dropped = [last_until(link.rows("queue"), "drops", at_s) for at_s in _ALIVE]
    mbps = mean(link.rows("utilization"), "mbps", _ALIVE)
    packet_bits = BITS_PER_BYTE * (link.positive("packet_bytes") + _HEADER_BYTES)
    departed = (mbps or 0.0) * 1e6 * (_ALIVE[1] - _ALIVE[0]) / packet_bits
    lost = (dropped[1] or 0.0) - (dropped[0] or 0.0)
    return 100 * lost / (lost + departed) if departed else None


def _response_times_s(run: RunView) -> pl.Series:
    start_s, end_s = _ALIVE
    ended = pl.col("end_s").is_between(start_s, end_s, closed="right")
    rows = run.table("transfers").filter((pl.col("kind") == "object") & ended)
    return rows["end_s"] - rows["start_s"]


_of_objects = functools.partial(
    run_metric,
    unit="s",
    text="Response time of the web's objects that arrived from 50 s to 800 s, from the request of "
    "an object to the ACK of its last byte.",
    source=f"{_PAPER}, section 5 and Figure 12",
    tables=("transfers",),
    window=_while_alive,
    when=_lasts,
)


@_of_objects(title="Mean response time from 50 to 800 s", better="less", apart=0.05)
def mean_response_time_of_web_period(run: RunView) -> float | None:
    return number(_response_times_s(run).mean())


@_of_objects(title="Median response time from 50 to 800 s", better="less", apart=0.05)
def median_response_time_of_web_period(run: RunView) -> float | None:
    return number(_response_times_s(run).median())


def _is_single(run: RunView) -> bool:
    return len(run.flows("facts")) == 1


@run_metric(
    "packets",
    "Window that fills 10 Gbit/s",
    f"{_PAPER}, section 1",
    tables=("facts",),
    window=second_half,
    when=_is_single,
)
def full_window(run: RunView) -> float | None:
    """Packets of the size that the flow's packets had at the bottleneck that 10 Gbit/s send in 100
    ms.
    """
    (flow,) = run.flows("facts")
    sent, packets = flow.fact("bytes"), flow.fact("packets")
    if not sent or not packets:
        return None
    return _FULL_MBPS * 1e6 * _FULL_RTT_S / (BITS_PER_BYTE * sent / packets)


@flow_metric(
    "1",
    "Loss rate for 83,333 packets",
    f"{_PAPER}, section 1",
    tables=_OF_RENO,
    parameters=_LOST,
    window=second_half,
    better="less",
    apart=0.001,
)
def full_window_loss_rate(flow: FlowView) -> float | None:
    """Loss rate that allows {_FULL}: the mean cwnd over the second half of the run at a known loss
    rate p goes with 1/sqrt(p).
    """
    window = mean(flow.cwnd, "cwnd_pkts", second_half(flow))
    return flow.positive("loss_rate") * (window / _FULL_PKTS) ** 2 if window else None


@flow_metric(
    "1",
    "RTTs to recover 83,333 packets",
    f"{_PAPER}, section 1",
    tables=_OF_RENO,
    parameters=_LOST,
    window=second_half,
    better="less",
    apart=1.0,
)
def full_window_recovery_rtts(flow: FlowView) -> float | None:
    """Round trips in which cwnd grows back from half of {_FULL}, at the growth between cuts over
    the second half of the run.
    """
    gained = packets_added_per_rtt.compute(flow)
    return _FULL_PKTS / 2 / gained if gained else None


@flow_metric(
    "s",
    "Time to recover 83,333 packets",
    f"{_PAPER}, section 1",
    tables=_OF_RENO,
    parameters=_LOST,
    window=second_half,
    better="less",
    apart=0.05,
)
def full_window_recovery_time(flow: FlowView) -> float | None:
    """Time in which cwnd grows back from half of {_FULL}, at the growth between cuts over the
    second half of the run.
    """
    gained = packets_added_per_rtt.compute(flow)
    return _FULL_PKTS / 2 / gained * _FULL_RTT_S if gained else None


@flow_metric(
    "packets",
    "Smallest cwnd",
    f"{_PAPER}, section 3.3 (windows that are reset to one packet)",
    text="Smallest sample of cwnd over the second half of the run, (duration/2, duration]. After a "
    "timeout cwnd is one packet for an RTT.",
    tables=("cwnd",),
    window=second_half,
)
def min_cwnd(flow: FlowView) -> float | None:
    return number(flow.cwnd.filter(in_window(*second_half(flow)))["cwnd_pkts"].min())


@group_metric(
    "1",
    "What a repetition adds to Jain's index of mean throughputs",
    "Tukey (1958), Bias and confidence in not-quite large samples",
    metrics=("fair_share_ratio",),
    better="more",
    apart=0.02,
    reference=1,
)
def jackknifed_max_min_jain_index(group: Group) -> Iterator[tuple[Row, float | None]]:
    """Pseudo-value of repeated_max_min_jain_index for each of n repetitions: n times the index of
    all, minus n - 1 times that of the others, and at most 1. A single repetition has a smaller
    index than their means, because chance makes its flows unequal; its pseudo-value has not, as of
    a mean it is the repetition's own value.
    """
    for rows in group.repetitions_of("fair_share_ratio"):
        firsts = [next(run) for _, run in itertools.groupby(rows, key=lambda row: row.run_id)]
        of_all, runs = jain_index_of_means(rows), len(firsts)
        for first in firsts:
            of_others = jain_index_of_means(row for row in rows if row.run_id != first.run_id)
            if of_all is not None and of_others is not None:
                yield first, min(1.0, runs * of_all - (runs - 1) * of_others)
