"""The report's charts as files for papers: one name, one size, one typeface, no script."""

from __future__ import annotations

import copy
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import escape

from bdpbench.pages.assets import Captions
from bdpbench.pages.chart import Chart, CurveContent, Spec, TimeContent
from bdpbench.pages.packing import unpack
from bdpbench.pages.sections import Sections
from bdpbench.pages.series import DROPS, RunSeries
from bdpbench.pages.time_charts import time_specs
from bdpbench.units import slug

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
                title = ": ".join(filter(None, (experiment.title, view.title, chart.title)))
                yield f"{experiment.key} {view.title} {chart.content['kind']}", title, chart
    for page in sections.protocols:
        for chart in page.charts:
            is_sweep = "spec" in chart.content
            words = chart.chart_id if is_sweep else f"protocol {page.key} {chart.title}"
            yield words, f"{page.label}: {chart.title}", chart
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
            for time in unpack(self._series[each["run"]][DROPS][each["subject"]])[0]
        ]
        spec["datasets"] = {"samples": samples, "thresholds": thresholds, "drops": drops}
        return spec

    def _samples(self, trace: CurveContent, table: str) -> list[dict[str, Any]]:
        times, values = unpack(self._series[trace["run"]][table][trace["subject"]])
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
