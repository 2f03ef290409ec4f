"""`bdpbench run`: plan, build, let Snakemake work, and say what came out."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from bdpbench.app.run.machine import expected_cpu_s, learn, machine_factor
from bdpbench.app.run.planning import Prepared, is_finished, prepare
from bdpbench.app.run.reasons import Reasons
from bdpbench.app.run.run_verdicts import RunVerdicts
from bdpbench.app.run.stages import (
    downstream,
    parse_runs,
)
from bdpbench.app.say.progress import View, Watch, duration_text, make_view
from bdpbench.app.say.summary import summary_lines
from bdpbench.contracts.paths import repository_root, results_dir
from bdpbench.contracts.scorecard import SCORECARD_NAME, read_scorecard
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.backend import DockerBackend, NativeBackend, choose_backend
from bdpbench.simulation.build import current_build_id
from bdpbench.simulation.simulate import ERROR_NAME, die_with_parent
from bdpbench.studies.config import Config, load_config
from bdpbench.studies.load import load_study
from bdpbench.studies.runs import Selection
from bdpbench.studies.scripts import unfit

_LOG_TAIL_LINES = 15
_END_TIMEOUT_S = 5.0
_POLL_S = 0.5


@dataclass(frozen=True)
class RunRequest:
    """What the user asked for; None takes the value of ``config.yaml``."""

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


def backend_for(name: str | None) -> NativeBackend | DockerBackend:
    """The backend of the command line, or else of ``config.yaml``."""
    config = load_config()
    return choose_backend(name or config.backend, current_build_id(), config.docker.build_options)


def run_study(request: RunRequest) -> None:
    """Simulate what is missing, and write the report.

    Raises:
        BdpbenchError: when the input is wrong, or naming the runs that failed and why. Finished
            runs stay, and the next call resumes.
    """
    config = load_config()
    with make_view(quiet=request.quiet, as_json=request.as_json) as view:
        planned = _prepare(request, config, write=False)
        _announce(view, planned, _jobs(request, config))
        if request.scripts is not None:
            _announce_scripts(view, planned, request.scripts.resolve())
        if request.dry_run:
            _announce_runs(view, planned)
            return
        with _exclusive(view, planned.paths.results):
            # Planned anew: whoever held the results may have finished some of these runs.
            prepared = _prepare(request, config, write=True)
            backend = _built_backend(view, request.backend or config.backend, config, prepared)
            status = _snakemake(request, config, prepared, backend.name, view)
            learn(prepared.paths.results, prepared.missing)
        if status != 0:
            _fail(request, prepared, view)
        _conclude(view, prepared)


def _prepare(request: RunRequest, config: Config, *, write: bool) -> Prepared:
    return prepare(
        request.study or config.study,
        request.tier or config.tier,
        request.selection,
        current_build_id(),
        results_dir(config.results),
        scripts=request.scripts,
        write=write,
    )


def _built_backend(
    view: View, wanted: str, config: Config, prepared: Prepared
) -> NativeBackend | DockerBackend:
    """The backend with its ns-2 built; ``auto`` does without Docker where its build fails."""
    build_id = prepared.plan["ns2_build_id"]
    backend = choose_backend(wanted, build_id, config.docker.build_options)
    try:
        backend.build()
    except BdpbenchError as error:
        if wanted != "auto" or isinstance(backend, NativeBackend):
            raise
        text = f"{error.message}; building ns-2 on this machine instead"
        view.tell("other_backend", text, reason=error.message, backend="native")
        backend = NativeBackend(build_id)
        backend.build()
    return backend


def _jobs(request: RunRequest, config: Config) -> int:
    if request.jobs is not None:
        return request.jobs
    return len(os.sched_getaffinity(0)) if config.jobs == "auto" else config.jobs


def _announce(view: View, prepared: Prepared, jobs: int) -> None:
    done = len(prepared.runs) - len(prepared.missing)
    factor = machine_factor(prepared.paths.results)
    cost_s = expected_cpu_s(prepared.missing, factor)
    longest_s = max((expected_cpu_s([run], factor) for run in prepared.missing), default=0.0)
    expected_s = max(cost_s / jobs, longest_s)
    study, tier = prepared.plan["study"], prepared.plan["tier"]
    view.tell(
        "plan",
        f"{study}, tier {tier}: {len(prepared.runs)} runs, {done} finished, "
        f"{len(prepared.missing)} to simulate "
        f"(about {duration_text(expected_s)} on {jobs} cores)",
        study=study,
        tier=tier,
        runs=len(prepared.runs),
        finished=done,
        to_simulate=len(prepared.missing),
        expected_s=expected_s,
        jobs=jobs,
    )


def _announce_runs(view: View, prepared: Prepared) -> None:
    """Say of each missing run what it is, why it would be simulated, and how long it would take."""
    reasons = Reasons(prepared.paths.runs, prepared.plan["ns2_build_id"])
    factor = machine_factor(prepared.paths.results)
    for run in prepared.missing:
        why = reasons.of(run)
        cost_s = expected_cpu_s([run], factor)
        view.tell(
            "to_simulate",
            f"  {run.run_id}  {run.scenario}: {run.label}, ~{cost_s:.0f} s; {why}",
            run_id=run.run_id,
            scenario=run.scenario,
            label=run.label,
            expected_cpu_s=cost_s,
            why=why,
        )


def _announce_scripts(view: View, prepared: Prepared, folder: Path) -> None:
    """Say which scenarios the scripts of ``folder`` cannot run, so that bdpbench's own do."""
    study = load_study(prepared.plan["study"])
    planned = {run.scenario for run in prepared.runs}
    for name in study.scenarios:
        reason = unfit(folder, study.scenarios[name])
        if name in planned and reason is not None:
            text = f"  {name} keeps its script: {reason}"
            view.tell("keeps_script", text, scenario=name, reason=reason)


