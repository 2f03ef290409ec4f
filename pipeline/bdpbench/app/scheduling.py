"""Batches as child processes: started, followed, ended with their children, and why they failed.

Snakemake runs them in parallel or on a cluster. A single batch on this machine needs no scheduling,
and is started directly by the command of its rule. Why batches have failed is what a run, a stage,
Slurm, the disk or a signal says.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from bdpbench.app.planning import Prepared, is_finished
from bdpbench.app.progress import View, Watch
from bdpbench.app.slurm import JOB_LOGS_FOLDER, Overseer, SlurmCall, slurm_call, wait_for_runs
from bdpbench.app.stages import RunVerdicts
from bdpbench.contracts.files import (
    RESUME_HINT,
    disk_error,
    free_bytes,
    size_text,
    write_bytes_atomically,
)
from bdpbench.contracts.paths import places, repository_root
from bdpbench.contracts.plan import Jobs, PlannedRun, distinct
from bdpbench.contracts.runs import ERROR_NAME
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.errors import BdpbenchError
from bdpbench.processes import (
    CALL_VARIABLE,
    name_of_this_call,
    signal_words,
    started,
)
from bdpbench.simulation.ns2_process import LEAST_FREE_BYTES
from bdpbench.studies.config import SlurmConfig
from bdpbench.studies.cost import LEAST_S

SNAKEMAKE_LOG_NAME = "snakemake.log"

_PROFILE_NAME = "config.yaml"
_GRACE_S = 2.0
_POLL_S = 0.5
_ROUNDS = 3
_SILENT = 1000
"""Stands for a process that waits for lost jobs; not an exit status."""


class _ProfileKeys(BaseModel):
    """The keys of a profile that bdpbench reads; all others are for Snakemake."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    executor: str = "local"


@dataclass(frozen=True)
class Profile:
    """A Snakemake profile; ``executor`` is the plugin that submits its jobs."""

    folder: Path
    executor: str

    @property
    def is_slurm(self) -> bool:
        """Whether its jobs go to Slurm, so that bdpbench watches them as well."""
        return self.executor == "slurm"


def find_profile(name_or_path: Path) -> Profile:
    """The profile in a folder, or the shipped one with that name.

    Raises:
        BdpbenchError: when there is none, or when its ``config.yaml`` is invalid.
    """
    shipped = repository_root() / "workflow" / "profiles"
    for folder in (name_or_path, shipped / name_or_path):
        path = folder / _PROFILE_NAME
        if path.is_file():
            return Profile(folder.resolve(), YamlFile(path).validate(_ProfileKeys).executor)
    names = ", ".join(sorted(path.parent.name for path in shipped.glob(f"*/{_PROFILE_NAME}")))
    raise BdpbenchError(
        f"no such Snakemake profile: {name_or_path}",
        where="--profile",
        hint=f"give one of {names}, or a folder with a {_PROFILE_NAME}",
    )


@dataclass(frozen=True)
class Execution:
    """How the batches of a call are run.

    Attributes:
        backend: where ns-2 runs: docker or native; auto until one is chosen.
        cores: batches at once; on a cluster, jobs in the queue at once.
        keep_going: whether to continue with other runs if one fails.
        profile: Snakemake's profile; None for none.
        slurm: what to ask Slurm for, if the profile's jobs go there.
    """

    backend: str
    cores: int
    keep_going: bool = False
    profile: Profile | None = None
    slurm: SlurmConfig | None = None

    @property
    def least_s(self) -> float:
        """CPU time below which a batch is not worth a process or job of its own, s."""
        return LEAST_S if self.slurm is None else 60 * self.slurm.batch_min


