"""How long packets wait in a queue."""

from __future__ import annotations

from bdpbench.metrics.definition import link_metric
from bdpbench.metrics.series import median, nearest_rank, number
from bdpbench.metrics.views import LinkView, View, second_half
from bdpbench.metrics.words import HALF

_DELAY = (
    "The queueing delay is how long the link takes, at its rate of that time, to send what a "
    "sample finds in its queue: packets, each of the mean size of those that departed in the "
    f"window that the script's report counts. Samples at equal distances over {HALF}."
)
_SOURCE = "RFC 5166, section 2.1.2 (delay); RFC 7567, section 1"
_TABLES = ("queue", "facts")
_PARAMETERS = ("bottleneck_mbps",)


def _has_size(link: View) -> bool:
    """Whether the departed packets and bytes were counted, and are not zero."""
    return bool(link.fact("packets")) and link.fact("bytes") is not None


@link_metric(
    unit="ms",
    title="Mean queueing delay",
    text=f"Mean queueing delay. {_DELAY}",
    source=_SOURCE,
    tables=_TABLES,
    parameters=_PARAMETERS,
    optional=("bottleneck_mbps_changes",),
    window=second_half,
    when=_has_size,
    version=1,
)
def mean_queueing_delay(link: LinkView) -> float | None:
    return number(link.queueing_delays_ms.mean())


@link_metric(
    unit="ms",
    title="Median queueing delay",
    text=f"Median queueing delay. {_DELAY}",
    source=_SOURCE,
    tables=_TABLES,
    parameters=_PARAMETERS,
    optional=("bottleneck_mbps_changes",),
    window=second_half,
    when=_has_size,
    version=1,
)
def median_queueing_delay(link: LinkView) -> float | None:
    return median(link.queueing_delays_ms)


@link_metric(
    unit="ms",
    title="95th percentile of the queueing delay",
    text="Smallest queueing delay that at least 95 in 100 samples do not exceed. " + _DELAY,
    source=_SOURCE,
    tables=_TABLES,
    parameters=_PARAMETERS,
    optional=("bottleneck_mbps_changes",),
    window=second_half,
    when=_has_size,
    version=1,
)
def p95_queueing_delay(link: LinkView) -> float | None:
    return nearest_rank(link.queueing_delays_ms, 95)


@link_metric(
    unit="ms",
    title="99th percentile of the queueing delay",
    text="Smallest queueing delay that at least 99 in 100 samples do not exceed. " + _DELAY,
    source=_SOURCE,
    tables=_TABLES,
    parameters=_PARAMETERS,
    optional=("bottleneck_mbps_changes",),
    window=second_half,
    when=_has_size,
    version=1,
)
def p99_queueing_delay(link: LinkView) -> float | None:
    return nearest_rank(link.queueing_delays_ms, 99)


@link_metric(
    unit="ms",
    title="Largest queueing delay",
    text=f"Largest queueing delay. {_DELAY}",
    source=_SOURCE,
    tables=_TABLES,
    parameters=_PARAMETERS,
    optional=("bottleneck_mbps_changes",),
    window=second_half,
    when=_has_size,
    version=1,
)
def max_queueing_delay(link: LinkView) -> float | None:
    return number(link.queueing_delays_ms.max())
