"""Metrics that compare several runs: sweeps of the buffer, of the RTT, and the effect of a drop."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from bdpbench.errors import BdpbenchError
from bdpbench.metrics.registry import DEFINITIONS
from bdpbench.metrics.run import METRICS_SCHEMA

_UTILIZATION_LEVEL = 90.0
# Parameters that follow the swept one, or that say only how long one looked.
_BESIDE_BUFFER = frozenset({"buffer_pkts", "duration_s"})
_BESIDE_RTT = frozenset({"rtt_ms", "bottleneck_delay_ms", "buffer_pkts", "bdp_pkts", "duration_s"})
_BESIDE_DROP = frozenset({"drop_packet", "duration_s"})

Sweeps = Mapping[str, Mapping[str, Sequence[Any]]]


@dataclass(frozen=True)
class _Row:
    """One metric of one run (value None: the run was measured, the metric never reached)."""

    run_id: str
    scenario: str
    parameters: Mapping[str, Any]
    value: float | None
    start_s: float
    end_s: float

    def at(self, parameter: str) -> float:
        """The run's point on a sweep."""
        return _point(self.parameters[parameter], parameter, f"run {self.run_id}")


def measure_groups(
    run_metrics: pl.DataFrame,
    runs: Iterable[Mapping[str, Any]],
    sweeps: Sweeps | None = None,
) -> pl.DataFrame:
    """Metrics of sweeps and of pairs of runs; what each means stands in ``DEFINITIONS``.

    Runs belong to one sweep when all of their parameters agree but the swept one, those that
    follow from it, and duration_s. A value that only runs which are not there could give is left
    out: a tier that simulates one buffer of five has no smallest buffer.

    Args:
        run_metrics: as ``measure_run`` returns it, of any number of runs.
        runs: all runs of the plan, measured or not: run_id, scenario, parameters.
        sweeps: scenario → parameter → all values that the study gives it in any tier, numbers for
            buffer_pkts (packets) and rtt_ms (ms). Without it a sweep is what the plan holds of
            it, and a tier that leaves out a buffer may find too large a smallest one.

    Returns:
        Rows like those of ``measure_run``, with subject "run": min_buffer_90pct, under the run
        that attains it; rtt_border_difference, under the run with the largest RTT; drop_delay,
        under the run with the drop. value is null for what no run of a whole sweep attains, and
        for differences of which one side was never reached.

    Raises:
        BdpbenchError: when a run's point on a sweep is no number.
    """
    rows = _Rows(run_metrics, runs, sweeps or {})
    found = [
        *_sweep(rows, "utilization", "buffer_pkts", _BESIDE_BUFFER, _min_buffer),
        *_sweep(rows, "time_to_90pct_utilization", "rtt_ms", _BESIDE_RTT, _border),
        *_drop_delays(rows),
    ]
    return pl.DataFrame(found, schema=METRICS_SCHEMA, orient="row")


class _Rows:
    """Run-level rows by metric, the parameters of their runs, and the points of the sweeps."""

    def __init__(
        self, run_metrics: pl.DataFrame, runs: Iterable[Mapping[str, Any]], sweeps: Sweeps
    ) -> None:
        self._metrics = run_metrics
        self._runs = {(run["run_id"], run["scenario"]): run["parameters"] for run in runs}
        self._sweeps = sweeps

    def of(self, metric: str) -> list[_Row]:
        rows = self._metrics.filter(pl.col("metric") == metric).iter_rows(named=True)
        return [
            _Row(
                row["run_id"],
                row["scenario"],
                self._runs[row["run_id"], row["scenario"]],
                row["value"],
                row["start_s"],
                row["end_s"],
            )
            for row in rows
            if (row["run_id"], row["scenario"]) in self._runs
        ]

    def points(self, row: _Row, parameter: str, beside: frozenset[str]) -> list[float]:
        """All values of ``parameter`` in the sweep that a run belongs to, ascending."""
        values = self._sweeps.get(row.scenario, {}).get(parameter)
        if values is None:
            rest = _rest(row.parameters, beside)
            values = [
                parameters[parameter]
                for (_, scenario), parameters in self._runs.items()
                if scenario == row.scenario
                and parameter in parameters
                and _rest(parameters, beside) == rest
            ]
        return sorted({_point(each, parameter, f"scenario {row.scenario}") for each in values})


Measure = Callable[[Sequence[_Row], Sequence[float]], tuple[Any, ...] | None]


def _sweep(
    rows: _Rows, metric: str, parameter: str, beside: frozenset[str], measure: Measure
) -> Iterator[tuple[Any, ...]]:
    """What ``measure`` finds in each sweep of two points or more, given its rows in order."""
    groups: dict[str, list[_Row]] = {}
    for row in rows.of(metric):
        if parameter in row.parameters:
            groups.setdefault(row.scenario + _rest(row.parameters, beside), []).append(row)
    for group in groups.values():
        points = rows.points(group[0], parameter, beside)
        if len(points) > 1:
            found = measure(sorted(group, key=lambda row: row.at(parameter)), points)
            if found is not None:
                yield found


def _min_buffer(rows: Sequence[_Row], points: Sequence[float]) -> tuple[Any, ...] | None:
    by_buffer = {row.at("buffer_pkts"): row for row in rows}
    for buffer_pkts in points:
        row = by_buffer.get(buffer_pkts)
        if row is None:
            return None
        if row.value is not None and row.value > _UTILIZATION_LEVEL:
            return _as_row("min_buffer_90pct", row, buffer_pkts)
    return _as_row("min_buffer_90pct", rows[-1], None)


def _border(rows: Sequence[_Row], points: Sequence[float]) -> tuple[Any, ...] | None:
    smallest, largest = rows[0], rows[-1]
    if (smallest.at("rtt_ms"), largest.at("rtt_ms")) != (points[0], points[-1]):
        return None
    return _as_row("rtt_border_difference", largest, _difference(largest, smallest))


def _drop_delays(rows: _Rows) -> Iterator[tuple[Any, ...]]:
    measured = rows.of("time_to_max_cwnd")
    without_drop: dict[str, _Row] = {}
    for row in measured:
        if row.parameters.get("drop_packet") is None:
            key = _rest(row.parameters, _BESIDE_DROP)
            # Of equal runs the one that was long enough to see the peak.
            if key not in without_drop or without_drop[key].value is None:
                without_drop[key] = row
    for row in measured:
        if row.parameters.get("drop_packet") is not None:
            other = without_drop.get(_rest(row.parameters, _BESIDE_DROP))
            if other is not None:
                yield _as_row("drop_delay", row, _difference(row, other))


def _point(value: Any, parameter: str, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise BdpbenchError(
            f"parameter {parameter} is {value!r}: a sweep of it needs numbers", where=where
        )
    return float(value)


def _rest(parameters: Mapping[str, Any], beside: frozenset[str]) -> str:
    """Parameters apart from ``beside``, as a key; 50 and 50.0 are the same."""
    rest = {
        name: float(value) if isinstance(value, int) else value
        for name, value in parameters.items()
        if name not in beside and value is not None
    }
    return json.dumps(rest, sort_keys=True)


def _difference(row: _Row, other: _Row) -> float | None:
    return None if row.value is None or other.value is None else row.value - other.value


def _as_row(metric: str, row: _Row, value: float | None) -> tuple[Any, ...]:
    definition = DEFINITIONS[metric]
    return (
        row.run_id,
        row.scenario,
        metric,
        "run",
        value,
        definition.unit,
        row.start_s,
        row.end_s,
        definition.id,
    )
