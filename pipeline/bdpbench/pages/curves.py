"""Curves over time and cumulative distributions: which runs share a chart, and how it is drawn."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import polars as pl

from bdpbench.contracts.plan import PlannedRun
from bdpbench.pages.drawing import BANDS, DROP_HEIGHT, DROPS, LINES, MOST_NAMED, SAMPLES
from bdpbench.pages.names import (
    NEUTRAL,
    Captions,
    Names,
    Sweep,
    are_mixed,
    grouped,
    labels_apart,
    lighter,
    protocols_of,
    rounds,
    subject_name,
    told_apart,
)
from bdpbench.pages.series import (
    CHARTED_TABLES,
    COMPLETION,
    QUEUE_SHARE,
    RunSeries,
    pack,
    points_of,
)
from bdpbench.pages.specs import (
    FAINT,
    Chart,
    CurveContent,
    Layer,
    Spec,
    Threshold,
    TimeContent,
    layer,
    layered,
    names_at_ends,
    number,
    text,
)
from bdpbench.pages.text import format_number, joined
from bdpbench.units import axis_title, with_unit

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

DISTRIBUTIONS = {
    QUEUE_SHARE: ("packets", "time", ["queue_pkts", "share_of_time_pct"]),
    COMPLETION: ("s", "transfers", ["completion_s", "share_of_transfers_pct"]),
}
"""Cumulative distribution → unit of its values, of what it tells shares, its columns in CSV."""

MOST_RUNS_OF_A_VIEW = 24
"""Most runs of a chart: curves of more could not be told apart."""

# Dark to light, each readable on white; in the order of a swept value (viridis, cut at its bright
# end).
_SEQUENCE = (
    "#440154",
    "#46327e",
    "#365c8d",
    "#277f8e",
    "#1fa187",
    "#4ac16d",
    "#8cb82c",
    "#c2a80a",
)

_FLOW_COLOURS = ("#0b66c3", "#c2410c", "#0f766e", "#7e22ce", "#a16207", "#be185d", "#3f6212")
Points: TypeAlias = tuple[Sequence[float], Sequence[float]]
Interpolate: TypeAlias = Literal["linear", "step-before", "step-after"]
_HEIGHT = 230

# Rates of the bottlenecks of a chain, and changes of a rate.
_OTHER_RATE = re.compile(r"bottleneck(_\d+_mbps|(_\d+)?_mbps_changes)")
_NUMBER_OF_FLOW = re.compile(r", flow \d+")
_AFTER_FIRST_WORDS = re.compile(r", .*", re.DOTALL)
_DROP = "#a3211b"

# Times at which curves are compared, and what is drawn of them there.
BAND_TIMES = 80
# A curve turns when it goes back by this part of what the chart shows.
_OF_A_TURN = 20
_MOST_TURNS = 60
_FEWEST_APART = 3
# On paper, curves that rest after this part of the time are shown for twice as long as they need.
_OF_A_CROP = 5

# A line's name stands above it, the highest one too.
_ROOM_ABOVE = 1.12
# How often the first of all thresholds of slow start is as large as all later ones to be cut off.
_FAR_ABOVE = 4
# Of the words of a rule, as a share of the axis.
_WORDS_HEIGHT = 0.07

_BAND_STEPS = 255
BAND = {"low": 0.1, "v": 0.5, "high": 0.9}

# The plain wheel scrolls the page, as on any other; with Ctrl, or a pinch, it zooms the chart.
_ZOOM_ON = "wheel![event.ctrlKey || event.metaKey]"


@dataclass(frozen=True)
class View:
    """Runs that are charted together.

    Attributes:
        title: what they have in common.
        runs: the runs, in the order of the plan, at most ``MOST_RUNS_OF_A_VIEW``.
        colour_by: ``protocol``, or ``sweep`` for one protocol over the values of a sweep.
        of: how many runs there are in all.
        charts: their charts.
    """

    title: str
    runs: tuple[PlannedRun, ...]
    colour_by: str
    of: int = 1
    charts: tuple[Chart, ...] = ()


class LazyViews:
    """Views whose charts are made each time they are needed, since thousands cannot be stored."""

    def __init__(self, views: Sequence[View], charted: Callable[[int, View], View]) -> None:
        self._views, self._charted = views, charted

    def __len__(self) -> int:
        return len(self._views)

    def __iter__(self) -> Iterator[View]:
        return (self._charted(index, view) for index, view in enumerate(self._views))


def plan_views(runs: Sequence[PlannedRun], sweep: Sweep, names: Names) -> list[View]:
    """Views of a scenario: protocols side by side at each value, and each protocol over values.

    Runs in which different protocols meet are shown one by one, because overlaid they would be
    unreadable.
    """
    if are_mixed(runs):
        return [View(str(run["label"]), (run,), "protocol") for run in runs]
    groups = grouped(runs, sweep.key)
    views = [
        _view(sweep.describe(group[0], names.parameters), group, "protocol")
        for group in groups.values()
    ]
    if not sweep.main or len(groups) == 1:
        return views
    protocols = grouped(runs, protocols_of)
    overlays = [
        _view(f"{names.protocols_of(group[0])}, all values", group, "sweep")
        for group in protocols.values()
        if len(group) > 1
    ]
    # For a single protocol, the values are what can be compared.
    return [*overlays, *views] if len(protocols) == 1 else [*views, *overlays]


def _view(title: str, runs: Sequence[PlannedRun], colour_by: str) -> View:
    """A view of runs, evenly selected if they are too many."""
    shown = min(len(runs), MOST_RUNS_OF_A_VIEW)
    picked = [runs[number * len(runs) // shown] for number in range(shown)]
    return View(title, tuple(picked), colour_by, len(runs))


def charted_view(
    view: View, prefix: str, sweep: Sweep, series: Mapping[str, RunSeries], names: Names
) -> View:
    """A view with a chart of each table that any of its runs has."""
    charts = (
        time_chart(f"{prefix}-{table}", table, view.runs, lines, series, names)
        for table in (*CHARTED_TABLES, *DISTRIBUTIONS)
        if (lines := curves(view, table, series, sweep, names))
    )
    return replace(view, charts=tuple(charts))


def time_chart(
    chart_id: str,
    table: str,
    runs: Sequence[PlannedRun],
    lines: Sequence[CurveContent],
    series: Mapping[str, RunSeries],
    names: Names,
) -> Chart:
    """Lines of a table over time, or cumulative distributions; ``runs`` are those of the lines.

    The chart of a single run has marks where packets were dropped; those of several would mix.
    """
    words = names.captions.charts[table]
    points = [points_of(series[each["run"]], table, each["subject"]) for each in lines]
    content: TimeContent = {
        "kind": table,
        "end": max(float(run["parameters"].get("duration_s", 0)) for run in runs),
        "traces": list(lines),
        "thresholds": thresholds(table, runs, names.captions),
    }
    what, note = f"Line chart of {words['quantity']} over time", ""
    if table in DISTRIBUTIONS:
        what = f"Cumulative distribution of the {words['quantity']}"
        content["end"] = max(own[-1] for own, _ in points) or 1.0
        if table == COMPLETION:
            content["start"] = min(own[0] for own, _ in points)
        content["top"] = 100
        content["unit"], _, content["columns"] = DISTRIBUTIONS[table]
    elif len(runs) == 1 and (links := series.get(runs[0]["run_id"], {}).get(DROPS)):
        content["drops"] = [{"run": runs[0]["run_id"], "subject": link} for link in links]
        note = names.captions.charts[DROPS]["caption"]
    dashed = words.get("dashed", "") if content["thresholds"] else ""
    return Chart(
        chart_id=chart_id,
        title=words["title"],
        caption=joined(words["caption"], dashed, by=" "),
        alternative=f"{what}. Lines: {'; '.join(line['label'] for line in lines)}.",
        content=settled(content, points),
        note=note,
    )


def curves(
    view: View, table: str, series: Mapping[str, RunSeries], sweep: Sweep, names: Names
) -> list[CurveContent]:
    """Lines of one chart of a view; empty if none of its runs has the table."""
    found = []
    # Repetitions, and other runs that no sweep distinguishes.
    alike = len(view.runs) > 1 and len({protocols_of(run) for run in view.runs}) == 1
    for position, run in enumerate(view.runs):
        subjects = list(series.get(run["run_id"], {}).get(table, {}))
        drawn = Counter[str | None]()  # how many subjects before have the same protocol
        for index, subject in enumerate(subjects):
            key = flow_protocol(run, subject)
            nth = drawn[key]
            drawn[key] += 1
            if view.colour_by == "sweep" or alike:
                share = position / max(1, len(view.runs) - 1)
                colour = _SEQUENCE[round(share * (len(_SEQUENCE) - 1))]
            elif key is not None and key in names.protocols:
                colour = lighter(names.colour(key), rounds(nth))  # lighter when dashes repeat
            else:
                is_flow = subject.startswith("flow:")
                colour = _FLOW_COLOURS[index % len(_FLOW_COLOURS)] if is_flow else NEUTRAL
            if view.colour_by == "sweep":
                label = sweep.describe(run, names.parameters)
            else:
                label = names.protocols_of(run) if key is None else names.protocol(key)
            if len(subjects) > 1:
                label = f"{label}, {_name_in(run, subject)}"
            # A link shared by several protocols is drawn like the first.
            dash = names.dash(key or "", nth)
            found.append(curve(run["run_id"], subject, label, colour, dash))
    return _distinct(found, view, names)


def curve(
    run: str, subject: str, label: str, colour: str, dash: Sequence[int] = ()
) -> CurveContent:
    """A line of a chart over time."""
    return {"run": run, "subject": subject, "label": label, "colour": colour, "dash": dash}


def _name_in(run: PlannedRun, subject: str) -> str:
    """A subject in words; for a flow with its group, or its size, if it has one."""
    name = subject_name(subject)
    if not subject.startswith("flow:"):
        return name
    parameters, number = run["parameters"], name.removeprefix("flow ")
    size = parameters.get(f"size_{number}_pkts")
    sized = size and with_unit(format_number(float(size)), "packets")
    kind = parameters.get(f"group_{number}", sized)
    return f"{name}, {kind}" if kind else name


def flow_protocol(run: PlannedRun, subject: str) -> str | None:
    """Protocol key of a flow; of a link or run the one that all flows share, or None."""
    keys = protocols_of(run)
    kind, _, name = subject.partition(":")
    is_flow = kind == "flow" and name.isdigit()
    if is_flow and (own := run["parameters"].get(f"flow_protocol_{int(name) + 1}")):
        return str(own)
    if len(set(keys)) == 1:
        return keys[0]
    if is_flow and int(name) < len(keys):
        return keys[int(name)]
    return None


def _distinct(found: list[CurveContent], view: View, names: Names) -> list[CurveContent]:
    """Add what distinguishes runs to lines that would otherwise have equal names."""
    counts = Counter(line["label"] for line in found)
    if len(counts) < len(found):
        own = told_apart(view.runs, names.parameters)
        labels = labels_apart(view.runs, names.parameters)
        for line in found:
            if counts[line["label"]] > 1:
                line["label"] += f", {own[line['run']] or labels[line['run']]}"
    return found


def time_specs(captions: Captions) -> dict[str, Spec]:
    """One specification per charted table, shared by all its charts.

    The page fills in what differs: the data sets ``samples`` (``t`` s, ``v`` in the unit of the
    table, ``s`` label of the line), ``thresholds`` (``v``, ``label``) and ``drops`` (``t`` s), the
    domain and range of the scales of ``s``, and the domains of time and value.
    """
    found = {}
    for table, unit in TABLE_UNITS.items():
        # A throughput is the mean over the second that ends at its time.
        step: Interpolate = "step-before" if table == "throughput" else "linear"
        title = axis_title(captions.charts[table]["quantity"], unit)
        found[table] = line_spec("time (s)", title, step)
    for table, (unit, samples, _) in DISTRIBUTIONS.items():
        title, is_log = axis_title(captions.charts[table]["quantity"], unit), table == COMPLETION
        share = f"share of {samples} (%)"
        found[table] = line_spec(title, share, "step-after", logarithmic=is_log)
    return found


def line_spec(
    abscissa: str,
    ordinate: str,
    interpolate: Interpolate = "linear",
    *,
    logarithmic: bool = False,
) -> Spec:
    """Lines over time, or cumulative distributions, whose data the page's script fills in.

    Args:
        abscissa: title of the horizontal axis, with unit.
        ordinate: title of the vertical axis, with unit.
        interpolate: ``step-before`` if a value holds for the interval that ends at its time,
            ``step-after`` for a distribution.
        logarithmic: whether the values on the horizontal axis, all above 0, span decades.
    """
    scale = {"domain": [0, 1], "nice": False}
    across = {"type": "log", "domain": [0.1, 1], "nice": False} if logarithmic else scale
    series = text("s", None, scale={"domain": [], "range": []})
    lines = layer(
        "line",
        SAMPLES,
        {
            "x": number("t", abscissa, scale=across),
            "y": number("v", ordinate, scale=scale),
            "color": series,
            "strokeDash": series,
            "opacity": {"condition": {"param": "chosen", "value": 1}, "value": 0.1},
        },
        strokeWidth=1.4,
        strokeJoin="round",
        clip=True,
        interpolate=interpolate,
    )
    ends = names_at_ends(lines, "(!zoom.t || datum.t <= zoom.t[1])")
    # Where the middle 80 % of many curves are; the lines are then medians, see ``bands_of``.
    between = {"x": number("t"), "y": number("low"), "y2": {"field": "high"}, "color": text("s")}
    bands = {**layer("area", BANDS, between, opacity=0.18, clip=True), "name": BANDS}
    parts = [{**lines, "name": LINES}, bands, *_thresholds(), _drops(), ends]
    spec = layered(*parts, height=_HEIGHT)
    zoom = {"type": "interval", "encodings": ["x"], "zoom": _ZOOM_ON}
    chosen = {"type": "point", "fields": ["s"]}
    spec["params"] = [
        {"name": "chosen", "select": chosen, "bind": "legend", "views": [LINES]},
        {"name": "zoom", "select": zoom, "bind": "scales", "views": [LINES]},
    ]
    return spec


def settled(content: TimeContent, points: Sequence[Points]) -> TimeContent:
    """A chart over time with all that follows from its values, for the page and for files alike.

    Args:
        content: the chart, whose ``top`` may be given.
        points: times (s) and values of each of its curves.

    Returns:
        The content with the upper end of its axis, the groups of a crowd or whether its curves
            swing too often to lie on one another, and rules with words that do not overlap.
    """
    found = content.copy()
    curves, values = content["traces"], [own for _, own in points]
    groups = crowd_of(content)
    if groups:
        bands = bands_of(content, points, groups)
        rules = [each["v"] for each in content["thresholds"]]
        found["top"] = _ROOM_ABOVE * max([*bands["high"], *rules], default=0.0) or 1
        alike = len({own[0]["colour"] for own in groups.values()}) < len(groups)
        found["medians"] = [
            {
                "label": name,
                "colour": own[0]["colour"],
                "dash": own[0]["dash"] if alike else [1, 0],
                **{each: pack(rows["t"], rows[each], steps=_BAND_STEPS) for each in BAND},  # type: ignore[typeddict-item]
            }
            for name, own in groups.items()
            for rows in [bands.filter(s=name).to_dict(as_series=False)]
        ]
    elif "top" not in content:
        found["top"] = _ROOM_ABOVE * _highest(content, values) or 1
        found["apart"] = swings(content, values)
    if len(curves) == 1:  # dashes tell curves of one chart apart; a single one needs none
        found["traces"] = [{**each, "dash": [1, 0]} for each in curves]
    found["thresholds"] = _labelled_apart(content["thresholds"], found["top"])
    if "unit" not in content and not groups:
        start, end = content.get("start", 0.0), content["end"]
        quiet = max((_quiet_from(*own, found["top"]) for own in points), default=end)
        if (end - start) / 100 < quiet - start < (end - start) / _OF_A_CROP:
            found["until"] = min(end, start + 2 * (quiet - start))
    return found


def _quiet_from(times: Sequence[float], values: Sequence[float], top: float) -> float:
    """When a curve last leaves a twentieth of the axis around its middle value, s."""
    middle = sorted(values)[len(values) // 2] if values else 0.0
    far = (t for t, v in zip(times, values, strict=True) if abs(v - middle) > top / _OF_A_TURN)
    return max(far, default=0.0)


def _highest(content: TimeContent, values: Sequence[Sequence[float]]) -> float:
    """What the axis has to reach.

    A threshold of slow start that begins far above all that follows would press the rest flat.

    >>> content = {"kind": "ssthresh", "traces": [], "thresholds": [], "end": 1.0}
    >>> _highest(content, [[20000.0, 300.0, 200.0]]), _highest(content, [[900.0, 300.0, 200.0]])
    (300.0, 900.0)
    """
    rules = [each["v"] for each in content["thresholds"]]
    highest = max(itertools.chain(rules, *values), default=0.0)
    if content["kind"] == "ssthresh":
        later = max((each for own in values for each in own if each != own[0]), default=0.0)
        if later and highest > _FAR_ABOVE * later:
            return later
    return highest


def _labelled_apart(rules: Sequence[Threshold], top: float) -> list[Threshold]:
    """Rules that lie closer than their words are high share the words of the upper one."""
    found = [each.copy() for each in rules]
    rising = sorted(found, key=lambda each: each["v"])
    for lower, upper in zip(rising[-2::-1], rising[:0:-1], strict=True):
        if upper["label"] and upper["v"] - lower["v"] < _WORDS_HEIGHT * top:
            upper["label"], lower["label"] = f"{upper['label']}; {lower['label']}", ""
    return found


def crowd_of(content: TimeContent) -> dict[str, list[CurveContent]]:
    """Group → its curves, where there are more than can be named; {} if that is no help.

    A group are flows of one kind, ``H-TCP, flow 3, 20 packets`` with ``H-TCP, 20 packets``; if
    there are too many kinds, curves whose labels begin with the same words.
    """
    curves = content["traces"]
    for other_words in (_NUMBER_OF_FLOW, _AFTER_FIRST_WORDS):
        groups: dict[str, list[CurveContent]] = {}
        for each in curves:
            groups.setdefault(other_words.sub("", each["label"]), []).append(each)
        is_crowd = "unit" not in content and len(curves) > MOST_NAMED >= len(groups)
        if is_crowd and 3 * len(groups) <= len(curves):
            return groups
    return {}


def bands_of(
    content: TimeContent, points: Sequence[Points], groups: Mapping[str, Sequence[CurveContent]]
) -> pl.DataFrame:
    """Medians and bands of groups of curves: of the last value of each in each part of the time.

    Returns:
        s (the group), t (s), low, v (the median) and high.
    """
    span = content["end"] - content.get("start", 0)
    names = {each["label"]: name for name, curves in groups.items() for each in curves}
    at = ((pl.col("t") / (span / BAND_TIMES)).floor() + 0.5) * (span / BAND_TIMES)
    samples = pl.concat(
        pl.DataFrame({"t": times, "v": values}, schema={"t": pl.Float64, "v": pl.Float64}).select(
            "t", "v", at.alias("at"), s=pl.lit(each["label"]), group=pl.lit(names[each["label"]])
        )
        for each, (times, values) in zip(content["traces"], points, strict=True)
    )
    lasts = samples.group_by("group", "at", "s", maintain_order=True).agg(
        pl.col("v").sort_by("t").last()
    )
    shares = [pl.col("v").quantile(share, "linear").alias(name) for name, share in BAND.items()]
    found = lasts.group_by("group", "at", maintain_order=True).agg(*shares)
    order = pl.col("group").replace_strict({name: nth for nth, name in enumerate(groups)})
    return found.sort(order, "at").rename({"group": "s", "at": "t"})


def swings(content: TimeContent, values: Sequence[Sequence[float]]) -> bool:
    """Whether curves turn too often to lie on one another, and are drawn one below the other.

    Args:
        content: a chart over time.
        values: those of each of its curves.
    """
    if "unit" in content or len(values) < _FEWEST_APART:
        return False
    height = _highest(content, values) / _OF_A_TURN
    return sum(_turns(each, height) for each in values) > _MOST_TURNS


def _turns(values: Sequence[float], height: float) -> int:
    """How often a curve turns by more than ``height``."""
    turns, direction = 0, 0
    low = high = values[0] if values else 0.0
    for value in values:
        low, high = min(low, value), max(high, value)
        if direction <= 0 and value - low > height:
            turns, direction, high = turns + 1, 1, value
        elif direction >= 0 and high - value > height:
            turns, direction, low = turns + 1, -1, value
        if direction > 0 and value >= high:
            low = value
        if direction < 0 and value <= low:
            high = value
    return turns


def _drops() -> Layer:
    """Short marks along the upper edge, where packets were dropped."""
    # A short rule, because a tick has no extent to be clipped at the axes.
    ends = {"x": number("t"), "y": {"value": 0}, "y2": {"value": DROP_HEIGHT}}
    marks = layer("rule", DROPS, ends, color=_DROP, strokeWidth=1.2, clip=True)
    return {**marks, "name": DROPS}


def _thresholds() -> list[Layer]:
    height = {"y": number("v")}
    rule = layer("rule", "thresholds", height, strokeDash=[5, 4], strokeWidth=1, color=FAINT)
    # At the left, where curves begin low; with a white outline in case they do not.
    words = {**height, "x": {"value": 0}, "text": text("label")}
    look = {"align": "left", "baseline": "bottom", "dx": 4, "dy": -2, "fontSize": 10.5}
    look["clip"] = False  # a rule may lie at the top of the plot
    halo = {"stroke": "white", "strokeWidth": 5, "opacity": 0.95}
    return [
        rule,
        layer("text", "thresholds", words, **look, **halo),
        layer("text", "thresholds", words, **look, color=FAINT),
    ]


def thresholds(table: str, runs: Sequence[PlannedRun], captions: Captions) -> list[Threshold]:
    """Dashed lines of a chart: ``v`` in the unit of the table and ``label``.

    A line is drawn only where all ``runs`` share it.

    Args:
        table: what the chart shows.
        runs: runs whose curves it has.
        captions: words, and the share above which the study considers a path filled.
    """
    filled_share = captions.filled_share
    others = (name for run in runs for name in run["parameters"] if _OTHER_RATE.fullmatch(name))
    capacity = _shared(runs, "bottleneck_mbps") if next(others, None) is None else None
    bdp = _shared(runs, "bdp_pkts")
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


def _shared(runs: Sequence[PlannedRun], parameter: str) -> float | None:
    values = {run["parameters"].get(parameter) for run in runs}
    found = values.pop() if len(values) == 1 else None
    return float(found) if isinstance(found, int | float) else None


def _times(share: float | None, amount: float | None) -> float | None:
    # Rounded because 0.9 · 622 is 559.8000000000001 in binary.
    return None if share is None or amount is None else round(share * amount, 6)
