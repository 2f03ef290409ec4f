"""Matrices of runs over two parameters, such as the pairs of protocols that share a path."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import polars as pl

from bdpbench.contracts.plan import PlannedRun, Scalar, values_of
from bdpbench.pages.inputs import ReportData
from bdpbench.pages.matrices import Matrix, Winner
from bdpbench.pages.matrix_specs import (
    NOBODY,
    Axes,
    valued_matrix,
    winner_matrix,
)
from bdpbench.pages.names import (
    NEUTRAL,
    Names,
    are_mixed,
    grouped,
    is_protocol,
    subject_name,
    undetermined,
)
from bdpbench.pages.specs import Chart, spec_content
from bdpbench.pages.text import format_number, joined
from bdpbench.units import MINUS, axis_title, with_unit

_TIE_COLOUR = "#c9ced4"

_BEST = {
    "more": "largest",
    "": "largest",
    "less": "smallest",
    "nearest": "nearest to its reference",
}
"""Which value wins, by how the values of a metric are judged."""

# For values without a colour of their own; distinguishable with every kind of colour blindness
# (after Okabe and Ito).
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442")
_NUMBERS = ("value", "best", "lead")
_PLACE = ("panel", "row", "column")
_RUN = ("run_id", "run", "runs")
_VALUED = (*_PLACE, "value", "text", *_RUN)
_WON = (*_PLACE, "winner", "best", "second", "lead", "text", *_RUN)

Place: TypeAlias = tuple[str, str, str]
"""Labels of a panel, a row and a column."""

Cells: TypeAlias = Mapping[Place, Sequence[PlannedRun]]
"""Place of a cell → its measured runs."""


@dataclass(frozen=True)
class MatrixGroup:
    """Matrices of one scenario; ``finished`` of ``planned`` runs have results."""

    scenario: str
    title: str
    finished: int
    planned: int
    charts: tuple[Chart, ...]


def matrix_groups(data: ReportData) -> list[MatrixGroup]:
    """Matrices of the scenarios for which the study declares some, and of scenarios with pairs.

    If different protocols meet in the runs of a scenario for which the study declares no matrix,
    that of ``reports/captions.yaml`` is drawn. Each combination of the other parameters has a
    matrix of its own.
    """
    found, names = [], data.names
    for scenario, planned in data.scenarios.items():
        matrices = [each for each in data.inputs.study.matrices if each.scenario == scenario]
        if not matrices and are_mixed(planned):
            usual = {"scenario": scenario, **names.captions.pairs}
            matrices = [Matrix.model_validate(usual)]
        if matrices:
            grids = [Grid(each, planned, data) for each in matrices]
            group = _group(scenario, grids, names)
            if group.charts or group.finished < group.planned:
                found.append(group)
    return found


def _group(scenario: str, grids: Sequence[Grid], names: Names) -> MatrixGroup:
    shown = {run["run_id"]: grid for grid in grids for run in grid.runs}
    done = sum(run_id in grid.finished for run_id, grid in shown.items())
    charts = tuple(
        chart
        for index, grid in enumerate(grids)
        for chart in _charts(f"pairs-{scenario}" + (f"-{index + 1}" if index else ""), grid)
    )
    return MatrixGroup(scenario, names.scenario(scenario), done, len(shown), charts)


class Grid:
    """A matrix and the runs that have a place in it.

    Args:
        matrix: what the study declares.
        planned: runs of the scenario.
        data: the data of the report.
    """

    def __init__(self, matrix: Matrix, planned: Sequence[PlannedRun], data: ReportData) -> None:
        self.matrix, self.names, self.metrics = matrix, data.names, data.inputs.metrics
        self.finished = data.series.keys()
        self.runs = [run for run in planned if self._is_shown(run)]
        self.quantity = self.names.metric(matrix.metric)

    def _is_shown(self, run: PlannedRun) -> bool:
        return all(name in run["parameters"] for name in self.matrix.places) and all(
            set(values_of(run, name)) & set(values) for name, values in self.matrix.only.items()
        )

    def axes(self, quantity: str) -> Axes:
        """Labels of the axes; protocols that rows or columns have, in the order of the study."""
        sides, panels = (self.matrix.rows, self.matrix.columns), self.matrix.panels
        both = {
            str(run["parameters"][axis.parameter])
            for axis in sides
            if is_protocol(axis.parameter)
            for run in self.runs
        }
        pairs = [self.names.protocol(key) for key in self.names.protocols if key in both]
        rows, columns = (
            pairs if is_protocol(axis.parameter) else self._labels(axis.parameter) for axis in sides
        )
        titles = [""] if panels is None else self._labels(panels, named=True)
        return Axes(rows, columns, (sides[0].title, sides[1].title), quantity, titles)

    def _labels(self, parameter: str, *, named: bool = False) -> list[str]:
        """The values of a parameter in words, in order."""
        given = {value for run in self.runs for value in values_of(run, parameter)}
        label = self.names.condition if named else self.names.value
        return [label(parameter, each) for each in in_order(parameter, given, self.names)]

    def places(self, run: PlannedRun) -> list[Place]:
        """Labels of the panels, rows and columns of a run; several if it stands for several."""
        matrix, names = self.matrix, self.names
        rows, columns = (
            [names.value(axis.parameter, each) for each in values_of(run, axis.parameter)]
            for axis in (matrix.rows, matrix.columns)
        )
        if matrix.panels is None:
            return list(product([""], rows, columns))
        panels = [names.condition(matrix.panels, each) for each in values_of(run, matrix.panels)]
        return list(product(panels, rows, columns))

    def incomplete(self, runs: Sequence[PlannedRun]) -> set[Place]:
        """Cells that lack a run: the mean or the best of the others would be of another set."""
        missing = [run for run in runs if run["run_id"] not in self.finished]
        return {place for run in missing for place in self.places(run)}


@dataclass(frozen=True)
class Measured:
    """The metric of a matrix in runs that differ only in the parameters of the matrix.

    Attributes:
        condition: what the runs have in common, and whose metric it is, in words; may be "".
        runs: the runs, also those without results.
        values: run id → value.
        unit: unit of the values.
    """

    condition: str
    runs: Sequence[PlannedRun]
    values: Mapping[str, float]
    unit: str

    def cells(self, grid: Grid) -> Cells:
        """Panel, row and column → the measured runs of the cell; incomplete cells are left out."""
        found: dict[Place, list[PlannedRun]] = {}
        for run in self.runs:
            for place in grid.places(run) if run["run_id"] in self.values else ():
                found.setdefault(place, []).append(run)
        incomplete = grid.incomplete(self.runs)
        return {place: runs for place, runs in found.items() if place not in incomplete}

    def mean(self, runs: Sequence[PlannedRun], matrix: Matrix) -> float:
        """Mean over runs of a cell, each counted once for each of its values of ``mean_over``."""
        weights = [
            math.prod(max(1, len(values_of(run, name))) for name in matrix.mean_over)
            for run in runs
        ]
        return statistics.fmean((self.values[run["run_id"]] for run in runs), weights)


def _charts(prefix: str, grid: Grid) -> list[Chart]:
    charts: list[Chart | None] = []
    for condition, alike in _conditions(grid).items():
        for measured in _by_subject(condition, alike, grid):
            charts.append(_matrix_chart(f"{prefix}-{len(charts)}", measured, grid))
    return [chart for chart in charts if chart is not None]


def _conditions(grid: Grid) -> dict[str, list[PlannedRun]]:
    """Values of the parameters that a matrix leaves open, in words → runs, if any is finished."""
    matrix, names = grid.matrix, grid.names
    placed = [parameter for _, parameter in matrix.parameters]
    left_open = undetermined(grid.runs, placed, names.swept(matrix.scenario))

    def condition(run: PlannedRun) -> str:
        given = [(name, run["parameters"][name]) for name in left_open if name in run["parameters"]]
        return ", ".join(names.condition(*each) for each in given)

    alike = grouped(grid.runs, lambda run: tuple(run["parameters"].get(name) for name in left_open))
    return {
        condition(group[0]): group
        for group in alike.values()
        if any(run["run_id"] in grid.finished for run in group)
    }


def _by_subject(condition: str, runs: Sequence[PlannedRun], grid: Grid) -> Iterator[Measured]:
    """The metric of each flow or link, whose name is given only if there are several."""
    matrix, ids = grid.matrix, [run["run_id"] for run in runs]
    wanted = (pl.col("metric") == matrix.metric) & (pl.col("scenario") == matrix.scenario)
    rows = grid.metrics.filter(wanted & pl.col("run_id").is_in(ids)).drop_nulls("value")
    if matrix.subject:
        rows = rows.filter(pl.col("subject") == matrix.subject)
    parts = rows.partition_by("subject", maintain_order=True)
    for own in parts:
        subject = subject_name(own["subject"][0]) if len(parts) > 1 else ""
        values = dict(own.select("run_id", "value").iter_rows())
        yield Measured(joined(condition, subject), runs, values, str(own["unit"][0]))


def in_order(parameter: str, values: Collection[Scalar], names: Names) -> Sequence[Scalar]:
    """Values of a parameter: protocols in the order of the study, others sorted."""
    if is_protocol(parameter):
        return [key for key in names.protocols if key in values]
    return sorted(values, key=_place_of)


def _place_of(value: Scalar) -> tuple[bool, float, str]:
    """Sort key: numbers first, then words."""
    return (True, 0.0, value) if isinstance(value, str) else (False, float(value), "")


def _matrix_chart(chart_id: str, measured: Measured, grid: Grid) -> Chart | None:
    """The chart of the runs of one condition; None if none was measured."""
    cells = measured.cells(grid)
    if not cells:
        return None
    if grid.matrix.winner is not None:
        return _winners(chart_id, cells, measured, grid, grid.matrix.winner)
    matrix, rows = grid.matrix, []
    for place, runs in cells.items():
        value = measured.mean(runs, matrix)
        text = f"{value:.2f}".replace("-", MINUS) if matrix.about_zero else format_number(value)
        rows.append((*place, value, text, *_first(runs)))
    frame = _frame(rows, _VALUED)
    ends = matrix.ends or _ends_of(frame["value"].to_list())
    reference = grid.names.judged(matrix.metric).reference
    if matrix.about_zero:
        reference = 0.0
    unit = "" if matrix.panels is None else measured.unit
    axes = grid.axes(axis_title(grid.quantity, unit))
    return Chart(
        chart_id=chart_id,
        title=joined(grid.quantity, measured.condition),
        caption=matrix.caption,
        alternative=f"Matrix of {grid.quantity}. {_in_words(frame)}",
        content=spec_content(valued_matrix(frame, axes, ends, reference)),
        note=joined(_means_note(cells.values()), _missing_note(measured, grid), by=" "),
        metrics=(matrix.metric,),
    )


def _missing_note(measured: Measured, grid: Grid) -> str:
    """A sentence on the cells that lack a run; "" if there are none."""
    count = len(grid.incomplete(measured.runs))
    if count == 1:
        return "1 cell is empty until all of its runs have been simulated."
    return f"{count} cells are empty until all of their runs have been simulated." if count else ""


def _frame(rows: Sequence[tuple[object, ...]], columns: Sequence[str]) -> pl.DataFrame:
    schema = {name: pl.Float64 if name in _NUMBERS else pl.String for name in columns}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame if any(frame["runs"]) else frame.drop("runs")


def _ends_of(values: Sequence[float]) -> tuple[float, float]:
    """Ends of the colour scale if the study gives none: those of the cells, kept apart."""
    low, high = min(values), max(values)
    return (low, high) if low < high else (low - 1, high + 1)


def _winners(
    chart_id: str, cells: Cells, measured: Measured, grid: Grid, winner: Winner
) -> Chart | None:
    rows = [
        (*place, *won)
        for place, runs in cells.items()
        if (won := _won(runs, measured, grid, winner)) is not None
    ]
    if not rows:
        return None
    frame, names = _frame(rows, _WON), grid.names
    axes = grid.axes(axis_title(grid.quantity, measured.unit))
    spec = winner_matrix(frame, axes, _colours(frame, cells, names, winner))
    labels = frame["winner"].unique(maintain_order=True).to_list()
    competitors = [part for runs in cells.values() for part in _competitors(runs, winner).values()]
    best = _BEST[names.judged(grid.matrix.metric).better]
    words = f"{grid.quantity}: {names.parameters.name(winner.among)} with the {best}"
    least = with_unit(format_number(winner.least_lead), measured.unit)
    lead = f"A lead of less than {least} does not count as a win." if winner.least_lead else ""
    return Chart(
        chart_id=chart_id,
        title=joined(words, measured.condition),
        caption=grid.matrix.caption or names.captions.charts["winners"]["caption"],
        alternative=f"Matrix. {words}. {_in_words(frame, 'winner')}",
        content=spec_content(spec, labels),
        note=joined(lead, _means_note(competitors), _missing_note(measured, grid), by=" "),
        metrics=(grid.matrix.metric,),
    )


def _won(
    runs: Sequence[PlannedRun], measured: Measured, grid: Grid, winner: Winner
) -> tuple[str, float, str, float, str, str, str, str] | None:
    """Winner, its value, the second, the lead, its text, the winner's runs; None without a rival.

    Of equal values, the one that comes first in the scenario wins with a lead of 0.
    """
    parts = [
        (measured.mean(part, grid.matrix), grid.names.value(winner.among, value), part)
        for value, part in _competitors(runs, winner).items()
    ]
    if len(parts) < 2:
        return None
    judged = grid.names.judged(grid.matrix.metric)
    first, second = sorted(parts, key=lambda part: judged.cost(part[0]))[:2]
    best, name, part = first
    lead = abs(best - second[0])
    if lead == 0 or lead < winner.least_lead:
        return NOBODY, best, f"{name} and {second[1]}", lead, "=", *_first(part)
    return name, best, second[1], lead, f"+{format_number(lead)}", *_first(part)


def _competitors(runs: Sequence[PlannedRun], winner: Winner) -> dict[Scalar, list[PlannedRun]]:
    """Competing value → its runs."""
    known = [run for run in runs if winner.among in run["parameters"]]
    return grouped(known, lambda run: run["parameters"][winner.among])


def _colours(frame: pl.DataFrame, cells: Cells, names: Names, winner: Winner) -> dict[str, str]:
    """Winner → colour: a protocol's own, otherwise one of a palette."""
    won = set(frame["winner"])
    values = {value for runs in cells.values() for value in _competitors(runs, winner)}
    found = {}
    for position, value in enumerate(in_order(winner.among, values, names)):
        own = names.colour(str(value)) if is_protocol(winner.among) else NEUTRAL
        colour = own if own != NEUTRAL else _COLOURS[position % len(_COLOURS)]
        found[names.value(winner.among, value)] = colour
    found[NOBODY] = _TIE_COLOUR
    return {label: colour for label, colour in found.items() if label in won}


