"""Means over repetitions, with confidence intervals."""

from __future__ import annotations

import functools
import json
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from bdpbench.contracts.plan import PlannedRun
from bdpbench.errors import BdpbenchError
from bdpbench.metrics.groups import REPETITION

_LARGEST_QUANTILE = 1e9
_NUMBER = "number of the repeated run"
_ROW_KEY = ["scenario", "metric", "subject", "unit", "definition"]

REPETITIONS_SCHEMA: Mapping[str, pl.DataType] = {
    **dict.fromkeys(_ROW_KEY, pl.String()),
    "run_ids": pl.List(pl.String()),
    "mean": pl.Float64(),
    "half_width": pl.Float64(),
    "level": pl.Float64(),
}
"""Columns of ``over_repetitions``; ``half_width`` is in the unit of the mean."""


def over_repetitions(
    metrics: pl.DataFrame, runs: Iterable[PlannedRun], level: float = 0.95
) -> pl.DataFrame:
    """Means over runs of a scenario that differ in ``substream`` alone, with intervals.

    A metric that one of the repetitions never reached has no mean, since that would be biased
    towards the others.

    Args:
        metrics: table of ``metrics.parquet``.
        runs: runs of the plan: run_id, scenario, parameters.
        level: confidence level, between 0 and 1.

    Returns:
        One row for each metric and subject of two repetitions or more, columns as
        ``REPETITIONS_SCHEMA``; half_width is 0 if all repetitions have the same value.
    """
    repeated = _repeated(runs)
    numbers = [(run_id, number) for number, ids in enumerate(repeated) for run_id in ids]
    columns = {"run_id": pl.String, _NUMBER: pl.Int64}
    of_run = pl.DataFrame(numbers, schema=columns, orient="row")
    means = (
        metrics.join(of_run, on="run_id", maintain_order="left")
        .group_by(_NUMBER, *_ROW_KEY, maintain_order=True)
        .agg(pl.col("value"))
        .filter(pl.col("value").list.len() > 1)
        .filter(pl.col("value").list.eval(pl.element().is_null()).list.any().not_())
        .sort(_NUMBER, maintain_order=True)
    )
    rows = [
        (*key, repeated[number], found.mean, found.half_width, level)
        for number, *key, values in means.iter_rows()
        for found in [confidence_interval(values, level)]
    ]
    return pl.DataFrame(rows, schema=REPETITIONS_SCHEMA, orient="row")


def _repeated(runs: Iterable[PlannedRun]) -> list[list[str]]:
    """Ids of runs that are repetitions of one another, two or more."""
    groups: dict[str, dict[str, None]] = {}
    for run in runs:
        rest = {key: value for key, value in run["parameters"].items() if key != REPETITION}
        key = json.dumps([run["scenario"], rest], sort_keys=True)
        groups.setdefault(key, {})[run["run_id"]] = None
    return [list(ids) for ids in groups.values() if len(ids) > 1]


@dataclass(frozen=True)
class Interval:
    """A mean and its confidence interval ``[mean - half_width, mean + half_width]``.

    ``half_width`` is None for a single value, which says nothing about its spread.
    """

    mean: float
    half_width: float | None
    count: int
    level: float


def confidence_interval(values: Sequence[float], level: float = 0.95) -> Interval:
    """Mean of independent repetitions with Student's confidence interval.

    half_width = t(1 - (1 - level)/2, n - 1) · s/sqrt(n), s the sample standard deviation (Student
    1908; NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.5.2).

    Args:
        values: one per repetition, at least one, in any unit.
        level: confidence level, between 0 and 1.

    Raises:
        BdpbenchError: for no values, or an invalid level.

    >>> interval = confidence_interval([9.0, 10.0, 11.0])
    >>> interval.mean, round(interval.half_width, 3)  # t(0.975, 2) = 4.303, s = 1
    (10.0, 2.484)
    """
    if not values:
        raise BdpbenchError("a mean needs at least one value")
    if not 0 < level < 1:
        raise BdpbenchError(f"a level of confidence lies between 0 and 1, not at {level:g}")
    count, mean = len(values), statistics.fmean(values)
    if count == 1:
        return Interval(mean, None, count, level)
    if min(values) == max(values):  # whose mean and deviation may have rounding errors
        return Interval(values[0], 0.0, count, level)
    quantile = student_t_quantile((1 + level) / 2, count - 1)
    return Interval(mean, quantile * statistics.stdev(values) / math.sqrt(count), count, level)


@functools.cache
def student_t_quantile(probability: float, degrees: int) -> float:
    """The value below which a variable of Student's distribution is with ``probability``.

    It is found by bisection of the distribution function, which is a finite sum for integer degrees
    of freedom (Abramowitz and Stegun, equations 26.7.3 and 26.7.4).

    Args:
        probability: between 0 and 1.
        degrees: degrees of freedom, at least 1.

    >>> round(student_t_quantile(0.975, 1), 3), round(student_t_quantile(0.95, 10), 3)
    (12.706, 1.812)
    """
    if probability < 0.5:
        return -student_t_quantile(1 - probability, degrees)
    low, high = 0.0, 1.0
    while _within(high, degrees) < 2 * probability - 1 and high < _LARGEST_QUANTILE:
        low, high = high, 2 * high
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        if _within(middle, degrees) < 2 * probability - 1:
            low = middle
        else:
            high = middle


def _within(t: float, degrees: int) -> float:
    """Probability of a value between -t and t."""
    angle = math.atan(t / math.sqrt(degrees))
    squared = math.cos(angle) ** 2
    odd = degrees % 2
    term = math.cos(angle) if odd else 1.0
    total = term if degrees > 1 else 0.0
    for k in range(2 + odd, degrees - 1, 2):
        term *= (k - 1) / k * squared
        total += term
    if odd:
        return 2 / math.pi * (angle + math.sin(angle) * total)
    return math.sin(angle) * total
