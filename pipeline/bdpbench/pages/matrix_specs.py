"""Specifications of matrices, alone or as panels side by side in the same colours.

Panels form a grid with common axes of names, so that a chart keeps its width. The name of a row or
column on an axis consists of the position of its panel and of its own name, and only the latter is
shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from bdpbench.pages.specs import (
    BARE,
    INK,
    ROOM_ABOVE,
    Channel,
    Encoding,
    Spec,
    coloured,
    layer,
    layered,
    number,
    text,
)

NOBODY = "nobody is ahead"
"""The winner of a cell that nobody wins."""

_CELL_HEIGHT, _HIGH, _LOW = 46, 36, 22

# Above this number of rows, the cells of panels are low.
_MANY_ROWS = 10

# px for the title of a legend, which is the name of a metric; the default cuts it off.
_LEGEND_TITLE_LIMIT = 300

# A chart may take half of a page: with more columns side by side, these get narrower than a finger,
# and with more than a few, narrower than their numbers.
_MOST_COLUMNS = 22
_MOST_WITH_TEXT = 9
_WHITE = "#ffffff"
_EDGE: Mapping[str, Any] = {"stroke": "#c9ced4", "strokeWidth": 0.6, "cursor": "pointer"}

# Blue to orange via white, distinguishable with every kind of colour blindness, with ends darker
# than the middle (after ColorBrewer's PuOr and RdBu).
_DIVERGING = ("#08519c", "#6baed6", "#ffffff", "#fdae6b", "#a63603")
# From light to dark through hues, so that values near one another differ (ColorBrewer's YlGnBu).
_RISING = ("#ffffd9", "#7fcdbb", "#2c7fb8", "#253494")

# Beyond this share of the distance from the middle, a cell is so dark that its number has to be
# white.
_DARK_FROM = 0.75
_GRADIENT: Mapping[str, Any] = {
    "gradientLength": 220,
    "gradientThickness": 10,
    "orient": "top",
    "tickCount": 5,
    "titleFontWeight": "normal",
}
_FAINTEST = 0.35
_OWN_NAME = "slice(datum.label, indexof(datum.label, '|') + 1)"


@dataclass(frozen=True)
class Axes:
    """What the cells of a matrix, or of several panels, have in common.

    Attributes:
        rows, columns: labels, in order; those without cells are kept.
        titles: titles of the vertical and of the horizontal axis.
        quantity: what a value is.
        panels: titles of the panels, in order; a single "" for one matrix.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    titles: tuple[str, str]
    quantity: str
    panels: Sequence[str] = ("",)

    @property
    def has_panels(self) -> bool:
        """Whether there is more than a matrix without a title."""
        return list(self.panels) != [""]

    @property
    def in_a_row(self) -> int:
        """Number of panels side by side."""
        return max(1, min(len(self.panels), _MOST_COLUMNS // (len(self.columns) + 1)))

    @property
    def has_text(self) -> bool:
        """Whether cells of panels are wide enough for numbers."""
        return self.in_a_row * (len(self.columns) + 1) <= _MOST_WITH_TEXT

    def place(self, panel: str) -> tuple[int, int]:
        """Row and column of a panel in the grid."""
        return divmod(list(self.panels).index(panel), self.in_a_row)


def valued_matrix(
    cells: pl.DataFrame, axes: Axes, ends: tuple[float, float], reference: float | None = None
) -> Spec:
    """A number for each cell, coloured by its side of the reference and its distance from it.

    If all values are on one side, those nearer to the reference are lighter, and without a
    reference the smaller ones.

    Args:
        cells: ``panel``, ``row`` and ``column`` str (labels), ``value`` f64, ``text`` str,
            ``run_id`` str, ``run`` str; missing cells stay blank.
        axes: the axes and panels.
        ends: the smallest and the largest value that have a colour of their own.
        reference: the value that others are compared with, such as 1 for a fair share.
    """
    low, high = ends
    scale: dict[str, Any] = _rising(low, high)
    dark = f"datum.value > {(low + high) / 2:g}"
    if reference is not None and low < reference < high:
        reach = max(high - reference, reference - low)
        domain = [reference + share * reach for share in (-1, -0.5, 0, 0.5, 1)]
        domain = [int(each) if each == int(each) else each for each in domain]
        scale = {
            "domain": domain, "interpolate": "rgb", "range": list(_DIVERGING), "clamp": True,
        }  # fmt: skip
        dark = f"abs(datum.value - {reference:g}) > {_DARK_FROM * reach:g}"
    elif reference is not None and reference >= high:
        scale["range"].reverse()
        dark = dark.replace(">", "<")
    value_format = "+.4f" if reference == 0 and not axes.has_panels else ",.5~g"
    tips = [number("value", axes.quantity, value_format), text("run", "run")]
    legend = dict(_GRADIENT)
    if not axes.has_panels:
        legend["titleLimit"] = _LEGEND_TITLE_LIMIT
    colour = {"color": number("value", axes.quantity, scale=scale, legend=legend)}
    return (_panels if axes.has_panels else _matrix)(cells, axes, colour, tips, dark)


def _rising(low: float, high: float) -> dict[str, Any]:
    steps = len(_RISING) - 1
    domain = [low + (high - low) * place / steps for place in range(steps + 1)]
    return {"domain": domain, "interpolate": "rgb", "range": list(_RISING), "clamp": True}


def winner_matrix(cells: pl.DataFrame, axes: Axes, colours: Mapping[str, str]) -> Spec:
    """The best in each cell, fainter if the lead is smaller, and faintest if nobody is ahead.

    Args:
        cells: ``panel``, ``row`` and ``column`` str (labels), ``winner`` and ``second`` str,
            ``best`` f64 and ``lead`` f64, ``text`` str, ``run_id`` str, ``run`` str.
        axes: the axes and panels.
        colours: winner → colour, #rrggbb; the order of the legend.
    """
    leads = [
        (str(who), 0.0 if who == NOBODY else float(lead))
        for who, lead in cells.select("winner", "lead").rows()
    ]
    largest = max((lead for _, lead in leads), default=0.0) or 1.0
    share = pl.Series("share", [lead / largest for _, lead in leads], pl.Float64)
    ink = pl.Series("ink", [_ink(colours[who], lead / largest) for who, lead in leads], pl.String)
    tips = [
        text("winner", "best"),
        number("best", axes.quantity, ",.5~g"),
        text("second", "second"),
        number("lead", "ahead by", ",.4~g"),
        text("run", "run"),
    ]
    squares = {"symbolType": "square", "symbolStrokeWidth": 0}
    strength = {"domain": [0, 1], "range": [_FAINTEST, 1]}
    colour = {
        "color": coloured("winner", colours, title=None, legend=squares),
        "opacity": number("share", scale=strength, legend=None),
    }
    shown = cells.with_columns(share, ink)
    return _panels(shown, axes, colour, tips, f"datum.ink === '{_WHITE}'")


def _ink(colour: str, share: float) -> str:
    """White on dark cells, dark on light ones."""
    strength = _FAINTEST + (1 - _FAINTEST) * share
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    luminance = (0.299 * red + 0.587 * green + 0.114 * blue) / 255
    return _WHITE if 1 - strength * (1 - luminance) < 0.55 else INK


def _matrix(
    cells: pl.DataFrame, axes: Axes, colour: Encoding, tips: Sequence[Channel], dark: str
) -> Spec:
    """Cells in one matrix; their numbers are white where the expression ``dark`` is true."""
    row_title, column_title = axes.titles
    rows = {"domain": list(axes.rows), "padding": 0.03}
    columns = {"domain": list(axes.columns), "padding": 0.03}
    place = [text("row", row_title), text("column", column_title)]
    base: Encoding = {
        "x": text("column", column_title, scale=columns, axis={**BARE, "labelAngle": -40}),
        "y": text("row", row_title, scale=rows, axis=BARE),
        "tooltip": [*place, *tips],
    }
    numbers = {**base, "text": text("text"), "color": _ink_where(dark)}
    return layered(
        layer("rect", "cells", {**base, **colour}, **_EDGE),
        layer("text", "cells", numbers, fontSize=11.5, cursor="pointer"),
        height=_CELL_HEIGHT * len(axes.rows),
        rows={"cells": cells.drop("panel", strict=False)},
        room_above=ROOM_ABOVE,
    )


def _ink_where(dark: str) -> Channel:
    return {"condition": {"test": dark, "value": _WHITE}, "value": INK}


def _panels(
    cells: pl.DataFrame, axes: Axes, colour: Encoding, tips: Sequence[Channel], dark: str
) -> Spec:
    """The same in panels side by side."""
    (row_title, column_title), lines = axes.titles, -(-len(axes.panels) // axes.in_a_row)
    rows = ["", *axes.rows] if axes.has_panels else axes.rows
    columns = [
        f"{place}|{column}" for place in range(axes.in_a_row) for column in ("", *axes.columns)
    ]
    # A gap between panels, but none before the first.
    across = {"domain": columns[1:], "padding": 0.03}
    down = {"domain": [f"{n}|{row}" for n in range(lines) for row in rows], "padding": 0.03}
    own_name = {**BARE, "labelExpr": _OWN_NAME, "labelOverlap": False}
    x = text("x", column_title, scale=across, axis={**own_name, "labelAngle": -40})
    place = {"x": x, "y": text("y", row_title, scale=down, axis=own_name)}
    where = [text("panel", "panel"), text("row", row_title), text("column", column_title)]
    base: Encoding = {**place, "tooltip": [*where, *tips]}
    numbers = {**base, "text": text("text"), "color": _ink_where(dark)}
    heads = {**place, "x": {**x, "bandPosition": 0}, "text": text("title")}
    look = {"align": "left", "fontSize": 11, "color": INK, "baseline": "middle", "lineBreak": "\n"}
    return layered(
        layer("rect", "cells", {**base, **colour}, **_EDGE),
        *(
            [layer("text", "cells", numbers, fontSize=11, cursor="pointer")]
            if axes.has_text
            else []
        ),
        layer("text", "heads", heads, **look),
        height=(_HIGH if len(axes.rows) < _MANY_ROWS else _LOW) * lines * len(rows),
        rows={"cells": _placed(cells, axes), "heads": _heads(axes)},
        room_above=ROOM_ABOVE,
    )


def _placed(cells: pl.DataFrame, axes: Axes) -> pl.DataFrame:
    """The cells with their places on the axes, ``x`` and ``y``."""
    places = [axes.place(name) for name in cells["panel"].to_list()]
    line = pl.Series([str(each) for each, _ in places], dtype=pl.String)
    place = pl.Series([str(each) for _, each in places], dtype=pl.String)
    return cells.with_columns(x=place + "|" + pl.col("column"), y=line + "|" + pl.col("row"))


def _in_two_lines(title: str, columns: int) -> str:
    """A title with its value in a line of its own, if it is wider than its panel on a phone."""
    return title if len(title) <= 4 * columns else re.sub(r" (?=\d)", "\n", title, count=1)


def _heads(axes: Axes) -> pl.DataFrame:
    """The title of each panel, above its first column."""
    rows = [
        {
            "x": f"{place}|{axes.columns[0]}",
            "y": f"{line}|",
            "title": _in_two_lines(name, len(axes.columns)),
        }
        for name in axes.panels
        if name
        for line, place in [axes.place(name)]
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(("x", "y", "title"), pl.String))
