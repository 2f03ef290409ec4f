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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import polars as pl
from markupsafe import escape

from bdpbench.contracts.plan import Plan
from bdpbench.errors import BdpbenchError
from bdpbench.pages.curves import time_specs
from bdpbench.pages.inputs import ReportInputs
from bdpbench.pages.names import Captions
from bdpbench.pages.sections import Sections, gather
from bdpbench.pages.series import DROPS, RunSeries, points_of
from bdpbench.pages.specs import Chart, CurveContent, Spec, TimeContent, as_altair
from bdpbench.pages.tables import PaperTable, markdown_text, render_table, score_tables
from bdpbench.pages.text import joined
from bdpbench.units import slug

if TYPE_CHECKING:
    import altair as alt

FIGURES_FOLDER = "figures"
TABLES_FOLDER = "tables"
FIGURE_FORMATS = ("svg", "pdf", "png")

FIGURE_BINS = 800
"""Intervals of time whose extremes a figure keeps: more than one per pixel of its width."""

WIDTH = 640
"""px, including axes; the width of a page's text at 96 px per inch."""

PNG_SCALE = 2
"""Pixels of a PNG per pixel of the figure: 192 per inch."""

# vl-convert ships Liberation Sans, so that texts are measured and drawn in the same way on every
# machine. An SVG names it first; Arial and Helvetica have letters of the same widths.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"

# Two or more entries of a dictionary of resources, such as "      /gs0 7 0 R".
_RESOURCES = re.compile(rb"(?:^ +/[a-z]+[0-9]+ [0-9]+ 0 R\n){2,}", re.MULTILINE)

# Widths in px of a letter of a legend, and of what surrounds a name.
_LETTER = 6.6
_AROUND_A_NAME = 44

# A line's name is above it, even for the highest line.
_ROOM_ABOVE = 1.12
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
    renderer = Renderer(sections.data.series, sections.data.names.captions)
    for done, figure in enumerate(figures, start=1):
        caption = _figure_caption(figure, inputs.metrics, words, request.origin)
        captions.append(caption)
        drawn = renderer.render(figure.chart, caption.sentence(), request.formats)
        for ending, content in drawn.items():
            yield f"{caption.file}.{ending}", content
        tell(done, len(figures))
    for table in score_tables(sections.numbers, sections.claims, sections.protocols):
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
        text=joined(chart.caption, chart.note, by=" "),
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
    texts = {key: text for each in captions for key, text in each.definitions.items()}
    lines += ["## Definitions", ""]
    lines += [f"- {key}: {markdown_text(texts[key])}" for key in sorted(texts)]
    known = dict.fromkeys(run_id for each in captions for run_id in each.run_ids)
    lines += ["", "## Runs", ""]
    lines += [f"- {each}: {markdown_text(sections.data.names.run(each).label)}" for each in known]
    return "\n".join(lines) + "\n"


class Charts:
    """All charts of a report. A tier has hundreds, and making one takes 0.1 s.

    Args:
        inputs: what the report shows.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong under ``reports/``.
    """

    def __init__(self, inputs: ReportInputs) -> None:
        sections = gather(inputs, FIGURE_BINS)
        self._renderer = Renderer(sections.data.series, sections.data.names.captions)
        self._figures = {figure.name: figure for figure in figures_of(sections)}

    @property
    def titles(self) -> dict[str, str]:
        """Name → title of every chart, in the order of the report."""
        return {name: figure.title for name, figure in self._figures.items()}

    def chart(self, name: str) -> alt.LayerChart:
        """A chart with its data, checked against altair's schema, with the width of a figure.

        Raises:
            BdpbenchError: when there is no chart with that name, with a suggestion.
        """
        if name not in self._figures:
            close = difflib.get_close_matches(name, self._figures, n=1)
            hint = f"did you mean {close[0]!r}?" if close else "charts() lists all names"
            raise BdpbenchError(f"there is no chart {name!r}", hint=hint)
        return as_altair(self._renderer.spec(self._figures[name].chart))


@dataclass(frozen=True)
class Figure:
    """A chart of the report and the name of its file, without the ending."""

    name: str
    title: str
    chart: Chart


def figures_of(sections: Sections) -> list[Figure]:
    """All charts of the page except those of single runs, which show parts of the others.

    A name says where the chart belongs and what it shows. It depends on nothing else, so it stays
    the same when other charts are added or removed.
    """
    found: dict[str, Figure] = {}
    for words, title, chart in _placed(sections):
        name = _shortened(slug(words))
        if name in found:
            name = f"{name}-{_digest(chart.chart_id)}"
        found[name] = Figure(name, title, chart)
    return list(found.values())


def _placed(sections: Sections) -> Iterator[tuple[str, str, Chart]]:
    """Words for the name of each chart, its full title, and the chart."""
    for experiment in sections.experiments:
        for chart in experiment.summaries:
            yield chart.chart_id, f"{experiment.title}: {chart.title}", chart
        for view in experiment.views:
            for chart in view.charts:
                title = joined(experiment.title, view.title, chart.title, by=": ")
                yield f"{experiment.key} {view.title} {chart.content['kind']}", title, chart
    for each in sections.laws:
        yield each.chart_id, each.title, each
    for group in sections.matrices:
        for chart in group.charts:
            yield f"pairs {group.scenario} {chart.title}", f"{group.title}: {chart.title}", chart


def _shortened(name: str) -> str:
    """A name that every file system accepts; a long one keeps its start and a hash of the whole."""
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[: _LONGEST_NAME - _HASH_DIGITS - 1]}-{_digest(name)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH_DIGITS]


