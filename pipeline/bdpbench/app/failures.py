"""Why the batches of a call have failed: what a run, a stage, Slurm, the disk or a signal says."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from bdpbench.app.planning import Prepared, is_finished
from bdpbench.app.scheduling import SNAKEMAKE_LOG_NAME
from bdpbench.app.slurm import JOB_LOGS_FOLDER
from bdpbench.contracts.files import (
    RESUME_HINT,
    disk_error,
    free_bytes,
    size_text,
    write_bytes_atomically,
)
from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.runs import ERROR_NAME
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.ns2_process import LEAST_FREE_BYTES
from bdpbench.simulation.processes import signal_words

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
        finished = sum(is_finished(prepared.paths, run) for run in prepared.runs)
        return BdpbenchError(
            "\n".join(_error_of(prepared, run) for run in failed),
            hint=f"{finished} of {len(prepared.runs)} runs are finished and kept; "
            "the same command resumes",
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
