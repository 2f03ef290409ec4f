"""One section per experiment: its views, their charts, and its summary over a sweep."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import overload

import polars as pl

from bdpbench.contracts.plan import Plan, PlannedRun
from bdpbench.contracts.scorecard import Scorecard, ScoredNumber, rows_of
from bdpbench.pages.chart import Chart, TimeContent
from bdpbench.pages.crowds import sweep_chart
from bdpbench.pages.intervals import interval_chart
from bdpbench.pages.names import Names, RunLink
from bdpbench.pages.packing import end_of, start_of
from bdpbench.pages.series import (
    CHARTED_TABLES,
    COMPLETION,
    DROPS,
    QUEUE_SHARE,
    SELDOM_SAMPLED,
    RunSeries,
)
from bdpbench.pages.sweeps import Sweep, find_sweep, grouped, protocols_of
from bdpbench.pages.text import figures_text
from bdpbench.pages.time_charts import CDF_COLUMNS, CDF_UNITS, LOGARITHMIC, thresholds
from bdpbench.pages.views import Curve, View, curves, plan_views

# Shown over a sweep if the study has no published numbers for it.
_USUAL_SWEEP_METRICS = ("utilization", "asymmetry", "time_to_90pct_utilization")


@dataclass(frozen=True)
class ChartedView:
    """A view and its charts; ``missing`` names tables that should have been sampled but were not.

    ``drawn`` of ``of`` runs have curves.
    """

    title: str
    charts: tuple[Chart, ...]
    missing: tuple[str, ...]
    drawn: int = 1
    of: int = 1


class LazyViews(Sequence[ChartedView]):
    """Views whose charts are made each time they are needed, since thousands cannot be stored.

    Attributes:
        titles: titles of all views, which need no charts.
    """

    def __init__(self, views: Sequence[View], charted: Callable[[int, View], ChartedView]) -> None:
        self._views, self._charted = views, charted
        self.titles = [view.title for view in views]

    def __len__(self) -> int:
        return len(self._views)

    @overload
    def __getitem__(self, index: int) -> ChartedView: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[ChartedView]: ...

    def __getitem__(self, index: int | slice) -> ChartedView | Sequence[ChartedView]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        return self._charted(index, self._views[index])

    def __iter__(self) -> Iterator[ChartedView]:
        return (self._charted(index, view) for index, view in enumerate(self._views))


@dataclass(frozen=True)
class Experiment:
    """A scenario of the study with everything that the page shows about it.

    ``absent`` of its ``runs`` have no results, and ``shared`` also belong to an earlier scenario.
    """

    key: str
    title: str
    section: str
    figures: str
    description: str
    runs: tuple[RunLink, ...]
    absent: int
    shared: int
    summaries: tuple[Chart, ...]
    views: LazyViews


def experiments(
    plan: Plan,
    metrics: pl.DataFrame,
    scorecard: Scorecard,
    series: Mapping[str, RunSeries],
    names: Names,
    repetitions: pl.DataFrame | None = None,
) -> list[Experiment]:
    """Sections of the scenarios that have a run in the plan, in the order of the plan.

    ``repetitions`` are means over repetitions, as for ``interval_chart``.
    """
    by_scenario = grouped(plan["runs"], lambda run: run["scenario"])
    found, counted = [], set[str]()
    for key in plan["scenarios"]:
        if runs := by_scenario.get(key):
            section = _experiment(key, runs, metrics, scorecard, series, names, repetitions)
            own = {run["run_id"] for run in runs}
            found.append(replace(section, shared=len(own & counted)))
            counted |= own
    return found


def _experiment(
    key: str,
    runs: Sequence[PlannedRun],
    metrics: pl.DataFrame,
    scorecard: Scorecard,
    series: Mapping[str, RunSeries],
    names: Names,
    repetitions: pl.DataFrame | None,
) -> Experiment:
    scenario = names.scenarios[key]
    done = [run for run in runs if run["run_id"] in series]
    sweep = find_sweep(done, swept=names.swept(key))
    rows = (row for number in scorecard["numbers"] for row in rows_of(number))
    numbers = [row for row in rows if row["scenario"] == key]
    asked = _asked(numbers, scenario["summary"])
    views = plan_views(done, sweep, names.protocols, names.parameters)
    return Experiment(
        key=key,
        title=scenario["title"],
        section=scenario["section"],
        figures=figures_text(scenario["figures"]),
        description=scenario["description"],
        runs=tuple(names.run(run["run_id"]) for run in runs),
        absent=len(runs) - len(done),
        shared=0,
        summaries=(
            *_summaries(key, done, sweep, metrics, asked, numbers, names, repetitions),
            *_intervals(key, done, sweep, asked, repetitions, names),
        ),
        views=LazyViews(
            views,
            lambda index, view: charted_view(view, f"{key}-{index}", sweep, series, names),
        ),
    )


def charted_view(
    view: View, prefix: str, sweep: Sweep, series: Mapping[str, RunSeries], names: Names
) -> ChartedView:
    """The time charts of a view; tables that none of its runs has are listed as ``missing``."""
    charts, missing = [], []
    for table in CHARTED_TABLES:
        lines = curves(view, table, series, names.protocols, sweep, names.parameters)
        if not lines:
            if table not in SELDOM_SAMPLED:
                missing.append(names.captions.charts[table]["title"])
            continue
        charts.append(time_chart(f"{prefix}-{table}", table, view.runs, lines, names))
    if len(view.runs) == 1:
        charts = [_with_drops(chart, view.runs[0], series, names) for chart in charts]
    shares = (
        _cdf(view, prefix, table, sweep, series, names) for table in (QUEUE_SHARE, COMPLETION)
    )
    charts += [chart for chart in shares if chart is not None]
    return ChartedView(view.title, tuple(charts), tuple(missing), len(view.runs), view.of)


def _with_drops(
    chart: Chart, run: PlannedRun, series: Mapping[str, RunSeries], names: Names
) -> Chart:
    """The chart of one run with marks where packets were dropped; those of several would mix."""
    links = series.get(run["run_id"], {}).get(DROPS, {})
    if not links or "spec" in chart.content:
        return chart
    content = chart.content.copy()
    content["drops"] = [{"run": run["run_id"], "subject": link} for link in links]
    note = " ".join(filter(None, (chart.note, names.captions.charts[DROPS]["caption"])))
    return replace(chart, content=content, note=note)


def _cdf(
    view: View,
    prefix: str,
    table: str,
    sweep: Sweep,
    series: Mapping[str, RunSeries],
    names: Names,
) -> Chart | None:
    """A cumulative distribution, such as that of the queue's length; None if no run has it."""
    lines = curves(view, table, series, names.protocols, sweep, names.parameters)
    if not lines:
        return None
    packed = [series[line.run_id][table][line.subject] for line in lines]
    words = names.captions.charts[table]
    told = "; ".join(line.label for line in lines)
    content = _time_content(table, view.runs, lines, names)
    content["end"] = max(map(end_of, packed)) or 1.0
    if table in LOGARITHMIC:
        content["start"] = min(map(start_of, packed))
    content["top"] = 100
    content["unit"] = CDF_UNITS[table]
    content["columns"] = list(CDF_COLUMNS[table])
    return Chart(
        chart_id=f"{prefix}-{table}",
        title=words["title"],
        caption=words["caption"],
        alternative=f"Cumulative distribution of the {words['quantity']}. Lines: {told}.",
        content=content,
    )


