"""A killed run leaves nothing half done, and the same command resumes it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bdpbench.contracts.paths import repository_root

Run = Callable[..., "subprocess.CompletedProcess[str]"]
ONE_RUN = ("--scenario", "other_rtt")


def _wait_for(found: Callable[[], bool], what: str) -> None:
    for _ in range(3000):
        if found():
            return
        time.sleep(0.01)
    pytest.fail(f"no {what} within 30 s")


def _start_and_kill(workspace: Path, *, whole_group: bool) -> None:
    """Start the study, and kill it as soon as a simulation is running."""
    runs = workspace / "results" / "runs"
    for left in runs.glob("*/*/progress"):
        left.unlink()
    process = subprocess.Popen(
        [sys.executable, "-m", "bdpbench", "run", "--backend", "native", *ONE_RUN],
        env={
            **os.environ,
            "PYTHONPATH": str(repository_root() / "pipeline"),
            "BDPBENCH_CONFIG": str(workspace / "config"),
            "BDPBENCH_RESULTS": str(workspace / "results"),
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    _wait_for(lambda: bool(list(runs.glob("*/*/progress"))), "simulation under way")
    assert not list(runs.glob("*/*/run.json"))
    if whole_group:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def test_a_killed_run_resumes(workspace: Path, bdpbench: Run) -> None:
    study = workspace / "config" / "studies" / "dumbbell" / "study.yaml"
    # At least half a second of wall-clock time, so that the kill hits a running simulation.
    study.write_text(study.read_text().replace("duration_s: 20", "duration_s: 200"))
    _start_and_kill(workspace, whole_group=True)
    _start_and_kill(workspace, whole_group=False)
    resumed = bdpbench("run", "--backend", "native", *ONE_RUN)
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    runs = workspace / "results" / "runs"
    assert len(list(runs.glob("*/*/run.json"))) == 1
    assert not list(runs.glob("*/*/.scratch"))
