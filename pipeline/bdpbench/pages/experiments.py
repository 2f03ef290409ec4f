"""Sections of a report about experiments, and about single runs and how to repeat them."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from bdpbench.contracts.plan import Plan, PlannedRun, Scalar
from bdpbench.contracts.runs import RunRecord
from bdpbench.contracts.scorecard import ScoredNumber, rows_of
from bdpbench.pages.answers import answer
from bdpbench.pages.curves import ChartedView, LazyViews, View, charted_view, plan_views
from bdpbench.pages.inputs import ReportData
from bdpbench.pages.names import (
    Names,
    RunLink,
    Sweep,
    are_mixed,
    find_sweep,
    protocols_of,
    subject_name,
)
from bdpbench.pages.specs import Chart
from bdpbench.pages.sweep_charts import Swept, interval_chart, sweep_chart, tradeoff_chart
from bdpbench.pages.text import figures_text, format_bytes, format_number, joined
from bdpbench.studies.ns3_program import is_ns3, ns3_build_id
from bdpbench.units import with_unit

# Shown over a sweep if the study has no published numbers for it.
_USUAL_SWEEP_METRICS = ("utilization", "asymmetry", "time_to_90pct_utilization")

# The report is in results/<study>/<tier>/, the runs are in results/runs/.
RUNS_FROM_REPORT = "../../runs"


@dataclass(frozen=True)
class Experiment:
    """A scenario of the study with everything that the page shows about it.

    ``absent`` of its ``runs`` have no results, and ``shared`` also belong to an earlier scenario.
    ``asked`` are the metrics that it is shown by, ``answers`` those of them that answer its
    ``question`` if it has one, and ``answer`` what they say in sentences.
    ``values_only``: no run is shown over time.
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
    asked: tuple[str, ...]
    answers: tuple[str, ...]
    answer: tuple[str, ...]
    question: str
    values_only: bool


def experiments(data: ReportData) -> list[Experiment]:
    """Sections of the scenarios that have a run in the plan, in the order of the plan."""
    found, counted = [], set[str]()
    for key in data.inputs.plan["scenarios"]:
        if key in data.scenarios:
            own = {run["run_id"] for run in data.scenarios[key]}
            found.append(_experiment(key, len(own & counted), data))
            counted |= own
    return found


def _experiment(key: str, shared: int, data: ReportData) -> Experiment:
    inputs, names, series, runs = data.inputs, data.names, data.series, data.scenarios[key]
    scenario = names.scenarios[key]
    done = [run for run in runs if run["run_id"] in series]
    sweep = find_sweep(done, swept=names.swept(key))
    rows = (row for number in inputs.scorecard["numbers"] for row in rows_of(number))
    numbers = [row for row in rows if row["scenario"] == key]
    metrics = inputs.metrics.filter(pl.col("scenario") == key)
    swept = Swept(done, sweep, metrics, names, numbers, inputs.repetitions)
    answers = scenario.get("answers", [])
    asked = tuple(_asked(numbers, [*answers, *scenario["summary"]]))
    return Experiment(
        key=key,
        title=scenario["title"],
        section=scenario["section"],
        figures=figures_text(scenario["figures"]),
        description=scenario["description"],
        runs=tuple(names.run(run["run_id"]) for run in runs),
        absent=len(runs) - len(done),
        shared=shared,
        summaries=placed(
            _summaries(key, swept, asked, scenario.get("tradeoffs", ())),
            *(scenario["title"], done, data, metrics),
        ),
        views=LazyViews(
            plan_views(done, sweep, names) if scenario.get("time_series", True) else [],
            lambda index, view: _placed_view(
                charted_view(view, f"{key}-{index}", sweep, series, names), view, key, data
            ),
        ),
        asked=asked,
        answers=tuple(answers),
        answer=answer(answers or asked, done, metrics, sweep, names),
        question=scenario.get("question", ""),
        values_only=not scenario.get("time_series", True),
    )


# What a caption says of a path, if all runs of its chart share it.
_PATH = (
    "bottleneck_mbps",
    "rtt_ms",
    "rtt_1_ms",
    "rtt_2_ms",
    "buffer_pkts",
    "queue",
    "loss_rate",
)


