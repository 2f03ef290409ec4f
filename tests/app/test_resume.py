"""A call tells that its Snakemake was killed; tests/faults/disturb.py kills and resumes calls."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.waiting import HANGS_S, wait_for

from bdpbench.contracts.paths import repository_root

Run = Callable[..., "subprocess.CompletedProcess[str]"]
ONE_RUN = ("--scenario", "other_rtt")


def _start(workspace: Path) -> subprocess.Popen[str]:
    """Start the study in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "bdpbench", "run", "--backend", "native", *ONE_RUN],
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


def test_a_signal_to_snakemake_alone_is_named(workspace: Path, ns_binary: Path) -> None:
    with _start(workspace) as call:
        wait_for(lambda: _snakemake_under(call.pid), "Snakemake")
        os.kill(_snakemake_under(call.pid)[0], signal.SIGKILL)
        said, _ = call.communicate(timeout=HANGS_S)
    assert call.returncode == 1
    assert "Snakemake was ended by SIGKILL" in said
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