@contextmanager
def _exclusive(view: View, results: Path) -> Iterator[None]:
    """Hold the results folder; waits while another run works in it.

    The kernel frees the lock when its holder ends, however it ends.
    """
    results.mkdir(parents=True, exist_ok=True)
    with (results / ".lock").open("w", encoding="utf-8") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            text = f"another bdpbench is working in {results}; waiting for it to end"
            view.tell("waiting", text, results=str(results))
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _snakemake(
    request: RunRequest, config: Config, prepared: Prepared, backend: str, view: View
) -> int:
    """Run the workflow with its scaffolding in a log file, showing the simulations' progress."""
    paths = prepared.paths
    log_path = paths.folder / "snakemake.log"
    command = [
        *(sys.executable, "-m", _snakemake_module(request.profile)),
        *("--snakefile", str(repository_root() / "Snakefile")),
        *("--directory", str(paths.results)),
        *("--cores", str(_jobs(request, config))),
        *("--nolock", "--rerun-incomplete", "--rerun-triggers", "mtime"),
        *(("--keep-going",) if request.keep_going else ()),
        *(("--profile", str(request.profile.resolve())) if request.profile else ()),
        *("--config", f"plan={paths.plan}", f"backend={backend}"),
        *_prioritized(prepared, _jobs(request, config)),
    ]
    with log_path.open("w", encoding="utf-8") as log:
        child = _start(command, log)
        try:
            status = _follow(child, prepared, _jobs(request, config), view)
        except KeyboardInterrupt:
            _end(child)
            raise BdpbenchError(
                "interrupted; finished runs are kept", hint="the same command resumes"
            ) from None
    return status


def _snakemake_module(profile: Path | None) -> str:
    # A profile may be that of a cluster, whose scheduler wants jobs at a limited rate.
    return "bdpbench.app.run.snakemake_cli" if profile is None else "snakemake"


def _follow(child: subprocess.Popen[bytes], prepared: Prepared, jobs: int, view: View) -> int:
    """Show how far the simulations are until the workflow ends; returns its exit status."""
    watch = Watch(prepared.paths.runs, prepared.missing, jobs)
    verdicts = RunVerdicts(prepared.plan, prepared.paths.runs)
    told: set[str] = set()
    status = None
    while status is None:
        status = _wait(child, _POLL_S)
        snapshot = watch.look()
        for each in snapshot.runs:
            run_id = each.run.run_id
            if each.status in ("finished", "failed") and run_id not in told:
                told.add(run_id)
                view.ended(each, verdicts.of(run_id) if each.status == "finished" else [])
        view.show(snapshot)
    return status


def _prioritized(prepared: Prepared, jobs: int) -> list[str]:
    """Start the longest runs first: one that starts last would keep a single core busy."""
    longest = sorted(prepared.missing, key=lambda run: -run.estimated_cpu_s)[:jobs]
    targets = [f"runs/{run.run_id}/run.json" for run in longest]
    return ["--prioritize", *targets] if targets else []


def _start(command: Sequence[str], log: IO[str]) -> subprocess.Popen[bytes]:
    # A workflow without its parent would go on unseen. Its simulations may outlive it: each holds
    # its run, so that the next workflow waits for them and takes what they have done.
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        preexec_fn=die_with_parent,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the workflow; asked once, Snakemake would wait for its jobs without a limit."""
    child.terminate()
    if _wait(child, _END_TIMEOUT_S) is None:
        child.kill()
        child.wait()


def _wait(child: subprocess.Popen[bytes], timeout_s: float) -> int | None:
    try:
        return child.wait(timeout_s)
    except subprocess.TimeoutExpired:
        return None


def _fail(request: RunRequest, prepared: Prepared, view: View) -> None:
    """Say which runs failed and why; with --keep-going, report what there is all the same."""
    paths = prepared.paths
    failed = [run for run in prepared.missing if (paths.runs / run.run_id / ERROR_NAME).is_file()]
    if request.keep_going:
        _report_partly(view, prepared)
    if failed:
        reasons = [(paths.runs / run.run_id / ERROR_NAME).read_text().strip() for run in failed]
        finished = sum(is_finished(paths, run) for run in prepared.runs)
        raise BdpbenchError(
            "\n".join(reasons),
            hint=f"{finished} of {len(prepared.runs)} runs are finished and kept; "
            "the same command resumes",
        )
    log_path = paths.folder / "snakemake.log"
    tail = log_path.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_TAIL_LINES:]
    raise BdpbenchError(
        _stage_error(tail) or "the workflow failed:\n    " + "\n    ".join(tail),
        where=str(log_path),
        hint="finished runs are kept; the same command resumes",
    )


def _stage_error(lines: Sequence[str]) -> str:
    """What a stage of bdpbench said in Snakemake's log, or "" where none did."""
    return "\n".join(line.removeprefix("error: ") for line in lines if line.startswith("error: "))


def _report_partly(view: View, prepared: Prepared) -> None:
    paths = prepared.paths
    parse_runs(paths.runs / run.run_id for run in prepared.runs if is_finished(paths, run))
    downstream(prepared.plan, paths.folder, paths.runs)
    text = f"report of the finished runs: {paths.report}"
    view.tell("partial_report", text, path=str(paths.report))


def _conclude(view: View, prepared: Prepared) -> None:
    scorecard = read_scorecard(prepared.paths.folder / SCORECARD_NAME)
    totals, claims = scorecard["totals"], scorecard["claim_totals"]
    view.tell("totals", "\n".join(summary_lines(scorecard)), numbers=totals, claims=claims)
    report = prepared.paths.report
    view.tell("report", f"report: {report}", path=str(report))
