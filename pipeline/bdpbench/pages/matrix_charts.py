"""Charts of pairs of protocols: who prevails in a pair as a matrix, and what it adds up to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from bdpbench.pages.charts import INK, Spec, finished, inline

CELL_HEIGHT = 46
_WHITE = "#ffffff"
# px for the button that saves the chart, beside which no legend stands.
_ROOM_ABOVE = 34
# Of the axis against the longest bar, for the text at its end.
_ROOM_FOR_TEXT = 1.6
_BAR_HEIGHT = 38
# px of a name of runs, with which half of a card is left for its bar.
_LABEL_LIMIT = 230

_BARE: dict[str, Any] = {"grid": False, "domain": False, "ticks": False, "labelPadding": 6}
_AXIS = alt.Axis(**_BARE)

# Blue to orange by way of white, told apart with every kind of colour blindness and by lightness
# of the ends against the middle (after ColorBrewer's PuOr and RdBu).
_DIVERGING = ("#08519c", "#6baed6", "#ffffff", "#fdae6b", "#a63603")
# Beyond this a cell is so dark that its number has to be white.
_DARK_FROM = 0.75


def diverging_matrix(
    cells: pl.DataFrame, order: Sequence[str], rows: str, columns: str, quantity: str
) -> Spec:
    """A number from -1 to 1 for each pair, coloured by which side of 0 it lies on and how far.

    Args:
        cells: ``row`` and ``column`` str (labels), ``value`` f64, ``text`` str (what stands in
            the cell), ``run_id`` str, ``run`` str; pairs that are not there stay blank.
        order: labels in the order of both axes; those that no cell has are kept.
        rows: title of the vertical axis.
        columns: title of the horizontal axis.
        quantity: what ``value`` is.
    """
    scale = alt.Scale(domain=[-1, -0.5, 0, 0.5, 1], range=list(_DIVERGING), interpolate="rgb")
    colour = alt.Color("value:Q", title=quantity, scale=scale, legend=_gradient_legend())
    tooltip = [
        alt.Tooltip("row:N", title=rows),
        alt.Tooltip("column:N", title=columns),
        alt.Tooltip("value:Q", title=quantity, format="+.4f"),
        alt.Tooltip("run:N", title="run"),
    ]
    dark = f"abs(datum.value) > {_DARK_FROM}"
    return _matrix(cells, order, rows, columns, colour, tooltip, dark)


def level_matrix(
    cells: pl.DataFrame, order: Sequence[str], rows: str, columns: str, quantity: str, levels: int
) -> Spec:
    """A level from 1 (fair) to ``levels`` for each pair, the darker the higher.

    Args:
        cells: ``row`` and ``column`` str (labels), ``value`` f64 (the level), ``text`` str.
        order: labels in the order of both axes.
        rows: title of the vertical axis.
        columns: title of the horizontal axis.
        quantity: what a level is.
        levels: the largest of them.
    """
    scale = alt.Scale(domain=[1, levels], range=["#f3f4f6", "#374151"])
    colour = alt.Color("value:Q", title=quantity, scale=scale, legend=None)
    tooltip = [
        alt.Tooltip("row:N", title=rows),
        alt.Tooltip("column:N", title=columns),
        alt.Tooltip("value:Q", title=quantity),
    ]
    return _matrix(
        cells, order, rows, columns, colour, tooltip, f"datum.value > {levels} / 2 + 0.5"
    )


def _gradient_legend() -> alt.Legend:
    return alt.Legend(
        orient="top",
        gradientLength=220,
        gradientThickness=10,
        tickCount=5,
        titleFontWeight="normal",
    )


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
    base = alt.Chart(inline(bars)).encode(
        x=alt.X(
            "value:Q",
            title=quantity,
            scale=alt.Scale(domain=[0, longest * _ROOM_FOR_TEXT], nice=False),
        ),
        y=alt.Y("protocol:N", title=None, scale=alt.Scale(domain=list(order)), axis=_AXIS),
        tooltip=[
            alt.Tooltip("protocol:N", title="protocol"),
            alt.Tooltip("value:Q", title=quantity),
        ],
    )
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    bar = base.mark_bar(height={"band": 0.62}, cursor="pointer").encode(
        color=alt.Color("protocol:N", scale=scale, legend=None)
    )
    text = base.mark_text(align="left", dx=6, fontSize=11.5, color=INK).encode(text="text:N")
    return finished(
        alt.layer(bar, text).properties(
            width="container", height=_BAR_HEIGHT * len(order), padding={"top": _ROOM_ABOVE}
        )
    )


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
    axis = alt.Axis(**_BARE, labelLimit=_LABEL_LIMIT)
    y = alt.Y("label:N", title=None, scale=alt.Scale(domain=list(order)), axis=axis)
    scale = alt.Scale(domain=list(order), range=list(colours))
    base = alt.Chart(inline(bars)).encode(
        y=y,
        tooltip=[
            alt.Tooltip("label:N", title="runs of"),
            alt.Tooltip("mean:Q", title="mean", format=",.5~g"),
            alt.Tooltip("lower:Q", title="from", format=",.5~g"),
            alt.Tooltip("upper:Q", title="to", format=",.5~g"),
            alt.Tooltip("runs:Q", title="repetitions"),
        ],
    )
    bar = base.mark_bar(height={"band": 0.62}, cursor="pointer", opacity=0.75).encode(
        x=alt.X("mean:Q", title=quantity),
        color=alt.Color("label:N", scale=scale, legend=None),
    )
    whisker = base.mark_rule(strokeWidth=1.6, color=INK).encode(x="lower:Q", x2="upper:Q")
    ends = [
        base.mark_tick(color=INK, thickness=1.6, size=12).encode(x=f"{end}:Q")
        for end in ("lower", "upper")
    ]
    return finished(
        alt.layer(bar, whisker, *ends).properties(
            width="container", height=_BAR_HEIGHT * len(order), padding={"top": _ROOM_ABOVE}
        )
    )


def _matrix(
    cells: pl.DataFrame,
    order: Sequence[str],
    rows: str,
    columns: str,
    colour: alt.Color,
    tooltip: Sequence[alt.Tooltip],
    dark: str,
) -> Spec:
    domain = alt.Scale(domain=list(order), padding=0.03)
    base = alt.Chart(inline(cells)).encode(
        x=alt.X("column:N", title=columns, scale=domain, axis=alt.Axis(**_BARE, labelAngle=-40)),
        y=alt.Y("row:N", title=rows, scale=domain, axis=_AXIS),
        tooltip=list(tooltip),
    )
    ink = alt.condition(dark, alt.value(_WHITE), alt.value(INK))
    layers = alt.layer(
        base.mark_rect(stroke="#c9ced4", strokeWidth=0.6, cursor="pointer").encode(color=colour),
        base.mark_text(fontSize=11.5, cursor="pointer").encode(text="text:N", color=ink),
    )
    return finished(
        layers.properties(
            width="container", height=CELL_HEIGHT * len(order), padding={"top": _ROOM_ABOVE}
        )
    )
