"""Metrics of runs and of groups of runs, from parameters and tables; what is known stays.

A value depends on the code of its metric, on the parameters that the metric declares, and on the
tables that it declares. The digest of all three is kept beside the value, and a value with the same
digest is not computed again.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import polars as pl

from bdpbench.contracts.plan import PlannedRun, Scalar
from bdpbench.contracts.tables import TABLE_KEYS
from bdpbench.metrics.catalogue import DEFINITIONS, group_metrics_of, metrics_of
from bdpbench.metrics.definition import Definition, GroupMetric, Metric
from bdpbench.metrics.groups import Group, Row, Sweeps
from bdpbench.metrics.views import FlowView, LinkView, RunView

METRICS_SCHEMA = {
    "run_id": pl.String,
    "scenario": pl.String,
    "metric": pl.String,
    "subject": pl.String,
    "value": pl.Float64,
    "unit": pl.String,
    "start_s": pl.Float64,
    "end_s": pl.Float64,
    "definition": pl.String,
}
"""Columns of metrics.parquet; ``value`` is null for what was never reached or is not defined."""

VALUES_SCHEMA = {
    "metric": pl.String,
    "digest": pl.String,
    "subject": pl.String,
    "value": pl.Float64,
    "start_s": pl.Float64,
    "end_s": pl.Float64,
}
"""Columns of the values that are kept of a run; ``subject`` is null where a metric has no value."""

# Stands for the check that no series ends early, which is made once, too.
_COVERAGE = "coverage"


class Value(NamedTuple):
    """A value of a metric: of which subject and which window (s); subject None: there is none."""

    subject: str | None
    value: float | None
    start_s: float | None
    end_s: float | None


Kept = Mapping[tuple[str, str], Sequence[Value]]
"""Metric and digest → its values."""


def measure_run(
    parameters: Mapping[str, Scalar],
    tables: Mapping[str, pl.LazyFrame],
    *,
    run_id: str,
    scenario: str,
    definitions: Mapping[str, Definition] = DEFINITIONS,
) -> pl.DataFrame:
    """All metrics of one run; what each means, and what it needs, stands in its definition.

    Windows are half-open, ``(start_s, end_s]``: a bin counts when its end lies inside.

    Args:
        parameters: of the run; duration_s (s) has to be there.
        tables: by name, with the columns that ``trace.read_output`` describes, each in the order
            of time within a flow or link.
        run_id: goes into the rows.
        scenario: goes into the rows.
        definitions: metrics to measure.

    Returns:
        One row for each metric and subject, columns as ``METRICS_SCHEMA``: run_id, scenario,
        metric, subject ("flow:0", "link:bottleneck", "run"), value (f64, null: never reached or not
        defined, as for a flow without packets), unit, start_s, end_s (f64, s), definition. Metrics
        whose tables or parameters the run does not have are absent.

    Raises:
        BdpbenchError: when a parameter is no positive number where one is needed, or a series ends
            more than a second (or a sampling interval) before duration_s, so that its means would
            be of another window.
    """
    values = measure_values(parameters, tables, {}, definitions, where=f"run {run_id}")
    return as_metrics(metric_rows(values, definitions, run_id=run_id, scenario=scenario))


def measure_values(
    parameters: Mapping[str, Scalar],
    tables: Mapping[str, pl.LazyFrame],
    checksums: Mapping[str, str],
    definitions: Mapping[str, Definition] = DEFINITIONS,
    *,
    kept: pl.DataFrame | None = None,
    where: str = "the run",
) -> pl.DataFrame:
    """Values of all metrics of one run, of which those that are kept are taken over.

    Args:
        parameters: as ``measure_run`` takes them.
        tables: the same; only those that are needed are read.
        checksums: table → what changes with its content.
        definitions: metrics to measure.
        kept: as this function returned it before, for any definitions.
        where: who the run is, in errors.

    Returns:
        Columns as ``VALUES_SCHEMA``, in the order of the definitions; ``kept`` itself where it is
        what there is to say.

    Raises:
        BdpbenchError: as ``measure_run``.
    """
    run = RunView(parameters, tables, where)
    known = _by_digest(kept)
    coverage = (_COVERAGE, _coverage_digest(parameters, tables, checksums))
    found: dict[tuple[str, str], Sequence[Value]] = {coverage: (Value(None, None, None, None),)}
    if coverage not in known:
        run.check_coverage()
    for metric in metrics_of(definitions):
        if run.has_tables(metric.tables):
            key = (metric.metric, digest_of(metric, parameters, checksums))
            found[key] = known[key] if key in known else _measure(metric, run)
    rows = [(*key, *value) for key, values in found.items() for value in values]
    if kept is not None and known.keys() == found.keys() and rows == kept.rows():
        return kept
    return pl.DataFrame(rows, schema=VALUES_SCHEMA, orient="row")


def digest_of(
    metric: Metric, parameters: Mapping[str, Scalar], checksums: Mapping[str, str]
) -> str:
    """SHA-256 of all that the values of a metric of one run depend on."""
    read = {name: parameters[name] for name in metric.reads(parameters)}
    return _digest((metric.digest,), read, checksums, metric.tables)


def _coverage_digest(
    parameters: Mapping[str, Scalar], tables: Iterable[str], checksums: Mapping[str, str]
) -> str:
    series = [name for name in tables if TABLE_KEYS[name] is not None]
    return _digest((), {"duration_s": parameters["duration_s"]}, checksums, series)


def _digest(
    facts: Sequence[str],
    parameters: Mapping[str, Scalar],
    checksums: Mapping[str, str],
    tables: Iterable[str],
) -> str:
    content = [facts, sorted(parameters.items()), [(t, checksums.get(t)) for t in sorted(tables)]]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _by_digest(kept: pl.DataFrame | None) -> Kept:
    known: dict[tuple[str, str], list[Value]] = {}
    for metric, digest, *value in kept.iter_rows() if kept is not None else ():
        known.setdefault((metric, digest), []).append(Value(*value))
    return known


def _measure(metric: Metric, run: RunView) -> Sequence[Value]:
    with run.reading(metric.needs):
        found = [
            Value(view.subject, metric.compute(view), *metric.window(view))
            for view in _views(metric, run)
            if all(view.has(name) for name in metric.parameters)
            and (metric.when is None or metric.when(view))
        ]
    return found or [Value(None, None, None, None)]


def _views(metric: Metric, run: RunView) -> Sequence[RunView | FlowView | LinkView]:
    """What a metric is measured on: the flows or links that all of its series have."""
    if metric.subject == "run":
        return [run]
    if metric.subject == "link":
        return run.links(metric.tables[0])
    series = [name for name in metric.tables if TABLE_KEYS[name] == "flow"]
    views = run.flows(metric.tables[0])
    return [view for view in views if all(view.index in run.series(name) for name in series)]


MetricRow: TypeAlias = tuple[object, ...]
"""A row of metrics.parquet."""


def metric_rows(
    values: pl.DataFrame, definitions: Mapping[str, Definition], *, run_id: str, scenario: str
) -> list[MetricRow]:
    """Values of one run as rows of metrics.parquet.

    Metrics of the same series stand together, by flow or link.
    """
    by_metric: dict[str, list[Value]] = {}
    for metric, _, *value in values.iter_rows():
        by_metric.setdefault(metric, []).append(Value(*value))
    return [
        _row(run_id, scenario, each, value)
        for each, value in _in_order(by_metric, metrics_of(definitions))
    ]


def as_metrics(rows: Sequence[MetricRow]) -> pl.DataFrame:
    """Rows, of any number of runs, as ``METRICS_SCHEMA`` has them."""
    return pl.DataFrame(rows, schema=METRICS_SCHEMA, orient="row")


def _row(run_id: str, scenario: str, definition: Definition, value: Value) -> MetricRow:
    subject, number, start_s, end_s = value
    what = (definition.metric, subject, number, definition.unit)
    return (run_id, scenario, *what, start_s, end_s, definition.id)


def _in_order(
    values: Mapping[str, Sequence[Value]], metrics: Sequence[Metric]
) -> Iterator[tuple[Metric, Value]]:
    for _, block in itertools.groupby(metrics, key=lambda each: (each.subject, each.tables[0])):
        found = [
            (metric, value)
            for metric in block
            for value in values.get(metric.metric, ())
            if value.subject is not None
        ]
        yield from sorted(found, key=lambda each: _subject_key(each[1].subject or ""))


def _subject_key(subject: str) -> tuple[int, str]:
    """Flows by number, links by name."""
    name = subject.partition(":")[2]
    return (int(name), "") if name.isdecimal() else (0, name)


def measure_groups(
    run_metrics: pl.DataFrame,
    runs: Iterable[PlannedRun],
    sweeps: Sweeps | None = None,
    definitions: Mapping[str, Definition] = DEFINITIONS,
) -> pl.DataFrame:
    """Metrics that take several runs; what each means stands in its definition.

    A value that only runs which are not there could give is left out: a tier that simulates one
    buffer of five has no smallest buffer.

    Args:
        run_metrics: as ``measure_run`` returns it, of any number of runs.
        runs: all runs of the plan, measured or not.
        sweeps: scenario → parameter → all numbers that the study gives it in any tier. Without it
            a sweep is what the plan holds of it, and a tier that leaves out a buffer may find too
            large a smallest one.
        definitions: metrics to measure.

    Returns:
        Rows like those of ``measure_run``, with subject "run", under the run that the definition
        names. value is null for what no run of a whole sweep attains, and for differences of which
        one side was never reached.

    Raises:
        BdpbenchError: when a run's point on a sweep is no number.
    """
    group = Group(run_metrics, runs, sweeps or {})
    rows = [
        _row(row.run_id, row.scenario, metric, Value("run", value, row.start_s, row.end_s))
        for _, block in itertools.groupby(
            group_metrics_of(definitions), key=lambda each: each.metrics[0]
        )
        for metric, row, value in _of_block(list(block), group)
    ]
    return pl.DataFrame(rows, schema=METRICS_SCHEMA, orient="row")


def _of_block(
    metrics: Sequence[GroupMetric], group: Group
) -> Iterator[tuple[GroupMetric, Row, float | None]]:
    """Values of metrics that stand under the same runs, run by run."""
    found = [(metric, row, value) for metric in metrics for row, value in metric.compute(group)]
    runs = list(dict.fromkeys((row.run_id, row.scenario) for _, row, _ in found))
    order = {run: index for index, run in enumerate(runs)}
    yield from sorted(found, key=lambda each: order[each[1].run_id, each[1].scenario])
