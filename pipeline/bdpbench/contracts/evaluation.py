"""``evaluate.yaml``, ``evaluation.json`` and ``cells.parquet``: protocols beside those of studies.

A study may have ``evaluate.yaml`` beside its ``study.yaml`` (``studies/evaluate.py``): which
scenarios take a newcomer and in whose place, and the parts, i.e. tables and figures of the paper,
that their metrics make. ``config/evaluation/`` is a study of the same form, without a paper, whose
parts are the judged figures and RFC 9743's questions. A newcomer's runs are planned, simulated and
measured like any others; those of the same id that are published, and all runs of other protocols,
have the values of the published ``metrics.parquet``.

An evaluation is the document and the table of its cells; ranks and answers follow from them
(``Judgement``). Cells of a part share a row if they have the same ``row``, a column if
they have the same ``column`` and ``x``:

- ``table``: a row for each protocol, a column for each ``Column``.
- ``matrix``: a row for each protocol that takes the first place, a column for each ``beside``.
- ``curve``: a line for each protocol over the parameter ``x``, a panel for each ``panel``.

A value is a mean over the runs that differ in nothing but their repetition, or in the small changes
that the part names where nothing is random; ``low`` and ``high`` are the interval that the column's
``interval`` words describe.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_type_hints

from pydantic import Field, model_validator
from typing_extensions import TypedDict

from bdpbench.contracts.documents import reader, write_record_atomically
from bdpbench.contracts.files import sha256_of, write_atomically
from bdpbench.contracts.judged import Better, Found, Judged
from bdpbench.contracts.plan import Scalar
from bdpbench.contracts.reports import Version
from bdpbench.contracts.yaml_files import Key, Label, ParameterName, Strict, Text, Title
from bdpbench.errors import BdpbenchError

if TYPE_CHECKING:
    import polars as pl

EVALUATION_NAME = "evaluation.json"
CELLS_NAME = "cells.parquet"
EVALUATION_VERSION = 5

Choice = Literal["quick", "full"]
Status = Literal["published", "simulated", "failed", "missing"]
"""Where a run's values come from; of what was not published or simulated, why it has none."""


class EvaluatedProtocol(Strict):
    """A protocol of the document: one that is evaluated, which come first, or one of the studies.

    ``key`` is its name here and in the cells: of the studies' protocols the common name
    (``known_as`` of their ``atlas.yaml``), else ``STUDY:KEY``. ``source`` is what the user named.
    """

    key: str
    label: str
    colour: str
    evaluated: bool
    source: str


class ColumnFile(Strict):
    """A metric of runs that a part shows."""

    title: Label = Field("", description="Heading; the title of the metric if absent")
    scenario: Key
    metric: Label
    subject: Label = Field("run", description="run, flow:0 or link:bottleneck")
    only: dict[ParameterName, list[Scalar]] = Field(
        default_factory=dict, description="Runs with one of these values; all if absent"
    )
    mean_over: list[ParameterName] = Field(
        default_factory=list, description="Parameters over whose values the mean is taken"
    )
    quick: bool = Field(
        True, description="Whether the quick choice shows it, whose runs may be too short for it"
    )
    good: str = Field(
        "", description="What a protocol is good at that is better here than most: short queues"
    )


class Column(ColumnFile):
    """A column of the document: what values are, and how they are judged, see ``JudgedDocument``.

    ``interval`` says in words what ``low`` and ``high`` are.
    """

    unit: str = ""
    better: Better = ""
    apart: float = 0.0
    reference: float | None = None
    interval: str = ""

    @property
    def judged(self) -> Judged:
        """How its values are judged."""
        return Judged(self.better, self.apart, self.reference, self.unit)


class PartRun(Strict):
    """A run that a part shows, as in the plan; ``evaluated``: a newcomer takes part."""

    run_id: str
    scenario: str
    label: str
    protocol: str
    evaluated: bool
    status: Status


class PartFile(Strict):
    """A table or a figure of the study."""

    title: Title
    text: str = Field("", description="What it shows, for readers")
    shows: list[Label] = Field(
        default_factory=list, description="What of the paper it is, e.g. Table 1"
    )
    kind: Literal["table", "matrix", "curve"]
    rows: ParameterName | None = Field(
        None, description="Parameter that makes several rows for a protocol"
    )
    x: ParameterName | None = Field(None, description="Parameter of a curve's axis")
    panels: ParameterName | None = Field(None, description="Parameter whose values make panels")
    columns: dict[Key, ColumnFile] = Field(min_length=1)

    @model_validator(mode="after")
    def _fits_its_kind(self) -> PartFile:
        if (self.kind == "curve") != (self.x is not None):
            raise ValueError("a curve has x, and nothing else has it")
        if self.kind in ("curve", "matrix") and len(self.columns) != 1:
            raise ValueError(f"a {self.kind} has one column")
        return self


