"""Snakemake by itself finds nothing wrong with the rules, and makes what is missing by them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bdpbench.contracts.paths import repository_root


def _snakemake(workspace: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Call Snakemake itself to plan what config.yaml names."""
    return subprocess.run(
        [
            *(sys.executable, "-m", "snakemake"),
            *("--snakefile", str(repository_root() / "Snakefile")),
            *arguments,
        ],
        env={
            **os.environ,
            "PYTHONPATH": str(repository_root() / "pipeline"),
            "BDPBENCH_CONFIG": str(workspace / "config"),
            "BDPBENCH_RESULTS": str(workspace / "results"),
        },
        capture_output=True,
        text=True,
        check=False,
    )


# Advice of `snakemake --lint` that we do not take: the rules call only bdpbench, whose environment
# is pinned by pipeline/requirements.lock and whose ns-2 is built by a rule or part of the image.
DECLINED = "Specify a conda environment or container for each rule."


@pytest.mark.ci
def test_snakemake_lint_finds_nothing_else(finished_once: Path) -> None:
    done = _snakemake(finished_once, "--lint")
    said = done.stderr + done.stdout
    assert "Lints for rule simulate" in said  # it did look at the rules
    findings = {line.strip() for line in said.splitlines() if line.startswith("    * ")}
    assert findings == {f"* {DECLINED}:"}


def test_snakemake_by_itself_makes_what_is_missing(finished: Path) -> None:
    results = finished / "results"
    tier = results / "dumbbell" / "quick"
    metrics = (tier / "metrics.parquet").read_bytes()
    first, *others = sorted(results.glob("runs/*/*/run.json"))
    ages = [path.stat().st_mtime_ns for path in others]
    first.unlink()
    (tier / "scorecard.json").unlink()
    done = _snakemake(finished, "--cores", "2")
    assert done.returncode == 0, done.stderr
    assert first.is_file()
    assert [path.stat().st_mtime_ns for path in others] == ages
    assert (tier / "metrics.parquet").read_bytes() == metrics
    assert (tier / "scorecard.json").is_file()
    assert len(list((results / "ns2").glob("*-native.json"))) == 1
