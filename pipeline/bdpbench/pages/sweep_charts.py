"""A metric over a swept parameter, run by run or as mean and spread, and as bars."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from textwrap import wrap
from typing import Any

import polars as pl

from bdpbench.contracts.judged import USUAL_APART, Judged, direction, rounded
from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.scorecard import ScoredNumber
from bdpbench.pages.answers import MOST_OTHERS, answer
from bdpbench.pages.drawing import MOST_NAMED
from bdpbench.pages.inputs import ReportData
from bdpbench.pages.names import (
    NEUTRAL,
    Captions,
    Names,
    Sweep,
    grouped,
    in_order,
    lighter,
    protocols_of,
    subject_name,
)
from bdpbench.pages.specs import (
    BARE,
    FAINT,
    INK,
    NAME_PX,
    ROOM_ABOVE,
    Channel,
    Chart,
    Encoding,
    Layer,
    Spec,
    Styles,
    broken,
    coloured,
    dashed,
    layer,
    layered,
    names_at_ends,
    number,
    spec_content,
    text,
)
from bdpbench.pages.text import VERDICTS, inside, joined, listed, value_text
from bdpbench.pages.texts import Matrix
from bdpbench.units import axis_title

MOST_SERIES = 24
"""Most lines of a chart: more could not be told apart."""

MOST_POINTS = 2000
"""Most points of a chart: a browser takes seconds to draw more."""

# A sweep whose values span more than this factor, clearly more than a decade, gets a logarithmic
# axis, and so do ratios to a reference; other quantities, which have a zero, if they span decades.
LOG_SPAN = 12
_DECADES = 100

# px for a name of runs, which leaves half of a card for its bar.
_LABEL_LIMIT = 230
_BAR_HEIGHT = 38
_BAND = {"band": 0.62}
_FEW_SUBJECTS = 4
_LOW, _HIGH = 0.1, 0.9
_ENDS = ("lower", "upper")
_MOST_BARS = 40
_MOST_PARTS = 4
_MOST_NAMED = 3
_TITLE_WIDTH = 34  # letters
_HEIGHT = 260


@dataclass(frozen=True)
class Swept:
    """Finished runs of one scenario, and everything that is known of a metric over their sweep.

    Attributes:
        runs: the runs.
        sweep: what varies between them, see ``find_sweep``.
        metrics: as in ``metrics.parquet``.
        names: the names for readers.
        numbers: published numbers of the scenario, as in ``scorecard.json``.
        repetitions: means over repetitions, as in ``ReportInputs``.
    """

    runs: Sequence[PlannedRun]
    sweep: Sweep
    metrics: pl.DataFrame
    names: Names
    numbers: Sequence[ScoredNumber] = ()
    repetitions: pl.DataFrame | None = None

    def series(self, run: PlannedRun) -> str:
        """Name of the line that a run belongs to: its protocols, and what else is swept."""
        words, parameters = self.names.parameters, run["parameters"]
        others = [words.with_value(name, parameters.get(name)) for name in self.sweep.others]
        return ", ".join([self.who(run), *others])

    def who(self, run: PlannedRun) -> str:
        """The protocols of a run."""
        return self.names.protocols_of(run) if protocols_of(run) else "all runs"

    @cached_property
    def known(self) -> pl.DataFrame:
        """What is known of each run: run_id, run, who, series, protocol, apart, x, rank.

        ``x`` is the swept value, ``apart`` the first protocol that not all runs have, such as
        beside the same other, and ``rank`` the place of what else is swept.
        """
        named = [set(protocols_of(run)) for run in self.runs]
        everywhere = set.intersection(*named) if named else set()
        rows, main = [], self.sweep.main
        for run in {run["run_id"]: run for run in self.runs}.values():
            own = [*protocols_of(run), ""]
            apart = next((each for each in own if each not in everywhere), own[0])
            colour = own[:-1][-1] if len(own) > 1 else ""  # of a pair, that of the second
            x = float(run["parameters"][main]) if main else 0.0
            who, rank = self.who(run), self.names.rank(run, self.sweep.others)
            said = (run["run_id"], run["label"], who, self.series(run), colour, apart or own[0])
            rows.append((*said, x, rank))
        return pl.DataFrame(rows, schema=_KNOWN, orient="row")

    def points(self, rows: pl.DataFrame, *, named: bool, of: str = "series") -> pl.DataFrame:
        """Rows with a run_id and subject, and what is known of the runs, see ``known``.

        ``named``: whether the subject is a part of the name of the series, which begins with
        ``of``.
        """
        found = rows.join(self.known, on="run_id", maintain_order="left")
        suffix = [f", {subject_name(each)}" if named else "" for each in found["subject"]]
        return found.with_columns(series=pl.col(of) + pl.Series(suffix, dtype=pl.String))

    def finding(self, metric: str) -> str:
        """What its runs show of a metric, in a sentence; "" if they show nothing."""
        return "".join(answer([metric], self.runs, self.metrics, self.sweep, self.names))

    def means(self, metric: str) -> pl.DataFrame:
        """Means of a metric over the repetitions of each run, with the smallest and the largest.

        Returns:
            run_id (the first of them), subject, unit, value, lower, upper, runs.
        """
        if self.repetitions is None or not self.runs:
            return pl.DataFrame(schema=_MEANS)
        own = (pl.col("metric") == metric) & (pl.col("scenario") == self.runs[0]["scenario"])
        return self.repetitions.filter(own).select(
            pl.col("run_ids").list.first().alias("run_id"),
            "subject",
            "unit",
            value="mean",
            lower="low",
            upper="high",
            runs=pl.col("run_ids").list.len().cast(pl.Int64),
        )


_KNOWN = {
    **dict.fromkeys(("run_id", "run", "who", "series", "protocol", "apart"), pl.String),
    "x": pl.Float64,
    "rank": pl.Int64,
}

_MEANS = {
    **dict.fromkeys(("run_id", "subject", "unit"), pl.String),
    **dict.fromkeys(("value", "lower", "upper"), pl.Float64),
    "runs": pl.Int64,
}


def sweep_charts(chart_id: str, metric: str, swept: Swept) -> Iterator[Chart]:
    """A metric over a sweep, run by run, or as mean and spread if there are too many runs.

    More series than names beside them are drawn apart, a chart for each value of what else is
    swept. There is none if nothing is swept, or too much else, or if no series has two points.
    """
    rows = swept.metrics.filter(pl.col("metric") == metric)
    is_readable = swept.sweep.main and len(swept.sweep.others) <= MOST_OTHERS
    for nth, (said, part) in enumerate(_parts(swept) if is_readable else ()):
        own = rows.filter(pl.col("run_id").is_in(part.known["run_id"].implode()))
        chart = _over_sweep(f"{chart_id}-{nth}" if nth else chart_id, metric, own, part)
        if chart is not None:
            yield replace(chart, title=joined(chart.title, said), finding=part.finding(metric))


def _parts(swept: Swept) -> list[tuple[str, Swept]]:
    """What is drawn apart, and what its runs have in common, in words."""
    sweep, names = swept.sweep, swept.names
    for each in sweep.others if swept.known["series"].n_unique() > MOST_NAMED else ():
        by_value = grouped(swept.runs, lambda run: run["parameters"].get(each))  # noqa: B023
        apart = Sweep(sweep.main, tuple(other for other in sweep.others if other != each))
        parts = [
            (names.condition(each, value), replace(swept, runs=by_value[value], sweep=apart))
            for value in in_order(each, [known for known in by_value if known is not None], names)
        ]
        most = max(own.known["series"].n_unique() for _, own in parts)
        if 1 < len(parts) <= _MOST_PARTS and most <= MOST_NAMED:
            return parts
    return [("", swept)]


def tradeoff_chart(chart_id: str, x: str, y: str, swept: Swept) -> Chart | None:
    """A metric against another, for the runs that have both.

    Over a sweep there is a point for each run, and lines join those of a series in the order of the
    swept parameter, unless repetitions have several points there; else a mark for each series.

    Returns:
        The chart; None with fewer than two points, or with more than are readable.
    """
    names = swept.names
    across, up = (swept.metrics.filter(pl.col("metric") == each) for each in (x, y))
    several = [frame["subject"].n_unique() > 1 for frame in (across, up)]
    # A metric of a run goes with each flow's or link's of another, whose names tell the points.
    pairs = up.select("run_id", "subject", y="value", unit_y="unit").join(
        across.select("run_id", subject_x="subject", x="value", unit_x="unit"),
        left_on=["run_id", "subject"] if all(several) else ["run_id"],
        right_on=["run_id", "subject_x"] if all(several) else ["run_id"],
        maintain_order="left",
    )
    # A series has the colour of the protocol that not all runs have.
    of = "subject_x" if several == [True, False] else "subject"
    drawn = pairs.drop_nulls(["x", "y"]).select("run_id", "x", "y", subject=of)
    points = swept.points(
        drawn.rename({"x": "across"}), named=any(several) and bool(swept.sweep.main)
    ).select(*("y", "series", "run_id", "run", "rank"), x="across", at="x", protocol="apart")
    if points.height < 2 or is_crowded(swept):
        return None
    units = (pairs["unit_x"][0], pairs["unit_y"][0])
    told = [
        (names.metric(each), replace(names.judged(each), unit=unit))
        for each, unit in zip((x, y), units, strict=True)
    ]
    if not swept.sweep.main:
        ends = {"x_low": pl.col("x").min(), "x_high": pl.col("x").max()}
        ends |= {"y_low": pl.col("y").min(), "y_high": pl.col("y").max()}
        marks = points.group_by(label="series", maintain_order=True).agg(
            pl.col("protocol", "run_id").first(),
            x=pl.col("x").mean(),
            y=pl.col("y").mean(),
            **ends,
        )  # fmt: skip
        colours = pl.Series("colour", [names.colour(each) for each in marks["protocol"]])
        chart = standing_chart(chart_id, marks.with_columns(colours), told, names.captions)
        return replace(chart, metrics=(x, y))
    titles = [axis_title(name, unit) for (name, _), unit in zip(told, units, strict=True)]
    styles = _styles(points, names)
    shown = points.select("x", "y", "at", "series", "run_id", "run")
    x_axis, y_axis = (
        number(at, title, scale=_wide_enough(shown[at], shown[at], each))
        for at, title, (_, each) in zip("xy", titles, told, strict=True)
    )
    return Chart(
        chart_id=chart_id,
        title=f"{names.metric(y)} against {inside(names.metric(x))}",
        caption=names.captions.charts["tradeoff"]["caption"],
        alternative=f"{titles[1]} against {titles[0]}. Series: {'; '.join(styles)}.",
        content=spec_content(tradeoff_spec(shown, styles, x_axis, y_axis), list(styles)),
        metrics=(x, y),
    )


def standing_chart(
    chart_id: str,
    marks: pl.DataFrame,
    quantities: Sequence[tuple[str, Judged]],
    captions: Captions,
    marked: Sequence[str] = (),
    caption: str = "",
) -> Chart:
    """A metric against another: of each sender a mark, the spread of its runs, and its name.

    All names are beside the plot, where none overlap.

    Args:
        chart_id: id of the chart.
        marks: ``label``, ``colour``, ``run_id`` str; ``x`` and ``y``, each also with ``_low`` and
            ``_high``, f64.
        quantities: name of x and of y, and how they are judged.
        captions: words of the report.
        marked: labels that stand out; the title tells their place.
        caption: what the caption says first.
    """
    titles = [joined(axis_title(name, each.unit), direction(each)) for name, each in quantities]
    (across, judged_x), (up, judged_y) = quantities
    told = [
        f"{label}: {inside(up)} {value_text(rounded(own_y), judged_y.unit)}, "
        f"{inside(across)} {value_text(rounded(own_x), judged_x.unit)}"
        for label, own_x, own_y in marks.select("label", "x", "y").iter_rows()
    ]
    title = next((said for said in told if said.split(": ")[0] in marked), "")
    scales = [
        _wide_enough(marks[f"{at}_low"], marks[f"{at}_high"], each)
        for at, (_, each) in zip("xy", quantities, strict=True)
    ]
    height = max(_HEIGHT, math.ceil(NAME_PX * (marks.height + 1)))
    # A horizontal title may be longer than the plot is wide.
    lines = (wrap(titles[0], _TITLE_WIDTH), titles[1])
    x, y = (number(n, t, scale=s) for n, t, s in zip("xy", lines, scales, strict=True))
    colours = dict(marks.select("label", "colour").iter_rows())
    base: Encoding = {"color": coloured("label", colours, legend=None)}
    tips = [text("label", "sender")]
    for name, whole in zip("xy", titles, strict=True):
        shown = {"": whole, "_low": "from", "_high": "to"}
        tips += [number(name + end, words, ",.5~g") for end, words in shown.items()]
    along = {"y": y, "x": number("x_low"), "x2": {"field": "x_high"}}
    upward = {"x": x, "y": number("y_low"), "y2": {"field": "y_high"}}
    size = _if_marked("datum.label", marked, 170, 70)
    point = layer(
        "point",
        "marks",
        {**base, "x": x, "y": y, "size": size, "tooltip": tips},
        filled=True,
        opacity=1,
        cursor="pointer",
    )
    spec = layered(
        *(layer("rule", "marks", {**base, **bar}, strokeWidth=1.6) for bar in (along, upward)),
        {**names_at_ends(point, marked=marked), "name": "names"},  # which no legend can replace
        point,
        *([broken(height, "marks")] if scales[1]["domain"][0] > 0 else ()),
        height=height,
        rows={"marks": marks.drop("protocol", "colour", strict=False)},
    )
    return Chart(
        chart_id=chart_id,
        title=title or f"{up} against {inside(across)}",
        caption=joined(caption, captions.charts["standing"]["caption"], by=" "),
        alternative=f"{titles[1]} against {titles[0]}. {'; '.join(told)}.",
        content=spec_content(spec),
    )


def _wide_enough(lows: pl.Series, highs: pl.Series, judged: Judged) -> dict[str, Any]:
    """Scale around all intervals, with a margin: ten of the differences that count, or more.

    So no difference looks large that does not count. What that adds lies where values are worse,
    which can occur: a goodput above the link's rate cannot.
    """
    low, high = min(lows.to_list()), max(highs.to_list())
    is_share = judged.unit in ("%", "1") and judged.apart
    least = 10 * (judged.apart or USUAL_APART) * (1.0 if is_share else max(abs(low), abs(high)))
    span = max(least, high - low) or 1.0
    margin, more = 0.04 * span, span - (high - low)
    below = {"more": more, "less": 0.0}.get(judged.better, more / 2)
    start = low - below - margin
    if low >= 0 and start < 0.1 * span:
        start = 0.0
    return {"domain": [start, high + more - below + margin], "nice": False, "zero": False}


def tradeoff_spec(
    points: pl.DataFrame, styles: Styles, x: Channel, y: Channel, laws: pl.DataFrame | None = None
) -> Spec:
    """Points of several series, with lines through those that ``at`` gives an order.

    Args:
        points: ``x``, ``y`` f64, ``series``, ``run_id``, ``run`` str; ``at`` f64 if they have an
            order.
        styles: colour and dashes of each series.
        x: the horizontal axis.
        y: the vertical axis.
        laws: ends of straight lines: ``x``, ``y`` f64, ``series`` str.
    """
    colours = {key: colour for key, (colour, _) in styles.items()}
    in_order = "at" in points.columns and not points.select("series", "at").is_duplicated().any()
    lines = {"line": points} if in_order else {} if laws is None else {"line": laws}
    # The symbols of legends are lines, which filled points alone would leave invisible.
    symbols = {} if lines else {"legend": {"symbolType": "circle"}}
    base: Encoding = {"x": x, "y": y, "color": coloured("series", colours, title=None, **symbols)}
    tooltip = [
        text("series", "series"),
        number("x", x["title"], ",.5~g"),
        number("y", y["title"], ",.5~g"),
        text("run", "run"),
    ]
    order = {"order": number("at", None)} if in_order else {}
    line = layer("line", "line", {**base, "strokeDash": dashed(styles), **order},
                 strokeWidth=1.4, opacity=0.7, clip=True)  # fmt: skip
    look = {"filled": True, "size": 55, "opacity": 1, "cursor": "pointer"}
    is_cut = y["scale"].get("domain", [0.0])[0] > 0
    return layered(
        *([line] if lines else ()),
        layer("point", "points", {**base, "tooltip": tooltip}, **look),
        *([broken(_HEIGHT, "points")] if is_cut else ()),
        *([names_at_ends(line)] if in_order else ()),
        height=_HEIGHT,
        rows={"points": points, **lines},
    )


def is_crowded(swept: Swept) -> bool:
    """Whether a chart with a point for each run is unreadable, or takes over a second to draw."""
    series = {
        (protocols_of(run), *(run["parameters"].get(name) for name in swept.sweep.others))
        for run in swept.runs
    }
    return len(swept.runs) > MOST_POINTS or len(series) > MOST_SERIES


def _over_sweep(chart_id: str, metric: str, rows: pl.DataFrame, swept: Swept) -> Chart | None:
    """Single runs beside what is published; of too many, means with bars of percentiles."""
    names, words, pools = swept.names, swept.names.parameters, is_crowded(swept)
    subjects, captions = rows["subject"].n_unique(), swept.names.captions.charts
    named = subjects > 1 and not (pools and subjects > _FEW_SUBJECTS)
    measured = swept.points(
        rows.select("run_id", "subject", "value", "unit"),
        named=named,
        of="who" if pools else "series",
    )
    reached = shown = measured.drop_nulls("value")
    if not (reached.group_by("series").agg(pl.col("x").n_unique())["x"] > 1).any():
        return None
    numbers = [each for each in swept.numbers if each["metric"] == metric and not pools]
    if pools:
        reached, value = reached.with_columns(rank=0), pl.col("value")
        shown = intervals = reached.group_by("series", "x", maintain_order=True).agg(
            value=value.mean(),
            lower=value.quantile(_LOW, "linear"),
            upper=value.quantile(_HIGH, "linear"),
            runs=pl.col("run_id").n_unique().cast(pl.Int64),
            run_id=pl.lit(""),
            run=pl.format("mean of {} runs", pl.col("run_id").n_unique()),
        )
        others = joined(*map(words.name, swept.sweep.others)) or "repetitions"
        caption = captions["crowd"]["caption"].format(runs=f"{len(swept.runs):,}", others=others)
        note = ""
    else:
        means = swept.points(swept.means(metric), named=named)
        intervals = means.filter(pl.col("upper") > pl.col("lower"))
        caption = captions["sweep"]["caption" if numbers else "measured"]
        note = joined(repetitions_note(means), _not_reached(measured), by=" ")
    name, across, styles = (
        names.metric(metric),
        words.name(swept.sweep.main),
        _styles(reached, names),
    )
    title = axis_title(across, words.unit(swept.sweep.main))
    judged = replace(names.judged(metric), unit=reached["unit"][0])
    spec = sweep_spec(
        shown.select("x", "value", "series", "run_id", "run"),
        _published(swept, numbers).filter(pl.col("series").is_in(list(styles))),
        styles,
        (title, axis_title(name, judged.unit)),
        intervals,
        judged,
    )
    return Chart(
        chart_id=chart_id,
        title=f"{name} against {across}",
        caption=caption,
        alternative=f"{'Mean ' if pools else ''}{name} against {title}. "
        f"Series: {'; '.join(styles)}.",
        content=spec_content(spec, list(styles)),
        note=note,
        metrics=(metric,),
        pools=pools,
    )


def _not_reached(measured: pl.DataFrame) -> str:
    """A sentence about runs without a value, "" if there are none; it names a few of many."""
    without = measured.filter(pl.col("value").is_null()).unique("run_id", maintain_order=True)
    named, total = "; ".join(without["run"].head(_MOST_NAMED)), measured["run_id"].n_unique()
    if without.height > _MOST_NAMED:
        return f"Not reached in {without.height} of {total} runs, such as {named}."
    return f"Not reached: {named}." if named else ""


def _published(swept: Swept, numbers: Sequence[ScoredNumber]) -> pl.DataFrame:
    """Published values over the sweep: x, value, lower, upper, series, verdict (words)."""
    by_id = {run["run_id"]: run for run in swept.runs}
    several = len({each["subject"] for each in numbers}) > 1
    points = []
    for each in numbers:
        run = next((by_id[run_id] for run_id in each["run_ids"] if run_id in by_id), None)
        main, selected = swept.sweep.main, each["select"]
        x = run["parameters"][main] if run else selected.get(main)
        if x is None or (each["run_ids"] and not run):  # its runs are in another chart
            continue
        if run:
            who = joined(swept.series(run), subject_name(each["subject"]) if several else "")
        else:
            who = " and ".join(swept.names.protocols_in(selected))
        values = (each["published"], each["lower"], each["upper"])
        points.append((float(x), *values, who, VERDICTS[each["verdict"]].label))
    schema = dict.fromkeys(("x", "value", "lower", "upper"), pl.Float64)
    words = {"series": pl.String, "verdict": pl.String}
    return pl.DataFrame(points, schema={**schema, **words}, orient="row")


def _styles(reached: pl.DataFrame, names: Names) -> dict[str, tuple[str, Sequence[int]]]:
    """A protocol has its colour and dashes; the nth of other values, such as rates, is lighter.

    The same value is the nth in all charts of a report, whichever protocol it comes with first, and
    the values of a protocol are in their order in the legend.
    """
    styles: dict[str, tuple[str, Sequence[int]]] = {}
    seen: Counter[tuple[str, int]] = Counter()
    rows = reached.select("series", "protocol", "rank").rows()
    place = {protocol: nth for nth, protocol in enumerate(dict.fromkeys(row[1] for row in rows))}
    for series, protocol, rank in sorted(rows, key=lambda row: (place[row[1]], row[2])):
        if series not in styles:
            nth = rank + seen[protocol, rank]  # further flows of a run
            styles[series] = (lighter(names.colour(protocol), nth), names.dash(protocol, nth))
            seen[protocol, rank] += 1
    return styles


def repetitions_note(means: pl.DataFrame) -> str:
    """A note on means and their intervals, "" without repetitions.

    Args:
        means: ``lower``, ``upper``: equal if all repetitions have the same value; ``runs``.
    """
    if means.is_empty():
        return ""
    runs = " to ".join(dict.fromkeys(map(str, (means["runs"].min(), means["runs"].max()))))
    bars = f"Bars go from the smallest to the largest of {runs} repetitions."
    equal = (means["lower"] == means["upper"]).any()
    return f"{bars} There is none where repetitions are exactly equal." if equal else bars


def interval_chart(chart_id: str, metric: str, swept: Swept) -> Chart | None:
    """Bars of the means of a metric with their intervals; None for fewer than two bars."""
    names, by_id = swept.names, {run["run_id"]: run for run in swept.runs}
    means = swept.means(metric)
    several = means["subject"].n_unique() > 1
    shown = means.filter(pl.col("run_id").is_in(list(by_id)))
    if not 1 < shown.height <= _MOST_BARS:  # a single value is a sentence
        return None
    runs = [by_id[each] for each in shown["run_id"]]
    own = swept.metrics.filter(pl.col("metric") == metric).select("run_id", "subject", "value")
    order = [
        joined(
            names.protocols_of(run) if protocols_of(run) else names.scenario(run["scenario"]),
            swept.sweep.describe(run, names.parameters),
            subject_name(subject) if several else "",
        )
        for run, subject in zip(runs, shown["subject"], strict=True)
    ]
    name, quantity = names.metric(metric), axis_title(names.metric(metric), shown["unit"][0])
    bars = shown.select(
        pl.Series("label", order), pl.col("value").alias("mean"), "lower", "upper", "runs", "run_id"
    )
    colours = [names.colour(next(iter(protocols_of(run)), "")) for run in runs]
    return Chart(
        chart_id=chart_id,
        title=f"{name}, means",
        caption=names.captions.charts["repetitions"]["caption"],
        alternative=f"Bars of the mean {name}, from the least to the most: {'; '.join(order)}.",
        content=spec_content(interval_bars(bars, order, colours, quantity)),
        note=joined(repetitions_note(bars), _not_reached(swept.points(own, named=False)), by=" "),
        metrics=(metric,),
        finding=swept.finding(metric),
    )


def change_chart(
    chart_id: str, matrix: Matrix, data: ReportData, runs: Sequence[PlannedRun]
) -> Chart | None:
    """Bars of what runs change of a metric, the largest change first; None if there are none.

    A change is the value of a run less the mean of all runs of other scenarios that are alike; its
    interval reaches to the smallest and to the largest of these.
    """
    names, rows = data.names, data.inputs.metrics.filter(pl.col("metric") == matrix.metric)
    values = dict(rows.drop_nulls("value").select("run_id", "value").iter_rows())

    def place(run: PlannedRun) -> tuple[object, ...]:
        return tuple(run["parameters"].get(each) for each in matrix.alike)

    others = [run for run in data.inputs.plan["runs"] if run["scenario"] != matrix.scenario]
    base: dict[tuple[object, ...], dict[str, float]] = {}
    for run in others:
        if run["run_id"] in values:
            base.setdefault(place(run), {})[run["run_id"]] = values[run["run_id"]]
    found = []
    for run in runs:
        if (before := base.get(place(run))) and run["run_id"] in values:
            own, usual, given = values[run["run_id"]], list(before.values()), run["parameters"]
            changed, *like = (
                names.value(each, given[each]) for each in (matrix.rows.parameter, *matrix.alike)
            )
            found.append(
                {
                    "label": f"{changed}, {names.protocols_of(run)} ({'; '.join(like)})",
                    "mean": own - sum(usual) / len(usual),
                    "lower": own - max(usual),
                    "upper": own - min(usual),
                    "runs": len(usual),
                    "run_id": run["run_id"],
                }
            )
    if not found:
        return None
    bars = pl.DataFrame(found).sort(pl.col("mean").abs(), descending=True, maintain_order=True)
    name, order = names.metric(matrix.metric), bars["label"].to_list()
    beyond = bars.filter((pl.col("lower") > 0) | (pl.col("upper") < 0))
    quantity = axis_title(f"Change of {inside(name)}", rows["unit"][0])
    said = f"{beyond.height} of {bars.height} changes take it out of the range of repetitions"
    most = [f", most of all {label}" for label in beyond["label"].head(1)]
    return Chart(
        chart_id=chart_id,
        title=f"Change of {inside(name)}",
        caption=names.captions.charts["changes"]["caption"].format(
            alike=listed([names.parameters.name(each) for each in matrix.alike])
        ),
        alternative=f"Bars of {quantity}, the largest first: {'; '.join(order)}.",
        content=spec_content(interval_bars(bars, order, [NEUTRAL] * len(order), quantity)),
        metrics=(matrix.metric,),
        finding=f"{name}: {said}{''.join(most)}.",
    )


def sweep_spec(
    measured: pl.DataFrame,
    published: pl.DataFrame,
    styles: Styles,
    titles: tuple[str, str],
    intervals: pl.DataFrame,
    judged: Judged,
    marked: Sequence[str] = (),
) -> Spec:
    """A metric over a swept parameter, with published and measured values.

    Args:
        measured: ``x`` f64, ``value`` f64, ``series`` str, ``run_id`` str, ``run`` str (its label).
        published: ``x`` f64, ``value``, ``lower``, ``upper`` f64, ``series`` str, ``verdict`` str.
        styles: colour and dashes of each series.
        titles: of both axes, with unit.
        intervals: the smallest and the largest of repetitions that differ: ``x``, ``lower``,
            ``value`` (the mean), ``upper`` f64, ``runs`` i64, ``series`` str.
        judged: how values are judged.
        marked: series whose lines stand out.
    """
    values = sorted({*measured["x"].to_list(), *published["x"].to_list()})
    shown = intervals.select("x", "lower", "value", "upper", "runs", "series")
    rows = {"published": published, "measured": measured, "intervals": shown}
    rows = {name: frame for name, frame in rows.items() if not frame.is_empty()}
    scale, axis = _y_scale(measured, rows, judged), dict[str, Any]()
    if "type" in scale:  # else every digit has a line
        axis = {"values": [10.0**power for power in range(-9, 10)], "format": "~g"}
    base: Encoding = {
        "x": _x_of(titles[0], values),
        "y": number("value", titles[1], scale=scale) | ({"axis": axis} if axis else {}),
        "color": coloured("series", {key: each for key, (each, _) in styles.items()}, title=None),
    }
    place = [text("series", "series"), number("x", titles[0])]
    drawn: list[Layer] = []
    if "published" in rows:
        tips = [
            number("value", "published", ",.6~g"),
            number("lower", "lower bound", ",.6~g"),
            number("upper", "upper bound", ",.6~g"),
            text("verdict", "verdict"),
        ]
        bounds = {**base, "y": number("lower"), "y2": {"field": "upper"}}
        look = {"shape": "diamond", "size": 130, "strokeWidth": 1.6, "opacity": 1, "fill": "white"}
        drawn.append(layer("rule", "published", bounds, strokeWidth=6, opacity=0.28))
        drawn.append(layer("point", "published", {**base, "tooltip": [*place, *tips]}, **look))
    if "intervals" in rows:
        tips = [*place, number("value", "mean", ",.5~g"), *_interval_tips()]
        look = {"thickness": 1.4, "size": 9, "orient": "horizontal"}
        drawn += _bars_with_ends("y", "intervals", {**base, "tooltip": tips}, look, opacity=0.8)
    # If runs repeat a point, the line goes through their mean.
    repeated = measured.select("series", "x").is_duplicated().any()
    mean = {"y": number("value", titles[1], aggregate="mean")} if repeated else {}
    if marked:
        mean["size"] = _if_marked("datum.series", marked, 3.4, 1.3)
    line = layer(
        "line", "measured", {**base, **mean, "strokeDash": dashed(styles)}, strokeWidth=1.7
    )
    tips = [*place, number("value", "measured", ",.5~g"), text("run", "run")]
    look = {"filled": True, "size": 55, "opacity": 1, "cursor": "pointer"}
    points = layer("point", "measured", {**base, "tooltip": tips}, **look)
    drawn += [
        line,
        points,
        *([broken(_HEIGHT, "measured")] if scale.get("domain", [0.0])[0] > 0 else ()),
    ]
    return layered(*drawn, names_at_ends(line), height=_HEIGHT, rows=rows)


def _y_scale(
    measured: pl.DataFrame, rows: Mapping[str, pl.DataFrame], judged: Judged
) -> dict[str, Any]:
    """The vertical scale of a sweep."""
    lows, highs = measured["value"], measured["value"]
    for name in ("published", "intervals"):
        if name in rows:
            lows, highs = (
                s.append(rows[name][e].drop_nulls())
                for s, e in zip((lows, highs), _ENDS, strict=True)
            )
    low, high = min(lows.to_list()), max(highs.to_list())
    is_ratio = judged.better == "nearest" and bool(judged.reference)
    if low > 0 and judged.unit != "%" and high / low > (LOG_SPAN if is_ratio else _DECADES):
        return {"type": "log", "nice": True}
    if "intervals" in rows and low > high / 2:
        # On an axis from 0, an interval far above 0 would be invisible.
        return _wide_enough(lows, highs, judged)
    return {"zero": True}


def _if_marked(field: str, marked: Sequence[str], yes: str | float, no: str | float) -> Channel:
    """One value for what is marked, and another one for the rest."""
    test = f"indexof({json.dumps(list(marked))}, {field}) >= 0"
    return {"condition": {"test": test, "value": yes}, "value": no}


def _x_of(title: str, values: Sequence[float]) -> Channel:
    scale: dict[str, Any] = {"type": "linear", "nice": False, "padding": 14, "zero": False}
    if values[0] > 0 and values[-1] / values[0] > LOG_SPAN:
        scale = {"type": "log", "nice": False, "padding": 14}
    # Without a format, 1e-6 beside 1e-5 is rounded to it.
    axis = {"values": list(values), "grid": False, "format": ",.12~g"}
    return number("x", title, scale=scale, axis=axis)


def _bars_with_ends(
    up: str, rows: str, base: Encoding, ends: Mapping[str, Any], **look: Any
) -> list[Layer]:
    """Intervals from ``lower`` to ``upper`` along a channel, as bars with ends."""
    width = ends["thickness"]
    whole = {**base, up: number("lower"), f"{up}2": {"field": "upper"}}
    ticks = [layer("tick", rows, {**base, up: number(end)}, **look, **ends) for end in _ENDS]
    return [layer("rule", rows, whole, strokeWidth=width, **look), *ticks]


def _interval_tips() -> list[Channel]:
    ends = [number("lower", "from", ",.5~g"), number("upper", "to", ",.5~g")]
    return [*ends, number("runs", "repetitions")]


_IN_TWO_LINES = (
    "indexof(datum.label, ', ') < 0 ? datum.label : [slice(datum.label, 0, "
    "indexof(datum.label, ', ')), slice(datum.label, indexof(datum.label, ', ') + 2)]"
)
"""Breaks a label such as "Reno and HSTCP, delay 25 ms" after its first part."""


def interval_bars(
    bars: pl.DataFrame,
    order: Sequence[str],
    colours: Sequence[str],
    quantity: str,
    marked: Sequence[str] = (),
) -> Spec:
    """Means as bars, each with its interval.

    Args:
        bars: ``label`` str, ``mean`` (null if it was never reached), ``lower``, ``upper`` f64,
            ``runs`` i64, ``run_id`` str.
        order: labels from top to bottom.
        colours: colours of the bars, in order.
        quantity: title of the horizontal axis, with unit.
        marked: labels that stand out.
    """
    scale = {"domain": list(order)}
    axis = {**BARE, "labelLimit": _LABEL_LIMIT, "labelExpr": _IN_TWO_LINES}
    if marked:
        axis["labelFontWeight"] = _if_marked("datum.value", marked, "bold", "normal")
    base: Encoding = {
        "y": text("label", None, scale=scale, axis=axis),
        "tooltip": [text("label", "runs of"), number("mean", "mean", ",.5~g"), *_interval_tips()],
    }
    colour = text("label", scale={**scale, "range": list(colours)}, legend=None)
    # Where names leave little room, a title would begin before the axis rather than end behind it.
    across = number("mean", quantity, axis={"titleAnchor": "end"})
    bar = {**base, "x": across, "color": colour}
    if marked:
        bar["opacity"] = _if_marked("datum.label", marked, 1, 0.55)
    ends = _bars_with_ends("x", "bars", base, {"thickness": 1.6, "size": 12}, color=INK)
    # An interval of zero width would look like a very narrow one.
    wide = {"transform": [{"filter": "datum.upper > datum.lower"}]}
    any_wide = bars.filter(pl.col("upper") > pl.col("lower")).height > 0
    never = {**base, "x": {"value": "width"}, "text": {"value": "never \u25b8"}}
    beyond = layer("text", "bars", never, align="right", fontSize=11, color=FAINT)
    beyond["transform"] = [{"filter": "!isValid(datum.mean)"}]
    return layered(
        layer("bar", "bars", bar, height=_BAND, cursor="pointer", opacity=0.75),
        *({**each, **wide} for each in ends if any_wide),
        *([beyond] if bars["mean"].has_nulls() else ()),
        height=_BAR_HEIGHT * len(order),
        rows={"bars": bars},
        room_above=ROOM_ABOVE,
    )
