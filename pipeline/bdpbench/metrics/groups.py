"""The runs of a tier as metrics of several runs see them: their values, and the sweeps in them."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from bdpbench.contracts.plan import Parameters, PlannedRun, Scalar
from bdpbench.errors import BdpbenchError
from bdpbench.studies.vocabulary import REPETITION

Sweeps = Mapping[str, Mapping[str, Sequence[Scalar]]]
"""Scenario → parameter → all values that a study gives it."""

Points = dict[str, list[Scalar]]
"""Parameters other than a swept one and those derived from it → values of the swept one."""


@dataclass(frozen=True)
class Row:
    """One metric of one run (value None: the run was measured, the metric was never reached)."""

    run_id: str
    scenario: str
    parameters: Parameters
    subject: str
    value: float | None
    start_s: float
    end_s: float

    def at(self, parameter: str) -> float:
        """The value of a swept parameter in this run.

        Raises:
            BdpbenchError: when it is not a number.
        """
        return _point(self.parameters[parameter], parameter, f"run {self.run_id}")

    def minus(self, other: Row) -> float | None:
        """The difference of two values; None if one of them was never reached."""
        if self.value is None or other.value is None:
            return None
        return self.value - other.value


class Group:
    """Rows of single runs by metric, the parameters of the runs, and the points of sweeps.

    Args:
        run_metrics: table of ``metrics.parquet``.
        runs: all runs of the plan, measured or not.
        sweeps: numbers that the study sweeps in any tier; for other parameters, the plan's values
            count.
    """

    def __init__(
        self, run_metrics: pl.DataFrame, runs: Iterable[PlannedRun], sweeps: Sweeps
    ) -> None:
        self._metrics = run_metrics
        self._runs = {(run["run_id"], run["scenario"]): run["parameters"] for run in runs}
        self._sweeps = sweeps
        # Found once, rather than once per run.
        self._points_of: dict[tuple[str, str, frozenset[str]], Points] = {}

    def rows_of(self, metric: str) -> list[Row]:
        """The rows of a metric for the runs of the plan."""
        rows = self._metrics.filter(pl.col("metric") == metric).iter_rows(named=True)
        names = ("subject", "value", "start_s", "end_s")
        return [
            Row(*run, self._runs[run], *(row[name] for name in names))
            for row in rows
            if (run := (row["run_id"], row["scenario"])) in self._runs
        ]

    def alike(self, metric: str, beside: frozenset[str]) -> list[list[Row]]:
        """The rows of a metric, grouped by runs with equal scenario and parameters.

        Args:
            metric: name of the metric.
            beside: parameters that may differ.
        """
        groups: dict[str, list[Row]] = {}
        for row in self.rows_of(metric):
            groups.setdefault(row.scenario + rest_of(row.parameters, beside), []).append(row)
        return list(groups.values())

    def sweeps_of(
        self, metric: str, parameter: str, beside: frozenset[str]
    ) -> Iterator[tuple[list[Row], list[float]]]:
        """Each sweep of two points or more: its rows of a metric in order, and all of its points.

        Args:
            metric: name of the metric.
            parameter: the swept parameter.
            beside: parameters that may differ within a sweep, including the swept one.

        Raises:
            BdpbenchError: when the swept parameter of a run is not a number.
        """
        for rows in self.alike(metric, beside):
            found = [row for row in rows if parameter in row.parameters]
            points = self._points(found[0], parameter, beside) if found else []
            if len(points) > 1:
                yield sorted(found, key=lambda row: row.at(parameter)), points

    def repetitions_of(self, metric: str) -> Iterator[list[Row]]:
        """The rows of a metric of runs that differ in ``substream`` alone, two or more, in order.

        Runs of which a repetition is planned and not measured are left out.
        """
        beside = frozenset({REPETITION})
        for rows in self.alike(metric, beside):
            found = {row.parameters.get(REPETITION) for row in rows}
            planned = self._planned(rows[0].scenario, REPETITION, beside)
            numbers = planned.get(rest_of(rows[0].parameters, beside), [])
            if len(numbers) > 1 and found == set(numbers):
                yield sorted(rows, key=lambda row: row.at(REPETITION))

    def _points(self, row: Row, parameter: str, beside: frozenset[str]) -> list[float]:
        """All values of a parameter in the sweep that a run belongs to, ascending."""
        values: Sequence[Scalar] | None = self._sweeps.get(row.scenario, {}).get(parameter)
        if values is None:
            planned = self._planned(row.scenario, parameter, beside)
            values = planned.get(rest_of(row.parameters, beside), [])
        return sorted({_point(each, parameter, f"scenario {row.scenario}") for each in values})

    def _planned(self, scenario: str, parameter: str, beside: frozenset[str]) -> Points:
        """Values of a parameter in the runs of a scenario, by the runs' other parameters."""
        key = (scenario, parameter, beside)
        if key not in self._points_of:
            found = self._points_of.setdefault(key, {})
            for (_, each), parameters in self._runs.items():
                if each == scenario and parameter in parameters:
                    found.setdefault(rest_of(parameters, beside), []).append(parameters[parameter])
        return self._points_of[key]


def rest_of(parameters: Mapping[str, Scalar | None], beside: frozenset[str]) -> str:
    """Parameters other than ``beside``, as a key; 50 and 50.0 are equal."""
    rest = {
        name: float(value) if isinstance(value, int) else value
        for name, value in parameters.items()
        if name not in beside and value is not None
    }
    return json.dumps(rest, sort_keys=True)


def _point(value: Scalar, parameter: str, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise BdpbenchError(
            f"parameter {parameter} is {value!r}: a sweep of it needs numbers", where=where
        )
    return float(value)


_NUMBER = "number of the repeated run"
_ROW_KEY = ["scenario", "metric", "subject", "unit", "definition"]

REPETITIONS_SCHEMA: Mapping[str, pl.DataType] = {
    **dict.fromkeys(_ROW_KEY, pl.String()),
    "run_ids": pl.List(pl.String()),
    **dict.fromkeys(("mean", "low", "high"), pl.Float64()),
}
"""Columns of ``over_repetitions``; ``low`` and ``high`` are the smallest and the largest value."""


def over_repetitions(metrics: pl.DataFrame, runs: Iterable[PlannedRun]) -> pl.DataFrame:
    """Means over runs of a scenario that differ in ``substream`` alone, with their ends.

    A metric that one of the repetitions never reached has no mean, since that would be biased
    towards the others.

    Args:
        metrics: table of ``metrics.parquet``.
        runs: runs of the plan: run_id, scenario, parameters.

    Returns:
        One row for each metric and subject of two repetitions or more, columns as
        ``REPETITIONS_SCHEMA``. Equal values are their mean, without a rounding error.
    """
    groups: dict[str, dict[str, None]] = {}
    for run in runs:
        key = run["scenario"] + rest_of(run["parameters"], frozenset({REPETITION}))
        groups.setdefault(key, {})[run["run_id"]] = None
    repeated = [list(ids) for ids in groups.values() if len(ids) > 1]
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
        (*key, repeated[number], min(max(statistics.fmean(values), low), high), low, high)
        for number, *key, values in means.iter_rows()
        for low, high in [(min(values), max(values))]
    ]
    return pl.DataFrame(rows, schema=REPETITIONS_SCHEMA, orient="row")
