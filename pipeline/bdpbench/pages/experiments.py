"""Sections of a report about experiments, and about single runs and how to repeat them."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from bdpbench.contracts.plan import Plan, PlannedRun
from bdpbench.contracts.runs import RunRecord
from bdpbench.contracts.scorecard import rows_of
from bdpbench.pages.answers import all_alike, answer
from bdpbench.pages.curves import LazyViews, View, charted_view, plan_views
from bdpbench.pages.drawing import MOST_NAMED
from bdpbench.pages.html import page_environment
from bdpbench.pages.inputs import ReportData
from bdpbench.pages.names import (
    Names,
    RunLink,
    Sweep,
    are_mixed,
    find_sweep,
    pairs_of,
    protocols_of,
    subject_name,
)
from bdpbench.pages.shards import Row
from bdpbench.pages.specs import Chart
from bdpbench.pages.sweep_charts import (
    Swept,
    change_chart,
    interval_chart,
    is_crowded,
    sweep_charts,
    tradeoff_chart,
)
from bdpbench.pages.text import format_bytes, format_number, joined, value_text
from bdpbench.studies.ns3_program import is_ns3, ns3_build_id

# Shown over a sweep if the study has no published numbers for it.
_USUAL_SWEEP_METRICS = ("utilization", "asymmetry", "time_to_90pct_utilization")

STANDING = ("mean_queueing_delay", "goodput")
"""What a page that compares senders, and reproduces nothing, shows of them first."""

# The report is in results/<study>/<tier>/, the runs are in results/runs/.
RUNS_FROM_REPORT = "../../runs"


@dataclass(frozen=True)
class Experiment:
    """A scenario of the study with everything that the page shows about it.

    ``absent`` of its ``runs`` have no results.
    ``asked`` are the metrics that it is shown by, ``answers`` those of them that answer its
    ``question`` if it has one, and ``answer`` what they say in sentences; ``alike`` has one on each
    metric of which all runs have the same, in place of charts.
    ``values_only``: no run is shown over time.
    """

    key: str
    title: str
    section: str
    figures: Sequence[str]
    description: str
    runs: tuple[RunLink, ...]
    absent: int
    summaries: tuple[Chart, ...]
    views: LazyViews
    asked: tuple[str, ...]
    answers: tuple[str, ...]
    answer: tuple[str, ...]
    alike: tuple[str, ...]
    question: str
    values_only: bool


def experiments(data: ReportData) -> list[Experiment]:
    """Sections of the scenarios that have a run in the plan, in the order of the plan."""
    found = list[Experiment]()
    scenarios = data.inputs.plan["scenarios"]
    declared = data.inputs.study.citation or any("tradeoffs" in each for each in scenarios.values())
    for key in scenarios:
        if key in data.scenarios:
            stands = any(chart.metrics == STANDING for each in found for chart in each.summaries)
            mixed = are_mixed(data.scenarios[key])
            usual = () if declared or stands or mixed else (STANDING,)
            found.append(_experiment(key, data, usual))
    return found


def _experiment(key: str, data: ReportData, usual: Sequence[Sequence[str]]) -> Experiment:
    inputs, names, series, runs = data.inputs, data.names, data.series, data.scenarios[key]
    scenario = names.scenarios[key]
    done = [run for run in runs if run["run_id"] in series]
    over_time = [run for run in done if run["run_id"] not in data.values_only]
    sweep = find_sweep(done, swept=names.swept(key))
    rows = (row for number in inputs.scorecard["numbers"] for row in rows_of(number))
    numbers = [row for row in rows if row["scenario"] == key]
    metrics = inputs.metrics.filter(pl.col("scenario") == key)
    swept = Swept(done, sweep, metrics, names, numbers, inputs.repetitions)
    answers, title = scenario.get("answers", []), scenario["title"]
    wanted = [*answers, *scenario["summary"], *(each["metric"] for each in numbers)]
    asked = tuple(dict.fromkeys(wanted)) or _USUAL_SWEEP_METRICS
    changes = [each for each in inputs.study.matrices if each.scenario == key and each.alike]
    bars = (change_chart(f"{key}-change-{each.metric}", each, data, done) for each in changes)
    kept = [each for each in bars if each is not None]
    told = tuple(each.finding for each in kept) or answer(
        answers or asked, done, metrics, sweep, names
    )
    printed = {each["metric"] for each in numbers}
    alike = _all_alike(() if changes else asked, metrics, printed, names)
    summaries = () if changes else _summaries(key, swept, asked, scenario.get("tradeoffs", usual))
    kept += [each for each in summaries if not alike.keys() >= {*each.metrics}]
    said = [
        sentence
        for metric, sentence in alike.items()
        if not any(each.startswith(names.metric(metric)) for each in told)
    ]
    return Experiment(
        key=key,
        title=title,
        section=scenario["section"],
        figures=scenario["figures"],
        description=scenario["description"],
        runs=tuple(names.run(run["run_id"]) for run in runs),
        absent=len(runs) - len(done),
        summaries=placed(kept, title, done, data, metrics),
        views=LazyViews(
            plan_views(over_time, sweep, names) if scenario.get("time_series", True) else [],
            lambda index, view: _placed_view(
                charted_view(view, f"{key}-{index}", sweep, series, names), key, data
            ),
        ),
        asked=asked,
        answers=tuple(answers),
        answer=told,
        alike=tuple(said),
        question=scenario.get("question", ""),
        values_only=not scenario.get("time_series", True),
    )


def _all_alike(
    asked: Sequence[str], metrics: pl.DataFrame, printed: Collection[str], names: Names
) -> dict[str, str]:
    """Metric → the sentence in place of its charts, if all runs are alike; none of printed ones."""
    found = {}
    for metric in asked:
        rows = metrics.filter(pl.col("metric") == metric)
        if rows.height > 1 and metric not in printed:
            judged = replace(names.judged(metric), unit=rows["unit"][0])
            found[metric] = all_alike(names.metric(metric), rows["value"], judged, "runs")
    return {metric: said for metric, said in found.items() if said}


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
    shared = [each for each in data.names.common(runs, _PATH) if each not in said]
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


def _placed_view(view: View, key: str, data: ReportData) -> View:
    title = joined(data.names.scenario(key), view.title)
    none = data.inputs.metrics.clear()
    return replace(view, charts=placed(view.charts, title, view.runs, data, none))


def _summaries(
    key: str, swept: Swept, asked: Sequence[str], tradeoffs: Sequence[Sequence[str]]
) -> Iterator[Chart]:
    """Metrics of an experiment: against each other, over its sweep, as means of repetitions."""
    for x, y in tradeoffs:
        if (chart := tradeoff_chart(f"{key}-{x}-{y}", x, y, swept)) is not None:
            yield chart
    # Lines for many pairs would be unreadable: the comparison has their matrix.
    pairs = len(pairs_of(swept.runs))
    for metric in () if pairs > MOST_NAMED or (pairs and is_crowded(swept)) else asked:
        yield from sweep_charts(f"{key}-sweep-{metric}", metric, swept)
    for metric in asked:
        if (chart := interval_chart(f"{key}-means-{metric}", metric, swept)) is not None:
            yield chart


def run_rows(data: ReportData, *, with_files: bool) -> Iterator[tuple[str, Row]]:
    """What the page shows of each run of the plan, by its id.

    Args:
        data: the data of the report.
        with_files: link output files.

    Returns:
        Rows with ``html``, the lines of its charts; ``charts``: id → content; ``tables`` with their
            ``title``, ``head`` and ``columns`` of texts, numbers, or a text and what it links to,
            because columns deflate better than rows; and ``texts``: title and words.
    """
    template = page_environment().get_template("run.html")
    metrics = data.inputs.metrics.unique(
        subset=["run_id", "metric", "subject", "definition"], keep="first", maintain_order=True
    ).partition_by("run_id", as_dict=True)
    for run_id, run in data.runs.items():
        record, values_only = data.inputs.run_info.get(run_id), run_id in data.values_only
        view = View("", (run,), "protocol")
        shown = charted_view(view, f"run-{run_id}", Sweep("", ()), data.series, data.names)
        place = data.inputs.places.get(run_id, "") if with_files else ""
        is_absent = bool(with_files and record and not place)
        outputs = [
            [
                [name, f"{RUNS_FROM_REPORT}/{place}/{name}"] if place else name,
                file["bytes"],
                file["sha256"][:8],
            ]
            for name, file in sorted(record["outputs"].items() if record else ())
        ]
        values = metrics[(run_id,)].to_dicts() if (run_id,) in metrics else ()
        tables = [
            ("Metrics", ("Metric", "Of", "Value", "Unit", "Window"), _metric_rows(values, data)),
            (
                "Parameters",
                ("Parameter", "Value"),
                [
                    [data.names.parameters.name(key), data.names.value(key, value)]
                    for key, value in run["parameters"].items()
                ],
            ),
            ("Record", ("Fact", "Value"), _record_rows(record) if record else ()),
            ("Output files", _OF_OUTPUTS, outputs),
        ]
        texts = [
            ("Repeat this scenario with this protocol", repeat_command(data.inputs.plan, run)),
            ("Repeat this run alone, into the folder out/ of the repository", ns2_command(run)),
        ]
        yield (
            run_id,
            {
                "html": template.render(
                    shown=shown, values_only=values_only, is_absent=is_absent
                ).split("\n"),
                "charts": {chart.chart_id: chart.content for chart in shown.charts},
                "tables": [
                    {"title": title, "head": head, "columns": columns}
                    for title, head, rows in tables
                    if (columns := list(zip(*rows, strict=True)))
                ],
                "texts": [[title, text.split(" ")] for title, text in texts],
            },
        )


# The first digits are enough to compare files by eye; runs.parquet has all 64.
_OF_OUTPUTS = ("File", "Bytes", "SHA-256, first 8 digits")


def _metric_rows(rows: Iterable[Mapping[str, Any]], data: ReportData) -> Iterator[list[Any]]:
    for row in rows:
        ends, value = (row["start_s"], row["end_s"]), row["value"]
        yield [
            [data.names.metric(row["metric"]), f"#def-{row['definition']}"],
            subject_name(row["subject"]),
            "not reached" if value is None else _shown(value),
            "" if row["unit"] == "1" else row["unit"],
            "–" if None in ends else "{} to {} s".format(*map(format_number, ends)),
        ]


def _shown(value: float) -> float:
    """As the page shows it: whole numbers, and others with five digits."""
    return int(value) if value.is_integer() else float(f"{value:.5g}")


def _record_rows(record: RunRecord) -> list[list[str]]:
    script, ns2, memory_kib = record["script"], record["ns2"], record["max_rss_kib"]
    seconds = [value_text(record[key], "s", none="not recorded") for key in ("wall_s", "cpu_s")]
    return [
        ["script", script["path"]],
        ["script SHA-256", script["files"].get(script["path"], "–")],
        ["ns-2 build", ns2["build_id"]],
        ["ns-2 binary SHA-256", ns2["binary_sha256"] or "–"],
        ["backend", ns2["backend"]],
        ["started", record["started"]],
        ["wall time", seconds[0]],
        ["CPU time", seconds[1]],
        ["peak memory", format_bytes(memory_kib and 1024 * memory_kib)],
        ["exit status", str(record["exit_status"])],
    ]


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