def run_ids_of(chart: Chart) -> list[str]:
    """Ids of the runs that a chart shows, each once, in order of appearance."""
    if "spec" in chart.content:
        return list(dict.fromkeys(_run_ids_in(chart.content["spec"])))
    return list(dict.fromkeys(trace["run"] for trace in chart.content["traces"]))


def _run_ids_in(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        if isinstance(found := node.get("run_id"), str):
            yield found
        node = list(node.values())
    if isinstance(node, list):
        for each in node:
            yield from _run_ids_in(each)


class Renderer:
    """Renders charts in the formats of files."""

    def __init__(self, series: Mapping[str, RunSeries], captions: Captions) -> None:
        self._series = series
        self._time_specs = time_specs(captions)

    def render(self, chart: Chart, description: str, formats: Sequence[str]) -> dict[str, bytes]:
        """A chart as files: format → bytes.

        The same chart has the same bytes wherever this version of vl-convert runs: it ships the
        font, and nothing in a figure is bold, because the order of two font faces in a PDF is
        arbitrary.

        Args:
            chart: what to draw.
            description: text alternative in the SVG.
            formats: some of ``FIGURE_FORMATS``.
        """
        import vl_convert  # here because it starts a JavaScript engine, which takes a second

        svg = _renumbered(vl_convert.vegalite_to_svg(self.spec(chart), show_warnings=False))
        described = svg.replace(">", f"><desc>{escape(description)}</desc>", 1)
        draw: Mapping[str, Callable[[], bytes]] = {
            "svg": lambda: f"{described}\n".encode(),
            "pdf": lambda: _in_order(bytes(vl_convert.svg_to_pdf(svg))),
            "png": lambda: bytes(vl_convert.svg_to_png(svg, scale=PNG_SCALE, ppi=96)),
        }
        return {name: draw[name]() for name in formats}

    def spec(self, chart: Chart) -> Spec:
        """The whole Vega-Lite specification of a chart, with its data."""
        content = chart.content
        if "spec" in content:
            spec: Spec = copy.deepcopy(content["spec"])
            labels = content["labels"]
        else:
            spec = self._time_spec(content)
            labels = [trace["label"] for trace in content["traces"]]
        spec.pop("params", None)
        spec["width"] = WIDTH
        # On the page, room for a button is left above the chart.
        spec["padding"] = 5
        config = spec["config"]
        config["font"] = FONT
        config["legend"] |= {
            "columns": _legend_columns(labels),
            "labelLimit": WIDTH - _AROUND_A_NAME,
            "titleFontWeight": "normal",
        }
        return spec

    def _time_spec(self, content: TimeContent) -> Spec:
        spec = copy.deepcopy(self._time_specs[content["kind"]])
        traces, thresholds = content["traces"], content["thresholds"]
        samples = [each for trace in traces for each in self._samples(trace, content["kind"])]
        highest = max((each["v"] for each in [*samples, *thresholds]), default=0.0)
        labels = [trace["label"] for trace in traces]
        lines = spec["layer"][0]
        lines.pop("params", None)
        encoding = lines["encoding"]
        encoding.pop("opacity", None)
        encoding["x"]["scale"]["domain"] = [content.get("start", 0), content["end"]]
        encoding["y"]["scale"]["domain"] = [0, content.get("top") or highest * _ROOM_ABOVE or 1]
        encoding["color"]["scale"] = {
            "domain": labels,
            "range": [each["colour"] for each in traces],
        }
        encoding["strokeDash"]["scale"] = {
            "domain": labels,
            "range": [list(each["dash"]) for each in traces],
        }
        drops = [
            {"t": time}
            for each in content.get("drops", ())
            for time in points_of(self._series[each["run"]], DROPS, each["subject"])[0]
        ]
        spec["datasets"] = {"samples": samples, "thresholds": thresholds, "drops": drops}
        return spec

    def _samples(self, trace: CurveContent, table: str) -> list[dict[str, Any]]:
        times, values = points_of(self._series[trace["run"]], table, trace["subject"])
        points = list(zip(times, values, strict=True))
        if table == "throughput" and len(points) > 1:
            # A step needs a start: the first mean is taken to cover as much time as the second.
            points.insert(0, (max(0.0, 2 * times[0] - times[1]), values[0]))
        return [{"t": time, "v": value, "s": trace["label"]} for time, value in points]


def _renumbered(svg: str) -> str:
    """The SVG with clips and gradients numbered from 0: Vega continues numbering across charts."""
    ids = dict.fromkeys(re.findall(r'\bid="((?:clip|gradient_)[0-9]+)"', svg))
    numbers = {each: f"part{index}" for index, each in enumerate(ids)}
    return re.sub(
        r'(\bid="|url\(#)((?:clip|gradient_)[0-9]+)(?=["\)])',
        lambda found: found[1] + numbers[found[2]],
        svg,
    )


def _in_order(pdf: bytes) -> bytes:
    """The PDF with the entries of its resource dictionaries, whose order is arbitrary, sorted.

    Entries are moved only within their dictionary, so that all offsets of the file stay valid.
    """
    return _RESOURCES.sub(lambda found: b"".join(sorted(found[0].splitlines(keepends=True))), pdf)


def _legend_columns(labels: Sequence[str]) -> int:
    longest = max((len(label) for label in labels), default=0)
    return max(1, int(WIDTH // (longest * _LETTER + _AROUND_A_NAME)))