def _first(runs: Sequence[PlannedRun]) -> tuple[str, str, str]:
    """Id of the run that a click opens, its description, and the list of all if there are several.

    The list has a line for each run, with id and label separated by a tab; a click shows it.
    """
    first = runs[0]
    if len(runs) == 1:
        return first["run_id"], first["label"], ""
    listed = "\n".join(f"{run['run_id']}\t{run['label']}" for run in runs)
    return first["run_id"], f"mean of {len(runs)} runs; click to list them", listed


def _means_note(means: Iterable[Sequence[PlannedRun]]) -> str:
    """A note on how many runs a value is the mean of, if more than one."""
    counts = sorted({len(runs) for runs in means})
    if counts == [1]:
        return ""
    if len(counts) == 1:
        return f"A value is the mean of {counts[0]} runs."
    return f"A value is the mean of {counts[0]} to {counts[-1]} runs, as far as they have results."


def _in_words(cells: pl.DataFrame, what: str = "text") -> str:
    """Text alternative: every cell in words."""
    panels = cells["panel"] if "panel" in cells.columns else [""] * cells.height
    rows = cells.select("row", "column", what).rows()
    return "; ".join(
        f"{f'{panel}: ' if panel else ''}{row} and {column}: {text}"
        for panel, (row, column, text) in zip(panels, rows, strict=True)
    )
