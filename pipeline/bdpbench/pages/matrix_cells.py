"""Cells of matrices: the runs of each, their mean, or the best of them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeAlias

import polars as pl

from bdpbench.contracts.plan import PlannedRun, Scalar, values_of
from bdpbench.pages.chart import Chart, Spec, spec_content
from bdpbench.pages.matrices import Matrix, Winner
from bdpbench.pages.matrix_charts import diverging_matrix, rising_matrix
from bdpbench.pages.names import Names
from bdpbench.pages.panel_charts import NOBODY, Panels, valued_panels, winner_panels
from bdpbench.pages.sweeps import NEUTRAL, grouped, is_protocol
from bdpbench.pages.text import MINUS, axis_title, format_number

_TIE_COLOUR = "#c9ced4"

_WORDS = ("panel", "row", "column", "winner", "second", "text", "run_id", "run", "runs")
_RUN = ("run_id", "run", "runs")
_VALUED = ("panel", "row", "column", "value", "text", *_RUN)
_WON = ("panel", "row", "column", "winner", "best", "second", "lead", "text", *_RUN)

Place: TypeAlias = tuple[str, str, str]
"""Labels of a panel, a row and a column."""

Cells: TypeAlias = Mapping[Place, Sequence[PlannedRun]]
"""Place of a cell → its measured runs."""


@dataclass(frozen=True)
class Grid:
    """What the matrices of one scenario share.

    Attributes:
        matrix: what the study declares.
        rows, columns, panels: labels in order; a single "" if there are no panels.
        values: run id → value of the metric.
        unit: unit of the values.
        names: the names for readers.
        missing: ids of the runs that have not been simulated.
    """

    matrix: Matrix
    rows: Sequence[str]
    columns: Sequence[str]
    panels: Sequence[str]
    values: Mapping[str, float]
    unit: str
    names: Names
    missing: Collection[str] = frozenset()

    @property
    def order(self) -> tuple[Sequence[str], Sequence[str]]:
        """Labels of the rows and of the columns."""
        return self.rows, self.columns

    @property
    def titles(self) -> tuple[str, str]:
        """Titles of the vertical and the horizontal axis."""
        return self.matrix.rows.title, self.matrix.columns.title

    @property
    def quantity(self) -> str:
        """What a cell contains."""
        return self.names.metric(self.matrix.metric)

    def places(self, run: PlannedRun) -> list[Place]:
        """Labels of the panels, rows and columns of a run; several if it stands for several."""
        matrix, names = self.matrix, self.names
        rows, columns = (
            [value_label(axis.parameter, each, names) for each in values_of(run, axis.parameter)]
            for axis in (matrix.rows, matrix.columns)
        )
        panels = [""]
        if matrix.panels is not None:
            panels = [
                panel_label(matrix.panels, each, names) for each in values_of(run, matrix.panels)
            ]
        return list(product(panels, rows, columns))

    def mean(self, runs: Sequence[PlannedRun]) -> float:
        """Mean over runs of a cell, each counted once for each of its values of ``mean_over``."""
        weights = [
            math.prod(max(1, len(values_of(run, name))) for name in self.matrix.mean_over)
            for run in runs
        ]
        return statistics.fmean((self.values[run["run_id"]] for run in runs), weights)

    def cells(self, runs: Sequence[PlannedRun]) -> Cells:
        """Panel, row and column → the measured runs of the cell; incomplete cells are left out."""
        found: dict[Place, list[PlannedRun]] = {}
        for run in runs:
            for place in self.places(run) if run["run_id"] in self.values else ():
                found.setdefault(place, []).append(run)
        incomplete = self.incomplete(runs)
        return {place: measured for place, measured in found.items() if place not in incomplete}

    def incomplete(self, runs: Sequence[PlannedRun]) -> set[Place]:
        """Cells that lack a run: the mean or the best of the others would be of another set."""
        missing = [run for run in runs if run["run_id"] in self.missing]
        return {place for run in missing for place in self.places(run)}

    def missing_note(self, runs: Sequence[PlannedRun]) -> str:
        """A sentence on the cells that lack a run; "" if there are none."""
        count = len(self.incomplete(runs))
        if count == 1:
            return "1 cell is empty until all of its runs have been simulated."
        return (
            f"{count} cells are empty until all of their runs have been simulated." if count else ""
        )


def value_label(parameter: str, value: Scalar, names: Names) -> str:
    """The value of a parameter in words; for a protocol its label."""
    if is_protocol(parameter):
        return names.protocol(str(value))
    return names.parameters.value(parameter, value)


def panel_label(parameter: str, value: Scalar, names: Names) -> str:
    """The value of a parameter that no axis names; for a protocol only its label."""
    if is_protocol(parameter):
        return names.protocol(str(value))
    return names.parameters.with_value(parameter, value)


def drawn(chart_id: str, condition: str, runs: Sequence[PlannedRun], grid: Grid) -> Chart | None:
    """The chart of the runs of one condition; None if none was measured."""
    cells = grid.cells(runs)
    if not cells:
        return None
    if grid.matrix.winner is None:
        chart: Chart | None = _valued(chart_id, condition, cells, grid)
    else:
        chart = _winners(chart_id, condition, cells, grid, grid.matrix.winner)
    if chart is None:
        return None
    note = " ".join(filter(None, (chart.note, grid.missing_note(runs))))
    return replace(chart, note=note)


def _valued(
    chart_id: str,
    condition: str,
    cells: Cells,
    grid: Grid,
) -> Chart:
    matrix = grid.matrix
    rows = []
    for place, runs in cells.items():
        value = grid.mean(runs)
        rows.append((*place, value, _text(matrix, value), *_first(runs)))
    frame = _frame(rows, _VALUED)
    return Chart(
        chart_id=chart_id,
        title=", ".join(filter(None, (grid.quantity, condition))),
        caption=matrix.caption,
        alternative=f"Matrix of {grid.quantity}. {told(frame, matrix.between)}",
        content=spec_content(_valued_spec(frame, grid)),
        note=_means_note(cells.values()),
        metrics=(matrix.metric,),
    )


def _frame(rows: Sequence[tuple[object, ...]], columns: Sequence[str]) -> pl.DataFrame:
    schema = {name: pl.String if name in _WORDS else pl.Float64 for name in columns}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame if any(frame["runs"]) else frame.drop("runs")


def _valued_spec(cells: pl.DataFrame, grid: Grid) -> Spec:
    matrix = grid.matrix
    ends = matrix.ends or _ends_of(cells["value"].to_list())
    if matrix.panels is not None:
        quantity = axis_title(grid.quantity, grid.unit)
        panels = Panels(grid.panels, grid.rows, grid.columns, grid.titles, quantity)
        return valued_panels(cells, panels, ends, about_zero=matrix.about_zero)
    plain = cells.drop("panel")
    if matrix.about_zero:
        return diverging_matrix(plain, grid.order, grid.titles, grid.quantity, ends[1])
    return rising_matrix(plain, grid.order, grid.titles, grid.quantity, ends)


def _ends_of(values: Sequence[float]) -> tuple[float, float]:
    """Ends of the colour scale if the study gives none: those of the cells, kept apart."""
    low, high = min(values), max(values)
    return (low, high) if low < high else (low - 1, high + 1)


def _winners(
    chart_id: str,
    condition: str,
    cells: Cells,
    grid: Grid,
    winner: Winner,
) -> Chart | None:
    rows = [
        (*place, *won)
        for place, runs in cells.items()
        if (won := _won(runs, grid, winner)) is not None
    ]
    if not rows:
        return None
    frame = _frame(rows, _WON)
    quantity = axis_title(grid.quantity, grid.unit)
    panels = Panels(grid.panels, grid.rows, grid.columns, grid.titles, quantity)
    spec = winner_panels(frame, panels, _colours(frame, cells, grid, winner))
    labels = frame["winner"].unique(maintain_order=True).to_list()
    competitors = [part for runs in cells.values() for part in _competitors(runs, winner).values()]
    what = grid.names.parameters.name(winner.among)
    words = f"{grid.quantity}: {what} with the {winner.best}"
    return Chart(
        chart_id=chart_id,
        title=", ".join(filter(None, (words, condition))),
        caption=grid.matrix.caption or grid.names.captions.charts["winners"]["caption"],
        alternative=f"Matrix. {words}. {told(frame, grid.matrix.between, 'winner')}",
        content=spec_content(spec, labels),
        note=" ".join(filter(None, (_lead_note(grid, winner), _means_note(competitors)))),
        metrics=(grid.matrix.metric,),
    )


def _won(
    runs: Sequence[PlannedRun], grid: Grid, winner: Winner
) -> tuple[str, float, str, float, str, str, str, str] | None:
    """Winner, its value, the second, the lead, its text, the winner's runs; None without a rival.

    Of equal values, the one that comes first in the scenario wins with a lead of 0.
    """
    parts = _competitors(runs, winner)
    if len(parts) < 2:
        return None
    sign = 1 if winner.best == "largest" else -1
    ranked = sorted(parts.values(), key=lambda part: -sign * grid.mean(part))
    first, second = ranked[:2]
    best, lead = grid.mean(first), abs(grid.mean(first) - grid.mean(second))
    names = [
        value_label(winner.among, each[0]["parameters"][winner.among], grid.names)
        for each in (first, second)
    ]
    if lead == 0 or lead < winner.least_lead:
        return NOBODY, best, " and ".join(names), lead, "=", *_first(first)
    return names[0], best, names[1], lead, f"+{format_number(lead)}", *_first(first)


def _competitors(runs: Sequence[PlannedRun], winner: Winner) -> dict[Scalar, list[PlannedRun]]:
    """Competing value → its runs."""
    known = [run for run in runs if winner.among in run["parameters"]]
    return grouped(known, lambda run: run["parameters"][winner.among])


def _colours(
    frame: pl.DataFrame,
    cells: Cells,
    grid: Grid,
    winner: Winner,
) -> dict[str, str]:
    """Winner → colour: a protocol's own, otherwise one of a palette."""
    won = set(frame["winner"])
    values = {value for runs in cells.values() for value in _competitors(runs, winner)}
    found = {}
    for position, value in enumerate(in_order(winner.among, values, grid.names)):
        label = value_label(winner.among, value, grid.names)
        own = grid.names.colour(str(value)) if is_protocol(winner.among) else NEUTRAL
        found[label] = own if own != NEUTRAL else _SERIES[position % len(_SERIES)]
    found[NOBODY] = _TIE_COLOUR
    return {label: colour for label, colour in found.items() if label in won}


