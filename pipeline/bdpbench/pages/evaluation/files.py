"""An evaluation as files for a paper: tables, figures with captions, and all values.

Tables are those of the page, as LaTeX, Markdown and CSV; the rows of the evaluated protocols come
first. CSV has the unrounded values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from bdpbench.contracts.documents import csv_of
from bdpbench.contracts.evaluation import Answer, Criterion, Ranked, cells_schema
from bdpbench.pages.evaluation.page import EvaluationReport, rank_of, standing_of, verdict_of
from bdpbench.pages.evaluation.parts import ShownPart, value_text
from bdpbench.pages.exports import (
    ExportRequest,
    Renderer,
    named,
    paper_files,
)
from bdpbench.pages.inputs import read_captions
from bdpbench.pages.tables import Cell, Column, PaperTable
from bdpbench.pages.text import format_number, joined
from bdpbench.units import axis_title, slug

CELLS_NAME = "cells.csv"
"""All cells, unrounded."""


def evaluation_tables(report: EvaluationReport) -> Iterator[PaperTable]:
    """The tables of an evaluation: standings, criteria, and each part's own."""
    if report.judgement.figures:
        yield _standings(report)
    if report.judgement.criteria:
        yield _criteria(report)
    values = _values(report)
    for study, parts in report.parts.studies:
        for key, part in parts.items():
            if part.rows:
                yield _of_part(part, values.filter(study=study.key, part=key))


def _standings(report: EvaluationReport) -> PaperTable:
    figures, labels = report.judgement.figures, report.evaluation.labels
    heads = [(axis_title(each.column.title, each.column.unit), each.key) for each in figures]
    rows = [
        (
            protocol.label,
            *(
                joined(standing_of(value), f"({rank})" if rank else "", by=" ")
                for figure, value in found
                for rank in [rank_of(figure, value)]
            ),
        )
        for protocol, found in report.standings
    ]
    names = ("value", "unit", "low", "high", "rank", "of")
    data: list[dict[str, Cell]] = [
        {"protocol": labels[each["protocol"]], "figure": figure.key}
        | {name: each[name] for name in names}  # type: ignore[literal-required]
        | {"runs": " ".join(each["run_ids"])}
        for figure in figures
        for each in figure.values
    ]
    return PaperTable(
        name="standings",
        title="Judged figures of all protocols, with their ranks",
        columns=(Column("Protocol", "protocol"), *(Column(*each, numeric=True) for each in heads)),
        rows=tuple(rows),
        data=tuple(data),
    )


def _criteria(report: EvaluationReport) -> PaperTable:
    labels = [each.label for each in report.evaluation.evaluated]
    criteria = [each for found in report.criteria.values() for each in found]
    rows = [
        (
            each.file.section,
            each.file.question,
            each.rule or "–",
            *(joined(verdict.label, worst) for _, verdict, worst, _ in report.answers(each)),
        )
        for each in criteria
    ]
    return PaperTable(
        name="rfc9743",
        title="Criteria of RFC 9743",
        columns=(
            Column("Section", "section"),
            Column("Question", "question"),
            Column("Rule", "rule"),
            *(Column(label, slug(label).replace("-", "_")) for label in labels),
        ),
        rows=tuple(rows),
        data=tuple(row for each in criteria for row in _answers(each, report)),
    )


def _answers(criterion: Criterion, report: EvaluationReport) -> Iterator[dict[str, Cell]]:
    """The answers of all protocols, unrounded; one empty row where nothing is simulated."""
    told, answers = criterion.file, list[Answer | None](criterion.answers) or [None]
    for answer in answers:
        verdict, _, runs = verdict_of(answer, criterion)
        yield {
            "section": told.section,
            "question": told.question,
            "rule": criterion.rule,
            "source": told.source,
            "unit": criterion.unit,
            "bound": criterion.bound,
            "reference": criterion.reference,
            "protocol": report.evaluation.labels[answer.protocol] if answer else "",
            "verdict": verdict.label,
            "value": answer.worst if answer else None,
            "runs": " ".join(runs),
        }


def _of_part(shown: ShownPart, values: pl.DataFrame) -> PaperTable:
    case = (Column("Case", "case"),) if shown.has_rows else ()
    heads = [
        Column(axis_title(*each), f"column_{n}", numeric=True) for n, each in enumerate(shown.heads)
    ]
    rows = [
        (*((row.row,) if shown.has_rows else ()), row.label, *map(_with_print, row.cells))
        for row in shown.rows
    ]
    printed = "; printed values in brackets" if shown.has_prints else ""
    shows = f" ({', '.join(shown.part.shows)})" if shown.part.shows else ""
    return PaperTable(
        name=shown.anchor.removeprefix("part-"),
        title=f"{joined(shown.part.title + shows, shown.quantity, by=': ')}{printed}",
        columns=(*case, Column("Protocol", "protocol"), *heads),
        rows=tuple(rows),
        data=tuple(values.to_dicts()),
        run_ids=tuple(dict.fromkeys(run for cell in shown.cells for run in cell["run_ids"])),
    )


def _with_print(cell: Ranked | None) -> str:
    printed = cell["printed"] if cell else None
    own = "" if printed is None else f" [{format_number(printed, like=printed)}]"
    return value_text(cell) + own


def _values(report: EvaluationReport) -> pl.DataFrame:
    """All cells, unrounded, with the labels of protocols and what their studies print."""
    schema = {**cells_schema(), "printed": pl.Float64()}
    return pl.DataFrame(list(report.judgement.cells), schema=schema).with_columns(
        pl.col("protocol", "beside").replace(report.evaluation.labels),
        pl.col("values").cast(pl.List(pl.String)).list.join(" ", ignore_nulls=True),
        pl.col("run_ids").list.join(" ", ignore_nulls=True),
    )


def evaluation_files(
    report: EvaluationReport, formats: Sequence[str], origin: str
) -> Iterator[tuple[str, bytes]]:
    """Tables, figures and values as files, one after the other, as ``export_files``."""
    figures = named((each.chart_id, "", each.title, each) for each in report.charts)
    tables, values = list(evaluation_tables(report)), _values(report)
    renderer, request = Renderer({}, read_captions()), ExportRequest(tuple(formats), origin)
    yield from paper_files(figures, tables, renderer, request, {}, values)
    yield CELLS_NAME, csv_of(values.columns, values.to_dicts()).encode()
