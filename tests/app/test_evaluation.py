"""What makes the stages after the simulation run again, and what does not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bdpbench.contracts.paths import repository_root

ROOT = repository_root()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what planning reads."""
    for name in ("pipeline", "config", "reports", "tcl", "ns2"):
        ignored = shutil.ignore_patterns("__pycache__", "published")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    return tmp_path


def _plan_after(checkout: Path, *files: str) -> bytes:
    """The plan once a remark has been added to files."""
    for file in files:
        path = checkout / file
        path.write_text(path.read_text() + "\n# A remark.\n")
    done = subprocess.run(
        [sys.executable, "-m", "bdpbench", "plan", "xu2004", "--tier", "quick"],
        env={"PYTHONPATH": str(checkout / "pipeline"), "PATH": "/usr/bin:/bin"},
        cwd=checkout,
        capture_output=True,
        text=True,
        check=True,
    )
    return Path(done.stdout.strip()).read_bytes()


def test_a_plan_changes_with_what_the_report_is_made_by_and_nothing_else(checkout: Path) -> None:
    first = _plan_after(checkout)
    code = "pipeline/bdpbench"
    elsewhere = (
        f"{code}/recover/__init__.py",
        f"{code}/archive/verify.py",
        f"{code}/cli/check.py",
        f"{code}/app/keep/publishing.py",
        "config/studies/sharma2006/NOTES.md",
    )
    assert _plan_after(checkout, *elsewhere) == first
    before = first
    for file in (
        f"{code}/metrics/cuts.py",
        f"{code}/app/run/stages.py",
        "reports/captions.yaml",
        "config/studies/xu2004/NOTES.md",
    ):
        after = _plan_after(checkout, file)
        assert after != before, file
        before = after
