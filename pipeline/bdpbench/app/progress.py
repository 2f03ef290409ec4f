"""The progress of the simulations: how it is observed, and how it is shown.

``Watch`` observes batches and run folders; a ``View`` shows what it finds: live on a terminal, as
plain lines elsewhere, as JSON for programs, or not at all.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from bdpbench.contracts.paths import run_folder
from bdpbench.contracts.plan import PlannedRun, events_in
from bdpbench.contracts.scorecard import NUMBER_VERDICTS, NumberVerdict, ScoredNumber
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.ns2_process import simulated_time

if TYPE_CHECKING:
    from rich.console import Console

EVENT_INTERVAL_S = 1.0
LINE_INTERVAL_S = 10.0

# The expected time has the weight of this many seconds of simulation.
_TRUST_IN_ESTIMATE_S = 10.0
_MARKS = {"finished": ("✓", "green"), "failed": ("✗", "red")}
_BAR_WIDTH = 16

Status = Literal["running", "finished", "failed"]


@dataclass(frozen=True)
class RunProgress:
    """The last known state of a run.

    Attributes:
        simulated_s, end_s: simulated time, and when the simulation ends, s; 0: not yet known.
    """

    run: PlannedRun
    status: Status = "running"
    simulated_s: float = 0.0
    end_s: float = 0.0

    @property
    def share(self) -> float:
        """Simulated share, 0 … 1."""
        return min(self.simulated_s / self.end_s, 1.0) if self.end_s > 0 else 0.0

    @property
    def name(self) -> str:
        """The name of the run in a line."""
        return f"{self.run['scenario']} {self.run['label']}"


@dataclass(frozen=True)
class Snapshot:
    """The state of all runs to simulate at one time.

    Attributes:
        running: the running simulations, in the order in which they began.
        ended: runs that have finished or failed since the last look.
        total: number of runs.
        done: number of runs that have finished or failed so far.
        share: share of the expected CPU time that is done, 0 … 1.
        eta_s: wall time that the simulations still need, s.
        part: what is simulated now, if the runs belong to several parts.
    """

    running: tuple[RunProgress, ...]
    ended: tuple[RunProgress, ...]
    total: int
    done: int
    share: float
    eta_s: float
    part: str = ""

    @property
    def words(self) -> str:
        """How many runs have ended, of which part others run, and how long the rest takes."""
        counts = f"{self.done} of {self.total} runs"
        left = f"about {duration_text(self.eta_s)} left" if self.done < self.total else ""
        return " · ".join(filter(None, (counts, self.part, left)))


class Watch:
    """Follows the reports of batches about their runs, and the simulated time of running ones.

    Args:
        runs_dir: the folder of all runs.
        runs: the runs to simulate.
        jobs: how many are simulated at a time.
        cost_s: CPU time that a run is expected to take, s.
        clock: wall time in s.

    Attributes:
        part: what is simulated now, if the runs belong to several parts.
    """

    def __init__(
        self,
        runs_dir: Path,
        runs: Sequence[PlannedRun],
        jobs: int,
        cost_s: Callable[[PlannedRun], float],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.part = ""
        self._runs_dir, self._jobs, self._clock = runs_dir, jobs, clock
        self._left = {run["run_id"]: run for run in runs}
        self._costs_s = {run_id: cost_s(run) for run_id, run in self._left.items()}
        self._running: dict[str, RunProgress] = {}
        self._read: dict[Path, int] = {}
        self._began_s = clock()

    def look(self, batches_dir: Path) -> Snapshot:
        """Read what was reported since the last look.

        Args:
            batches_dir: the folder of the present batches, which was emptied before they began.
        """
        ended = tuple(each for path in batches_dir.glob("*.told") for each in self._events_of(path))
        for run_id, last in self._running.items():
            told = simulated_time(run_folder(self._runs_dir, run_id))
            if told is not None:
                self._running[run_id] = replace(last, simulated_s=told[0], end_s=told[1])
        running = tuple(self._running.values())
        left_s = {run_id: self._costs_s[run_id] for run_id in self._left}
        for each in running:
            left_s[each.run["run_id"]] *= 1 - each.share
        total_s, rest_s = sum(self._costs_s.values()), sum(left_s.values())
        done_s = (total_s - rest_s) / self._jobs
        took_s = self._clock() - self._began_s
        slowness = (took_s + _TRUST_IN_ESTIMATE_S) / (done_s + _TRUST_IN_ESTIMATE_S)
        eta_s = slowness * max(rest_s / self._jobs, max(left_s.values(), default=0.0))
        total = len(self._costs_s)
        share = 1 - rest_s / total_s if total_s else 1.0
        return Snapshot(running, ended, total, total - len(self._left), share, eta_s, self.part)

    def _events_of(self, told: Path) -> Iterator[RunProgress]:
        """Process the new reports of a batch; returns the runs that have ended."""
        text = ""
        with suppress(OSError):
            text = told.read_text(encoding="ascii", errors="replace")
        events = list(events_in(text))
        new = events[self._read.get(told, 0) :]
        self._read[told] = len(events)
        for event, run_id in new:
            if event == "begun" and run_id in self._left:
                self._running[run_id] = RunProgress(self._left[run_id])
            elif event != "begun" and run_id in self._running:
                del self._left[run_id]
                yield replace(self._running.pop(run_id), status=event)


# ----------------------------------------------------------------------------------- views


def make_view(*, quiet: bool = False, as_json: bool = False) -> View:
    """The requested view; by default a live one on a terminal, and plain lines elsewhere.

    Raises:
        BdpbenchError: when both are asked for.
    """
    if quiet and as_json:
        raise BdpbenchError("--quiet and --json contradict each other", hint="give one of them")
    if quiet:
        return View()
    if as_json:
        return EventView()
    return LiveView() if sys.stderr.isatty() and sys.stdout.isatty() else LineView()


class View:
    """A view that shows nothing: `--quiet`, and the base of the others."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Leave the terminal as it was."""

    def tell(self, event: str, text: str, **facts: object) -> None:
        """Report an event: ``text`` is for readers, ``event`` and ``facts`` are for programs."""

    def show(self, snapshot: Snapshot) -> None:
        """Show the progress of all runs."""

    def ended(self, run: RunProgress, verdicts: Sequence[ScoredNumber]) -> None:
        """A run has finished or failed; ``verdicts`` are of numbers that it alone decides."""


