"""One call's use of Slurm: Snakemake's options, the overseer of its jobs, and their end."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bdpbench.app.clusters.overseer import Overseer, Patience
from bdpbench.app.clusters.plugin import NODE_FOLDER, slurm_plugin
from bdpbench.app.clusters.profiles import Profile
from bdpbench.app.clusters.said import LOGS_FOLDER
from bdpbench.app.clusters.slurm import (
    NoAnswerError,
    call_prefix,
    cancel,
    check,
    jobs_of,
    results_prefix,
)
from bdpbench.app.progress import View
from bdpbench.app.snakemake_cli import JOBS_PATH_VARIABLE
from bdpbench.errors import BdpbenchError
from bdpbench.studies.config import SlurmConfig

_CANCEL_S = 30.0
_POLL_S = 0.5


@dataclass(frozen=True)
class SlurmCall:
    """How the batches of one call go to Slurm.

    Attributes:
        prefix: prefix of the names of its jobs, unique to the call.
    """

    profile: Profile
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
        config = self.config
        patience = Patience(
            poll_s=config.poll_s,
            unreachable_s=60 * config.unreachable_min,
            not_started_s=3600 * config.not_started_h,
            silent_s=60 * config.silent_min,
        )
        return Overseer(partial(jobs_of, self.prefix), patience)

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


def slurm_call(profile: Profile, config: SlurmConfig, results: Path, view: View) -> SlurmCall:
    """Prepare a call, which has exclusive use of this results folder.

    Jobs that an earlier call could not cancel are cancelled now.

    Raises:
        BdpbenchError: when Slurm is missing or does not answer, or when its plugin cannot be
            installed.
    """
    check(config.poll_s)
    plugin = slurm_plugin(lambda text: view.tell("installing", text))
    _cancel_orphans(results_prefix(results), view)
    shutil.rmtree(results / LOGS_FOLDER, ignore_errors=True)
    return SlurmCall(profile, config, plugin, call_prefix(results), view)


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
    deadline, said = time.monotonic() + _CANCEL_S, "they do not end"
    while time.monotonic() < deadline:
        try:
            jobs = [job for job in jobs_of(prefix) if not job.has_ended]
            if not jobs:
                return ""
            cancel(jobs)
        except NoAnswerError as error:
            said = str(error)
        time.sleep(_POLL_S)
    return said
