"""``matrices.yaml`` of a study: numbers over two parameters, and what the study says of them.

A matrix shows a metric of the runs of one scenario, a row and a column for each value of two of its
parameters, such as the protocols of two flows. Beside it stands what the study itself states of the
cells, as levels, and bars of a metric that sums the cells up, in the order in which the study ranks
them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from bdpbench.contracts.plan import Scalar
from bdpbench.contracts.yaml_files import Location, YamlFile
from bdpbench.pages.sweeps import is_protocol
from bdpbench.studies.study import Scenario, Study, known_or_suggest

Text = Annotated[str, Field(min_length=1)]
Rank = Annotated[int, Field(ge=1, le=100)]  # more levels have no colours of their own
Finite = Annotated[float, Field(allow_inf_nan=False)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Axis(_Strict):
    """The parameter of the rows or columns, and the title of the axis."""

    parameter: Text
    title: Text


class Level(_Strict):
    """A level of a scale: what it is called, and up to which value of the metric it reaches."""

    words: str = ""
    up_to: Finite | None = None


class Stated(_Strict):
    """What the study states of cells without a number.

    Attributes:
        title: what a level is.
        where: figure and section.
        levels: of the scale, from the first; how many there are where they have no words.
        cells: value of the rows' parameter → value of the columns' → level; others are not stated.
        note: what else a reader of the chart should know.
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
            raise ValueError("levels: every level has an up_to, or none has")
        if any(after <= before for before, after in pairwise(known)):
            raise ValueError("levels: each up_to has to be above the one before")
        return self


class Points(_Strict):
    """A metric of the rows' values as bars.

    Attributes:
        metric: measured for the run of a value with itself.
        caption: of the chart.
        ranking: values from the first to the last in the order of the study, those of equal rank
            together.
        ranked: what is said of the order, where there is a ranking.
    """

    metric: Text
    caption: str = ""
    ranking: list[list[Scalar]] = Field(default_factory=list)
    ranked: str = ""

    def rank(self, value: Scalar) -> int | None:
        """Printed rank of a value, 1 being the first; equal ranks leave out the next ones."""
        before = 0
        for alike in self.ranking:
            if value in alike:
                return before + 1
            before += len(alike)
        return None


class Matrix(_Strict):
    """A matrix of the runs of a scenario.

    Attributes:
        scenario: whose runs they are.
        metric: what stands in a cell.
        rows, columns: the parameters; one matrix is drawn for each condition that they leave open.
        ends: values of the lightest and of the darkest colour.
        about_zero: whether the colours tell the sides of 0, ``ends`` being -x and x.
        between: word between a row and a column, for who does not see the chart.
        caption: of the chart.
        stated: what the study says of the cells.
        points: what sums them up.
    """

    scenario: str
    metric: str
    rows: Axis
    columns: Axis
    ends: tuple[Finite, Finite] = Field(strict=False)
    about_zero: bool = False
    between: str = "and"
    caption: str = ""
    stated: Stated | None = None
    points: Points | None = None

    @model_validator(mode="after")
    def _ends_are_apart(self) -> Matrix:
        low, high = self.ends
        if low >= high:
            raise ValueError(f"ends: the first, {low:g}, has to be below the second, {high:g}")
        if self.about_zero and low != -high:
            raise ValueError("ends: about zero the first has to be the second with a minus")
        return self


class _File(_Strict):
    matrices: list[Matrix]


def load_matrices(path: Path, study: Study, metrics: Collection[str]) -> list[Matrix]:
    """Read and check ``matrices.yaml``; a study without it has none.

    Args:
        path: of the file.
        study: whose file it is.
        metrics: names of all metrics, as in ``published.csv``.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    if not path.is_file():
        return []
    source = YamlFile(path)
    matrices = source.validate(_File).matrices
    for index, matrix in enumerate(matrices):
        place: Location = ("matrices", index)
        _require(source, (*place, "scenario"), matrix.scenario, study.scenarios, "scenario")
        _require(source, (*place, "metric"), matrix.metric, metrics, "metric")
        scenario = study.scenarios[matrix.scenario]
        for name, axis in (("rows", matrix.rows), ("columns", matrix.columns)):
            key = (*place, name, "parameter")
            _require(source, key, axis.parameter, _varied(scenario), "varied parameter")
        if matrix.stated is not None:
            _check_stated(source, place, matrix, matrix.stated, study)
        if matrix.points is not None:
            _check_points(source, place, matrix, matrix.points, study, metrics)
    return matrices


def _check_stated(
    source: YamlFile, place: Location, matrix: Matrix, stated: Stated, study: Study
) -> None:
    levels = len(stated.scale)
    for row, cells in stated.cells.items():
        _require_value(source, (*place, "stated", "cells", row), row, matrix, matrix.rows, study)
        for column, level in cells.items():
            key = (*place, "stated", "cells", row, column)
            _require_value(source, key, column, matrix, matrix.columns, study)
            if level > levels:
                raise source.error(key, f"{level} is more than the levels, {levels}")


def _check_points(
    source: YamlFile,
    place: Location,
    matrix: Matrix,
    points: Points,
    study: Study,
    metrics: Collection[str],
) -> None:
    _require(source, (*place, "points", "metric"), points.metric, metrics, "metric")
    seen: set[Scalar] = set()
    for index, alike in enumerate(points.ranking):
        for value in alike:
            key = (*place, "points", "ranking", index)
            _require_value(source, key, value, matrix, matrix.rows, study)
            if value in seen:
                raise source.error(key, f"{value} has two ranks")
            seen.add(value)


def _require_value(
    source: YamlFile,
    place: tuple[Scalar, ...],
    value: Scalar,
    matrix: Matrix,
    axis: Axis,
    study: Study,
) -> None:
    """Refuse what is no protocol of the study, or no value of the parameter."""
    if is_protocol(axis.parameter):
        _require(source, place, value, study.protocols, "protocol")
    else:
        values = set(_values(study.scenarios[matrix.scenario], axis.parameter))
        _require(source, place, value, values, f"value of {axis.parameter}")


def _varied(scenario: Scenario) -> set[str]:
    """Parameters that vary between the runs of a scenario."""
    cases = {name for case in scenario.cases for name in case}
    return {*scenario.sweep, *cases}


def _values(scenario: Scenario, parameter: str) -> Iterator[Scalar]:
    yield from scenario.sweep.get(parameter, ())
    for case in scenario.cases:
        value = case.get(parameter)
        if value is not None:
            yield value


def _require(
    source: YamlFile,
    place: tuple[Scalar, ...],
    name: Scalar,
    known: Collection[Scalar] | Collection[str],
    what: str,
) -> None:
    if name in known:
        return
    unknown = known_or_suggest(str(name), [str(each) for each in known], what)
    message, hint = unknown or (f"unknown {what} {name!r}", "")
    raise source.error(place, message, hint=hint)