class EventView(View):
    """One JSON object per line on standard output, for programs: `--json`.

    Each object has the key ``event``; times are in s. ``progress``: share, eta_s, the part if there
    are several, and run_id, simulated_s and end_s of each running simulation. ``run_ended``:
    run_id, scenario, label, status, verdicts (id, verdict, published, measured, unit). All other
    events give, as data, what the command otherwise prints as text.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._shown_s = float("-inf")

    def tell(self, event: str, text: str, **facts: object) -> None:
        """Print an event with its facts."""
        print(json.dumps({"event": event, **facts}, ensure_ascii=False), flush=True)

    def show(self, snapshot: Snapshot) -> None:
        """Print ``progress``, at most once a second."""
        if not snapshot.total or self._clock() - self._shown_s < EVENT_INTERVAL_S:
            return
        self._shown_s = self._clock()
        part = {"part": snapshot.part} if snapshot.part else {}
        running = [
            {"run_id": each.run["run_id"], "simulated_s": each.simulated_s, "end_s": each.end_s}
            for each in snapshot.running
        ]
        told = {"share": snapshot.share, "eta_s": snapshot.eta_s, **part, "running": running}
        self.tell("progress", "", **told)

    def ended(self, run: RunProgress, verdicts: Sequence[ScoredNumber]) -> None:
        """Print ``run_ended``."""
        shown = ("id", "verdict", "published", "measured", "unit")
        self.tell(
            "run_ended",
            "",
            run_id=run.run["run_id"],
            scenario=run.run["scenario"],
            label=run.run["label"],
            status=run.status,
            verdicts=[
                {key: value for key, value in each.items() if key in shown} for each in verdicts
            ],
        )


class LineView(View):
    """Plain lines, for logs and pipes: each run as it ends, and at intervals the overall progress.

    Messages go to standard output, the progress to standard error.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._shown_s = clock()

    def tell(self, event: str, text: str, **facts: object) -> None:
        """Print the text on standard output."""
        print(text, flush=True)

    def show(self, snapshot: Snapshot) -> None:
        """Print a line on standard error, at most every ten seconds."""
        if not snapshot.total or self._clock() - self._shown_s < LINE_INTERVAL_S:
            return
        self._shown_s = self._clock()
        running = "; ".join(f"{each.name} {each.share:.0%}" for each in snapshot.running)
        words = " · ".join(filter(None, (snapshot.words, running)))
        print(f"[{snapshot.share:4.0%}] {words}", file=sys.stderr, flush=True)

    def ended(self, run: RunProgress, verdicts: Sequence[ScoredNumber]) -> None:
        """Print the run and its verdicts on standard error."""
        words = verdict_words([each["verdict"] for each in verdicts])
        text = f"{run.status} {run.name}{': ' if words else ''}{words}"
        print(text, file=sys.stderr, flush=True)


