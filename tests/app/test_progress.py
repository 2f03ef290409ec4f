"""The progress of simulations: what a watch sees of them, and what each view shows."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from tests.app.planned import planned_run

from bdpbench.app.progress import RunProgress, Snapshot, View, Watch, make_view
from bdpbench.contracts.paths import run_folder
from bdpbench.contracts.plan import PlannedRun, tell
from bdpbench.simulation.ns2_process import simulated_time


class Clock:
    """Time that passes only when a test says so."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


# ---------------------------------------------------------------- what a watch sees


def make_run(run_id: str, estimated_cpu_s: float = 10.0) -> PlannedRun:
    return planned_run(run_id, label=f"run {run_id}", estimated_cpu_s=estimated_cpu_s)


def progress(runs: Path, run_id: str, words: str) -> None:
    run_folder(runs, run_id).mkdir(parents=True, exist_ok=True)
    (run_folder(runs, run_id) / "ns.log").write_text("simtime {} of {}\n".format(*words.split()))


def watched(
    folder: Path, runs: list[PlannedRun], jobs: int, clock: Clock, factor: float = 1.0
) -> Watch:
    """A watch of the runs in ``folder``, which is also that of their batches."""
    return Watch(folder, runs, jobs, lambda run: factor * run["estimated_cpu_s"], clock)


def test_the_simulated_time_is_what_ns2_last_told(tmp_path: Path) -> None:
    assert simulated_time(tmp_path) is None
    for told in ("", "simtime 15", "simtime a of b\n", "simtime 0 of 0\n"):
        (tmp_path / "ns.log").write_text(told)
        assert simulated_time(tmp_path) is None
    (tmp_path / "ns.log").write_text("simtime 5 of 60\nsimtime 15 of 60\nan answer\n")
    assert simulated_time(tmp_path) == (15.0, 60.0)


def test_a_run_waits_runs_and_finishes(tmp_path: Path) -> None:
    clock = Clock()
    watch = watched(tmp_path, [make_run("a"), make_run("b")], 1, clock)
    assert not watch.look(tmp_path).running

    tell(tmp_path / "0000.told", "begun", "a")
    progress(tmp_path, "a", "100 500\n")
    (first,) = watch.look(tmp_path).running
    assert (first.status, first.share) == ("running", 0.2)

    clock.now_s += 4
    progress(tmp_path, "a", "300 500\n")
    second = watch.look(tmp_path)
    assert second.share == pytest.approx(0.3)  # of two runs that cost the same

    tell(tmp_path / "0000.told", "finished", "a")
    tell(tmp_path / "0000.told", "begun", "b")
    tell(tmp_path / "0000.told", "failed", "b")
    last = watch.look(tmp_path)
    assert [(each.run["run_id"], each.status) for each in last.ended] == [
        ("a", "finished"),
        ("b", "failed"),
    ]
    assert (last.total, last.done, last.share, last.eta_s) == (2, 2, 1.0, 0.0)
    assert not watch.look(tmp_path).ended


def test_a_line_counts_when_it_is_whole_and_of_a_run_that_is_waited_for(tmp_path: Path) -> None:
    watch = watched(tmp_path, [make_run("a")], 1, Clock())
    told = tmp_path / "0000.told"
    told.write_text("begun c\nfinished c\nbegun a\nfinis")
    assert [each.run["run_id"] for each in watch.look(tmp_path).running] == ["a"]
    told.write_text(told.read_text() + "hed a\n")
    assert [each.status for each in watch.look(tmp_path).ended] == ["finished"]


def test_the_time_left_is_the_estimate_until_something_was_seen(tmp_path: Path) -> None:
    runs = [make_run("a", 30), make_run("b", 30), make_run("c", 40)]
    # 100 s of CPU time on two cores, or a single run of 40 s, which cannot be split; runs of this
    # machine may have taken 0.8 times what was estimated.
    for cores, factor, eta_s in ((2, 1.0, 50), (100, 1.0, 40), (2, 0.8, 40)):
        assert watched(tmp_path, runs, cores, Clock(), factor).look(tmp_path).eta_s == eta_s
    nothing = watched(tmp_path, [], 2, Clock()).look(tmp_path)
    assert (nothing.share, nothing.eta_s, nothing.total) == (1.0, 0.0, 0)


