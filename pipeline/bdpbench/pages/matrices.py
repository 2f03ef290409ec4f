"""``matrices.yaml`` of a study: numbers over two parameters, and what the study says about them.

A matrix shows a metric of the runs of one scenario, a row and a column for each value of two of its
parameters, such as the protocols of two flows. ``panels`` draws one for each value of a third, side
by side and in the same colours; ``winner`` shows instead which value of another parameter is best
in each cell, and by how much. Beside a matrix are the study's own statements about its cells, as
levels, and bars of a metric that sums up its rows, in the order in which the study ranks them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import Field, model_validator

from bdpbench.contracts.plan import Scalar
from bdpbench.contracts.yaml_files import Location, Strict, YamlFile, known_or_suggest
from bdpbench.studies.links import ROUNDED_BUFFERS
from bdpbench.studies.study import Study
from bdpbench.studies.vocabulary import PROTOCOL_PARAMETERS

MATRICES_NAME = "matrices.yaml"
Text = Annotated[str, Field(min_length=1)]
Rank = Annotated[int, Field(ge=1, le=100)]  # there are no colours for more levels
Finite = Annotated[float, Field(allow_inf_nan=False)]

Named: TypeAlias = tuple[Location, Scalar, Collection[Scalar], str]
"""Place of a name or value in the file, itself, those that are known, and what they are."""


class Axis(Strict):
    """The parameter of the rows or columns, and the title of the axis."""

    parameter: Text
    title: Text


class Level(Strict):
    """A level of a scale: its name, and the largest value of the metric that belongs to it."""

    words: str = ""
    up_to: Finite | None = None


class Stated(Strict):
    """What the study states about cells without a number.

    Attributes:
        title: what a level means.
        where: figure and section.
        levels: the levels of the scale, from the first; only their number if they have no words.
        cells: value of the rows' parameter → value of the columns' → level; other cells are not
            stated.
        note: anything else that a reader of the chart should know.
    """

    title: Text
    where: Text
    levels: Rank | list[Level]
    cells: dict[Scalar, dict[Scalar, Rank]]
    note: str = ""

    @property
    def scale(self) -> list[Level]:
        """The levels, from the first."""
        return [Level()] * self.levels if isinstance(self.levels, int) else list(self.levels)

    @model_validator(mode="after")
    def _bounds_rise(self) -> Stated:
        bounds = [each.up_to for each in self.scale]
        known = [each for each in bounds if each is not None]
        if known and len(known) < len(bounds):
            raise ValueError("levels: either every level has an up_to, or none")
        if any(after <= before for before, after in pairwise(known)):
            raise ValueError("levels: each up_to must be above the previous one")
        return self


class Points(Strict):
    """A metric for the values of the rows, as bars.

    Attributes:
        metric: metric of the run of a value with itself.
        caption: caption of the chart.
        ranking: values in the order of the study, those of equal rank together.
        ranked: text about the order, if there is a ranking.
    """

    metric: Text
    caption: str = ""
    ranking: list[list[Scalar]] = Field(default_factory=list)
    ranked: str = ""

    @model_validator(mode="after")
    def _text_is_about_a_ranking(self) -> Points:
        if self.ranked and not self.ranking:
            raise ValueError("ranked: there is no ranking that it could be about")
        return self

    def rank(self, value: Scalar) -> int | None:
        """Printed rank of a value, 1 being the first; equal ranks skip the next ones."""
        before = 0
        for alike in self.ranking:
            if value in alike:
                return before + 1
            before += len(alike)
        return None


class Winner(Strict):
    """What a cell shows instead of a value: which value of a parameter is best in it.

    The metric declares which value is best; where it does not, it is the largest.

    Attributes:
        among: parameter whose values are compared, such as protocol.
        least_lead: smallest lead over the second, in the metric's unit, that counts as a win.
    """

    among: Text
    least_lead: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0


class Matrix(Strict):
    """A matrix of the runs of a scenario.

    Attributes:
        scenario: the scenario of the runs.
        metric: metric in a cell; its mean if a cell has several runs.
        subject: the flow, link or run that the metric is of, as metrics.parquet names it, such as
            "flow:0"; without it there is a matrix for each subject.
        rows, columns: the parameters; one matrix is drawn for each combination of the other
            parameters.
        panels: a third parameter, each value of which has a panel in one chart.
        only: parameter → values; runs with other values are left out.
        mean_over: parameters over which a cell is the mean, in addition to repetitions. A run that
            stands for several buffers counts once for each of them, or once with ``buffer_pkts``.
        ends: values of the lightest and of the darkest colour; if absent, those of the cells.
        about_zero: whether the colours distinguish the sides of 0, ``ends`` being -x and x.
        winner: what is shown instead of a value.
        between: word between a row and a column in the text alternative.
        caption: caption of the chart.
        stated: the study's statements about the cells.
        points: bars that sum up the rows.
    """

    scenario: str
    metric: str
    subject: str = Field("", pattern=r"^(|run|flow:\d+|link:.+)$")
    rows: Axis
    columns: Axis
    panels: Text | None = None
    only: dict[Text, list[Scalar]] = Field(default_factory=dict)
    mean_over: list[Text] = Field(default_factory=list)
    ends: tuple[Finite, Finite] | None = Field(None, strict=False)
    about_zero: bool = False
    winner: Winner | None = None
    between: str = "and"
    caption: str = ""
    stated: Stated | None = None
    points: Points | None = None

    @property
    def places(self) -> list[str]:
        """Parameters that determine the place of a run."""
        panels = [] if self.panels is None else [self.panels]
        return [self.rows.parameter, self.columns.parameter, *panels]

    @property
    def parameters(self) -> list[tuple[Location, str]]:
        """Each key that names a parameter, and the parameter."""
        named: list[tuple[Location, str | None]] = [
            (("rows", "parameter"), self.rows.parameter),
            (("columns", "parameter"), self.columns.parameter),
            (("panels",), self.panels),
            (("winner", "among"), None if self.winner is None else self.winner.among),
            *((("mean_over", index), each) for index, each in enumerate(self.mean_over)),
        ]
        return [(place, name) for place, name in named if name is not None]

    @model_validator(mode="after")
    def _parameters_differ(self) -> Matrix:
        seen: set[str] = set()
        for place, name in self.parameters:
            if name in seen:
                raise ValueError(f"{place[0]}: {name} is already part of the matrix")
            seen.add(name)
        return self

    @model_validator(mode="after")
    def _keys_go_together(self) -> Matrix:
        if self.winner is not None and (self.ends is not None or self.about_zero):
            raise ValueError(
                "winner: its colours are those of the winners: remove ends, about_zero"
            )
        several = self.panels is not None or self.winner is not None
        if several and (self.stated is not None or self.points is not None):
            raise ValueError("stated and points are of a matrix without panels and winner")
        if self.about_zero and self.ends is None:
            raise ValueError("about_zero needs ends: -x and x")
        return self

    @model_validator(mode="after")
    def _ends_are_apart(self) -> Matrix:
        if self.ends is None:
            return self
        low, high = self.ends
        if low >= high:
            raise ValueError(f"ends: the first, {low:g}, must be below the second, {high:g}")
        if self.about_zero and low != -high:
            raise ValueError("ends: about zero the first must be the negative of the second")
        return self


class _File(Strict):
    matrices: list[Matrix]


def load_matrices(path: Path, study: Study, metrics: Collection[str]) -> list[Matrix]:
    """Read and check ``matrices.yaml``; a study without the file has none.

    Args:
        path: path of the file.
        study: the study of the file.
        metrics: names of all metrics, as in ``published.csv``.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    if not path.is_file():
        return []
    source = YamlFile(path)
    matrices = source.validate(_File).matrices
    for index, matrix in enumerate(matrices):
        for inner, name, known, what in _named(matrix, study, metrics):
            if name not in known:
                unknown = known_or_suggest(str(name), [str(each) for each in known], what)
                message, hint = unknown or (f"unknown {what} {name!r}", "")
                raise source.error(("matrices", index, *inner), message, hint=hint)
        _check_scale(source, ("matrices", index), matrix)
    return matrices


