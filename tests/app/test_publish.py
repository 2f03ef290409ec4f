"""`bdpbench publish`: what it publishes, and when it refuses to."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from bdpbench.app.totals import totals_sentence
from bdpbench.archive.results import KeptResults
from bdpbench.contracts.paths import run_folder

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def planned(workspace: Path, bdpbench: Run) -> list[Path]:
    """The run folders of the study tests/data/dumbbell, planned but not simulated."""
    done = bdpbench("plan")
    assert done.returncode == 0, done.stderr
    plan = json.loads(Path(done.stdout.strip()).read_text())
    return [run_folder(workspace / "results" / "runs", run["run_id"]) for run in plan["runs"]]


def _simulate(bdpbench: Run, run_dirs: list[Path]) -> None:
    for run_dir in run_dirs:
        done = bdpbench("simulate", "--backend", "native", str(run_dir))
        assert done.returncode == 0, done.stderr


def test_a_finished_tier_is_published_in_equal_bytes(
    finished: Path, bdpbench: Run, published_once: Path
) -> None:
    files = {path.name: path.read_bytes() for path in published_once.iterdir()}
    assert set(files) == {
        "report.html",
        "metrics.parquet",
        "scorecard.json",
        "runs.parquet",
        "provenance.json",
        "README.md",
    }

    card = json.loads(files["scorecard.json"])
    # published.csv: one rate is measured, and no scenario could show the other number.
    assert card["totals"] == {"reproduced": 1, "close": 0, "not_reproduced": 0, "not_run": 1}
    assert totals_sentence(card) in files["README.md"].decode()
    assert "| Vegas | 0 | 0 | 0 | 1 |" in files["README.md"].decode()
    assert set(pl.read_parquet(files["metrics.parquet"])["run_id"]) == {
        path.name for path in (finished / "results" / "runs").glob("*/*")
    }
    scripts = re.compile(r"<script\b.*?</script>", re.DOTALL)  # they contain the words for others
    assert "no results yet" not in scripts.sub("", files["report.html"].decode())

    out = finished / "published"
    assert bdpbench("publish", "-o", str(out)).returncode == 0
    assert {path.name: path.read_bytes() for path in (out / "dumbbell").iterdir()} == files


def test_missing_runs_are_told_published_only_when_asked_for_and_completed_later(
    workspace: Path, bdpbench: Run, planned: list[Path]
) -> None:
    out = workspace / "published"
    refused = bdpbench("publish", "--allow-partial", "-o", str(out))
    assert refused.returncode == 1
    assert "3 of 3 runs have no results" in refused.stderr

    _simulate(bdpbench, planned[1:])
    refused = bdpbench("publish", "-o", str(out))
    assert refused.returncode == 1
    assert "1 of 3 runs have no results (shared: Reno" in refused.stderr
    assert "`./bdpbench run dumbbell --tier quick` simulates them" in refused.stderr
    assert not out.exists()

    done = bdpbench("publish", "--allow-partial", "-o", str(out))
    assert done.returncode == 0, done.stderr
    report = (out / "dumbbell" / "report.html").read_text()
    assert "1 of 3 planned runs has no results yet." in report
    assert "2 of 3 runs have been simulated" in (out / "dumbbell" / "README.md").read_text()

    _simulate(bdpbench, planned[:1])
    done = bdpbench("publish", "-o", str(out))
    assert done.returncode == 0, done.stderr
    report = (out / "dumbbell" / "report.html").read_text()
    assert "planned runs has no results yet" not in report
    assert "have been simulated" not in (out / "dumbbell" / "README.md").read_text()
    kept = KeptResults(out / "dumbbell").published_runs
    assert {run["run_id"] for run in kept} == {path.name for path in planned}


def test_results_of_another_study_or_build_are_not_published(finished: Path, bdpbench: Run) -> None:
    study = finished / "config" / "studies" / "dumbbell" / "study.yaml"
    text = study.read_text()
    study.write_text(text.replace("buffer_pkts: 50", "buffer_pkts: 51"))
    refused = bdpbench("publish", "-o", str(finished / "published"))
    assert refused.returncode == 1
    assert "1 of 3 runs have no results" in refused.stderr
    assert "1 of them are new or have changed since the last run" in refused.stderr

    study.write_text(text)
    plan = finished / "results" / "dumbbell" / "quick" / "plan.json"
    content = json.loads(plan.read_text())
    plan.write_text(json.dumps({**content, "ns2_build_id": "0" * 16}))
    next((finished / "results" / "runs").glob("*/*/run.json")).unlink()
    refused = bdpbench("publish", "-o", str(finished / "published"))
    assert f"ns-2 build {'0' * 16}" in refused.stderr
    assert f"now make {content['ns2_build_id']}" in refused.stderr
    assert not (finished / "published").exists()


def test_what_is_published_is_judged_and_shown_anew_without_its_runs(
    finished: Path, bdpbench: Run, published_once: Path, tmp_path: Path
) -> None:
    """If nothing changes, only the author differs; if a bound moves, so does the verdict."""
    out = tmp_path / "published"
    shutil.copytree(published_once, out / "dumbbell")
    runs = finished / "results" / "runs"
    runs.rename(runs.with_name("gone"))
    try:
        done = bdpbench("publish", "--from-kept", "-o", str(out))
        assert done.returncode == 0, done.stderr
    finally:
        runs.with_name("gone").rename(runs)
    again = {path.name: path.read_bytes() for path in (out / "dumbbell").iterdir()}
    before = {path.name: path.read_bytes() for path in published_once.iterdir()}
    assert set(again) == set(before)
    told = {"provenance.json", "README.md"}
    assert [name for name in before if name not in told and again[name] != before[name]] == []
    first = json.loads(before["provenance.json"])
    assert json.loads(again["provenance.json"]) == {**first, "measured_by": first["bdpbench"]}
    assert "were made again from the values" in again["README.md"].decode()


def test_what_is_published_is_not_taken_for_what_is_measured_otherwise(
    finished: Path, bdpbench: Run, published_once: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "published" / "dumbbell"
    shutil.copytree(published_once, folder)
    metrics = pl.read_parquet(folder / "metrics.parquet")
    metrics.with_columns(pl.lit("older/1").alias("definition")).write_parquet(
        folder / "metrics.parquet"
    )
    refused = bdpbench("publish", "--from-kept", "-o", str(folder.parent))
    assert refused.returncode == 1
    assert "metrics that are defined differently today: " in refused.stderr
    assert "publish from the runs" in refused.stderr


LATER = """\
  later:
    title: One flow, a scenario that came later
    topology: small
    parameters: {protocol: Reno, buffer_pkts: 60}
    flows:
      - {}
    tiers:
      quick: [{duration_s: 3}]
