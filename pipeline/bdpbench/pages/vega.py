"""Vega-Lite specifications, written out: layers over rows, in the colours and type of the page.

A specification is JSON that Vega reads. Keys are in alphabetical order and equal rows have equal
names, so that equal charts have equal bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import polars as pl

Json: TypeAlias = Mapping[str, Any]
"""A part of a specification."""

Spec: TypeAlias = dict[str, Any]
"""A whole Vega-Lite specification."""

INK = "#1c2329"
FAINT = "#5b6570"
_LINE = "#8b949e"

# Colours and type of a light card in either colour scheme. The chart as a whole has a text
# alternative; its thousands of points are not read out.
_CONFIG: Json = {
    "view": {"continuousWidth": 300, "continuousHeight": 300, "stroke": None},
    "aria": False,
    "autosize": {"type": "fit-x"},
    "axis": {
        "domainColor": _LINE,
        "gridColor": "#e8ebee",
        "labelColor": FAINT,
        "labelFontSize": 11,
        "tickColor": _LINE,
        "titleColor": INK,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 6,
    },
    "axisX": {"labelFlush": True},
    # Equal room for the labels, so that the charts of a group stand exactly above each other.
    "axisY": {"minExtent": 44},
    "background": "white",
    "font": "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif",
    "legend": {
        "columns": 3,
        "direction": "horizontal",
        "labelColor": INK,
        "labelFontSize": 12,
        "labelLimit": 320,
        "offset": 6,
        "orient": "top",
        "symbolOpacity": 1,
        "symbolSize": 220,
        "symbolStrokeWidth": 2.5,
        "symbolType": "stroke",
    },
}


@dataclass(frozen=True)
class Layer:
    """Marks over rows.

    Attributes:
        data: the rows, or the name of data that the page fills in.
        mark: see ``mark``.
        encoding: channel → see ``field`` and ``value``.
        name: by which parameters of the chart know it; "" for none.
    """

    data: pl.DataFrame | str
    mark: Json
    encoding: Json
    name: str = ""


def mark(kind: str, **look: object) -> Json:
    """A mark of a kind (``line``, ``rule``, …) and its look."""
    return {"type": kind, **dict(sorted(look.items()))}


def field(
    name: str, kind: Literal["quantitative", "nominal", "ordinal"], **more: object
) -> dict[str, Any]:
    """A channel that shows a column of the rows."""
    return dict(sorted({"field": name, "type": kind, **more}.items()))


def value(constant: object) -> Json:
    """A channel that is the same for all rows."""
    return {"value": constant}


def series_scale(domain: Sequence[str], values: Sequence[object]) -> Json:
    """Label of a series → its colour or dashes."""
    return {"domain": list(domain), "range": list(values)}


def layered(
    layers: Sequence[Layer],
    height: float,
    *,
    room_above: float | None = None,
    params: Sequence[Json] = (),
) -> Spec:
    """A whole specification, as wide as its place on the page.

    Args:
        layers: from the back to the front.
        height: of the plot, px.
        room_above: px that are kept free above it.
        params: what a reader can do with the chart.
    """
    rows = {
        _name_of(each): each
        for each in (layer.data for layer in layers)
        if not isinstance(each, str)
    }
    names = [_name_of(layer.data) for layer in layers]
    shared = names[0] if len(set(names)) == 1 else ""
    drawn = [
        _layer(layer, "" if shared else name) for layer, name in zip(layers, names, strict=True)
    ]
    # By way of text, so that no two parts are one object to who changes a copy of it.
    spec: Spec = json.loads(json.dumps({"config": _CONFIG, "layer": drawn}))
    if shared:
        spec["data"] = {"name": shared}
    spec["height"] = height
    if room_above is not None:
        spec["padding"] = {"top": room_above}
    if params:
        spec["params"] = list(params)
    spec["width"] = "container"
    if rows:
        spec["datasets"] = {name: frame.to_dicts() for name, frame in rows.items()}
    return spec


def _layer(layer: Layer, data: str) -> dict[str, Any]:
    found: dict[str, Any] = {"data": {"name": data}} if data else {}
    found |= {"mark": layer.mark, "encoding": dict(sorted(layer.encoding.items()))}
    return found | {"name": layer.name} if layer.name else found


def _name_of(data: pl.DataFrame | str) -> str:
    """Name of rows: a hash of them."""
    if isinstance(data, str):
        return data
    text = json.dumps(data.to_dicts(), sort_keys=True, default=str)
    return f"data-{hashlib.sha256(text.encode()).hexdigest()[:32]}"
