"""Links: what their flows use of them, how long their queues are, and what these drop and mark."""

from __future__ import annotations

import functools
from collections.abc import Callable

import polars as pl

from bdpbench.metrics.definition import (
    LARGEST,
    MEAN,
    MEDIAN,
    family,
    flow_metric,
    link_metric,
    percentile,
)
from bdpbench.metrics.series import (
    first_time_at_least,
    in_window,
    last_until,
    mean,
    number,
    time_reached_and_kept,
    variation,
)
from bdpbench.metrics.terms import (
    BINS,
    COUNTED,
    DEPARTURES,
    HALF,
    MOST_BELOW_S,
    PEAK_SHARE,
    THESIS,
    WITH_ALL,
    XU,
)
from bdpbench.metrics.views import FlowView, LinkView, View, Window, counted, second_half, whole

_CAPACITY = ("bottleneck_mbps",)
_CHANGES = ("bottleneck_mbps_changes",)


@link_metric(
    unit="s",
    title="Time to 90 % utilization",
    text="End of the first bin of 0.1 s in which departures from the bottleneck's queue, "
    f"{WITH_ALL}, reach 90 % of the link's nominal capacity.",
    source=f"{THESIS}, Table 1, columns 6 and 7",
    tables=("utilization",),
    parameters=_CAPACITY,
)
def time_to_90pct_utilization(link: LinkView) -> float | None:
    level_mbps = PEAK_SHARE * link.positive("bottleneck_mbps")
    return first_time_at_least(link.departures, "mbps", level_mbps)


@link_metric(
    unit="s",
    title="Time to 90 % utilization, the crossing that lasts",
    text="End of the first bin of 0.1 s with departures of at least 90 % of nominal capacity that "
    f"begins a stay there: the next time below 90 % lasts at most {MOST_BELOW_S:g} s.",
    source=f"{THESIS}, Table 1, columns 6 and 7, read as the crossing that lasts",
    tables=("utilization",),
    parameters=_CAPACITY,
)
def time_to_90pct_utilization_kept(link: LinkView) -> float | None:
    level_mbps = PEAK_SHARE * link.positive("bottleneck_mbps")
    return time_reached_and_kept(link.departures, level_mbps, MOST_BELOW_S)


@link_metric(
    unit="Mbit/s",
    title="Largest throughput",
    text=f"{DEPARTURES} in the busiest bin of 0.1 s, {WITH_ALL}.",
    source=f"{THESIS}, Table 1, column 1",
    tables=("utilization",),
)
def max_throughput(link: LinkView) -> float | None:
    return number(link.departures["mbps"].max())


@link_metric(
    unit="%",
    title="Link utilization",
    text=f"{DEPARTURES}, {WITH_ALL}, over {HALF}, as a share of the link's nominal capacity in "
    f"that time. {BINS}",
    source=f"{THESIS}, Table 1, columns 4 and 5, and section 3.2 (averages from 250 s)",
    tables=("utilization",),
    parameters=_CAPACITY,
    optional=_CHANGES,
    window=second_half,
)
def utilization(link: LinkView) -> float | None:
    return _share_of_capacity(link, second_half(link))


@link_metric(
    unit="%",
    title="Link utilization over the whole run",
    text=f"{DEPARTURES}, {WITH_ALL}, over the whole run, as a share of the link's nominal capacity "
    "in that time.",
    source=f"{XU}, section 3.2 and Figure 3.2 (channel utilization, normalized throughput)",
    tables=("utilization",),
    parameters=_CAPACITY,
    optional=_CHANGES,
)
def overall_utilization(link: LinkView) -> float | None:
    return _share_of_capacity(link, whole(link))


def _share_of_capacity(link: LinkView, window: Window) -> float | None:
    mean_mbps = mean(link.departures, "mbps", window)
    return None if mean_mbps is None else 100 * mean_mbps / link.capacity_mbps(window)


_of_queue = functools.partial(link_metric, tables=("queue",), window=second_half)


def _pkts(link: LinkView) -> pl.Series:
    return link.queue.filter(in_window(*second_half(link)))["pkts"]


@_of_queue(
    unit="1",
    title="Share of time with an empty queue",
    text=f"Share of the samples of the bottleneck's queue that find no packet in it, over {HALF}.",
    source=f"{THESIS}, section 4.2.3.3 (Figures 10 and 17)",
)
def queue_empty_share(link: LinkView) -> float | None:
    return number((_pkts(link) == 0).mean())


@_of_queue(
    unit="packets",
    title="Mean queue",
    text=f"Mean of the samples of the bottleneck's queue over {HALF}.",
    source=f"{THESIS}, section 4.5.3.1 (Figure 43)",
)
def mean_queue(link: LinkView) -> float | None:
    return number(_pkts(link).mean())


@_of_queue(
    unit="1",
    title="Variation of the queue",
    text="Standard deviation of the samples of the bottleneck's queue over their mean, over "
    f"{HALF}: 0 for a queue of constant length.",
    source=f"{THESIS}, section 4.5.3.1 (Figures 43 to 47)",
)
def queue_variation(link: LinkView) -> float | None:
    return variation(_pkts(link))


def _has_size(link: View) -> bool:
    """Whether the departed packets and bytes were counted, and are not zero."""
    return bool(link.fact("packets")) and link.fact("bytes") is not None


