"""The batches of a call as child processes: started, followed, and ended with their own children.

Snakemake runs them in parallel or on a cluster. A single batch on this machine needs no scheduling,
and is started directly by the command of its rule.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from bdpbench.app.clusters.overseer import Overseer
from bdpbench.app.clusters.profiles import Profile
from bdpbench.app.clusters.slurm_call import SlurmCall
from bdpbench.app.planning import Prepared
from bdpbench.app.progress import View, Watch
from bdpbench.app.run_verdicts import RunVerdicts
from bdpbench.contracts.paths import places, repository_root
from bdpbench.contracts.plan import Jobs
from bdpbench.simulation.processes import (
    CALL_VARIABLE,
    dying_with_parent,
    end_group,
    name_of_this_call,
)

LOG_NAME = "snakemake.log"

_GRACE_S = 2.0
_POLL_S = 0.5
_ROUNDS = 3
_SILENT = 1000
"""Stands for a process that waits for lost jobs; not an exit status."""


@dataclass(frozen=True)
class Workflow:
    """How to run the batches of a plan.

    Attributes:
        profile: Snakemake's profile; None for none.
        slurm: the call's use of Slurm, if the profile's jobs go there.
    """

    prepared: Prepared
    jobs: Jobs
    backend: str
    cores: int
    keep_going: bool = False
    profile: Profile | None = None
    slurm: SlurmCall | None = None

    @property
    def log(self) -> Path:
        """The log of Snakemake, or of a single batch."""
        paths = self.prepared.paths
        return paths.batches / f"{self._alone}.log" if self._alone else paths.folder / LOG_NAME

    @property
    def _alone(self) -> str:
        """The single batch that needs no Snakemake, or ""."""
        names = list(self.jobs["jobs"])
        return names[0] if len(names) == 1 and self.profile is None else ""

    def run(self, view: View) -> int:
        """Run the batches, showing the simulations' progress; returns the exit status.

        Raises:
            BdpbenchError: when a cluster does not answer, or starts no jobs.
        """
        watching = _Watching(self, view)
        self.log.write_text("", encoding="utf-8")
        if self.slurm is None:
            return self._run_once(watching)
        try:
            return self._run_on_slurm(self.slurm, watching)
        finally:
            self.slurm.end()

    def _run_on_slurm(self, slurm: SlurmCall, watching: _Watching) -> int:
        """Submit unfinished batches until all are finished or something has failed.

        Snakemake keeps waiting for jobs that have left the queue without its knowledge; then it is
        started again with the unfinished batches.
        """
        overseer = slurm.overseer()
        for _ in range(_ROUNDS):
            status = self._run_once(watching, overseer)
            if status != _SILENT:
                return status
            overseer.begin_again()
        raise slurm.silent(_ROUNDS)

    def _run_once(self, watching: _Watching, overseer: Overseer | None = None) -> int:
        """One process that runs the unfinished batches; its exit status, or _SILENT."""
        environment = {
            "PYTHONUNBUFFERED": "1",
            # For Snakemake's own files: the user may have no writable home folder.
            "XDG_CACHE_HOME": str(self.prepared.paths.results / ".snakemake" / "cache"),
            # Snakemake and its jobs start in the folder of the results.
            **places(self.prepared.paths.results),
            # A queued job outlives the call unless it is cancelled; no node can watch the call.
            **(self.slurm.environment() if self.slurm else {CALL_VARIABLE: name_of_this_call()}),
        }
        command = self._batch() if self._alone else self._snakemake()
        with (
            self.log.open("a", encoding="utf-8") as log,
            _started(command, log, environment) as child,
        ):
            return self._follow(child, watching, overseer)

    def _batch(self) -> list[str]:
        """The command in the rule of a batch."""
        return [
            *(sys.executable, "-P", "-m", "bdpbench", "simulate", "--backend", self.backend),
            *(("--keep-going",) if self.keep_going else ()),
            *("--batch", str(self.prepared.paths.batches / f"{self._alone}.json")),
        ]

    def _snakemake(self) -> list[str]:
        paths = self.prepared.paths
        return [
            *(sys.executable, "-P", "-m", _snakemake_module(self), "batches"),
            *("--snakefile", str(repository_root() / "Snakefile")),
            *("--directory", str(paths.results)),
            *("--jobs" if self.slurm else "--cores", str(self.cores)),
            *("--scheduler", "greedy"),
            *("--nolock", "--drop-metadata", "--rerun-triggers", "mtime"),
            *(("--keep-going",) if self.keep_going else ()),
            *(("--profile", str(self.profile.folder)) if self.profile else ()),
            *(self.slurm.arguments() if self.slurm else ()),
            # Relative, because the path of the results may contain braces, which are wildcards in
            # Snakemake.
            *("--config", f"plan={paths.plan.relative_to(paths.results)}"),
            *(f"backend={self.backend}", "ns2=built"),
            *(("keep_going=1",) if self.keep_going else ()),
            *(self.slurm.settings() if self.slurm else ()),
        ]

    def _follow(
        self, child: subprocess.Popen[bytes], watching: _Watching, overseer: Overseer | None
    ) -> int:
        """Show the progress of the simulations until all batches have ended; returns the status."""
        while True:
            status = _wait(child, _POLL_S)
            watching.show()
            if status is not None:
                return status
            if overseer is not None and overseer.look():
                watching.tell_queue(overseer)
                if overseer.queue_is_empty and self._is_done():
                    return 0
            if overseer is not None and overseer.is_silent:
                return _SILENT

    def _is_done(self) -> bool:
        """Whether every batch has written its ``.done`` file."""
        batches = self.prepared.paths.batches
        return all((batches / f"{name}.done").is_file() for name in self.jobs["jobs"])


class _Watching:
    """Passes events of the simulations of a call to its view, whichever process runs them."""

    def __init__(self, workflow: Workflow, view: View) -> None:
        prepared, paths = workflow.prepared, workflow.prepared.paths
        self._view = view
        self._watch = Watch(paths.runs, paths.batches, prepared.missing, workflow.cores)
        self._verdicts = RunVerdicts(prepared.plan, paths.runs)
        self._told = ""

    def show(self) -> None:
        """Report which runs have ended, and the progress of all."""
        snapshot = self._watch.look()
        for each in snapshot.ended:
            finished = each.status == "finished"
            verdicts = self._verdicts.of(each.run["run_id"]) if finished else []
            self._view.ended(each, verdicts)
        self._view.show(snapshot)

    def tell_queue(self, overseer: Overseer) -> None:
        """Report how many jobs run and wait, if that has changed."""
        running, waiting, reason = overseer.summary()
        why = f" ({reason})" if waiting and reason not in ("", "None") else ""
        text = f"Slurm: {running} jobs run, {waiting} wait{why}"
        if text != self._told:
            self._told = text
            self._view.tell("queue", text, running=running, waiting=waiting, reason=reason)


def _snakemake_module(workflow: Workflow) -> str:
    # Another profile may be for a cluster whose scheduler accepts jobs at a limited rate; the
    # plugin for Slurm submits two at a time.
    limited = workflow.profile is not None and workflow.slurm is None
    return "snakemake" if limited else "bdpbench.app.snakemake_cli"


@contextmanager
def _started(
    command: Sequence[str], log: IO[str], environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a child in its own process group, all of whose processes end with it.

    The child dies with this process, and batches watch this process themselves, since after a
    signal that cannot be caught nobody is left to end them.
    """
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        preexec_fn=dying_with_parent(),
        process_group=0,
        env={**os.environ, **environment},
    )
    try:
        yield child
    finally:
        # Alone, Snakemake would wait for its jobs before it ends; signalled together, they all end
        # at once.
        end_group(child.pid, _GRACE_S)
        child.wait()


def _wait(child: subprocess.Popen[bytes], timeout_s: float) -> int | None:
    try:
        return child.wait(timeout_s)
    except subprocess.TimeoutExpired:
        return None