def placed(
    charts: Iterable[Chart],
    title: str,
    runs: Sequence[PlannedRun],
    data: ReportData,
    metrics: pl.DataFrame,
) -> tuple[Chart, ...]:
    """Charts that say which experiment, values of parameters and period they show.

    Args:
        charts: charts of one experiment.
        title: the experiment, or the view of it.
        runs: the runs that they show.
        data: the data of the report.
        metrics: rows of the experiment, as in ``metrics.parquet``; without rows of a chart's metric
            its period is that of the runs.
    """
    said = title.split(", ")
    shared = [
        each
        for each in data.names.common([run["run_id"] for run in runs], _PATH)
        if each not in said
    ]
    whole = {run["parameters"].get("duration_s") for run in runs}

    def place(chart: Chart) -> str:
        rows = metrics.filter(pl.col("metric").is_in(chart.metrics))
        windows = rows.select("start_s", "end_s").drop_nulls().unique().rows()
        period = ""
        if len(windows) == 1:
            period = "{} to {} s".format(*map(format_number, windows[0]))
        elif windows:
            period = "each run in its own window, as defined"
        elif len(whole) == 1 and isinstance(end_s := whole.pop(), int | float):
            period = f"0 to {format_number(end_s)} s"
            whole.add(end_s)
        return "; ".join(filter(None, (joined(title, *shared), period)))

    return tuple(replace(each, place=place(each)) for each in charts)


def _placed_view(shown: ChartedView, view: View, key: str, data: ReportData) -> ChartedView:
    title = joined(data.names.scenario(key), view.title)
    none = data.inputs.metrics.clear()
    return replace(shown, charts=placed(shown.charts, title, view.runs, data, none))


def _asked(numbers: Sequence[ScoredNumber], wanted: Sequence[str]) -> Sequence[str]:
    """Metrics that are shown for a scenario as a whole."""
    published = [each["metric"] for each in numbers]
    return list(dict.fromkeys([*wanted, *published])) or _USUAL_SWEEP_METRICS


def _summaries(
    key: str, swept: Swept, asked: Sequence[str], tradeoffs: Sequence[Sequence[str]]
) -> Iterator[Chart]:
    """Metrics of an experiment: against each other, over its sweep, as means of repetitions."""
    for x, y in tradeoffs:
        if (chart := tradeoff_chart(f"{key}-{x}-{y}", x, y, swept)) is not None:
            yield chart
    charts = [(f"{key}-means-{metric}", metric, interval_chart) for metric in asked]
    # Lines for all pairs would be unreadable: the comparison has their matrix.
    if not are_mixed(swept.runs):
        lines = [(f"{key}-sweep-{metric}", metric, sweep_chart) for metric in asked]
        charts = [*lines, *charts]
    for chart_id, metric, draw in charts:
        if (chart := draw(chart_id, metric, swept)) is not None:
            yield chart


@dataclass(frozen=True)
class RunDetail:
    """A run of the plan; ``finished`` is false if it has no results.

    Attributes:
        parameters: (key, name, value with unit, value).
        facts: (name, value) from the record of the run.
        metrics: name, definition, subject, value, exact (seven digits, "" if there is no
            value) and window of each, in words.
        values_only: whether the study asks for no charts over time of its scenarios.
        outputs: name, link from the report ("" if none), sha256 (its first
            digits), size and bytes of each file.
        repeat: command of bdpbench that simulates the run and similar ones.
        ns2: command that runs only ns-2.
    """

    run_id: str
    label: str
    scenario: str
    scenario_title: str
    finished: bool
    parameters: tuple[tuple[str, str, str, Scalar], ...]
    facts: tuple[tuple[str, str], ...]
    metrics: tuple[Mapping[str, str], ...]
    outputs: tuple[Mapping[str, str | int], ...]
    charts: tuple[Chart, ...]
    missing: tuple[str, ...]
    values_only: bool
    repeat: str
    ns2: str
    ns2_report: str


def run_details(data: ReportData) -> Iterator[RunDetail]:
    """Sections of all runs of the plan, one after the other.

    A run of two scenarios appears once, although it has metrics in both.
    """
    rows = data.inputs.metrics.unique(
        subset=["run_id", "metric", "subject", "definition"], keep="first", maintain_order=True
    ).sort("run_id", maintain_order=True)
    # Slices of a sorted frame are free, whereas a frame for each run would not be.
    lengths = dict(rows.group_by("run_id", maintain_order=True).len().iter_rows())
    starts = dict(zip(lengths, itertools.accumulate(lengths.values(), initial=0), strict=False))
    for run_id, run in data.runs.items():
        yield _detail(run, rows.slice(starts.get(run_id, 0), lengths.get(run_id, 0)), data)