def test_the_time_left_learns_from_a_slow_machine(tmp_path: Path) -> None:
    clock = Clock()
    watch = watched(tmp_path, [make_run("a", 100), make_run("b", 100)], 1, clock)
    tell(tmp_path / "0000.told", "begun", "a")
    progress(tmp_path, "a", "0 500")
    watch.look(tmp_path)
    clock.now_s += 200
    progress(tmp_path, "a", "250 500")
    # 50 s of the estimate took 200 s, and the estimate itself counts like 10 s of measurement:
    # (200 + 10) / (50 + 10) = 3.5 times the remaining 150 s.
    assert watch.look(tmp_path).eta_s == pytest.approx(3.5 * 150)
    clock.now_s += 200
    tell(tmp_path / "0000.told", "finished", "a")  # also where a run is too short to be seen
    assert watch.look(tmp_path).eta_s == pytest.approx((400 + 10) / (100 + 10) * 100)


# ---------------------------------------------------------------- what a view shows

FINISHED = RunProgress(planned_run("a" * 16, label="HS-TCP, 500 s"), "finished", 500, 500)
RUNNING = RunProgress(planned_run("b" * 16, label="[bold]CUBIC[/bold], 500 s"), "running", 125, 500)
SNAPSHOT = Snapshot((RUNNING,), (FINISHED,), total=2, done=1, share=0.625, eta_s=9.0)


def test_lines_tell_the_end_of_each_run_and_the_progress_every_ten_seconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = Clock()
    view = View("lines", clock)
    view.tell("plan", "two runs")
    view.ended(FINISHED)
    view.show(SNAPSHOT)
    clock.now_s = 10.0
    view.show(SNAPSHOT)
    view.show(SNAPSHOT)
    said = capsys.readouterr()
    assert said.out == "two runs\n"
    assert said.err.splitlines() == [
        "finished single_flow HS-TCP, 500 s",
        "[ 62%] 1 of 2 runs · about 9 s left · single_flow [bold]CUBIC[/bold], 500 s 25%",
    ]


def test_every_event_is_one_json_object_and_a_quiet_view_says_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    view = View("events", Clock())
    view.tell("plan", "two runs", runs=2)
    view.ended(FINISHED)
    view.show(SNAPSHOT)
    view.show(SNAPSHOT)  # no second line within the same second
    plan, ended, progress = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert plan == {"event": "plan", "runs": 2}
    assert ended["status"] == "finished"
    assert progress["share"] == 0.625
    assert progress["running"] == [{"run_id": "b" * 16, "simulated_s": 125, "end_s": 500}]
    with make_view(quiet=True) as quiet:
        quiet.tell("plan", "two runs")
        quiet.ended(FINISHED)
        quiet.show(SNAPSHOT)
    assert capsys.readouterr() == ("", "")
    assert make_view(as_json=True)._mode == "events"
    assert make_view()._mode == "lines"  # pytest's streams are not terminals


@pytest.mark.parametrize("width", [60, 120])
def test_the_live_view_draws_a_line_a_run_and_leaves_text_as_it_is(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=width, color_system=None)
    with View("bars", console=console) as view:
        view.tell("plan", "[red]two[/red] runs")
        view.ended(FINISHED)
        view.show(SNAPSHOT)
    shown = screen.getvalue()
    assert "[red]two[/red] runs" in shown
    assert "finished single_flow HS-TCP, 500 s" in shown
    assert "62 %  1 of 2 runs · about 9 s left" in shown
    assert "25 %  single_flow [bold]CUBIC[/bold]" in shown


def test_parts_have_one_progress_that_names_the_part(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Parts of 10 + 30 and 40 s, each with its own batches; on two cores at a time."""
    clock, view_clock = Clock(), Clock()
    watch = watched(tmp_path, [make_run("a", 10), make_run("b", 30), make_run("c", 40)], 2, clock)
    view = View("lines", view_clock)

    def shown(part: str) -> str:
        view_clock.now_s += 10
        watch.part = part
        (tmp_path / part).mkdir(exist_ok=True)
        view.show(watch.look(tmp_path / part))
        return capsys.readouterr().err.strip()

    assert shown("one") == "[  0%] 0 of 3 runs · one · about 40 s left"
    for run_id in ("a", "b"):
        for event in ("begun", "finished"):
            tell(tmp_path / "one" / "0000.told", event, run_id)  # type: ignore[arg-type]
    clock.now_s = 20
    assert shown("one") == "[ 50%] 2 of 3 runs · one · about 40 s left"
    (tmp_path / "two").mkdir()
    tell(tmp_path / "two" / "0000.told", "begun", "c")
    assert shown("two").startswith("[ 50%] 2 of 3 runs · two · about 40 s left · single_flow run c")
    tell(tmp_path / "two" / "0000.told", "finished", "c")
    assert shown("two") == "[100%] 3 of 3 runs · two"
