"""Slurm's own commands: they list our jobs and cancel them.

Jobs of a call are identified by their name, which begins with a prefix unique to the call.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bdpbench.errors import BdpbenchError

COMMANDS = ("sbatch", "squeue", "scancel", "scontrol")
TIMEOUT_S = 60.0
"""Time limit of a Slurm command, s; each gives up by itself long before."""

_WAITING = frozenset({"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT"})
_ENDED = frozenset(
    {
        *("BOOT_FAIL", "CANCELLED", "COMPLETED", "COMPLETING", "DEADLINE", "FAILED", "NODE_FAIL"),
        *("OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"),
    }
)


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
    said = _ask(
        "squeue", f"--user={os.getuid()}", "--noheader", "--states=all", "--format=%i|%T|%j|%r"
    )
    rows = (line.strip().split("|", 3) for line in said.splitlines())
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
