"""Predictions learn how fast this machine is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.app.planned import finished_run, planned_run

from bdpbench.app.costs import FILE_NAME, Machine, learn
from bdpbench.contracts.paths import run_folder
from bdpbench.contracts.plan import PlannedRun
from bdpbench.studies import cost
from bdpbench.studies.cost import BATCH_S, CALL_S, REPORT_RUN_S, RUN_S, SCHEDULER_S


@pytest.fixture
def runs() -> list[PlannedRun]:
    return [planned_run(f"{index:016x}", estimated_cpu_s=10.0) for index in range(5)]


def finish(results: Path, run: PlannedRun, cpu_s: float | None) -> None:
    path = run_folder(results / "runs", run["run_id"]) / "run.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(finished_run(run["run_id"], cpu_s=cpu_s)))


def test_the_factor_is_the_median_of_what_was_measured(
    tmp_path: Path, runs: list[PlannedRun]
) -> None:
    assert Machine(tmp_path).ns2_factor == 1.0
    for run, cpu_s in zip(runs, (20.0, 30.0, 25.0, None), strict=False):
        finish(tmp_path, run, cpu_s)
    learn(tmp_path, runs, tmp_path)  # one run used a container, one did not finish
    assert Machine(tmp_path).ns2_factor == 2.5


def test_two_runs_are_too_few(tmp_path: Path, runs: list[PlannedRun]) -> None:
    for run in runs[:2]:
        finish(tmp_path, run, 100.0)
    learn(tmp_path, runs, tmp_path)
    assert Machine(tmp_path).ns2_factor == 1.0


def test_short_runs_tell_of_short_runs_alone(tmp_path: Path, runs: list[PlannedRun]) -> None:
    short = [planned_run(run["run_id"], estimated_cpu_s=0.1) for run in runs]
    for run in short:
        finish(tmp_path, run, 0.3)
    learn(tmp_path, short, tmp_path)
    machine = Machine(tmp_path)
    assert (machine.short_factor, machine.ns2_factor) == (3.0, 1.0)
    assert machine.run_cpu_s(short[0]) == pytest.approx(0.3 + RUN_S)
    assert machine.run_cpu_s(runs[0]) == pytest.approx(10 + RUN_S)


def test_the_latest_runs_count(tmp_path: Path, runs: list[PlannedRun]) -> None:
    for cpu_s, calls in ((10.0, 20), (40.0, 11)):  # the last 55 of at most 100 that are kept
        for run in runs:
            finish(tmp_path, run, cpu_s)
        for _ in range(calls):
            learn(tmp_path, runs, tmp_path)
    assert Machine(tmp_path).ns2_factor == 4.0


def test_what_batches_take_beside_ns2_is_learned_as_well(
    tmp_path: Path, runs: list[PlannedRun]
) -> None:
    before = Machine(tmp_path)
    for number in range(3):
        own_cpu_s = 3 * (BATCH_S + 40 * RUN_S)
        done = {"schema_version": 1, "simulated": 40, "own_cpu_s": own_cpu_s}
        (tmp_path / f"{number}.done").write_text(json.dumps(done))
    (tmp_path / "3.done").write_text("{")
    learn(tmp_path, [], tmp_path)
    machine = Machine(tmp_path)
    assert machine.own_factor == pytest.approx(3)
    assert machine.run_cpu_s(runs[0]) == pytest.approx(10 + 3 * RUN_S)
    assert before.run_cpu_s(runs[0]) == pytest.approx(10 + RUN_S)


def test_a_call_takes_what_all_its_parts_take(tmp_path: Path, runs: list[PlannedRun]) -> None:
    machine = Machine(tmp_path)
    work_s = 5 * (10 + RUN_S) + 3 * BATCH_S
    # Of seven runs, two have finished; the report includes them too.
    several_s = CALL_S + SCHEDULER_S + 7 * REPORT_RUN_S
    assert machine.call_cpu_s([run["estimated_cpu_s"] for run in runs], 3, 7) == pytest.approx(
        several_s + work_s
    )
    assert machine.call_wall_s(runs, 3, 7, 2) == pytest.approx(several_s + work_s / 2)
    # A single run cannot be divided among the cores.
    alone_s = CALL_S + REPORT_RUN_S + BATCH_S + 10 + RUN_S
    assert machine.call_wall_s(runs[:1], 1, 1, 8) == pytest.approx(alone_s)
    assert machine.call_wall_s([], 0, 0, 2) == pytest.approx(CALL_S)


@pytest.mark.parametrize("text", ["", "{}", "machine/3 0 0\n{}"])
def test_a_file_that_is_none_of_ours_is_no_memory(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE_NAME).write_text(text)
    assert Machine(tmp_path).ns2_factor == 1.0


def test_ratios_to_other_predictions_are_forgotten(
    tmp_path: Path, runs: list[PlannedRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    for run in runs:
        finish(tmp_path, run, 20.0)
    learn(tmp_path, runs, tmp_path)
    assert Machine(tmp_path).ns2_factor == 2.0
    changed = tmp_path / "cost.py"
    changed.write_text("COSTS = None")
    monkeypatch.setattr(cost, "__file__", str(changed))
    assert Machine(tmp_path).ns2_factor == 1.0


def test_what_cannot_be_kept_or_read_hides_nothing(tmp_path: Path, runs: list[PlannedRun]) -> None:
    for run in runs:
        finish(tmp_path, run, 20.0)
    (run_folder(tmp_path / "runs", runs[0]["run_id"]) / "run.json").write_text("{")
    (tmp_path / FILE_NAME).mkdir()  # a folder with that name, which no file can replace
    learn(tmp_path, runs, tmp_path)
    assert Machine(tmp_path).ns2_factor == 1.0
    (tmp_path / FILE_NAME).rmdir()
    learn(tmp_path, runs, tmp_path)
    assert Machine(tmp_path).ns2_factor == 2.0
