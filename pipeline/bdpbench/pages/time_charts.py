"""Specifications of curves over time and of cumulative distributions, and their dashed lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, cast

from bdpbench.contracts.plan import PlannedRun
from bdpbench.pages.assets import Captions
from bdpbench.pages.chart import Spec, Threshold
from bdpbench.pages.lazy_altair import alt
from bdpbench.pages.patterns import FAINT, field, fill, hole, layered, pattern
from bdpbench.pages.series import CHARTED_TABLES, COMPLETION, QUEUE_SHARE
from bdpbench.pages.text import axis_title, format_number, with_unit

TABLE_UNITS = {
    "cwnd": "packets",
    "ssthresh": "packets",
    "sequence": "packets",
    "throughput": "Mbit/s",
    "utilization": "Mbit/s",
    "queue": "packets",
    "red_average": "packets",
    "red_max_p": "1",
    "queueing_delay": "ms",
}

CDF_UNITS = {QUEUE_SHARE: "packets", COMPLETION: "s"}
"""Cumulative distribution → unit of its values."""

CDF_COLUMNS = {
    QUEUE_SHARE: ("queue_pkts", "share_of_time_pct"),
    COMPLETION: ("completion_s", "share_of_transfers_pct"),
}
"""The same → its columns in CSV."""

LOGARITHMIC = frozenset({COMPLETION})
"""Distributions whose values, all above 0, span decades."""

_Interpolate: TypeAlias = Literal["linear", "step-before", "step-after"]

_HEIGHT = 230
# Rates of the bottlenecks of a chain, and changes of a rate.
_OTHER_RATE = re.compile(r"bottleneck(_\d+_mbps|(_\d+)?_mbps_changes)")
_DROP = "#a3211b"
_DROP_HEIGHT = 9

# The plain wheel scrolls the page, as on any other; with Ctrl, or a pinch, it zooms the chart.
_ZOOM_ON = "wheel![event.ctrlKey || event.metaKey]"


def time_specs(captions: Captions) -> dict[str, Spec]:
    """One specification per charted table, shared by all its charts.

    The page fills in what differs: the data sets ``samples`` (``t`` s, ``v`` in the unit of the
    table, ``s`` label of the line), ``thresholds`` (``v``, ``label``) and ``drops`` (``t`` s), the
    domain and range of the scales of ``s``, and the domains of time and value.
    """
    over_time = {
        table: time_spec(
            axis_title(captions.charts[table]["quantity"], TABLE_UNITS[table]),
            # A throughput is the mean over the second that ends at its time.
            steps=table == "throughput",
        )
        for table in CHARTED_TABLES
    }
    words = {
        table: axis_title(captions.charts[table]["quantity"], unit)
        for table, unit in CDF_UNITS.items()
    }
    return {
        **over_time,
        QUEUE_SHARE: cdf_spec(words[QUEUE_SHARE], "share of time (%)"),
        COMPLETION: cdf_spec(
            words[COMPLETION], "share of transfers (%)", logarithmic=COMPLETION in LOGARITHMIC
        ),
    }


def time_spec(ordinate: str, *, steps: bool) -> Spec:
    """Lines over time, as used by ``time_specs`` for tables of runs.

    Args:
        ordinate: title of the axis of values, with unit.
        steps: whether a value holds for the interval that ends at its time.
    """
    return _line_spec("time (s)", ordinate, "step-before" if steps else "linear")


def cdf_spec(quantity: str, ordinate: str, *, logarithmic: bool = False) -> Spec:
    """Cumulative distributions, ``t`` being the value and ``v`` the share up to it, in %.

    Args:
        quantity: title of the horizontal axis, with unit.
        ordinate: title of the vertical axis, with unit.
        logarithmic: whether the values, all above 0, span decades.
    """
    return _line_spec(quantity, ordinate, "step-after", logarithmic=logarithmic)


def _line_spec(
    abscissa: str, ordinate: str, interpolate: _Interpolate, *, logarithmic: bool = False
) -> Spec:
    return fill(_lines(interpolate, logarithmic), {"abscissa": abscissa, "ordinate": ordinate})


@pattern
def _lines(interpolate: _Interpolate, logarithmic: bool) -> alt.LayerChart:
    chosen = alt.selection_point(name="chosen", fields=["s"], bind="legend")
    zoom = alt.selection_interval(name="zoom", bind="scales", encodings=["x"], zoom=_ZOOM_ON)
    scale = alt.Scale(domain=[0, 1], nice=False)
    across = alt.Scale(type="log", domain=[0.1, 1], nice=False) if logarithmic else scale
    series = field("s", "nominal", title=None, scale=alt.Scale(domain=[], range=[]))
    lines = (
        alt.Chart(alt.NamedData("samples"), name="lines")
        .mark_line(strokeWidth=1.4, strokeJoin="round", clip=True, interpolate=interpolate)
        .encode(
            x=alt.X(**field("t", "quantitative", title=hole("abscissa"), scale=across)),
            y=alt.Y(**field("v", "quantitative", title=hole("ordinate"), scale=scale)),
            color=alt.Color(**series),
            strokeDash=alt.StrokeDash(**series),
            opacity=alt.condition(chosen, alt.value(1), alt.value(0.1)),
        )
        .add_params(chosen, zoom)
    )
    return layered(lines, *_threshold_layers(), _drop_layer(), height=_HEIGHT)


def _drop_layer() -> alt.Chart:
    """Short marks along the upper edge, where packets were dropped."""
    # A short rule, because a tick has no extent to be clipped at the axes.
    drops = alt.Chart(alt.NamedData("drops")).mark_rule(color=_DROP, strokeWidth=1.2, clip=True)
    ends = {"y": alt.value(0), "y2": alt.value(_DROP_HEIGHT)}
    return cast("alt.Chart", drops.encode(x=alt.X(**field("t", "quantitative")), **ends))


def _threshold_layers() -> tuple[alt.Chart, ...]:
    base = alt.Chart(alt.NamedData("thresholds")).encode(y=alt.Y(**field("v", "quantitative")))
    rule = base.mark_rule(strokeDash=[5, 4], strokeWidth=1, color=FAINT)
    # At the left, where curves begin low; with a white outline in case they do not.
    words = base.encode(x=alt.value(0), text=alt.Text(**field("label", "nominal")))
    place: dict[str, Any] = {"align": "left", "baseline": "bottom", "dx": 4, "dy": -2}
    halo = words.mark_text(**place, fontSize=10.5, stroke="white", strokeWidth=5, opacity=0.95)
    return rule, halo, words.mark_text(**place, fontSize=10.5, color=FAINT)


def thresholds(
    table: str, runs: Sequence[PlannedRun], filled_share: float | None, captions: Captions
) -> list[Threshold]:
    """Dashed lines of a chart: ``v`` in the unit of the table and ``label``.

    A line is drawn only where all ``runs`` share it.

    Args:
        table: what the chart shows.
        runs: runs whose curves it has.
        filled_share: share of the BDP or of the capacity above which the study considers a path
            filled; None draws no such line.
        captions: words.
    """
    capacity, bdp = _capacity(runs), _shared(runs, "bdp_pkts")
    wanted: dict[str, list[tuple[str, float | None]]] = {
        "cwnd": [("bdp_share", _times(filled_share, bdp))],
        "throughput": [("capacity", capacity)],
        "utilization": [("capacity", capacity), ("capacity_share", _times(filled_share, capacity))],
        "queue": [("buffer", _shared(runs, "buffer_pkts"))],
        "red_average": [
            ("red_min", _shared(runs, "min_th_pkts")),
            ("red_max", _shared(runs, "max_th_pkts")),
        ],
    }
    percent = format_number(100 * (filled_share or 0))
    return [
        {
            "v": height,
            "label": f"{captions.thresholds[kind].format(percent=percent)}, "
            f"{with_unit(format_number(height, like=height), TABLE_UNITS[table])}",
        }
        for kind, height in wanted.get(table, [])
        if height is not None
    ]


def _capacity(runs: Sequence[PlannedRun]) -> float | None:
    """The rate of the only bottleneck, Mbit/s; None if there are several, or it changes."""
    others = [name for run in runs for name in run["parameters"] if _OTHER_RATE.fullmatch(name)]
    return None if others else _shared(runs, "bottleneck_mbps")


def _shared(runs: Sequence[PlannedRun], parameter: str) -> float | None:
    values = {run["parameters"].get(parameter) for run in runs}
    found = values.pop() if len(values) == 1 else None
    return float(found) if isinstance(found, int | float) else None


def _times(share: float | None, amount: float | None) -> float | None:
    # Rounded because 0.9 · 622 is 559.8000000000001 in binary.
    return None if share is None or amount is None else round(share * amount, 6)
