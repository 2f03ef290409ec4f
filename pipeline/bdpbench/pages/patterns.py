"""Chart specifications made by altair as patterns with holes, which each chart fills.

altair takes some 20 ms to make a chart and its JSON, and a report has hundreds of charts of a dozen
shapes. So a pattern is made once per process for each shape, and a chart fills its holes with
titles, domains, colours, and the names of its rows, which are stored separately. Equal rows have
equal names, so that equal charts have equal bytes.

Importing altair takes half a second and more, and making a dozen patterns as much again: patterns
are cached under ``home_dir()``, and a report whose patterns are all cached does not import altair.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, NewType, ParamSpec, TypeAlias, cast

import polars as pl

from bdpbench.pages.chart import Spec
from bdpbench.pages.kept_patterns import Hole, keep_pattern, kept_pattern
from bdpbench.pages.lazy_altair import alt

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

_Shape = ParamSpec("_Shape")


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
