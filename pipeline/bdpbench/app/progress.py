"""The progress of the simulations: how it is observed, and how it is shown.

``Watch`` observes batches and run folders; a ``View`` shows what it finds: live on a terminal, as
plain lines elsewhere, as JSON for programs, or not at all.
"""

from __future__ import annotations

import json
import sys
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from bdpbench.contracts.paths import run_folder
from bdpbench.contracts.plan import PlannedRun, events_in
from bdpbench.contracts.scorecard import NUMBER_VERDICTS, NumberVerdict, ScoredNumber
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.ns2_process import PROGRESS_NAME, simulated_time

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table

EVENT_INTERVAL_S = 1.0
LINE_INTERVAL_S = 10.0

# The cost model has the weight of this many seconds of observed simulation.
_TRUST_IN_ESTIMATE_S = 10.0
_MARKS = {"finished": ("✓", "green"), "failed": ("✗", "red")}
_BAR_WIDTH = 16

Status = Literal["running", "finished", "failed"]


@dataclass(frozen=True)
class RunProgress:
    """The last known state of a run.

    Attributes:
        simulated_s, end_s: simulated time, and when the simulation ends, s; 0: not yet known.
        rate: simulated seconds per second of wall time while it was watched; None: not yet known.
    """

    run: PlannedRun
    status: Status = "running"
    simulated_s: float = 0.0
    end_s: float = 0.0
    rate: float | None = None

    @property
    def share(self) -> float:
        """Simulated share, 0 … 1."""
        if self.status in ("finished", "failed"):
            return 1.0
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
        """How many runs have ended, and of which part others run."""
        counts = f"{self.done} of {self.total} runs"
        return f"{counts} · {self.part}" if self.part else counts


@dataclass(frozen=True)
class _Sight:
    """When a run was first seen running, and how far it was."""

    at_s: float
    simulated_s: float


