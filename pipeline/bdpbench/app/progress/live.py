"""A live view for a terminal: a bar for all runs, and a line for each running simulation."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from bdpbench.app.progress.durations import duration_text
from bdpbench.app.progress.view import View, verdict_words
from bdpbench.app.progress.watch import RunProgress, Snapshot
from bdpbench.contracts.scorecard import ScoredNumber

_MARKS = {"finished": ("✓", "green"), "failed": ("✗", "red")}
_BAR_WIDTH = 16


class LiveView(View):
    """Messages scroll by above; the bars stay below them until the command ends."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False)
        self._live: Live | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def tell(self, event: str, text: str, **facts: object) -> None:
        """Print the text above the bars."""
        self._console.print(Text(text))

    def show(self, snapshot: Snapshot) -> None:
        """Redraw the bars."""
        if not snapshot.total:
            return
        if self._live is None:
            self._live = Live(console=self._console, refresh_per_second=4, transient=True)
            self._live.start()
        self._live.update(Group(_running_table(snapshot), _overall(snapshot)))

    def ended(self, run: RunProgress, verdicts: Sequence[ScoredNumber]) -> None:
        """Print the run and its verdicts above the bars."""
        mark, style = _MARKS[run.status]
        line = Text.assemble((f"{mark} ", style), f"{run.run['scenario']}  {run.run['label']}")
        if verdicts:
            words = verdict_words([each["verdict"] for each in verdicts])
            line.append(f"  {words}", style="dim")
        self._console.print(line)


def _running_table(snapshot: Snapshot) -> Table:
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
    words = f"{snapshot.done} of {snapshot.total} runs"
    if snapshot.done < snapshot.total:
        words += f", about {duration_text(snapshot.eta_s)} left"
    else:
        words += "; measuring, and writing the report"
    line = Table.grid(padding=(0, 2, 0, 0))
    bar = ProgressBar(total=1.0, completed=snapshot.share, width=_BAR_WIDTH)
    line.add_row(bar, Text(f"{snapshot.share:4.0%}  {words}", style="bold"))
    return line
