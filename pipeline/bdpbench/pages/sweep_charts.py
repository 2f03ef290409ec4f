"""Specification of a metric over a swept parameter, with published and measured values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import polars as pl

from bdpbench.pages.chart import Spec
from bdpbench.pages.lazy_altair import alt
from bdpbench.pages.patterns import field, fill, hole, layered, pattern, rows_named

# A sweep whose values span more than this factor, clearly more than a decade, gets a logarithmic
# axis.
LOG_SPAN = 12

_HEIGHT = 260

_Scale: TypeAlias = Literal["linear", "log", "named"]
"""How the swept values are placed: ``named`` means side by side, not to scale."""


@dataclass(frozen=True)
class Abscissa:
    """Axis of a swept parameter.

    Attributes:
        title: title with unit.
        name: the swept quantity, for sentences.
        label: if the points are not drawn to scale, the label of one, ``{x}`` being its value, as
            in ``162:{x}``; "" for an axis to scale.
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
    intervals: pl.DataFrame | None = None,
) -> Spec:
    """A metric over a swept parameter, with published and measured values.

    Args:
        measured: ``x`` f64, ``value`` f64, ``series`` str, ``run_id`` str, ``run`` str (its label).
        published: ``x`` f64, ``value``, ``lower``, ``upper`` f64, ``series`` str, ``verdict`` str.
        styles: label of a series → colour and dashes; the order of the legend.
        abscissa: the x axis.
        ordinate: title of the y axis, with unit.
        intervals: intervals of means over repetitions that differ: ``x``, ``lower``, ``value`` (the
            mean), ``upper`` f64, ``runs`` i64, ``series`` str.
    """
    values = sorted({*measured["x"].to_list(), *published["x"].to_list()})
    # If runs repeat a point, the line goes through their mean.
    repeated = bool(measured.select("series", "x").is_duplicated().any())
    before, _, after = abscissa.label.partition("{x}")
    rows = (
        {"measured": measured}
        if published.is_empty()
        else {"published": published, "measured": measured}
    )
    words: dict[str, Any] = {
        "abscissa": abscissa.title,
        "ordinate": ordinate,
        "values": values,
        "label": f"{json.dumps(before)} + datum.label + {json.dumps(after)}",
        "series": list(styles),
        "colours": [colour for colour, _ in styles.values()],
        "dashes": [list(dash) for _, dash in styles.values()],
    }
    with_intervals = intervals is not None and not intervals.is_empty()
    if intervals is not None and with_intervals:
        rows["intervals"] = intervals
    words["zero"] = not with_intervals or _begins_near_zero(measured["value"].to_list())
    scale = _scale_of(abscissa, values)
    return fill(_sweep(scale, "published" in rows, repeated, with_intervals), words, rows)


def _begins_near_zero(values: Sequence[float]) -> bool:
    return min(values) <= max(values) / 2


def _scale_of(abscissa: Abscissa, values: Sequence[float]) -> _Scale:
    if abscissa.label:
        return "named"
    return "log" if values[0] > 0 and values[-1] / values[0] > LOG_SPAN else "linear"


@pattern
def _sweep(scale: _Scale, published: bool, repeated: bool, intervals: bool) -> alt.LayerChart:
    colours = alt.Scale(domain=hole("series"), range=hole("colours"))
    # On an axis from 0, an interval far above 0 would be invisible.
    above = alt.Scale(zero=hole("zero"))
    y = alt.Y(**field("value", "quantitative", title=hole("ordinate")), scale=above)
    x = _x_of(scale)
    base = alt.Chart().encode(
        x=x, y=y, color=alt.Color(**field("series", "nominal", title=None, scale=colours))
    )
    layers = (
        *(_published_layers(base) if published else ()),
        *(_interval_layers(base) if intervals else ()),
        *_measured_layers(base, repeated),
    )
    return layered(*layers, height=_HEIGHT)


