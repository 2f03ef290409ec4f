"""Points over logarithmic axes, and the power laws to compare them with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from bdpbench.pages.chart import Spec
from bdpbench.pages.lazy_altair import alt
from bdpbench.pages.patterns import field, fill, hole, layered, pattern, rows_named

_HEIGHT = 320


@dataclass(frozen=True)
class AxisWords:
    """Title of an axis, and d3's format of its numbers."""

    title: str
    number_format: str


def response_spec(
    points: pl.DataFrame,
    laws: pl.DataFrame,
    styles: Mapping[str, tuple[str, Sequence[int]]],
    abscissa: AxisWords,
    ordinate: AxisWords,
) -> Spec:
    """One metric over another, with a point for each run, on logarithmic axes.

    Args:
        points: ``x``, ``y`` f64, above 0; ``series`` str, ``run_id`` str, ``run`` str.
        laws: ends of straight lines: ``x``, ``y`` f64, above 0; ``series`` str.
        styles: label of a series → colour and dashes; the order of the legend.
        abscissa: the horizontal axis.
        ordinate: the vertical axis.
    """
    words = {
        "abscissa": abscissa.title,
        "abscissa_format": abscissa.number_format,
        "ordinate": ordinate.title,
        "ordinate_format": ordinate.number_format,
        "series": list(styles),
        "colours": [colour for colour, _ in styles.values()],
        "dashes": [list(dash) for _, dash in styles.values()],
    }
    # A layer without rows has no extent, which causes warnings in the browser.
    data = {"points": points} if laws.is_empty() else {"laws": laws, "points": points}
    return fill(_response(has_laws=not laws.is_empty()), words, data)


@pattern
def _response(*, has_laws: bool) -> alt.LayerChart:
    scale = alt.Scale(type="log", nice=False, padding=12)
    x_axis = alt.Axis(format=hole("abscissa_format"), tickCount=6)
    y_axis = alt.Axis(format=hole("ordinate_format"), tickCount=5)
    abscissa = field("x", "quantitative", title=hole("abscissa"))
    ordinate = field("y", "quantitative", title=hole("ordinate"))
    colours = alt.Scale(domain=hole("series"), range=hole("colours"))
    dashes = alt.Scale(domain=hole("series"), range=hole("dashes"))
    # The symbols of legends are lines, which filled points alone would leave invisible.
    symbols: dict[str, Any] = {} if has_laws else {"legend": alt.Legend(symbolType="circle")}
    base = alt.Chart().encode(
        x=alt.X(**abscissa, scale=scale, axis=x_axis),
        y=alt.Y(**ordinate, scale=scale, axis=y_axis),
        color=alt.Color(**field("series", "nominal", title=None, scale=colours), **symbols),
    )
    tooltip = [
        alt.Tooltip(**field("series", "nominal", title="series")),
        alt.Tooltip(**abscissa, format=".4~g"),
        alt.Tooltip(**ordinate, format=",.5~g"),
        alt.Tooltip(**field("run", "nominal", title="run")),
    ]
    lines = base.properties(data=rows_named("laws")).mark_line(strokeWidth=1.5, clip=True)
    points = base.properties(data=rows_named("points"))
    marks = points.mark_point(filled=True, size=45, opacity=0.85, cursor="pointer")
    dash = alt.StrokeDash(**field("series", "nominal", title=None, scale=dashes))
    behind = [lines.encode(strokeDash=dash)] if has_laws else []
    return layered(*behind, marks.encode(tooltip=tooltip), height=_HEIGHT)
