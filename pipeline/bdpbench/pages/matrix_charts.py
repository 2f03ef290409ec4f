"""Matrices of runs over two parameters, such as the pairs of protocols that share a path.

Panels side by side form a grid with common axes of names, so that a chart keeps its width: the name
of a row or column on an axis is the position of its panel and its own, and only the latter is
shown.
"""

from __future__ import annotations

import itertools
import math
import re
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import polars as pl

from bdpbench.contracts.judged import Judged, rounded
from bdpbench.contracts.plan import PlannedRun, Scalar, values_of
from bdpbench.pages.answers import all_alike
from bdpbench.pages.inputs import ReportData
from bdpbench.pages.names import (
    grouped,
    in_order,
    is_protocol,
    pairs_of,
    subject_name,
    undetermined,
)
from bdpbench.pages.specs import (
    BARE,
    INK,
    ROOM_ABOVE,
    Channel,
    Chart,
    Encoding,
    Spec,
    layer,
    layered,
    number,
    spec_content,
    text,
)
from bdpbench.pages.text import format_number, joined
from bdpbench.pages.texts import Matrix
from bdpbench.units import MINUS, axis_title, several

# px of a cell: alone, and in panels, whose cells are low above this number of rows.
_CELL_HEIGHT, _HIGH, _LOW = 46, 36, 22
_MANY_ROWS = 10

# A chart may take half of a page: with more columns side by side, these get narrower than a finger,
# and where they are narrower than their numbers, these are not shown.
_MOST_COLUMNS = 22
# As many cells that are all alike are a sentence.
_MANY_CELLS = 6
_NUMBER_SIZE, _NUMBER_IN_PANELS = 11, 9.5
# Ratios farther from the reference than this factor have the same colour.
_FARTHEST_RATIO = 8.0
_WHITE = "#ffffff"
_EDGE: Mapping[str, Any] = {"stroke": "#c9ced4", "strokeWidth": 0.6, "cursor": "pointer"}

# Blue to orange via white, distinguishable with every kind of colour blindness, with ends darker
# than the middle (after ColorBrewer's PuOr and RdBu).
_DIVERGING = ("#08519c", "#6baed6", "#ffffff", "#fdae6b", "#a63603")
# From light to dark through hues, so that values near one another differ (ColorBrewer's YlGnBu).
_RISING = ("#ffffd9", "#7fcdbb", "#2c7fb8", "#253494")

# Relative luminance below which a cell is so dark that its number has to be white.
_DARK = 0.25
# Width of a digit as a share of its height.
_LETTER = 0.52
_GRADIENT: Mapping[str, Any] = {
    "gradientLength": {"expr": "min(220, width)"},
    "gradientThickness": 10,
    "orient": "top",
    "tickCount": 5,
    "titleFontWeight": "normal",
    "titleLimit": {"expr": "width"},  # the name of a metric, which the default cuts off
}
_OWN_NAME = "slice(datum.label, indexof(datum.label, '|') + 1)"


Place: TypeAlias = tuple[str, str, str]
"""Labels of a panel, a row and a column."""


