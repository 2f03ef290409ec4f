"""What the views of a run show: plain lines, events for programs, and progress bars."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console
from tests.app.planned import planned_run

from bdpbench.app.progress import (
    EventView,
    LineView,
    LiveView,
    RunProgress,
    Snapshot,
    View,
    make_view,
)
from bdpbench.contracts.plan import PlannedRun

VERDICTS = [
    {
        "id": "t1",
        "verdict": "reproduced",
        "published": 14.58,
        "measured": 14.57,
        "unit": "s",
        "page": "98",
    },
    {
        "id": "t2",
        "verdict": "not_reproduced",
        "published": 13.0,
        "measured": 13.9,
        "unit": "s",
        "page": "99",
    },
]


def make_run(run_id: str, label: str) -> PlannedRun:
    return planned_run(run_id, label=label)


FINISHED = RunProgress(make_run("a" * 16, "HS-TCP, 500 s"), "finished", 500, 500, 41.0)
RUNNING = RunProgress(make_run("b" * 16, "[bold]CUBIC[/bold], 500 s"), "running", 125, 500, 41.7)
SNAPSHOT = Snapshot((RUNNING,), (FINISHED,), total=2, done=1, share=0.625, eta_s=9.0)


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_lines_tell_the_end_of_each_run_and_the_progress_every_ten_seconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = Clock()
    view = LineView(clock)
    view.tell("plan", "two runs")
    view.ended(FINISHED, VERDICTS)
    view.show(SNAPSHOT)
    clock.now_s = 10.0
    view.show(SNAPSHOT)
    view.show(SNAPSHOT)
    said = capsys.readouterr()
    assert said.out == "two runs\n"
    assert said.err.splitlines() == [
        "finished single_flow HS-TCP, 500 s: 1 reproduced, 1 not reproduced",
        "[ 62%] 1/2 runs · single_flow [bold]CUBIC[/bold], 500 s 25% · about 9 s left",
    ]


def test_every_event_is_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    view = EventView(Clock())
    view.tell("plan", "two runs", runs=2)
    view.ended(FINISHED, VERDICTS)
    view.show(SNAPSHOT)
    view.show(SNAPSHOT)  # no second line within the same second
    plan, ended, progress = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert plan == {"event": "plan", "runs": 2}
    assert ended["status"] == "finished"
    assert ended["verdicts"][1] == {
        "id": "t2",
        "verdict": "not_reproduced",
        "published": 13.0,
        "measured": 13.9,
        "unit": "s",
    }
    assert progress["share"] == 0.625
    assert progress["running"] == [
        {"run_id": "b" * 16, "simulated_s": 125, "end_s": 500, "rate": 41.7}
    ]


@pytest.mark.parametrize("width", [60, 120])
def test_the_live_view_draws_a_line_a_run_and_leaves_text_as_it_is(width: int) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=width, color_system=None)
    with LiveView(console) as view:
        view.tell("plan", "[red]two[/red] runs")
        view.ended(FINISHED, VERDICTS)
        view.show(SNAPSHOT)
    shown = screen.getvalue()
    assert "[red]two[/red] runs" in shown
    assert "✓ single_flow  HS-TCP, 500 s" in shown
    assert "single_flow  " in shown.split("✓")[1].split("\n")[1]
    assert "125 of 500 s" in shown
    assert "41.7 s/s" in shown
    assert "1 of 2 runs, about 9 s left" in shown


def test_a_quiet_view_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with make_view(quiet=True) as view:
        assert type(view) is View
        view.tell("plan", "two runs")
        view.ended(FINISHED, VERDICTS)
        view.show(SNAPSHOT)
    assert capsys.readouterr() == ("", "")


def test_the_view_follows_the_options_and_the_terminal() -> None:
    assert isinstance(make_view(as_json=True), EventView)
    assert isinstance(make_view(), LineView)  # pytest's streams are not terminals