def _x_of(scale: _Scale) -> alt.X:
    title = hole("abscissa")
    if scale == "named":
        names = alt.Axis(labelExpr=hole("label"), labelAngle=0, labelFlush=False)
        return alt.X(**field("x", "ordinal", title=title, axis=names))
    drawn = (
        alt.Scale(type="log", nice=False, padding=14)
        if scale == "log"
        else alt.Scale(type="linear", nice=False, padding=14, zero=False)
    )
    # Without a format, 1e-6 beside 1e-5 is rounded to it.
    axis = alt.Axis(values=hole("values"), grid=False, format=",.12~g")
    return alt.X(**field("x", "quantitative", title=title, scale=drawn, axis=axis))


def _measured_layers(base: alt.Chart, repeated: bool) -> tuple[alt.Chart, alt.Chart]:
    base = base.properties(data=rows_named("measured"))
    dashes = alt.Scale(domain=hole("series"), range=hole("dashes"))
    mean = field("value", "quantitative", title=hole("ordinate"), aggregate="mean")
    line = base.mark_line(strokeWidth=1.7).encode(
        strokeDash=alt.StrokeDash(**field("series", "nominal", title=None, scale=dashes)),
        **({"y": alt.Y(**mean)} if repeated else {}),
    )
    tooltip = [
        alt.Tooltip(**field("series", "nominal", title="series")),
        alt.Tooltip(**field("x", "quantitative", title=hole("abscissa"))),
        alt.Tooltip(**field("value", "quantitative", title="measured", format=",.5~g")),
        alt.Tooltip(**field("run", "nominal", title="run")),
    ]
    points = base.mark_point(filled=True, size=55, opacity=1, cursor="pointer")
    return line, points.encode(tooltip=tooltip)


def _interval_layers(base: alt.Chart) -> tuple[alt.Chart, ...]:
    """Confidence intervals of the means, as bars with ends."""
    base = base.properties(data=rows_named("intervals"))
    lower, upper = (alt.Y(**field(end, "quantitative")) for end in ("lower", "upper"))
    tooltip = [
        alt.Tooltip(**field("series", "nominal", title="series")),
        alt.Tooltip(**field("x", "quantitative", title=hole("abscissa"))),
        alt.Tooltip(**field("value", "quantitative", title="mean", format=",.5~g")),
        alt.Tooltip(**field("lower", "quantitative", title="from", format=",.5~g")),
        alt.Tooltip(**field("upper", "quantitative", title="to", format=",.5~g")),
        alt.Tooltip(**field("runs", "quantitative", title="repetitions")),
    ]
    rule = base.mark_rule(strokeWidth=1.4, opacity=0.8)
    end = base.mark_tick(orient="horizontal", thickness=1.4, size=9, opacity=0.8)
    return (
        rule.encode(y=lower, y2=alt.Y2(field="upper"), tooltip=tooltip),
        end.encode(y=lower, tooltip=tooltip),
        end.encode(y=upper, tooltip=tooltip),
    )


def _published_layers(base: alt.Chart) -> tuple[alt.Chart, alt.Chart]:
    base = base.properties(data=rows_named("published"))
    bounds = base.mark_rule(strokeWidth=6, opacity=0.28).encode(
        y=alt.Y(**field("lower", "quantitative")), y2=alt.Y2(field="upper")
    )
    tooltip = [
        alt.Tooltip(**field("series", "nominal", title="series")),
        alt.Tooltip(**field("x", "quantitative", title=hole("abscissa"))),
        alt.Tooltip(**field("value", "quantitative", title="published", format=",.6~g")),
        alt.Tooltip(**field("lower", "quantitative", title="lower bound", format=",.6~g")),
        alt.Tooltip(**field("upper", "quantitative", title="upper bound", format=",.6~g")),
        alt.Tooltip(**field("verdict", "nominal", title="verdict")),
    ]
    points = base.mark_point(shape="diamond", size=130, strokeWidth=1.6, opacity=1, fill="white")
    return bounds, points.encode(tooltip=tooltip)
