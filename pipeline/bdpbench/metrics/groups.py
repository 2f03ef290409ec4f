"""Metrics that compare several runs: sweeps of buffer and RTT, the effect of a drop, pairs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from bdpbench.errors import BdpbenchError
from bdpbench.metrics.registry import DEFINITIONS, REACHED_METRIC
from bdpbench.metrics.run import METRICS_SCHEMA
from bdpbench.metrics.series import fairness_region

_UTILIZATION_LEVEL = 90.0
# Parameters that follow the swept one, or that say only how long one looked.
_BESIDE_BUFFER = frozenset({"buffer_pkts", "duration_s"})
_BESIDE_RTT = frozenset({"rtt_ms", "bottleneck_delay_ms", "buffer_pkts", "bdp_pkts", "duration_s"})
_BESIDE_DROP = frozenset({"drop_packet", "duration_s"})
_PAIR = ("protocol_1", "protocol_2")
_BESIDE_PAIR = frozenset({*_PAIR, "duration_s"})
# Metric of the run with the drop, of the run without it, and of their difference.
_DROP_DELAYS = (
    ("time_to_max_cwnd", "time_to_max_cwnd", "drop_delay"),
    ("time_to_90pct_cwnd_after_drop", "time_to_90pct_cwnd", "drop_delay_90pct"),
)

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
        that attains it; rtt_border_difference and rtt_max_throughput_difference, under the run
        with the largest RTT; drop_delay and drop_delay_90pct, under the run with the drop;
        fairness_points, under the run of a protocol with itself. value is null for what no run
        of a whole sweep attains, and for differences of which one side was never reached.

    Raises:
        BdpbenchError: when a run's point on a sweep is no number.
    """
    rows = _Rows(run_metrics, runs, sweeps or {})
    found = [
        *_min_buffers(rows),
        *_border_differences(rows),
        *(row for metrics in _DROP_DELAYS for row in _drop_delays(rows, *metrics)),
        *_fairness_points(rows),
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


def _sweeps_of(
    rows: _Rows, metric: str, parameter: str, beside: frozenset[str]
) -> Iterator[tuple[list[_Row], list[float]]]:
    """Each sweep of two points or more: its rows of a metric in order, and all of its points."""
    groups: dict[str, list[_Row]] = {}
    for row in rows.of(metric):
        if parameter in row.parameters:
            groups.setdefault(row.scenario + _rest(row.parameters, beside), []).append(row)
    for group in groups.values():
        points = rows.points(group[0], parameter, beside)
        if len(points) > 1:
            yield sorted(group, key=lambda row: row.at(parameter)), points


def _min_buffers(rows: _Rows) -> Iterator[tuple[Any, ...]]:
    for found, points in _sweeps_of(rows, "utilization", "buffer_pkts", _BESIDE_BUFFER):
        smallest = _min_buffer(found, points)
        if smallest is not None:
            yield smallest


def _min_buffer(rows: Sequence[_Row], points: Sequence[float]) -> tuple[Any, ...] | None:
    by_buffer = {row.at("buffer_pkts"): row for row in rows}
    for buffer_pkts in points:
        row = by_buffer.get(buffer_pkts)
        if row is None:
            return None
        if row.value is not None and row.value > _UTILIZATION_LEVEL:
            return _as_row("min_buffer_90pct", row, buffer_pkts)
    return _as_row("min_buffer_90pct", rows[-1], None)


def _border_differences(rows: _Rows) -> Iterator[tuple[Any, ...]]:
    throughput = {(row.run_id, row.scenario): row for row in rows.of("time_to_max_throughput")}
    for found, points in _sweeps_of(rows, REACHED_METRIC, "rtt_ms", _BESIDE_RTT):
        borders = _borders(found, points)
        if borders is None:
            continue
        largest, smallest = borders
        yield _as_row("rtt_border_difference", largest, _difference(largest, smallest))
        late, early = (throughput.get((row.run_id, row.scenario)) for row in borders)
        if late is not None and early is not None:
            yield _as_row("rtt_max_throughput_difference", largest, _difference(late, early))


def _borders(rows: Sequence[_Row], points: Sequence[float]) -> tuple[_Row, _Row] | None:
    """The rows of the largest RTT and of the smallest that reached, if both are known.

    The smallest is known when all smaller RTTs were measured as well. Where none was reached it
    is the smallest of all.
    """
    measured = [row.at("rtt_ms") for row in rows]
    index = next((i for i, row in enumerate(rows) if row.value is not None), 0)
    if measured[-1] != points[-1] or measured[: index + 1] != list(points[: index + 1]):
        return None
    return (rows[-1], rows[index]) if index < len(rows) - 1 else None


def _drop_delays(rows: _Rows, after: str, before: str, delay: str) -> Iterator[tuple[Any, ...]]:
    without_drop: dict[str, _Row] = {}
    for row in rows.of(before):
        if row.parameters.get("drop_packet") is None:
            key = _rest(row.parameters, _BESIDE_DROP)
            # Of equal runs the one that was long enough to see it.
            if key not in without_drop or without_drop[key].value is None:
                without_drop[key] = row
    for row in rows.of(after):
        other = without_drop.get(_rest(row.parameters, _BESIDE_DROP))
        if row.parameters.get("drop_packet") is not None and other is not None:
            yield _as_row(delay, row, _difference(row, other))


def _fairness_points(rows: _Rows) -> Iterator[tuple[Any, ...]]:
    groups: dict[str, dict[tuple[str, ...], _Row]] = {}
    for row in rows.of("asymmetry"):
        if all(name in row.parameters for name in _PAIR):
            group = groups.setdefault(row.scenario + _rest(row.parameters, _BESIDE_PAIR), {})
            group[tuple(row.parameters[name] for name in _PAIR)] = row
    for pairs in groups.values():
        protocols = list(dict.fromkeys(protocol for pair in pairs for protocol in pair))
        known = {pair: row.value for pair, row in pairs.items() if row.value is not None}
        if len(protocols) > 1 and len(known) == len(protocols) ** 2:
            for protocol in protocols:
                points = sum(
                    pair.count(protocol) * fairness_region(value) for pair, value in known.items()
                )
                yield _as_row("fairness_points", pairs[protocol, protocol], points)


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
