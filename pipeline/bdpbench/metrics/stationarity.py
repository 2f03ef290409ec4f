"""Whether the quantities that a run measures over its second half still change in it."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from bdpbench.metrics.definition import run_metric
from bdpbench.metrics.friendliness import groups_of, has_two_groups
from bdpbench.metrics.series import batch_means
from bdpbench.metrics.thresholds import BATCHES
from bdpbench.metrics.views import FlowView, RunView, second_half
from bdpbench.metrics.words import BINS, HALF

_DRIFT = (
    f"Change from the first to the second part of {HALF}, of equal length, in per cent of the mean "
    "of both: near 0 where the run is long enough to have become stationary. Measured in runs of "
    f"{2 * BATCHES} s or more. {BINS}"
)
_SOURCE = "Law and Kelton, Simulation Modeling and Analysis, on the initial transient"


def _is_long(run: RunView) -> bool:
    return run.duration_s >= 2 * BATCHES and bool(run.flows("throughput"))


def _is_long_with_two_groups(run: RunView) -> bool:
    return _is_long(run) and has_two_groups(run)


@run_metric(
    unit="%",
    title="Drift of the total throughput",
    text=f"Total throughput of the flows. {_DRIFT}",
    source=_SOURCE,
    tables=("throughput",),
    window=second_half,
    when=_is_long,
    version=1,
)
def total_throughput_drift(run: RunView) -> float | None:
    return _drift(run, run.table("throughput"))


@run_metric(
    unit="%",
    title="Drift of the first group's throughput",
    text=f"Throughput of the first of two groups of flows. {_DRIFT}",
    source=_SOURCE,
    tables=("facts", "throughput"),
    optional=("group", "size_pkts"),
    window=second_half,
    when=_is_long_with_two_groups,
    version=1,
)
def first_group_throughput_drift(run: RunView) -> float | None:
    first, _ = groups_of(run).values()
    return _drift(run, _bins_of(first))


def _bins_of(flows: Iterable[FlowView]) -> pl.DataFrame:
    return pl.concat([flow.throughput.select("time_s", "mbps") for flow in flows])


def _drift(run: RunView, bins: pl.DataFrame) -> float | None:
    """Change between the parts of the second half, %; None if nothing departed in it."""
    totals = bins.group_by("time_s").agg(pl.col("mbps").sum()).sort("time_s")
    means = batch_means(totals, "mbps", second_half(run), 2)
    if len(means) < 2 or not sum(means):
        return None
    early, late = means
    return 100 * (late - early) / ((early + late) / 2)
