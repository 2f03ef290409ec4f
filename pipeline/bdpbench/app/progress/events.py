"""One JSON object per line on standard output, for programs: `--json`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence

from bdpbench.app.progress.view import View
from bdpbench.app.progress.watch import RunProgress, Snapshot
from bdpbench.contracts.scorecard import ScoredNumber

INTERVAL_S = 1.0


class EventView(View):
    """Each object has the key ``event``; times are in s.

    ``progress``: share, eta_s, and run_id, simulated_s, end_s and rate of each running simulation.
    ``run_ended``: run_id, scenario, label, status, verdicts (id, verdict, published, measured,
    unit). All other events give, as data, what the command otherwise prints as text.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last_told_s = float("-inf")

    def tell(self, event: str, text: str, **facts: object) -> None:
        """Print an event with its facts."""
        _print(event, facts)

    def show(self, snapshot: Snapshot) -> None:
        """Print ``progress``, at most once a second."""
        if not snapshot.total or self._clock() - self._last_told_s < INTERVAL_S:
            return
        self._last_told_s = self._clock()
        running = [
            {
                "run_id": each.run["run_id"],
                "simulated_s": each.simulated_s,
                "end_s": each.end_s,
                "rate": each.rate,
            }
            for each in snapshot.running
        ]
        facts = {"share": snapshot.share, "eta_s": snapshot.eta_s, "running": running}
        _print("progress", facts)

    def ended(self, run: RunProgress, verdicts: Sequence[ScoredNumber]) -> None:
        """Print ``run_ended``."""
        _print(
            "run_ended",
            {
                "run_id": run.run["run_id"],
                "scenario": run.run["scenario"],
                "label": run.run["label"],
                "status": run.status,
                "verdicts": [
                    {
                        "id": each["id"],
                        "verdict": each["verdict"],
                        "published": each["published"],
                        "measured": each["measured"],
                        "unit": each["unit"],
                    }
                    for each in verdicts
                ],
            },
        )


def _print(event: str, facts: Mapping[str, object]) -> None:
    print(json.dumps({"event": event, **facts}, ensure_ascii=False), flush=True)
