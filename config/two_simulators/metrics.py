"""ns-3 beside ns-2: values of the one by those of the other, of means over the repetitions."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from bdpbench.metrics import FlowView, Group, Row, flow_metric, group_metric, second_half
from bdpbench.metrics.definition import CUT, HALF  # noqa: F401 - words of a definition
from bdpbench.units import total

_BESIDE = frozenset({"engine", "substream"})
_ABOUT = "It belongs to ns-2's first run, and is measured where all runs of both have the value."


def _both(group: Group, metric: str) -> Iterator[tuple[Row, float, float]]:
    """ns-2's first row, its mean and ns-3's of a metric of the first flow, the link or the run."""
    for rows in group.alike(metric, _BESIDE):
        mine = [row for row in rows if row.subject in ("flow:0", "link:bottleneck", "run")]
        means = []
        for engine in ("ns2", "ns3"):
            values = [row.value for row in mine if row.parameters.get("engine") == engine]
            known = [each for each in values if each is not None]
            if not known or len(known) < len(values):
                break
            means.append(total(known) / len(known))
        if len(means) == 2:
            yield next(row for row in mine if row.parameters.get("engine") == "ns2"), *means


def _ratios(group: Group, metric: str) -> Iterator[tuple[Row, float | None]]:
    for row, ns2, ns3 in _both(group, metric):
        yield row, ns3 / ns2 if ns2 > 0 else None


@group_metric(
    "1",
    "Goodput, ns-3 over ns-2",
    "RFC 5166, section 2.1.1",
    metrics=("goodput",),
    better="nearest",
    reference=1,
    apart=0.05,
)
def goodput_ratio(group: Group) -> Iterator[tuple[Row, float | None]]:
    """Mean goodput of the first flow in ns-3 over that in ns-2. {_ABOUT}"""
    return _ratios(group, "goodput")


@group_metric(
    "1",
    "Mean queue, ns-3 over ns-2",
    "RFC 5166, section 2.2",
    metrics=("mean_queue",),
    better="nearest",
    reference=1,
    apart=0.05,
)
def mean_queue_ratio(group: Group) -> Iterator[tuple[Row, float | None]]:
    """Mean of the mean queue of the bottleneck in ns-3 over that in ns-2. {_ABOUT}"""
    return _ratios(group, "mean_queue")


@flow_metric(
    "s",
    "Time between cuts",
    "RFC 5166, section 2.4",
    tables=("cwnd",),
    parameters=("rtt_ms",),
    window=second_half,
)
def time_between_cuts(flow: FlowView) -> float | None:
    """Mean time between the peaks of two cuts, over {HALF}. {CUT} Here cuts between which cwnd does
    not rise are one, too, because Linux's modules in ns-2 take cwnd down packet by packet.
    """
    start_s, end_s = second_half(flow)
    apart = pl.col("peak_s") > pl.col("cut_s").shift(1).fill_null(-1.0)
    peaks_s = flow.cuts.filter(apart)["peak_s"]
    late_s = peaks_s.filter(peaks_s.is_between(start_s, end_s))
    return float(late_s[-1] - late_s[0]) / (len(late_s) - 1) if len(late_s) > 1 else None


@group_metric(
    "1",
    "Time between cuts, ns-3 over ns-2",
    "RFC 5166, section 2.4",
    metrics=("time_between_cuts",),
    better="nearest",
    reference=1,
    apart=0.05,
)
def time_between_cuts_ratio(group: Group) -> Iterator[tuple[Row, float | None]]:
    """Mean time between two cuts of the first flow in ns-3 over that in ns-2. {_ABOUT}"""
    return _ratios(group, "time_between_cuts")


def _first_fall(flow: FlowView) -> tuple[pl.DataFrame, float] | None:
    """cwnd from its first peak on, and that peak, packets."""
    first = flow.cuts.head(1)
    if first.is_empty():
        return None
    peak_s, peak_pkts = first.select("peak_s", "peak_pkts").row(0)
    return flow.cwnd.filter(pl.col("time_s") > peak_s), peak_pkts


@flow_metric(
    "s",
    "Time to regain the first peak",
    "RFC 5166, section 2.4",
    tables=("cwnd",),
    parameters=("rtt_ms",),
)
def regaining_time(flow: FlowView) -> float | None:
    """Time from the first peak of cwnd until cwnd is as large again. {CUT}"""
    found = _first_fall(flow)
    if found is None:
        return None
    later, peak_pkts = found
    again = later.filter(pl.col("cwnd_pkts").cum_min() < peak_pkts).filter(
        pl.col("cwnd_pkts") >= peak_pkts
    )
    return float(again["time_s"][0] - flow.cuts["peak_s"][0]) if again.height else None


@group_metric(
    "1",
    "Time to regain the first peak, ns-3 over ns-2",
    "RFC 5166, section 2.4",
    metrics=("regaining_time",),
    better="nearest",
    reference=1,
    apart=0.05,
)
def regaining_time_ratio(group: Group) -> Iterator[tuple[Row, float | None]]:
    """Time from the first peak of cwnd until it is as large again, ns-3's over ns-2's. {_ABOUT}"""
    return _ratios(group, "regaining_time")


@group_metric(
    "packets",
    "Retransmissions, ns-3 less ns-2",
    "RFC 5166, section 2.3",
    metrics=("retransmissions",),
    better="nearest",
    reference=0,
    apart=0.05,
)
def more_retransmissions(group: Group) -> Iterator[tuple[Row, float | None]]:
    """Mean number of retransmissions of the first flow in ns-3, less that in ns-2. {_ABOUT}"""
    for row, ns2, ns3 in _both(group, "retransmissions"):
        yield row, ns3 - ns2


@group_metric(
    "1",
    "Jain's index, ns-3 less ns-2",
    "RFC 5166, section 2.3.1",
    metrics=("jain_index",),
    better="nearest",
    reference=0,
    apart=0.02,
)
def jain_difference(group: Group) -> Iterator[tuple[Row, float | None]]:
    """Mean of Jain's fairness index in ns-3, less that in ns-2. {_ABOUT}"""
    for row, ns2, ns3 in _both(group, "jain_index"):
        yield row, ns3 - ns2


@group_metric(
    "1",
    "Drops and marks, ns-3 over ns-2",
    "RFC 5166, section 2.3",
    metrics=("link_loss_rate", "mark_rate"),
    better="nearest",
    reference=1,
    apart=0.05,
)
def drops_and_marks_ratio(group: Group) -> Iterator[tuple[Row, float | None]]:
    """Mean share of packets that the bottleneck drops or marks, ns-3's over ns-2's. {_ABOUT}"""
    marks = {row.run_id: (ns2, ns3) for row, ns2, ns3 in _both(group, "mark_rate")}
    for row, ns2, ns3 in _both(group, "link_loss_rate"):
        marked_ns2, marked_ns3 = marks.get(row.run_id, (0.0, 0.0))
        yield row, (ns3 + marked_ns3) / (ns2 + marked_ns2) if ns2 + marked_ns2 > 0 else None