class Workflow:
    """The batches of a plan while they run.

    Args:
        prepared: the plan whose batches have been written.
        jobs: the batches.
        execution: how to run them; its backend has been chosen.
        view: shows the progress of the simulations.
        watch: follows them.
        judged: whether the study's published numbers are about these runs.
    """

    def __init__(
        self,
        prepared: Prepared,
        jobs: Jobs,
        execution: Execution,
        view: View,
        watch: Watch,
        *,
        judged: bool = True,
    ) -> None:
        self._paths, self._missing = prepared.paths, prepared.missing
        self._names = list(jobs["jobs"])
        self._execution, self._view = execution, view
        self._slurm: SlurmCall | None = None
        self._watch = watch
        self._verdicts = RunVerdicts(prepared.plan, self._paths.runs) if judged else None
        self._shown_queue = ""

    @property
    def _alone(self) -> str:
        """The single batch that needs no Snakemake, or ""."""
        return self._names[0] if len(self._names) == 1 and self._execution.profile is None else ""

    @property
    def log(self) -> Path:
        """The log of Snakemake, or of a single batch."""
        if self._alone:
            return self._paths.batches / f"{self._alone}.log"
        return self._paths.folder / SNAKEMAKE_LOG_NAME

    def run(self) -> int:
        """Run the batches, showing the simulations' progress; returns the exit status.

        Raises:
            BdpbenchError: when a cluster does not answer, or starts no jobs.
        """
        if self._execution.slurm is not None:
            self._slurm = slurm_call(self._execution.slurm, self._paths.results, self._view)
        self.log.write_text("", encoding="utf-8")
        if self._slurm is None:
            return self._run_once()
        try:
            status = self._run_on_slurm(self._slurm)
        finally:
            self._slurm.end()
        if status == 0:
            wait_for_runs([self._paths.run(run["run_id"]) for run in self._missing])
        return status

    def _run_on_slurm(self, slurm: SlurmCall) -> int:
        """Submit unfinished batches until all are finished or something has failed.

        Snakemake keeps waiting for jobs that have left the queue without its knowledge; then it is
        started again with the unfinished batches.
        """
        overseer = slurm.overseer()
        for _ in range(_ROUNDS):
            status = self._run_once(overseer)
            if status != _SILENT:
                return status
            overseer.begin_again()
        raise slurm.silent(_ROUNDS)

    def _run_once(self, overseer: Overseer | None = None) -> int:
        """One process that runs the unfinished batches; its exit status, or _SILENT."""
        results = self._paths.results
        environment = {
            "PYTHONUNBUFFERED": "1",
            # For Snakemake's own files: the user may have no writable home folder.
            "XDG_CACHE_HOME": str(results / ".snakemake" / "cache"),
            # Snakemake and its jobs start in the folder of the results.
            **places(results),
            # A queued job outlives the call unless it is cancelled; no node can watch the call.
            **(self._slurm.environment() if self._slurm else {CALL_VARIABLE: name_of_this_call()}),
        }
        command = self._batch_command() if self._alone else self._snakemake_command()
        environment = {**os.environ, **environment}
        # Alone, Snakemake would wait for its jobs before it ends; signalled together, they all end
        # at once. Batches also watch this process themselves, since after a signal that cannot be
        # caught nobody is left to end them.
        with (
            self.log.open("a", encoding="utf-8") as log,
            started(
                command, _GRACE_S, stdout=log, stderr=subprocess.STDOUT, env=environment
            ) as child,
        ):
            return self._follow(child, overseer)

    def _batch_command(self) -> list[str]:
        """The command in the rule of a batch."""
        return [
            *(sys.executable, "-P", "-m", "bdpbench"),
            *("simulate", "--backend", self._execution.backend),
            *(("--keep-going",) if self._execution.keep_going else ()),
            *("--batch", str(self._paths.batches / f"{self._alone}.json")),
        ]

    def _snakemake_command(self) -> list[str]:
        paths, execution, slurm = self._paths, self._execution, self._slurm
        # Another profile may be for a cluster whose scheduler accepts jobs at a limited rate; the
        # plugin for Slurm submits two at a time.
        is_limited = execution.profile is not None and slurm is None
        module = "snakemake" if is_limited else "bdpbench.app.snakemake_cli"
        return [
            *(sys.executable, "-P", "-m", module, "batches"),
            *("--snakefile", str(repository_root() / "Snakefile")),
            *("--directory", str(paths.results)),
            *("--jobs" if slurm else "--cores", str(execution.cores)),
            *("--scheduler", "greedy"),
            *("--nolock", "--drop-metadata", "--rerun-triggers", "mtime"),
            *(("--keep-going",) if execution.keep_going else ()),
            *(("--profile", str(execution.profile.folder)) if execution.profile else ()),
            *(slurm.arguments() if slurm else ()),
            # Relative, because the path of the results may contain braces, which are wildcards in
            # Snakemake.
            *("--config", f"plan={paths.plan.relative_to(paths.results)}"),
            *(f"backend={execution.backend}", "ns2=built"),
            *(("keep_going=1",) if execution.keep_going else ()),
            *(slurm.settings() if slurm else ()),
        ]

    def _follow(self, child: subprocess.Popen[bytes], overseer: Overseer | None) -> int:
        """Show the progress of the simulations until all batches have ended; returns the status."""
        while True:
            status = _wait(child, _POLL_S)
            self._show()
            if status is not None:
                return status
            if overseer is not None and overseer.look():
                self._show_queue(overseer)
                if overseer.queue_is_empty and self._is_done():
                    return 0
            if overseer is not None and overseer.is_silent:
                return _SILENT

    def _is_done(self) -> bool:
        """Whether every batch has written its ``.done`` file."""
        return all((self._paths.batches / f"{name}.done").is_file() for name in self._names)

    def _show(self) -> None:
        """Show which runs have ended, and the progress of all, whichever process runs them."""
        snapshot = self._watch.look(self._paths.batches)
        for each in snapshot.ended:
            finished = each.status == "finished"
            known = self._verdicts if finished else None
            verdicts = known.of(each.run["run_id"]) if known is not None else []
            self._view.ended(each, verdicts)
        self._view.show(snapshot)

    def _show_queue(self, overseer: Overseer) -> None:
        """Show how many jobs run and wait, if that has changed."""
        running, waiting, reason = overseer.summary()
        why = f" ({reason})" if waiting and reason not in ("", "None") else ""
        text = f"Slurm: {running} jobs run, {waiting} wait{why}"
        if text != self._shown_queue:
            self._shown_queue = text
            self._view.tell("queue", text, running=running, waiting=waiting, reason=reason)


