"""Charts, and what their Vega-Lite specifications have in common.

Specifications are plain JSON, as Vega-Lite documents it; tests check each shape against the schema
that comes with altair. Rows are stored apart from the marks, under a name that is their hash, so
that equal charts have equal bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, final

import polars as pl

from bdpbench.pages.drawing import ENDS
from bdpbench.pages.series import Packed
from bdpbench.pages.text import read_asset

Spec: TypeAlias = dict[str, Any]
"""A whole Vega-Lite specification."""

Channel: TypeAlias = dict[str, Any]
"""What an encoding channel shows: ``x``, ``color`` and others."""

Encoding: TypeAlias = Mapping[str, Channel | Sequence[Channel]]
"""Channels, and the lines of a tooltip."""

Layer: TypeAlias = dict[str, Any]
"""A mark with its encoding."""

Styles: TypeAlias = Mapping[str, tuple[str, Sequence[int]]]
"""Label of a series → colour and dashes, in the order of the legend."""

INK = "#1c2329"
FAINT = "#5b6570"

BARE: Mapping[str, Any] = {"domain": False, "grid": False, "labelPadding": 6, "ticks": False}
"""An axis of names."""

NAME_PX = 12.5
"""Height of the name of a line."""

_TO_NAMES_PX = 14

ROOM_ABOVE = 34
"""px for the button that saves the chart; no legend is placed beside it."""


@cache
def _theme() -> str:
    """Colours and fonts of a light card in either colour scheme.

    The chart as a whole has a text alternative; its thousands of points are not read out. Labels of
    vertical axes have equal room, so that the charts of a group are exactly aligned.
    """
    return read_asset("static/chart.json")


class Threshold(TypedDict):
    """A dashed line at ``v``, in the unit of the values, ``of`` the curves with these labels."""

    v: float
    label: str
    of: NotRequired[list[str]]


class CurveContent(TypedDict):
    """One line: where the page's script finds its points, and how it looks."""

    run: str
    subject: str
    label: str
    colour: str
    dash: Sequence[int]


class MedianContent(TypedDict):
    """What is drawn of a group of a crowd of curves: points of ``bands_of``."""

    label: str
    colour: str
    dash: Sequence[int]
    v: Packed
    low: Packed
    high: Packed


class DropsContent(TypedDict):
    """Where the script finds the times of drops at a link."""

    run: str
    subject: str


@final
class SpecContent(TypedDict):
    """A specification with its rows, and the names of its series; used by sweeps and matrices."""

    kind: Literal["spec"]
    spec: Spec
    labels: list[str]


@final
class TimeContent(TypedDict):
    """Lines that the page's script puts into the specification of their ``kind``.

    ``start`` and ``end`` are the horizontal domain, in s or ``unit``, and ``until`` is its end on
    paper, for curves that rest then; ``top`` is the upper end of the vertical axis, and ``apart``
    says whether the curves are drawn one below the other. These are set by ``settled``
    (pages/curves.py), and so are ``medians`` of a crowd, one for each group.
    ``columns`` names both axes in CSV. A line breaks between samples that are more than ``gap`` (s)
    apart.
    """

    kind: str
    end: float
    traces: list[CurveContent]
    thresholds: list[Threshold]
    start: NotRequired[float]
    top: NotRequired[float]
    until: NotRequired[float]
    apart: NotRequired[bool]
    unit: NotRequired[str]
    columns: NotRequired[list[str]]
    gap: NotRequired[float]
    medians: NotRequired[list[MedianContent]]
    drops: NotRequired[list[DropsContent]]


@dataclass(frozen=True)
class Chart:
    """One chart of the page: ``content`` is for the script, the rest for readers.

    ``metrics`` are the ids of the metrics that it shows; curves over time have none. ``place`` says
    of which experiment, with which values of parameters, and of which period it is. ``pools``: a
    mark stands for runs with several values of parameters. ``finding`` says what it shows.
    """

    chart_id: str
    title: str
    caption: str
    alternative: str
    content: SpecContent | TimeContent
    note: str = ""
    metrics: tuple[str, ...] = ()
    place: str = ""
    pools: bool = False
    finding: str = ""


def spec_content(spec: Spec, labels: Sequence[str] = ()) -> SpecContent:
    """Content of a chart that includes its rows; ``labels`` are those of its legend."""
    return {"kind": "spec", "spec": spec, "labels": list(labels)}


def text(column: str, title: Any = ..., **more: Any) -> Channel:
    """A channel, or a line of a tooltip, with a text of the rows; no title names its column."""
    return _channel(column, "nominal", title, more)


def number(column: str, title: Any = ..., number_format: str = "", **more: Any) -> Channel:
    """The same with a number, in d3's ``number_format``."""
    shown = {"format": number_format} if number_format else {}
    return _channel(column, "quantitative", title, {**shown, **more})


def _channel(
    column: str, kind: Literal["nominal", "quantitative"], title: Any, more: Channel
) -> Channel:
    named = {} if title is ... else {"title": title}
    return {"field": column, "type": kind, **named, **more}


def coloured(column: str, colours: Mapping[str, str], **more: Any) -> Channel:
    """A colour for each name; the order of the legend."""
    scale = {"domain": list(colours), "range": list(colours.values())}
    return text(column, scale=scale, **more)


