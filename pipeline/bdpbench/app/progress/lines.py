"""Plain lines, for logs and pipes: each run as it ends, and at intervals the overall progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

from bdpbench.app.progress.durations import duration_text
from bdpbench.app.progress.view import View, verdict_words
from bdpbench.app.progress.watch import RunProgress, Snapshot
from bdpbench.contracts.scorecard import ScoredNumber

INTERVAL_S = 10.0


class LineView(View):
    """Messages go to standard output, the progress to standard error."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last_told_s = clock()

    def tell(self, event: str, text: str, **facts: object) -> None:
        """Print the text on standard output."""
        print(text, flush=True)

    def show(self, snapshot: Snapshot) -> None:
        """Print a line on standard error, at most every ten seconds."""
        if not snapshot.total or self._clock() - self._last_told_s < INTERVAL_S:
            return
        self._last_told_s = self._clock()
        words = [f"[{snapshot.share:4.0%}] {snapshot.done}/{snapshot.total} runs"]
        running = [f"{run_name(each)} {each.share:.0%}" for each in snapshot.running]
        if running:
            words.append("; ".join(running))
        if snapshot.share < 1:
            words.append(f"about {duration_text(snapshot.eta_s)} left")
        print(" · ".join(words), file=sys.stderr, flush=True)

    def ended(self, run: RunProgress, verdicts: Sequence[ScoredNumber]) -> None:
        """Print the run and its verdicts on standard error."""
        words = verdict_words([each["verdict"] for each in verdicts])
        told = f": {words}" if words else ""
        print(f"{run.status} {run_name(run)}{told}", file=sys.stderr, flush=True)


def run_name(progress: RunProgress) -> str:
    """The name of a run in a line."""
    return f"{progress.run['scenario']} {progress.run['label']}"
