"""Specifications of matrices and bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from bdpbench.pages.vega import INK, Json, Layer, Spec, field, layered, mark, series_scale

CELL_HEIGHT = 46
_WHITE = "#ffffff"
# px for the button that saves the chart, beside which no legend stands.
_ROOM_ABOVE = 34
# Of the axis against the longest bar, for the text at its end.
_ROOM_FOR_TEXT = 1.6
_BAR_HEIGHT = 38
# px of a name of runs, with which half of a card is left for its bar.
_LABEL_LIMIT = 230

_AXIS: Mapping[str, Any] = {"domain": False, "grid": False, "labelPadding": 6, "ticks": False}
_BAND = {"band": 0.62}

# Blue to orange by way of white, told apart with every kind of colour blindness and by lightness
# of the ends against the middle (after ColorBrewer's PuOr and RdBu).
_DIVERGING = ("#08519c", "#6baed6", "#ffffff", "#fdae6b", "#a63603")
_RISING = ("#f3f4f6", "#374151")
# Beyond this share of the way from the middle a cell is so dark that its number has to be white.
_DARK_FROM = 0.75


def diverging_matrix(
    cells: pl.DataFrame,
    order: tuple[Sequence[str], Sequence[str]],
    titles: tuple[str, str],
    quantity: str,
    reach: float = 1.0,
) -> Spec:
    """A number from -reach to reach for each cell, coloured by its side of 0 and its distance.

    Args:
        cells: ``row`` and ``column`` str (labels), ``value`` f64, ``text`` str (what stands in
            the cell), ``run_id`` str, ``run`` str; cells that are not there stay blank.
        order: labels of the rows and of the columns; those that no cell has are kept.
        titles: of the vertical and of the horizontal axis.
        quantity: what ``value`` is.
        reach: value of the darkest colour.
    """
    domain = [share * reach for share in (-1, -0.5, 0, 0.5, 1)]
    scale = {
        "domain": [int(each) if each == int(each) else each for each in domain],
        "interpolate": "rgb",
        "range": list(_DIVERGING),
    }
    colour = field("value", "quantitative", title=quantity, scale=scale, legend=_GRADIENT)
    tooltip = [
        field("value", "quantitative", title=quantity, format="+.4f"),
        field("run", "nominal", title="run"),
    ]
    dark = f"abs(datum.value) > {_DARK_FROM * reach:g}"
    return _matrix(cells, order, titles, colour, tooltip, dark)


def rising_matrix(
    cells: pl.DataFrame,
    order: tuple[Sequence[str], Sequence[str]],
    titles: tuple[str, str],
    quantity: str,
    ends: tuple[float, float],
) -> Spec:
    """A number for each cell, the darker the larger; see ``diverging_matrix``.

    ``ends`` are the values of the lightest and of the darkest colour.
    """
    low, high = ends
    scale = {"domain": [low, high], "range": list(_RISING)}
    colour = field("value", "quantitative", title=quantity, scale=scale, legend=_GRADIENT)
    tooltip = [
        field("value", "quantitative", title=quantity, format=",.5~g"),
        field("run", "nominal", title="run"),
    ]
    return _matrix(cells, order, titles, colour, tooltip, f"datum.value > {(low + high) / 2:g}")


def level_matrix(
    cells: pl.DataFrame,
    order: tuple[Sequence[str], Sequence[str]],
    titles: tuple[str, str],
    quantity: str,
    levels: int,
) -> Spec:
    """A level from 1 to ``levels`` for each cell, the darker the higher.

    Args:
        cells: ``row`` and ``column`` str (labels), ``value`` f64 (the level), ``text`` str, and
            ``words`` str where levels have some.
        order: labels of the rows and of the columns.
        titles: of the vertical and of the horizontal axis.
        quantity: what a level is.
        levels: the largest of them.
    """
    scale = {"domain": [1, levels], "range": list(_RISING)}
    colour = field("value", "quantitative", title=quantity, scale=scale, legend=None)
    tooltip = [field("value", "quantitative", title=quantity)]
    if "words" in cells.columns:
        tooltip.append(field("words", "nominal", title="that is"))
    return _matrix(cells, order, titles, colour, tooltip, f"datum.value > {levels} / 2 + 0.5")


_GRADIENT = {
    "gradientLength": 220,
    "gradientThickness": 10,
    "orient": "top",
    "tickCount": 5,
    "titleFontWeight": "normal",
}


def protocol_bars(
    bars: pl.DataFrame, order: Sequence[str], colours: Mapping[str, str], quantity: str
) -> Spec:
    """A number for each protocol as a bar, with a text at its end.

    Args:
        bars: ``protocol`` str (label), ``value`` f64, ``text`` str, ``run_id`` str, ``run`` str.
        order: labels from the top to the bottom.
        colours: label → colour.
        quantity: title of the horizontal axis.
    """
    longest = max(bars["value"].to_list(), default=0.0) or 1.0
    across = {"domain": [0, longest * _ROOM_FOR_TEXT], "nice": False}
    common = {
        "x": field("value", "quantitative", title=quantity, scale=across),
        "y": _names_of_bars("protocol", order, _AXIS),
        "tooltip": [
            field("protocol", "nominal", title="protocol"),
            field("value", "quantitative", title=quantity),
        ],
    }
    scale = series_scale(list(colours), list(colours.values()))
    colour = field("protocol", "nominal", scale=scale, legend=None)
    bar = mark("bar", height=_BAND, cursor="pointer")
    text = mark("text", align="left", dx=6, fontSize=11.5, color=INK)
    layers = [
        Layer(bars, bar, {**common, "color": colour}),
        Layer(bars, text, {**common, "text": field("text", "nominal")}),
    ]
    return layered(layers, _BAR_HEIGHT * len(order), room_above=_ROOM_ABOVE)


def _names_of_bars(column: str, order: Sequence[str], axis: Json) -> Json:
    return field(column, "nominal", title=None, scale={"domain": list(order)}, axis=axis)


def interval_bars(
    bars: pl.DataFrame, order: Sequence[str], colours: Sequence[str], quantity: str
) -> Spec:
    """Means as bars, each with its confidence interval.

    Args:
        bars: ``label`` str, ``mean``, ``lower``, ``upper`` f64, ``runs`` i64, ``run_id`` str.
        order: labels from the top to the bottom.
        colours: of the bars, in their order.
        quantity: title of the horizontal axis, with unit.
    """
    axis = dict(sorted({**_AXIS, "labelLimit": _LABEL_LIMIT}.items()))
    common = {
        "y": _names_of_bars("label", order, axis),
        "tooltip": [
            field("label", "nominal", title="runs of"),
            field("mean", "quantitative", title="mean", format=",.5~g"),
            field("lower", "quantitative", title="from", format=",.5~g"),
            field("upper", "quantitative", title="to", format=",.5~g"),
            field("runs", "quantitative", title="repetitions"),
        ],
    }
    colour = field("label", "nominal", scale=series_scale(order, colours), legend=None)
    mean = {**common, "x": field("mean", "quantitative", title=quantity), "color": colour}
    ends = {end: field(end, "quantitative") for end in ("lower", "upper")}
    bar = mark("bar", height=_BAND, cursor="pointer", opacity=0.75)
    rule = mark("rule", strokeWidth=1.6, color=INK)
    tick = mark("tick", color=INK, thickness=1.6, size=12)
    layers = [
        Layer(bars, bar, mean),
        Layer(bars, rule, {**common, "x": ends["lower"], "x2": {"field": "upper"}}),
        *(Layer(bars, tick, {**common, "x": end}) for end in ends.values()),
    ]
    return layered(layers, _BAR_HEIGHT * len(order), room_above=_ROOM_ABOVE)


def _matrix(
    cells: pl.DataFrame,
    order: tuple[Sequence[str], Sequence[str]],
    titles: tuple[str, str],
    colour: Json,
    tooltip: Sequence[Json],
    dark: str,
) -> Spec:
    slanted = dict(sorted({**_AXIS, "labelAngle": -40}.items()))
    rows, columns = ({"domain": list(labels), "padding": 0.03} for labels in order)
    common = {
        "x": field("column", "nominal", title=titles[1], scale=columns, axis=slanted),
        "y": field("row", "nominal", title=titles[0], scale=rows, axis=_AXIS),
        "tooltip": [
            field("row", "nominal", title=titles[0]),
            field("column", "nominal", title=titles[1]),
            *tooltip,
        ],
    }
    cell = mark("rect", stroke="#c9ced4", strokeWidth=0.6, cursor="pointer")
    text = mark("text", fontSize=11.5, cursor="pointer")
    ink = {"condition": {"test": dark, "value": _WHITE}, "value": INK}
    layers = [
        Layer(cells, cell, {**common, "color": colour}),
        Layer(cells, text, {**common, "text": field("text", "nominal"), "color": ink}),
    ]
    return layered(layers, CELL_HEIGHT * len(order[0]), room_above=_ROOM_ABOVE)
