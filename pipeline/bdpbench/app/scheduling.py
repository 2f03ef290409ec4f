"""Batches as jobs of Snakemake: started, followed, ended with their children, and why they failed.

On this machine or, with a profile, on a cluster: submitting, following and cancelling jobs there is
the business of Snakemake and of its plugin for that cluster.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from bdpbench.app.planning import Prepared, is_finished
from bdpbench.contracts.files import RESUME_HINT, disk_error, write_bytes_atomically
from bdpbench.contracts.paths import places, repository_root
from bdpbench.contracts.plan import PlannedRun, distinct
from bdpbench.contracts.runs import ERROR_NAME
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.errors import BdpbenchError
from bdpbench.processes import CALL_VARIABLE, name_of_this_call, signal_words, started

SNAKEMAKE_LOG_NAME = "snakemake.log"

_PROFILE_NAME = "config.yaml"
_HERE = ("local", "dryrun", "touch")
"""What is part of Snakemake; all other executors are plugins, which submit jobs elsewhere."""

_GRACE_S = 2.0
_CANCEL_S = 60.0
"""How long Snakemake may take to cancel the jobs that it has submitted, s."""

_POLL_S = 0.5


class Profile(BaseModel):
    """The keys of a Snakemake profile that bdpbench reads; all others are for Snakemake alone.

    Attributes:
        folder: where it is.
        executor: the plugin that submits its jobs.
        jobs: how many it allows at once.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    folder: Path = Path()
    executor: str = "local"
    jobs: int | str | None = None

    @property
    def is_elsewhere(self) -> bool:
        """Whether the jobs are not children of Snakemake, and have to be cancelled by it."""
        return self.executor not in _HERE


def find_profile(name_or_path: Path) -> Profile:
    """The profile in a folder, or the shipped one with that name.

    Raises:
        BdpbenchError: when there is none, or when its ``config.yaml`` is invalid.
    """
    shipped = repository_root() / "workflow" / "profiles"
    for folder in (name_or_path, shipped / name_or_path):
        path = folder / _PROFILE_NAME
        if path.is_file():
            profile = YamlFile(path).validate(Profile)
            return profile.model_copy(update={"folder": folder.resolve()})
    names = ", ".join(sorted(path.parent.name for path in shipped.glob(f"*/{_PROFILE_NAME}")))
    raise BdpbenchError(
        f"no such Snakemake profile: {name_or_path}",
        where="--profile",
        hint=f"give one of {names}, or a folder with a {_PROFILE_NAME}",
    )


def _check_installed(profile: Profile) -> None:
    plugin = f"snakemake_executor_plugin_{profile.executor.replace('-', '_')}"
    if profile.is_elsewhere and find_spec(plugin) is None:
        raise BdpbenchError(
            f"Snakemake's plugin for the executor {profile.executor} is not installed",
            where=str(profile.folder / _PROFILE_NAME),
            hint="docs/clusters.md says how to install it",
        )


@dataclass(frozen=True)
class Execution:
    """How the batches of a call are run.

    Attributes:
        backend: where ns-2 runs: docker or native; auto until one is chosen.
        cores: batches at once; on a cluster, jobs in the queue at once.
        keep_going: whether to continue with other runs if one fails.
        profile: Snakemake's profile; None for none.
    """

    backend: str
    cores: int
    keep_going: bool = False
    profile: Profile | None = None

    def command(self, prepared: Prepared) -> list[str]:
        """The command line of Snakemake for the batches of a plan."""
        paths = prepared.paths
        return [
            *(sys.executable, "-P", "-m", "snakemake", "batches"),
            *("--snakefile", str(repository_root() / "Snakefile")),
            *("--directory", str(paths.results)),
            # On this machine, jobs at once are cores.
            *("--jobs", str(self.cores), "--scheduler", "greedy"),
            *("--nolock", "--drop-metadata", "--rerun-triggers", "mtime", "--show-failed-logs"),
            *(("--keep-going",) if self.keep_going else ()),
            *(("--profile", str(self.profile.folder)) if self.profile else ()),
            *("--config", "ns2=built"),
        ]


