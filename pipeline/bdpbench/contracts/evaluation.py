"""``evaluate.yaml``, ``evaluation.json`` and ``cells.parquet``: protocols beside those of studies.

How an evaluation comes about. A study may have ``evaluate.yaml`` beside its ``study.yaml``
(``studies/evaluate.py``): which scenarios take a newcomer and in whose place, and the parts, i.e.
tables and figures of the paper, that their metrics make. ``config/evaluation/`` is a study of the
same form, without a paper, whose parts are the judged figures and RFC 9743's questions. For each of
these studies ``app/evaluate/`` copies the grid of parameters of the published tier, keeps the
points that have the replaced protocol in the newcomer's place, writes the newcomer there, and
resolves them to runs as ever (``plan_run``); they make a ``plan.json`` like any other, in
``results/evaluations/NAME/<study>/``, and are simulated and measured by the same stages. A run that
was published under the same id is not simulated; its values are taken. All other protocols' values
come from the published ``metrics.parquet``, so nothing of theirs is simulated.

What it leaves in ``results/evaluations/NAME/`` is the document and the table of its cells, which
is all that pages and exports need; series over time come from the folders of the simulated runs,
and from the published report for the others. A part, column, figure or criterion of the document is
that of ``evaluate.yaml`` with what was found. Cells of a part share a row if they have the same
``row``, a column if they have the same ``column`` and ``x``:

- ``table``: a row for each protocol, a column for each ``Column``.
- ``matrix``: a row for each protocol that takes the first place, a column for each ``beside``.
- ``curve``: a line for each protocol over the parameter ``x``, a panel for each ``panel``.
- ``history``: no values; ``Part.runs`` has the runs whose cwnd and queue are shown over time.

A value is a mean over the runs that differ in nothing but their repetition, or in the small changes
that the part names where nothing is random; ``low`` and ``high`` are the interval that the column's
``interval`` words describe. Ranks are over all protocols that have a value, 1 is the best.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_type_hints

from pydantic import Field, model_validator
from typing_extensions import TypedDict

from bdpbench.contracts.documents import reader, write_record_atomically
from bdpbench.contracts.files import sha256_of, write_atomically
from bdpbench.contracts.judged import Better, Judged
from bdpbench.contracts.plan import Scalar
from bdpbench.contracts.reports import Version
from bdpbench.contracts.yaml_files import Key, Label, ParameterName, Strict, Text, Title
from bdpbench.errors import BdpbenchError

if TYPE_CHECKING:
    import polars as pl

EVALUATION_NAME = "evaluation.json"
CELLS_NAME = "cells.parquet"
EVALUATION_VERSION = 3

Choice = Literal["quick", "full"]
PartKind = Literal["table", "matrix", "curve", "history"]
Status = Literal["published", "simulated", "failed", "missing"]
"""Where a run's values come from; of what was not published or simulated, why it has none."""


class EvaluatedProtocol(Strict):
    """A protocol of the document: one that is evaluated, or one of the studies.

    Attributes:
        key: its name in this document and in the cells; of the studies' protocols the common name
            (``known_as`` of their ``atlas.yaml``), else ``STUDY:KEY``.
        label, colour: in tables and plots (#rrggbb).
        evaluated: whether it is evaluated; those come first.
        source: what the user named: a folder, from the checkout, or ``STUDY:KEY``.
        folder: its folder, from the checkout, "" if it has none.
        relative: of an evaluated one, the key of the other protocol whose judged figures are
            nearest to its own; "" if too few figures are known.
    """

    key: str
    label: str
    colour: str
    evaluated: bool
    source: str
    folder: str = ""
    relative: str = ""


class Quantity(Strict):
    """What values are, and how they are judged, see ``JudgedDocument``; unit "1" for a ratio."""

    title: str
    unit: str
    better: Better = ""
    apart: float = 0.0
    reference: float | None = None

    @property
    def judged(self) -> Judged:
        """How they are judged."""
        return Judged(self.better, self.apart, self.reference, self.unit)


