"""The progress of the simulations: how it is observed, and how it is shown.

``Watch`` observes batches and run folders; a ``View`` shows what it finds: as bars on a terminal,
as plain lines elsewhere, as JSON for programs, or not at all.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, TextIO

from bdpbench.contracts.paths import run_folder
from bdpbench.contracts.plan import PlannedRun, RunEvent, events_in
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.ns2_process import simulated_time

if TYPE_CHECKING:
    from rich.console import Console

LINE_INTERVAL_S = 10.0

# The expected time has the weight of this many seconds of simulation.
_TRUST_IN_ESTIMATE_S = 10.0
_BAR_WIDTH = 16


@dataclass(frozen=True)
class RunProgress:
    """The last known state of a run; its times are simulated ones, 0 while they are not known."""

    run: PlannedRun
    status: Literal["running", "finished", "failed"] = "running"
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
        ended: runs that have finished or failed since the last look; ``done`` counts all of them.
        share: share of the expected CPU time that is done, 0 … 1.
        eta_s: wall time that the simulations still need, s.
        part: what is simulated now, if the runs belong to several parts.
    """

    running: Sequence[RunProgress]
    ended: Sequence[RunProgress]
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
        self._reached_s: dict[str, tuple[float, float]] = {}
        self._began_s = clock()

    def look(self, batches_dir: Path) -> Snapshot:
        """Read what was reported since the last look in the folder of the present batches."""
        status: dict[str, RunEvent] = {}
        for path in batches_dir.glob("*.told"):
            with suppress(OSError):
                text = path.read_text(encoding="ascii", errors="replace")
                status |= {run_id: event for event, run_id in events_in(text)}
        running, ended = [], []
        for run_id, run in list(self._left.items()):
            event = status.get(run_id)
            if event == "begun":
                reached = simulated_time(run_folder(self._runs_dir, run_id))
                if reached is not None:  # it is being written otherwise
                    self._reached_s[run_id] = reached
                running.append(RunProgress(run, "running", *self._reached_s.get(run_id, ())))
            elif event is not None:
                ended.append(RunProgress(self._left.pop(run_id), event))
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


Mode = Literal["quiet", "events", "lines", "bars"]
_INTERVALS_S: dict[Mode, float] = {"events": 1.0, "lines": LINE_INTERVAL_S}


def make_view(*, quiet: bool = False, as_json: bool = False) -> View:
    """The requested view; by default bars on a terminal, and plain lines elsewhere.

    Raises:
        BdpbenchError: when both are asked for.
    """
    if quiet and as_json:
        raise BdpbenchError("--quiet and --json contradict each other", hint="give one of them")
    if quiet or as_json:
        return View("quiet" if quiet else "events")
    return View("bars" if sys.stderr.isatty() and sys.stdout.isatty() else "lines")


class View:
    """Shows the progress in one of these ways.

    quiet: `--quiet`, nothing.

    events: `--json`, one object per line on standard output. Each has the key ``event``; times are
    in s. ``progress``, at most once a second: share, eta_s, the part if there are several, and
    run_id, simulated_s and end_s of each running simulation. ``run_ended``: run_id, scenario,
    label, status. All other events give, as data, what the command otherwise prints as text.

    lines: for logs and pipes, messages on standard output; on standard error each run as it ends,
    and every ten seconds the overall progress.

    bars: for a terminal, a bar for all runs and one for each running one, below the messages.
    """

    def __init__(
        self,
        mode: Mode,
        clock: Callable[[], float] = time.monotonic,
        console: Console | None = None,
    ) -> None:
        self._mode, self._clock = mode, clock
        self._shown_s = clock() if mode == "lines" else float("-inf")
        if mode == "bars":
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn
            from rich.table import Column

            line = Column(no_wrap=True, overflow="ellipsis")
            text = "{task.percentage:3.0f} %  {task.description}"
            columns = BarColumn(_BAR_WIDTH), TextColumn(text, markup=False, table_column=line)
            console = console or Console(highlight=False)
            self._bars = Progress(*columns, console=console, transient=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Leave the terminal as it was."""
        if self._mode == "bars":
            self._bars.stop()

    def tell(self, event: str, text: str, **facts: object) -> None:
        """Report an event: ``text`` is for readers, ``event`` and ``facts`` are for programs."""
        if self._mode == "events":
            print(json.dumps({"event": event, **facts}, ensure_ascii=False), flush=True)
        else:
            self._print(text, sys.stdout)

    def _print(self, text: str, stream: TextIO) -> None:
        """Print a line: above the bars, or to a stream."""
        if self._mode == "bars":
            self._bars.console.print(text, markup=False)
        elif self._mode == "lines":
            print(text, file=stream, flush=True)

    def show(self, snapshot: Snapshot) -> None:
        """Show the progress of all runs."""
        now_s = self._clock()
        if not snapshot.total or now_s - self._shown_s < _INTERVALS_S.get(self._mode, 0.0):
            return
        self._shown_s = now_s
        if self._mode == "events":
            part = {"part": snapshot.part} if snapshot.part else {}
            running = [
                {"run_id": each.run["run_id"], "simulated_s": each.simulated_s, "end_s": each.end_s}
                for each in snapshot.running
            ]
            told = {"share": snapshot.share, "eta_s": snapshot.eta_s, **part, "running": running}
            self.tell("progress", "", **told)
        elif self._mode == "lines":
            shares = "; ".join(f"{each.name} {each.share:.0%}" for each in snapshot.running)
            words = " · ".join(filter(None, (snapshot.words, shares)))
            self._print(f"[{snapshot.share:4.0%}] {words}", sys.stderr)
        elif self._mode == "bars":
            rest = "" if snapshot.done < snapshot.total else " · measuring, and writing the report"
            bars = [(f"{snapshot.words}{rest}", snapshot.share)]
            for each in snapshot.running:
                words = f"{each.name}, {each.simulated_s:.0f} of {each.end_s:.0f} s"
                bars.append((words, each.share))
            for task in self._bars.task_ids:
                self._bars.remove_task(task)
            for words, share in bars:
                self._bars.add_task(words, total=100, completed=round(100 * share))
            self._bars.start()

    def ended(self, ended: RunProgress) -> None:
        """A run has finished or failed."""
        if self._mode == "events":
            run = {key: ended.run[key] for key in ("run_id", "scenario", "label")}
            self.tell("run_ended", "", **run, status=ended.status)
        else:
            self._print(f"{ended.status} {ended.name}", sys.stderr)


def duration_text(seconds: float) -> str:
    """A duration in readable units: ``45 s``, ``3 min``, ``2.5 h``.

    >>> duration_text(44.6), duration_text(200), duration_text(9000)
    ('45 s', '3 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
