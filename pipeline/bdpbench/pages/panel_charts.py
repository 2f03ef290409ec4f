"""Specifications of small multiples: matrices side by side in the same colours, one per panel.

Panels form a grid with common axes of names, so that a chart keeps its width. The name of a row or
column on an axis consists of the position of its panel and of its own name, and only the latter is
shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import polars as pl

from bdpbench.pages.chart import Spec
from bdpbench.pages.lazy_altair import alt
from bdpbench.pages.matrix_charts import BARE, DARK_FROM, DIVERGING, RISING, WHITE
from bdpbench.pages.patterns import INK, field, fill, hole, layered, pattern, rows_named

Colouring: TypeAlias = Literal["diverging", "rising", "winner"]

# A chart may take half of a page: with more columns side by side, these get narrower than a finger,
# and with more than a few, narrower than their numbers.
_MOST_COLUMNS = 22
_MOST_WITH_TEXT = 9
_HIGH, _LOW = 36, 22
_MANY_ROWS = 10
_ROOM_ABOVE = 34
_FAINTEST = 0.35

NOBODY = "nobody is ahead"
"""The winner of a cell that nobody wins."""

_OWN_NAME = "slice(datum.label, indexof(datum.label, '|') + 1)"


@dataclass(frozen=True)
class Panels:
    """What panels have in common.

    Attributes:
        names: titles of the panels, in order; a single "" for one panel.
        rows, columns: labels, in order.
        titles: titles of the vertical and of the horizontal axis.
        quantity: what a value is, with its unit.
    """

    names: Sequence[str]
    rows: Sequence[str]
    columns: Sequence[str]
    titles: tuple[str, str]
    quantity: str

    @property
    def in_a_row(self) -> int:
        """Number of panels side by side."""
        return max(1, min(len(self.names), _MOST_COLUMNS // (len(self.columns) + 1)))

    @property
    def has_text(self) -> bool:
        """Whether cells are wide enough for numbers."""
        return self.in_a_row * (len(self.columns) + 1) <= _MOST_WITH_TEXT

    def place(self, name: str) -> tuple[int, int]:
        """Row and column of a panel in the grid."""
        return divmod(list(self.names).index(name), self.in_a_row)


def valued_panels(
    cells: pl.DataFrame,
    panels: Panels,
    ends: tuple[float, float],
    *,
    about_zero: bool = False,
) -> Spec:
    """A number for each cell of each panel, coloured on one scale.

    Args:
        cells: ``panel``, ``row`` and ``column`` str (labels), ``value`` f64, ``text`` str,
            ``run_id`` str, ``run`` str; missing cells stay blank.
        panels: the panels.
        ends: values of the lightest and of the darkest colour.
        about_zero: whether the colours distinguish the sides of 0, ``ends`` being -x and x.
    """
    low, high = ends
    if about_zero:
        domain = [share * high for share in (-1.0, -0.5, 0.0, 0.5, 1.0)]
        words = {"domain": domain, "dark": f"abs(datum.value) > {DARK_FROM * high:g}"}
        return _spec("diverging", cells, panels, words)
    words = {"domain": [low, high], "dark": f"datum.value > {(low + high) / 2:g}"}
    return _spec("rising", cells, panels, words)


def winner_panels(cells: pl.DataFrame, panels: Panels, colours: Mapping[str, str]) -> Spec:
    """The best in each cell, fainter if the lead is smaller, and faintest if nobody is ahead.

    Args:
        cells: ``panel``, ``row`` and ``column`` str (labels), ``winner`` and ``second`` str,
            ``best`` f64 and ``lead`` f64, ``text`` str, ``run_id`` str, ``run`` str.
        panels: the panels.
        colours: winner → colour, #rrggbb; the order of the legend.
    """
    leads = [
        (str(who), 0.0 if who == NOBODY else float(lead))
        for who, lead in cells.select("winner", "lead").rows()
    ]
    largest = max((lead for _, lead in leads), default=0.0) or 1.0
    share = pl.Series("share", [lead / largest for _, lead in leads], pl.Float64)
    ink = pl.Series("ink", [_ink(colours[who], lead / largest) for who, lead in leads], pl.String)
    words = {
        "winners": list(colours),
        "colours": list(colours.values()),
        "dark": f"datum.ink === '{WHITE}'",
    }
    return _spec("winner", cells.with_columns(share, ink), panels, words)


def _ink(colour: str, share: float) -> str:
    """White on dark cells, dark on light ones."""
    strength = _FAINTEST + (1 - _FAINTEST) * share
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    luminance = (0.299 * red + 0.587 * green + 0.114 * blue) / 255
    return WHITE if 1 - strength * (1 - luminance) < 0.55 else INK


def _spec(kind: Colouring, cells: pl.DataFrame, panels: Panels, words: Mapping[str, Any]) -> Spec:
    heads = panels.names != [""]
    lines = -(-len(panels.names) // panels.in_a_row)
    high = _HIGH if len(panels.rows) < _MANY_ROWS else _LOW
    given = {
        "across": _across(panels),
        "down": [
            f"{line}|{row}"
            for line in range(lines)
            for row in (["", *panels.rows] if heads else panels.rows)
        ],
        "height": high * lines * (len(panels.rows) + heads),
        "row_title": panels.titles[0],
        "column_title": panels.titles[1],
        "quantity": panels.quantity,
        "own_name": _OWN_NAME,
    }
    data = {"cells": _placed(cells, panels), "heads": _heads(panels)}
    template = _panels(kind, panels.has_text)
    return fill(template, {**given, **words}, data)


def _across(panels: Panels) -> list[str]:
    """Names on the horizontal axis, with a gap between panels."""
    names: list[str] = []
    for place in range(panels.in_a_row):
        names += [f"{place}|", *(f"{place}|{column}" for column in panels.columns)]
    return names[1:]


def _placed(cells: pl.DataFrame, panels: Panels) -> pl.DataFrame:
    """The cells with their places on the axes, ``x`` and ``y``."""
    places = [panels.place(name) for name in cells["panel"].to_list()]
    line = pl.Series([str(each) for each, _ in places], dtype=pl.String)
    place = pl.Series([str(each) for _, each in places], dtype=pl.String)
    return cells.with_columns(x=place + "|" + pl.col("column"), y=line + "|" + pl.col("row"))


def _heads(panels: Panels) -> pl.DataFrame:
    """The title of each panel, above its first column."""
    rows = [
        {"x": f"{place}|{panels.columns[0]}", "y": f"{line}|", "title": name}
        for name in panels.names
        if name
        for line, place in [panels.place(name)]
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(("x", "y", "title"), pl.String))


@pattern
def _panels(kind: Colouring, has_text: bool) -> alt.LayerChart:
    own_name = {**BARE, "labelExpr": hole("own_name")}
    across = alt.Scale(domain=hole("across"), padding=0.03)
    down = alt.Scale(domain=hole("down"), padding=0.03)
    x = field("x", "nominal", title=hole("column_title"), scale=across)
    y = field("y", "nominal", title=hole("row_title"), scale=down)
    slanted = alt.Axis(**own_name, labelAngle=-40, labelOverlap=False)
    base = alt.Chart().encode(
        x=alt.X(**x, axis=slanted), y=alt.Y(**y, axis=alt.Axis(**own_name, labelOverlap=False))
    )
    cells = base.properties(data=rows_named("cells")).encode(tooltip=_tooltip(kind))
    square = cells.mark_rect(stroke="#c9ced4", strokeWidth=0.6, cursor="pointer")
    coloured = square.encode(color=_colour(kind), **_strength(kind))
    head = base.properties(data=rows_named("heads")).mark_text(
        align="left", fontSize=12, color=INK, baseline="middle"
    )
    named = head.encode(
        x=alt.X(**x, axis=slanted, bandPosition=0), text=alt.Text(**field("title", "nominal"))
    )
    if not has_text:
        return layered(coloured, named, height=hole("height"), room_above=_ROOM_ABOVE)
    ink = alt.condition(hole("dark"), alt.value(WHITE), alt.value(INK))
    number = cells.mark_text(fontSize=11, cursor="pointer").encode(
        text=alt.Text(**field("text", "nominal")), color=ink
    )
    return layered(coloured, number, named, height=hole("height"), room_above=_ROOM_ABOVE)


def _strength(kind: Colouring) -> dict[str, alt.Opacity]:
    if kind != "winner":
        return {}
    scale = alt.Scale(domain=[0, 1], range=[_FAINTEST, 1])
    return {"opacity": alt.Opacity(**field("share", "quantitative"), scale=scale, legend=None)}


def _colour(kind: Colouring) -> alt.Color:
    if kind == "winner":
        scale = alt.Scale(domain=hole("winners"), range=hole("colours"))
        legend = alt.Legend(symbolType="square", symbolStrokeWidth=0)
        return alt.Color(**field("winner", "nominal", title=None, scale=scale, legend=legend))
    legend = alt.Legend(
        gradientLength=220,
        gradientThickness=10,
        orient="top",
        tickCount=5,
        titleFontWeight="normal",
    )
    if kind == "diverging":
        drawn = alt.Scale(domain=hole("domain"), interpolate="rgb", range=list(DIVERGING))
    else:
        drawn = alt.Scale(domain=hole("domain"), range=list(RISING))
    value = field("value", "quantitative", title=hole("quantity"))
    return alt.Color(**value, scale=drawn, legend=legend)


def _tooltip(kind: Colouring) -> list[alt.Tooltip]:
    """Tooltip lines of a cell."""
    place = [
        alt.Tooltip(**field("panel", "nominal", title="panel")),
        alt.Tooltip(**field("row", "nominal", title=hole("row_title"))),
        alt.Tooltip(**field("column", "nominal", title=hole("column_title"))),
    ]
    run = alt.Tooltip(**field("run", "nominal", title="run"))
    if kind != "winner":
        value = field("value", "quantitative", title=hole("quantity"))
        return [*place, alt.Tooltip(**value, format=",.5~g"), run]
    return [
        *place,
        alt.Tooltip(**field("winner", "nominal", title="best")),
        alt.Tooltip(**field("best", "quantitative", title=hole("quantity")), format=",.5~g"),
        alt.Tooltip(**field("second", "nominal", title="second")),
        alt.Tooltip(**field("lead", "quantitative", title="ahead by"), format=",.4~g"),
        run,
    ]
