"""Charts, and their specifications made by altair as patterns with holes, which each chart fills.

altair takes some 20 ms to make a chart and its JSON, and a report has hundreds of charts of a dozen
shapes. So a pattern is made once per process for each shape, and a chart fills its holes with
titles, domains, colours, and the names of its rows, which are stored separately. Equal rows have
equal names, so that equal charts have equal bytes.

Importing altair takes half a second and more, and making a dozen patterns as much again: patterns
are cached under ``home_dir()``, and a report whose patterns are all cached does not import altair.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NewType,
    NotRequired,
    ParamSpec,
    TypeAlias,
    TypedDict,
    cast,
    final,
)

import polars as pl

from bdpbench.contracts.files import keep, read_kept
from bdpbench.contracts.paths import home_dir

if TYPE_CHECKING:
    import altair as alt
else:

    class _OnDemand:
        """Stands in for altair, which it imports when a chart is first made."""

        def __getattr__(self, name):
            import altair

            return getattr(altair, name)

    alt = _OnDemand()

Spec: TypeAlias = dict[str, Any]
"""A whole Vega-Lite specification."""


class Threshold(TypedDict):
    """A dashed line at ``v``, in the unit of the chart's values."""

    v: float
    label: str


class CurveContent(TypedDict):
    """One line: where the page's script finds its points, and how it looks."""

    run: str
    subject: str
    label: str
    colour: str
    dash: Sequence[int]


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

    ``start`` and ``end`` are the horizontal domain, in s or ``unit``; ``top`` is the upper end of
    the vertical axis, if it does not follow from the values; ``columns`` names both in CSV.
    """

    kind: str
    end: float
    traces: list[CurveContent]
    thresholds: list[Threshold]
    start: NotRequired[float]
    top: NotRequired[float]
    unit: NotRequired[str]
    columns: NotRequired[list[str]]
    drops: NotRequired[list[DropsContent]]


@dataclass(frozen=True)
class Chart:
    """One chart of the page: ``content`` is for the script, the rest for readers.

    ``metrics`` are the ids of the metrics that it shows; curves over time have none.
    """

    chart_id: str
    title: str
    caption: str
    alternative: str
    content: SpecContent | TimeContent
    note: str = ""
    metrics: tuple[str, ...] = ()


def spec_content(spec: Spec, labels: Sequence[str] = ()) -> SpecContent:
    """Content of a chart that includes its rows; ``labels`` are those of its legend."""
    return {"kind": "spec", "spec": spec, "labels": list(labels)}


Template = NewType("Template", dict[str, Any])
"""The specification of a pattern, including holes; it is shared and must not be changed."""

Channel: TypeAlias = dict[str, Any]
"""Arguments of an altair channel such as ``alt.X``; each channel accepts others."""

Words: TypeAlias = Mapping[str, Any]
"""Name of a hole → its content, of any JSON type."""

INK = "#1c2329"
FAINT = "#5b6570"
_LINE = "#8b949e"
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

BARE: Mapping[str, Any] = {"domain": False, "grid": False, "labelPadding": 6, "ticks": False}
"""An axis of names."""

ROOM_ABOVE = 34
"""px for the button that saves the chart; no legend is placed beside it."""

_Shape = ParamSpec("_Shape")
_HOLE = "$hole"


class Hole(str):
    """The name of the hole in whose place a chart puts its own value."""

    __slots__ = ()


def hole(name: str) -> Any:
    """A place in a pattern that each chart fills, of any type that altair expects there."""
    return Hole(name)


def pattern(build: Callable[_Shape, alt.LayerChart]) -> Callable[_Shape, Template]:
    """Make the specification of a chart with holes once for each shape, given by the arguments.

    altair's validation is off, because holes replace much of what it would check; a test validates
    a filled specification of each shape.
    """

    @functools.cache
    def template(*args: Any, **kwargs: Any) -> Template:
        shape = f"{build.__module__}.{build.__qualname__}{args!r}{kwargs!r}"
        spec = kept_pattern(shape)
        if spec is None:
            spec = _specification(functools.partial(build, *args, **kwargs))
            keep_pattern(shape, spec)
        return Template(spec)

    return cast("Callable[_Shape, Template]", functools.wraps(build)(template))


def _specification(build: Callable[[], alt.LayerChart]) -> Spec:
    from altair.utils.schemapi import debug_mode

    with debug_mode(False):
        spec: Spec = build().to_dict(validate=False, format="vega-lite")
    # The schema's address is only a name, but readers might think that the page loads it.
    del spec["$schema"]
    return spec


def layered(*layers: alt.Chart, height: Any, room_above: float | None = None) -> alt.LayerChart:
    """Layers from back to front, as wide as their place on the page.

    Args:
        layers: the marks.
        height: height of the plot, px, or a hole for it.
        room_above: px kept free above it.
    """
    padding = alt.Undefined if room_above is None else {"top": room_above}
    return alt.LayerChart(
        layer=layers, config=_page_config(), height=height, padding=padding, width="container"
    )


def field(name: str, kind: Literal["quantitative", "nominal", "ordinal"], **more: Any) -> Channel:
    """A column of the rows as an argument of altair's channels: ``alt.X(**field("t", …))``.

    Unlike with the shorthand ``t:Q``, altair has nothing to parse.
    """
    return {"field": name, "type": kind, **more}


def text_tip(column: str, title: Any) -> alt.Tooltip:
    """A line of a tooltip with a text of the rows."""
    return alt.Tooltip(**field(column, "nominal", title=title))


def number_tip(column: str, title: Any, number_format: str = "") -> alt.Tooltip:
    """A line of a tooltip with a number of the rows, in d3's ``number_format``."""
    more = {"format": number_format} if number_format else {}
    return alt.Tooltip(**field(column, "quantitative", title=title, **more))


