"""Vega-Lite specifications of the report's charts. Pure: words and frames in, JSON values out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import altair as alt
import polars as pl

from bdpbench.pages.assets import Captions
from bdpbench.pages.series import CHARTED_TABLES, QUEUE_SHARE
from bdpbench.pages.sweeps import Run
from bdpbench.pages.text import axis_title, format_number, with_unit

Spec: TypeAlias = dict[str, Any]

TABLE_UNITS = {
    "cwnd": "packets",
    "ssthresh": "packets",
    "sequence": "packets",
    "throughput": "Mbit/s",
    "utilization": "Mbit/s",
    "queue": "packets",
}

# Share of the BDP or of the capacity from which sharma2006 counts a path as filled (Table 1).
FILLED_SHARE = 0.9

# A sweep whose values span more than this factor, clearly more than a decade, is drawn over a
# logarithmic axis.
LOG_SPAN = 12

_TIME_CHART_HEIGHT = 230
_SWEEP_CHART_HEIGHT = 260
INK = "#1c2329"
_FAINT = "#5b6570"
_DROP = "#a3211b"
_DROP_HEIGHT = 9
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

# The plain wheel scrolls the page, as on any other; with Ctrl, or a pinch, it zooms the chart.
_ZOOM_ON = "wheel![event.ctrlKey || event.metaKey]"


def time_charts(captions: Captions) -> dict[str, Spec]:
    """One specification per charted table, shared by all its charts.

    The page fills in what differs: the data sets ``samples`` (``t`` s, ``v`` in the unit of the
    table, ``s`` label of the line), ``thresholds`` (``v``, ``label``) and ``drops`` (``t`` s), the
    domain and range of the scales of ``s``, and the domains of time and value.
    """
    over_time = {
        table: time_chart(
            axis_title(captions.charts[table]["quantity"], TABLE_UNITS[table]),
            # A throughput stands for the second that ends at its time.
            steps=table == "throughput",
        )
        for table in CHARTED_TABLES
    }
    queue = axis_title(captions.charts[QUEUE_SHARE]["quantity"], TABLE_UNITS["queue"])
    return {**over_time, QUEUE_SHARE: cdf_chart(queue, "share of time (%)")}


def time_chart(ordinate: str, *, steps: bool) -> Spec:
    """Lines over time, as ``time_charts`` has them for tables of runs.

    Args:
        ordinate: title of the axis of values, with unit.
        steps: whether a value stands for the time that ends with it.
    """
    return _line_chart("time (s)", ordinate, "step-before" if steps else "linear")


def cdf_chart(quantity: str, ordinate: str) -> Spec:
    """Cumulative distributions, ``t`` being the value and ``v`` the share up to it, in %.

    Args:
        quantity: title of the horizontal axis, with unit.
        ordinate: what there is a share of, with unit.
    """
    return _line_chart(quantity, ordinate, "step-after")


def _line_chart(
    abscissa: str, ordinate: str, interpolate: Literal["linear", "step-before", "step-after"]
) -> Spec:
    chosen = alt.selection_point(name="chosen", fields=["s"], bind="legend")
    zoom = alt.selection_interval(name="zoom", bind="scales", encodings=["x"], zoom=_ZOOM_ON)
    lines = (
        alt.Chart(alt.NamedData("samples"))
        .mark_line(
            strokeWidth=1.4,
            strokeJoin="round",
            clip=True,
            interpolate=interpolate,
        )
        .encode(
            x=alt.X("t:Q", title=abscissa, scale=alt.Scale(domain=[0, 1], nice=False)),
            y=alt.Y("v:Q", title=ordinate, scale=alt.Scale(domain=[0, 1], nice=False)),
            color=alt.Color("s:N", title=None, scale=alt.Scale(domain=[], range=[])),
            strokeDash=alt.StrokeDash("s:N", title=None, scale=alt.Scale(domain=[], range=[])),
            opacity=alt.condition(chosen, alt.value(1), alt.value(0.1)),
        )
        .add_params(chosen, zoom)
    )
    chart = alt.layer(lines, *_threshold_layers(), _drop_layer()).properties(
        width="container", height=_TIME_CHART_HEIGHT
    )
    return finished(chart)


def _drop_layer() -> alt.Chart:
    """Short marks along the upper edge, where packets were dropped."""
    drops = alt.Chart(alt.NamedData("drops")).encode(x="t:Q", y=alt.value(0))
    # A short rule: a tick has no extent that a clip could end at the axes.
    marks: alt.Chart = drops.mark_rule(color=_DROP, strokeWidth=1.2, clip=True)
    return marks.encode(y2=alt.value(_DROP_HEIGHT))


def _threshold_layers() -> tuple[alt.Chart, ...]:
    base = alt.Chart(alt.NamedData("thresholds")).encode(y="v:Q")
    rule = base.mark_rule(strokeDash=[5, 4], strokeWidth=1, color=_FAINT)
    place: dict[str, Any] = {"align": "left", "baseline": "bottom", "dx": 4, "dy": -2}
    # At the left, where the curves of a start are low; white behind the letters for those that
    # are not.
    text = base.encode(x=alt.value(0), text="label:N")
    halo = text.mark_text(**place, fontSize=10.5, stroke="white", strokeWidth=5, opacity=0.95)
    return rule, halo, text.mark_text(**place, fontSize=10.5, color=_FAINT)


def thresholds(table: str, runs: Sequence[Run], captions: Captions) -> list[dict[str, Any]]:
    """Dashed lines of a chart: ``v`` in the unit of the table and ``label``.

    A line is drawn only where all ``runs`` share it.
    """
    capacity = _shared(runs, "bottleneck_mbps")
    wanted: dict[str, list[tuple[str, float | None]]] = {
        "cwnd": [("bdp_share", _times(FILLED_SHARE, _shared(runs, "bdp_pkts")))],
        "throughput": [("capacity", capacity)],
        "utilization": [("capacity", capacity), ("capacity_share", _times(FILLED_SHARE, capacity))],
        "queue": [("buffer", _shared(runs, "buffer_pkts"))],
    }
    return [
        {"v": value, "label": f"{captions.thresholds[kind]}, {_amount(value, table)}"}
        for kind, value in wanted.get(table, [])
        if value is not None
    ]


def _amount(value: float, table: str) -> str:
    return with_unit(format_number(value, like=value), TABLE_UNITS[table])


def _shared(runs: Sequence[Run], parameter: str) -> float | None:
    values = {run["parameters"].get(parameter) for run in runs}
    value = values.pop() if len(values) == 1 else None
    return float(value) if isinstance(value, int | float) else None


def _times(share: float, value: float | None) -> float | None:
    # Rounded because 0.9 · 622 is 559.8000000000001 in binary.
    return None if value is None else round(share * value, 6)


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


def sweep_chart(
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
    values = sorted({*measured["x"].to_list(), *published["x"].to_list()})
    x = _x_of(abscissa, values)
    y = alt.Y("value:Q", title=ordinate)
    labels = list(styles)
    colour = alt.Color(
        "series:N",
        title=None,
        scale=alt.Scale(domain=labels, range=[colour for colour, _ in styles.values()]),
    )
    dash = alt.StrokeDash(
        "series:N",
        title=None,
        scale=alt.Scale(domain=labels, range=[list(dash) for _, dash in styles.values()]),
    )
    layers = [
        *_published_layers(published, x, y, colour, abscissa.title),
        *_measured_layers(measured, x, y, colour, dash, abscissa.title, ordinate),
    ]
    return finished(alt.layer(*layers).properties(width="container", height=_SWEEP_CHART_HEIGHT))


def _x_of(abscissa: Abscissa, values: Sequence[float]) -> alt.X:
    if not abscissa.label:
        axis = alt.Axis(values=list(values), grid=False)
        return alt.X("x:Q", title=abscissa.title, scale=_abscissa_scale(values), axis=axis)
    before, after = abscissa.label.split("{x}")
    label = f"{json.dumps(before)} + datum.label + {json.dumps(after)}"
    return alt.X(
        "x:O", title=abscissa.title, axis=alt.Axis(labelExpr=label, labelAngle=0, labelFlush=False)
    )


def _abscissa_scale(values: Sequence[float]) -> alt.Scale:
    if values[0] > 0 and values[-1] / values[0] > LOG_SPAN:
        return alt.Scale(type="log", nice=False, padding=14)
    return alt.Scale(type="linear", nice=False, padding=14, zero=False)


def _measured_layers(
    measured: pl.DataFrame,
    x: alt.X,
    y: alt.Y,
    colour: alt.Color,
    dash: alt.StrokeDash,
    abscissa: str,
    ordinate: str,
) -> tuple[alt.Chart, alt.Chart]:
    base = alt.Chart(inline(measured)).encode(x=x, y=y, color=colour)
    points = base.mark_point(filled=True, size=55, opacity=1, cursor="pointer").encode(
        tooltip=[
            alt.Tooltip("series:N", title="series"),
            alt.Tooltip("x:Q", title=abscissa),
            alt.Tooltip("value:Q", title="measured", format=",.5~g"),
            alt.Tooltip("run:N", title="run"),
        ]
    )
    # Where runs repeat a point, the line goes through their mean.
    repeated = measured.select("series", "x").is_duplicated().any()
    through = alt.Y("mean(value):Q", title=ordinate) if repeated else y
    return base.mark_line(strokeWidth=1.7).encode(y=through, strokeDash=dash), points


def _published_layers(
    published: pl.DataFrame, x: alt.X, y: alt.Y, colour: alt.Color, abscissa: str
) -> tuple[alt.Chart, ...]:
    if published.is_empty():
        return ()
    base = alt.Chart(inline(published)).encode(x=x, color=colour)
    bounds = base.mark_rule(strokeWidth=6, opacity=0.28).encode(y="lower:Q", y2="upper:Q")
    points = base.mark_point(
        shape="diamond", size=130, strokeWidth=1.6, opacity=1, fill="white"
    ).encode(
        y=y,
        tooltip=[
            alt.Tooltip("series:N", title="series"),
            alt.Tooltip("x:Q", title=abscissa),
            alt.Tooltip("value:Q", title="published", format=",.6~g"),
            alt.Tooltip("lower:Q", title="lower bound", format=",.6~g"),
            alt.Tooltip("upper:Q", title="upper bound", format=",.6~g"),
            alt.Tooltip("verdict:N", title="verdict"),
        ],
    )
    return bounds, points


def inline(frame: pl.DataFrame) -> alt.InlineData:
    """Rows of a frame as the data of a chart."""
    return alt.InlineData(values=frame.to_dicts())


def finished(chart: alt.LayerChart | alt.FacetChart) -> Spec:
    """Dress a chart for the page: colours and type of a light card in either colour scheme.

    The chart as a whole has a text alternative; its thousands of points are not read out.
    """
    axis: dict[str, Any] = {
        "labelColor": _FAINT,
        "titleColor": INK,
        "titleFontWeight": "normal",
        "titleFontSize": 12,
        "labelFontSize": 11,
        "gridColor": "#e8ebee",
        "domainColor": "#8b949e",
        "tickColor": "#8b949e",
        "titlePadding": 6,
    }
    legend: dict[str, Any] = {
        "orient": "top",
        "direction": "horizontal",
        "columns": 3,
        "labelColor": INK,
        "labelFontSize": 12,
        "labelLimit": 320,
        "symbolType": "stroke",
        "symbolStrokeWidth": 2.5,
        "symbolSize": 220,
        "symbolOpacity": 1,
        "offset": 6,
    }
    dressed = (
        chart.configure(
            aria=False, font=_FONT, background="white", autosize=alt.AutoSizeParams(type="fit-x")
        )
        .configure_view(stroke=None)
        .configure_axis(**axis)
        # Equal room for the labels, so that the charts of a group stand exactly above each other.
        .configure_axisY(minExtent=44)
        .configure_axisX(labelFlush=True)
        .configure_legend(**legend)
    )
    spec: Spec = dressed.to_dict()
    # The schema's address is only a name, but one that a reader of the page could take for a load.
    del spec["$schema"]
    return spec
