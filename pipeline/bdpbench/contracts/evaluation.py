"""``evaluation.json`` and ``cells.parquet``: protocols put beside those of the studies.

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

What it leaves in ``results/evaluations/NAME/`` is this document and the table of its cells, which
is all that pages and exports need; series over time come from the folders of the simulated runs,
and from the published report for the others. Cells of a part share a row if they have the same
``row``, a column if they have the same ``column`` and ``x``:

- ``table``: a row for each protocol, a column for each ``Column``.
- ``matrix``: a row for each protocol that takes the first place, a column for each ``beside``.
- ``curve``: a line for each protocol over the parameter ``x``, a panel for each ``panel``.
- ``history``: no values; ``Part["runs"]`` has the runs whose cwnd and queue are shown over time.

A value is a mean over the runs that differ in nothing but their repetition, or in the small changes
that the part names where nothing is random; ``low`` and ``high`` are the interval that the column's
``interval`` words describe. Ranks are over all protocols that have a value, 1 is the best.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NotRequired

from typing_extensions import TypedDict

from bdpbench.contracts.documents import reader, write_record_atomically
from bdpbench.contracts.files import sha256_of, write_atomically
from bdpbench.contracts.judged import JudgedDocument
from bdpbench.contracts.reports import Version
from bdpbench.errors import BdpbenchError

if TYPE_CHECKING:
    import polars as pl

EVALUATION_NAME = "evaluation.json"
CELLS_NAME = "cells.parquet"
_COMING_NAME = "cells.parquet.next"
GALLERY = "reports/gallery.json"
"""The evaluation of the documentation's gallery, without its parts, in the checkout."""
EVALUATION_VERSION = 2

Choice = Literal["quick", "full"]
PartKind = Literal["table", "matrix", "curve", "history"]


class EvaluatedProtocol(TypedDict):
    """A protocol of the document: one that is evaluated, or one of the studies.

    Attributes:
        key: its name in this document and in the cells; of the studies' protocols the common name
            (``known_as`` of their ``atlas.yaml``), else ``STUDY:KEY``.
        label, colour: in tables and plots (#rrggbb).
        evaluated: whether it is evaluated; those come first.
        source: what the user named: a folder, from the checkout, or ``STUDY:KEY``.
        folder: its folder, from the checkout, "" if it has none.
        known_as: study → its keys there.
        relative: of an evaluated one, the key of the other protocol whose judged figures are
            nearest to its own; "" if too few figures are known.
    """

    key: str
    label: str
    colour: str
    evaluated: bool
    source: str
    folder: str
    known_as: dict[str, list[str]]
    relative: str


class Column(JudgedDocument):
    """What the values of a column, or all values of a matrix or curve, are, and their judgement.

    Attributes:
        key: in the cells.
        title: of the column.
        scenario: key in the study.
        metric, subject: as in ``metrics.parquet``, e.g. ``goodput`` of ``flow:0``.
        unit: of the values; "1" for a ratio.
        definition: of the metric, in sentences.
        interval: in words, what ``low`` and ``high`` are.
    """

    key: str
    title: str
    scenario: str
    metric: str
    subject: str
    unit: str
    definition: str
    interval: str


class PartRun(TypedDict):
    """A run that a part shows.

    Attributes:
        run_id, scenario, label: as in the plan.
        protocol, beside: keys in this document; ``beside`` is "" if there is no other protocol.
        evaluated: whether an evaluated protocol takes part.
        status: ``published`` values, ``simulated`` here, ``failed``, or ``missing`` (neither).
    """

    run_id: str
    scenario: str
    label: str
    protocol: str
    beside: str
    evaluated: bool
    status: Literal["published", "simulated", "failed", "missing"]


class Part(TypedDict):
    """A table or figure of a study with the evaluated protocols in it.

    Attributes:
        key: in the study's ``evaluate.yaml``.
        title, text: for readers.
        shows: what of the paper it is, e.g. ``["Table 1"]``; empty if it has no counterpart.
        kind: how its cells are laid out, see above.
        columns: of a table; of the other kinds, the one column of all values.
        x: parameter of a curve's axis, with its unit and description; "" elsewhere.
        panels: parameter whose values make panels; "" without panels.
        in_place_of: scenario → label of the protocol whose place the newcomers take.
        runs: all runs behind it.
    """

    key: str
    title: str
    text: str
    shows: list[str]
    kind: PartKind
    columns: list[Column]
    x: str
    x_unit: str
    x_title: str
    panels: str
    in_place_of: dict[str, str]
    runs: list[PartRun]


class EvaluatedStudy(TypedDict):
    """A study's parts. ``paper``: whether it reproduces one; ``folder``: from the checkout."""

    key: str
    title: str
    folder: str
    paper: bool
    parts: list[Part]


class FigureValue(TypedDict):
    """A protocol's value of a judged figure.

    ``low`` and ``high`` are null with ``value``; ``why`` then says why it has none. ``rank`` is
    that of ``places`` (``contracts/judged.py``), ``of`` is how many protocols have one. ``unsure``
    lists the protocols of other ranks whose intervals overlap with this one's, so that the order of
    the two is not known.
    """

    protocol: str
    value: float | None
    low: float | None
    high: float | None
    rank: int | None
    of: int
    unsure: list[str]
    runs: list[str]
    why: str


