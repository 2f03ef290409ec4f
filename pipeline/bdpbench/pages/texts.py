"""What pages read of files: a study's ``page.yaml`` and ``matrices.yaml``, laws, and errata."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator, model_validator

from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.plan import Scalar
from bdpbench.contracts.yaml_files import Location, Strict, YamlFile, known_or_suggest
from bdpbench.studies.folders import (
    Equation,
    Parameter,
    ProtocolFile,
    ProtocolFolder,
    Response,
    Source,
    checked_mathml,
)
from bdpbench.studies.links import ROUNDED_BUFFERS
from bdpbench.studies.parts import Protocol
from bdpbench.studies.plan import swept_names
from bdpbench.studies.study import Study
from bdpbench.studies.vocabulary import PROTOCOL_PARAMETERS

MATRICES_NAME = "matrices.yaml"
Text = Annotated[str, Field(min_length=1)]
Finite = Annotated[float, Field(allow_inf_nan=False)]

_DERIVED = ("bdp_pkts",)
"""Parameters of runs that studies do not declare."""


class Statement(Strict):
    """A statement of the study about a protocol, in our words."""

    where: Text
    text: Text


class ProtocolText(Strict):
    """What the page of a protocol says for this study.

    Attributes:
        said: statements of the study.
    """

    said: list[Statement] = Field(default_factory=list)


class StudyPage(Strict):
    """The content of ``page.yaml``.

    Attributes:
        choices: what our simulation chose where the study leaves a choice, in some three sentences
            at the head of the report.
        filled_share: share of the BDP or of the capacity above which the study considers a path
            filled; a dashed line is drawn there.
        parameters: the study's own parameters in words.
        protocols: key → text of its page.
    """

    choices: Text = ""
    filled_share: float | None = Field(None, gt=0, le=1)
    parameters: dict[str, Text] = Field(default_factory=dict)
    protocols: dict[str, ProtocolText] = Field(default_factory=dict)

    def of(self, protocol: str) -> ProtocolText:
        """The text about a protocol."""
        return self.protocols.get(protocol, ProtocolText())


@dataclass(frozen=True)
class Elsewhere:
    """What the published report of another study says about a protocol.

    Attributes:
        says: what it is, in a few words.
        title, study: title and key of the other study.
        label: the protocol's name there.
        place: the other report and its section, from the folder of all published reports.
    """

    says: str
    title: str
    study: str
    label: str
    place: str


def load_page(path: Path, study: Study) -> StudyPage:
    """Read and check ``page.yaml``; a study without the file has no texts of its own.

    Args:
        path: path of the file.
        study: the study of the file.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    if not path.is_file():
        return StudyPage()
    source = YamlFile(path)
    page = source.validate(StudyPage)
    swept = {name for each in study.scenarios.values() for name in swept_names(each)}
    of_paths = (each.parameters for each in study.topologies.values())
    given = swept.union(_DERIVED, *of_paths, *(e.parameters for e in study.scenarios.values()))
    wanted = [
        *((("parameters", name), name, given, "parameter of a run") for name in page.parameters),
        *((("protocols", key), key, study.protocols, "protocol") for key in page.protocols),
    ]
    for place, name, known, what in wanted:
        source.require(place, name, known, what)
    return page


class Axis(Strict):
    """The parameter of the rows or columns, and the title of the axis."""

    parameter: Text
    title: Text


