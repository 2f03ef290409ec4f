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
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from html import escape
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

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

DROP_HEIGHT = 9

MOST_NAMED = 8
"""Most names at the ends of lines."""

# The share of the width that they may take.
_WIDEST_NAMES = 0.34

# Of lines one below the other, px.
_PART_HEIGHT = 62

# As many drawings are worth the start of processes, 0.5 s each; each of these gets so many at once.
_WORTH_PROCESSES = 24
_AHEAD = 8


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
    # In the width of a column, names beside a plot would leave half of it.
    widest = _WIDEST_NAMES if width_pt > COLUMN_PT else _WIDEST_NAMES / 2
    is_narrow = longest * _LETTER < widest * width_px
    has_ends = any(each.get("name") == ENDS for each in found["layer"])
    if has_ends and 1 < len(labels) <= MOST_NAMED and is_narrow:
        for each in found["layer"]:
            for channel in ("color", "strokeDash"):
                if "field" in each.get("encoding", {}).get(channel, {}):
                    each["encoding"][channel]["legend"] = None
    else:
        found["layer"] = [each for each in found["layer"] if each.get("name") != ENDS]
    rows = found["datasets"] = spec.get("datasets", {})
    # Vega takes some ms for a layer that shows nothing.
    found["layer"] = [
        each for each in found["layer"] if "data" not in each or rows[each["data"]["name"]]
    ]
    # On the page, room for a button is left above the chart.
    found |= {"width": width_px, "padding": 2}
    config = found["config"]
    config |= {"font": FONT, "autosize": {"type": "fit-x", "contains": "padding"}}
    # Measuring a text takes as long as drawing a hundred points, and a limit is measured twice.
    config |= {"axisQuantitative": {"labelLimit": 0}}
    config["legend"] |= {
        "columns": max(1, int(width_px // (longest * _LETTER + _AROUND_A_NAME))),
        "labelLimit": width_px - _AROUND_A_NAME,
        "titleFontWeight": "normal",
    }
    if rows.get("thresholds"):
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
    width = spec["width"] - _BESIDE_WORDS
    look = {"labelAnchor": "start", "labelOrient": "top", "labelPadding": 2, "labelFontSize": 11}
    look["labelLimit"] = width
    row = {"field": "s", "type": "nominal", "title": None, "sort": list(labels), "header": look}
    letters = int(width / _LETTER)
    words = {"anchor": "start", "frame": "group", "fontSize": 12, "fontWeight": "normal"}
    ticks = {"tickCount": math.ceil(width / 70)}
    same = {key: spec[key] for key in spec if key not in ("layer", "height", "width")}
    return same | {
        "config": spec["config"] | {"axisX": spec["config"]["axisX"] | ticks, "autosize": "pad"},
        "data": {"name": SAMPLES},
        "facet": {"row": row},
        "spacing": 2,
        "spec": {"layer": layers, "height": _PART_HEIGHT, "width": width},
        "title": {"text": textwrap.wrap(quantity, letters), **words},
    }


def draw(drawing: Drawing) -> dict[tuple[int, str], bytes]:
    """A drawing as files: width and format → bytes.

    The same drawing has the same bytes wherever this version of vl-convert runs: it ships the font,
    and nothing in a figure is bold, because the order of two font faces in a PDF is arbitrary.
    """
    found: dict[tuple[int, str], bytes] = {}
    for width_pt in drawing.widths_pt:
        spec = sized(drawing.spec, drawing.labels, width_pt)
        svg = svg_of(_apart(spec, drawing.labels) if drawing.apart else spec)
        if "svg" in drawing.formats:
            described = svg.replace(">", f"><desc>{escape(drawing.description)}</desc>", 1)
            found[width_pt, "svg"] = f"{_as_wide(described, width_pt, 'pt')}\n".encode()
        if "pdf" in drawing.formats:
            pdf = _converter().svg_to_pdf(_as_wide(svg, width_pt, ""))
            found[width_pt, "pdf"] = _in_order(bytes(pdf))
        if "png" in drawing.formats:
            wide = _as_wide(svg, width_pt / PT_PER_PX, "")
            png = _converter().svg_to_png(wide, scale=PNG_SCALE, ppi=96)
            found[width_pt, "png"] = bytes(png)
    return found


def svg_of(spec: Spec) -> str:
    """A whole specification as SVG."""
    text = json.dumps(spec, ensure_ascii=False)
    if _OTHER_SCRIPTS.search(text):
        _add_fonts_of_the_machine()
    svg: str = _converter().vegalite_to_svg(text.replace(FONT, _OWN_FONT), show_warnings=False)
    return _renumbered(svg.replace(f'font-family="{_OWN_FONT}"', f'font-family="{FONT}"'))


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
    try:
        iterator = iter(drawings)
        while some := list(itertools.islice(iterator, _AHEAD * processes)):
            yield from pool.map(draw, some)
    finally:
        pool.shutdown(cancel_futures=True)


def _leave_signals() -> None:
    """An interrupt from the keyboard reaches all processes; the first one ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _as_wide(svg: str, width: float, unit: str) -> str:
    """The SVG in a width, and as high as follows: what has parts cannot be fitted by Vega."""
    head, rest = svg.split(">", 1)
    drawn = float(re.findall(r' width="([0-9.]+)"', head)[0])
    head = re.sub(
        r'(?<= )(width|height)="([0-9.]+)"',
        lambda found: f'{found[1]}="{float(found[2]) * width / drawn:g}{unit}"',
        head,
        count=2,
    )
    return f"{head}>{rest}"


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
