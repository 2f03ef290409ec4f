"""What tests of several rooms make, or look up, again and again."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from bdpbench.contracts.plan import PlannedRun, Scalar
from bdpbench.metrics import DEFINITIONS, Definition, as_metrics, measure_values, metric_rows


def arguments(run: PlannedRun) -> dict[str, str]:
    """The arguments of a run's script: key, with its hyphen → value."""
    return dict(zip(run["argv"][::2], run["argv"][1::2], strict=True))


def combinations(parameters: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """All combinations of values of parameters, the last of which changes first."""
    values = itertools.product(*parameters.values())
    return [dict(zip(parameters, each, strict=True)) for each in values]


def measure_run(
    parameters: Mapping[str, Scalar],
    tables: Mapping[str, pl.LazyFrame],
    *,
    run_id: str = "r",
    scenario: str = "s",
    definitions: Mapping[str, Definition] = DEFINITIONS,
) -> pl.DataFrame:
    """All metrics of one run, as rows of metrics.parquet."""
    values = measure_values(parameters, tables, definitions, where=f"run {run_id}")
    return as_metrics(metric_rows(values, definitions, run_id=run_id, scenario=scenario))
