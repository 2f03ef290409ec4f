"""The batches of a call as children: started, followed, and ended with all that they have started.

Snakemake takes care of them, beside one another or on a cluster. A single one on this machine needs
nobody to choose what comes next, and is started by its rule's command as it is.
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

from bdpbench.app.run.planning import Prepared
from bdpbench.app.run.run_verdicts import RunVerdicts
from bdpbench.app.say.progress import View, Watch
from bdpbench.contracts.batches import Jobs
from bdpbench.contracts.paths import repository_root
from bdpbench.simulation.processes import (
    CALL_VARIABLE,
    dying_with_parent,
    end_group,
    name_of_this_call,
)

LOG_NAME = "snakemake.log"

_GRACE_S = 2.0
_POLL_S = 0.5


@dataclass(frozen=True)
class Workflow:
    """How the batches of a plan are to run; ``profile`` is Snakemake's own."""

    prepared: Prepared
    jobs: Jobs
    backend: str
    cores: int
    keep_going: bool = False
    profile: Path | None = None

    @property
    def log(self) -> Path:
        """What Snakemake says, or a batch that is alone."""
        paths = self.prepared.paths
        return paths.batches / f"{self._alone}.log" if self._alone else paths.folder / LOG_NAME

    @property
    def _alone(self) -> str:
        """The one batch that needs no Snakemake, or ""."""
        names = list(self.jobs["jobs"])
        return names[0] if len(names) == 1 and self.profile is None else ""

    def run(self, view: View) -> int:
        """Run the batches, showing the simulations' progress; returns the exit status."""
        environment = {
            "PYTHONUNBUFFERED": "1",
            CALL_VARIABLE: name_of_this_call(),
            # Snakemake's own: the user may have no home folder that can be written.
            "XDG_CACHE_HOME": str(self.prepared.paths.results / ".snakemake" / "cache"),
        }
        command = self._batch() if self._alone else self._snakemake()
        with (
            self.log.open("w", encoding="utf-8") as log,
            _started(command, log, environment) as child,
        ):
            return self._follow(child, view)

    def _batch(self) -> list[str]:
        """What the rule of a batch calls."""
        return [
            *(sys.executable, "-m", "bdpbench", "simulate", "--backend", self.backend),
            *(("--keep-going",) if self.keep_going else ()),
            *("--batch", str(self.prepared.paths.batches / f"{self._alone}.json")),
        ]

    def _snakemake(self) -> list[str]:
        paths = self.prepared.paths
        return [
            *(sys.executable, "-m", _snakemake_module(self.profile), "batches"),
            *("--snakefile", str(repository_root() / "Snakefile")),
            *("--directory", str(paths.results)),
            *("--cores", str(self.cores), "--scheduler", "greedy"),
            *("--nolock", "--drop-metadata", "--rerun-triggers", "mtime"),
            *(("--keep-going",) if self.keep_going else ()),
            *(("--profile", str(self.profile.resolve())) if self.profile else ()),
            # Relative, because the path of the results may have braces: wildcards to Snakemake.
            *("--config", f"plan={paths.plan.relative_to(paths.results)}"),
            *(f"backend={self.backend}", "ns2=built"),
            *(("keep_going=1",) if self.keep_going else ()),
        ]

    def _follow(self, child: subprocess.Popen[bytes], view: View) -> int:
        """Show how far the simulations are until all batches have ended; returns the status."""
        paths = self.prepared.paths
        watch = Watch(paths.runs, paths.batches, self.prepared.missing, self.cores)
        verdicts = RunVerdicts(self.prepared.plan, paths.runs)
        status = None
        while status is None:
            status = _wait(child, _POLL_S)
            snapshot = watch.look()
            for each in snapshot.ended:
                finished = each.status == "finished"
                view.ended(each, verdicts.of(each.run["run_id"]) if finished else [])
            view.show(snapshot)
        return status


def _snakemake_module(profile: Path | None) -> str:
    # A profile may be that of a cluster, whose scheduler wants jobs at a limited rate.
    return "bdpbench.app.run.snakemake_cli" if profile is None else "snakemake"


@contextmanager
def _started(
    command: Sequence[str], log: IO[str], environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """A child in a process group of its own, of which nothing is left in the end.

    The child dies with this process, and batches watch this process themselves, since a signal that
    cannot be caught leaves nobody who could end them.
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
        # Asked to end, Snakemake would wait for its jobs; asked together, they all end at once.
        end_group(child.pid, _GRACE_S)
        child.wait()


def _wait(child: subprocess.Popen[bytes], timeout_s: float) -> int | None:
    try:
        return child.wait(timeout_s)
    except subprocess.TimeoutExpired:
        return None
