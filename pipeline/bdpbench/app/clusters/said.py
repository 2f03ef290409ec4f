"""Messages of Slurm and its plugin about failed jobs, in the logs of Snakemake and the jobs."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

LOGS_FOLDER = Path(".snakemake", "slurm_logs")
"""Folder in the results with a log of each failed job, by rule and batch."""

# Two kinds of lines of Snakemake's log: the message of sbatch when it refuses a job, and how a job
# ended: "SLURM-job '12' failed, SLURM status is: 'TIMEOUT'. ..."
_REFUSED = r"sbatch: error: (?P<refused>[^'\n]+)"
_ENDED = r"SLURM-job '(?P<job>[0-9_]+)' failed[^\n]*?SLURM status is: '(?P<state>\w+)'"
_SAID = re.compile(f"{_REFUSED}|{_ENDED}")
# Messages of Slurm itself in the log of a job.
_OWN_WORDS = ("srun: error:", "srun: fatal:", "slurmstepd", "sbatch: error:")


def said_of_jobs(log: Path, results: Path) -> list[str]:
    """Why jobs were refused or have ended, one line each, as far as known.

    Args:
        log: the log of Snakemake.
        results: the results folder, which contains the logs of the jobs.
    """
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return list(dict.fromkeys(_sentence(found, results) for found in _SAID.finditer(text)))


def _sentence(found: re.Match[str], results: Path) -> str:
    if found["refused"]:
        return f"sbatch refuses a job: {found['refused']}"
    words = _words_of(results, found["job"])
    return f"Slurm says {found['state']} of job {found['job']}{': ' if words else ''}{words}"


def _words_of(results: Path, job: str) -> str:
    """The last message of Slurm itself in the log of a job."""
    for path in (results / LOGS_FOLDER).glob(f"*/*/{job}.log"):
        with suppress(OSError):
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            own = [line for line in lines if line.startswith(_OWN_WORDS)]
            return own[-1] if own else ""
    return ""
