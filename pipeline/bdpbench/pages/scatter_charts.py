"""Points over logarithmic axes, and the power laws that they are held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import polars as pl

from bdpbench.pages.charts import Spec, finished, inline

_HEIGHT = 320


def response_chart(
    points: pl.DataFrame,
    laws: pl.DataFrame,
    styles: Mapping[str, tuple[str, Sequence[int]]],
    abscissa: str,
    ordinate: str,
) -> Spec:
    """What a flow gets at which rate of losses, over logarithmic axes.

    Args:
        points: ``x``, ``y`` f64, above 0; ``series`` str, ``run_id`` str, ``run`` str.
        laws: ends of straight lines: ``x``, ``y`` f64, above 0; ``series`` str.
        styles: label of a series → colour and dashes; the order of the legend.
        abscissa: title of the horizontal axis.
        ordinate: title of the vertical axis.
    """
    scale = alt.Scale(type="log", nice=False, padding=12)
    x = alt.X("x:Q", title=abscissa, scale=scale, axis=alt.Axis(format="~e", tickCount=6))
    y = alt.Y("y:Q", title=ordinate, scale=scale, axis=alt.Axis(format="~s", tickCount=5))
    labels = list(styles)
    colours = alt.Scale(domain=labels, range=[colour for colour, _ in styles.values()])
    dashes = alt.Scale(domain=labels, range=[list(dash) for _, dash in styles.values()])
    colour = alt.Color("series:N", title=None, scale=colours)
    dash = alt.StrokeDash("series:N", title=None, scale=dashes)
    lines = alt.Chart(inline(laws)).mark_line(strokeWidth=1.5, clip=True)
    marks = alt.Chart(inline(points)).mark_point(
        filled=True, size=45, opacity=0.85, cursor="pointer"
    )
    tooltip = [
        alt.Tooltip("series:N", title="series"),
        alt.Tooltip("x:Q", title=abscissa, format=".3~e"),
        alt.Tooltip("y:Q", title=ordinate, format=",.5~g"),
        alt.Tooltip("run:N", title="run"),
    ]
    layers = (
        lines.encode(x=x, y=y, color=colour, strokeDash=dash),
        marks.encode(x=x, y=y, color=colour, tooltip=tooltip),
    )
    return finished(alt.layer(*layers).properties(width="container", height=_HEIGHT))
