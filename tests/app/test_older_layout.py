"""Results of versions that kept all runs directly in ``runs/`` are used where they are."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.app.conftest import call_bdpbench

from bdpbench.app.run.merging import merge
from bdpbench.app.run.stages import read_metrics, report_inputs
from bdpbench.contracts.paths import run_folder
from bdpbench.contracts.plan import Plan, read_plan
from bdpbench.contracts.scorecard import read_scorecard

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def runs(finished: Path) -> Path:
    """The runs of a finished study, laid out as by an older version."""
    runs = finished / "results" / "runs"
    for run in list(runs.glob("*/*")):
        run.rename(runs / run.name)
    for shard in runs.glob("??"):
        shard.rmdir()
    assert len(list(runs.glob("*/run.json"))) == 3
    return runs


def written(runs: Path) -> dict[str, int]:
    """Records of finished runs, and their modification times."""
    return {str(path.relative_to(runs)): path.stat().st_mtime_ns for path in runs.rglob("run.json")}


def plan_of(workspace: Path) -> Plan:
    return read_plan(workspace / "results" / "dumbbell" / "quick" / "plan.json")


def links_of(workspace: Path) -> dict[str, str]:
    """Run id → folder that the report links to, seen from the folder of all runs."""
    tier = workspace / "results" / "dumbbell" / "quick"
    metrics, card = read_metrics(tier / "metrics.parquet"), read_scorecard(tier / "scorecard.json")
    inputs = report_inputs(plan_of(workspace), metrics, card, workspace / "results" / "runs")
    return dict(inputs.places)


def test_nothing_is_simulated_again_and_the_report_finds_the_files(
    finished: Path, runs: Path, bdpbench: Run
) -> None:
    before = written(runs)
    again = bdpbench("run", "--backend", "native", "--json")
    assert again.returncode == 0, again.stderr
    events = [json.loads(line) for line in again.stdout.splitlines()]
    (planned,) = (each for each in events if each["event"] == "plan")
    assert (planned["runs"], planned["finished"]) == (3, 3)
    assert written(runs) == before
    assert not list(runs.glob("??"))
    assert links_of(finished) == {name.split("/")[0]: name.split("/")[0] for name in before}
    archive = finished / "kept.zip"
    done = bdpbench("archive", "--with-runs", "-o", str(archive))
    assert done.returncode == 0, done.stderr


def test_what_was_begun_goes_on_there_and_what_is_new_comes_to_its_place(
    finished: Path, runs: Path, bdpbench: Run
) -> None:
    planned = plan_of(finished)["runs"]
    begun, kept = (run["run_id"] for run in planned if run["scenario"] == "shared")
    (runs / begun / "run.json").unlink()
    (runs / begun / ".scratch").mkdir()
    before = written(runs)
    study = finished / "config" / "studies" / "dumbbell" / "study.yaml"
    shared, _, other = study.read_text().rpartition("duration_s: 20")
    study.write_text(f"{shared}duration_s: 21{other}")
    assert bdpbench("run", "--backend", "native").returncode == 0
    (new,) = (run["run_id"] for run in plan_of(finished)["runs"] if run["scenario"] == "other_rtt")
    assert new not in {run["run_id"] for run in planned}
    after = written(runs)
    assert before.items() <= after.items()
    assert set(after) - set(before) == {f"{begun}/run.json", f"{new[:2]}/{new}/run.json"}
    assert links_of(finished) == {begun: begun, kept: kept, new: f"{new[:2]}/{new}"}


def test_runs_of_both_layouts_are_found_at_any_step_of_a_move(finished: Path, runs: Path) -> None:
    """A user who moves runs by hand may stop at any time: each run is in one of two places."""
    for run in sorted(runs.glob("*/run.json")):
        place = run_folder(runs, run.parent.name)
        assert place == run.parent
        (runs / place.name[:2]).mkdir(exist_ok=True)
        place.rename(runs / place.name[:2] / place.name)
        dry = call_bdpbench(finished, "run", "--backend", "native", "--dry-run")
        assert "3 runs, 3 finished" in dry.stdout + dry.stderr


def test_merge_brings_them_to_todays_place(finished: Path, runs: Path, tmp_path: Path) -> None:
    ids = {each.name for each in runs.iterdir()}
    merge(tmp_path / "new", [finished / "results"], lambda _: None)
    assert {path.as_posix() for path in (tmp_path / "new" / "runs").glob("*/*/run.json")} == {
        f"{tmp_path}/new/runs/{each[:2]}/{each}/run.json" for each in ids
    }
    # Runs in the flat layout stay there.
    said: list[str] = []
    merge(finished / "results", [tmp_path / "new"], said.append)
    assert "0 runs taken, 3 were already there" in said[-1]
    assert not list(runs.glob("??"))