def time_chart(
    chart_id: str, table: str, runs: Sequence[PlannedRun], lines: Sequence[Curve], names: Names
) -> Chart:
    """Lines of a table over time; ``runs`` are the runs of the lines."""
    words = names.captions.charts[table]
    told = "; ".join(line.label for line in lines)
    return Chart(
        chart_id=chart_id,
        title=words["title"],
        caption=words["caption"],
        alternative=f"Line chart of {words['quantity']} over time. Lines: {told}.",
        content=_time_content(table, runs, lines, names),
    )


def _time_content(
    table: str, runs: Sequence[PlannedRun], lines: Sequence[Curve], names: Names
) -> TimeContent:
    return {
        "kind": table,
        "end": max(_duration_s(run) for run in runs),
        "traces": [
            {
                "run": line.run_id,
                "subject": line.subject,
                "label": line.label,
                "colour": line.colour,
                "dash": line.dash,
            }
            for line in lines
        ],
        "thresholds": thresholds(table, runs, names.page.filled_share, names.captions),
    }


def _duration_s(run: PlannedRun) -> float:
    duration_s = run["parameters"].get("duration_s", 0)
    return duration_s if isinstance(duration_s, int | float) else float(duration_s)


def _asked(numbers: Sequence[ScoredNumber], wanted: Sequence[str]) -> Sequence[str]:
    """Metrics that are shown for a scenario as a whole."""
    published = [each["metric"] for each in numbers]
    return list(dict.fromkeys([*wanted, *published])) or _USUAL_SWEEP_METRICS


def _intervals(
    key: str,
    runs: Sequence[PlannedRun],
    sweep: Sweep,
    asked: Sequence[str],
    repetitions: pl.DataFrame | None,
    names: Names,
) -> list[Chart]:
    if repetitions is None:
        return []
    own = repetitions.filter(pl.col("scenario") == key)
    charts = (
        interval_chart(f"{key}-means-{metric}", metric, runs, sweep, own, names) for metric in asked
    )
    return [chart for chart in charts if chart is not None]


def _summaries(
    key: str,
    runs: Sequence[PlannedRun],
    sweep: Sweep,
    metrics: pl.DataFrame,
    asked: Sequence[str],
    numbers: Sequence[ScoredNumber],
    names: Names,
    repetitions: pl.DataFrame | None,
) -> list[Chart]:
    if any(len(set(protocols_of(run))) > 1 for run in runs):
        return []  # lines for all pairs would be unreadable: the comparison has their matrix
    charts = (
        sweep_chart(
            f"{key}-sweep-{metric}", metric, runs, sweep, metrics, numbers, names, repetitions
        )
        for metric in asked
    )
    return [chart for chart in charts if chart is not None]
