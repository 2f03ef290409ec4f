"""Jobs in Slurm's queue: its commands, Snakemake's plugin for it, and one call's use of both.

Jobs of a call are identified by their name, which begins with a prefix unique to the call.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bdpbench.app.overseer import NoAnswerError, Overseer, SlurmJob
from bdpbench.app.packages import pinned_packages
from bdpbench.app.progress import View
from bdpbench.app.snakemake_cli import JOBS_PATH_VARIABLE
from bdpbench.contracts.runs import RUN_NAME
from bdpbench.errors import BdpbenchError
from bdpbench.studies.config import SlurmConfig

COMMANDS = ("sbatch", "squeue", "scancel", "scontrol")
TIMEOUT_S = 60.0
"""Time limit of a Slurm command, s; each gives up by itself long before."""

JOB_LOGS_FOLDER = Path(".snakemake", "slurm_logs")
"""Folder in the results with a log of each failed job, by rule and batch."""

NODE_FOLDER = "node"
"""Subfolder of the plugin's folder with the part that jobs need."""

_NODE_PACKAGES = "snakemake_executor_plugin_slurm_jobstep*"
_CANCEL_S = 30.0
_CANCEL_POLL_S = 0.5
_VISIBLE_S = 120.0
_VISIBLE_POLL_S = 1.0

# ------------------------------------------------------------------------------ one call


@dataclass(frozen=True)
class SlurmCall:
    """How the batches of one call go to Slurm.

    Attributes:
        prefix: prefix of the names of its jobs, unique to the call.
    """

    config: SlurmConfig
    plugin: Path
    prefix: str
    view: View

    def arguments(self) -> list[str]:
        """Options of Snakemake in addition to those of the profile."""
        config = self.config
        # Snakemake evaluates values as expressions: "max" would be a Python function.
        resources = {
            "slurm_partition": config.partition,
            "slurm_account": config.account,
            "slurm_extra": config.options or None,
        }
        given = [f"{name}={value!r}" for name, value in resources.items() if value is not None]
        return [
            *("--slurm-jobname-prefix", self.prefix),
            *("--slurm-init-seconds-before-status-checks", str(config.poll_s)),
            *("--seconds-between-status-checks", str(config.poll_s)),
            *(("--default-resources", *given) if given else ()),
        ]

    def settings(self) -> list[str]:
        """Settings for the rules, as the values of --config."""
        limit_min = self.config.time_limit_min
        return ["on_nodes=1", *([f"time_limit_min={limit_min}"] if limit_min is not None else [])]

    def environment(self) -> Mapping[str, str]:
        """Additional environment variables of Snakemake and the jobs."""
        own = os.environ.get("PYTHONPATH", "")
        return {
            "PYTHONPATH": _joined(str(self.plugin), own),
            JOBS_PATH_VARIABLE: _joined(str(self.plugin / NODE_FOLDER), own),
        }

    def overseer(self) -> Overseer:
        """The overseer of the jobs."""
        return Overseer(partial(jobs_of, self.prefix), self.config)

    def silent(self, rounds: int) -> BdpbenchError:
        """The error to raise if jobs repeatedly leave the queue without finishing their batches."""
        return BdpbenchError(
            f"jobs have left Slurm's queue {rounds} times without finishing, for an unknown "
            "reason: they were pre-empted, or Slurm forgot them before their end was seen",
            where="--profile slurm",
            hint="finished runs are kept; the same command resumes",
        )

    def end(self) -> None:
        """Cancel the remaining jobs of this call; print a message if that fails."""
        left = cancel_all(self.prefix)
        if left:
            self.view.tell(
                "jobs_left",
                f"jobs of this call may be left in Slurm's queue ({left}); their names begin with "
                f"{self.prefix}, and the next call cancels them",
                prefix=self.prefix,
                reason=left,
            )


def slurm_call(config: SlurmConfig, results: Path, view: View) -> SlurmCall:
    """Prepare a call, which has exclusive use of this results folder.

    Jobs that an earlier call could not cancel are cancelled now.

    Raises:
        BdpbenchError: when Slurm is missing or does not answer, or when its plugin cannot be
            installed.
    """
    check(config.poll_s)
    plugin = slurm_plugin(lambda text: view.tell("installing", text))
    _cancel_orphans(results_prefix(results), view)
    shutil.rmtree(results / JOB_LOGS_FOLDER, ignore_errors=True)
    return SlurmCall(config, plugin, call_prefix(results), view)


def _joined(*paths: str) -> str:
    return os.pathsep.join(each for each in paths if each)


def _cancel_orphans(prefix: str, view: View) -> None:
    try:
        orphans = [job for job in jobs_of(prefix) if not job.has_ended]
    except NoAnswerError as error:
        raise BdpbenchError(f"Slurm does not answer: {error}", where="squeue") from None
    if not orphans:
        return
    text = f"cancelling {len(orphans)} jobs of an earlier call"
    view.tell("cancelling", text, jobs=[job.job_id for job in orphans])
    left = cancel_all(prefix)
    if left:
        raise BdpbenchError(
            f"jobs of an earlier call could not be cancelled: {left}",
            where="scancel",
            hint=f"their names in `squeue` begin with {prefix}",
        )


def cancel_all(prefix: str) -> str:
    """Cancel all jobs with a prefix and wait for their end; the reason for a failure, or ""."""
    deadline, reason = time.monotonic() + _CANCEL_S, "they do not end"
    while time.monotonic() < deadline:
        try:
            jobs = [job for job in jobs_of(prefix) if not job.has_ended]
            if not jobs:
                return ""
            cancel(jobs)
        except NoAnswerError as error:
            reason = str(error)
        time.sleep(_CANCEL_POLL_S)
    return reason


