"""Matrices of runs over two parameters, such as the pairs of protocols that share a path."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from bdpbench.contracts.plan import PlannedRun, Scalar, values_of
from bdpbench.pages.chart import Chart, spec_content
from bdpbench.pages.inputs import ReportInputs
from bdpbench.pages.matrices import Level, Matrix, Stated
from bdpbench.pages.matrix_cells import Grid, drawn, in_order, panel_label, told, value_label
from bdpbench.pages.matrix_charts import level_matrix
from bdpbench.pages.names import Names
from bdpbench.pages.points import points_chart
from bdpbench.pages.sweeps import grouped, is_protocol, protocols_of, undetermined
from bdpbench.pages.text import format_number, subject_name


@dataclass(frozen=True)
class MatrixGroup:
    """Matrices of one scenario; ``finished`` of ``planned`` runs have results."""

    scenario: str
    title: str
    finished: int
    planned: int
    charts: tuple[Chart, ...]


def matrix_groups(
    inputs: ReportInputs, finished: Collection[str], names: Names
) -> list[MatrixGroup]:
    """Matrices of the scenarios for which the study declares some, and of scenarios with pairs.

    If different protocols meet in the runs of a scenario for which the study declares no matrix,
    that of ``reports/captions.yaml`` is drawn. Each combination of the other parameters has a
    matrix of its own.

    Args:
        inputs: plan, metrics and the matrices of the study.
        finished: ids of the runs that have results.
        names: the names for readers.
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
    """Whether two different protocols meet in any run."""
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
        runs = [run for run in planned if _is_shown(run, matrix)]
        shown |= {run["run_id"]: run for run in runs}
        prefix = f"pairs-{scenario}" + (f"-{index + 1}" if index else "")
        charts += _charts(prefix, matrix, runs, metrics, finished, names)
    done = sum(run_id in finished for run_id in shown)
    return MatrixGroup(scenario, names.scenario(scenario), done, len(shown), tuple(charts))


def _is_shown(run: PlannedRun, matrix: Matrix) -> bool:
    """Whether a run has a place in a matrix."""
    parameters = run["parameters"]
    return all(name in parameters for name in matrix.places) and all(
        set(values_of(run, name)) & set(values) for name, values in matrix.only.items()
    )


def _charts(
    prefix: str,
    matrix: Matrix,
    runs: Sequence[PlannedRun],
    metrics: pl.DataFrame,
    finished: Collection[str],
    names: Names,
) -> list[Chart]:
    rows, columns = _labels(matrix, runs, names)
    panels = _panels(matrix.panels, runs, names)
    conditions = _conditions(matrix, runs, finished, names)
    missing = frozenset(run["run_id"] for run in runs if run["run_id"] not in finished)
    charts: list[Chart | None] = []
    for condition, alike in conditions.items():
        for subject, values, unit in _by_subject(matrix, alike, metrics):
            grid = Grid(matrix, rows, columns, panels, values, unit, names, missing)
            what = ", ".join(filter(None, (condition, subject)))
            charts.append(drawn(f"{prefix}-{len(charts)}", what, alike, grid))
    if matrix.stated is not None:
        labels = (rows, columns)
        charts.append(_stated(f"{prefix}-regions", matrix.stated, matrix, labels, names))
    if matrix.points is not None:
        charts += [
            points_chart(f"{prefix}-points-{index}", condition, done, metrics, matrix, names)
            for index, (condition, alike) in enumerate(conditions.items())
            for done in [[run for run in alike if run["run_id"] in finished]]
        ]
    return [chart for chart in charts if chart is not None]


def _conditions(
    matrix: Matrix, runs: Sequence[PlannedRun], finished: Collection[str], names: Names
) -> dict[str, list[PlannedRun]]:
    """Values of the parameters that a matrix leaves open, in words → runs, if any is finished."""
    placed = [parameter for _, parameter in matrix.parameters]
    left_open = undetermined(runs, placed, names.swept(matrix.scenario))
    alike = grouped(runs, lambda run: tuple(run["parameters"].get(name) for name in left_open))
    return {
        _condition(group[0], left_open, names): group
        for group in alike.values()
        if any(run["run_id"] in finished for run in group)
    }


