"""Jobs in Slurm's queue: its commands, Snakemake's plugin for it, and one call's use of both.

Jobs of a call are identified by their name, which begins with a prefix unique to the call.

Snakemake and its plugin submit jobs and wait for them, sometimes forever: for a job that was
pre-empted and not queued again, for all of them after Slurm gave no answer for a while, and for a
job that can never start. The overseer asks Slurm independently of them.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bdpbench.app.programs import pinned_packages
from bdpbench.app.progress import View
from bdpbench.app.snakemake_cli import JOBS_PATH_VARIABLE
from bdpbench.contracts.runs import RUN_NAME
from bdpbench.errors import BdpbenchError
from bdpbench.processes import run
from bdpbench.studies.config import SlurmConfig

_WAITING = frozenset({"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT"})
_ENDED = frozenset(
    {
        *("BOOT_FAIL", "CANCELLED", "COMPLETED", "COMPLETING", "DEADLINE", "FAILED", "NODE_FAIL"),
        *("OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"),
    }
)
# Reasons for which Slurm never starts a job unless the job or the settings are changed. All others
# are temporary: other jobs end, nodes return.
_FOR_EVER = (
    *("BadConstraints", "PartitionNodeLimit", "PartitionTimeLimit", "PartitionConfig"),
    *("InvalidAccount", "InvalidQOS", "AccountNotAllowed", "QOSNotAllowed"),
    *("JobHeldAdmin", "JobHeldUser", "DependencyNeverSatisfied"),
    *("launch failed requeued held", "JobLaunchFailure"),
)
_MORE_THAN_A_JOB_MAY = "PerJob"  # as in AssocMaxCpuPerJobLimit and many others
_LOOKS_UNTIL_SURE = 3
_FIRST_JOB_S = 300.0
"""Time that Snakemake may take to start and to submit a job, s."""


class NoAnswerError(Exception):
    """A Slurm command failed; the text is its message."""


@dataclass(frozen=True)
class SlurmJob:
    """A job as listed by squeue; ``reason`` is why it waits, in Slurm's words."""

    job_id: str
    state: str
    reason: str
    name: str

    @property
    def waits(self) -> bool:
        """Whether it has not begun, or will begin again."""
        return self.state in _WAITING

    @property
    def has_ended(self) -> bool:
        """Whether nothing of it runs, or will run, any more."""
        return self.state in _ENDED


Ask = Callable[[], Sequence[SlurmJob]]


class Overseer:
    """Watches the jobs of one call.

    Args:
        ask: returns the call's jobs, or raises NoAnswerError.
        config: how often to ask, and when to give up.
        clock: time in s.
    """

    def __init__(
        self, ask: Ask, config: SlurmConfig, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._ask, self._config, self._clock = ask, config, clock
        self._asking = ThreadPoolExecutor(1, thread_name_prefix="squeue")
        self._answer: Future[Sequence[SlurmJob]] | None = None
        now_s = clock()
        self._asked_s = float("-inf")
        self._answered_s = self._moved_s = self._queued_s = now_s
        self._has_seen_a_job = False
        self._hopeless: Counter[str] = Counter()
        self.jobs: Sequence[SlurmJob] = ()

    def look(self) -> bool:
        """Ask Slurm at intervals, without waiting for it; whether it has just answered.

        Raises:
            BdpbenchError: when Slurm has not answered for too long, when a job can never start, or
                when no job has started for too long.
        """
        now_s = self._clock()
        if self._answer is None:
            if now_s - self._asked_s >= self._config.poll_s:
                self._asked_s = now_s
                self._answer = self._asking.submit(self._ask)
            return False
        if not self._answer.done():
            return False
        answer, self._answer = self._answer, None
        try:
            self.jobs = answer.result()
        except NoAnswerError as error:
            self._check_answers(now_s, str(error))
            return False
        self._answered_s = now_s
        self._check_jobs(now_s)
        return True

    @property
    def is_asking(self) -> bool:
        """Whether Slurm has been asked and has not yet answered."""
        return self._answer is not None and not self._answer.done()

    @property
    def is_silent(self) -> bool:
        """Whether the queue has been empty for so long that nothing will be submitted any more."""
        silent_s = 60 * self._config.silent_min
        enough_s = silent_s if self._has_seen_a_job else max(silent_s, _FIRST_JOB_S)
        return self._clock() - self._queued_s >= enough_s

    @property
    def queue_is_empty(self) -> bool:
        """Whether none of the last known jobs waits or runs."""
        return all(job.has_ended for job in self.jobs)

    def begin_again(self) -> None:
        """Reset the time with an empty queue: jobs are submitted again."""
        self._queued_s = self._moved_s = self._clock()
        self._has_seen_a_job = False

    def summary(self) -> tuple[int, int, str]:
        """How many jobs run, how many wait, and the most frequent reason for waiting."""
        waiting = [job for job in self.jobs if job.waits]
        running = sum(not job.waits and not job.has_ended for job in self.jobs)
        reasons = Counter(job.reason for job in waiting)
        return running, len(waiting), reasons.most_common(1)[0][0] if reasons else ""

    def _check_answers(self, now_s: float, reason: str) -> None:
        silent_s = now_s - self._answered_s
        if silent_s >= 60 * self._config.unreachable_min:
            raise BdpbenchError(
                f"Slurm has given no answer for {silent_s / 60:.1f} min: {reason}",
                where="squeue",
                hint="running jobs continue to their end, and finished runs are kept; "
                "when `scontrol ping` answers again, the same command resumes",
            )

    def _check_jobs(self, now_s: float) -> None:
        if not self.queue_is_empty:
            self._queued_s, self._has_seen_a_job = now_s, True
        if self.queue_is_empty or not all(job.waits or job.has_ended for job in self.jobs):
            self._moved_s = now_s
        self._check_hopeless([job for job in self.jobs if job.waits and is_hopeless(job.reason)])
        if now_s - self._moved_s >= 3600 * self._config.not_started_h:
            _, waiting, reason = self.summary()
            raise BdpbenchError(
                f"none of {waiting} jobs has started for {(now_s - self._moved_s) / 3600:.1f} h; "
                f"Slurm's reason: {reason}",
                where="squeue",
                hint="set how long to wait by slurm: not_started_h in config.yaml",
            )

    def _check_hopeless(self, jobs: Sequence[SlurmJob]) -> None:
        """Raise an error if a job can never start; Slurm may correct its reason after a moment."""
        self._hopeless = Counter({job.job_id: self._hopeless[job.job_id] + 1 for job in jobs})
        for job in jobs:
            if self._hopeless[job.job_id] >= _LOOKS_UNTIL_SURE:
                raise BdpbenchError(
                    f"job {job.job_id} can never start; Slurm's reason: {job.reason}",
                    where="squeue",
                    hint="see `scontrol show job " + job.job_id + "`, and partition, account and "
                    "time_limit_min under slurm: in config.yaml",
                )


def is_hopeless(reason: str) -> bool:
    """Whether a job that waits for this reason waits forever."""
    return reason in _FOR_EVER or _MORE_THAN_A_JOB_MAY in reason


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
        done = run(command, TIMEOUT_S)
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