def _detail(run: PlannedRun, rows: pl.DataFrame, data: ReportData) -> RunDetail:
    inputs, names, run_id = data.inputs, data.names, run["run_id"]
    view = charted_view(
        View("", (run,), "protocol"), f"run-{run_id}", Sweep("", ()), data.series, names
    )
    info, values_only = inputs.run_info.get(run_id), run_id in data.values_only
    return RunDetail(
        run_id=run_id,
        label=names.run(run_id).label,
        scenario=run["scenario"],
        scenario_title=names.scenario(run["scenario"]),
        finished=info is not None,
        parameters=tuple(
            (name, names.parameters.name(name), names.value(name, value), value)
            for name, value in run["parameters"].items()
        ),
        facts=_facts(info) if info else (),
        metrics=tuple(_metric_row(row, names) for row in rows.iter_rows(named=True)),
        outputs=tuple(_outputs(info, inputs.places.get(run_id))) if info else (),
        charts=view.charts,
        missing=view.missing if info and not values_only else (),
        values_only=values_only,
        repeat=repeat_command(inputs.plan, run),
        ns2=ns2_command(run),
        ns2_report=info["ns2_report"].strip() if info else "",
    )


def _facts(info: RunRecord) -> tuple[tuple[str, str], ...]:
    memory, script = info["max_rss_kib"], info["script"]
    return (
        ("script", script["path"]),
        ("script SHA-256", script["files"].get(script["path"], "–")),
        ("ns-2 build", info["ns2"]["build_id"]),
        ("ns-2 binary SHA-256", info["ns2"]["binary_sha256"] or "–"),
        ("backend", info["ns2"]["backend"]),
        ("started", info["started"]),
        ("wall time", _seconds(info["wall_s"])),
        ("CPU time", _seconds(info["cpu_s"])),
        ("peak memory", format_bytes(None if memory is None else memory * 1024)),
        ("exit status", str(info["exit_status"])),
    )


def _seconds(value: float | None) -> str:
    return "not recorded" if value is None else f"{format_number(value)} s"


def _metric_row(row: Mapping[str, Any], names: Names) -> dict[str, str]:
    value, start_s, end_s = row["value"], row["start_s"], row["end_s"]
    known = start_s is not None and end_s is not None
    return {
        "name": names.metric(row["metric"]),
        "definition": row["definition"],
        "subject": subject_name(row["subject"]),
        "value": "not reached" if value is None else with_unit(format_number(value), row["unit"]),
        "exact": "" if value is None else f"{value:.7g}",
        "window": f"{format_number(start_s)} to {format_number(end_s)} s" if known else "–",
    }


# Enough to compare files by eye; ``run.json`` and ``runs.parquet`` have all 64.
_SHOWN_DIGITS = 16


def _outputs(info: RunRecord, place: str | None) -> Iterator[dict[str, str | int]]:
    for name, facts in sorted(info["outputs"].items()):
        link = "" if place is None else f"{RUNS_FROM_REPORT}/{place}/{name}"
        size = facts["bytes"]
        yield {
            "name": name,
            "link": link,
            "sha256": facts["sha256"][:_SHOWN_DIGITS],
            "size": format_bytes(size),
            "bytes": size,
        }


def repeat_command(plan: Plan, run: PlannedRun) -> str:
    """The command that simulates the runs of a run's scenario and protocols, and reports."""
    words = ["./bdpbench", "run", plan["study"], "--tier", plan["tier"]]
    words += ["--scenario", run["scenario"]]
    for protocol in dict.fromkeys(protocols_of(run)):
        words += ["--protocol", protocol]
    return shlex.join(words)


def ns2_command(run: PlannedRun) -> str:
    """Shell command for the repository's root that runs only the simulator, into ``out/``."""
    if is_ns3(run["script"]):
        program = f".bdpbench/ns3/{ns3_build_id()}-*/network"
        return f"mkdir -p out && {program} {shlex.join(map(str, run['argv']))}"
    arguments: Sequence[str] = [f"tcl/{run['script']}", *map(str, run["argv"])]
    return f'mkdir -p out && "$(./bdpbench ns2 path)" {shlex.join(arguments)}'
