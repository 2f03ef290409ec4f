"""Simulates planned runs in parallel, each as `bdpbench simulate` does it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from bdpbench.contracts.paths import run_folder
from bdpbench.contracts.runs import read_run
from bdpbench.simulation.backend import Backend
from bdpbench.simulation.processes import (
    CALL_VARIABLE,
    dying_with_parent,
    end_group,
    name_of_this_call,
)

_GRACE_S = 2.0


class Simulations:
    """Simulates runs whose specs exist, several at once; none outlives the call.

    Args:
        runs: folder of all runs.
        backend: where ns-2 runs; it must be built.
        jobs: simulations at once; None for one per processor.
    """

    def __init__(self, runs: Path, backend: Backend, jobs: int | None) -> None:
        self.runs, self.backend = runs, backend
        self._pool = ThreadPoolExecutor(jobs or len(os.sched_getaffinity(0)))
        self._children: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._is_over = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the simulations that are still running."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._is_over = True
            children = list(self._children)
        for child in children:
            end_group(child.pid, _GRACE_S)
        self._pool.shutdown()

    def start(self, run_id: str) -> Future[str]:
        """Simulate a run unless it is finished; the future is "" or the reason of a failure."""
        return self._pool.submit(self._simulate, run_folder(self.runs, run_id))

    def _simulate(self, folder: Path) -> str:
        if read_run(folder) is not None:
            return ""
        child = self._child(folder)
        if child is None:
            return "interrupted"
        try:
            _, told = child.communicate()
        finally:
            with self._lock:
                self._children.discard(child)
        if child.returncode == 0:
            return ""
        return told.strip() or f"`bdpbench simulate` ended with status {child.returncode}"

    def _child(self, folder: Path) -> subprocess.Popen[str] | None:
        """The process of a simulation; None if no more may start."""
        command = [sys.executable, "-P", "-m", "bdpbench", "simulate", str(folder)]
        with self._lock:
            if self._is_over:
                return None
            child = subprocess.Popen(
                [*command, "--backend", self.backend.name],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                preexec_fn=dying_with_parent(),
                process_group=0,
                env={**os.environ, CALL_VARIABLE: name_of_this_call()},
            )
            self._children.add(child)
            return child
