"""Whether a call's jobs make progress: Slurm's answers about them, and when to stop waiting.

Snakemake and its plugin submit jobs and wait for them, sometimes forever: for a job that was
pre-empted and not queued again, for all of them after Slurm gave no answer for a while, and for a
job that can never start. The overseer asks Slurm independently of them.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from bdpbench.errors import BdpbenchError
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