class Part(PartFile):
    """A part of the document, with the columns that the choice shows, and all runs behind it.

    ``x_unit`` and ``x_title`` are of a curve's axis; ``in_place_of`` has the labels of the
    protocols whose places the newcomers take.
    """

    columns: dict[str, Column]  # type: ignore[assignment]  # of the same keys
    x_unit: str = ""
    x_title: str = ""
    in_place_of: list[str]
    runs: list[PartRun]


class FigureFile(Strict):
    """A column of a part that readers judge by."""

    question: Title
    text: Text = Field(description="What is measured on which path, in sentences")
    part: Key
    column: Key


class CriterionFile(Strict):
    """A question of RFC 9743, and the rule that answers it from a column."""

    question: Title
    section: Label = Field(description="Section of the RFC")
    text: Text = Field(description="What is simulated, or why that cannot be simulated")
    part: Key | None = None
    column: Key | None = None
    least: float | None = Field(None, description="A value below it does not pass")
    most: float | None = Field(None, description="A value above it does not pass")
    times: float | None = Field(
        None, gt=0, description="Times the value of the protocol `of`, as which the bound is meant"
    )
    of: Label = Field("", description="Common name of that protocol")
    source: str = Field("", description="Where the rule comes from")
    harms: str = Field("", description="Whom a protocol harms that does not pass: standard TCP")

    @model_validator(mode="after")
    def _has_one_rule(self) -> CriterionFile:
        rules = [self.least is not None, self.most is not None]
        if self.part is None:
            if self.column or any(rules) or self.of or self.source:
                raise ValueError("without a part there is no column, rule or source")
        elif self.column is None or sum(rules) != 1 or not self.source:
            raise ValueError("expected column, source, and one of least and most")
        if (self.times is None) != (not self.of):
            raise ValueError("times and of belong together")
        return self


class EvaluatedStudy(Strict):
    """A study's parts. ``paper``: whether it reproduces one; ``names``: common name → key.

    ``against`` has pairs of figures that a picture shows against each other.
    """

    key: str
    title: str
    paper: bool
    parts: dict[str, Part]
    figures: dict[str, FigureFile]
    criteria: dict[str, CriterionFile]
    against: list[list[str]] = Field(default_factory=list)
    names: dict[str, str]


class Problem(Strict):
    """Something that could not be evaluated, and why; ``protocol`` and ``study`` may be ""."""

    protocol: str
    study: str
    said: str


class Evaluation(Strict):
    """Content of ``evaluation.json``, which vouches for the table of cells.

    ``runs`` counts those of the evaluated protocols, ``cpu_s`` is what simulated ones took, s.
    """

    schema_version: int = EVALUATION_VERSION
    name: str
    choice: Choice
    bdpbench: Version
    ns2_build_id: str
    protocols: list[EvaluatedProtocol]
    studies: list[EvaluatedStudy]
    problems: list[Problem]
    runs: dict[Status, int]
    cpu_s: float
    cells_sha256: str = ""

    @property
    def evaluated(self) -> list[EvaluatedProtocol]:
        """The evaluated protocols."""
        return [each for each in self.protocols if each.evaluated]

    @property
    def labels(self) -> dict[str, str]:
        """Key → label of all protocols."""
        return {each.key: each.label for each in self.protocols}

    @property
    def columns(self) -> dict[tuple[str, str, str], Column]:
        """(study, part, column) → the column."""
        return {
            (study.key, key, name): column
            for study in self.studies
            for key, part in study.parts.items()
            for name, column in part.columns.items()
        }

    @property
    def lacking(self) -> str:
        """What an evaluation that is not complete lacks: runs, or protocols that were named."""
        lacking = self.runs["failed"] + self.runs["missing"]
        left_out = any(not each.study for each in self.problems)
        return f"{lacking} runs" if lacking else "a protocol" if left_out else ""


class Cell(TypedDict):
    """A row of ``cells.parquet``, a cell of a part.

    - ``own_key``: the protocol's key in the study, "" for a newcomer;
    - ``evaluated``: whether an evaluated protocol takes part, here or as ``beside``;
    - ``row``: what else the row is about, such as a case of the paper, or "";
    - ``beside``: the other protocol of a pair, "" without one;
    - ``panel``: value of the panels' parameter as text, or "";
    - ``x``: value of a curve's parameter, else null;
    - ``value``, ``low``, ``high``: median and interval; all are null if there is no median, and the
      interval alone is null if there is one run;
    - ``values``: of the single runs, null where a run never reached it; ``run_ids``: likewise;
    - ``source``: published, simulated, both, or "" without runs;
    - ``why``: why there is no value, "" if there is one.
    """

    study: str
    part: str
    column: str
    protocol: str
    own_key: str
    evaluated: bool
    row: str
    beside: str
    panel: str
    x: float | None
    metric: str
    subject: str
    unit: str
    value: float | None
    low: float | None
    high: float | None
    values: list[float | None]
    run_ids: list[str]
    source: str
    why: str


