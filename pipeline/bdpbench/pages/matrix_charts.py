"""Specifications of matrices and bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import polars as pl

from bdpbench.pages.chart import Spec
from bdpbench.pages.lazy_altair import alt
from bdpbench.pages.patterns import INK, field, fill, hole, layered, pattern, rows_named

CELL_HEIGHT = 46
WHITE = "#ffffff"
# px for the button that saves the chart; no legend is placed beside it.
_ROOM_ABOVE = 34
# Length of the axis relative to the longest bar, to leave room for the text at its end.
_ROOM_FOR_TEXT = 1.6
_BAR_HEIGHT = 38
# px for a name of runs, which leaves half of a card for its bar.
_LABEL_LIMIT = 230
# px for the title of a legend, which is the name of a metric; the default cuts it off.
_LEGEND_TITLE_LIMIT = 300

BARE: Mapping[str, Any] = {"domain": False, "grid": False, "labelPadding": 6, "ticks": False}
_BAND = {"band": 0.62}

# Blue to orange via white, distinguishable with every kind of colour blindness, with ends darker
# than the middle (after ColorBrewer's PuOr and RdBu).
DIVERGING = ("#08519c", "#6baed6", "#ffffff", "#fdae6b", "#a63603")
RISING = ("#f3f4f6", "#374151")
# Beyond this share of the distance from the middle, a cell is so dark that its number has to be
# white.
DARK_FROM = 0.75

_Colouring: TypeAlias = Literal["diverging", "rising", "level", "level in words"]


def diverging_matrix(
    cells: pl.DataFrame,
    order: tuple[Sequence[str], Sequence[str]],
    titles: tuple[str, str],
    quantity: str,
    reach: float = 1.0,
) -> Spec:
    """A number from -reach to reach for each cell, coloured by its side of 0 and its distance.

    Args:
        cells: ``row`` and ``column`` str (labels), ``value`` f64, ``text`` str (text of the cell),
            ``run_id`` str, ``run`` str; missing cells stay blank.
        order: labels of the rows and of the columns; those without cells are kept.
        titles: titles of the vertical and of the horizontal axis.
        quantity: what ``value`` is.
        reach: value of the darkest colour.
    """
    domain = [share * reach for share in (-1, -0.5, 0, 0.5, 1)]
    words = {
        "domain": [int(each) if each == int(each) else each for each in domain],
        "dark": f"abs(datum.value) > {DARK_FROM * reach:g}",
    }
    return _matrix_spec("diverging", cells, order, titles, quantity, words)


def rising_matrix(
    cells: pl.DataFrame,
    order: tuple[Sequence[str], Sequence[str]],
    titles: tuple[str, str],
    quantity: str,
    ends: tuple[float, float],
) -> Spec:
    """A number for each cell, darker if larger; see ``diverging_matrix``.

    ``ends`` are the values of the lightest and of the darkest colour.
    """
    low, high = ends
    words = {"domain": [low, high], "dark": f"datum.value > {(low + high) / 2:g}"}
    return _matrix_spec("rising", cells, order, titles, quantity, words)


def level_matrix(
    cells: pl.DataFrame,
    order: tuple[Sequence[str], Sequence[str]],
    titles: tuple[str, str],
    quantity: str,
    levels: int,
) -> Spec:
    """A level from 1 to ``levels`` for each cell, darker if higher.

    Args:
        cells: ``row`` and ``column`` str (labels), ``value`` f64 (the level), ``text`` str, and
            ``words`` str if levels have names.
        order: labels of the rows and of the columns.
        titles: titles of the vertical and of the horizontal axis.
        quantity: what a level means.
        levels: the highest level.
    """
    words = {"domain": [1, levels], "dark": f"datum.value > {levels} / 2 + 0.5"}
    kind: _Colouring = "level in words" if "words" in cells.columns else "level"
    return _matrix_spec(kind, cells, order, titles, quantity, words)


def _matrix_spec(
    kind: _Colouring,
    cells: pl.DataFrame,
    order: tuple[Sequence[str], Sequence[str]],
    titles: tuple[str, str],
    quantity: str,
    words: Mapping[str, Any],
) -> Spec:
    labels = {"rows": list(order[0]), "columns": list(order[1]), "quantity": quantity}
    labels |= {"row_title": titles[0], "column_title": titles[1]}
    height = CELL_HEIGHT * len(order[0])
    return fill(_matrix(kind), {**labels, **words, "height": height}, {"cells": cells})


@pattern
def _matrix(kind: _Colouring) -> alt.LayerChart:
    rows = alt.Scale(domain=hole("rows"), padding=0.03)
    columns = alt.Scale(domain=hole("columns"), padding=0.03)
    slanted = alt.Axis(**BARE, labelAngle=-40)
    row = field("row", "nominal", title=hole("row_title"))
    column = field("column", "nominal", title=hole("column_title"))
    base = alt.Chart(rows_named("cells")).encode(
        x=alt.X(**column, scale=columns, axis=slanted),
        y=alt.Y(**row, scale=rows, axis=alt.Axis(**BARE)),
        tooltip=[alt.Tooltip(**row), alt.Tooltip(**column), *_tooltip(kind)],
    )
    cell = base.mark_rect(stroke="#c9ced4", strokeWidth=0.6, cursor="pointer")
    text = base.mark_text(fontSize=11.5, cursor="pointer")
    ink = alt.condition(hole("dark"), alt.value(WHITE), alt.value(INK))
    return layered(
        cell.encode(color=_colour(kind)),
        text.encode(text=alt.Text(**field("text", "nominal")), color=ink),
        height=hole("height"),
        room_above=_ROOM_ABOVE,
    )


def _tooltip(kind: _Colouring) -> list[alt.Tooltip]:
    """Tooltip lines of a cell, in addition to its row and column."""
    value = field("value", "quantitative", title=hole("quantity"))
    if kind == "level":
        return [alt.Tooltip(**value)]
    if kind == "level in words":
        return [alt.Tooltip(**value), alt.Tooltip(**field("words", "nominal", title="that is"))]
    run = alt.Tooltip(**field("run", "nominal", title="run"))
    return [alt.Tooltip(**value, format="+.4f" if kind == "diverging" else ",.5~g"), run]


def _colour(kind: _Colouring) -> alt.Color:
    legend = alt.Legend(
        gradientLength=220,
        gradientThickness=10,
        orient="top",
        tickCount=5,
        titleFontWeight="normal",
        titleLimit=_LEGEND_TITLE_LIMIT,
    )
    domain = hole("domain")
    if kind == "diverging":
        scale = alt.Scale(domain=domain, interpolate="rgb", range=list(DIVERGING))
    else:
        scale = alt.Scale(domain=domain, range=list(RISING))
    shown = legend if kind in ("diverging", "rising") else None
    value = field("value", "quantitative", title=hole("quantity"))
    return alt.Color(**value, scale=scale, legend=shown)


def protocol_bars(
    bars: pl.DataFrame, order: Sequence[str], colours: Mapping[str, str], quantity: str
) -> Spec:
    """A number for each protocol as a bar, with a text at its end.

    Args:
        bars: ``protocol`` str (label), ``value`` f64, ``text`` str, ``run_id`` str, ``run`` str.
        order: labels from top to bottom.
        colours: label → colour.
        quantity: title of the horizontal axis.
    """
    longest = max(bars["value"].to_list(), default=0.0) or 1.0
    words = {
        "quantity": quantity,
        "across": [0, longest * _ROOM_FOR_TEXT],
        "order": list(order),
        "labels": list(colours),
        "colours": list(colours.values()),
        "height": _BAR_HEIGHT * len(order),
    }
    return fill(_bars(), words, {"bars": bars})


@pattern
def _bars() -> alt.LayerChart:
    across = alt.Scale(domain=hole("across"), nice=False)
    amount = field("value", "quantitative", title=hole("quantity"))
    base = alt.Chart(rows_named("bars")).encode(
        x=alt.X(**amount, scale=across),
        y=_names_of_bars("protocol", alt.Axis(**BARE)),
        tooltip=[
            alt.Tooltip(**field("protocol", "nominal", title="protocol")),
            alt.Tooltip(**amount),
        ],
    )
    text = base.mark_text(align="left", dx=6, fontSize=11.5, color=INK)
    return layered(
        base.mark_bar(height=_BAND, cursor="pointer").encode(color=_colour_of_bars("protocol")),
        text.encode(text=alt.Text(**field("text", "nominal"))),
        height=hole("height"),
        room_above=_ROOM_ABOVE,
    )


def _names_of_bars(column: str, axis: alt.Axis) -> alt.Y:
    order = alt.Scale(domain=hole("order"))
    return alt.Y(**field(column, "nominal", title=None, scale=order, axis=axis))


def _colour_of_bars(column: str) -> alt.Color:
    scale = alt.Scale(domain=hole("labels"), range=hole("colours"))
    return alt.Color(**field(column, "nominal", scale=scale, legend=None))


def interval_bars(
    bars: pl.DataFrame, order: Sequence[str], colours: Sequence[str], quantity: str
) -> Spec:
    """Means as bars, each with its confidence interval.

    Args:
        bars: ``label`` str, ``mean``, ``lower``, ``upper`` f64, ``runs`` i64, ``run_id`` str.
        order: labels from top to bottom.
        colours: colours of the bars, in order.
        quantity: title of the horizontal axis, with unit.
    """
    words = {
        "quantity": quantity,
        "order": list(order),
        "labels": list(order),
        "colours": list(colours),
        "height": _BAR_HEIGHT * len(order),
    }
    return fill(_intervals(), words, {"bars": bars})


@pattern
def _intervals() -> alt.LayerChart:
    base = alt.Chart(rows_named("bars")).encode(
        y=_names_of_bars("label", alt.Axis(**BARE, labelLimit=_LABEL_LIMIT)),
        tooltip=[
            alt.Tooltip(**field("label", "nominal", title="runs of")),
            alt.Tooltip(**field("mean", "quantitative", title="mean", format=",.5~g")),
            alt.Tooltip(**field("lower", "quantitative", title="from", format=",.5~g")),
            alt.Tooltip(**field("upper", "quantitative", title="to", format=",.5~g")),
            alt.Tooltip(**field("runs", "quantitative", title="repetitions")),
        ],
    )
    lower, upper = (alt.X(**field(end, "quantitative")) for end in ("lower", "upper"))
    bar = base.mark_bar(height=_BAND, cursor="pointer", opacity=0.75)
    mean = alt.X(**field("mean", "quantitative", title=hole("quantity")))
    # An interval of zero width would look like a very narrow one.
    wide = base.transform_filter("datum.upper > datum.lower")
    rule = wide.mark_rule(strokeWidth=1.6, color=INK)
    tick = wide.mark_tick(color=INK, thickness=1.6, size=12)
    return layered(
        bar.encode(x=mean, color=_colour_of_bars("label")),
        rule.encode(x=lower, x2=alt.X2(field="upper")),
        tick.encode(x=lower),
        tick.encode(x=upper),
        height=hole("height"),
        room_above=_ROOM_ABOVE,
    )
