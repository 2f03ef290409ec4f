"""Gives the runs of a published folder their current ids, without measuring anything again."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import polars as pl

from bdpbench.app.keep.bundle import json_bytes
from bdpbench.app.keep.portable import Portable
from bdpbench.app.run.old_published import OldKeptRun, OldPublished
from bdpbench.app.run.stages import read_metrics
from bdpbench.contracts.files import TEMPORARY_SUFFIX, read_any_json, replace_folder
from bdpbench.contracts.kept import (
    KEPT_RUNS_NAME,
    KEPT_VERSION,
    PROVENANCE_NAME,
    REPORT_FOLDER,
    REPORT_NAME,
    SUMMARY_NAME,
    KeptRun,
    Provenance,
)
from bdpbench.contracts.paths import run_folder
from bdpbench.contracts.plan import Plan, PlannedRun
from bdpbench.contracts.runs import ScriptRecord, read_spec
from bdpbench.contracts.scorecard import SCORECARD_NAME, read_scorecard
from bdpbench.contracts.tables import METRICS_CSV_NAME, METRICS_NAME
from bdpbench.errors import BdpbenchError
from bdpbench.pages.details import ns2_command
from bdpbench.pages.relabelling import Relabelling, relabelled_report, relabelled_text
from bdpbench.pages.shards import drop_others
from bdpbench.pages.taken_over import count_taken_over, taken_over_sentence
from bdpbench.simulation.scripts import script_record


@dataclass(frozen=True)
class NewIds:
    """The current run for each published run, and the evidence.

    Attributes:
        plan: the current plan.
        runs: folder of all runs, with the specs of the plan's runs.
        today: published id of a run → the run of the plan.
        samples: current id → runs of its kind that were simulated again.
    """

    plan: Plan
    runs: Path
    today: Mapping[str, PlannedRun]
    samples: Mapping[str, list[str]]


def relabel(published: OldPublished, new: NewIds) -> None:
    """Give the runs of a published folder their new ids, in all files and in one step.

    Values, verdicts, times and builds stay as published, and so do the parameters, with which the
    metrics were computed.

    Raises:
        BdpbenchError: when a file is missing, damaged or not of these runs; nothing has changed
            then.
    """
    files = relabelled_files(published, new)
    folder = published.folder.resolve()
    for left in folder.parent.glob(f".{folder.name}.*{TEMPORARY_SUFFIX}*"):
        shutil.rmtree(left)  # left by a call that was killed
    scratch = Path(
        tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.", suffix=TEMPORARY_SUFFIX)
    )
    try:
        shutil.copytree(folder, scratch, dirs_exist_ok=True)  # with files added by users
        for name, content in files.items():
            (scratch / name).write_bytes(content)
        beside = [Path(name).name for name in files if name.startswith(f"{REPORT_FOLDER}/")]
        drop_others(scratch / REPORT_FOLDER, beside)
        replace_folder(scratch, folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def relabelled_files(published: OldPublished, new: NewIds) -> dict[str, bytes]:
    """Name → bytes of every file of the folder that names runs."""
    folder = published.folder
    ids = {old: run["run_id"] for old, run in new.today.items()}
    runs = [_kept(run, new) for run in published.runs]
    note = _old_note(published), taken_over_sentence(runs)
    read_scorecard(folder / SCORECARD_NAME)
    page = Relabelling(ids, _commands(published, new), note)
    return {
        **_report(folder, page),
        METRICS_CSV_NAME: relabelled_text(_text(folder / METRICS_CSV_NAME), ids).encode(),
        METRICS_NAME: _metrics(folder, ids),
        SCORECARD_NAME: relabelled_text(_text(folder / SCORECARD_NAME), ids).encode(),
        KEPT_RUNS_NAME: json_bytes({"schema_version": KEPT_VERSION, "runs": runs}),
        PROVENANCE_NAME: json_bytes(_provenance(folder / PROVENANCE_NAME, runs)),
        SUMMARY_NAME: _summary(folder / SUMMARY_NAME, note).encode(),
    }


def _kept(old: OldKeptRun, new: NewIds) -> KeptRun:
    """A current run with the outputs, times and parameters that were published."""
    run = new.today[old["run_id"]]
    return {
        "run_id": run["run_id"],
        "places": old["places"],
        "identity": run["identity"],
        "parameters": old["parameters"],
        "units": old["units"],
        "script": _script(run["run_id"], new),
        "argv": run["identity"]["argv"],
        "ns2": old["ns2"],
        "started": old["started"],
        "wall_s": old["wall_s"],
        "cpu_s": old["cpu_s"],
        "max_rss_kib": old["max_rss_kib"],
        "exit_status": old["exit_status"],
        "outputs": old["outputs"],
        "ns2_report": old["ns2_report"],
        "taken_over": {
            "run_id": old["run_id"],
            "build_id": old["ns2"]["build_id"],
            "sample": new.samples[run["run_id"]],
        },
    }


def _script(run_id: str, new: NewIds) -> ScriptRecord:
    folder = run_folder(new.runs, run_id)
    record = script_record(read_spec(folder), folder)
    portable = Portable(new.plan["study"], Path(new.plan["folder"]))
    files = {portable.path(name): sha256 for name, sha256 in record["files"].items()}
    return {"path": portable.path(record["path"]), "files": files}


def _commands(published: OldPublished, new: NewIds) -> dict[str, tuple[str, str]]:
    """Published id → the command that ran only ns-2, then and now."""
    today = Portable(new.plan["study"], Path(new.plan["folder"])).plan(new.plan)
    planned = {run["run_id"]: run for run in today["runs"]}
    return {
        run["run_id"]: (
            _ns2_command([run["script"]["path"], *run["argv"]]),
            ns2_command(planned[new.today[run["run_id"]]["run_id"]]),
        )
        for run in published.runs
    }


def _ns2_command(words: Sequence[str]) -> str:
    """The command as pages of all versions show it."""
    return f'mkdir -p out && "$(./bdpbench ns2 path)" {shlex.join(words)}'


def _old_note(published: OldPublished) -> str:
    """The folder's record of runs taken over before."""
    return taken_over_sentence(cast("list[KeptRun]", published.runs))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BdpbenchError("no such file: expected one of a study's", where=str(path)) from None
    except UnicodeDecodeError as error:
        raise BdpbenchError(f"is not text ({error})", where=str(path)) from None