class ColumnFile(Strict):
    """A metric of runs that a part shows."""

    title: Label = Field("", description="Heading; the title of the metric if absent")
    scenario: Key
    metric: Label = Field("", description="Metric; a history has none")
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


class Column(Quantity, ColumnFile):
    """A column of the document.

    Attributes:
        definition: of the metric, in sentences.
        interval: in words, what ``low`` and ``high`` are.
    """

    definition: str
    interval: str


class PartRun(Strict):
    """A run that a part shows.

    Attributes:
        run_id, scenario, label: as in the plan.
        protocol, beside: keys in this document; ``beside`` is "" if there is no other protocol.
        evaluated: whether an evaluated protocol takes part.
    """

    run_id: str
    scenario: str
    label: str
    protocol: str
    beside: str
    evaluated: bool
    status: Status


class PartFile(Strict):
    """A table or a figure of the study."""

    title: Title
    text: str = Field("", description="What it shows, for readers")
    shows: list[Label] = Field(
        default_factory=list, description="What of the paper it is, e.g. Table 1"
    )
    kind: PartKind
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
        if any((self.kind == "history") == bool(each.metric) for each in self.columns.values()):
            raise ValueError("a history has no metric, and every other column has one")
        return self


class Part(PartFile):
    """A part of the document, with the columns that the choice shows.

    Attributes:
        x_unit, x_title: unit and description of a curve's axis; "" elsewhere.
        in_place_of: scenario → label of the protocol whose place the newcomers take.
        runs: all runs behind it.
    """

    columns: dict[str, Column]  # type: ignore[assignment]  # of the same keys
    x_unit: str = ""
    x_title: str = ""
    in_place_of: dict[str, str]
    runs: list[PartRun]


class EvaluatedStudy(Strict):
    """A study's parts. ``paper``: whether it reproduces one; ``folder``: from the checkout."""

    key: str
    title: str
    folder: str
    paper: bool
    parts: dict[str, Part]


class FigureFile(Strict):
    """A column of a part that readers judge by."""

    question: Title
    text: Text = Field(description="What is measured on which path, in sentences")
    part: Key
    column: Key


class FigureValue(Strict):
    """A protocol's value of a judged figure.

    ``low`` and ``high`` are null with ``value``; ``why`` then says why it has none. ``rank`` is
    that of ``places`` (``contracts/judged.py``), ``of`` is how many protocols have one. ``unsure``
    lists the protocols of other ranks whose intervals overlap with this one's, so that the order of
    the two is not known; ``place`` is ``first`` or ``last`` if that is known, else "".
    """

    protocol: str
    value: float | None
    low: float | None
    high: float | None
    rank: int | None
    of: int
    unsure: list[str]
    place: Literal["first", "last", ""]
    runs: list[str]
    why: str


def never_reached(value: float | None, why: str) -> bool:
    """Whether a value is none because what is measured was never reached: that has a place, too."""
    return value is None and why.startswith("never reached")


class Figure(Quantity, FigureFile):
    """A judged figure of the document, whose study has the part, with all protocols' values."""

    key: str
    study: str
    values: list[FigureValue]


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
        None, description="Times the value of the protocol `of`, as which the bound is meant"
    )
    of: Label = Field("", description="Common name of that protocol")
    source: str = Field("", description="Where the rule comes from")

    @model_validator(mode="after")
    def _has_one_rule(self) -> CriterionFile:
        rules = [self.least is not None, self.most is not None]
        if self.part is None:
            if self.column or any(rules) or self.times is not None or self.of or self.source:
                raise ValueError("without a part there is no column, rule or source")
        elif self.column is None or sum(rules) != 1 or not self.source:
            raise ValueError("expected column, source, and one of least and most")
        if (self.times is None) != (not self.of):
            raise ValueError("times and of belong together")
        if self.times is not None and self.times <= 0:
            raise ValueError("times: expected a number greater than 0")
        return self


