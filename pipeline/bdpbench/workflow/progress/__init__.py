"""How far the simulations are: what is watched, and how it is shown."""

from __future__ import annotations

import sys

from bdpbench.workflow.progress.durations import duration_text
from bdpbench.workflow.progress.view import View
from bdpbench.workflow.progress.watch import RunProgress, Snapshot, Watch

__all__ = ["RunProgress", "Snapshot", "View", "Watch", "duration_text", "make_view"]


def make_view(*, quiet: bool = False, as_json: bool = False) -> View:
    """The view that is asked for; else a live one on a terminal, and plain lines elsewhere."""
    if quiet:
        return View()
    if as_json:
        from bdpbench.workflow.progress.events import EventView

        return EventView()
    if sys.stderr.isatty() and sys.stdout.isatty():
        from bdpbench.workflow.progress.live import LiveView

        return LiveView()
    from bdpbench.workflow.progress.lines import LineView

    return LineView()
