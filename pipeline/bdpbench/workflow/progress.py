"""How far the simulations are: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from bdpbench.model.runs import Run
from bdpbench.ns2.simulate import PROGRESS_NAME

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

PLAIN_INTERVAL_S = 10.0
_POLL_S = 0.5


def duration_text(seconds: float) -> str:
    """A duration for people: ``45 s``, ``3 min``, ``2.5 h``.

    >>> duration_text(44.6), duration_text(200), duration_text(9000)
    ('45 s', '3 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def simulated_share(run_dir: Path) -> float:
    """Share of a run that is simulated, 0 … 1, as ns-2 last told it."""
    if (run_dir / "run.json").is_file():
        return 1.0
    try:
        now, end = (run_dir / PROGRESS_NAME).read_text(encoding="ascii").split()
        return min(float(now) / float(end), 1.0)
    except (OSError, ValueError, ZeroDivisionError):
        return 0.0


class Progress:
    """Progress of the runs that are to be simulated, weighted by their expected cost."""

    interval_s = _POLL_S

    def __init__(self, runs_dir: Path, runs: Sequence[Run]) -> None:
        self._runs_dir = runs_dir
        self._runs = runs
        self._total_s = sum(run.estimated_cpu_s for run in runs) or 1.0
        self._began = time.monotonic()
        self._last_told = self._began
        self._bar: tuple[RichProgress, TaskID] | None = None

    def __enter__(self) -> Self:
        if self._runs and sys.stderr.isatty():
            self._bar = _make_bar()
            self._bar[0].start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar[0].stop()

    def update(self) -> None:
        """Look at the run folders and show what has changed."""
        shares = [simulated_share(self._runs_dir / run.run_id) for run in self._runs]
        share = sum(
            run.estimated_cpu_s * part for run, part in zip(self._runs, shares, strict=True)
        )
        share /= self._total_s
        text = self._text(shares)
        if self._bar is not None:
            self._bar[0].update(self._bar[1], completed=share, description=text)
        elif self._runs and time.monotonic() - self._last_told >= PLAIN_INTERVAL_S:
            self._last_told = time.monotonic()
            print(f"[{share:4.0%}] {text}{self._remaining(share)}", file=sys.stderr, flush=True)

    def _text(self, shares: Sequence[float]) -> str:
        done = sum(part >= 1 for part in shares)
        running = [
            f"{run.scenario} {run.label} {part:.0%}"
            for run, part in zip(self._runs, shares, strict=True)
            if 0 < part < 1
        ]
        shown = "; ".join(running[:2]) + (" …" if len(running) > 2 else "")
        return f"{done}/{len(self._runs)} runs" + (f" · {shown}" if shown else "")

    def _remaining(self, share: float) -> str:
        if not 0.02 < share < 1:
            return ""
        elapsed = time.monotonic() - self._began
        return f" · about {duration_text(elapsed * (1 - share) / share)} left"


def _make_bar() -> tuple[RichProgress, TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:3.0f}%"),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
        console=Console(stderr=True),
    )
    return bar, bar.add_task("simulating", total=1.0)