@family(
    "link",
    *(MEAN, MEDIAN, percentile(95), percentile(99), LARGEST),
    unit="ms",
    title="queueing delay",
    text="queueing delay. The queueing delay is how long the link takes, at its rate of that time, "
    "to send what a sample finds in its queue: packets, each of the mean size of those that "
    "departed in the window that the script's report counts. Samples at equal distances over "
    f"{HALF}.",
    source="RFC 5166, section 2.1.2 (delay); RFC 7567, section 1",
    tables=("queue", "facts"),
    parameters=_CAPACITY,
    optional=_CHANGES,
    window=second_half,
    when=_has_size,
)
def queueing_delay(link: LinkView) -> pl.Series:
    return link.queueing_delays_ms


_RED = "Floyd and Jacobson (1993), Random Early Detection Gateways"
_ARED = "Floyd, Gummadi and Shenker (2001), Adaptive RED, section 4"


@link_metric(
    unit="packets",
    title="Mean average queue of RED",
    text="Mean, over samples at equal distances, of the moving average of the queue's length by "
    f"which RED drops and marks, over {HALF}.",
    source=f"{_RED}, section 4",
    tables=("red",),
    window=second_half,
)
def mean_red_average(link: LinkView) -> float | None:
    return mean(link.rows("red"), "average_pkts", second_half(link))


@link_metric(
    unit="1",
    title="Mean max_p",
    text="Mean, over samples at equal distances, of max_p, the probability of a drop that RED has "
    f"at its upper threshold, over {HALF}. Only adaptive queues change it.",
    source=_ARED,
    tables=("red",),
    window=second_half,
)
def mean_max_p(link: LinkView) -> float | None:
    return mean(link.rows("red"), "max_p", second_half(link))


@link_metric(
    unit="1",
    title="Last max_p",
    text="The last sample of max_p, the probability of a drop that RED has at its upper threshold: "
    "what an adaptive queue has come to by the end of the run.",
    source=_ARED,
    tables=("red",),
)
def last_max_p(link: LinkView) -> float | None:
    return last_until(link.rows("red"), "max_p", link.run.duration_s)


def _arrivals(view: View) -> float | None:
    """Packets that a queue dropped or forwarded; None if they were not counted."""
    packets, drops = view.fact("packets"), view.fact("drops")
    return None if packets is None or drops is None else packets + drops


def _has_arrivals(view: View) -> bool:
    return bool(_arrivals(view))


def _share(view: View, fact: str) -> float | None:
    count, arrivals = view.fact(fact), _arrivals(view)
    return 100 * count / arrivals if count is not None and arrivals else None


# Sampled links are on the path of the data; links in the other direction are also counted.
_of_counts = functools.partial(link_metric, tables=("queue", "facts"), window=counted)
_LOSSES = "RFC 5166, section 2.1.3"
_OF_ARRIVALS = f"as a share of those that were lost or departed, {COUNTED}"


@flow_metric(
    unit="%",
    title="Loss rate",
    text="Packets of the flow that were lost at the first bottleneck of its path, as a share of "
    f"those that were lost there or departed, {COUNTED}.",
    source=_LOSSES,
    tables=("facts",),
    window=counted,
    when=_has_arrivals,
)
def loss_rate(flow: FlowView) -> float | None:
    return _share(flow, "drops")


@_of_counts(
    unit="%",
    title="Loss rate of the link",
    text="Packets that were lost at the link, dropped by its queue or at random before it, "
    f"{_OF_ARRIVALS}.",
    source=_LOSSES,
    when=_has_arrivals,
)
def link_loss_rate(link: LinkView) -> float | None:
    return _share(link, "drops")


def _count_and_rate(
    fact: str, title: str, rate: str, rate_title: str, text: str, source: str
) -> None:
    """Declare what a queue counted, in packets and as a share of what came to it."""

    def was_counted(link: LinkView) -> bool:
        return _has_arrivals(link) and link.fact(fact) is not None

    kinds: tuple[tuple[str, str, str, str, Callable[[LinkView], float | None]], ...] = (
        (fact, "packets", title, f"{COUNTED}.", lambda link: link.fact(fact)),
        (rate, "%", rate_title, f"{_OF_ARRIVALS}.", lambda link: _share(link, fact)),
    )
    for name, unit, heading, ending, value in kinds:
        _of_counts(
            name=name,
            unit=unit,
            title=heading,
            text=f"{text}, {ending}",
            source=source,
            when=was_counted,
        )(value)


_count_and_rate(
    *("early_drops", "Early drops", "early_drop_rate", "Early drop rate"),
    text="Packets that the queue dropped before it was full, by its law",
    source=f"{_RED}; ns-2, red.cc",
)
_count_and_rate(
    *("forced_drops", "Forced drops", "forced_drop_rate", "Forced drop rate"),
    text="Packets that the queue had to drop, because it was full or its average beyond the range "
    "in which it drops by chance",
    source=f"{_RED}; ns-2, red.cc",
)
_count_and_rate(
    *("marks", "Marks", "mark_rate", "Mark rate"),
    text="Packets that the queue marked with ECN in the place of a drop",
    source="RFC 3168, section 5; ns-2, red.cc",
)
_count_and_rate(
    *("random_losses", "Random losses", "random_loss_rate", "Rate of random losses"),
    text="Packets that were lost at random before the link's queue, as the scenario says, and not "
    "by the queue",
    source=f"ns-2, errmodel.cc; {_LOSSES}",
)
