"""Draws Vega-Lite specifications as SVG, PDF and PNG, in the widths of a paper's columns.

Imports little: each process that draws imports it anew.
"""

from __future__ import annotations

import copy
import functools
import itertools
import json
import math
import os
import re
import signal
import tempfile
import textwrap
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from html import escape
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:  # which imports polars
    from bdpbench.pages.specs import Spec

FIGURE_FORMATS = ("svg", "pdf", "png")

PAGE_PT = 516
"""Width of two columns, pt of 1/72 inch, as in papers of the IEEE."""

COLUMN_PT = 252
"""Width of one of them, with 12 pt between both."""

PT_PER_PX = 0.75
"""A px is 1/96 inch, so that the labels of 11 px and titles of 12 px are of 8 and 9 pt."""

PNG_SCALE = 2
"""Pixels of a PNG per px: 192 per inch."""

# vl-convert ships Liberation Sans, so that texts are measured and drawn in the same way on every
# machine. An SVG names others of the same widths behind it; measuring with one name is faster.
_OWN_FONT = "Liberation Sans"
FONT = f"{_OWN_FONT}, Arial, Helvetica, sans-serif"

# Scripts whose letters it does not have, from Arabic to Chinese.
_OTHER_SCRIPTS = re.compile("[\u0600-\u1dff\u2e80-\ud7ff\uf900-\ufdff\U00010000-\U0010ffff]")
_FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts")
_FONTS_KEY = "FONTCONFIG_FILE"

# Two or more entries of a dictionary of resources, such as "      /gs0 7 0 R".
_RESOURCES = re.compile(rb"(?:^ +/[a-z]+[0-9]+ [0-9]+ 0 R\n){2,}", re.MULTILINE)

# Widths in px of a letter of a legend, and of what surrounds a name.
_LETTER = 6.6
_AROUND_A_NAME = 44

# px on the left of words above parts of a figure.
_BESIDE_WORDS = 72

# px between plot and legend if the words of a rule at the top of the plot stand there.
_ABOVE_WORDS = 18

ENDS = "ends"
"""Name of the layer with the names of lines, see ``names_at_ends`` of ``specs``."""

LINES = "lines"
"""Name of the layer of lines over time."""

SAMPLES = "samples"
"""Name of their rows: ``t`` s, ``v`` in any unit, and ``s``, the name of the line."""

DROPS = "drops"
"""Name of a layer of short marks along the upper edge, and of their rows: ``t`` s."""

BANDS = "bands"
"""Name of the layer that only a crowd of curves has, see ``line_spec`` of ``curves``."""

MOST_NAMED = 8
"""Most names at the ends of lines."""

# The share of the width that they may take.
_WIDEST_NAMES = 0.34

Points: TypeAlias = list[tuple[float, float]]
"""Of a line, px from the left and from above."""

Lines: TypeAlias = dict[str, tuple[list[float], list[float]]]
"""Name of a line → times and values."""

# How far a line may pass its points, which is a seventh of its width.
_MOST_ASIDE_PX = 0.2

# Surroundings of a plot → their width at the last one that was drawn, px: the next one has mostly
# the same, and is drawn once.
_around: dict[str, float] = {}

# The width of a plot follows from what surrounds it, which depends a little on it.
_MOST_FITS = 3
_PLOT = re.compile(r'class="background"[^>]* d="M0,0h([1-9][0-9.]*)v')
_FIRST_POINT = re.compile(rf'(class="mark-line role-mark {LINES}_marks"[^>]*><path d=")M[^"]*')

_FIRST_DROP = re.compile(
    rf'(class="mark-rule role-mark {DROPS}_marks"[^>]*>)<line transform="[^"]*" x2="0" y2="[0-9]+"'
)
DROP_HEIGHT = 9

# Of lines one below the other, px, and Vega-Lite's name of their width.
_PART_HEIGHT = 62
_PARTS_WIDTH = "child_width"

