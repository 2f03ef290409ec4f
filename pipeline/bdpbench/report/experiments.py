"""One section an experiment: its views, their charts, and its summary over a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from bdpbench.report.charts import Spec, sweep_chart, thresholds
from bdpbench.report.series import CHARTED_TABLES, RunSeries
from bdpbench.report.sweeps import Run, Sweep, find_sweep, protocol_label, protocols_of
from bdpbench.report.text import axis_title, parameter_name, parameter_value, subject_name
from bdpbench.report.verdicts import VERDICTS, Names, RunLink
from bdpbench.report.views import NEUTRAL, View, plan_views, traces
from bdpbench.units import unit_of

# Shown against a sweep where the study publishes no number for it.
_USUAL_SWEEP_METRICS = ("utilization", "asymmetry", "time_to_90pct_utilization")


@dataclass(frozen=True)
class Chart:
    """One chart of the page: ``content`` is what the script needs, the rest is for reading."""

    chart_id: str
    title: str
    caption: str
    alternative: str
    content: Mapping[str, Any]
    note: str = ""


@dataclass(frozen=True)
class ChartedView:
    """A view and its charts; ``missing`` names what was not sampled."""

    title: str
    charts: tuple[Chart, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Experiment:
    """A scenario of the study with everything that the page shows of it."""

    key: str
    title: str
    section: str
    figures: tuple[str, ...]
    description: str
    runs: tuple[RunLink, ...]
    absent: int
    summaries: tuple[Chart, ...]
    views: tuple[ChartedView, ...]


def experiments(
    plan: Mapping[str, Any],
    metrics: pl.DataFrame,
    scorecard: Mapping[str, Any],
    series: Mapping[str, RunSeries],
    names: Names,
) -> list[Experiment]:
    """Sections of the scenarios that have a run in the plan, in the order of the plan."""
    return [
        _experiment(key, runs, metrics, scorecard, series, names)
        for key in plan["scenarios"]
        if (runs := [run for run in plan["runs"] if run["scenario"] == key])
    ]


def _experiment(
    key: str,
    runs: Sequence[Run],
    metrics: pl.DataFrame,
    scorecard: Mapping[str, Any],
    series: Mapping[str, RunSeries],
    names: Names,
) -> Experiment:
    scenario = names.scenarios[key]
    done = [run for run in runs if run["run_id"] in series]
    sweep = find_sweep(done)
    numbers = [each for each in scorecard["numbers"] if each["scenario"] == key]
    views = plan_views(done, sweep, names.protocols, names.captions.parameters)
    return Experiment(
        key=key,
        title=str(scenario["title"]),
        section=str(scenario.get("section", "")),
        figures=tuple(scenario.get("figures", ())),
        description=str(scenario.get("description", "")),
        runs=tuple(names.run(run["run_id"]) for run in runs),
        absent=len(runs) - len(done),
        summaries=tuple(_summaries(key, done, sweep, metrics, numbers, names)),
        views=tuple(
            charted_view(view, f"{key}-{index}", sweep, series, names)
            for index, view in enumerate(views)
        ),
    )


def charted_view(
    view: View, prefix: str, sweep: Sweep, series: Mapping[str, RunSeries], names: Names
) -> ChartedView:
    """The time charts of a view; tables that none of its runs has become ``missing``."""
    charts, missing = [], []
    for table in CHARTED_TABLES:
        words = names.captions.charts[table]
        lines = traces(view, table, series, names.protocols, sweep, names.captions.parameters)
        if not lines:
            missing.append(words["title"])
            continue
        content = {
            "kind": table,
            "end": max(run["parameters"].get("duration_s", 0) for run in view.runs),
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
            "thresholds": thresholds(table, view.runs, names.captions),
        }
        told = "; ".join(line.label for line in lines)
        alternative = f"Line chart of {words['quantity']} over time. Lines: {told}."
        charts.append(
            Chart(f"{prefix}-{table}", words["title"], words["caption"], alternative, content)
        )
    return ChartedView(view.title, tuple(charts), tuple(missing))


def _summaries(
    key: str,
    runs: Sequence[Run],
    sweep: Sweep,
    metrics: pl.DataFrame,
    numbers: Sequence[Mapping[str, Any]],
    names: Names,
) -> list[Chart]:
    if not sweep.main or not runs:
        return []
    asked = list(dict.fromkeys(each["metric"] for each in numbers)) or _USUAL_SWEEP_METRICS
    charts = []
    for metric in asked:
        measured = _measured(runs, sweep, metrics.filter(pl.col("metric") == metric), names)
        if not _has_sweep(measured):
            continue
        published = _published(
            runs, sweep, [each for each in numbers if each["metric"] == metric], names
        )
        charts.append(_summary(f"{key}-sweep-{metric}", metric, measured, published, sweep, names))
    return charts


def _has_sweep(measured: pl.DataFrame) -> bool:
    """Whether a series has two points or more; metrics of several runs have but one a protocol."""
    reached = measured.drop_nulls("value")
    return bool((reached.group_by("series").agg(pl.col("x").n_unique())["x"] > 1).any())


def _measured(runs: Sequence[Run], sweep: Sweep, rows: pl.DataFrame, names: Names) -> pl.DataFrame:
    """Points of a metric over the sweep; ``value`` is null where it was not reached."""
    by_id = {run["run_id"]: run for run in runs}
    subjects = rows["subject"].n_unique()
    points = [
        {
            "x": float(run["parameters"][sweep.main]),
            "value": row["value"],
            "series": _series_name(run, sweep, row["subject"] if subjects > 1 else "", names),
            "colour": names.protocols.get(protocols_of(run)[0], {}).get("colour", NEUTRAL)
            if protocols_of(run)
            else NEUTRAL,
            "run_id": row["run_id"],
            "run": run["label"],
            "unit": row["unit"],
        }
        for row in rows.iter_rows(named=True)
        if (run := by_id.get(row["run_id"])) is not None
    ]
    schema = dict.fromkeys(("series", "colour", "run_id", "run", "unit"), pl.String)
    return pl.DataFrame(points, schema={"x": pl.Float64, "value": pl.Float64, **schema})


def _series_name(run: Run, sweep: Sweep, subject: str, names: Names) -> str:
    parts = [protocol_label(run, names.protocols)] if protocols_of(run) else ["all runs"]
    parts += [
        f"{parameter_name(name, names.captions.parameters)} "
        f"{parameter_value(name, run['parameters'].get(name))}"
        for name in sweep.others
    ]
    return ", ".join([*parts, subject_name(subject)] if subject else parts)


def _published(
    runs: Sequence[Run], sweep: Sweep, numbers: Sequence[Mapping[str, Any]], names: Names
) -> pl.DataFrame:
    """Published values over the sweep: x, value, lower, upper, series, verdict (words)."""
    by_id = {run["run_id"]: run for run in runs}
    several = len({number["subject"] for number in numbers}) > 1
    points = []
    for number in numbers:
        subject = number["subject"] if several else ""
        selected = number["select"]
        run = next((by_id[each] for each in number["run_ids"] if each in by_id), None)
        x = run["parameters"][sweep.main] if run else selected.get(sweep.main)
        if x is None:
            continue
        points.append(
            {
                "x": float(x),
                "value": number["published"],
                "lower": number["lower"],
                "upper": number["upper"],
                "series": _series_name(run, sweep, subject, names)
                if run
                else " and ".join(names.protocols_in(selected)),
                "verdict": VERDICTS[number["verdict"]].label,
            }
        )
    schema = dict.fromkeys(("x", "value", "lower", "upper"), pl.Float64)
    return pl.DataFrame(points, schema={**schema, "series": pl.String, "verdict": pl.String})


def _summary(
    chart_id: str,
    metric: str,
    measured: pl.DataFrame,
    published: pl.DataFrame,
    sweep: Sweep,
    names: Names,
) -> Chart:
    name, words = names.captions.metric(metric), names.captions.parameters
    reached = measured.drop_nulls("value")
    colours = dict(zip(reached["series"], reached["colour"], strict=True))
    abscissa = axis_title(parameter_name(sweep.main, words), unit_of(sweep.main))
    spec: Spec = sweep_chart(
        reached.select("x", "value", "series", "run_id", "run"),
        published.filter(pl.col("series").is_in(list(colours))),
        colours,
        abscissa,
        axis_title(name, reached["unit"][0]),
    )
    never = measured.filter(pl.col("value").is_null())["run"].to_list()
    return Chart(
        chart_id=chart_id,
        title=f"{name} against {parameter_name(sweep.main, words)}",
        caption=names.captions.charts["sweep"]["caption"],
        alternative=f"{name} against {abscissa}. Series: {'; '.join(colours)}.",
        content={"kind": "sweep", "spec": spec, "labels": list(colours)},
        note=f"Not reached: {'; '.join(never)}." if never else "",
    )
