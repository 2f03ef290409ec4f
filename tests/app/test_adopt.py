"""Results with old run ids are taken over if a sample gives equal bytes, and only then."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.app.conftest import MadeOnce, call_bdpbench, write_config

from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.paths import run_folder
from bdpbench.contracts.runs import RunRecord, read_run

Run = Callable[..., "subprocess.CompletedProcess[str]"]

STUDY = Path("config", "studies", "dumbbell", "study.yaml")
SWEEP = "sweep:\n      protocol: [Reno, Vegas]"


@pytest.fixture(scope="session")
def old_once(made_once: MadeOnce, ns_binary: Path) -> Path:
    """A configuration, and its results as an older bdpbench left them.

    There are seven runs in three groups, with ids of their own.
    """

    def make(folder: Path) -> None:
        write_config(folder)
        study = folder / STUDY
        text = study.read_text()
        assert SWEEP in text
        text = text.replace(SWEEP, f"{SWEEP}\n      buffer_pkts: [25, 30, 40]")
        study.write_text(text.replace("duration_s: 20", "duration_s: 6"))
        results = folder / "results"
        assert call_bdpbench(folder, "plan", "dumbbell", "--tier", "quick").returncode == 0
        for run in sorted((results / "runs").glob("*/*")):
            done = call_bdpbench(folder, "simulate", str(run))
            assert done.returncode == 0, done.stderr
        age(results)
        results.rename(folder / "old")

    return made_once("old", make)


@pytest.fixture
def old(workspace: Path, old_once: Path) -> Path:
    """The same results, in the workspace that has their study."""
    shutil.copy(old_once / STUDY, workspace / STUDY)
    return Path(shutil.copytree(old_once / "old", workspace / "old"))


def age(folder: Path) -> None:
    """Turn results into those of version 1, whose plans and records contain no identity."""
    path = folder / "dumbbell" / "quick" / "plan.json"
    plan = json.loads(path.read_text())
    plan["schema_version"] = 1
    for run in plan["runs"]:
        new = run_folder(folder / "runs", run["run_id"])
        run["run_id"] = f"old{run['run_id'][3:]}"
        del run["identity"]
        record = json.loads((new / "run.json").read_text())
        del record["identity"]
        record |= {"schema_version": 1, "run_id": run["run_id"]}
        record["script"] = {"path": record["script"]["path"], "sha256": "0" * 64}
        record["ns2"]["build_id"] = "an-old-build"
        (new / "run.json").write_text(json.dumps(record))
        (new / "spec.json").unlink()
        new.rename(folder / "runs" / run["run_id"])
    path.write_text(json.dumps(plan))


def records(workspace: Path) -> dict[str, RunRecord]:
    """Label and scenario → record, for the finished runs with current ids."""
    plan = json.loads((workspace / "results/dumbbell/quick/plan.json").read_text())
    found = {}
    for run in plan["runs"]:
        record = read_run(run_folder(workspace / "results" / "runs", run["run_id"]))
        if record is not None:
            found[f"{run['scenario']}: {run['label']}"] = record
    return found


def taken_protocols(found: dict[str, RunRecord]) -> list[object]:
    """The protocol of each run that was taken over."""
    return [each["parameters"]["protocol"] for each in found.values() if "taken_over" in each]


def old_runs(old: Path, word: str) -> dict[str, Path]:
    """Label → folder of the old runs whose label contains a word."""
    plan = json.loads((old / "dumbbell/quick/plan.json").read_text())
    return {
        run["label"]: old / "runs" / run["run_id"]
        for run in plan["runs"]
        if run["scenario"] == "shared" and word in run["label"]
    }


def rewrite(folder: Path, file: str, text: str) -> None:
    """Make an old run look as if it had written another file, and update its record."""
    path = folder / "out" / file
    path.write_text(text)
    record: dict[str, Any] = json.loads((folder / "run.json").read_text())
    record["outputs"][f"out/{file}"] = {"sha256": sha256_of(path), "bytes": len(text)}
    (folder / "run.json").write_text(json.dumps(record))


def state(folder: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.stat().st_size)
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_equal_groups_are_taken_over_and_then_left_alone(
    old: Path, workspace: Path, bdpbench: Run
) -> None:
    before = state(old)
    done = bdpbench("adopt", str(old), "dumbbell", "--jobs", "2", "--backend", "native")
    assert done.returncode == 0, done.stdout + done.stderr
    assert state(old) == before
    found = records(workspace)
    taken = {name: record for name, record in found.items() if "taken_over" in record}
    assert len(found) == 7
    assert len(taken) == 4  # two of each three; the third and the lone run were simulated
    for name, record in taken.items():
        source = old / "runs" / record["taken_over"]["run_id"]
        theirs = json.loads((source / "run.json").read_text())
        assert record["outputs"] == theirs["outputs"]
        assert record["started"] == theirs["started"]
        assert record["ns2"]["build_id"] == record["taken_over"]["build_id"] == "an-old-build"
        folder = run_folder(workspace / "results" / "runs", record["run_id"])
        for output, facts in record["outputs"].items():
            assert sha256_of(folder / output) == facts["sha256"]
        [sample] = record["taken_over"]["sample"]
        shown = read_run(run_folder(workspace / "results" / "runs", sample))
        assert shown is not None
        assert "taken_over" not in shown
        assert shown["parameters"]["protocol"] == record["parameters"]["protocol"], name

    finished = state(workspace / "results" / "runs")
    again = bdpbench("adopt", str(old), "dumbbell", "--backend", "native")
    assert again.returncode == 0
    assert "0 taken over of 3" in again.stdout
    after = state(workspace / "results" / "runs")
    assert {name: facts for name, facts in after.items() if "/.lock" not in name} == {
        name: facts for name, facts in finished.items() if "/.lock" not in name
    }


def test_a_group_that_differs_is_told_file_by_file_and_left(
    old: Path, workspace: Path, bdpbench: Run
) -> None:
    for folder in old_runs(old, "Vegas").values():
        rewrite(folder, "queue.out", "0.10 0 0\n")
    done = bdpbench("adopt", str(old), "--sample", "1", "--backend", "native")
    assert done.returncode == 1
    assert "shared (network.tcl), Vegas: DIFFERENT, 2 runs remain" in done.stdout
    assert "out/queue.out differs" in done.stdout
    found = records(workspace)
    taken = [
        record["parameters"]["protocol"] for record in found.values() if "taken_over" in record
    ]
    assert taken == ["Reno", "Reno"]
    assert len(found) == 5


def test_a_damaged_old_file_is_told_and_its_run_left(
    old: Path, workspace: Path, bdpbench: Run
) -> None:
    for folder in old_runs(old, "Reno").values():
        with (folder / "out" / "queue.out").open("a") as stream:
            stream.write("1 1 1\n")
    shutil.rmtree(next(iter(old_runs(old, "Vegas").values())) / "out")
    done = bdpbench("adopt", str(old), "--backend", "native")
    assert done.returncode == 1
    assert "queue.out does not match its run.json" in done.stdout
    found = records(workspace)
    taken = [
        record["parameters"]["protocol"] for record in found.values() if "taken_over" in record
    ]
    assert "Reno" not in taken


def test_runs_with_other_parameters_are_no_match(old: Path, workspace: Path, bdpbench: Run) -> None:
    study = workspace / "config" / "studies" / "dumbbell" / "study.yaml"
    study.write_text(study.read_text().replace("bottleneck_mbps: 5", "bottleneck_mbps: 6"))
    done = bdpbench("adopt", str(old), "--backend", "native")
    assert done.returncode == 1
    assert "not the same run: shared: " in done.stdout
    assert "bottleneck_mbps was 5.0, is 6.0" in done.stdout
    assert records(workspace) == {}


def test_nothing_is_taken_without_a_sample(old: Path, workspace: Path, bdpbench: Run) -> None:
    done = bdpbench("adopt", str(old), "--sample", "0", "--backend", "native")
    assert done.returncode == 1
    assert "no run has shown yet that these are equal" in done.stdout
    assert records(workspace) == {}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["."], "has no plan.json"),
        (["results"], "is the folder of the current results"),
        ([".", "--sample", "some"], "'some' is neither a number of runs nor `all`"),
        (["nowhere"], "does not exist"),
    ],
)
def test_wrong_use_is_told(arguments: list[str], told: str, workspace: Path, bdpbench: Run) -> None:
    (workspace / "results").mkdir()
    done = bdpbench("adopt", str(workspace / arguments[0]), *arguments[1:])
    assert done.returncode != 0
    assert told in done.stderr
    assert "Traceback" not in done.stderr
