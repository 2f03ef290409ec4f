"""``matrices.yaml`` of a study: numbers over two parameters.

A matrix shows a metric of the runs of one scenario, a row and a column for each value of two of its
parameters, such as the protocols of two flows. ``panels`` draws one for each value of a third, side
by side and in the same colours.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from bdpbench.contracts.plan import Scalar
from bdpbench.contracts.yaml_files import Location, Strict, YamlFile, known_or_suggest
from bdpbench.studies.links import ROUNDED_BUFFERS
from bdpbench.studies.study import Study
from bdpbench.studies.vocabulary import PROTOCOL_PARAMETERS

MATRICES_NAME = "matrices.yaml"
Text = Annotated[str, Field(min_length=1)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class Axis(Strict):
    """The parameter of the rows or columns, and the title of the axis."""

    parameter: Text
    title: Text


class Matrix(Strict):
    """A matrix of the runs of a scenario.

    Attributes:
        scenario: the scenario of the runs.
        metric: metric in a cell; its mean if a cell has several runs. Each flow or link of which it
            is has a matrix of its own.
        rows, columns: the parameters; one matrix is drawn for each combination of the other
            parameters.
        panels: a third parameter, each value of which has a panel in one chart.
        only: parameter → values; runs with other values are left out.
        mean_over: parameters over which a cell is the mean, in addition to repetitions. A run that
            stands for several buffers counts once for each of them, or once with ``buffer_pkts``.
        ends: values of the lightest and of the darkest colour; if absent, those of the cells. With
            -x and x the colours distinguish the sides of 0.
        caption: caption of the chart.
    """

    scenario: str
    metric: str
    rows: Axis
    columns: Axis
    panels: Text | None = None
    only: dict[Text, list[Scalar]] = Field(default_factory=dict)
    mean_over: list[Text] = Field(default_factory=list)
    ends: tuple[Finite, Finite] | None = Field(None, strict=False)
    caption: str = ""

    @property
    def places(self) -> list[str]:
        """Parameters that determine the place of a run."""
        return [name for key, name in self.parameters.items() if key[0] != "mean_over"]

    @property
    def about_zero(self) -> bool:
        """Whether the colours distinguish the sides of 0."""
        return self.ends is not None and self.ends[0] == -self.ends[1]

    @property
    def parameters(self) -> dict[Location, str]:
        """Each key that names a parameter → the parameter."""
        return {
            ("rows", "parameter"): self.rows.parameter,
            ("columns", "parameter"): self.columns.parameter,
            **({("panels",): self.panels} if self.panels else {}),
            **{("mean_over", index): each for index, each in enumerate(self.mean_over)},
        }

    @model_validator(mode="after")
    def _keys_go_together(self) -> Matrix:
        seen: set[str] = set()
        for place, name in self.parameters.items():
            if name in seen:
                raise ValueError(f"{place[0]}: {name} is already part of the matrix")
            seen.add(name)
        if self.ends is not None and self.ends[0] >= self.ends[1]:
            low, high = self.ends
            raise ValueError(f"ends: the first, {low:g}, must be below the second, {high:g}")
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
    return matrices


def _named(
    matrix: Matrix, study: Study, metrics: Collection[str]
) -> Iterator[tuple[Location, Scalar, Collection[Scalar], str]]:
    """Every name or value that has to be known: its place, itself, those known, what they are."""
    yield ("scenario",), matrix.scenario, study.scenarios, "scenario"
    yield ("metric",), matrix.metric, metrics, "metric"
    scenario = study.scenarios[matrix.scenario]
    varied = {*scenario.sweep, *(name for case in scenario.cases for name in case)}
    rounded = {"buffer_pkts"} if varied & {*ROUNDED_BUFFERS} else set()
    for place, parameter in matrix.parameters.items():
        known = varied | rounded if place[0] == "mean_over" else varied
        yield place, parameter, known, "varied parameter"
    for parameter, kept in matrix.only.items():
        place = ("only", parameter)
        yield place, parameter, varied, "varied parameter"
        swept = scenario.sweep.get(parameter, ())
        values: Collection[Scalar] = {*swept, *(case.get(parameter, "") for case in scenario.cases)}
        what = f"value of {parameter}"
        if parameter in PROTOCOL_PARAMETERS:
            values, what = study.protocols, "protocol"
        yield from ((place, value, values, what) for value in kept)
