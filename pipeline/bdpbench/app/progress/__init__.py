"""The progress of the simulations: how it is observed, and how it is shown."""

from __future__ import annotations

import sys

from bdpbench.app.progress.durations import duration_text
from bdpbench.app.progress.view import View
from bdpbench.app.progress.watch import RunProgress, Snapshot, Watch

__all__ = ["RunProgress", "Snapshot", "View", "Watch", "duration_text", "make_view"]


def make_view(*, quiet: bool = False, as_json: bool = False) -> View:
    """The requested view; by default a live one on a terminal, and plain lines elsewhere."""
    if quiet:
        return View()
    if as_json:
        from bdpbench.app.progress.events import EventView

        return EventView()
    if sys.stderr.isatty() and sys.stdout.isatty():
        from bdpbench.app.progress.live import LiveView

        return LiveView()
    from bdpbench.app.progress.lines import LineView

    return LineView()
