"""What RED computes from a queue's length: its average, and max_p."""

from __future__ import annotations

from bdpbench.metrics.definition import link_metric
from bdpbench.metrics.series import last_until, mean
from bdpbench.metrics.views import LinkView, second_half
from bdpbench.metrics.words import HALF

_RED = "Floyd and Jacobson (1993), Random Early Detection Gateways, section 4"
_ARED = "Floyd, Gummadi and Shenker (2001), Adaptive RED, section 4"


@link_metric(
    unit="packets",
    title="Mean average queue of RED",
    text="Mean, over samples at equal distances, of the moving average of the queue's length by "
    f"which RED drops and marks, over {HALF}.",
    source=_RED,
    tables=("red",),
    window=second_half,
    version=1,
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
    version=1,
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
    version=1,
)
def last_max_p(link: LinkView) -> float | None:
    return last_until(link.rows("red"), "max_p", link.run.duration_s)