# ------------------------------------------------------------------------ Slurm's commands


def call_prefix(results: Path) -> str:
    """Prefix of the job names of a new call."""
    return f"{results_prefix(results)}{secrets.token_hex(4)}"


def results_prefix(results: Path) -> str:
    """Prefix of the job names of all calls in a results folder."""
    return f"bdpbench-{hashlib.sha256(str(results.resolve()).encode()).hexdigest()[:8]}-"


def jobs_of(prefix: str) -> list[SlurmJob]:
    """The user's jobs whose names begin with ``prefix``, including those that have just ended.

    Raises:
        NoAnswerError: when Slurm cannot be asked.
    """
    listed = _ask(
        "squeue", f"--user={os.getuid()}", "--noheader", "--states=all", "--format=%i|%T|%j|%r"
    )
    rows = (line.strip().split("|", 3) for line in listed.splitlines())
    jobs = (SlurmJob(row[0], row[1], row[3], row[2]) for row in rows if len(row) == 4)
    return [job for job in jobs if job.name.startswith(prefix)]


def cancel(jobs: Sequence[SlurmJob]) -> None:
    """Cancel these jobs and no others.

    Raises:
        NoAnswerError: when Slurm cannot be asked. It is not an error if a job has ended meanwhile.
    """
    _ask("scancel", "--quiet", *(job.job_id for job in jobs))


def settings() -> dict[str, str]:
    """Slurm's settings, by name.

    Raises:
        NoAnswerError: when Slurm cannot be asked.
    """
    pairs = (line.partition("=") for line in _ask("scontrol", "show", "config").splitlines())
    return {name.strip(): value.strip() for name, equals, value in pairs if equals}


def check(poll_s: float) -> None:
    """Refuse, before anything is submitted, a machine from which jobs cannot be followed.

    Raises:
        BdpbenchError: when Slurm's commands are missing, when it does not answer, and when it would
            forget jobs before their end can be observed.
    """
    missing = [name for name in COMMANDS if shutil.which(name) is None]
    if missing:
        raise BdpbenchError(
            f"these commands of Slurm are missing here: {', '.join(missing)}",
            where="--profile slurm",
            hint="make the call where jobs are submitted, e.g. on the login node",
        )
    try:
        found = settings()
    except NoAnswerError as error:
        raise BdpbenchError(
            f"Slurm does not answer: {error}",
            where="scontrol show config",
            hint="`scontrol ping` says which controller is down; nothing was submitted",
        ) from None
    # The plugin uses squeue if jobs are remembered for three of its intervals, otherwise sacct.
    remembered_s = _seconds(found.get("MinJobAge", ""))
    if found.get("AccountingStorageType", "").endswith("/none") and remembered_s < 3 * poll_s:
        raise BdpbenchError(
            f"Slurm keeps no accounting data and forgets a job {remembered_s:.0f} s after "
            f"its end (MinJobAge); bdpbench, which asks every {poll_s:.0f} s, cannot see jobs end",
            where="--profile slurm",
            hint="lower slurm: poll_s in config.yaml, or ask for a larger MinJobAge",
        )


def _seconds(text: str) -> float:
    """The number in a setting such as ``300 sec``; 0 if it has none."""
    words = text.split()
    return float(words[0]) if words and words[0].isdecimal() else 0.0


def _ask(*command: str) -> str:
    """Standard output of a Slurm command."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoAnswerError(str(error)) from None
    if done.returncode != 0:
        raise NoAnswerError(done.stderr.strip() or f"{command[0]} ended with {done.returncode}")
    return done.stdout


# ------------------------------------------------------------------------------ the plugin


def slurm_plugin(say: Callable[[str], None]) -> Path:
    """The folder of Snakemake's plugin and its dependencies, as pinned by the lock file.

    The first call that needs it installs it, in a folder of its own, which only such calls have in
    their ``PYTHONPATH``: Snakemake imports every plugin that it finds at each start, and this one
    imports pandas. A job, in which Snakemake starts twice, needs only a small part of it.

    Raises:
        BdpbenchError: when they cannot be installed.
    """

    def add_node_folder(folder: Path) -> None:
        (folder / NODE_FOLDER).mkdir()
        for path in folder.glob(_NODE_PACKAGES):
            shutil.copytree(path, folder / NODE_FOLDER / path.name)

    return pinned_packages("slurm", "Snakemake's plugin for Slurm", say, add_node_folder)


# ------------------------------------------------------------- files of other machines


def wait_for_runs(folders: Sequence[Path], patience_s: float = _VISIBLE_S) -> None:
    """Wait until the records of finished runs are visible; a network file system may be late.

    An NFS client may cache for up to a minute that a file does not exist. Listing the folder makes
    it check again.

    Raises:
        BdpbenchError: naming the first run that is not visible in time.
    """
    deadline = time.monotonic() + patience_s
    for folder in folders:
        while not _has_record(folder):
            if time.monotonic() >= deadline:
                raise BdpbenchError(
                    f"a job has finished this run, and after {patience_s:.0f} s its {RUN_NAME} is "
                    "not visible here",
                    where=str(folder),
                    hint="the results must be on a file system that all nodes share",
                )
            time.sleep(_VISIBLE_POLL_S)


def _has_record(folder: Path) -> bool:
    with suppress(OSError):
        return any(path.name == RUN_NAME for path in folder.iterdir())
    return False
