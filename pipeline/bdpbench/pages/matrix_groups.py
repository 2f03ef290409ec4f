"""Matrices of runs over two parameters, such as the pairs of protocols that share a path."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from bdpbench.contracts.plan import PlannedRun, Scalar
from bdpbench.pages.chart import Chart, spec_content
from bdpbench.pages.inputs import ReportInputs
from bdpbench.pages.matrices import Axis, Level, Matrix, Stated
from bdpbench.pages.matrix_charts import diverging_matrix, level_matrix, rising_matrix
from bdpbench.pages.names import Names
from bdpbench.pages.points import points_chart
from bdpbench.pages.sweeps import find_sweep, grouped, is_protocol, protocols_of
from bdpbench.pages.text import MINUS, format_number


@dataclass(frozen=True)
class MatrixGroup:
    """Matrices of one scenario; ``finished`` of ``planned`` runs have results."""

    scenario: str
    title: str
    finished: int
    planned: int
    charts: tuple[Chart, ...]


@dataclass(frozen=True)
class _Grid:
    """What matrices of one scenario share: axes, labels, values of the metric by run, words."""

    matrix: Matrix
    rows: Sequence[str]
    columns: Sequence[str]
    values: Mapping[str, float]
    names: Names

    @property
    def order(self) -> tuple[Sequence[str], Sequence[str]]:
        return self.rows, self.columns

    @property
    def titles(self) -> tuple[str, str]:
        return self.matrix.rows.title, self.matrix.columns.title

    def label(self, axis: Axis, value: Scalar) -> str:
        """A value of an axis in words."""
        return _label(axis, value, self.names)


def matrix_groups(
    inputs: ReportInputs, finished: Collection[str], names: Names
) -> list[MatrixGroup]:
    """Matrices of the scenarios that the study declares some for, and of those with pairs.

    Where different protocols meet in the runs of a scenario and the study declares no matrix of it,
    the one of ``reports/captions.yaml`` is drawn. Each condition that the two parameters leave open
    has a matrix of its own.

    Args:
        inputs: plan, metrics and the matrices of the study.
        finished: ids of the runs that have results.
        names: words.
    """
    runs = grouped(inputs.plan["runs"], lambda run: run["scenario"])
    found = []
    for scenario, planned in runs.items():
        matrices = [each for each in inputs.study.matrices if each.scenario == scenario]
        if not matrices and _are_mixed(planned):
            matrices = [_usual(scenario, names)]
        if matrices:
            found.append(_group(scenario, matrices, planned, inputs.metrics, finished, names))
    return found


def _are_mixed(runs: Sequence[PlannedRun]) -> bool:
    """Whether, in some run, two protocols meet."""
    return any(len(set(protocols_of(run))) > 1 for run in runs)


def _usual(scenario: str, names: Names) -> Matrix:
    return Matrix.model_validate({"scenario": scenario, **names.captions.pairs})


def _group(
    scenario: str,
    matrices: Sequence[Matrix],
    planned: Sequence[PlannedRun],
    metrics: pl.DataFrame,
    finished: Collection[str],
    names: Names,
) -> MatrixGroup:
    shown: dict[str, PlannedRun] = {}
    charts = []
    for index, matrix in enumerate(matrices):
        axes = (matrix.rows.parameter, matrix.columns.parameter)
        runs = [run for run in planned if all(name in run["parameters"] for name in axes)]
        shown |= {run["run_id"]: run for run in runs}
        prefix = f"pairs-{scenario}" + (f"-{index + 1}" if index else "")
        charts += _charts(prefix, matrix, runs, metrics, finished, names)
    done = sum(run_id in finished for run_id in shown)
    return MatrixGroup(scenario, names.scenario(scenario), done, len(shown), tuple(charts))


def _charts(
    prefix: str,
    matrix: Matrix,
    runs: Sequence[PlannedRun],
    metrics: pl.DataFrame,
    finished: Collection[str],
    names: Names,
) -> list[Chart]:
    axes = (matrix.rows.parameter, matrix.columns.parameter)
    rows, columns = _labels(matrix, runs, names)
    measured = metrics.filter(pl.col("metric") == matrix.metric).drop_nulls("value")
    values = dict(zip(measured["run_id"], measured["value"], strict=True))
    grid = _Grid(matrix, rows, columns, values, names)
    done = [run for run in runs if run["run_id"] in finished]
    sweep = find_sweep(runs, lambda run: tuple(run["parameters"][name] for name in axes))
    conditions = {
        sweep.describe(alike[0], names.parameters): alike
        for alike in grouped(done, sweep.key).values()
    }
    charts = [
        _measured(f"{prefix}-{index}", condition, alike, grid)
        for index, (condition, alike) in enumerate(conditions.items())
    ]
    if matrix.stated is not None:
        charts.append(_stated(f"{prefix}-regions", matrix.stated, grid))
    if matrix.points is not None:
        charts += [
            points_chart(f"{prefix}-points-{index}", condition, alike, metrics, matrix, names)
            for index, (condition, alike) in enumerate(conditions.items())
        ]
    return [chart for chart in charts if chart is not None]


def _labels(
    matrix: Matrix, runs: Sequence[PlannedRun], names: Names
) -> tuple[Sequence[str], Sequence[str]]:
    """Labels of both axes: protocols in the order of the study, each that either of them has."""
    given = {
        axis.parameter: {run["parameters"][axis.parameter] for run in runs}
        for axis in (matrix.rows, matrix.columns)
    }
    both = set().union(*(given[name] for name in given if is_protocol(name)))
    labels = []
    for axis in (matrix.rows, matrix.columns):
        if is_protocol(axis.parameter):
            ordered: list[Scalar] = [key for key in names.protocols if key in both]
        else:
            ordered = sorted(given[axis.parameter], key=_place)
        labels.append([_label(axis, value, names) for value in ordered])
    return labels[0], labels[1]


def _place(value: Scalar) -> tuple[bool, float, str]:
    """Numbers in their order, then words in theirs."""
    return (True, 0.0, value) if isinstance(value, str) else (False, float(value), "")


def _label(axis: Axis, value: Scalar, names: Names) -> str:
    if is_protocol(axis.parameter):
        return names.protocol(str(value))
    return names.parameters.value(axis.parameter, value)


def _cells(runs: Sequence[PlannedRun], grid: _Grid) -> pl.DataFrame:
    """``row``, ``column``, ``value``, ``text``, ``run_id``, ``run`` of what was measured."""
    matrix = grid.matrix
    values = grid.values
    cells = [
        {
            "row": grid.label(matrix.rows, run["parameters"][matrix.rows.parameter]),
            "column": grid.label(matrix.columns, run["parameters"][matrix.columns.parameter]),
            "value": values[run["run_id"]],
            "text": _cell_text(matrix, values[run["run_id"]]),
            "run_id": run["run_id"],
            "run": run["label"],
        }
        for run in runs
        if run["run_id"] in values
    ]
    texts = dict.fromkeys(("text", "run_id", "run"), pl.String)
    return pl.DataFrame(
        cells, schema={"row": pl.String, "column": pl.String, "value": pl.Float64, **texts}
    )


def _cell_text(matrix: Matrix, value: float) -> str:
    return f"{value:.2f}".replace("-", MINUS) if matrix.about_zero else format_number(value)


def _measured(
    chart_id: str, condition: str, runs: Sequence[PlannedRun], grid: _Grid
) -> Chart | None:
    cells, matrix = _cells(runs, grid), grid.matrix
    if cells.is_empty():
        return None
    quantity = grid.names.metric(matrix.metric)
    if matrix.about_zero:
        spec = diverging_matrix(cells, grid.order, grid.titles, quantity, matrix.ends[1])
    else:
        spec = rising_matrix(cells, grid.order, grid.titles, quantity, matrix.ends)
    return Chart(
        chart_id=chart_id,
        title=", ".join(filter(None, (quantity, condition))),
        caption=matrix.caption,
        alternative=f"Matrix of {quantity}. {_told(cells, matrix.between)}",
        content=spec_content(spec),
        metrics=(matrix.metric,),
    )


def _stated(chart_id: str, stated: Stated, grid: _Grid) -> Chart:
    matrix, scale = grid.matrix, stated.scale
    cells = pl.DataFrame(
        [
            {
                "row": grid.label(matrix.rows, row),
                "column": grid.label(matrix.columns, column),
                "value": float(level),
                "text": str(level),
                "words": scale[level - 1].words,
            }
            for row, columns in stated.cells.items()
            for column, level in columns.items()
        ]
    )
    if not any(each.words for each in scale):
        cells = cells.drop("words")
    spec = level_matrix(cells, grid.order, grid.titles, stated.title, len(scale))
    return Chart(
        chart_id=chart_id,
        title=f"{stated.title}, {stated.where}",
        caption=" ".join(filter(None, (_legend(scale), stated.note))),
        alternative=f"Matrix of {stated.title}. {_told(cells, matrix.between)}",
        content=spec_content(spec),
    )


def _legend(scale: Sequence[Level]) -> str:
    """The levels that have words or bounds, in a sentence; "" where none has."""
    told = []
    for number, level in enumerate(scale, start=1):
        bound = "" if level.up_to is None else f"up to {format_number(level.up_to)}"
        if level.words or bound:
            told.append(f"{number}: {', '.join(filter(None, (level.words, bound)))}")
    return f"{'; '.join(told)}." if told else ""


def _told(cells: pl.DataFrame, between: str) -> str:
    """Every cell in words, for who does not see the chart."""
    rows = cells.select("row", "column", "text").rows()
    return "; ".join(f"{row} {between} {column}: {text}" for row, column, text in rows)