def _named(matrix: Matrix, study: Study, metrics: Collection[str]) -> Iterator[Named]:
    """Every name in a matrix that has to be known."""
    yield ("scenario",), matrix.scenario, study.scenarios, "scenario"
    yield ("metric",), matrix.metric, metrics, "metric"
    scenario = study.scenarios[matrix.scenario]
    varied = {*scenario.sweep, *(name for case in scenario.cases for name in case)}
    rounded = {"buffer_pkts"} if varied & {*ROUNDED_BUFFERS} else set()
    for place, parameter in matrix.parameters:
        known = varied | rounded if place[0] == "mean_over" else varied
        yield place, parameter, known, "varied parameter"
    for parameter in matrix.only:
        yield ("only", parameter), parameter, varied, "varied parameter"
    if matrix.points is not None:
        yield ("points", "metric"), matrix.points.metric, metrics, "metric"
    for place, value, parameter in _valued(matrix):
        if parameter in PROTOCOL_PARAMETERS:
            yield place, value, study.protocols, "protocol"
        else:
            cases = (case[parameter] for case in scenario.cases if parameter in case)
            values = {*scenario.sweep.get(parameter, ()), *cases}
            yield place, value, values, f"value of {parameter}"


def _valued(matrix: Matrix) -> Iterator[tuple[Location, Scalar, str]]:
    """Every value in a matrix: its place, itself, and its parameter."""
    rows, columns = matrix.rows.parameter, matrix.columns.parameter
    for parameter, kept in matrix.only.items():
        yield from ((("only", parameter), value, parameter) for value in kept)
    if matrix.stated is not None:
        for row, cells in matrix.stated.cells.items():
            yield ("stated", "cells", row), row, rows
            yield from ((("stated", "cells", row, column), column, columns) for column in cells)
    if matrix.points is not None:
        for index, alike in enumerate(matrix.points.ranking):
            yield from ((("points", "ranking", index), value, rows) for value in alike)


def _check_scale(source: YamlFile, place: Location, matrix: Matrix) -> None:
    """Refuse levels that the scale does not have, and values with two ranks."""
    stated = matrix.stated
    for row, cells in stated.cells.items() if stated is not None else ():
        for column, level in cells.items():
            if stated is not None and level > len(stated.scale):
                where = (*place, "stated", "cells", row, column)
                raise source.error(where, f"{level} is more than the levels, {len(stated.scale)}")
    seen: set[Scalar] = set()
    for rank, alike in enumerate(matrix.points.ranking if matrix.points is not None else ()):
        for value in alike:
            if value in seen:
                where = (*place, "points", "ranking", rank)
                raise source.error(where, f"{value} has two ranks")
            seen.add(value)