class Matrix(Strict):
    """A matrix of the runs of a scenario, an entry of ``matrices.yaml``.

    It has a row and a column for each value of two parameters, such as the protocols of two flows.

    Attributes:
        scenario: the scenario of the runs.
        metric: metric in a cell; its mean if a cell has several runs. Each flow or link of which it
            is has a matrix of its own.
        rows, columns: the parameters; one matrix is drawn for each combination of the other
            parameters. Without columns, a row is a change of the runs of other scenarios that have
            the same values of the parameters in ``alike``, and has a bar of what it changes.
        alike: see there.
        panels: a third parameter, each value of which has a panel in one chart, side by side and in
            the same colours.
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
    columns: Axis | None = None
    alike: list[Text] = Field(default_factory=list)
    panels: Text | None = None
    only: dict[Text, list[Scalar]] = Field(default_factory=dict)
    mean_over: list[Text] = Field(default_factory=list)
    ends: tuple[Finite, Finite] | None = Field(None, strict=False)
    caption: str = ""

    @property
    def places(self) -> list[str]:
        """Parameters that determine the place of a run."""
        return [
            name for key, name in self.parameters.items() if key[0] not in ("mean_over", "alike")
        ]

    @property
    def about_zero(self) -> bool:
        """Whether the colours distinguish the sides of 0."""
        return self.ends is not None and self.ends[0] == -self.ends[1]

    @property
    def parameters(self) -> dict[Location, str]:
        """Each key that names a parameter → the parameter."""
        return {
            ("rows", "parameter"): self.rows.parameter,
            **({("columns", "parameter"): self.columns.parameter} if self.columns else {}),
            **{("alike", index): each for index, each in enumerate(self.alike)},
            **({("panels",): self.panels} if self.panels else {}),
            **{("mean_over", index): each for index, each in enumerate(self.mean_over)},
        }

    @model_validator(mode="after")
    def _keys_go_together(self) -> Matrix:
        if (self.columns is None) == (not self.alike):
            raise ValueError(
                "a matrix has columns, and what shows changes has alike in their place"
            )
        seen: set[str] = set()
        for place, name in self.parameters.items():
            if name in seen:
                raise ValueError(f"{place[0]}: {name} is already part of the matrix")
            seen.add(name)
        if self.ends is not None and self.ends[0] >= self.ends[1]:
            low, high = self.ends
            raise ValueError(f"ends: the first, {low:g}, must be below the second, {high:g}")
        return self


class _Matrices(Strict):
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
    matrices = source.validate(_Matrices).matrices
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


# windowOption_ of an agent whose settings do not set it.
STANDARD_TCP = 1


class ShownEquation(Equation):
    """An equation with its MathML, written by hand."""

    mathml: Text

    @field_validator("mathml")
    @classmethod
    def _is_mathml(cls, value: str) -> str:
        return checked_mathml(value)

    @property
    def markup(self) -> str:
        """The equation as inserted into the page."""
        return self.mathml


class ShownParameter(Parameter):
    """A parameter, whose variable can also be one of a module of Linux, such as ``beta``."""

    variable: str = Field("", pattern=r"^([a-z][A-Za-z0-9_]*)?$")


class ProtocolData(Strict):
    """One file of ``reports/protocols/``.

    Attributes:
        name: full name.
        agents: ns-2 agent classes, without "Agent/", that implement this protocol with ``option``.
        option: their windowOption_; absent for agents that do not read it.
        linux: the module that an Agent/TCP/Linux has; absent for other agents.
        summary: the idea in a few sentences.
        sources: sources of the page.
        equations: see ``ShownEquation``; ``notation`` explains symbols that are not parameters.
        parameters: see ``ShownParameter``.
        response: its response function, if that does not depend on the RTT.
        differs: how the implementation differs from the paper, and why.
    """

    name: Text
    agents: list[Text] = Field(min_length=1)
    option: int | None = None
    linux: Text | None = None
    summary: Text
    sources: list[Source] = Field(min_length=1)
    notation: Text
    equations: list[ShownEquation] = Field(min_length=1)
    parameters: list[ShownParameter]
    response: Response | None = None
    differs: list[Text] = Field(default_factory=list)

    def describes(self, protocol: Protocol) -> bool:
        """Whether a protocol of a study is this one, by its agent, module and windowOption_."""
        if protocol.agent not in self.agents or protocol.linux != self.linux:
            return False
        option = protocol.settings.get("windowOption_", STANDARD_TCP)
        return self.option is None or option == self.option


def read_protocols(folder: Path | None = None) -> list[ProtocolData]:
    """All files of ``reports/protocols/``, sorted by name.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    folder = folder or repository_root() / "reports" / "protocols"
    return [_read(path, path.stat().st_mtime_ns) for path in sorted(folder.glob("*.yaml"))]


@cache
def _read(path: Path, mtime_ns: int) -> ProtocolData:
    """A file with the modification time ``mtime_ns``."""
    return YamlFile(path).validate(ProtocolData)


def data_of(
    protocol: Protocol, known: Sequence[ProtocolData]
) -> ProtocolData | ProtocolFile | None:
    """The description of a study's protocol, or of its folder; None if there is none."""
    if protocol.folder:
        return ProtocolFolder(Path(protocol.folder)).file
    return next((each for each in known if each.describes(protocol)), None)


class Erratum(Strict):
    """An entry of ``reports/errata.yaml``: a fault that changes what a law does, and is kept.

    Attributes:
        title: of the entry.
        agents: ns-2 agent classes that have it, without "Agent/".
        modules: modules of TCP/Linux that have it; empty if it is one of the agent itself.
        text: what is wrong, and what would be right.
        effect: what was measured, with its path.
        source: files that show it.
    """

    title: Text
    agents: list[Text] = Field(min_length=1)
    modules: list[Text] = Field(default_factory=list)
    text: Text
    effect: Text
    source: Text

    def concerns(self, protocol: Protocol) -> bool:
        """Whether a protocol of a study has it."""
        named = not self.modules or protocol.linux in self.modules
        return protocol.agent in self.agents and named


class _Errata(Strict):
    errata: list[Erratum]


def read_errata() -> list[Erratum]:
    """All errata, in the order of the file.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    return YamlFile(repository_root() / "reports" / "errata.yaml").validate(_Errata).errata


def told_errata(protocols: Iterable[tuple[str, Protocol]]) -> list[tuple[Erratum, list[str]]]:
    """The errata that concern protocols, each with the labels of those."""
    known = list(protocols)
    found = (
        (each, [label for label, protocol in known if each.concerns(protocol)])
        for each in read_errata()
    )
    return [(each, labels) for each, labels in found if labels]