# For values without a colour of their own; distinguishable with every kind of colour blindness
# (after Okabe and Ito).
_SERIES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442")


def in_order(parameter: str, values: Collection[Scalar], names: Names) -> Sequence[Scalar]:
    """Values of a parameter: protocols in the order of the study, others sorted."""
    if is_protocol(parameter):
        return [key for key in names.protocols if key in values]
    return sorted(values, key=_place_of)


def _place_of(value: Scalar) -> tuple[bool, float, str]:
    """Sort key: numbers first, then words."""
    return (True, 0.0, value) if isinstance(value, str) else (False, float(value), "")


def _lead_note(grid: Grid, winner: Winner) -> str:
    if winner.least_lead == 0:
        return ""
    amount = format_number(winner.least_lead)
    unit = "" if grid.unit in ("", "1") else f" {grid.unit}"
    return f"A lead of less than {amount}{unit} does not count as a win."


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


def _text(matrix: Matrix, value: float) -> str:
    return f"{value:.2f}".replace("-", MINUS) if matrix.about_zero else format_number(value)


def told(cells: pl.DataFrame, between: str, what: str = "text") -> str:
    """Text alternative: every cell in words."""
    with_panel = "panel" in cells.columns
    rows = cells.select(
        pl.col("panel") if with_panel else pl.lit("").alias("panel"), "row", "column", what
    ).rows()
    return "; ".join(
        f"{f'{panel}: ' if panel else ''}{row} {between} {column}: {text}"
        for panel, row, column, text in rows
    )
