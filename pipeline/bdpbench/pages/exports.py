"""Figures and tables of a report as files for papers, with captions that name the sources.

The charts of a report are also available as objects of altair, for notebooks:

    charts = Charts(inputs)
    charts.chart("buffer-size-sweep-utilization").properties(width=400)

``inputs`` are those of a report, see ``bdpbench.app.stages.report_inputs``; names are those of the
files written by `bdpbench report --export`.
"""

from __future__ import annotations

import copy
import difflib
import fnmatch
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from bdpbench.contracts.documents import csv_of
from bdpbench.errors import BdpbenchError
from bdpbench.pages.curves import time_specs
from bdpbench.pages.drawing import (
    BANDS,
    COLUMN_PT,
    DROPS,
    PAGE_PT,
    SAMPLES,
    Drawing,
    drawn,
    sized,
)
from bdpbench.pages.inputs import ReportInputs
from bdpbench.pages.latex import latex_text
from bdpbench.pages.names import Captions
from bdpbench.pages.report import Sections
from bdpbench.pages.series import RunSeries, points_of, unpack
from bdpbench.pages.specs import Chart, CurveContent, Spec
from bdpbench.pages.tables import PaperTable, render_table, score_tables
from bdpbench.pages.text import format_number, joined
from bdpbench.units import several, slug

if TYPE_CHECKING:
    import altair as alt

FIGURES_FOLDER = "figures"
COLUMN_FOLDER = f"{FIGURES_FOLDER}/column"
"""Figures in the width of one column; in ``FIGURES_FOLDER`` the same in that of two."""

TABLES_FOLDER = "tables"

FIGURE_BINS = 500
"""Intervals of time whose extremes a figure keeps: more than one value per px of its width."""