def _report(folder: Path, change: Relabelling) -> dict[str, bytes]:
    """The page and the files beside it, under the names of their new content."""
    path = folder / REPORT_NAME
    beside = sorted((folder / REPORT_FOLDER).glob("*.js"))
    try:
        page, files = relabelled_report(
            _text(path), {each.name: _text(each) for each in beside}, change
        )
    except BdpbenchError as error:
        hint = "`./bdpbench run` simulates the runs anew, and `publish` writes another report"
        raise BdpbenchError(error.message, where=error.where or str(path), hint=hint) from None
    renewed = {f"{REPORT_FOLDER}/{name}": text.encode() for name, text in files.items()}
    return {**renewed, REPORT_NAME: page.encode()}


def _metrics(folder: Path, ids: Mapping[str, str]) -> bytes:
    """The table of metrics with new ids, after checking that each belongs to a published run."""
    metrics = read_metrics(folder / METRICS_NAME)
    unknown = set(metrics["run_id"]) - set(ids) if "run_id" in metrics.columns else {"no run"}
    if unknown:
        told = f"has metrics of {unknown.pop()}, which {KEPT_RUNS_NAME} does not list"
        raise BdpbenchError(told, where=str(folder / METRICS_NAME))
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / METRICS_NAME
        metrics.with_columns(pl.col("run_id").replace_strict(ids)).write_parquet(path)
        return path.read_bytes()


def _provenance(path: Path, runs: Sequence[KeptRun]) -> Provenance:
    """The folder's provenance, with the fact that its runs were taken over."""
    what = "where published runs come from"
    found = read_any_json(path, what=what, versions=range(1, KEPT_VERSION + 1))
    if not isinstance(found.get("runs"), dict):
        raise BdpbenchError("is damaged: it does not count the runs", where=str(path))
    counts = {**found["runs"], "taken_over": count_taken_over(runs)}
    return cast("Provenance", {**found, "schema_version": KEPT_VERSION, "runs": counts})


def _summary(path: Path, note: tuple[str, str]) -> str:
    """The README with the note below its list of files, replacing an older one."""
    text = _text(path)
    if note[0] and text.count(note[0]) == 1:
        return text.replace(*note)
    lines = text.splitlines(keepends=True)
    files = [index for index, line in enumerate(lines) if line.startswith("- `")]
    after = next((index + 1 for index in files if PROVENANCE_NAME in lines[index]), len(lines))
    return "".join([*lines[:after], "\n", f"{note[1]}\n", *lines[after:]])
