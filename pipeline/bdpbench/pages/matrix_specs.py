"""Specifications of matrices, alone or as panels side by side in the same colours.

Panels form a grid with common axes of names, so that a chart keeps its width. The name of a row or
column on an axis consists of the position of its panel and of its own name, and only the latter is
shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import polars as pl

from bdpbench.pages.specs import (
    BARE,
    INK,
    ROOM_ABOVE,
    Spec,
    alt,
    field,
    fill,
    hole,
    layered,
    number_tip,
    pattern,
    rows_named,
    text_tip,
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
_RISING = ("#f3f4f6", "#374151")

# Beyond this share of the distance from the middle, a cell is so dark that its number has to be
# white.
_DARK_FROM = 0.75
_FAINTEST = 0.35
_OWN_NAME = "slice(datum.label, indexof(datum.label, '|') + 1)"
_Colouring: TypeAlias = Literal["diverging", "rising", "level", "level in words", "winner"]


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
    cells: pl.DataFrame, axes: Axes, ends: tuple[float, float], *, about_zero: bool = False
) -> Spec:
    """A number for each cell, darker if larger, or coloured by its side of 0 and its distance.

    Args:
        cells: ``panel``, ``row`` and ``column`` str (labels), ``value`` f64, ``text`` str,
            ``run_id`` str, ``run`` str; missing cells stay blank.
        axes: the axes and panels.
        ends: values of the lightest and of the darkest colour.
        about_zero: whether the colours distinguish the sides of 0, ``ends`` being -x and x.
    """
    low, high = ends
    words: dict[str, Any] = {"domain": [low, high], "dark": f"datum.value > {(low + high) / 2:g}"}
    if about_zero:
        domain = [share * high for share in (-1, -0.5, 0, 0.5, 1)]
        words["domain"] = [int(each) if each == int(each) else each for each in domain]
        words["dark"] = f"abs(datum.value) > {_DARK_FROM * high:g}"
    draw = _panels_spec if axes.has_panels else _matrix_spec
    return draw("diverging" if about_zero else "rising", cells, axes, words)


def level_matrix(cells: pl.DataFrame, axes: Axes, levels: int) -> Spec:
    """A level from 1 to ``levels`` for each cell, darker if higher.

    Args:
        cells: ``row`` and ``column`` str (labels), ``value`` f64 (the level), ``text`` str, and
            ``words`` str if levels have names.
        axes: the axes; the quantity is what a level means.
        levels: the highest level.
    """
    words = {"domain": [1, levels], "dark": f"datum.value > {levels} / 2 + 0.5"}
    return _matrix_spec(
        "level in words" if "words" in cells.columns else "level", cells, axes, words
    )


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
    words = {
        "winners": list(colours),
        "colours": list(colours.values()),
        "dark": f"datum.ink === '{_WHITE}'",
    }
    return _panels_spec("winner", cells.with_columns(share, ink), axes, words)


def _ink(colour: str, share: float) -> str:
    """White on dark cells, dark on light ones."""
    strength = _FAINTEST + (1 - _FAINTEST) * share
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    luminance = (0.299 * red + 0.587 * green + 0.114 * blue) / 255
    return _WHITE if 1 - strength * (1 - luminance) < 0.55 else INK


def _matrix_spec(
    kind: _Colouring, cells: pl.DataFrame, axes: Axes, words: Mapping[str, Any]
) -> Spec:
    given = {"rows": list(axes.rows), "columns": list(axes.columns)}
    height = _CELL_HEIGHT * len(axes.rows)
    shown = cells.drop("panel", strict=False)
    return fill(
        _matrix(kind), {**given, **words, **_titles(axes), "height": height}, {"cells": shown}
    )


def _titles(axes: Axes) -> dict[str, str]:
    row, column = axes.titles
    return {"row_title": row, "column_title": column, "quantity": axes.quantity}


def _panels_spec(
    kind: _Colouring, cells: pl.DataFrame, axes: Axes, words: Mapping[str, Any]
) -> Spec:
    lines = -(-len(axes.panels) // axes.in_a_row)
    rows = ["", *axes.rows] if axes.has_panels else axes.rows
    high = _HIGH if len(axes.rows) < _MANY_ROWS else _LOW
    columns = [
        f"{place}|{column}" for place in range(axes.in_a_row) for column in ("", *axes.columns)
    ]
    given = {
        "across": columns[1:],  # a gap between panels, but none before the first
        "down": [f"{line}|{row}" for line in range(lines) for row in rows],
        "height": high * lines * len(rows),
        "own_name": _OWN_NAME,
    }
    data = {"cells": _placed(cells, axes), "heads": _heads(axes)}
    return fill(_panels(kind, axes.has_text), {**given, **words, **_titles(axes)}, data)


def _placed(cells: pl.DataFrame, axes: Axes) -> pl.DataFrame:
    """The cells with their places on the axes, ``x`` and ``y``."""
    places = [axes.place(name) for name in cells["panel"].to_list()]
    line = pl.Series([str(each) for each, _ in places], dtype=pl.String)
    place = pl.Series([str(each) for _, each in places], dtype=pl.String)
    return cells.with_columns(x=place + "|" + pl.col("column"), y=line + "|" + pl.col("row"))


def _heads(axes: Axes) -> pl.DataFrame:
    """The title of each panel, above its first column."""
    rows = [
        {"x": f"{place}|{axes.columns[0]}", "y": f"{line}|", "title": name}
        for name in axes.panels
        if name
        for line, place in [axes.place(name)]
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(("x", "y", "title"), pl.String))


@pattern
def _matrix(kind: _Colouring) -> alt.LayerChart:
    rows = alt.Scale(domain=hole("rows"), padding=0.03)
    columns = alt.Scale(domain=hole("columns"), padding=0.03)
    row = field("row", "nominal", title=hole("row_title"))
    column = field("column", "nominal", title=hole("column_title"))
    base = alt.Chart(rows_named("cells")).encode(
        x=alt.X(**column, scale=columns, axis=alt.Axis(**BARE, labelAngle=-40)),
        y=alt.Y(**row, scale=rows, axis=alt.Axis(**BARE)),
        tooltip=[alt.Tooltip(**row), alt.Tooltip(**column), *_value_tips(kind, "+.4f")],
    )
    text = base.mark_text(fontSize=11.5, cursor="pointer")
    colour = _value_colour(kind, titleLimit=_LEGEND_TITLE_LIMIT)
    return layered(
        base.mark_rect(**_EDGE).encode(color=colour),
        text.encode(text=alt.Text(**field("text", "nominal")), color=_ink_of_cells()),
        height=hole("height"),
        room_above=ROOM_ABOVE,
    )


def _ink_of_cells() -> Any:
    return alt.condition(hole("dark"), alt.value(_WHITE), alt.value(INK))


def _value_tips(kind: _Colouring, diverging_format: str) -> list[alt.Tooltip]:
    """Tooltip lines of a value, in addition to its place."""
    quantity = hole("quantity")
    if kind == "level":
        return [number_tip("value", quantity)]
    if kind == "level in words":
        return [number_tip("value", quantity), text_tip("words", "that is")]
    number_format = diverging_format if kind == "diverging" else ",.5~g"
    return [number_tip("value", quantity, number_format), text_tip("run", "run")]


def _value_colour(kind: _Colouring, **legend: Any) -> alt.Color:
    if kind == "diverging":
        scale = alt.Scale(domain=hole("domain"), interpolate="rgb", range=list(_DIVERGING))
    else:
        scale = alt.Scale(domain=hole("domain"), range=list(_RISING))
    shown = alt.Legend(
        gradientLength=220,
        gradientThickness=10,
        orient="top",
        tickCount=5,
        titleFontWeight="normal",
        **legend,
    )
    value = field("value", "quantitative", title=hole("quantity"))
    return alt.Color(**value, scale=scale, legend=None if kind.startswith("level") else shown)


@pattern
def _panels(kind: _Colouring, has_text: bool) -> alt.LayerChart:
    own_name = {**BARE, "labelExpr": hole("own_name"), "labelOverlap": False}
    x = field(
        "x",
        "nominal",
        title=hole("column_title"),
        scale=alt.Scale(domain=hole("across"), padding=0.03),
        axis=alt.Axis(**own_name, labelAngle=-40),
    )
    down = alt.Scale(domain=hole("down"), padding=0.03)
    y = field("y", "nominal", title=hole("row_title"), scale=down, axis=alt.Axis(**own_name))
    base = alt.Chart().encode(x=alt.X(**x), y=alt.Y(**y))
    cells = base.properties(data=rows_named("cells")).encode(tooltip=_panel_tips(kind))
    head = base.properties(data=rows_named("heads")).mark_text(
        align="left", fontSize=12, color=INK, baseline="middle"
    )
    number = cells.mark_text(fontSize=11, cursor="pointer").encode(
        text=alt.Text(**field("text", "nominal")), color=_ink_of_cells()
    )
    return layered(
        cells.mark_rect(**_EDGE).encode(**_panel_colour(kind)),
        *([number] if has_text else []),
        head.encode(x=alt.X(**x, bandPosition=0), text=alt.Text(**field("title", "nominal"))),
        height=hole("height"),
        room_above=ROOM_ABOVE,
    )


def _panel_colour(kind: _Colouring) -> dict[str, Any]:
    if kind != "winner":
        return {"color": _value_colour(kind)}
    scale = alt.Scale(domain=hole("winners"), range=hole("colours"))
    legend = alt.Legend(symbolType="square", symbolStrokeWidth=0)
    strength = alt.Scale(domain=[0, 1], range=[_FAINTEST, 1])
    return {
        "color": alt.Color(**field("winner", "nominal", title=None, scale=scale, legend=legend)),
        "opacity": alt.Opacity(**field("share", "quantitative"), scale=strength, legend=None),
    }


def _panel_tips(kind: _Colouring) -> list[alt.Tooltip]:
    """Tooltip lines of a cell."""
    place = [
        text_tip("panel", "panel"),
        text_tip("row", hole("row_title")),
        text_tip("column", hole("column_title")),
    ]
    if kind != "winner":
        return [*place, *_value_tips(kind, ",.5~g")]
    return [
        *place,
        text_tip("winner", "best"),
        number_tip("best", hole("quantity"), ",.5~g"),
        text_tip("second", "second"),
        number_tip("lead", "ahead by", ",.4~g"),
        text_tip("run", "run"),
    ]