def _wait(child: subprocess.Popen[bytes], timeout_s: float) -> int | None:
    try:
        return child.wait(timeout_s)
    except subprocess.TimeoutExpired:
        return None


# ------------------------------------------------------------------------- why batches have failed


_LOG_TAIL_LINES = 15
_MOST_JOBS = 5
_PROBE_BYTES = 65_536
_ERROR = "error: "
_INTERRUPTED = ("KeyboardInterrupt", "Terminating processes on user request")
"""Beginnings of lines that Python and Snakemake write after SIGINT."""


# Two kinds of lines of Snakemake's log: the message of sbatch when it refuses a job, and how a job
# ended: "SLURM-job '12' failed, SLURM status is: 'TIMEOUT'. ..."
_REFUSED_JOB = r"sbatch: error: (?P<refused>[^'\n]+)"
_ENDED_JOB = r"SLURM-job '(?P<job>[0-9_]+)' failed[^\n]*?SLURM status is: '(?P<state>\w+)'"
_FAILED_JOB = re.compile(f"{_REFUSED_JOB}|{_ENDED_JOB}")
# Messages of Slurm itself in the log of a job.
_SLURM_LINES = ("srun: error:", "srun: fatal:", "slurmstepd", "sbatch: error:")


def failure(prepared: Prepared, log: Path, status: int) -> BdpbenchError:
    """The error to raise when batches have failed.

    Args:
        prepared: the plan, its paths, and the runs that were to be simulated.
        log: the log of the process that ran the batches: Snakemake, or a single batch.
        status: the exit status of that process; negative if a signal ended it.
    """
    failed = failed_runs(prepared)
    if failed:
        runs = distinct(prepared.runs)
        finished = sum(is_finished(prepared.paths, run) for run in runs)
        return BdpbenchError(
            "\n".join(_error_of(prepared, run) for run in failed),
            hint=f"{finished} of {len(runs)} runs are finished and kept; the same command resumes",
        )
    logged = "\n".join(dict.fromkeys(_logged_errors(prepared, log)))
    if logged:
        return BdpbenchError(logged)
    of_jobs = "\n".join(failed_jobs(log, prepared.paths.results)[-_MOST_JOBS:])
    if of_jobs:
        return BdpbenchError(of_jobs, where=str(log), hint=RESUME_HINT)
    return (
        _full_disk(prepared)
        or _refusing_disk(prepared)
        or _ended_by_signal(log, status)
        or _unexplained(prepared, log)
    )


def failed_runs(prepared: Prepared) -> list[PlannedRun]:
    """The runs that left a message about their failure."""
    paths = prepared.paths
    return [run for run in prepared.missing if (paths.run(run["run_id"]) / ERROR_NAME).is_file()]


