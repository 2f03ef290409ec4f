"""The results of a tier, measured and judged again, and the bdpbench that did it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bdpbench import __version__
from bdpbench.app.planning import Prepared, is_finished
from bdpbench.app.stages import measure_plan, parse_runs, report_inputs, score_plan
from bdpbench.contracts.paths import is_installed, repository_root
from bdpbench.contracts.plan import Plan, PlannedRun, read_plan
from bdpbench.contracts.reports import Addition, Version
from bdpbench.contracts.scorecard import Scorecard
from bdpbench.errors import BdpbenchError

if TYPE_CHECKING:
    import polars as pl

    from bdpbench.pages.inputs import ReportInputs

RESULT_SOURCES = ("pipeline", "ns2", "tcl", "workflow", "reports", "Snakefile")
"""The parts of the checkout that determine results and reports, except configuration."""

# Published reports are results themselves.
_NOT_SOURCES = ":(exclude)reports/published"
_SHOWN_MISSING = 3


@dataclass(frozen=True)
class Results:
    """A tier of a study with everything that was measured and judged.

    Attributes:
        plan: as in ``plan.json``.
        metrics: as in ``metrics.parquet``.
        scorecard: as in ``scorecard.json``.
        runs_dir: folder of the runs.
        finished: ids of the runs that have results, in the order of the plan.
        missing: ids of the runs that have none.
        made: what the report shows; None makes it from the runs.
        measured_by: the bdpbench that measured the values; None for this one.
        added: scenarios that were added to published ones, each with the bdpbench that measured it.
    """

    plan: Plan
    metrics: pl.DataFrame
    scorecard: Scorecard
    runs_dir: Path
    finished: tuple[str, ...]
    missing: tuple[str, ...]
    made: ReportInputs | None = None
    measured_by: Version | None = None
    added: tuple[Addition, ...] = ()

    def inputs(self) -> ReportInputs:
        """What the report and the exports show."""
        return self.made or report_inputs(self.plan, self.metrics, self.scorecard, self.runs_dir)


def collect(prepared: Prepared, *, allow_partial: bool) -> Results:
    """Parse, measure and score the runs of a tier again.

    The result depends on the present metrics and published numbers and on the tables of the runs,
    not on earlier reports.

    Args:
        prepared: the plan of all runs of the tier.
        allow_partial: continue if runs are missing, as long as there is one.

    Raises:
        BdpbenchError: when runs of the tier are missing, because they were never simulated or
            because the study, a script or ns-2 has changed since.
    """
    _check_complete(prepared, allow_partial=allow_partial)
    runs_dir, plan = prepared.paths.runs, prepared.plan
    runs = _distinct(prepared.runs)
    finished = tuple(run["run_id"] for run in runs if is_finished(prepared.paths, run))
    parse_runs((prepared.paths.run(run_id) for run_id in finished), plan)
    metrics = measure_plan(plan, runs_dir)
    missing = tuple(run["run_id"] for run in runs if run["run_id"] not in finished)
    return Results(plan, metrics, score_plan(plan, metrics), runs_dir, finished, missing)


def _check_complete(prepared: Prepared, *, allow_partial: bool) -> None:
    missing, planned = _distinct(prepared.missing), _distinct(prepared.runs)
    if not missing or (allow_partial and len(missing) < len(planned)):
        return
    labels = [f"{run['scenario']}: {run['label']}" for run in missing[:_SHOWN_MISSING]]
    shown = "; ".join(labels) + ("; …" if len(missing) > _SHOWN_MISSING else "")
    name = f"{prepared.plan['study']} --tier {prepared.plan['tier']}"
    hint = f"`./bdpbench run {name}` simulates them"
    if len(missing) < len(planned):
        hint += "; --allow-partial continues without them, and the result says so"
    raise BdpbenchError(
        f"{len(missing)} of {len(planned)} runs have no results ({shown}){_staleness(prepared)}",
        where=str(prepared.paths.folder),
        hint=hint,
    )


def _distinct(runs: Sequence[PlannedRun]) -> list[PlannedRun]:
    """Runs, each once, since scenarios may share a run."""
    return list({run["run_id"]: run for run in runs}.values())


def _staleness(prepared: Prepared) -> str:
    """Why runs that once existed may be missing; "" if unknown."""
    try:
        old = read_plan(prepared.paths.plan)
    except BdpbenchError:
        return ""
    if old["ns2_build_id"] != prepared.plan["ns2_build_id"]:
        return (
            f"; the last run was with ns-2 build {old['ns2_build_id']}, and its sources now make "
            f"{prepared.plan['ns2_build_id']}"
        )
    known = {run["run_id"] for run in old["runs"]}
    changed = sum(run["run_id"] not in known for run in _distinct(prepared.missing))
    return f"; {changed} of them are new or have changed since the last run" if changed else ""


# ---------------------------------------------------------------- the bdpbench at work


def this_version() -> Version:
    """The bdpbench that is at work."""
    return {"version": __version__, "commit": commit_of(repository_root())}


def origin(build_id: str) -> str:
    """The origin of numbers, in a sentence: ns-2 build, version and commit of bdpbench."""
    commit = commit_of(repository_root()) or "unknown"
    return f"ns-2.35 build {build_id}; bdpbench {__version__}, commit {commit}."


def commit_of(root: Path) -> str:
    """The commit that is checked out at ``root``, followed by + if sources differ from it.

    "" if git cannot tell: in a container, or in sources unpacked from an archive. If pip installed
    bdpbench from a repository, pip has recorded the commit (PEP 610).
    """
    if is_installed():
        return _installed_commit()
    commit = _git(root, "rev-parse", "--verify", "HEAD")
    top = _git(root, "rev-parse", "--show-toplevel")
    if not commit or not top or Path(top).resolve() != root.resolve():
        return ""
    changed = _git(root, "status", "--porcelain", "--", *RESULT_SOURCES, "config", _NOT_SOURCES)
    return commit + ("+" if changed else "")


def _installed_commit() -> str:
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        text = distribution("bdpbench").read_text("direct_url.json")
    except PackageNotFoundError:  # unpacked, not installed
        text = None
    found: object = json.loads(text or "{}").get("vcs_info", {}).get("commit_id", "")
    return str(found)


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
