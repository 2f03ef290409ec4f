"""A killed run leaves nothing half done, and the same command resumes it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from bdpbench.contracts.paths import repository_root

Run = Callable[..., "subprocess.CompletedProcess[str]"]
ONE_RUN = ("--scenario", "other_rtt")


def _wait_for(found: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if found():
            return
        time.sleep(0.01)
    pytest.fail(f"no {what} within 120 s")


def _start(workspace: Path, *options: str) -> subprocess.Popen[str]:
    """Start the study in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "bdpbench", "run", "--backend", "native", *ONE_RUN, *options],
        env={
            **os.environ,
            "PYTHONPATH": str(repository_root() / "pipeline"),
            "BDPBENCH_CONFIG": str(workspace / "config"),
            "BDPBENCH_RESULTS": str(workspace / "results"),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def _start_and_kill(workspace: Path, *, whole_group: bool) -> None:
    """Start the study, and kill it as soon as a simulation is running."""
    runs = workspace / "results" / "runs"
    for left in runs.glob("*/*/progress"):
        left.unlink()
    process = _start(workspace)
    _wait_for(lambda: bool(list(runs.glob("*/*/progress"))), "simulation under way")
    assert not list(runs.glob("*/*/run.json"))
    if whole_group:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.communicate()


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


@pytest.mark.parametrize("number", ["SIGINT", "SIGKILL"])
def test_a_signal_to_snakemake_alone_is_named(
    workspace: Path, ns_binary: Path, number: str
) -> None:
    profile = repository_root() / "workflow" / "profiles" / "default"
    with _start(workspace, "--profile", str(profile)) as call:
        _wait_for(lambda: bool(_snakemake_under(call.pid)), "Snakemake")
        time.sleep(0.5)  # it is still importing its modules
        os.kill(_snakemake_under(call.pid)[0], signal.Signals[number])
        said, _ = call.communicate(timeout=120)
    assert call.returncode == 1
    assert f"Snakemake was ended by {number}" in said
    assert "Traceback" not in said


def _snakemake_under(parent: int) -> list[int]:
    """Ids of the Snakemake processes that a process has started."""
    path = Path(f"/proc/{parent}/task/{parent}/children")
    children = path.read_text().split() if path.exists() else []
    return [int(each) for each in children if b"snakemake" in _command(each)]


def _command(process: str) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes()
    return b""
