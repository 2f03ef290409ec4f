"""`bdpbench run`: plan, simulate, read, measure, judge and page, and what the user is told."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bdpbench.app.costs import run_cpu_s
from bdpbench.app.listing import announce_plan, announce_runs
from bdpbench.app.planning import (
    Prepared,
    Wanted,
    exclusive,
    is_finished,
    prepare,
    write_batches,
)
from bdpbench.app.progress import View, Watch, make_view
from bdpbench.app.repeating import add_repetitions, published_of, tell_most
from bdpbench.app.scheduling import Execution, failed_runs, find_profile, run_batches
from bdpbench.app.stages import SERIES_FOLDER, VALUES_FOLDER
from bdpbench.app.totals import totals_sentence
from bdpbench.contracts.files import remove_temporaries
from bdpbench.contracts.plan import PlannedRun, study_folder, write_plan_document
from bdpbench.contracts.reports import is_reported, read_scorecard
from bdpbench.contracts.runs import TABLES_FOLDER
from bdpbench.contracts.scorecard import SCORECARD_NAME
from bdpbench.errors import BdpbenchError
from bdpbench.processes import signals_interrupt
from bdpbench.simulation.backend import Backend, choose_backend
from bdpbench.simulation.build import current_build_id
from bdpbench.simulation.ns3_backend import Ns3Backend
from bdpbench.studies.config import Config, load_config
from bdpbench.studies.engines import engine_remarks
from bdpbench.studies.load import load_study
from bdpbench.studies.ns3_program import is_ns3

if TYPE_CHECKING:
    from bdpbench.app.keep.results import KeptResults


@dataclass(frozen=True, kw_only=True)
class Call:
    """How to simulate, and what to say; None selects the value of ``config.yaml``."""

    backend: str | None = None
    jobs: int | None = None
    keep_going: bool = False
    dry_run: bool = False
    profile: Path | None = None
    quiet: bool = False
    as_json: bool = False


@dataclass(frozen=True)
class RunRequest(Call, Wanted):
    """The user's request: what to run, and how; and whether to repeat what is undecided."""

    until_decided: bool = False


def run_study(request: RunRequest) -> None:
    """Simulate the missing runs, and write the report; repeat runs until verdicts are decided.

    Raises:
        BdpbenchError: when the input is wrong, or naming the runs that failed and why. Finished
            runs are kept, and the next call resumes.
    """
    with make_view(quiet=request.quiet, as_json=request.as_json) as view, signals_interrupt():
        known = published_of(request.paths()) if request.until_decided else None
        planned = _planned(request, known, runs_code=not request.dry_run)
        selection = request.selection.in_study(load_study(study_folder(planned.plan)))
        if request.until_decided:
            tell_most(planned, selection, view)
        _run(request, planned, known, view)
        repeats = request.until_decided and not request.dry_run
        while repeats and add_repetitions(planned, selection, view):
            planned = _planned(request, known)
            _run(request, planned, known, view)


def _planned(request: RunRequest, known: KeptResults | None, *, runs_code: bool = True) -> Prepared:
    """The plan; what is known of published runs is not missing."""
    planned = prepare(request, runs_code=runs_code)
    published = known.of(planned.runs) if known else frozenset()
    return replace(planned, missing=[r for r in planned.missing if r["run_id"] not in published])


def _run(request: RunRequest, planned: Prepared, known: KeptResults | None, view: View) -> None:
    """Simulate the missing runs of a plan, and write the report."""
    execution = execution_of(request, load_config())
    finished = {r["run_id"] for r in planned.runs if is_finished(planned.paths, r)} if known else ()
    published = len(known.of(planned.runs).difference(finished)) if known else 0
    announce_plan(view, planned, execution.cores, published)
    if request.dry_run:
        announce_runs(view, planned)
        return
    results = planned.paths.results
    with exclusive(results, partial(tell_waiting, view, results)) as had_to_wait:
        # Plan again, because the process that held the lock may have finished some runs.
        if had_to_wait:
            planned = _planned(request, known)
        remove_left(planned)
        execution = ready(execution, planned.missing)
        for remark in engine_remarks(planned.missing):
            view.tell("remark", f"  {remark}", remark=remark)
        _work(planned, execution, view, known)
    _conclude(planned, view)


