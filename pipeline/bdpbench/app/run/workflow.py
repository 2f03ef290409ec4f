"""Snakemake as a child: started, followed, and ended with all that it has started."""

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
    """How the stages of a plan are to run; ``profile`` is Snakemake's own."""

    prepared: Prepared
    backend: str
    jobs: int
    keep_going: bool = False
    profile: Path | None = None

    @property
    def log(self) -> Path:
        """What Snakemake says."""
        return self.prepared.paths.folder / LOG_NAME

    def run(self, view: View) -> int:
        """Run what is missing, showing the simulations' progress; returns the exit status."""
        environment = {
            "PYTHONUNBUFFERED": "1",
            CALL_VARIABLE: name_of_this_call(),
            # Snakemake's own: the user may have no home folder that can be written.
            "XDG_CACHE_HOME": str(self.prepared.paths.results / ".snakemake" / "cache"),
        }
        with (
            self.log.open("w", encoding="utf-8") as log,
            _started(self._command(), log, environment) as child,
        ):
            return self._follow(child, view)

    def _command(self) -> list[str]:
        paths = self.prepared.paths
        return [
            *(sys.executable, "-m", _snakemake_module(self.profile)),
            *("--snakefile", str(repository_root() / "Snakefile")),
            *("--directory", str(paths.results)),
            *("--cores", str(self.jobs)),
            *("--nolock", "--rerun-incomplete", "--rerun-triggers", "mtime"),
            *(("--keep-going",) if self.keep_going else ()),
            *(("--profile", str(self.profile.resolve())) if self.profile else ()),
            # Relative, because the path of the results may have braces: wildcards to Snakemake.
            *("--config", f"plan={paths.plan.relative_to(paths.results)}"),
            f"backend={self.backend}",
            *self._prioritized(),
        ]

    def _prioritized(self) -> list[str]:
        """Start the longest runs first: one that starts last would keep a single core busy."""
        longest = sorted(self.prepared.missing, key=lambda run: -run["estimated_cpu_s"])
        targets = [f"runs/{run['run_id']}/run.json" for run in longest[: self.jobs]]
        return ["--prioritize", *targets] if targets else []

    def _follow(self, child: subprocess.Popen[bytes], view: View) -> int:
        """Show how far the simulations are until the workflow ends; returns its exit status."""
        watch = Watch(self.prepared.paths.runs, self.prepared.missing, self.jobs)
        verdicts = RunVerdicts(self.prepared.plan, self.prepared.paths.runs)
        told: set[str] = set()
        status = None
        while status is None:
            status = _wait(child, _POLL_S)
            snapshot = watch.look()
            for each in snapshot.runs:
                run_id = each.run["run_id"]
                if each.status in ("finished", "failed") and run_id not in told:
                    told.add(run_id)
                    view.ended(each, verdicts.of(run_id) if each.status == "finished" else [])
            view.show(snapshot)
        return status


def _snakemake_module(profile: Path | None) -> str:
    # A profile may be that of a cluster, whose scheduler wants jobs at a limited rate.
    return "bdpbench.app.run.snakemake_cli" if profile is None else "snakemake"


@contextmanager
def _started(
    command: Sequence[str], log: IO[str], environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Snakemake in a process group of its own, of which nothing is left in the end.

    Snakemake dies with this process, and its stages watch this process themselves, since a signal
    that cannot be caught leaves nobody who could end them.
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
