"""Points over logarithmic axes, and the power laws that they are held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from bdpbench.pages.vega import Layer, Spec, field, layered, mark, series_scale

_HEIGHT = 320


def response_spec(
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
    scale = {"nice": False, "padding": 12, "type": "log"}
    x_axis, y_axis = {"format": "~e", "tickCount": 6}, {"format": "~s", "tickCount": 5}
    colours = series_scale(list(styles), [colour for colour, _ in styles.values()])
    dashes = series_scale(list(styles), [list(dash) for _, dash in styles.values()])
    axes = {
        "x": field("x", "quantitative", title=abscissa, scale=scale, axis=x_axis),
        "y": field("y", "quantitative", title=ordinate, scale=scale, axis=y_axis),
        "color": field("series", "nominal", title=None, scale=colours),
    }
    dash = field("series", "nominal", title=None, scale=dashes)
    tooltip = [
        field("series", "nominal", title="series"),
        field("x", "quantitative", title=abscissa, format=".3~e"),
        field("y", "quantitative", title=ordinate, format=",.5~g"),
        field("run", "nominal", title="run"),
    ]
    lines = mark("line", strokeWidth=1.5, clip=True)
    marks = mark("point", filled=True, size=45, opacity=0.85, cursor="pointer")
    return layered(
        [
            Layer(laws, lines, {**axes, "strokeDash": dash}),
            Layer(points, marks, {**axes, "tooltip": tooltip}),
        ],
        _HEIGHT,
    )
