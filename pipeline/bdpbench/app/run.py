"""`bdpbench run`: plan, build, run the batches, report, and print the results."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeGuard

from bdpbench.app.announcing import announce_plan, announce_runs, announce_scripts
from bdpbench.app.batching import write_batches
from bdpbench.app.clusters.profiles import Profile, find_profile
from bdpbench.app.clusters.slurm_call import slurm_call
from bdpbench.app.clusters.visible import wait_for_runs
from bdpbench.app.exclusive import exclusive
from bdpbench.app.failures import failed_runs, failure
from bdpbench.app.machine import learn
from bdpbench.app.mending import mend_after_failure, mend_at_a_glance
from bdpbench.app.planning import Prepared, prepare
from bdpbench.app.progress import View, make_view
from bdpbench.app.stages import downstream
from bdpbench.app.totals import totals_lines
from bdpbench.app.workflow import Workflow
from bdpbench.contracts.paths import results_dir
from bdpbench.contracts.plan import Jobs, write_plan_document
from bdpbench.contracts.reports import is_reported
from bdpbench.contracts.scorecard import SCORECARD_NAME, read_scorecard
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.backend import DockerBackend, NativeBackend, choose_backend
from bdpbench.simulation.build import current_build_id
from bdpbench.simulation.processes import signals_interrupt
from bdpbench.studies.batches import LEAST_S
from bdpbench.studies.config import Config, load_config
from bdpbench.studies.runs import Selection


@dataclass(frozen=True)
class RunRequest:
    """The user's request; None selects the value of ``config.yaml``."""

    study: str | None = None
    tier: str | None = None
    selection: Selection = field(default_factory=Selection)
    backend: str | None = None
    jobs: int | None = None
    keep_going: bool = False
    dry_run: bool = False
    profile: Path | None = None
    scripts: Path | None = None
    quiet: bool = False
    as_json: bool = False
    results: Path | None = None


def backend_for(name: str | None, variant: str | None = None) -> NativeBackend | DockerBackend:
    """Backend and variant of ns-2 given on the command line, or else those of ``config.yaml``."""
    config = load_config()
    wanted = variant or config.ns2_variant
    return choose_backend(
        name or config.backend, current_build_id(wanted), config.docker.build_options, wanted
    )


def run_study(request: RunRequest) -> None:
    """Simulate the missing runs, and write the report.

    Raises:
        BdpbenchError: when the input is wrong, or naming the runs that failed and why. Finished
            runs are kept, and the next call resumes.
    """
    with make_view(quiet=request.quiet, as_json=request.as_json) as view, signals_interrupt():
        _run_study(request, view)


def _run_study(request: RunRequest, view: View) -> None:
    """The steps of a call, in order."""
    config = load_config()
    profile = None if request.profile is None else find_profile(request.profile)
    jobs = _jobs(request, config, profile)
    prepared = _prepare(request, config)
    announce_plan(view, prepared, jobs)
    if request.scripts is not None:
        announce_scripts(view, prepared, request.scripts.resolve())
    if request.dry_run:
        announce_runs(view, prepared)
        return
    results = prepared.paths.results

    def waiting(text: str) -> None:
        view.tell("waiting", text, results=str(results))

    with exclusive(results, waiting) as had_to_wait:
        # Plan again, because the process that held the lock may have finished some of these runs.
        if had_to_wait:
            prepared = _prepare(request, config)
        if mend_at_a_glance(view, prepared):
            prepared = _prepare(request, config)
        wanted = request.backend or _wanted_backend(config, profile)
        backend = _built_backend(wanted, config, prepared)
        call = _Call(request, config, backend.name, jobs, view, profile)
        try:
            call.work(prepared)
        except BdpbenchError:
            # A stage may have failed because of damaged files, which are set aside now.
            if failed_runs(prepared) or not mend_after_failure(view, prepared):
                raise
            prepared = _prepare(request, config)
            call.work(prepared)
    _conclude(view, prepared)


@dataclass(frozen=True)
class _Call:
    """The settings of a call."""

    request: RunRequest
    config: Config
    backend: str
    cores: int
    view: View
    profile: Profile | None

    def work(self, prepared: Prepared) -> None:
        """Simulate the missing runs, and report if anything has changed.

        Raises:
            BdpbenchError: naming the reason of a failure; with --keep-going, the finished runs are
                still reported.
        """
        paths = prepared.paths
        write_plan_document(paths.plan, prepared.plan)
        jobs = write_batches(prepared, self.cores, least_s=self._least_s)
        if jobs["jobs"]:
            self._simulate(prepared, jobs)
        if not is_reported(paths.folder, prepared.plan, paths.runs):
            downstream(prepared.plan, paths.runs, paths.report)

    def _simulate(self, prepared: Prepared, jobs: Jobs) -> None:
        request, paths = self.request, prepared.paths
        slurm = (
            slurm_call(self.profile, self.config.slurm, paths.results, self.view)
            if _is_slurm(self.profile)
            else None
        )
        workflow = Workflow(
            prepared, jobs, self.backend, self.cores, request.keep_going, self.profile, slurm
        )
        status = workflow.run(self.view)
        if slurm is not None and status == 0:
            wait_for_runs([paths.run(run["run_id"]) for run in prepared.missing])
        learn(paths.results, prepared.missing, paths.batches)
        if status != 0:
            if request.keep_going and failed_runs(prepared):
                _report_partly(self.view, prepared)
            raise failure(prepared, workflow.log, status)

    @property
    def _least_s(self) -> float:
        """CPU time below which a batch is not worth a job of its own, s."""
        return 60 * self.config.slurm.batch_min if _is_slurm(self.profile) else LEAST_S


def _is_slurm(profile: Profile | None) -> TypeGuard[Profile]:
    return profile is not None and profile.is_slurm


def _wanted_backend(config: Config, profile: Profile | None) -> str:
    """The requested backend; nodes of a cluster need not have this machine's Docker engine."""
    return "native" if _is_slurm(profile) and config.backend == "auto" else config.backend


def _prepare(request: RunRequest, config: Config) -> Prepared:
    return prepare(
        request.study or config.study,
        request.tier or config.tier,
        request.selection,
        current_build_id(config.ns2_variant),
        request.results or results_dir(config.results),
        scripts=request.scripts,
        write=False,
    )


def _jobs(request: RunRequest, config: Config, profile: Profile | None) -> int:
    if request.jobs is not None:
        return request.jobs
    if _is_slurm(profile):
        return config.slurm.jobs
    return len(os.sched_getaffinity(0)) if config.jobs == "auto" else config.jobs


def _built_backend(
    wanted: str, config: Config, prepared: Prepared
) -> NativeBackend | DockerBackend:
    """The backend with its ns-2 built."""
    build_id = prepared.plan["ns2_build_id"]
    backend = choose_backend(wanted, build_id, config.docker.build_options, config.ns2_variant)
    if not backend.is_built():
        backend.build()
    return backend


def _report_partly(view: View, prepared: Prepared) -> None:
    """With --keep-going, report the finished runs although others have failed."""
    paths = prepared.paths
    downstream(prepared.plan, paths.runs, paths.report)
    text = f"report of the finished runs: {paths.report}"
    view.tell("partial_report", text, path=str(paths.report))


def _conclude(view: View, prepared: Prepared) -> None:
    scorecard = read_scorecard(prepared.paths.folder / SCORECARD_NAME)
    totals, claims = scorecard["totals"], scorecard["claim_totals"]
    view.tell("totals", "\n".join(totals_lines(scorecard)), numbers=totals, claims=claims)
    report = prepared.paths.report
    view.tell("report", f"report: {report}", path=str(report))