def _error_of(prepared: Prepared, run: PlannedRun) -> str:
    path = prepared.paths.run(run["run_id"]) / ERROR_NAME
    return path.read_text(encoding="utf-8").strip()


def _logged_errors(prepared: Prepared, log: Path) -> Iterator[str]:
    """The errors that batches wrote to their logs, or Snakemake to its own."""
    for path in dict.fromkeys([*_logs(prepared), log]):
        with suppress(OSError):
            yield from _errors_in(path.read_text(encoding="utf-8", errors="replace").splitlines())


def _logs(prepared: Prepared) -> list[Path]:
    """Logs of the batches that have begun and are not finished."""
    logs = sorted(prepared.paths.batches.glob("*.log"))
    return [path for path in logs if not path.with_suffix(".done").is_file()]


def _errors_in(lines: Sequence[str]) -> Iterator[str]:
    """Each message that begins with ``error: ``, with the indented lines below it."""
    message: list[str] = []
    for line in [*lines, ""]:
        if message and line.startswith("  "):
            message.append(line)
            continue
        if message:
            yield "\n".join(message)
        message = [line.removeprefix(_ERROR)] if line.startswith(_ERROR) else []


def failed_jobs(log: Path, results: Path) -> list[str]:
    """Why jobs were refused or have ended, one line each, as far as known.

    Args:
        log: the log of Snakemake.
        results: the results folder, which contains the logs of the jobs.
    """
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return list(dict.fromkeys(_sentence(found, results) for found in _FAILED_JOB.finditer(text)))


def _sentence(found: re.Match[str], results: Path) -> str:
    if found["refused"]:
        return f"sbatch refuses a job: {found['refused']}"
    words = _last_line_of_slurm(results, found["job"])
    return f"Slurm says {found['state']} of job {found['job']}{': ' if words else ''}{words}"


def _last_line_of_slurm(results: Path, job: str) -> str:
    """The last message of Slurm itself in the log of a job."""
    for path in (results / JOB_LOGS_FOLDER).glob(f"*/*/{job}.log"):
        with suppress(OSError):
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            own = [line for line in lines if line.startswith(_SLURM_LINES)]
            return own[-1] if own else ""
    return ""


def _full_disk(prepared: Prepared) -> BdpbenchError | None:
    results = prepared.paths.results
    left = free_bytes(results)
    if left >= LEAST_FREE_BYTES:
        return None
    return BdpbenchError(
        f"the disk is full: {size_text(left)} are left, and at least "
        f"{size_text(LEAST_FREE_BYTES)} are needed",
        where=str(results),
        hint=f"make room; {RESUME_HINT}",
    )


def _refusing_disk(prepared: Prepared) -> BdpbenchError | None:
    """An error if nothing can be written, so that no batch could have written its error either."""
    probe = prepared.paths.folder / "probe"
    try:
        write_bytes_atomically(probe, bytes(_PROBE_BYTES))
        probe.unlink()
    except OSError as error:
        return disk_error(error, probe.parent)
    return None


def _ended_by_signal(log: Path, status: int) -> BdpbenchError | None:
    """An error if a signal ended Snakemake or the single batch.

    Not every interrupt shows in the exit status: Snakemake ends its jobs and returns 1, and Python
    may turn the exception into another one, for instance in ``__set_name__``.
    """
    if -status in set(signal.Signals):
        words = signal_words(signal.Signals(-status))
    elif any(line.startswith(_INTERRUPTED) for line in _lines(log)):
        words = signal.SIGINT.name
    else:
        return None
    who = "Snakemake" if log.name == SNAKEMAKE_LOG_NAME else "the batch of runs"
    return BdpbenchError(f"{who} was ended by {words}", where=str(log), hint=RESUME_HINT)


def _lines(log: Path) -> list[str]:
    return log.read_text(encoding="utf-8", errors="replace").splitlines()


def _unexplained(prepared: Prepared, log: Path) -> BdpbenchError:
    """Batches without a message: they were killed or have a bug, which their logs show."""
    logs = _logs(prepared)
    if logs:
        message = (
            f"a batch of runs ended without giving a reason; its log: {', '.join(map(str, logs))}"
        )
    else:
        message = "the workflow failed:\n    " + "\n    ".join(_lines(log)[-_LOG_TAIL_LINES:])
    return BdpbenchError(message, where=str(log), hint=RESUME_HINT)