def never_reached(value: float | None, why: str) -> bool:
    """Whether a value is none because what is measured was never reached: that has a place, too."""
    return value is None and why.startswith("never reached")


class Figure(JudgedDocument):
    """One of the figures that a reader judges by.

    Attributes:
        key, title, unit: as of its column, as is how it is judged.
        text: what it is, in sentences, including the path that it is measured on.
        question: what it answers.
        study, part, column: where its cells are.
        values: of all protocols, in the order of the document.
    """

    key: str
    title: str
    unit: str
    text: str
    question: str
    study: str
    part: str
    column: str
    values: list[FigureValue]


class Answer(TypedDict):
    """What one protocol's cells say to a criterion: ``passes`` is null where nothing is known."""

    protocol: str
    passes: bool | None
    worst: float | None
    runs: list[str]
    why: str


class Criterion(TypedDict):
    """A question of RFC 9743, answered by a rule over the cells of a column.

    Attributes:
        key: in the study's ``evaluate.yaml``.
        title: the question.
        section: of the RFC.
        text: what is simulated, or why a simulator cannot answer it.
        rule: in words, with what it comes to, e.g. "at most 150 ms, or what CUBIC has (998 ms);
            that is at most 998 ms"; "" if nothing is simulated.
        bound: what it comes to; null if nothing is simulated.
        reference: value of the other protocol that the rule names; null if it names none, or if
            that has no value.
        source: where the rule comes from; "" if nothing is simulated.
        study, part, column: where its cells are; "" if nothing is simulated.
        answers: of all protocols; empty if nothing is simulated.
    """

    key: str
    title: str
    section: str
    text: str
    rule: str
    bound: float | None
    reference: float | None
    source: str
    study: str
    part: str
    column: str
    answers: list[Answer]


class Problem(TypedDict):
    """Something that could not be evaluated, and why; ``study`` and ``part`` may be ""."""

    protocol: str
    study: str
    part: str
    said: str


class Cost(TypedDict):
    """Numbers of runs of the evaluated protocols, and CPU time of those that were simulated, s."""

    simulated: int
    published: int
    failed: int
    missing: int
    cpu_s: float


class Evaluation(TypedDict):
    """Content of ``evaluation.json``; ``cells_sha256`` is that of the table that belongs to it."""

    schema_version: int
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
    description: NotRequired[str]
    cells_sha256: NotRequired[str]


read_evaluation_document = reader(
    Evaluation, "an evaluation of `bdpbench evaluate`", EVALUATION_VERSION
)
"""Reads ``evaluation.json``, or the same document under another name, without its cells."""


def cells_schema() -> dict[str, pl.DataType]:
    """Columns of ``cells.parquet``, a row for each cell of a part.

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
    import polars as pl

    return {
        **dict.fromkeys(("study", "part", "column", "protocol", "own_key"), pl.String()),
        "evaluated": pl.Boolean(),
        **dict.fromkeys(("row", "beside", "panel"), pl.String()),
        "x": pl.Float64(),
        **dict.fromkeys(("metric", "subject", "unit"), pl.String()),
        **dict.fromkeys(("value", "low", "high"), pl.Float64()),
        "values": pl.List(pl.Float64),
        "run_ids": pl.List(pl.String),
        **dict.fromkeys(("source", "why"), pl.String()),
    }


def write_evaluation(folder: Path, evaluation: Evaluation, cells: pl.DataFrame) -> None:
    """Write both files; whenever this is killed, the folder has the earlier pair or this one.

    The cells are beside the earlier ones until the document names them.
    """
    coming = folder / _COMING_NAME
    if coming.is_file():  # a call was killed; these may be the cells that the document names
        with suppress(BdpbenchError, FileNotFoundError):
            named_path = _cells_path(folder, read_evaluation_document(folder / EVALUATION_NAME))
            named_path.replace(folder / CELLS_NAME)
    write_atomically(coming, cells.write_parquet)
    named: Evaluation = {**evaluation, "cells_sha256": sha256_of(coming)}
    write_record_atomically(folder / EVALUATION_NAME, named)
    coming.replace(folder / CELLS_NAME)


def _cells_path(folder: Path, evaluation: Evaluation) -> Path:
    """The cells that a document names, which do not have their name yet after a kill."""
    coming = folder / _COMING_NAME
    is_named = coming.is_file() and sha256_of(coming) == evaluation.get("cells_sha256")
    return coming if is_named else folder / CELLS_NAME


def read_evaluation(folder: Path) -> tuple[Evaluation, pl.DataFrame]:
    """Read both files.

    Raises:
        BdpbenchError: when one is missing, damaged or of another version, or when they do not
            belong together.
    """
    import polars as pl

    found = read_evaluation_document(folder / EVALUATION_NAME)
    path = _cells_path(folder, found)
    if path.is_file() and sha256_of(path) != found.get("cells_sha256"):
        raise BdpbenchError(
            f"does not belong to the {EVALUATION_NAME} beside it",
            where=str(path),
            hint="call evaluate again: what was simulated is kept",
        )
    try:
        cells = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise BdpbenchError(f"is not a table of cells ({error})", where=str(path)) from None
    if dict(cells.schema) != cells_schema():
        raise BdpbenchError(
            f"is not a table of cells: it has the columns {', '.join(cells.columns)}",
            where=str(path),
        )
    return found, cells