@dataclass(frozen=True)
class Axes:
    """What the cells of a matrix, or of several panels, have in common.

    Attributes:
        rows, columns: labels, in order; those without cells are kept.
        titles: titles of the vertical and of the horizontal axis.
        quantity: what a value is.
        panels: titles of the panels, in order; a single "" for one matrix.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    titles: tuple[str, str]
    quantity: str
    panels: Sequence[str] = ("",)

    @property
    def has_panels(self) -> bool:
        """Whether there is more than a matrix without a title."""
        return list(self.panels) != [""]

    @property
    def in_a_row(self) -> int:
        """Number of panels side by side."""
        return max(1, min(len(self.panels), _MOST_COLUMNS // (len(self.columns) + 1)))

    def place(self, panel: str) -> tuple[int, int]:
        """Row and column of a panel in the grid."""
        return divmod(list(self.panels).index(panel), self.in_a_row)


@dataclass(frozen=True)
class MatrixGroup:
    """Matrices of one scenario, and a sentence on each that is not drawn: its cells are alike."""

    scenario: str
    title: str
    charts: tuple[Chart, ...]
    said: tuple[str, ...] = ()


def matrix_groups(data: ReportData) -> list[MatrixGroup]:
    """Matrices of the scenarios for which the study declares some, and of scenarios with pairs.

    If different protocols meet in the runs of a scenario for which the study declares no matrix,
    that of ``reports/captions.yaml`` is drawn. Each combination of the other parameters has a
    matrix of its own.
    """
    found, names = [], data.names
    for scenario, planned in data.scenarios.items():
        own = [each for each in data.inputs.study.matrices if each.scenario == scenario]
        matrices = [each for each in own if each.columns]
        # One protocol beside several others is no matrix.
        sides = zip(*pairs_of(planned), strict=False)
        if not own and min((len(set(side)) for side in sides), default=0) > 1:
            matrices = [Matrix.model_validate({"scenario": scenario, **names.captions.pairs})]
        grids = [Grid(each, planned, data) for each in matrices]
        drawn = [
            each
            for index, grid in enumerate(grids)
            for each in _drawn(f"pairs-{scenario}" + (f"-{index + 1}" if index else ""), grid)
        ]
        charts = tuple(each for each in drawn if isinstance(each, Chart))
        said = tuple(each for each in drawn if isinstance(each, str))
        if drawn:
            found.append(MatrixGroup(scenario, names.scenario(scenario), charts, said))
    return found


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
        # A matrix of changes, which has no columns, is no grid.
        self._sides = matrix.rows, matrix.columns or matrix.rows

    def _is_shown(self, run: PlannedRun) -> bool:
        return all(name in run["parameters"] for name in self.matrix.places) and all(
            set(values_of(run, name)) & set(values) for name, values in self.matrix.only.items()
        )

    def axes(self, quantity: str) -> Axes:
        """Labels of the axes; protocols that rows or columns have, in the order of the study."""
        sides, panels = self._sides, self.matrix.panels
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
        label = self.names.condition if named else self._label
        return [label(parameter, each) for each in in_order(parameter, given, self.names)]

    @cached_property
    def _senders(self) -> Mapping[tuple[str, Scalar], str]:
        """Parameter and value of what is a case → who meets in all runs that have it."""
        found: dict[tuple[str, Scalar], set[str]] = {}
        for run in self.runs:
            for key in run["parameters"].items():
                found.setdefault(key, set()).add(self.names.protocols_of(run))
        return {key: who.pop() for key, who in found.items() if len(who) == 1}

    def _label(self, parameter: str, value: Scalar) -> str:
        """A value in words; with the senders if each value has its own."""
        told = self.names.value(parameter, value)
        given = {each for run in self.runs for each in values_of(run, parameter)}
        who = [self._senders.get((parameter, each), "") for each in given]
        if is_protocol(parameter) or not all(who) or len(set(who)) < 2:
            return told
        return f"{told}: {self._senders[parameter, value]}"

    def places(self, run: PlannedRun) -> list[Place]:
        """Labels of the panels, rows and columns of a run; several if it stands for several."""
        panels = self.matrix.panels or ""
        titles = [self.names.condition(panels, each) for each in values_of(run, panels)]
        rows, columns = (
            [self._label(side.parameter, each) for each in values_of(run, side.parameter)]
            for side in self._sides
        )
        return list(itertools.product(titles or [""], rows, columns))


def _drawn(prefix: str, grid: Grid) -> Iterator[Chart | str]:
    """A matrix for each set of values of the parameters that it leaves open, and each subject.

    The flow or link of the metric is named only if there are several. A cell is left out if a run
    of it has no results: the mean of the others would be of another set.
    """
    matrix, names = grid.matrix, grid.names
    left_open = undetermined(grid.runs, [*matrix.parameters.values()], names.swept(matrix.scenario))
    wanted = (pl.col("metric") == matrix.metric) & (pl.col("scenario") == matrix.scenario)
    rows, numbers = grid.metrics.filter(wanted).drop_nulls("value"), itertools.count()
    alike = grouped(grid.runs, lambda run: tuple(run["parameters"].get(name) for name in left_open))
    for runs in alike.values():
        given = runs[0]["parameters"]
        condition = ", ".join(
            names.condition(each, given[each]) for each in left_open if each in given
        )
        missing = [run for run in runs if run["run_id"] not in grid.finished]
        incomplete = {cell for run in missing for cell in grid.places(run)}
        own = rows.filter(pl.col("run_id").is_in([run["run_id"] for run in runs]))
        parts = own.partition_by("subject", maintain_order=True)
        for part in parts:
            values = dict(part.select("run_id", "value").iter_rows())
            cells: dict[Place, list[PlannedRun]] = {}
            for run in runs:
                for cell in grid.places(run) if run["run_id"] in values else ():
                    if cell not in incomplete:
                        cells.setdefault(cell, []).append(run)
            subject = subject_name(part["subject"][0]) if len(parts) > 1 else ""
            name, unit = joined(grid.quantity, condition, subject), str(part["unit"][0])
            chart_id = f"{prefix}-{next(numbers)}"
            if cells:
                yield _valued(chart_id, name, unit, cells, values, len(incomplete), grid)


def _valued(
    chart_id: str,
    name: str,
    unit: str,
    cells: Mapping[Place, Sequence[PlannedRun]],
    values: Mapping[str, float],
    lacking: int,
    grid: Grid,
) -> Chart | str:
    """The chart of the means of cells; a sentence if all are alike.

    Each run of a cell counts once for each of its values of ``mean_over``; ``lacking`` cells are
    left out.
    """
    matrix, rows = grid.matrix, []
    for place, runs in cells.items():
        weights = [
            math.prod(max(1, len(values_of(run, each))) for each in matrix.mean_over)
            for run in runs
        ]
        value = statistics.fmean((values[run["run_id"]] for run in runs), weights)
        short = matrix.about_zero or (matrix.panels is not None and abs(value) < 10)
        said = f"{value:.2f}".replace("-", MINUS) if short else format_number(rounded(value))
        at = dict(zip(("panel", "row", "column"), place, strict=True))
        rows.append({**at, "value": value, "text": said, "run_id": runs[0]["run_id"]})
        rows[-1]["run"] = runs[0]["label"] if len(runs) == 1 else f"mean of {len(runs)} runs"
    frame = pl.DataFrame(rows)
    judged = grid.names.judged(matrix.metric)
    if len(rows) >= _MANY_CELLS and not lacking:
        said = all_alike(name, frame["value"], replace(judged, unit=unit), "cells")
        if said:
            return joined(said, matrix.caption, by=" ")
    low, high = min(frame["value"].to_list()), max(frame["value"].to_list())
    ends = matrix.ends or ((low, high) if low < high else (low - 1, high + 1))  # kept apart
    told = "; ".join(
        f"{joined(panel, row, by=': ')} and {column}: {said}"
        for panel, row, column, said in frame.select("panel", "row", "column", "text").iter_rows()
    )
    said = f"Some runs of {several(lacking, 'cell')} are missing, so that nothing is shown there."
    missing = said if lacking else ""
    return Chart(
        chart_id=chart_id,
        title=name,
        caption=matrix.caption,
        alternative=f"Matrix of {grid.quantity}. {told}",
        content=spec_content(
            valued_matrix(
                frame,
                grid.axes(axis_title(grid.quantity, unit)),
                ends,
                Judged(reference=0.0) if matrix.about_zero else judged,
            )
        ),
        note=joined(_means_note(cells.values()), missing, by=" "),
        metrics=(matrix.metric,),
    )


def _means_note(means: Iterable[Sequence[PlannedRun]]) -> str:
    """A note on how many runs a value is the mean of, if more than one."""
    counts = sorted({len(runs) for runs in means})
    if counts == [1]:
        return ""
    said = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
    return f"A value is the mean of {said} runs. Click on a cell to open the first of them."


def valued_matrix(
    cells: pl.DataFrame, axes: Axes, ends: tuple[float, float], judged: Judged
) -> Spec:
    """A number for each cell, coloured by its side of the reference and its distance from it.

    If all values are on one side, those nearer to the reference are lighter, and without a
    reference the smaller ones. A ratio of half is as far from 1 as a double.

    Args:
        cells: ``panel``, ``row`` and ``column`` str (labels), ``value`` f64, ``text`` str,
            ``run_id`` str, ``run`` str; missing cells stay blank.
        axes: the axes and panels.
        ends: the smallest and the largest value that have a colour of their own.
        judged: how values are judged, and what they are compared with, such as 1 for a fair share.
    """
    low, high = ends
    reference = judged.reference
    steps = len(_RISING) - 1
    thirds = [low + (high - low) * place / steps for place in range(steps + 1)]
    scale: dict[str, Any] = {
        "domain": thirds, "interpolate": "rgb", "range": list(_RISING), "clamp": True,
    }  # fmt: skip
    if reference is not None and low < reference < high:
        reach, shares = max(high - reference, reference - low), (-1, -0.5, 0, 0.5, 1)
        domain = [reference + share * reach for share in shares]
        if judged.better == "nearest" and reference > 0:
            far = min(
                max(high / reference, reference / low if low > 0 else math.inf), _FARTHEST_RATIO
            )
            domain = [reference * far**share for share in shares]
            scale["type"] = "log"
        domain = [int(each) if each == int(each) else each for each in domain]
        scale |= {"domain": domain, "range": list(_DIVERGING)}
    elif reference is not None and reference >= high:
        scale["range"].reverse()
    value_format = "+.4f" if reference == 0 else ",.5~g"
    tips = [number("value", axes.quantity, value_format), text("run", "run")]
    colour = {"color": number("value", axes.quantity, scale=scale, legend=_GRADIENT)}
    return _panels(cells, axes, colour, tips, "luminance(scale('color', datum.value))")


def _panels(
    cells: pl.DataFrame, axes: Axes, colour: Encoding, tips: Sequence[Channel], luminance: str
) -> Spec:
    """Cells in panels, whose numbers are white where the expression ``luminance`` is low."""
    (row_title, column_title), lines = axes.titles, -(-len(axes.panels) // axes.in_a_row)
    fields, columns, rows = ("column", "row"), axes.columns, axes.rows
    where = [text("row", row_title), text("column", column_title)]
    if axes.has_panels:
        where.insert(0, text("panel", "panel"))
        # A gap between panels, but none before the first, and a line of titles above.
        fields, names = ("x", "y"), ["", *axes.columns]
        columns = [f"{place}|{name}" for place in range(axes.in_a_row) for name in names][1:]
        rows = [f"{line}|{name}" for line in range(lines) for name in ("", *axes.rows)]
    across, down = ({"domain": list(each), "padding": 0.03} for each in (columns, rows))
    own_name = {**BARE, "labelExpr": _OWN_NAME, "labelOverlap": False}
    x = text(fields[0], column_title, scale=across, axis={**own_name, "labelAngle": -40})
    place = {"x": x, "y": text(fields[1], row_title, scale=down, axis=own_name)}
    base: Encoding = {**place, "tooltip": [*where, *tips]}
    ink = {"condition": {"test": f"{luminance} < {_DARK}", "value": _WHITE}, "value": INK}
    numbers = {**base, "text": text("text"), "color": ink}
    drawn = [layer("rect", "cells", {**base, **colour}, **_EDGE)]
    shown = {"cells": _placed(cells, axes)}
    size = _NUMBER_IN_PANELS if axes.has_panels else _NUMBER_SIZE
    widest = max(map(len, cells["text"].to_list())) * size * _LETTER
    fits = {"expr": f"bandwidth('x') < {widest:.0f} ? 0 : 1"}
    drawn.append(layer("text", "cells", numbers, fontSize=size, opacity=fits, cursor="pointer"))
    if axes.has_panels:
        heads = {**place, "x": {**x, "bandPosition": 0}, "text": text("title")}
        look = {"align": "left", "fontSize": 11, "color": INK, "baseline": "middle"}
        shown["heads"] = _heads(axes)
        dy = -6 if shown["heads"]["title"].str.contains("\n").any() else 0
        drawn.append(layer("text", "heads", heads, **look, lineBreak="\n", dy=dy))
    low = _HIGH if len(axes.rows) < _MANY_ROWS else _LOW
    height = (low if axes.has_panels else _CELL_HEIGHT) * len(rows)
    return layered(*drawn, height=height, rows=shown, room_above=ROOM_ABOVE)


def _placed(cells: pl.DataFrame, axes: Axes) -> pl.DataFrame:
    """The cells; of panels with their places on the axes, ``x`` and ``y``."""
    if not axes.has_panels:
        return cells.drop("panel")
    places = [axes.place(name) for name in cells["panel"].to_list()]
    line = pl.Series([str(each) for each, _ in places], dtype=pl.String)
    place = pl.Series([str(each) for _, each in places], dtype=pl.String)
    return cells.with_columns(x=place + "|" + pl.col("column"), y=line + "|" + pl.col("row"))


def _heads(axes: Axes) -> pl.DataFrame:
    """The title of each panel, above its first column.

    The value is in a line of its own where the title is wider than its panel on a phone.
    """
    many = re.compile(r" (?=\d)")
    return pl.DataFrame(
        [
            {
                "x": f"{place}|{axes.columns[0]}",
                "y": f"{line}|",
                "title": many.sub("\n", name, count=1)
                if len(name) > 4 * len(axes.columns)
                else name,
            }
            for name in axes.panels
            for line, place in [axes.place(name)]
        ]
    )
