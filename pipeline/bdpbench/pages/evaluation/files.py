"""An evaluation as files for a paper: tables, figures with captions, and all values.

Tables are those of the page, as LaTeX, Markdown and CSV; the rows of the evaluated protocols come
first. CSV has the unrounded values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from bdpbench.contracts.documents import csv_of
from bdpbench.contracts.evaluation import Criterion, Evaluation
from bdpbench.pages.evaluation.findings import unit_of
from bdpbench.pages.evaluation.page import EvaluationReport, Standing, verdict_of
from bdpbench.pages.evaluation.parts import PartTable, ShownPart
from bdpbench.pages.exports import (
    FIGURES_FOLDER,
    Caption,
    Contents,
    ExportRequest,
    Figure,
    Renderer,
    named,
    paper_files,
    printed_caption,
    run_ids_of,
    table_caption,
)
from bdpbench.pages.inputs import read_captions
from bdpbench.pages.tables import Cell, Column, PaperTable
from bdpbench.pages.text import joined
from bdpbench.units import axis_title, slug

CELLS_NAME = "cells.csv"
"""All cells, unrounded."""


def evaluation_tables(report: EvaluationReport) -> Iterator[PaperTable]:
    """The tables of an evaluation: standings, criteria, and each part's own."""
    if report.evaluation.figures:
        yield _standings(report)
    if report.evaluation.criteria:
        yield _criteria(report)
    for study in report.studies:
        for part in study.parts:
            if part.table is not None and part.table.rows:
                yield _of_part(part, part.table)


def _standings(report: EvaluationReport) -> PaperTable:
    figures = report.evaluation.figures
    columns = [
        Column(axis_title(each.title, each.unit), each.key, numeric=True) for each in figures
    ]
    rows = [(protocol.label, *map(_standing, found)) for protocol, found in report.standings]
    data = [
        {
            "protocol": protocol.label,
            "figure": each.figure.key,
            "value": each.value,
            "unit": each.figure.unit,
            "low": each.found.low if each.found else None,
            "high": each.found.high if each.found else None,
            "rank": each.found.rank if each.found else None,
            "of": each.found.of if each.found else None,
            "runs": " ".join(each.found.runs) if each.found else "",
        }
        for protocol, found in report.standings
        for each in found
    ]
    return PaperTable(
        name="standings",
        title="Judged figures of all protocols, with their ranks",
        columns=(Column("Protocol", "protocol"), *columns),
        rows=tuple(rows),
        data=tuple(data),
    )


def _standing(standing: Standing) -> str:
    return joined(standing.text, f"({standing.rank})" if standing.rank else "", by=" ")


def _criteria(report: EvaluationReport) -> PaperTable:
    labels = [each.label for each in report.evaluation.evaluated]
    answered = [each for _, found in report.criteria for each in found]
    rows = [
        (
            each.criterion.section,
            each.criterion.question,
            each.criterion.rule or "–",
            *(joined(verdict.label, worst) for _, verdict, worst, _ in each.answers),
        )
        for each in answered
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
        data=tuple(row for each in answered for row in _answers(each.criterion, report)),
    )


def _answers(criterion: Criterion, report: EvaluationReport) -> Iterator[dict[str, Cell]]:
    """The answers of all protocols, unrounded; one empty row where nothing is simulated."""
    labels = report.evaluation.labels
    rule: dict[str, Cell] = {
        "section": criterion.section,
        "question": criterion.question,
        "rule": criterion.rule,
        "source": criterion.source,
        "unit": unit_of(criterion, report.evaluation),
        "bound": criterion.bound,
        "reference": criterion.reference,
    }
    found = {each.protocol: each for each in criterion.answers}
    for key in found or [""]:
        answer = found.get(key)
        verdict, _, runs = verdict_of(answer, criterion, "")
        yield {
            **rule,
            "protocol": labels.get(key, ""),
            "verdict": verdict.label,
            "value": answer.worst if answer else None,
            "runs": " ".join(runs),
        }


def _of_part(part: ShownPart, table: PartTable) -> PaperTable:
    case = (Column("Case", "case"),) if table.has_rows else ()
    heads = [
        Column(axis_title(*each), f"column_{n}", numeric=True) for n, each in enumerate(table.heads)
    ]
    rows = tuple(
        (
            *((row.row,) if table.has_rows else ()),
            row.label,
            *(f"{cell.text} [{cell.printed}]" if cell.printed else cell.text for cell in row.cells),
        )
        for row in table.rows
    )
    printed = "; printed values in brackets" if table.has_prints else ""
    shows = f" ({', '.join(part.part.shows)})" if part.part.shows else ""
    return PaperTable(
        name=part.anchor.removeprefix("part-"),
        title=f"{joined(part.part.title + shows, table.quantity, by=': ')}{printed}",
        columns=(*case, Column("Protocol", "protocol"), *heads),
        rows=rows,
        data=tuple(_data(table)),
        run_ids=tuple(
            dict.fromkeys(run for row in table.rows for cell in row.cells for run in cell.run_ids)
        ),
    )


def _data(table: PartTable) -> Iterator[dict[str, Cell]]:
    for row in table.rows:
        for (title, unit), cell in zip(table.heads, row.cells, strict=True):
            yield {
                "protocol": row.label,
                "case": row.row,
                "column": title,
                "value": cell.value,
                "unit": unit,
                "printed": cell.printed,
                "run_ids": " ".join(cell.run_ids),
            }


def evaluation_files(
    report: EvaluationReport, formats: Sequence[str], origin: str
) -> Iterator[tuple[str, bytes]]:
    """Tables, figures and values as files, one after the other: relative path and bytes.

    Args:
        report: what to export.
        formats: formats of the figures, some of ``FIGURE_FORMATS``.
        origin: ns-2 build, version and commit of bdpbench, in a sentence.
    """
    charts = report.charts  # loads the series that they show
    labels = [each.label for each in report.evaluation.evaluated]
    contents = Contents(
        title=f"the evaluation of {' and '.join(labels)}",
        figures=[
            (figure, _caption(figure, origin))
            for figure in named((each.chart_id, each.title, each) for each in charts)
        ],
        tables=[(table, table_caption(table, {}, origin)) for table in evaluation_tables(report)],
        run_name=lambda run_id: run_id,
    )
    renderer = Renderer(report.parts.series, read_captions())
    yield from paper_files(contents, renderer, ExportRequest(tuple(formats), origin))
    yield CELLS_NAME, _cells(report.inputs.cells, report.evaluation).encode()


def _caption(figure: Figure, origin: str) -> Caption:
    chart = figure.chart
    return Caption(
        file=f"{FIGURES_FOLDER}/{figure.name}",
        title=figure.title,
        text=printed_caption(chart),
        definitions={},
        run_ids=tuple(run_ids_of(chart)),
        origin=origin,
    )


def _cells(cells: pl.DataFrame, evaluation: Evaluation) -> str:
    shown = cells.with_columns(
        pl.col("protocol").replace(evaluation.labels),
        pl.col("values").cast(pl.List(pl.String)).list.join(" ", ignore_nulls=True),
        pl.col("run_ids").list.join(" ", ignore_nulls=True),
    )
    return csv_of(shown.columns, shown.to_dicts())
