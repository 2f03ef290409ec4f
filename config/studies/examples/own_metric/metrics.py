"""A metric of this study alone."""

from __future__ import annotations

from bdpbench.metrics import LinkView, link_metric, second_half
from bdpbench.metrics.series import in_window


@link_metric(
    "%",
    "Time with the queue more than half full",
    "an example of a study's own metric",
    tables=("queue",),
    parameters=("buffer_pkts",),
)
def half_full_share(link: LinkView) -> float:
    """Share of the samples of the queue over the second half of the run that are longer than half
    of the buffer.
    """
    samples = link.queue.filter(in_window(*second_half(link)))
    longer = (samples["pkts"] > link.positive("buffer_pkts") / 2).sum()
    return float(100 * longer / samples.height)
