"""How long a link's queue is, and how steady."""

from __future__ import annotations

import polars as pl

from bdpbench.metrics.definition import link_metric
from bdpbench.metrics.series import in_window, number, variation
from bdpbench.metrics.views import LinkView, Window, second_half, whole
from bdpbench.metrics.words import CUT, HALF, THESIS


def _has_one_flow(link: LinkView) -> bool:
    return len(link.run.flows("cwnd")) == 1


def _from_second_full_peak(link: LinkView) -> Window:
    """The time from a flow's second full peak on, if a third follows."""
    (flow,) = link.run.flows("cwnd")
    peaks_s = flow.full_cuts["peak_s"]
    return (float(peaks_s[1]), link.run.duration_s) if len(peaks_s) >= 3 else whole(link)


@link_metric(
    unit="packets",
    title="Smallest queue after the second peak",
    text="Smallest sample of the bottleneck's queue after the flow's second full peak (at or above "
    "90 % of the nominal BDP): the first is left out since ns-2 halves cwnd there whatever "
    f"the variant's factor is. Measured where a third full peak follows. {CUT}",
    source=f"{THESIS}, section 4.2.3.3 (Figure 18)",
    tables=("queue", "cwnd"),
    parameters=("bdp_pkts", "rtt_ms"),
    window=_from_second_full_peak,
    when=_has_one_flow,
    version=1,
)
def queue_min_after_peak(link: LinkView) -> float | None:
    (flow,) = link.run.flows("cwnd")
    if flow.full_cuts.height < 3:
        return None
    return number(link.queue.filter(in_window(*_from_second_full_peak(link)))["pkts"].min())


@link_metric(
    unit="1",
    title="Share of time with an empty queue",
    text=f"Share of the samples of the bottleneck's queue that find no packet in it, over {HALF}.",
    source=f"{THESIS}, section 4.2.3.3 (Figures 10 and 17)",
    tables=("queue",),
    window=second_half,
    version=1,
)
def queue_empty_share(link: LinkView) -> float | None:
    return number((_pkts(link) == 0).mean())


@link_metric(
    unit="packets",
    title="Mean queue",
    text=f"Mean of the samples of the bottleneck's queue over {HALF}.",
    source=f"{THESIS}, section 4.5.3.1 (Figure 43)",
    tables=("queue",),
    window=second_half,
    version=1,
)
def mean_queue(link: LinkView) -> float | None:
    return number(_pkts(link).mean())


@link_metric(
    unit="1",
    title="Variation of the queue",
    text="Standard deviation of the samples of the bottleneck's queue over their mean, over "
    f"{HALF}: 0 for a queue of constant length.",
    source=f"{THESIS}, section 4.5.3.1 (Figures 43 to 47)",
    tables=("queue",),
    window=second_half,
    version=1,
)
def queue_variation(link: LinkView) -> float | None:
    return variation(_pkts(link))


def _pkts(link: LinkView) -> pl.Series:
    return link.queue.filter(in_window(*second_half(link)))["pkts"]
