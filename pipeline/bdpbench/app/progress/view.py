"""What every view of a run can show."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from bdpbench.app.progress.watch import RunProgress, Snapshot
from bdpbench.contracts.scorecard import NUMBER_VERDICTS, NumberVerdict, ScoredNumber


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
        """Leave the terminal as it was."""

    def tell(self, event: str, text: str, **facts: object) -> None:
        """Report an event: ``text`` is for readers, ``event`` and ``facts`` are for programs."""

    def show(self, snapshot: Snapshot) -> None:
        """Show the progress of all runs."""

    def ended(self, run: RunProgress, verdicts: Sequence[ScoredNumber]) -> None:
        """A run has finished or failed; ``verdicts`` are of numbers that it alone decides."""


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
