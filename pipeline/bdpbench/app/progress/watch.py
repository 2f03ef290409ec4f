"""The state of running simulations, from batches and run folders, and the time that remains."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bdpbench.contracts.paths import run_folder
from bdpbench.contracts.plan import PlannedRun, events_in
from bdpbench.simulation.ns2_process import PROGRESS_NAME

Status = Literal["running", "finished", "failed"]

# The cost model has the weight of this many seconds of observed simulation.
_TRUST_IN_ESTIMATE_S = 10.0


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
    """

    running: tuple[RunProgress, ...]
    ended: tuple[RunProgress, ...]
    total: int
    done: int
    share: float
    eta_s: float


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
        clock: wall time in s.
    """

    def __init__(
        self,
        runs_dir: Path,
        batches_dir: Path,
        runs: Sequence[PlannedRun],
        jobs: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._runs_dir = runs_dir
        self._jobs = jobs
        self._clock = clock
        self._told = {path: 0 for path in batches_dir.glob("*.json") if path.stem.isdecimal()}
        self._waiting = {run["run_id"]: run for run in runs}
        self._waiting_s = sorted(run["estimated_cpu_s"] for run in self._waiting.values())
        self._running: dict[str, RunProgress] = {}
        self._first: dict[str, _Sight] = {}
        self._total, self._total_s = len(self._waiting), sum(self._waiting_s)
        self._done, self._done_s = 0, 0.0
        # Wall time for which running simulations were watched, and the work that was done before.
        self._watched_s, self._before_s = 0.0, 0.0
        self._looked_s = clock()

    def look(self) -> Snapshot:
        """Read what was reported since the last look."""
        now_s = self._clock()
        self._watched_s += (now_s - self._looked_s) * len(self._running)
        self._looked_s = now_s
        ended = [each for path in self._told for each in self._events_of(path)]
        for run_id, last in self._running.items():
            self._running[run_id] = self._look_at(last)
        running = tuple(self._running.values())
        done_s = self._done_s + sum(each.run["estimated_cpu_s"] * each.share for each in running)
        share = done_s / self._total_s if self._total_s else 1.0
        eta_s = self._eta_s(running, done_s)
        return Snapshot(running, tuple(ended), self._total, self._done, share, eta_s)

    def _events_of(self, batch: Path) -> Iterator[RunProgress]:
        """Process the reports of a batch; returns the runs that have ended."""
        try:
            with batch.with_suffix(".told").open("rb") as stream:
                stream.seek(self._told[batch])
                text = stream.read()
        except OSError:
            return
        whole = text[: text.rfind(b"\n") + 1]
        self._told[batch] += len(whole)
        for event, run_id in events_in(whole.decode("ascii", errors="replace")):
            if event == "begun" and run_id in self._waiting:
                run = self._waiting.pop(run_id)
                self._waiting_s.pop(bisect_left(self._waiting_s, run["estimated_cpu_s"]))
                self._running[run_id] = RunProgress(run, "running")
            elif event != "begun" and run_id in self._running:
                yield self._end(self._running.pop(run_id), event)

    def _end(self, last: RunProgress, status: Literal["finished", "failed"]) -> RunProgress:
        self._done += 1
        self._done_s += last.run["estimated_cpu_s"]
        simulated_s = last.end_s if status == "finished" else last.simulated_s
        return RunProgress(last.run, status, simulated_s, last.end_s, last.rate)

    def _look_at(self, last: RunProgress) -> RunProgress:
        run = last.run
        told = simulated_time(run_folder(self._runs_dir, run["run_id"]) / PROGRESS_NAME)
        if told is None:
            return last
        now_s, end_s = told
        first = self._first.get(run["run_id"])
        # If time went back, the first observation was a leftover of a killed attempt.
        if first is None or now_s < first.simulated_s:
            before_s = first.simulated_s if first else 0.0
            self._before_s += run["estimated_cpu_s"] * min((now_s - before_s) / end_s, 1.0)
            first = self._first[run["run_id"]] = _Sight(self._clock(), now_s)
        watched_s = self._clock() - first.at_s
        rate = (now_s - first.simulated_s) / watched_s if watched_s > 0 else 0.0
        return RunProgress(run, "running", now_s, end_s, rate if rate > 0 else None)

    def _eta_s(self, running: Sequence[RunProgress], done_s: float) -> float:
        """Remaining expected CPU time, corrected by the progress observed so far."""
        seen_s = done_s - self._before_s
        slowness = (self._watched_s + _TRUST_IN_ESTIMATE_S) / (seen_s + _TRUST_IN_ESTIMATE_S)
        left_s = [each.run["estimated_cpu_s"] * (1 - each.share) for each in running]
        longest_s = max([*left_s, *self._waiting_s[-1:]], default=0.0)
        return slowness * max((self._total_s - done_s) / self._jobs, longest_s)


def simulated_time(progress: Path) -> tuple[float, float] | None:
    """Simulated time and when the simulation ends, s, as last reported by ns-2; or None."""
    try:
        now_s, end_s = (float(word) for word in progress.read_text(encoding="ascii").split())
    except (OSError, ValueError):
        return None
    return (now_s, end_s) if end_s > 0 else None