def execution_of(call: Call, config: Config) -> Execution:
    """How the batches are run: as the command line says, else the profile, else ``config.yaml``."""
    profile = None if call.profile is None else find_profile(call.profile)
    of_profile = profile.jobs if profile is not None and isinstance(profile.jobs, int) else None
    cores = len(os.sched_getaffinity(0)) if config.jobs == "auto" else config.jobs
    return Execution(
        backend=call.backend or config.backend,
        cores=call.jobs or of_profile or cores,
        keep_going=call.keep_going,
        profile=profile,
    )


def ready(execution: Execution, runs: Iterable[PlannedRun]) -> Execution:
    """The same with the programs built that simulate the runs."""
    if any(is_ns3(run["script"]) for run in runs):
        Ns3Backend().build()
    return replace(execution, backend=built(execution.backend).name)


def built(backend: str) -> Backend:
    """The backend with its ns-2 built."""
    chosen = backend_for(backend)
    if not chosen.is_built():
        chosen.build()
    return chosen


def backend_for(name: str | None, variant: str | None = None) -> Backend:
    """Backend and variant of ns-2 given on the command line, or else those of ``config.yaml``."""
    config = load_config()
    chosen = variant or config.ns2_variant
    options = config.docker.build_options
    return choose_backend(name or config.backend, current_build_id(chosen), options, chosen)


def _work(planned: Prepared, execution: Execution, view: View, known: KeptResults | None) -> None:
    """Simulate the missing runs in batches, and report if anything has changed.

    Raises:
        BdpbenchError: naming the reason of a failure; with --keep-going, the finished runs are
            still reported.
    """
    paths = planned.paths
    failed = simulate_missing(planned, execution, view)
    is_shown = any(is_finished(paths, run) for run in planned.runs)
    if failed is not None and not (execution.keep_going and failed_runs(planned) and is_shown):
        raise failed
    if not is_reported(paths.folder, planned.plan, paths.runs):
        from bdpbench.app.keep.tier import collect, write_tier  # needs polars

        write_tier(planned, collect(planned, allow_partial=True, published=known))
    if failed is not None:
        text = f"report of the finished runs: {paths.report}"
        view.tell("partial_report", text, path=str(paths.report))
        raise failed


def simulate_missing(
    planned: Prepared,
    execution: Execution,
    view: View,
    watch: Watch | None = None,
) -> BdpbenchError | None:
    """Simulate, read and measure the missing runs in batches; returns what has failed.

    Args:
        planned: the plan and what is missing.
        execution: how to run the batches.
        view: shows the progress.
        watch: follows these runs among others; None for these alone.
    """
    paths = planned.paths
    write_plan_document(paths.plan, planned.plan)
    jobs = write_batches(
        planned, execution.cores, execution.backend, keep_going=execution.keep_going
    )
    if not jobs["jobs"]:
        return None
    following = watch or Watch(paths.runs, planned.missing, execution.cores, run_cpu_s)

    def look() -> None:
        """Show which runs have ended, and the progress of all, whichever process runs them."""
        snapshot = following.look(paths.batches)
        for each in snapshot.ended:
            view.ended(each)
        view.show(snapshot)

    return run_batches(planned, execution, look)


def remove_left(prepared: Prepared) -> None:
    """Remove what killed writers left; call it only when nobody can be writing.

    A run's own folder is cleared before it is simulated.
    """
    remove_temporaries(prepared.paths.folder)
    for run in prepared.runs:
        folder = prepared.paths.run(run["run_id"])
        for part in (TABLES_FOLDER, VALUES_FOLDER, SERIES_FOLDER):
            remove_temporaries(folder / part)


def tell_waiting(view: View, results: Path, text: str) -> None:
    """Say that another call is waited for."""
    view.tell("waiting", text, results=str(results))


def _conclude(planned: Prepared, view: View) -> None:
    """Say what came of it: how many numbers and statements are reproduced, and where that is."""
    scorecard = read_scorecard(planned.paths.folder / SCORECARD_NAME)
    totals, claims = scorecard["totals"], scorecard["claim_totals"]
    said = totals_sentence(scorecard).replace("**", "")
    view.tell("totals", said, numbers=totals, claims=claims)
    report = planned.paths.report
    view.tell("report", f"report: {report}", path=str(report))