class LiveView(View):
    """A live view for a terminal: a bar for all runs, and one for each running simulation.

    Messages scroll by above; the bars stay below them until the command ends. rich is imported
    here, because only this view needs it.
    """

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn
        from rich.table import Column

        text = "{task.percentage:3.0f} %  {task.description}"
        in_a_line = Column(no_wrap=True, overflow="ellipsis")
        self._bars = Progress(
            BarColumn(_BAR_WIDTH),
            TextColumn(text, markup=False, table_column=in_a_line),
            console=console or Console(highlight=False),
            transient=True,
        )
        self._all = self._bars.add_task("", total=1.0, visible=False)

    def __exit__(self, *error: object) -> None:
        """Remove the bars."""
        self._bars.stop()

    def tell(self, event: str, text: str, **facts: object) -> None:
        """Print the text above the bars."""
        from rich.text import Text

        self._bars.console.print(Text(text))

    def show(self, snapshot: Snapshot) -> None:
        """Redraw the bars."""
        if not snapshot.total:
            return
        rest = "" if snapshot.done < snapshot.total else " · measuring, and writing the report"
        words = f"{snapshot.words}{rest}"
        self._bars.update(self._all, completed=snapshot.share, description=words, visible=True)
        for task in self._bars.task_ids:
            if task != self._all:
                self._bars.remove_task(task)
        for each in snapshot.running:
            words = f"{each.name}, {each.simulated_s:.0f} of {each.end_s:.0f} s"
            self._bars.update(self._bars.add_task(words, total=1.0), completed=each.share)
        self._bars.start()

    def ended(self, run: RunProgress, verdicts: Sequence[ScoredNumber]) -> None:
        """Print the run and its verdicts above the bars."""
        from rich.text import Text

        mark, style = _MARKS[run.status]
        words = verdict_words([each["verdict"] for each in verdicts])
        parts = ((f"{mark} ", style), f"{run.name}  ", (words, "dim"))
        self._bars.console.print(Text.assemble(*parts))


def verdict_words(verdicts: Sequence[NumberVerdict]) -> str:
    """The number of each verdict: ``3 reproduced, 1 close``.

    >>> verdict_words(["close", "not_reproduced", "close"])
    '2 close, 1 not reproduced'
    """
    return ", ".join(
        f"{verdicts.count(kind)} {kind.replace('_', ' ')}"
        for kind in NUMBER_VERDICTS
        if kind in verdicts and kind != "not_run"
    )


def duration_text(seconds: float) -> str:
    """A duration in readable units: ``45 s``, ``3 min``, ``2.5 h``.

    >>> duration_text(44.6), duration_text(200), duration_text(9000)
    ('45 s', '3 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