def dashed(styles: Styles) -> Channel:
    """The dashes of each series."""
    scale = {"domain": list(styles), "range": [list(dash) for _, dash in styles.values()]}
    return text("series", None, scale=scale)


def layer(mark: str, rows: str, encoding: Encoding, **look: Any) -> Layer:
    """A mark for each of the rows of a name, see ``layered``."""
    return {"data": {"name": rows}, "mark": {"type": mark, **look}, "encoding": dict(encoding)}


def broken(height: int, rows: str) -> Layer:
    """Two waves across a vertical axis that does not begin at 0, near its foot; once for rows."""
    look = {
        "fontSize": 17,
        "fontWeight": "bold",
        "stroke": "white",
        "strokeWidth": 0.6,
        "angle": 90,
    }
    place: Encoding = {"x": {"value": 0}, "y": {"value": height - 12}, "text": {"value": "\u2248"}}
    once = {"transform": [{"aggregate": [{"op": "count", "as": "rows"}]}]}
    return {**layer("text", rows, place, color=INK, clip=False, **look), **once}


def names_at_ends(line: Layer, until: str = "", *, marked: Sequence[str] = ()) -> Layer:
    """The names of lines at their right ends, moved apart where they would overlap.

    A chart that has them and a legend shows one of both: these if there are a few short names.

    Args:
        line: a layer of lines or points, with fields for ``x``, ``y`` and ``color``.
        until: which rows are shown, as an expression of Vega; a chart that has one can be zoomed,
            and a click on a name picks its line.
        marked: names that stand out.
    """
    rows, encoding = line["data"]["name"], line["encoding"]
    across, up, series = (encoding[channel]["field"] for channel in ("x", "y", "color"))
    in_order = [{"field": "end"}]
    place = [
        {"filter": f"isValid(datum.{up}) && {until or 'true'}"},
        {"joinaggregate": [{"op": "max", "field": across, "as": "last"}], "groupby": [series]},
        {"filter": f"datum.{across} == datum.last"},
        {
            "aggregate": [{"op": "mean", "field": each, "as": each} for each in (across, up)],
            "groupby": [series],
        },
        {"calculate": f"clamp(scale('y', datum.{up}), 0, height)", "as": "end"},
        {"window": [{"op": "row_number", "as": "nth"}], "sort": in_order},
        {"joinaggregate": [{"op": "count", "as": "count"}]},
        # As far up as those above leave room, but none below the plot.
        {"calculate": f"datum.end - {NAME_PX} * datum.nth", "as": "at"},
        {"window": [{"op": "max", "field": "at", "as": "at"}], "sort": in_order},
        {
            "calculate": f"min(datum.at + {NAME_PX} * datum.nth, "
            f"height - {NAME_PX} * (datum.count - datum.nth))",
            "as": "at",
        },
    ]
    beside = {"clip": False}  # else Vega-Lite clips all marks of a chart that zooms
    rule = {
        "mark": {"type": "rule", "strokeDash": [2, 2], "x2Offset": _TO_NAMES_PX} | beside,
        "encoding": {
            "x": {key: encoding["x"][key] for key in ("field", "type", "title")},
            "x2": {"value": "width"},
            "y": number("end", scale=None),
            "y2": {"field": "at"},
            "color": text(series, None, legend=None),
        },
    }
    look: Spec = {"align": "left", "baseline": "middle", "dx": _TO_NAMES_PX + 2, "fontSize": 11}
    if marked:
        is_marked = f"indexof({json.dumps(list(marked))}, datum.{series}) >= 0"
        look["fontWeight"] = {"expr": f"{is_marked} ? 'bold' : 'normal'"}
    hand = {"cursor": "pointer"} if until else {}
    words = {
        "mark": {"type": "text", "color": INK, **hand, **look} | beside,
        "encoding": {"x": {"value": "width"}, "y": number("at", scale=None), "text": text(series)},
    }
    return {"name": ENDS, "data": {"name": rows}, "transform": place, "layer": [rule, words]}


def layered(
    *layers: Layer,
    height: int,
    rows: Mapping[str, pl.DataFrame] | None = None,
    room_above: int = 0,
) -> Spec:
    """Layers from back to front, as wide as their place on the page.

    Args:
        layers: the marks; those whose data are not among ``rows`` get them from the page's script.
        height: height of the plot, px.
        rows: name of data → its rows.
        room_above: px kept free above the plot.
    """
    names = {name: _name_of(frame) for name, frame in (rows or {}).items()}
    # Layers share parts, such as scales; in the specification each has its own.
    spec: Spec = json.loads(json.dumps({"layer": layers}))
    spec["config"] = json.loads(_theme())
    drawn = [each.pop("data")["name"] for each in spec["layer"]]
    drawn = [{"name": names.get(name, name)} for name in drawn]
    if all(data == drawn[0] for data in drawn):
        spec["data"] = drawn[0]
    else:
        for each, data in zip(spec["layer"], drawn, strict=True):
            each["data"] = data
    spec |= {"height": height, "width": "container"}
    if room_above:
        spec["padding"] = {"top": room_above}
    if rows:
        spec["datasets"] = {names[name]: frame.to_dicts() for name, frame in rows.items()}
    return spec


def _name_of(rows: pl.DataFrame) -> str:
    """Name of rows: their hash."""
    rows_text = json.dumps(rows.to_dicts(), sort_keys=True, default=str)
    return f"data-{hashlib.sha256(rows_text.encode()).hexdigest()[:32]}"