def run_batches(
    prepared: Prepared, execution: Execution, look: Callable[[], None]
) -> BdpbenchError | None:
    """Run the batches that were written for a plan; returns what has failed.

    Args:
        prepared: the plan, and the runs that are missing.
        execution: how to run them; its backend has been chosen.
        look: called twice a second meanwhile, and once when all have ended.

    Raises:
        BdpbenchError: when the plugin of the profile's executor is not installed.
    """
    paths, profile = prepared.paths, execution.profile
    if profile is not None:
        _check_installed(profile)
    environment = {
        **os.environ,
        # Snakemake and its jobs start in the folder of the results.
        **places(paths.results),
        "BDPBENCH_PLAN": str(paths.plan),
        # For Snakemake's own files: the user may have no writable home folder.
        "XDG_CACHE_HOME": str(paths.results / ".snakemake" / "cache"),
        "PYTHONUNBUFFERED": "1",
        CALL_VARIABLE: name_of_this_call(),
    }
    log = paths.folder / SNAKEMAKE_LOG_NAME
    # Snakemake alone would wait for its jobs before it ends; signalled together, they all end at
    # once. Batches also watch this process themselves, since after a signal that cannot be caught
    # nobody is left to end them.
    with (
        log.open("w", encoding="utf-8") as stream,
        started(
            execution.command(prepared),
            _GRACE_S,
            stdout=stream,
            stderr=subprocess.STDOUT,
            env=environment,
        ) as child,
    ):
        try:
            while (status := _wait(child, _POLL_S)) is None:
                look()
        except BaseException:
            if profile is not None and profile.is_elsewhere:
                child.send_signal(signal.SIGINT)
                _wait(child, _CANCEL_S)
            raise
    look()
    is_done = all(is_finished(paths, run) for run in prepared.missing)
    return None if status == 0 and is_done else failure(prepared, log, status)


def _wait(child: subprocess.Popen[bytes], timeout_s: float) -> int | None:
    try:
        return child.wait(timeout_s)
    except subprocess.TimeoutExpired:
        return None


# ------------------------------------------------------------------------- why batches have failed


_LOG_TAIL_LINES = 15
_PROBE_BYTES = 65_536
_ERROR = "error: "
_ERRNO = re.compile(r"^ *OSError: \[Errno (\d+)\]", re.MULTILINE)
_INTERRUPTED = ("KeyboardInterrupt", "Terminating processes on user request")
"""Beginnings of lines that Python and Snakemake write after SIGINT."""


def failure(prepared: Prepared, log: Path, status: int) -> BdpbenchError:
    """The error to raise when batches have failed: what a run, a batch, the disk or a signal says.

    Args:
        prepared: the plan, its paths, and the runs that were to be simulated.
        log: the log of Snakemake, which contains those of the batches that failed.
        status: the exit status of Snakemake; negative if a signal ended it.
    """
    paths, lines = prepared.paths, _lines(log)
    of_runs = [paths.run(run["run_id"]) / ERROR_NAME for run in failed_runs(prepared)]
    said = [path.read_text(encoding="utf-8").strip() for path in of_runs]
    if said:
        runs = distinct(prepared.runs)
        finished = sum(is_finished(paths, run) for run in runs)
        return BdpbenchError(
            "\n".join(said),
            hint=f"{finished} of {len(runs)} runs are finished and kept; the same command resumes",
        )
    said = list(dict.fromkeys(_errors_in(lines)))
    if said:
        return BdpbenchError("\n".join(said))
    return _refusing_disk(paths.folder, lines) or BdpbenchError(
        _ending(status, lines), where=str(log), hint=RESUME_HINT
    )


def failed_runs(prepared: Prepared) -> list[PlannedRun]:
    """The runs that left a message about their failure."""
    paths = prepared.paths
    return [run for run in prepared.missing if (paths.run(run["run_id"]) / ERROR_NAME).is_file()]


def _lines(log: Path) -> list[str]:
    return log.read_text(encoding="utf-8", errors="replace").splitlines()


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


def _refusing_disk(folder: Path, lines: Sequence[str]) -> BdpbenchError | None:
    """An error if the disk refused a file of Snakemake, or refuses one now.

    Then no batch could have written its own error either.
    """
    for number in map(int, _ERRNO.findall("\n".join(lines))):
        if refused := disk_error(OSError(number, os.strerror(number)), folder):
            return refused
    # Space that is free may still be refused, as by a quota.
    probe = folder / "probe"
    try:
        write_bytes_atomically(probe, bytes(_PROBE_BYTES))
        probe.unlink()
    except OSError as error:
        return disk_error(error, folder)
    return None


def _ending(status: int, lines: Sequence[str]) -> str:
    """How Snakemake ended, where nobody gives a reason.

    Not every interrupt shows in its exit status: it ends its jobs and returns 1, and Python may
    turn the exception into another one, for instance in ``__set_name__``.
    """
    if -status in set(signal.Signals):
        return f"Snakemake was ended by {signal_words(signal.Signals(-status))}"
    if any(line.startswith(_INTERRUPTED) for line in lines):
        return f"Snakemake was ended by {signal.SIGINT.name}"
    if status == 0:
        return "Snakemake ended well, but some runs are not finished"
    tail = "\n    ".join(line for line in lines[-_LOG_TAIL_LINES:] if line)
    return f"Snakemake ended with exit status {status}; the end of its log:\n    {tail}"
