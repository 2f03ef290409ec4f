"""A metric over a swept parameter, published values beside the measured ones."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from bdpbench.pages.vega import Json, Layer, Spec, field, layered, mark, series_scale

# A sweep whose values span more than this factor, clearly more than a decade, is drawn over a
# logarithmic axis.
LOG_SPAN = 12

_HEIGHT = 260


@dataclass(frozen=True)
class Abscissa:
    """Axis of a swept parameter.

    Attributes:
        title: with unit.
        name: what the sweep is over, for sentences.
        label: where the points are not drawn to scale, what stands below one, ``{x}`` being its
            value, as in ``162:{x}``; "" for an axis to scale.
    """

    title: str
    name: str
    label: str = ""


def sweep_spec(
    measured: pl.DataFrame,
    published: pl.DataFrame,
    styles: Mapping[str, tuple[str, Sequence[int]]],
    abscissa: Abscissa,
    ordinate: str,
) -> Spec:
    """A metric against a swept parameter, published values beside the measured ones.

    Args:
        measured: ``x`` f64, ``value`` f64, ``series`` str, ``run_id`` str, ``run`` str (its label).
        published: ``x`` f64, ``value``, ``lower``, ``upper`` f64, ``series`` str, ``verdict`` str.
        styles: label of a series → colour and dashes; the order of the legend.
        abscissa: the x axis.
        ordinate: title of the y axis, with unit.
    """
    labels = list(styles)
    colours = series_scale(labels, [colour for colour, _ in styles.values()])
    dashes = series_scale(labels, [list(dash) for _, dash in styles.values()])
    common: dict[str, Any] = {
        "x": _x_of(abscissa, sorted({*measured["x"].to_list(), *published["x"].to_list()})),
        "y": field("value", "quantitative", title=ordinate),
        "color": field("series", "nominal", title=None, scale=colours),
    }
    dash = field("series", "nominal", title=None, scale=dashes)
    layers = [
        *_published_layers(published, common, abscissa.title),
        *_measured_layers(measured, common, dash, abscissa.title, ordinate),
    ]
    return layered(layers, _HEIGHT)


def _x_of(abscissa: Abscissa, values: Sequence[float]) -> Json:
    if not abscissa.label:
        axis = {"grid": False, "values": list(values)}
        scale = _abscissa_scale(values)
        return field("x", "quantitative", title=abscissa.title, scale=scale, axis=axis)
    before, after = abscissa.label.split("{x}")
    label = f"{json.dumps(before)} + datum.label + {json.dumps(after)}"
    axis = {"labelAngle": 0, "labelExpr": label, "labelFlush": False}
    return field("x", "ordinal", title=abscissa.title, axis=axis)


def _abscissa_scale(values: Sequence[float]) -> Json:
    if values[0] > 0 and values[-1] / values[0] > LOG_SPAN:
        return {"nice": False, "padding": 14, "type": "log"}
    return {"nice": False, "padding": 14, "type": "linear", "zero": False}


def _measured_layers(
    measured: pl.DataFrame, common: Json, dash: Json, abscissa: str, ordinate: str
) -> tuple[Layer, Layer]:
    tooltip = [
        field("series", "nominal", title="series"),
        field("x", "quantitative", title=abscissa),
        field("value", "quantitative", title="measured", format=",.5~g"),
        field("run", "nominal", title="run"),
    ]
    points = mark("point", filled=True, size=55, opacity=1, cursor="pointer")
    # Where runs repeat a point, the line goes through their mean.
    repeated = measured.select("series", "x").is_duplicated().any()
    mean = field("value", "quantitative", title=ordinate, aggregate="mean")
    line = {**common, "strokeDash": dash, "y": mean if repeated else common["y"]}
    return (
        Layer(measured, mark("line", strokeWidth=1.7), line),
        Layer(measured, points, {**common, "tooltip": tooltip}),
    )


def _published_layers(published: pl.DataFrame, common: Json, abscissa: str) -> tuple[Layer, ...]:
    if published.is_empty():
        return ()
    tooltip = [
        field("series", "nominal", title="series"),
        field("x", "quantitative", title=abscissa),
        field("value", "quantitative", title="published", format=",.6~g"),
        field("lower", "quantitative", title="lower bound", format=",.6~g"),
        field("upper", "quantitative", title="upper bound", format=",.6~g"),
        field("verdict", "nominal", title="verdict"),
    ]
    ends = {"y": field("lower", "quantitative"), "y2": {"field": "upper"}}
    points = mark("point", shape="diamond", size=130, strokeWidth=1.6, opacity=1, fill="white")
    return (
        Layer(published, mark("rule", strokeWidth=6, opacity=0.28), {**common, **ends}),
        Layer(published, points, {**common, "tooltip": tooltip}),
    )