_LONGEST_NAME = 140
_HASH_DIGITS = 8


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
        archived: only what an archive has: figures of several runs in the width of two columns,
            and no data or captions for each, which its report and its CSV have.
        origin: ns-2 build, version and commit of bdpbench, in a sentence.
    """

    formats: tuple[str, ...]
    origin: str
    only: tuple[str, ...] = ()
    archived: bool = False


def export_files(
    inputs: ReportInputs,
    request: ExportRequest,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Iterator[tuple[str, bytes]]:
    """Figures, tables and captions of a report, one after the other: relative path and bytes.

    Args:
        inputs: as for ``build_report``.
        request: what to export.
        tell: called with the number of finished figures, at first 0, and the number of all.

    Raises:
        BdpbenchError: when a pattern matches no figure.
    """
    sections = Sections(inputs, FIGURE_BINS)
    words = {each["id"]: f"{each['text']} ({each['source']})" for each in inputs.definitions}
    figures = _wanted(figures_of(sections), request)
    tables = score_tables(sections.numbers, sections.claims)
    renderer = Renderer(sections.data.series, sections.data.names.captions)
    yield from paper_files(figures, tables, renderer, request, words, inputs.metrics, tell)


def paper_files(
    figures: Sequence[Figure],
    tables: Sequence[PaperTable],
    renderer: Renderer,
    request: ExportRequest,
    words: Mapping[str, str],
    metrics: pl.DataFrame,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Iterator[tuple[str, bytes]]:
    """The files of ``export_files`` of any page.

    Each figure has its drawings, its data as CSV and its caption in LaTeX; ``words`` are the
    definitions of ``metrics``, by their ids.
    """
    tell(0, len(figures))
    shown: list[Figure | PaperTable] = [*figures, *tables]
    captions = [_caption(each, request, words, metrics) for each in shown]
    folders = {PAGE_PT: FIGURES_FOLDER} | ({} if request.archived else {COLUMN_PT: COLUMN_FOLDER})
    drawings = (
        Drawing(
            renderer.spec(figure.chart),
            labels_of(figure.chart),
            caption.sentence(),
            tuple(folders),
            request.formats,
            bool(figure.chart.content.get("apart")),
        )
        for figure, caption in zip(figures, captions, strict=False)
    )
    files = drawn(drawings, len(figures) * len(folders))
    each_drawn = zip(files, figures, captions, strict=False)
    for done, (drawing, figure, caption) in enumerate(each_drawn, start=1):
        for (width_pt, ending), content in drawing.items():
            yield f"{folders[width_pt]}/{figure.name}.{ending}", content
        if not request.archived:
            yield f"{caption.file}.csv", renderer.csv(figure.chart)
            text = f"{_source(caption)}\\caption{{{latex_text(_short(caption))}}}\n"
            yield f"{caption.file}.tex", text.encode()
        tell(done, len(figures))
    for table, caption in zip(tables, captions[len(figures) :], strict=True):
        for ending, text in render_table(table, _short(caption)).items():
            source = _source(caption) if ending == "tex" else ""
            yield f"{caption.file}.{ending}", f"{source}{text}".encode()
    told = {"schema_version": 1, "captions": list(map(asdict, captions))}
    yield "captions.json", (json.dumps(told, indent=1, ensure_ascii=False) + "\n").encode()


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
    if request.only:
        return named
    return [figure for figure in named if len(run_ids_of(figure.chart)) != 1] or named


def _caption(
    shown: Figure | PaperTable, request: ExportRequest, words: Mapping[str, str], rows: pl.DataFrame
) -> Caption:
    """The caption of a figure or table, with the words of the definitions of what it shows."""
    if isinstance(shown, PaperTable):
        folder, text, run_ids, ids = TABLES_FOLDER, "", shown.run_ids, shown.definitions
    else:
        folder, text = FIGURES_FOLDER, printed_caption(shown.chart, shown.title.partition(": ")[0])
        run_ids = tuple(run_ids_of(shown.chart))
        own = pl.col("metric").is_in(shown.chart.metrics) & pl.col("run_id").is_in(run_ids)
        ids = tuple(rows.filter(own)["definition"].unique(maintain_order=True)) if words else ()
    definitions = {each: words.get(each, "") for each in ids}
    return Caption(
        f"{folder}/{shown.name}", shown.title, text, definitions, run_ids, request.origin
    )


def printed_caption(chart: Chart, within: str = "") -> str:
    """What a chart shows; the title has named the experiment ``within``. Nothing to click on."""
    content, told = chart.content, ""
    if "spec" not in content and "medians" in content:
        number = len(content["traces"])
        told = f"Lines are medians of {number} curves, bands their 10th to 90th percentiles."
    if "spec" not in content and "until" in content:
        told = (
            f"Shown to {format_number(content['until'])} s; later, each curve keeps to a twentieth "
            "of the axis on either side of its middle value."
        )
    place = chart.place.removeprefix(f"{within}, ")
    place = place and f"{place[0].upper()}{place[1:]}."
    text = joined(chart.finding, place, chart.caption, chart.note, told, by=" ")
    return re.sub(
        r"\s*Click on [^.;]*(?:\.|;\s*(\w))",
        lambda found: f" {found[1].upper()}" if found[1] else "",
        text,
    )


def _short(caption: Caption) -> str:
    """A caption for a paper: what is shown, and of how many runs."""
    runs = f"From {several(len(caption.run_ids), 'run')}." if caption.run_ids else ""
    return joined(f"{caption.title}.", caption.text, runs, by=" ")


def _source(caption: Caption) -> str:
    """A comment of LaTeX with what nobody prints: versions, checksums and definitions."""
    ids = ", ".join(caption.definitions) or "see captions.json"
    return f"% {caption.origin} Definitions: {ids}.\n"


class Charts:
    """All charts of a report. A tier has hundreds, and making one takes 0.1 s.

    Args:
        inputs: what the report shows.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong under ``reports/``.
    """

    def __init__(self, inputs: ReportInputs) -> None:
        self.sections = Sections(inputs, FIGURE_BINS)
        data = self.sections.data
        self._renderer = Renderer(data.series, data.names.captions)
        self._figures = {figure.name: figure for figure in figures_of(self.sections)}

    @property
    def figures(self) -> list[Figure]:
        """Every chart with its name, in the order of the report."""
        return list(self._figures.values())

    def spec(self, chart: Chart) -> Spec:
        """The whole specification of a chart of the sections, with the width of two columns."""
        return sized(self._renderer.spec(chart), labels_of(chart), PAGE_PT)

    def chart(self, name: str) -> alt.LayerChart:
        """A chart with its data, checked against altair's schema, with the width of a figure.

        Raises:
            BdpbenchError: when there is no chart with that name, with a suggestion.
        """
        if name not in self._figures:
            close = difflib.get_close_matches(name, self._figures, n=1)
            hint = f"did you mean {close[0]!r}?" if close else "charts() lists all names"
            raise BdpbenchError(f"there is no chart {name!r}", hint=hint)
        from bdpbench.pages.notebook import offline_chart  # imports altair

        return offline_chart(self.spec(self._figures[name].chart))


@dataclass(frozen=True)
class Figure:
    """A chart of the report and the name of its file, without the ending.

    ``scenario`` is that of its runs, "" if they are of several.
    """

    name: str
    scenario: str
    title: str
    chart: Chart


def figures_of(sections: Sections) -> list[Figure]:
    """All charts of the page except those of single runs, which show parts of the others.

    A name says where the chart belongs and what it shows. It depends on nothing else, so it stays
    the same when other charts are added or removed.
    """
    return named(_placed(sections))


def named(charts: Iterable[tuple[str, str, str, Chart]]) -> list[Figure]:
    """Figures with a name each: words of the name, scenario, full title, and chart."""
    found: dict[str, Figure] = {}
    for words, scenario, title, chart in charts:
        name = _shortened(slug(words))
        while name in found:
            name = _shortened(f"{name}-{_digest(f'{name} {chart.chart_id}')}")
        found[name] = Figure(name, scenario, title, chart)
    return list(found.values())


def _placed(sections: Sections) -> Iterator[tuple[str, str, str, Chart]]:
    """Words for the name of each chart, its scenario, its full title, and the chart."""
    if each := sections.printed:
        yield each.chart_id, "", each.title, each
    for experiment in sections.experiments:
        key = experiment.key
        for chart in experiment.summaries:
            yield chart.chart_id, key, f"{experiment.title}: {chart.title}", chart
        for view in experiment.views:
            for chart in view.charts:
                title = joined(experiment.title, view.title, chart.title, by=": ")
                yield f"{key} {view.title} {chart.content['kind']}", key, title, chart
    for each in sections.laws:
        yield each.chart_id, "", each.title, each
    for group in sections.matrices:
        for chart in group.charts:
            title = f"{group.title}: {chart.title}"
            yield f"pairs {group.scenario} {chart.title}", group.scenario, title, chart


def _shortened(name: str) -> str:
    """A name that every file system accepts; a long one keeps its start and a hash of the whole."""
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[: _LONGEST_NAME - _HASH_DIGITS - 1]}-{_digest(name)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH_DIGITS]


def run_ids_of(chart: Chart) -> list[str]:
    """Ids of the runs that a chart shows, each once, in order of appearance."""
    rows = _rows_of(chart.content["spec"]) if "spec" in chart.content else []
    traces = [] if "spec" in chart.content else chart.content["traces"]
    found = [*(each.get("run_id") for each in rows), *(each["run"] for each in traces)]
    return [each for each in dict.fromkeys(found) if isinstance(each, str)]


def _rows_of(spec: Spec) -> list[dict[str, Any]]:
    """All rows of data that a specification has."""
    return [row for rows in spec.get("datasets", {}).values() for row in rows]


def labels_of(chart: Chart) -> list[str]:
    """The names in the legend of a chart."""
    content = chart.content
    if "spec" in content:
        return content["labels"]
    return [each["label"] for each in content.get("medians", content["traces"])]


class Renderer:
    """Makes whole specifications of charts, and their data as CSV."""

    def __init__(self, series: Mapping[str, RunSeries], captions: Captions) -> None:
        self._series = series
        self._time_specs = time_specs(captions)

    def spec(self, chart: Chart) -> Spec:
        """The whole Vega-Lite specification of a chart, with its data."""
        content = chart.content
        if "spec" in content:
            return copy.deepcopy(content["spec"])
        spec = copy.deepcopy(self._time_specs[content["kind"]])
        lines = content.get("medians", content["traces"])
        encoding = spec["layer"][0]["encoding"]
        encoding["x"]["scale"]["domain"] = [
            content.get("start", 0),
            content.get("until", content["end"]),
        ]
        encoding["y"]["scale"]["domain"] = [0, content["top"]]
        looks = {each["label"]: (each["colour"], list(each["dash"])) for each in lines}
        for channel, values in zip(
            ("color", "strokeDash"), zip(*looks.values(), strict=True), strict=True
        ):
            encoding[channel]["scale"] = {"domain": list(looks), "range": list(values)}
        bands = [
            {"s": each["label"], "t": t, "v": v, "low": low, "high": high}
            for each in content.get("medians", ())
            for (t, v), (_, low), (_, high) in zip(
                *(zip(*unpack(each[name]), strict=True) for name in ("v", "low", "high")),
                strict=True,
            )
        ]
        samples = bands or [
            row for each in content["traces"] for row in self._samples(each, content["kind"])
        ]
        drops = [
            {"t": time}
            for each in content.get("drops", ())
            for time, _ in self._points(each["run"], DROPS, each["subject"])
        ]
        spec["datasets"] = {
            SAMPLES: samples,
            BANDS: bands,
            "thresholds": content["thresholds"],
            DROPS: drops,
        }
        return spec

    def csv(self, chart: Chart) -> bytes:
        """The data of a chart as CSV, as the page offers it."""
        content = chart.content
        if "spec" in content:
            found = _rows_of(content["spec"])
            return csv_of(list(dict.fromkeys(key for row in found for key in row)), found).encode()
        time, value = content.get("columns", ["time_s", content["kind"]])
        lines = [
            (trace["run"], trace["label"], content["kind"], trace["subject"], value)
            for trace in content["traces"]
        ]
        lines += [
            (each["run"], "drops", DROPS, each["subject"], "dropped_pkts")
            for each in content.get("drops", ())
        ]
        parts = [
            pl.DataFrame({time: times, column: values}).select(
                pl.lit(run_id).alias("run_id"), pl.lit(label).alias("series"), time, column
            )
            for run_id, label, table, subject, column in lines
            for times, values in [points_of(self._series[run_id], table, subject)]
        ]
        return pl.concat(parts, how="diagonal").write_csv().encode()

    def _points(self, run_id: str, table: str, subject: str) -> Iterator[tuple[float, float]]:
        return zip(*points_of(self._series[run_id], table, subject), strict=True)

    def _samples(self, trace: CurveContent, table: str) -> list[dict[str, Any]]:
        points = list(self._points(trace["run"], table, trace["subject"]))
        if table == "throughput" and len(points) > 1:
            # A step needs a start: the first mean is taken to cover as much time as the second.
            (first_s, value), (second_s, _) = points[:2]
            points.insert(0, (max(0.0, 2 * first_s - second_s), value))
        return [{"t": time, "v": value, "s": trace["label"]} for time, value in points]
