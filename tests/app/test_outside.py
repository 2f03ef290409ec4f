"""A study that lies outside the checkout, with its Tcl, goes through all commands by its folder."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bdpbench.contracts.paths import repository_root

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "elsewhere" / "outside"
    shutil.copytree(repository_root() / "tests" / "data" / "outside", folder)
    return folder


def test_a_study_outside_is_run_listed_and_archived(
    workspace: Path, bdpbench: Run, outside: Path
) -> None:
    before = sorted(path for path in outside.rglob("*"))
    done = bdpbench("run", str(outside), "--backend", "native")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "report.html" in done.stdout
    plan = json.loads((workspace / "results" / "outside" / "quick" / "plan.json").read_text())
    assert plan["folder"] == str(outside)
    # The flow of the second run keeps its first cwnd, 2 packets (RFC 2581), through its pause.
    first = [_cwnd_after_half_a_second(workspace, run["run_id"]) for run in plan["runs"]]
    assert first[0] > 2
    assert first[1] <= 2

    listed = bdpbench("list", str(outside), "--tier", "quick", "--runs")
    assert listed.returncode == 0, listed.stdout + listed.stderr
    assert listed.stdout.count("finished") == 2
    archived = bdpbench("archive", str(outside), "-o", str(workspace / "outside.zip"))
    assert archived.returncode == 0, archived.stdout + archived.stderr
    assert sorted(path for path in outside.rglob("*")) == before


def _cwnd_after_half_a_second(workspace: Path, run_id: str) -> float:
    text = (workspace / "results" / "runs" / run_id / "out" / "cwnd.out").read_text()
    rows = [line.split() for line in text.splitlines()]
    return next(float(cwnd) for time_s, cwnd in rows if float(time_s) >= 0.5)


def test_a_study_outside_is_published_where_it_is_told(
    workspace: Path, bdpbench: Run, outside: Path
) -> None:
    done = bdpbench("publish", str(outside))
    assert done.returncode == 1
    assert "-o" in done.stderr
    assert not (repository_root() / "reports" / "published" / "outside").exists()