def _condition(run: PlannedRun, left_open: Sequence[str], names: Names) -> str:
    parameters = run["parameters"]
    return ", ".join(
        panel_label(name, parameters[name], names) for name in left_open if name in parameters
    )


def _by_subject(
    matrix: Matrix, runs: Sequence[PlannedRun], metrics: pl.DataFrame
) -> Iterator[tuple[str, dict[str, float], str]]:
    """Each flow or link of the metric ("" if there is only one), its values and their unit."""
    ids = [run["run_id"] for run in runs]
    wanted = (pl.col("metric") == matrix.metric) & (pl.col("scenario") == matrix.scenario)
    rows = metrics.filter(wanted & pl.col("run_id").is_in(ids)).drop_nulls("value")
    if matrix.subject:
        rows = rows.filter(pl.col("subject") == matrix.subject)
    subjects = rows["subject"].unique(maintain_order=True).to_list()
    for subject in subjects:
        own = rows.filter(pl.col("subject") == subject)
        values = dict(own.select("run_id", "value").iter_rows())
        name = subject_name(subject) if len(subjects) > 1 else ""
        yield name, values, str(own["unit"][0])


def _labels(
    matrix: Matrix, runs: Sequence[PlannedRun], names: Names
) -> tuple[Sequence[str], Sequence[str]]:
    """Labels of both axes; protocols that rows or columns have, in the order of the study."""
    axes = (matrix.rows, matrix.columns)
    both = {
        str(run["parameters"][axis.parameter])
        for axis in axes
        if is_protocol(axis.parameter)
        for run in runs
    }
    pairs = [names.protocol(key) for key in names.protocols if key in both]
    first, second = (
        pairs if is_protocol(axis.parameter) else _ordered(axis.parameter, runs, names, value_label)
        for axis in axes
    )
    return first, second


def _panels(parameter: str | None, runs: Sequence[PlannedRun], names: Names) -> Sequence[str]:
    """Titles of the panels; without a parameter a single "", for a single matrix."""
    return [""] if parameter is None else _ordered(parameter, runs, names, panel_label)


def _ordered(
    parameter: str,
    runs: Sequence[PlannedRun],
    names: Names,
    label: Callable[[str, Scalar, Names], str],
) -> Sequence[str]:
    """Labels of the values of a parameter, in order."""
    given = {value for run in runs for value in values_of(run, parameter)}
    return [label(parameter, value, names) for value in in_order(parameter, given, names)]


def _stated(
    chart_id: str,
    stated: Stated,
    matrix: Matrix,
    labels: tuple[Sequence[str], Sequence[str]],
    names: Names,
) -> Chart:
    scale = stated.scale
    cells = pl.DataFrame(
        [
            {
                "row": value_label(matrix.rows.parameter, row, names),
                "column": value_label(matrix.columns.parameter, column, names),
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
    titles = (matrix.rows.title, matrix.columns.title)
    spec = level_matrix(cells, labels, titles, stated.title, len(scale))
    return Chart(
        chart_id=chart_id,
        title=f"{stated.title}, {stated.where}",
        caption=" ".join(filter(None, (_legend(scale), stated.note))),
        alternative=f"Matrix of {stated.title}. {told(cells, matrix.between)}",
        content=spec_content(spec),
    )


def _legend(scale: Sequence[Level]) -> str:
    """The levels that have words or bounds, in a sentence; "" if none has."""
    lines = []
    for number, level in enumerate(scale, start=1):
        bound = "" if level.up_to is None else f"up to {format_number(level.up_to)}"
        if level.words or bound:
            lines.append(f"{number}: {', '.join(filter(None, (level.words, bound)))}")
    return f"{'; '.join(lines)}." if lines else ""
