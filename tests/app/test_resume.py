"""A run that is killed leaves nothing half done, and the same command resumes."""

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


def _wait_for(found: Callable[[], bool], what: str) -> None:
    for _ in range(600):
        if found():
            return
        time.sleep(0.05)
    pytest.fail(f"no {what} within 30 s")


@pytest.mark.parametrize("whole_group", [True, False], ids=["group", "run alone"])
def test_a_killed_run_resumes(workspace: Path, bdpbench: Run, whole_group: bool) -> None:
    study = workspace / "config" / "studies" / "dumbbell" / "study.yaml"
    # Some seconds of wall time each, so that the kill meets simulations under way.
    study.write_text(study.read_text().replace("duration_s: 20", "duration_s: 2000"))
    runs = workspace / "results" / "runs"
    process = subprocess.Popen(
        [sys.executable, "-m", "bdpbench", "run", "--backend", "native"],
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
    _wait_for(lambda: bool(list(runs.glob("*/progress"))), "simulation under way")
    if whole_group:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
    resumed = bdpbench("run", "--backend", "native")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert len(list(runs.glob("*/run.json"))) == 3
    assert not list(runs.glob("*/.scratch"))


def test_finished_runs_outlive_the_record_of_the_build(workspace: Path, bdpbench: Run) -> None:
    assert bdpbench("run", "--backend", "native").returncode == 0
    results = workspace / "results"
    finished = sorted(results.glob("runs/*/run.json"))
    ages = [path.stat().st_mtime_ns for path in finished]
    # Another backend, or results moved without it: the record is made anew, the runs are not.
    for marker in (results / "ns2").iterdir():
        marker.unlink()
    assert bdpbench("run", "--backend", "native").returncode == 0
    assert [path.stat().st_mtime_ns for path in finished] == ages
