"""Links: what their flows use of them, how long their queues are, and what these drop and mark."""

from __future__ import annotations

import functools
from typing import Any

import polars as pl

from bdpbench.metrics.definition import (
    COUNTED,
    MEAN,
    THESIS,
    family,
    flow_metric,
    link_metric,
    percentile,
)
from bdpbench.metrics.series import (
    PEAK_SHARE,
    first_time_at_least,
    in_window,
    mean,
    number,
    time_reached_and_kept,
)
from bdpbench.metrics.views import FlowView, LinkView, View, counted, second_half

_CAPACITY = ("bottleneck_mbps",)

_MOST_BELOW_S = 1.25
"""Longest time in s that a link may spend below a level and still count as staying there."""


@link_metric(
    "s",
    "Time to 90 % utilization",
    f"{THESIS}, Table 1, columns 6 and 7",
    tables=("utilization",),
    parameters=_CAPACITY,
    better="less",
    apart=0.05,
)
def time_to_90pct_utilization(link: LinkView) -> float | None:
    """End of the first bin of 0.1 s in which departures from the bottleneck's queue, {WITH_ALL},
    reach 90 % of the link's nominal capacity.
    """
    level_mbps = PEAK_SHARE * link.positive("bottleneck_mbps")
    return first_time_at_least(link.departures, "mbps", level_mbps)


@link_metric(
    "s",
    "Time to 90 % utilization, the crossing that lasts",
    f"{THESIS}, Table 1, columns 6 and 7, read as the crossing that lasts",
    tables=("utilization",),
    parameters=_CAPACITY,
    better="less",
    apart=0.05,
)
def time_to_90pct_utilization_kept(link: LinkView) -> float | None:
    """End of the first bin of 0.1 s with departures of at least 90 % of nominal capacity that
    begins a stay there: the next time below 90 % lasts at most {_MOST_BELOW_S:g} s.
    """
    level_mbps = PEAK_SHARE * link.positive("bottleneck_mbps")
    return time_reached_and_kept(link.departures, level_mbps, _MOST_BELOW_S)


@link_metric(
    "Mbit/s",
    "Largest throughput",
    f"{THESIS}, Table 1, column 1",
    tables=("utilization",),
    better="more",
    apart=0.02,
)
def max_throughput(link: LinkView) -> float | None:
    """{DEPARTURES} in the busiest bin of 0.1 s, {WITH_ALL}."""
    return number(link.departures["mbps"].max())


@link_metric(
    "%",
    "Link utilization",
    f"{THESIS}, Table 1, columns 4 and 5, and section 3.2 (averages from 250 s)",
    tables=("utilization",),
    parameters=_CAPACITY,
    window=second_half,
    better="more",
    apart=1.0,
    reference=100,
)
def utilization(link: LinkView) -> float | None:
    """{DEPARTURES}, {WITH_ALL}, over {HALF}, as a share of the link's nominal capacity in that
    time. {BINS}
    """
    mean_mbps = mean(link.departures, "mbps", second_half(link))
    return None if mean_mbps is None else 100 * mean_mbps / link.capacity_mbps(second_half(link))


_of_queue = functools.partial(link_metric, tables=("queue",), window=second_half)


def _pkts(link: LinkView) -> pl.Series:
    return link.queue.filter(in_window(*second_half(link)))["pkts"]


@_of_queue(
    "1", "Share of time with an empty queue", f"{THESIS}, section 4.2.3.3 (Figures 10 and 17)"
)
def queue_empty_share(link: LinkView) -> float | None:
    """Share of the samples of the bottleneck's queue that find no packet in it, over {HALF}."""
    return number((_pkts(link) == 0).mean())


@_of_queue(
    "packets", "Mean queue", f"{THESIS}, section 4.5.3.1 (Figure 43)", better="less", apart=0.05
)
def mean_queue(link: LinkView) -> float | None:
    """Mean of the samples of the bottleneck's queue over {HALF}."""
    return number(_pkts(link).mean())


def _has_size(link: View) -> bool:
    """Whether the departed packets and bytes were counted, and are not zero."""
    return bool(link.fact("packets")) and link.fact("bytes") is not None


@family(
    functools.partial(
        link_metric,
        "ms",
        source="RFC 5166, section 2.1.2 (delay); RFC 7567, section 1",
        tables=("queue", "facts"),
        parameters=_CAPACITY,
        window=second_half,
        when=_has_size,
        better="less",
        apart=0.05,
    ),
    MEAN,
    percentile(95),
    title="queueing delay",
)
def queueing_delay(link: LinkView) -> pl.Series:
    """queueing delay. The queueing delay is how long the link takes, at its rate of that time, to
    send what a sample finds in its queue: packets, each of the mean size of those that departed in
    the window that the script's report counts. Samples at equal distances over {HALF}.
    """
    return link.queueing_delays_ms


_RED = "Floyd and Jacobson (1993), Random Early Detection Gateways"


def _arrivals(view: View) -> float | None:
    """Packets that a queue dropped or forwarded; None if they were not counted."""
    packets, drops = view.fact("packets"), view.fact("drops")
    return None if packets is None or drops is None else packets + drops


def _has_arrivals(view: View) -> bool:
    return bool(_arrivals(view))


def _share(view: View, fact: str) -> float | None:
    count, arrivals = view.fact(fact), _arrivals(view)
    return 100 * count / arrivals if count is not None and arrivals else None


_LOSSES = "RFC 5166, section 2.1.3"
_OF_ARRIVALS = f"as a share of those that were lost or departed, {COUNTED}"


@flow_metric(
    "%",
    "Loss rate",
    _LOSSES,
    tables=("facts",),
    window=counted,
    when=_has_arrivals,
    better="less",
    apart=0.1,
)
def loss_rate(flow: FlowView) -> float | None:
    """Packets of the flow that were lost at the first bottleneck of its path, as a share of those
    that were lost there or departed, {COUNTED}.
    """
    return _share(flow, "drops")


@link_metric(
    "%",
    "Loss rate of the link",
    _LOSSES,
    tables=("queue", "facts"),
    window=counted,
    when=_has_arrivals,
    better="less",
    apart=0.1,
)
def link_loss_rate(link: LinkView) -> float | None:
    """Packets that were lost at the link, dropped by its queue or at random before it,
    {_OF_ARRIVALS}.
    """
    return _share(link, "drops")


def _is_counted(fact: str, link: LinkView) -> bool:
    return _has_arrivals(link) and link.fact(fact) is not None


def _of_counts(fact: str) -> dict[str, Any]:
    # Sampled links are on the path of the data; links in the other direction are also counted.
    return {
        "tables": ("queue", "facts"),
        "window": counted,
        "when": functools.partial(_is_counted, fact),
    }


@link_metric("%", "Early drop rate", f"{_RED}; ns-2, red.cc", **_of_counts("early_drops"))
def early_drop_rate(link: LinkView) -> float | None:
    """Packets that the queue dropped before it was full, by its law, {_OF_ARRIVALS}."""
    return _share(link, "early_drops")


_MARKED = "RFC 3168, section 5; ns-2, red.cc"


@link_metric("packets", "Marks", _MARKED, **_of_counts("marks"))
def marks(link: LinkView) -> float | None:
    """Packets that the queue marked with ECN in the place of a drop, {COUNTED}."""
    return link.fact("marks")


@link_metric("%", "Mark rate", _MARKED, **_of_counts("marks"))
def mark_rate(link: LinkView) -> float | None:
    """Packets that the queue marked with ECN in the place of a drop, {_OF_ARRIVALS}."""
    return _share(link, "marks")
