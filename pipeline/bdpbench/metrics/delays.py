"""How long packets wait in a queue."""

from __future__ import annotations

import polars as pl

from bdpbench.metrics.definition import link_metric
from bdpbench.metrics.queues import queueing_delays
from bdpbench.metrics.series import in_window, median, nearest_rank, number
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
    """Whether somebody has counted the packets and bytes that departed, and something did."""
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
    return number(_delays_ms(link).mean())


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
    return median(_delays_ms(link))


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
    return nearest_rank(_delays_ms(link), 95)


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
    return nearest_rank(_delays_ms(link), 99)


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
    return number(_delays_ms(link).max())


def _delays_ms(link: LinkView) -> pl.Series:
    samples = link.queue.filter(in_window(*second_half(link)))
    size = (link.fact("bytes") or 0.0) / (link.fact("packets") or 1.0)
    return queueing_delays(samples, size, link.rates)["ms"]