class Watch:
    """Follows the reports of batches about their runs, and the simulated time of running ones.

    The cost of a look depends on the numbers of batches and of running simulations, not on that of
    all runs.

    Args:
        runs_dir: the folder of all runs.
        batches_dir: the folder of the batches, which was emptied before they began.
        runs: the runs to simulate.
        jobs: how many are simulated at a time.
        cost_s: CPU time that a run is expected to take here, s.
        clock: wall time in s.
    """

    def __init__(
        self,
        runs_dir: Path,
        batches_dir: Path,
        runs: Sequence[PlannedRun],
        jobs: int,
        cost_s: Callable[[PlannedRun], float],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._runs_dir = runs_dir
        self._jobs, self._cost_s = jobs, cost_s
        self._clock = clock
        self._read_bytes = {path: 0 for path in batches_dir.glob("*.json") if path.stem.isdecimal()}
        self._waiting = {run["run_id"]: run for run in runs}
        self._waiting_s = sorted(map(cost_s, self._waiting.values()))
        self._running: dict[str, RunProgress] = {}
        self._first: dict[str, _Sight] = {}
        self._total, self._total_s = len(self._waiting), sum(self._waiting_s)
        self._done, self._done_s = 0, 0.0
        # Wall time in which the work was done that was seen, and the work that was done before.
        self._watched_s, self._before_s = 0.0, 0.0
        # Wall time since the last report of each running simulation, which counts with the next
        # one: a run that draws connections for a minute before it begins is not slow.
        self._silent_s: dict[str, float] = {}
        self._looked_s = clock()

    def look(self) -> Snapshot:
        """Read what was reported since the last look."""
        now_s = self._clock()
        for run_id in self._running:
            self._silent_s[run_id] = self._silent_s.get(run_id, 0.0) + now_s - self._looked_s
        self._looked_s = now_s
        ended = [each for path in self._read_bytes for each in self._events_of(path)]
        for run_id, last in self._running.items():
            self._running[run_id] = self._look_at(last)
        running = tuple(self._running.values())
        done_s = self._done_s + sum(self._cost_s(each.run) * each.share for each in running)
        share = done_s / self._total_s if self._total_s else 1.0
        eta_s = self._eta_s(running, done_s)
        return Snapshot(running, tuple(ended), self._total, self._done, share, eta_s)

    def _events_of(self, batch: Path) -> Iterator[RunProgress]:
        """Process the reports of a batch; returns the runs that have ended."""
        try:
            with batch.with_suffix(".told").open("rb") as stream:
                stream.seek(self._read_bytes[batch])
                text = stream.read()
        except OSError:
            return
        whole = text[: text.rfind(b"\n") + 1]
        self._read_bytes[batch] += len(whole)
        for event, run_id in events_in(whole.decode("ascii", errors="replace")):
            if event == "begun" and run_id in self._waiting:
                run = self._waiting.pop(run_id)
                self._waiting_s.pop(bisect_left(self._waiting_s, self._cost_s(run)))
                self._running[run_id] = RunProgress(run, "running")
            elif event != "begun" and run_id in self._running:
                yield self._end(self._running.pop(run_id), event)

    def _end(self, last: RunProgress, status: Literal["finished", "failed"]) -> RunProgress:
        self._done += 1
        self._done_s += self._cost_s(last.run)
        self._watched_s += self._silent_s.pop(last.run["run_id"], 0.0)
        simulated_s = last.end_s if status == "finished" else last.simulated_s
        return RunProgress(last.run, status, simulated_s, last.end_s, last.rate)

    def _look_at(self, last: RunProgress) -> RunProgress:
        run = last.run
        reported = simulated_time(run_folder(self._runs_dir, run["run_id"]) / PROGRESS_NAME)
        if reported is None:
            return last
        now_s, end_s = reported
        first = self._first.get(run["run_id"])
        # If time went back, the first observation was a leftover of a killed attempt.
        if first is None or now_s < first.simulated_s:
            before_s = first.simulated_s if first else 0.0
            self._before_s += self._cost_s(run) * min((now_s - before_s) / end_s, 1.0)
            first = self._first[run["run_id"]] = _Sight(self._clock(), now_s)
            self._silent_s[run["run_id"]] = 0.0
        elif now_s > last.simulated_s:
            self._watched_s += self._silent_s.pop(run["run_id"], 0.0)
        watched_s = self._clock() - first.at_s
        rate = (now_s - first.simulated_s) / watched_s if watched_s > 0 else 0.0
        return RunProgress(run, "running", now_s, end_s, rate if rate > 0 else None)

    def _eta_s(self, running: Sequence[RunProgress], done_s: float) -> float:
        """Remaining expected CPU time, corrected by the progress observed so far."""
        seen_s = done_s - self._before_s
        slowness = (self._watched_s + _TRUST_IN_ESTIMATE_S) / (seen_s + _TRUST_IN_ESTIMATE_S)
        left_s = [self._cost_s(each.run) * (1 - each.share) for each in running]
        longest_s = max([*left_s, *self._waiting_s[-1:]], default=0.0)
        return slowness * max((self._total_s - done_s) / self._jobs, longest_s)


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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
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
    are several, and run_id, simulated_s, end_s and rate of each running simulation. ``run_ended``:
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
        running = [
            {
                "run_id": each.run["run_id"],
                "simulated_s": each.simulated_s,
                "end_s": each.end_s,
                "rate": each.rate,
            }
            for each in snapshot.running
        ]
        part = {"part": snapshot.part} if snapshot.part else {}
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
        words = [f"[{snapshot.share:4.0%}] {snapshot.words}"]
        running = [f"{each.name} {each.share:.0%}" for each in snapshot.running]
        if running:
            words.append("; ".join(running))
        if snapshot.share < 1:
            words.append(f"about {duration_text(snapshot.eta_s)} left")
        print(" · ".join(words), file=sys.stderr, flush=True)

    def ended(self, run: RunProgress, verdicts: Sequence[ScoredNumber]) -> None:
        """Print the run and its verdicts on standard error."""
        words = verdict_words([each["verdict"] for each in verdicts])
        text = f"{run.status} {run.name}{': ' if words else ''}{words}"
        print(text, file=sys.stderr, flush=True)


class LiveView(View):
    """A live view for a terminal: a bar for all runs, and a line for each running simulation.

    Messages scroll by above; the bars stay below them until the command ends. rich is imported
    here, because only this view needs it.
    """

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console

        self._console = console or Console(highlight=False)
        self._live: Live | None = None

    def close(self) -> None:
        """Remove the bars."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def tell(self, event: str, text: str, **facts: object) -> None:
        """Print the text above the bars."""
        from rich.text import Text

        self._console.print(Text(text))

    def show(self, snapshot: Snapshot) -> None:
        """Redraw the bars."""
        from rich.console import Group
        from rich.live import Live

        if not snapshot.total:
            return
        if self._live is None:
            self._live = Live(console=self._console, refresh_per_second=4, transient=True)
            self._live.start()
        self._live.update(Group(_running_table(snapshot), _overall(snapshot)))

    def ended(self, run: RunProgress, verdicts: Sequence[ScoredNumber]) -> None:
        """Print the run and its verdicts above the bars."""
        from rich.text import Text

        mark, style = _MARKS[run.status]
        line = Text.assemble((f"{mark} ", style), f"{run.run['scenario']}  {run.run['label']}")
        if verdicts:
            words = verdict_words([each["verdict"] for each in verdicts])
            line.append(f"  {words}", style="dim")
        self._console.print(line)


class PartsView(View):
    """Shows the runs of several parts, which are simulated one after another, as one progress.

    Args:
        view: shows it.
        parts: name → the runs that it lacks; a run of two parts is simulated for the first of them.
        jobs: how many are simulated at a time.
        cost_s: CPU time that a run is expected to take here, s.
    """

    def __init__(
        self,
        view: View,
        parts: Mapping[str, Sequence[PlannedRun]],
        jobs: int,
        cost_s: Callable[[PlannedRun], float],
    ) -> None:
        self._view, self._jobs = view, jobs
        self._costs_s = {
            name: {run["run_id"]: cost_s(run) for run in runs} for name, runs in parts.items()
        }
        self._part, self._part_s = "", 0.0
        self._later_s: dict[str, float] = {}
        self._done, self._done_s, self._shown = 0, 0.0, 0

    def begin(self, part: str) -> None:
        """Say that the next runs are those of this part."""
        self._done, self._shown = self._done + self._shown, 0
        self._done_s += self._part_s
        own = self._costs_s.pop(part)
        self._part, self._part_s = part, sum(own.values())
        others = self._costs_s.values()
        for costs in others:
            for run in own.keys() & costs.keys():
                del costs[run]
        self._later_s = {run: cost for costs in others for run, cost in costs.items()}

    def tell(self, event: str, text: str, **facts: object) -> None:
        """Report an event."""
        self._view.tell(event, text, **facts)

    def show(self, snapshot: Snapshot) -> None:
        """Show the progress of the present part as that of all."""
        self._shown = snapshot.done
        left_s = sum(self._later_s.values())
        done_s = self._done_s + snapshot.share * self._part_s
        whole_s = self._done_s + self._part_s + left_s
        self._view.show(
            replace(
                snapshot,
                total=self._done + snapshot.total + len(self._later_s),
                done=self._done + snapshot.done,
                share=done_s / whole_s if whole_s else 1.0,
                eta_s=snapshot.eta_s + left_s / self._jobs,
                part=self._part,
            )
        )

    def ended(self, run: RunProgress, verdicts: Sequence[ScoredNumber]) -> None:
        """A run has finished or failed."""
        self._view.ended(run, verdicts)


def _running_table(snapshot: Snapshot) -> Table:
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    table.add_column(no_wrap=True, min_width=_BAR_WIDTH)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    table.add_column(justify="right", no_wrap=True, min_width=12)
    table.add_column(justify="right", no_wrap=True, min_width=8, style="dim")
    for each in snapshot.running:
        rate = f"{each.rate:.1f} s/s" if each.rate is not None else ""
        table.add_row(
            ProgressBar(total=1.0, completed=each.share, width=_BAR_WIDTH),
            Text(f"{each.run['scenario']}  {each.run['label']}"),
            f"{each.simulated_s:.0f} of {each.end_s:.0f} s",
            rate,
        )
    return table


def _overall(snapshot: Snapshot) -> Table:
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    if snapshot.done < snapshot.total:
        words = f"{snapshot.words} · about {duration_text(snapshot.eta_s)} left"
    else:
        words = f"{snapshot.words} · measuring, and writing the report"
    line = Table.grid(padding=(0, 2, 0, 0))
    bar = ProgressBar(total=1.0, completed=snapshot.share, width=_BAR_WIDTH)
    line.add_row(bar, Text(f"{snapshot.share:4.0%}  {words}", style="bold"))
    return line


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
