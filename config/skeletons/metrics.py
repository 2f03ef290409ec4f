"""Metrics of this study alone; bdpbench measures them like its own."""

from __future__ import annotations

from bdpbench.metrics import LinkView, link_metric, second_half
from bdpbench.metrics.series import in_window


# There are also flow_metric, run_metric and group_metric. Runs without these tables or parameters
# do not have the metric.
@link_metric(
    "%",
    "A metric of my own",
    "where the definition comes from",
    tables=("queue",),
    parameters=("buffer_pkts",),
)
def skeleton(link: LinkView) -> float:
    """Share of the samples of the queue over the second half of the run that are longer than half
    of the buffer.
    """
    samples = link.queue.filter(in_window(*second_half(link)))
    longer = (samples["pkts"] > link.positive("buffer_pkts") / 2).sum()
    return float(100 * longer / samples.height)
