"""Figures and tables of a report as files for papers, with captions that name the sources."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import polars as pl

from bdpbench.contracts.plan import Plan
from bdpbench.errors import BdpbenchError
from bdpbench.pages.figures import FIGURE_BINS, Figure, Renderer, figures_of, run_ids_of
from bdpbench.pages.inputs import ReportInputs
from bdpbench.pages.paper_tables import PaperTable, markdown_text, render_table
from bdpbench.pages.score_tables import score_tables
from bdpbench.pages.sections import Sections, gather

FIGURES_FOLDER = "figures"
TABLES_FOLDER = "tables"


@dataclass(frozen=True)
class Caption:
    """The caption of a figure or table, and the source of its numbers.

    Attributes:
        file: path in the folder of the exports, without the ending.
        title, text: words of the report.
        definitions: id → definition, and its source.
        run_ids: all runs that it shows.
        origin: ns-2 build, version and commit of bdpbench.
    """

    file: str
    title: str
    text: str
    definitions: Mapping[str, str]
    run_ids: tuple[str, ...]
    origin: str

    def sentence(self) -> str:
        """The whole caption as one paragraph."""
        parts = [f"{self.title}.", self.text]
        parts += [f"{key}: {text}" for key, text in self.definitions.items()]
        if self.run_ids:
            parts.append(f"Runs: {', '.join(self.run_ids)}.")
        return " ".join(filter(None, [*parts, self.origin]))


@dataclass(frozen=True)
class ExportRequest:
    """What to export: formats of figures, patterns of their names, and the origin.

    Attributes:
        formats: some of ``FIGURE_FORMATS``.
        only: patterns such as ``buffer-size-*``; () for all figures.
        several_runs: leave out figures of a single run.
        origin: ns-2 build, version and commit of bdpbench, in a sentence.
    """

    formats: tuple[str, ...]
    origin: str
    only: tuple[str, ...] = ()
    several_runs: bool = False


def export_files(
    inputs: ReportInputs,
    request: ExportRequest,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Iterator[tuple[str, bytes]]:
    """Figures, tables and captions of a report, one after the other: relative path and bytes.

    Args:
        inputs: as for ``build_report``.
        request: what to export.
        tell: called with the number of finished figures and the number of all.

    Raises:
        BdpbenchError: when a pattern matches no figure.
    """
    sections = gather(inputs, FIGURE_BINS)
    figures = _wanted(figures_of(sections), request)
    words = {each["id"]: f"{each['text']} ({each['source']})" for each in inputs.definitions}
    captions = []
    renderer = Renderer(sections.series, sections.names.captions)
    for done, figure in enumerate(figures, start=1):
        caption = _figure_caption(figure, inputs.metrics, words, request.origin)
        captions.append(caption)
        drawn = renderer.render(figure.chart, caption.sentence(), request.formats)
        for ending, content in drawn.items():
            yield f"{caption.file}.{ending}", content
        tell(done, len(figures))
    for table in score_tables(sections):
        caption = _table_caption(table, words, request.origin)
        captions.append(caption)
        for ending, text in render_table(table, _short(caption)).items():
            yield f"{caption.file}.{ending}", text.encode()
    yield "captions.json", _json_of(captions)
    yield "captions.md", _markdown_of(captions, sections, inputs.plan).encode()


def _wanted(figures: Sequence[Figure], request: ExportRequest) -> list[Figure]:
    for pattern in request.only:
        if not fnmatch.filter([figure.name for figure in figures], pattern):
            raise BdpbenchError(
                f"no figure has the name {pattern!r}",
                where="--only",
                hint="such as " + ", ".join(figure.name for figure in figures[:3]),
            )
    named = [
        figure
        for figure in figures
        if not request.only or any(fnmatch.fnmatch(figure.name, each) for each in request.only)
    ]
    if not request.several_runs:
        return named
    return [figure for figure in named if len(run_ids_of(figure.chart)) != 1]


def _figure_caption(
    figure: Figure, metrics: pl.DataFrame, words: Mapping[str, str], origin: str
) -> Caption:
    chart, run_ids = figure.chart, run_ids_of(figure.chart)
    rows = metrics.filter(
        pl.col("metric").is_in(list(chart.metrics)) & pl.col("run_id").is_in(run_ids)
    )
    ids = rows["definition"].unique(maintain_order=True).to_list()
    return Caption(
        file=f"{FIGURES_FOLDER}/{figure.name}",
        title=figure.title,
        text=" ".join(filter(None, (chart.caption, chart.note))),
        definitions={each: words.get(each, "") for each in ids},
        run_ids=tuple(run_ids),
        origin=origin,
    )


def _table_caption(table: PaperTable, words: Mapping[str, str], origin: str) -> Caption:
    return Caption(
        file=f"{TABLES_FOLDER}/{table.name}",
        title=table.title,
        text="",
        definitions={each: words.get(each, "") for each in table.definitions},
        run_ids=table.run_ids,
        origin=origin,
    )


def _short(caption: Caption) -> str:
    """A caption short enough for a paper: a table's runs and definitions would fill pages."""
    parts = [f"{caption.title}.", caption.origin]
    if caption.run_ids:
        ids = ", ".join(caption.definitions) or "see captions.md"
        runs = len(caption.run_ids)
        parts.append(f"Definitions: {ids}; from {runs} run{'s' if runs > 1 else ''}, see CSV.")
    return " ".join(parts)


def _json_of(captions: Sequence[Caption]) -> bytes:
    content = {"schema_version": 1, "captions": [asdict(each) for each in captions]}
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def _markdown_of(captions: Sequence[Caption], sections: Sections, plan: Plan) -> str:
    """Captions for readers, with each definition once, at the end."""
    lines = [f"# Figures and tables of {plan['study']}, {plan['tier']} tier", ""]
    if captions:
        lines += [captions[0].origin, ""]
    for each in captions:
        lines += [f"## {each.file}", "", f"{markdown_text(each.title)}. {markdown_text(each.text)}"]
        if each.definitions:
            lines += ["", f"Definitions: {', '.join(each.definitions)}"]
        if each.run_ids:
            lines += ["", f"Runs: {', '.join(each.run_ids)}"]
        lines.append("")
    told = {key: text for each in captions for key, text in each.definitions.items()}
    lines += ["## Definitions", ""]
    lines += [f"- {key}: {markdown_text(told[key])}" for key in sorted(told)]
    known = dict.fromkeys(run_id for each in captions for run_id in each.run_ids)
    lines += ["", "## Runs", ""]
    lines += [f"- {each}: {markdown_text(sections.names.run(each).label)}" for each in known]
    return "\n".join(lines) + "\n"