"""


def test_a_scenario_that_came_later_is_added_to_what_is_published(
    finished: Path, bdpbench: Run, published_once: Path, tmp_path: Path
) -> None:
    """What comes out is what publishing all runs gives, but for who measured them."""
    out, whole = tmp_path / "published", tmp_path / "whole"
    shutil.copytree(published_once, out / "dumbbell")
    kept = ["publish", "--from-kept", "-o", str(out)]
    assert "there is nothing to add" in bdpbench(*kept, "--add").stderr

    study = finished / "config" / "studies" / "dumbbell" / "study.yaml"
    study.write_text(study.read_text() + LATER)
    refused = bdpbench(*kept)
    assert "1 of 4 runs of the tier were never published" in refused.stderr
    refused = bdpbench(*kept, "--add")
    assert "1 of 1 runs of the scenarios to add (later) have no results" in refused.stderr
    assert "--tier quick --scenario later" in refused.stderr
    assert "never read" in bdpbench("publish", "--add", "-o", str(out)).stderr

    planned = json.loads(Path(bdpbench("plan").stdout.strip()).read_text())["runs"]
    ids = {run["scenario"]: run["run_id"] for run in planned}
    runs = finished / "results" / "runs"
    _simulate(bdpbench, [run_folder(runs, ids["later"])])
    done = bdpbench("publish", "-o", str(whole))
    assert done.returncode == 0, done.stderr

    run_folder(runs, ids["shared"]).rename(tmp_path / "gone")  # kept runs are not needed
    done = bdpbench(*kept, "--add")
    assert done.returncode == 0, done.stderr
    told = {"provenance.json", "README.md"}
    for path in (whole / "dumbbell").iterdir():
        if path.name not in told:
            assert (out / "dumbbell" / path.name).read_bytes() == path.read_bytes(), path.name
    provenance = json.loads((out / "dumbbell" / "provenance.json").read_text())
    assert provenance["added"] == [{"scenarios": ["later"], "measured_by": provenance["bdpbench"]}]
    assert "Added later, from their own runs: `later`" in (out / "dumbbell/README.md").read_text()
    # Added is as good as published: the next time it is kept.
    assert "there is nothing to add" in bdpbench(*kept, "--add").stderr
    assert bdpbench(*kept).returncode == 0
    again = json.loads((out / "dumbbell" / "provenance.json").read_text())
    assert again["added"] == provenance["added"]