# As many drawings are worth the start of processes, 0.5 s each; this many wait for each of them.
_WORTH_PROCESSES = 24
_WAITING = 4


@dataclass(frozen=True)
class Drawing:
    """What is to be drawn.

    Attributes:
        spec: a whole Vega-Lite specification, with its data.
        labels: names in its legend.
        description: text alternative in the SVG.
        widths_pt: widths to draw it in, with everything that surrounds the plot, pt.
        formats: some of ``FIGURE_FORMATS``.
        apart: whether its lines over time are drawn one below the other.
    """

    spec: Spec
    labels: Sequence[str]
    description: str
    widths_pt: Sequence[int]
    formats: Sequence[str]
    apart: bool = False


def sized(spec: Spec, labels: Sequence[str], width_pt: int) -> Spec:
    """A specification with the width, the font and the legend of a figure."""
    width_px = width_pt / PT_PER_PX
    found: Spec = copy.deepcopy({key: spec[key] for key in spec if key != "datasets"})
    longest = max((len(label) for label in labels), default=0)
    is_narrow = longest * _LETTER < _WIDEST_NAMES * width_px
    has_ends = any(each.get("name") == ENDS for each in found["layer"])
    if has_ends and 1 < len(labels) <= MOST_NAMED and is_narrow:
        for each in found["layer"]:
            for channel in ("color", "strokeDash"):
                if "field" in each.get("encoding", {}).get(channel, {}):
                    each["encoding"][channel]["legend"] = None
    else:
        found["layer"] = [each for each in found["layer"] if each.get("name") != ENDS]
    if "datasets" in spec:
        rows = found["datasets"] = spec["datasets"]
        # Vega takes some ms for a layer that shows nothing.
        found["layer"] = [
            each for each in found["layer"] if "data" not in each or rows[each["data"]["name"]]
        ]
    # On the page, room for a button is left above the chart.
    found |= {"width": width_px, "padding": 2}
    config = found["config"]
    config |= {"font": FONT, "autosize": "pad"}
    # Measuring a text takes as long as drawing a hundred points, and a limit is measured twice.
    config |= {"axisQuantitative": {"labelLimit": 0}}
    config["legend"] |= {
        "columns": max(1, int(width_px // (longest * _LETTER + _AROUND_A_NAME))),
        "labelLimit": width_px - _AROUND_A_NAME,
        "titleFontWeight": "normal",
    }
    if found.get("datasets", {}).get("thresholds"):
        config["legend"]["offset"] = _ABOVE_WORDS
    return found


def _apart(spec: Spec, labels: Sequence[str]) -> Spec:
    """The lines of a specification one below the other, on the same scales."""
    lines, *others = (each for each in spec["layer"] if each.get("name") != ENDS)
    rules = "; ".join(each["label"] for each in spec["datasets"]["thresholds"])
    encoding = lines["encoding"]
    quantity = encoding["y"]["title"] + (f"; dashed: {rules}" if rules else "")
    encoding["y"]["axis"] = {"tickCount": 3, "title": None}
    encoding["color"]["legend"] = None
    del encoding["strokeDash"]  # a single curve needs no dashes
    # Vega-Lite divides the rows of the whole; those of a layer, it shows in every part.
    layers = [
        {key: lines[key] for key in lines if key != "data"},
        *(each for each in others if each["mark"]["type"] != "text"),
    ]
    look = {"labelAnchor": "start", "labelOrient": "top", "labelPadding": 2, "labelFontSize": 11}
    look["labelLimit"] = spec["width"] - _BESIDE_WORDS
    row = {"field": "s", "type": "nominal", "title": None, "sort": list(labels), "header": look}
    letters = int((spec["width"] - _BESIDE_WORDS) / _LETTER)
    words = {"anchor": "start", "frame": "group", "fontSize": 12, "fontWeight": "normal"}
    ticks = {"tickCount": {"expr": f"ceil({_PARTS_WIDTH} / 70)"}}
    same = {key: value for key, value in spec.items() if key not in ("layer", "height")}
    return same | {
        "config": spec["config"] | {"axisX": spec["config"]["axisX"] | ticks},
        "data": {"name": SAMPLES},
        "facet": {"row": row},
        "spacing": 2,
        "spec": {"layer": layers, "height": _PART_HEIGHT},
        "title": {"text": textwrap.wrap(quantity, letters), **words},
    }


def draw(drawing: Drawing) -> dict[tuple[int, str], bytes]:
    """A drawing as files: width and format → bytes.

    The same drawing has the same bytes wherever this version of vl-convert runs: it ships the font,
    and nothing in a figure is bold, because the order of two font faces in a PDF is arbitrary.
    """
    converter = _converter()
    found: dict[tuple[int, str], bytes] = {}
    specs = [sized(drawing.spec, drawing.labels, width_pt) for width_pt in drawing.widths_pt]
    if drawing.apart:
        specs = [_apart(each, drawing.labels) for each in specs]
    for width_pt, svg in zip(drawing.widths_pt, _svgs(specs), strict=True):
        if "svg" in drawing.formats:
            described = svg.replace(">", f"><desc>{escape(drawing.description)}</desc>", 1)
            found[width_pt, "svg"] = f"{_in_points(described, 'pt')}\n".encode()
        if "pdf" in drawing.formats:
            pdf = converter.svg_to_pdf(_in_points(svg, ""))
            found[width_pt, "pdf"] = _in_order(bytes(pdf))
        if "png" in drawing.formats:
            found[width_pt, "png"] = bytes(converter.svg_to_png(svg, scale=PNG_SCALE, ppi=96))
    return found


def svg_of(spec: Spec) -> str:
    """A whole specification as SVG, all of it drawn by Vega: a notebook may have changed it."""
    return next(_svgs([spec], with_lines=False))


def _svgs(specs: Iterable[Spec], *, with_lines: bool = True) -> Iterator[str]:
    """SVGs of what shows the same rows, and differs in what ``sized`` changes with the width.

    Vega-Lite copies rows several times, so it gets none and compiles what is alike once. Vega takes
    0.1 ms for each point of a line; it draws the first one of each line, and the others are added
    to the SVG, if it need not look for the extent of the axes among them. What surrounds a plot is
    as wide in another width: it is mostly drawn once.
    """
    compiled: Spec = {}
    shape: Spec | None = None
    for spec in specs:
        width = spec["width"]
        rows = spec.get("datasets", {})
        alike = _surroundings(spec)
        lines = _lines_of(spec) if with_lines else {}
        if lines:
            firsts = [{"s": name, "t": t[0], "v": v[0]} for name, (t, v) in lines.items()]
            rows = rows | {SAMPLES: firsts, DROPS: rows[DROPS][:1]}
        if shape != (shape := _shape(spec)):
            bare = spec | {"datasets": {name: [] for name in rows}}
            compiled = _converter().vegalite_to_vega(bare, show_warnings=False)
        compiled["config"]["legend"] |= spec["config"]["legend"]
        around = _around.get(alike, 0.0)
        for _ in range(_MOST_FITS):
            svg = _drawn_vega(_in_width(compiled, width - around), rows)
            whole, plot = _widths(svg)
            if whole == width:
                _around[alike] = around
                break
            around = whole - plot
        else:
            # A legend is wider than the plot and what is beside it.
            fitted = {"width": width, "autosize": {"type": "fit-x", "contains": "padding"}}
            svg = _drawn_vega(compiled | fitted, rows)
        yield _renumbered(_with_lines(svg, spec, lines) if lines else svg)


def _surroundings(spec: Spec) -> str:
    """What mostly says how wide all beside a plot is: its names, and the digits of its values."""
    layers = _unit(spec)["layer"]
    encoding = layers[0].get("encoding", {})
    colours = encoding.get("color", {}).get("scale") or {}
    *_, top = (encoding.get("y", {}).get("scale") or {}).get("domain", [0])
    named = layers[-1].get("name") == ENDS and colours.get("domain")
    return f"{named} {len(str(top).partition('.')[0])} {'facet' in spec}"


def _lines_of(spec: Spec) -> Lines:
    """Name → times and values of each line over time; {} if Vega computes what is drawn of them."""
    layers = _unit(spec)["layer"]
    lines = next((each for each in layers if each.get("name") == LINES), None)
    if lines is None or "transform" in lines:
        return {}
    found: Lines = {}
    for row in spec["datasets"][SAMPLES]:
        times, values = found.setdefault(row["s"], ([], []))
        times.append(row["t"])
        values.append(row["v"])
    return found


def _unit(spec: Spec) -> Spec:
    """The part of a specification that has the layers."""
    unit: Spec = spec.get("spec", spec)
    return unit


def _in_width(compiled: Spec, width: float) -> Spec:
    """A specification of Vega with the width of its plot, or of each of several, in px."""
    signals = compiled.get("signals", [])
    if not any(each["name"] == _PARTS_WIDTH for each in signals):
        return compiled | {"width": width}
    changed = {"name": _PARTS_WIDTH, "value": width}
    return compiled | {
        "signals": [changed if each["name"] == _PARTS_WIDTH else each for each in signals]
    }


def _with_lines(svg: str, spec: Spec, lines: Lines) -> str:
    """The SVG with whole lines, of which it has the first points, and all marks of drops."""
    unit = _unit(spec)
    drawn = next(each for each in unit["layer"] if each.get("name") == LINES)
    encoding, interpolate = drawn["encoding"], drawn["mark"]["interpolate"]
    along = math.log if encoding["x"]["scale"].get("type") == "log" else float
    start, end = map(along, encoding["x"]["scale"]["domain"])
    bottom, top = encoding["y"]["scale"]["domain"]
    across, up = _widths(svg)[1] / (end - start), unit["height"] / (top - bottom)
    paths = iter(
        [
            [((along(t) - start) * across, (top - v) * up) for t, v in zip(*points, strict=True)]
            for points in lines.values()
        ]
    )

    def whole(found: re.Match[str]) -> str:
        points = thinned(_in_steps(next(paths), interpolate), _MOST_ASIDE_PX)
        return f"{found[1]}M{'L'.join(f'{x:.5g},{y:.5g}' for x, y in points)}"

    marks = dict.fromkeys(
        round(2 * (along(each["t"]) - start) * across) / 2 for each in spec["datasets"][DROPS]
    )
    path = "".join(f"M{x:g},0v{DROP_HEIGHT}" for x in marks)
    svg = _FIRST_DROP.sub(rf'\1<path d="{path}"', svg)
    return _FIRST_POINT.sub(whole, svg)


def _in_steps(points: Points, interpolate: str) -> Points:
    """The corners of a line that holds its values before or after their times."""
    if interpolate == "linear":
        return points
    corners = [
        (x, after) if interpolate == "step-before" else (after_x, y)
        for (x, y), (after_x, after) in itertools.pairwise(points)
    ]
    return [*itertools.chain(*zip(points, corners, strict=False)), points[-1]]


def thinned(points: Points, most: float) -> Points:
    """Some of the points of a line, which pass all others at most ``most`` above or below them.

    >>> thinned([(0, 0), (1, 0.1), (2, 0), (3, 5), (3, 9), (4, 0)], 0.2)
    [(0, 0), (2, 0), (3, 5), (3, 9), (4, 0)]
    """
    kept = [points[0]]
    (from_x, from_y), last = points[0], points[0]
    low, high = -math.inf, math.inf
    for x, y in points[1:]:
        if not (x > from_x and low * (x - from_x) <= y - from_y <= high * (x - from_x)):
            if last != kept[-1]:
                kept.append(last)
            from_x, from_y = last
            low, high = -math.inf, math.inf
        if x > from_x:
            low = max(low, (y - most - from_y) / (x - from_x))
            high = min(high, (y + most - from_y) / (x - from_x))
        else:
            kept.append((x, y))
            from_x, from_y = x, y
        last = x, y
    return [*kept, last] if last != kept[-1] else kept


def _shape(spec: Spec) -> Spec:
    """What is compiled alike in any width, and for any rows."""
    config = spec.get("config", {})
    legend = config.get("legend", {})
    same = {key: legend[key] for key in legend if key not in ("columns", "labelLimit")}
    return spec | {"width": None, "datasets": None, "config": config | {"legend": same}}


def _drawn_vega(vega: Spec, rows: Mapping[str, object]) -> str:
    """A specification of Vega as SVG, with the rows of its data."""
    data = [
        each | {"values": rows[each["name"]]} if each["name"] in rows else each
        for each in vega["data"]
    ]
    text = json.dumps(vega | {"data": data}, ensure_ascii=False)
    if _OTHER_SCRIPTS.search(text):
        _add_fonts_of_the_machine()
    svg: str = _converter().vega_to_svg(text.replace(FONT, _OWN_FONT))
    return svg.replace(f'font-family="{_OWN_FONT}"', f'font-family="{FONT}"')


def _widths(svg: str) -> tuple[float, float]:
    """Widths of an SVG of Vega, and of each plot in it."""
    whole, plot = re.search(r' width="([0-9.]+)"', svg), _PLOT.search(svg)
    return float(whole[1]) if whole else 0, float(plot[1]) if plot else 0


@functools.cache
def _converter() -> ModuleType:
    """vl-convert with no fonts but its own.

    It opens each of the machine's fonts anew for every text that it measures, which is half of the
    time of a chart, and would prefer the machine's Liberation Sans, of any version.
    """
    import vl_convert  # here because it starts a JavaScript engine, which takes a second

    before = os.environ.get(_FONTS_KEY)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fonts.conf"
        path.write_text(f"<fontconfig><dir>{folder}</dir></fontconfig>", encoding="utf-8")
        os.environ[_FONTS_KEY] = str(path)
        try:
            vl_convert.svg_to_png('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>')
        finally:
            del os.environ[_FONTS_KEY]
            if before is not None:
                os.environ[_FONTS_KEY] = before
    return vl_convert


@functools.cache
def _add_fonts_of_the_machine() -> None:
    for folder in map(Path.expanduser, map(Path, _FONT_FOLDERS)):
        if folder.is_dir():
            _converter().register_font_directory(str(folder))


def drawn(
    drawings: Iterable[Drawing], number: int, processes: int | None = None
) -> Iterator[dict[tuple[int, str], bytes]]:
    """The files of many drawings in their order, drawn by several processes if that is faster.

    Args:
        drawings: made one by one, a few ahead of the last one that is returned.
        number: how many there are.
        processes: most processes; None for as many as this one may use processors.
    """
    processes = processes or len(os.sched_getaffinity(0))
    if processes == 1 or number < _WORTH_PROCESSES:
        yield from map(draw, drawings)
        return
    # Not forked: this process has threads of polars.
    pool = ProcessPoolExecutor(processes, get_context("spawn"), initializer=_leave_signals)
    waiting: deque[Future[dict[tuple[int, str], bytes]]] = deque()
    try:
        for each in drawings:
            waiting.append(pool.submit(draw, each))
            if len(waiting) > _WAITING * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _leave_signals() -> None:
    """An interrupt from the keyboard reaches all processes; the first one ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _in_points(svg: str, unit: str) -> str:
    """The SVG with its outer width and height in pt."""
    return (
        re.sub(
            r'(?<= )(width|height)="([0-9.]+)"',
            lambda found: f'{found[1]}="{float(found[2]) * PT_PER_PX:g}{unit}"',
            svg.split(">", 1)[0],
            count=2,
        )
        + svg[svg.index(">") :]
    )


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
