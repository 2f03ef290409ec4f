"""Which changes make the stages after the simulation run again, and which do not."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from bdpbench.contracts.paths import repository_root

ROOT = repository_root()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the files that planning reads, and a small study with notes."""
    for name in ("pipeline", "config", "reports", "tcl", "ns2"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("published"))
    study = tmp_path / "config" / "studies" / "transfer"
    shutil.copytree(ROOT / "tests" / "data" / "transfer", study)
    (study / "NOTES.md").write_text("# Notes\n")
    return tmp_path


# Prints, in one process of the copy, the plan's checksum after each list of files got a comment.
DRIVER = """
import hashlib, json, sys
from pathlib import Path
from bdpbench.app.planning import Wanted, prepare

for files in json.loads(sys.argv[1]):
    for file in files:
        path = Path(file)
        path.write_text(path.read_text() + "\\n# A remark.\\n")
    plan = prepare(Wanted("transfer", "quick", results=Path("results"), build_id="b" * 16)).plan
    print(hashlib.sha256(json.dumps(plan).encode()).hexdigest())
"""


def _plans_after(checkout: Path, remarks: Sequence[Sequence[str]]) -> list[str]:
    """Checksums of the plan after each step, which appends a comment to some files."""
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, json.dumps(remarks)],
        env={"PYTHONPATH": str(checkout / "pipeline"), "PATH": "/usr/bin:/bin"},
        cwd=checkout,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_a_plan_changes_with_what_the_report_is_made_by_and_nothing_else(checkout: Path) -> None:
    code = "pipeline/bdpbench"
    elsewhere = ("config/studies/sharma2006/NOTES.md", "tcl/network.tcl")
    telling = (
        f"{code}/metrics/flows.py",
        f"{code}/app/stages.py",
        "reports/captions.yaml",
        "config/studies/transfer/NOTES.md",
    )
    first, same, *others = _plans_after(checkout, [[], elsewhere, *([each] for each in telling)])
    assert same == first
    assert len({first, *others}) == 1 + len(telling)