def rows_named(name: str) -> alt.NamedData:
    """Named data, which each chart of the pattern provides by ``fill(rows={name: …})``."""
    return alt.NamedData(hole(name))


@functools.cache
def _page_config() -> alt.Config:
    """Colours and fonts of a light card in either colour scheme.

    The chart as a whole has a text alternative; its thousands of points are not read out.
    """
    axis = alt.AxisConfig(
        domainColor=_LINE,
        gridColor="#e8ebee",
        labelColor=FAINT,
        labelFontSize=11,
        tickColor=_LINE,
        titleColor=INK,
        titleFontSize=12,
        titleFontWeight="normal",
        titlePadding=6,
    )
    legend = alt.LegendConfig(
        columns=3,
        direction="horizontal",
        labelColor=INK,
        labelFontSize=12,
        labelLimit=320,
        offset=6,
        orient="top",
        symbolOpacity=1,
        symbolSize=220,
        symbolStrokeWidth=2.5,
        symbolType="stroke",
    )
    return alt.Config(
        aria=False,
        autosize=alt.AutoSizeParams(type="fit-x"),
        axis=axis,
        axisX=alt.AxisConfig(labelFlush=True),
        # Equal room for the labels, so that the charts of a group are exactly aligned.
        axisY=alt.AxisConfig(minExtent=44),
        background="white",
        font=_FONT,
        legend=legend,
        view=alt.ViewConfig(stroke=None),
    )


def fill(template: Template, words: Words, rows: Mapping[str, pl.DataFrame] | None = None) -> Spec:
    """Fill a pattern: the specification of a chart.

    Args:
        template: its pattern.
        words: name of a hole → its content; a pattern may leave some of them unused.
        rows: name of data → its rows.

    Raises:
        KeyError: for a hole without content.
    """
    names = {name: _name_of(frame) for name, frame in (rows or {}).items()}
    spec: Spec = _filled(template, {**words, **names})
    if rows:
        spec["datasets"] = {names[name]: frame.to_dicts() for name, frame in rows.items()}
    return spec


def _filled(node: Any, words: Words) -> Any:
    if isinstance(node, dict):
        return {key: _filled(value, words) for key, value in node.items()}
    if isinstance(node, list | tuple):
        return [_filled(each, words) for each in node]
    # Contents of holes are copied as well, so that changing one part never changes another.
    return _filled(words[node], {}) if isinstance(node, Hole) else node


def _name_of(rows: pl.DataFrame) -> str:
    """Name of rows: their hash."""
    text = json.dumps(rows.to_dicts(), sort_keys=True, default=str)
    return f"data-{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def as_altair(spec: Spec) -> alt.LayerChart:
    """A specification with its rows as an altair chart, for notebooks.

    Raises:
        jsonschema.ValidationError: when it is not valid Vega-Lite.
    """
    chart = alt.Chart.from_dict(spec, validate=True)
    if not isinstance(chart, alt.LayerChart):
        raise TypeError(f"{type(chart).__name__} is not made of layers")
    return chart


def kept_pattern(shape: str) -> Spec | None:
    """The specification of a shape of chart; None if it has to be made.

    Args:
        shape: the function that makes it and its arguments.
    """
    found = _kept(_file(), _code()).get(shape)
    return None if found is None else _with_holes(found)


def keep_pattern(shape: str, spec: Spec) -> None:
    """Store a specification if the disk allows it; otherwise the next call takes longer."""
    kept = _kept(_file(), _code())
    kept[shape] = _without_holes(spec)
    with contextlib.suppress(OSError):
        keep(_file(), _code(), json.dumps(kept))


def _file() -> Path:
    return home_dir() / "cache" / "charts.json"


@functools.cache
def _code() -> str:
    """A digest of what determines a pattern: the modules of this room, and altair."""
    digest = hashlib.sha256(version("altair").encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@functools.cache
def _kept(path: Path, code: str) -> dict[str, Spec]:
    """Shape → specification, as in the file; empty if it is of other code, damaged or missing."""
    found: dict[str, Spec] = json.loads(read_kept(path, code) or "{}")
    return found


def _without_holes(node: Any) -> Any:
    if isinstance(node, Hole):
        return {_HOLE: str(node)}
    if isinstance(node, Mapping):
        return {key: _without_holes(value) for key, value in node.items()}
    return [_without_holes(each) for each in node] if isinstance(node, list | tuple) else node


def _with_holes(node: Any) -> Any:
    if isinstance(node, dict):
        if set(node) == {_HOLE}:
            return Hole(node[_HOLE])
        return {key: _with_holes(value) for key, value in node.items()}
    return [_with_holes(each) for each in node] if isinstance(node, list) else node
