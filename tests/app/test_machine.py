"""Predictions learn how fast this machine is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.app.planned import finished_run, planned_run

from bdpbench.app.run.machine import FILE_NAME, expected_cpu_s, learn, machine_factor
from bdpbench.contracts.plan import PlannedRun


@pytest.fixture
def runs() -> list[PlannedRun]:
    return [planned_run(f"{index:016x}", estimated_cpu_s=10.0) for index in range(5)]


def finish(results: Path, run: PlannedRun, cpu_s: float | None) -> None:
    path = results / "runs" / run["run_id"] / "run.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(finished_run(run["run_id"], cpu_s=cpu_s)))


def test_the_factor_is_the_median_of_what_was_measured(
    tmp_path: Path, runs: list[PlannedRun]
) -> None:
    assert machine_factor(tmp_path) == 1.0
    for run, cpu_s in zip(runs, (20.0, 30.0, 25.0, None), strict=False):
        finish(tmp_path, run, cpu_s)
    learn(tmp_path, runs)  # one ran in a container, one did not finish
    assert machine_factor(tmp_path) == 2.5
    assert expected_cpu_s(runs, 2.5) == 125.0


def test_two_runs_are_too_few(tmp_path: Path, runs: list[PlannedRun]) -> None:
    for run in runs[:2]:
        finish(tmp_path, run, 100.0)
    learn(tmp_path, runs)
    assert machine_factor(tmp_path) == 1.0


def test_short_runs_tell_nothing(tmp_path: Path, runs: list[PlannedRun]) -> None:
    short = [planned_run(run["run_id"], estimated_cpu_s=0.1) for run in runs]
    for run in short:
        finish(tmp_path, run, 1.0)
    learn(tmp_path, short)
    assert not (tmp_path / FILE_NAME).exists()


def test_the_latest_runs_count(tmp_path: Path, runs: list[PlannedRun]) -> None:
    for run in runs:
        finish(tmp_path, run, 40.0)
    old = {"schema_version": 1, "measured_by_predicted": [1.0] * 100}
    (tmp_path / FILE_NAME).write_text(json.dumps(old))
    for _ in range(11):  # 55 of the 100 that are kept
        learn(tmp_path, runs)
    assert machine_factor(tmp_path) == 4.0


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema_version": 0}', '{"schema_version": 1}'])
def test_a_file_that_is_none_of_ours_is_no_memory(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE_NAME).write_text(text)
    assert machine_factor(tmp_path) == 1.0


def test_what_cannot_be_kept_or_read_hides_nothing(tmp_path: Path, runs: list[PlannedRun]) -> None:
    for run in runs:
        finish(tmp_path, run, 20.0)
    (tmp_path / "runs" / runs[0]["run_id"] / "run.json").write_text("{")
    (tmp_path / FILE_NAME).mkdir()  # a folder in its place: nothing can be renamed there
    learn(tmp_path, runs)
    assert machine_factor(tmp_path) == 1.0
    (tmp_path / FILE_NAME).rmdir()
    learn(tmp_path, runs)
    assert machine_factor(tmp_path) == 2.0
