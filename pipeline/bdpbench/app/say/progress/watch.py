"""What the run folders tell of simulations under way, and when they will be done."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.runs import ERROR_NAME
from bdpbench.simulation.ns2_process import PROGRESS_NAME

Status = Literal["waiting", "running", "finished", "failed"]

# The cost model counts as much as this many seconds of simulations that were seen.
_TRUST_IN_ESTIMATE_S = 10.0


@dataclass(frozen=True)
class RunProgress:
    """One run as it was last seen.

    Attributes:
        simulated_s, end_s: time inside the simulation, and when that ends, s; 0: not told yet.
        watched_s: wall time since it was first seen under way, s.
        rate: simulated seconds per second of wall time while it was watched; None: not known yet.
    """

    run: PlannedRun
    status: Status = "waiting"
    simulated_s: float = 0.0
    end_s: float = 0.0
    watched_s: float = 0.0
    rate: float | None = None

    @property
    def share(self) -> float:
        """Share that is simulated, 0 … 1."""
        if self.status in ("finished", "failed"):
            return 1.0
        return min(self.simulated_s / self.end_s, 1.0) if self.end_s > 0 else 0.0


@dataclass(frozen=True)
class Snapshot:
    """All runs that are to be simulated, seen at one moment.

    Attributes:
        share: share of the expected CPU time that is done, 0 … 1.
        eta_s: wall time that the simulations still need, s.
    """

    runs: tuple[RunProgress, ...]
    share: float
    eta_s: float

    def of(self, status: Status) -> list[RunProgress]:
        """The runs of one status."""
        return [each for each in self.runs if each.status == status]


@dataclass(frozen=True)
class _Sight:
    """When a run was first seen under way, and how far it was."""

    at_s: float
    simulated_s: float


class Watch:
    """Looks at the folders of runs that are simulated by other processes.

    Args:
        runs_dir: the folder of all runs.
        runs: those that are to be simulated.
        jobs: how many are simulated at a time.
        clock: wall time in s.
    """

    def __init__(
        self,
        runs_dir: Path,
        runs: Sequence[PlannedRun],
        jobs: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._runs_dir = runs_dir
        self._jobs = jobs
        self._clock = clock
        self._began = clock()
        self._last = {run["run_id"]: RunProgress(run) for run in runs}
        self._first: dict[str, _Sight] = {}

    def look(self) -> Snapshot:
        """Read the folders of all runs that have not ended."""
        for run_id, last in self._last.items():
            if last.status in ("waiting", "running"):
                self._last[run_id] = self._look_at(last)
        runs = tuple(self._last.values())
        total_s = sum(each.run["estimated_cpu_s"] for each in runs) or 1.0
        done_s = sum(each.run["estimated_cpu_s"] * each.share for each in runs)
        return Snapshot(runs, done_s / total_s if runs else 1.0, self._eta_s(runs))

    def _look_at(self, last: RunProgress) -> RunProgress:
        run, folder = last.run, self._runs_dir / last.run["run_id"]
        watched_s = self._watched_s(run["run_id"])
        if (folder / "run.json").is_file():
            return RunProgress(run, "finished", last.end_s, last.end_s, watched_s, last.rate)
        if self._has_failed(folder / ERROR_NAME):
            return RunProgress(run, "failed", last.simulated_s, last.end_s, watched_s)
        told = simulated_time(folder / PROGRESS_NAME)
        if told is None:
            return last
        now_s, end_s = told
        first = self._first.setdefault(run["run_id"], _Sight(self._clock(), now_s))
        watched_s = self._watched_s(run["run_id"])
        rate = (now_s - first.simulated_s) / watched_s if watched_s > 0 else 0.0
        return RunProgress(run, "running", now_s, end_s, watched_s, rate if rate > 0 else None)

    def _watched_s(self, run_id: str) -> float:
        first = self._first.get(run_id)
        return self._clock() - first.at_s if first is not None else 0.0

    def _has_failed(self, error: Path) -> bool:
        # A simulation that begins removes what an earlier one left: this one says nothing yet.
        try:
            return error.stat().st_mtime >= self._began
        except OSError:
            return False

    def _eta_s(self, runs: Sequence[RunProgress]) -> float:
        """Remaining expected CPU time, corrected by what the runs seen so far took."""
        seen = [each for each in runs if each.watched_s > 0]
        expected_s = sum(each.run["estimated_cpu_s"] * self._watched_share(each) for each in seen)
        taken_s = sum(each.watched_s for each in seen)
        slowness = (taken_s + _TRUST_IN_ESTIMATE_S) / (expected_s + _TRUST_IN_ESTIMATE_S)
        left_s = [each.run["estimated_cpu_s"] * (1 - each.share) for each in runs]
        return slowness * max(sum(left_s) / self._jobs, max(left_s, default=0.0))

    def _watched_share(self, each: RunProgress) -> float:
        before_s = self._first[each.run["run_id"]].simulated_s
        return each.share - (before_s / each.end_s if each.end_s > 0 else 0.0)


def simulated_time(progress: Path) -> tuple[float, float] | None:
    """Time inside a simulation and when that ends, s, as ns-2 last told; None: it told nothing."""
    try:
        now_s, end_s = (float(word) for word in progress.read_text(encoding="ascii").split())
    except (OSError, ValueError):
        return None
    return (now_s, end_s) if end_s > 0 else None
