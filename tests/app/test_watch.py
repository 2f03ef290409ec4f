"""How far the runs are follows from the files that simulations leave."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.app.planned import planned_run

from bdpbench.app.say.progress.watch import Watch, simulated_time
from bdpbench.contracts.plan import PlannedRun

START_S = 1_000_000.0


class Clock:
    """Wall time that passes when a test says so."""

    def __init__(self) -> None:
        self.now_s = START_S

    def __call__(self) -> float:
        return self.now_s


def make_run(run_id: str, estimated_cpu_s: float = 10.0) -> PlannedRun:
    return planned_run(run_id, label=f"run {run_id}", estimated_cpu_s=estimated_cpu_s)


def tell(runs: Path, run_id: str, words: str) -> None:
    (runs / run_id).mkdir(exist_ok=True)
    (runs / run_id / "progress").write_text(words)


@pytest.mark.parametrize(
    ("told", "time"),
    [("15 60\n", (15.0, 60.0)), ("", None), ("15", None), ("a b", None), ("0 0", None)],
)
def test_the_simulated_time_is_what_ns2_last_told(
    tmp_path: Path, told: str, time: tuple[float, float] | None
) -> None:
    (tmp_path / "progress").write_text(told)
    assert simulated_time(tmp_path / "progress") == time
    assert simulated_time(tmp_path / "none") is None


def test_a_run_waits_runs_and_finishes(tmp_path: Path) -> None:
    clock = Clock()
    watch = Watch(tmp_path, [make_run("a")], 1, clock)
    assert watch.look().runs[0].status == "waiting"

    tell(tmp_path, "a", "100 500\n")
    first = watch.look().runs[0]
    assert (first.status, first.share, first.rate) == ("running", 0.2, None)

    clock.now_s += 4
    tell(tmp_path, "a", "300 500\n")
    second = watch.look()
    assert second.runs[0].rate == 50.0  # 200 s simulated in 4 s
    assert second.share == 0.6

    (tmp_path / "a" / "progress").unlink()
    (tmp_path / "a" / "run.json").write_text("{}")
    last = watch.look()
    assert (last.runs[0].status, last.share, last.eta_s) == ("finished", 1.0, 0.0)


def test_an_error_counts_only_when_it_is_of_this_time(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    error = tmp_path / "a" / "error.txt"
    error.write_text("of last time")
    os.utime(error, (START_S - 60, START_S - 60))
    watch = Watch(tmp_path, [make_run("a")], 1, Clock())
    assert watch.look().runs[0].status == "waiting"
    os.utime(error, (START_S + 1, START_S + 1))
    assert watch.look().runs[0].status == "failed"


def test_the_time_left_is_the_estimate_until_something_was_seen(tmp_path: Path) -> None:
    runs = [make_run("a", 30), make_run("b", 30), make_run("c", 40)]
    # 100 s of CPU time on two cores; or one run of 40 s, which cannot be split.
    assert Watch(tmp_path, runs, 2, Clock()).look().eta_s == 50
    assert Watch(tmp_path, runs, 100, Clock()).look().eta_s == 40


def test_the_time_left_learns_from_a_slow_machine(tmp_path: Path) -> None:
    clock = Clock()
    watch = Watch(tmp_path, [make_run("a", 100), make_run("b", 100)], 1, clock)
    tell(tmp_path, "a", "0 500")
    watch.look()
    clock.now_s += 200
    tell(tmp_path, "a", "250 500")
    # 50 s of the estimate took 200 s; the estimate itself counts like 10 s that were seen:
    # (200 + 10) / (50 + 10) = 3.5 times 150 s that are left.
    assert watch.look().eta_s == pytest.approx(3.5 * 150)


def test_what_an_interrupted_workflow_left_running_is_not_taken_for_speed(tmp_path: Path) -> None:
    clock = Clock()
    tell(tmp_path, "a", "400 500")
    watch = Watch(tmp_path, [make_run("a", 100)], 1, clock)
    watch.look()
    clock.now_s += 10
    tell(tmp_path, "a", "450 500")
    # Only a tenth of the run, 10 s of the estimate, was seen: (10 + 10) / (10 + 10) = 1.
    assert watch.look().eta_s == pytest.approx(10)


def test_no_runs_are_all_done(tmp_path: Path) -> None:
    snapshot = Watch(tmp_path, [], 2, Clock()).look()
    assert (snapshot.share, snapshot.eta_s, snapshot.runs) == (1.0, 0.0, ())
