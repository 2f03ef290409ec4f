"""One section per run: its parameters, metrics and output files, and how to repeat it."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import polars as pl

from bdpbench.contracts.plan import Plan, PlannedRun, Scalar
from bdpbench.contracts.runs import SCRIPTS_FOLDER, RunRecord, ScriptRecord
from bdpbench.pages.chart import Chart
from bdpbench.pages.experiments import charted_view
from bdpbench.pages.inputs import RunRecords
from bdpbench.pages.names import Names
from bdpbench.pages.series import RunSeries
from bdpbench.pages.sweeps import Sweep, is_protocol, protocols_of
from bdpbench.pages.text import (
    format_bytes,
    format_number,
    subject_name,
    with_unit,
)
from bdpbench.pages.views import View

# The report is in results/<study>/<tier>/, the runs are in results/runs/.
RUNS_FROM_REPORT = "../../runs"


@dataclass(frozen=True)
class MetricRow:
    """One metric of a run, in words; ``exact`` is its value with all digits, "" if it has none."""

    metric: str
    name: str
    definition: str
    subject: str
    value: str
    exact: str
    window: str


@dataclass(frozen=True)
class OutputFile:
    """An output file of a run: its link from the report ("" if none), checksum and size."""

    name: str
    link: str
    sha256: str
    size: str
    bytes: int


@dataclass(frozen=True)
class RunDetail:
    """A run of the plan; ``finished`` is false if it has no results.

    Attributes:
        parameters: (key, name, value with unit, value).
        facts: (name, value) from the record of the run.
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
    metrics: tuple[MetricRow, ...]
    outputs: tuple[OutputFile, ...]
    charts: tuple[Chart, ...]
    missing: tuple[str, ...]
    repeat: str
    ns2: str
    ns2_report: str


def run_details(
    plan: Plan,
    metrics: pl.DataFrame,
    run_info: RunRecords,
    series: Mapping[str, RunSeries],
    names: Names,
    places: Mapping[str, str],
) -> Iterator[RunDetail]:
    """Sections of all runs of the plan, one after the other; a run of two scenarios appears once.

    ``places`` are those of ``ReportInputs``.
    """
    # A run of two scenarios has metrics in both.
    rows = metrics.unique(
        subset=["run_id", "metric", "subject", "definition"], keep="first", maintain_order=True
    ).sort("run_id", maintain_order=True)
    # Slices of a sorted frame are free, whereas a frame for each run would not be.
    lengths = dict(rows.group_by("run_id", maintain_order=True).len().iter_rows())
    starts = dict(zip(lengths, itertools.accumulate(lengths.values(), initial=0), strict=False))
    for run in distinct_runs(plan):
        run_id = run["run_id"]
        own = rows.slice(starts[run_id], lengths[run_id]) if run_id in starts else None
        info = run_info.get(run_id)
        outputs = _outputs(info, places.get(run_id)) if info else ()
        yield _detail(plan, run, own, info, series, names, outputs)


def distinct_runs(plan: Plan) -> list[PlannedRun]:
    """The runs of a plan, each at its first place."""
    runs: dict[str, PlannedRun] = {}
    for run in plan["runs"]:
        runs.setdefault(run["run_id"], run)
    return list(runs.values())


def _detail(
    plan: Plan,
    run: PlannedRun,
    rows: pl.DataFrame | None,
    info: RunRecord | None,
    series: Mapping[str, RunSeries],
    names: Names,
    outputs: tuple[OutputFile, ...],
) -> RunDetail:
    view = charted_view(
        View("", (run,), "protocol"), f"run-{run['run_id']}", Sweep("", ()), series, names
    )
    return RunDetail(
        run_id=run["run_id"],
        label=names.run(run["run_id"]).label,
        scenario=run["scenario"],
        scenario_title=names.scenario(run["scenario"]),
        finished=info is not None,
        parameters=tuple(
            (name, names.parameters.name(name), _value(name, value, names), value)
            for name, value in run["parameters"].items()
        ),
        facts=_facts(info) if info else (),
        metrics=_metric_rows(rows, names),
        outputs=outputs,
        charts=view.charts,
        missing=view.missing if info else (),
        repeat=repeat_command(plan, run),
        ns2=ns2_command(run),
        ns2_report=info["ns2_report"].strip() if info else "",
    )


def _value(name: str, value: Scalar, names: Names) -> str:
    if is_protocol(name):
        return names.protocol(str(value))
    return names.parameters.value(name, value)


def _facts(info: RunRecord) -> tuple[tuple[str, str], ...]:
    memory, script = info["max_rss_kib"], info["script"]
    return (
        ("script", script["path"]),
        ("script SHA-256", _script_sha256(script)),
        ("ns-2 build", info["ns2"]["build_id"]),
        ("ns-2 binary SHA-256", info["ns2"]["binary_sha256"] or "–"),
        ("backend", info["ns2"]["backend"]),
        ("started", info["started"]),
        ("wall time", _seconds(info["wall_s"])),
        ("CPU time", _seconds(info["cpu_s"])),
        ("peak memory", format_bytes(None if memory is None else memory * 1024)),
        ("exit status", str(info["exit_status"])),
    )


def _script_sha256(script: ScriptRecord) -> str:
    """SHA-256 of the script itself; a replacing script is in the run's folder."""
    path, files = script["path"], script["files"]
    return files.get(path) or files.get(f"{SCRIPTS_FOLDER}/{PurePath(path).name}", "–")


def _seconds(value: float | None) -> str:
    return "not recorded" if value is None else f"{format_number(value)} s"


def _metric_rows(rows: pl.DataFrame | None, names: Names) -> tuple[MetricRow, ...]:
    if rows is None:
        return ()
    return tuple(
        MetricRow(
            metric=row["metric"],
            name=names.metric(row["metric"]),
            definition=row["definition"],
            subject=subject_name(row["subject"]),
            value="not reached"
            if row["value"] is None
            else with_unit(format_number(row["value"]), row["unit"]),
            exact="" if row["value"] is None else repr(row["value"]),
            window=_window(row["start_s"], row["end_s"]),
        )
        for row in rows.iter_rows(named=True)
    )


def _window(start_s: float | None, end_s: float | None) -> str:
    if start_s is None or end_s is None:
        return "–"
    return f"{format_number(start_s)} to {format_number(end_s)} s"


def _outputs(info: RunRecord, place: str | None) -> tuple[OutputFile, ...]:
    return tuple(
        OutputFile(
            name=name,
            link="" if place is None else f"{RUNS_FROM_REPORT}/{place}/{name}",
            sha256=facts["sha256"],
            size=format_bytes(facts["bytes"]),
            bytes=facts["bytes"],
        )
        for name, facts in sorted(info["outputs"].items())
    )


def repeat_command(plan: Plan, run: PlannedRun) -> str:
    """The command that simulates the runs of a run's scenario and protocols, and reports."""
    words = ["./bdpbench", "run", plan["study"], "--tier", plan["tier"]]
    words += ["--scenario", run["scenario"]]
    for protocol in dict.fromkeys(protocols_of(run)):
        words += ["--protocol", protocol]
    return shlex.join(words)


def ns2_command(run: PlannedRun) -> str:
    """Shell command for the repository's root that runs only ns-2, into ``out/``."""
    arguments: Sequence[str] = [f"tcl/{run['script']}", *map(str, run["argv"])]
    return f'mkdir -p out && "$(./bdpbench ns2 path)" {shlex.join(arguments)}'