class Answer(Strict):
    """What one protocol's cells say to a criterion: ``passes`` is null where nothing is known."""

    protocol: str
    passes: bool | None
    worst: float | None
    runs: list[str]
    why: str


class Criterion(CriterionFile):
    """A question of the document, whose study has the part, if anything is simulated.

    Attributes:
        unit: of the values that it is judged by, "" if nothing is simulated.
        rule: in words, with what it comes to, e.g. "at most 150 ms, or what CUBIC has (998 ms);
            that is at most 998 ms"; "" if nothing is simulated.
        bound: what it comes to; null if nothing is simulated.
        reference: value of the other protocol that the rule names; null if it names none, or if
            that has no value.
        answers: of all protocols; empty if nothing is simulated.
    """

    key: str
    study: str
    unit: str
    rule: str
    bound: float | None
    reference: float | None
    answers: list[Answer]


class Problem(Strict):
    """Something that could not be evaluated, and why; ``protocol`` and ``study`` may be ""."""

    protocol: str
    study: str
    said: str


class Cost(Strict):
    """Numbers of runs of the evaluated protocols, and CPU time of those that were simulated, s."""

    simulated: int
    published: int
    failed: int
    missing: int
    cpu_s: float


class Evaluation(Strict):
    """Content of ``evaluation.json``; ``cells_sha256`` is that of the table that belongs to it."""

    schema_version: int = EVALUATION_VERSION
    name: str
    choice: Choice
    bdpbench: Version
    ns2_build_id: str
    protocols: list[EvaluatedProtocol]
    figures: list[Figure]
    criteria: list[Criterion]
    studies: list[EvaluatedStudy]
    problems: list[Problem]
    cost: Cost
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
    def parts(self) -> dict[tuple[str, str], Part]:
        """(study, part) → the part."""
        return {
            (study.key, key): part for study in self.studies for key, part in study.parts.items()
        }

    @property
    def columns(self) -> dict[tuple[str, str | None, str | None], Column]:
        """(study, part, column) → the column."""
        return {
            (*place, name): column
            for place, part in self.parts.items()
            for name, column in part.columns.items()
        }


read_evaluation_document = reader(
    Evaluation, "an evaluation of `bdpbench evaluate`", EVALUATION_VERSION
)
"""Reads ``evaluation.json``, or the same document under another name, without its cells."""


class Cell(TypedDict):
    """A row of ``cells.parquet``, a cell of a part.

    - ``study``, ``part``, ``column``: keys in the document;
    - ``protocol``: key in the document; ``own_key``: the key in the study, "" for a newcomer;
    - ``evaluated``: whether an evaluated protocol takes part, here or as ``beside``;
    - ``row``: what else the row is about, such as a case of the paper, or "";
    - ``beside``: the other protocol of a pair, "" without one;
    - ``panel``: value of the panels' parameter as text, or "";
    - ``x``: value of a curve's parameter, else null;
    - ``metric``, ``subject``, ``unit``;
    - ``value``, ``low``, ``high``: mean and interval; all are null if there is no mean, and the
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
    write_atomically(folder / CELLS_NAME, cells.write_parquet)
    named = evaluation.model_copy(update={"cells_sha256": sha256_of(folder / CELLS_NAME)})
    write_record_atomically(folder / EVALUATION_NAME, named.model_dump())


def read_evaluation(folder: Path) -> tuple[Evaluation, pl.DataFrame]:
    """Read both files.

    Raises:
        BdpbenchError: when one is missing, damaged or of another version, or when they do not
            belong together.
    """
    import polars as pl

    found, path = read_evaluation_document(folder / EVALUATION_NAME), folder / CELLS_NAME
    if path.is_file() and sha256_of(path) != found.cells_sha256:
        raise BdpbenchError(
            f"does not belong to the {EVALUATION_NAME} beside it",
            where=str(path),
            hint="call evaluate again: what was simulated is kept",
        )
    try:
        return found, pl.read_parquet(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise BdpbenchError(f"is not a table of cells ({error})", where=str(path)) from None
