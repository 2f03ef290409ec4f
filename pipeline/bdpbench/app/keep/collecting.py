"""The results of a tier, measured and scored anew, for what is kept of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bdpbench.app.run.planning import Prepared, is_finished, prepare
from bdpbench.app.run.stages import measure_plan, parse_runs, score_plan
from bdpbench.contracts.paths import results_dir
from bdpbench.contracts.plan import Plan, PlannedRun, read_plan
from bdpbench.contracts.scorecard import Scorecard
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.build import current_build_id
from bdpbench.studies.config import load_config
from bdpbench.studies.runs import Selection

if TYPE_CHECKING:
    import polars as pl

    from bdpbench.contracts.kept import Addition, Version
    from bdpbench.pages.inputs import ReportInputs

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
        missing: ids of those that have not.
        made: what the report shows; None has it made of the runs.
        measured_by: the bdpbench that measured the values; None where this one did.
        added: scenarios that were added to published ones, each with who measured it.
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


def collect(
    study: str | None, tier: str | None, *, allow_partial: bool, results: Path | None = None
) -> Results:
    """Parse, measure and score the runs of a tier anew.

    What comes out is what the present metrics and published numbers make of the tables of the
    runs, whatever was reported before.

    Args:
        study: key or folder; None takes that of ``config.yaml``.
        tier: None takes that of ``config.yaml``.
        allow_partial: do without the runs that are missing, as long as there is one.
        results: folder of the runs; None takes that of the configuration.

    Raises:
        BdpbenchError: when runs of the tier are missing, because they were never simulated or
            because the study, a script or ns-2 has changed since.
    """
    config = load_config()
    prepared = prepare(
        study or config.study,
        tier or config.tier,
        Selection(),
        current_build_id(),
        results or results_dir(config.results),
        write=False,
    )
    _check_complete(prepared, allow_partial=allow_partial)
    runs_dir, plan = prepared.paths.runs, prepared.plan
    runs = _distinct(prepared.runs)
    finished = tuple(run["run_id"] for run in runs if is_finished(prepared.paths, run))
    parse_runs(prepared.paths.run(run_id) for run_id in finished)
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
    """Runs that two scenarios share, once."""
    return list({run["run_id"]: run for run in runs}.values())


def _staleness(prepared: Prepared) -> str:
    """Why runs may be missing that were there once; "" where nothing tells."""
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