def found_of(cell: Cell | None) -> Found:
    """The value of a cell with its interval."""
    return Found(cell["value"], cell["low"], cell["high"]) if cell else Found(None)


def never_reached(why: str) -> bool:
    """Whether a value is none because what is measured was never reached: that has a place, too."""
    return why.startswith("never reached")


class Ranked(Cell):
    """A cell with its rank among the cells that differ from it in nothing but the protocol.

    1 is the best of ``of``; null without a value, but what was never reached comes last. ``place``
    is ``first`` or ``last`` if that is known (``contracts/judged.py``), else "", and ``unsure`` if
    the order of this one and another is open, since their intervals overlap. ``printed`` is the
    number that the study prints for it, null without one.
    """

    rank: int | None
    of: int
    place: Literal["first", "last", ""]
    unsure: bool
    printed: float | None


def group_of(cell: Cell) -> tuple[object, ...]:
    """What a cell has in common with those that it is compared with."""
    place = (cell["study"], cell["part"], cell["column"])
    return *place, cell["row"], cell["beside"], cell["panel"], cell["x"]


@dataclass(frozen=True)
class Figure:
    """A judged figure, and the cells of all protocols, in the order of the document."""

    key: str
    text: str
    column: Column
    values: Sequence[Ranked]


@dataclass(frozen=True)
class Answer:
    """What one protocol's cells say to a criterion: ``passes`` is None where nothing is known.

    ``by_chance``: the interval of a cell has values that pass, and others that do not.
    """

    protocol: str
    passes: bool | None
    worst: float | None
    runs: list[str]
    why: str
    by_chance: bool = False


@dataclass(frozen=True)
class Criterion:
    """A question of RFC 9743 with the answers of all protocols.

    Attributes:
        key, file: as in ``evaluate.yaml``.
        unit: of the values that it is judged by.
        rule: in words, with what it comes to, e.g. "at most 150 ms, or what CUBIC has (998 ms);
            that is at most 998 ms".
        bound: what it comes to.
        reference: value of the other protocol that the rule names; None without one.
        answers: empty, as all before, if nothing is simulated.
        column, values: what it is answered from, as of a ``Figure``.
    """

    key: str
    file: CriterionFile
    unit: str = ""
    rule: str = ""
    bound: float | None = None
    reference: float | None = None
    answers: Sequence[Answer] = ()
    column: Column | None = None
    values: Sequence[Ranked] = ()


@dataclass(frozen=True)
class Judgement:
    """An evaluation, all its cells with their ranks, and what follows from them."""

    evaluation: Evaluation
    cells: Sequence[Ranked]
    figures: Sequence[Figure]
    criteria: Sequence[Criterion]


def cells_schema() -> dict[str, pl.DataType]:
    """Types of the columns of ``cells.parquet``, see ``Cell``."""
    import polars as pl

    types: dict[object, pl.DataType] = {
        str: pl.String(),
        bool: pl.Boolean(),
        float | None: pl.Float64(),
        list[float | None]: pl.List(pl.Float64),
        list[str]: pl.List(pl.String),
    }
    return {name: types[kind] for name, kind in get_type_hints(Cell).items()}


def write_evaluation(folder: Path, evaluation: Evaluation, cells: pl.DataFrame) -> None:
    """Write both files, the document last."""
    path = folder / CELLS_NAME
    write_atomically(path, cells.write_parquet)
    vouching = evaluation.model_copy(update={"cells_sha256": sha256_of(path)})
    write_record_atomically(folder / EVALUATION_NAME, vouching.model_dump())


_read = reader(Evaluation, "an evaluation of `bdpbench evaluate`", EVALUATION_VERSION)


def read_evaluation(folder: Path) -> tuple[Evaluation, pl.DataFrame]:
    """Read both files.

    Raises:
        BdpbenchError: when one is missing, damaged or of another version.
    """
    import polars as pl

    if not folder.is_dir():
        hint = "name a folder of `bdpbench evaluate`; unpack an archive of one first"
        raise BdpbenchError("is not a folder", where=str(folder), hint=hint)
    found, path = _read(folder / EVALUATION_NAME), folder / CELLS_NAME
    try:
        if sha256_of(path) != found.cells_sha256:
            said = f"is not the table that {EVALUATION_NAME} vouches for"
            raise BdpbenchError(said, where=str(path), hint="the same call of evaluate makes it")
        return found, pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise BdpbenchError(f"is not a table of cells ({error})", where=str(path)) from None
