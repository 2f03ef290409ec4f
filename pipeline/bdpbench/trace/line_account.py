"""The account of the lines of a trace: each is counted as parsed or as skipped."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from bdpbench.errors import BdpbenchError

_KEPT = 20
_SHOWN = 80


@dataclass(frozen=True)
class Skipped:
    """A line that was left out: its place, its text, and the reason."""

    source: str
    line: int
    text: str
    reason: str

    def error(self, *, lenient: bool = False) -> BdpbenchError:
        """The same as an error, if lines may not be skipped or nothing could be read."""
        shown = self.text if len(self.text) <= _SHOWN else self.text[:_SHOWN] + "..."
        return BdpbenchError(
            f"{self.reason}; the line reads {shown!r}",
            where=f"{self.source}:{self.line}",
            hint="" if lenient else "--lenient skips such lines and counts them",
        )


@dataclass(frozen=True)
class RunsBackwards:
    """A line whose time is earlier than that of the line before, both in seconds."""

    source: str
    line: int
    time_s: float
    after_s: float

    def error(self) -> BdpbenchError:
        """The same as an error, if times must not run backwards."""
        return BdpbenchError(
            f"time runs backwards: {self.time_s:.15g} s after {self.after_s:.15g} s",
            where=f"{self.source}:{self.line}",
            hint="give the traces of several runs one by one, parts of one trace in their order; "
            "--lenient keeps such lines and counts them",
        )


@dataclass
class LineAccount:
    """The account of one reading of a trace; final once ``complete`` is true.

    Attributes:
        lines: lines read; parsed + skipped.
        parsed: lines that became rows of any table.
        forms: name of a form → its number of lines; their sum is ``parsed``.
        skipped: lines left out, always 0 unless the trace was read leniently.
        first_skipped: the first of them.
        cut: sources whose last line was cut off; those lines count as skipped.
        backwards: lines whose time is earlier than that of the line before.
        first_backwards: the first of them.
        first_s, last_s: time of the first and of the last parsed line, s.
        complete: whether the reading came to the end of the last source.
    """

    lines: int = 0
    parsed: int = 0
    forms: Counter[str] = field(default_factory=Counter)
    skipped: int = 0
    first_skipped: list[Skipped] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    backwards: int = 0
    first_backwards: RunsBackwards | None = None
    first_s: float | None = None
    last_s: float | None = None
    complete: bool = False

    def skip(self, skipped: Skipped) -> None:
        """Count a line that is left out."""
        self.skipped += 1
        if len(self.first_skipped) < _KEPT:
            self.first_skipped.append(skipped)
