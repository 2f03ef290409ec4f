"""Windows and bins of time, and sums over them that grow batch by batch."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from bdpbench.errors import BdpbenchError

MOST_BINS = 500
"""Most bins of a series of automatic width: as many as a chart can show."""

_FEWEST_BINS = 20
_FEW_PACKETS = 2.0
_MOST_ROWS = 500_000
_MERGE_ROWS = 200_000
# Times are multiples of a nanosecond or more, and bins last a millisecond or more, so this fraction
# of a bin is less than the distance of two times and more than the rounding error of a division.
_ROUNDING = 1e-7
_ODD_SUBJECT = -0x61C8864680B583EB
_ODD_BIN = 0x14D049BB133111EB


@dataclass(frozen=True)
class Window:
    """The measured time ``[start_s, end_s)``, s: half-open, so that windows can be adjacent.

    >>> frame = pl.DataFrame({"time_s": [1.0, 2.0, 3.0]})
    >>> frame.filter(Window(1, 3).holds())["time_s"].to_list()
    [1.0, 2.0]
    """

    start_s: float = -math.inf
    end_s: float = math.inf

    def __post_init__(self) -> None:
        if not self.start_s < self.end_s:
            raise BdpbenchError(
                f"a window ends after its start, not at {self.end_s:g} s after {self.start_s:g} s"
            )

    def holds(self, column: str = "time_s") -> pl.Expr:
        """Condition for rows whose ``column`` (s) is in the window."""
        return pl.col(column).is_between(self.start_s, self.end_s, closed="left")

    @property
    def is_bounded(self) -> bool:
        """Whether the window excludes any time at all."""
        return math.isfinite(self.start_s) or math.isfinite(self.end_s)


def widths_ms(index: int) -> int:
    """Widths in ms of which each divides the next: 1, 5, 10, 50, 100, 500, ...

    >>> [widths_ms(index) for index in range(6)]
    [1, 5, 10, 50, 100, 500]
    """
    return int((1 + 4 * (index % 2)) * 10 ** (index // 2))


def readable_width_s(width_s: float, length_s: float, packets: int) -> float:
    """A multiple of an automatic width (s) in whose bins a flow receives two packets or more.

    In narrower bins a rate jumps between zero and that of a packet. At least twenty bins are left,
    if there are as many.

    >>> readable_width_s(0.01, 4.9, 100), readable_width_s(0.01, 4.9, 1), readable_width_s(10, 4, 9)
    (0.1, 0.1, 10)
    """
    wider_s = (widths_ms(index) / 1e3 for index in itertools.count())
    for each_s in (each_s for each_s in wider_s if each_s > width_s):
        if packets * width_s >= _FEW_PACKETS * length_s or length_s < _FEWEST_BINS * each_s:
            break
        width_s = each_s
    return width_s


def number_of_bin(time_s: float, width_s: float, *, before: bool = False) -> int:
    """Number of the bin that contains a time (s), or that ends at or just after it (``before``).

    >>> number_of_bin(0.3, 0.1), number_of_bin(0.3, 0.1, before=True)
    (3, 2)
    """
    if before:
        return max(0, math.ceil(time_s / width_s - _ROUNDING) - 1)
    return max(0, int(time_s / width_s + _ROUNDING))


class BinnedSums:
    """Sums by subject and bin of time, which grow batch by batch.

    Bins begin at 0 s and at every multiple of their width. Without a given width they start at 1 ms
    and widen (1, 5, 10, 50, 100, ... ms) until the whole trace fits into ``MOST_BINS``, so that the
    width depends only on the end of the trace, not on the batches.

    Args:
        subject: column of the subject (i64).
        sums: name → expression over the rows of one subject and bin, a sum.
        maxima: name → expression, a maximum.
        width_s: width of the bins, s; None to choose it.
    """

    def __init__(
        self,
        subject: str,
        sums: Mapping[str, pl.Expr],
        maxima: Mapping[str, pl.Expr] | None = None,
        width_s: float | None = None,
    ) -> None:
        self._subject = subject
        self._aggregates = {**sums, **(maxima or {})}
        self._merges = [pl.col(*sums).sum()] if sums else []
        self._merges += [pl.col(*maxima).max()] if maxima else []
        self._given_s = width_s
        self._index = 0
        self._last_s = 0.0
        self._parts: list[pl.DataFrame] = []

    @property
    def width_s(self) -> float:
        """Width of the bins, s."""
        return widths_ms(self._index) / 1e3 if self._given_s is None else self._given_s

    def add(self, rows: pl.DataFrame, last_s: float) -> None:
        """Add events.

        Args:
            rows: time_s (f64, s), the subject, and the columns of the expressions.
            last_s: time of the last event so far, s.
        """
        self._last_s = max(self._last_s, last_s)
        self._widen_to(self._index_for(last_s))
        if rows.is_empty() and self._parts:
            return
        # One key of 64 bits groups twice as fast as two do.
        group = pl.col(self._subject) * _ODD_SUBJECT + pl.col("bin") * _ODD_BIN
        aggregates = [each.alias(name) for name, each in self._aggregates.items()]
        self._parts.append(
            rows.with_columns(self._bin())
            .group_by(group.alias("_group"))
            .agg(pl.first(self._subject, "bin"), *aggregates)
            .drop("_group")
        )
        if sum(each.height for each in self._parts) > _MERGE_ROWS:
            self._merge()

    def load(self, rows: pl.DataFrame, last_s: float, index: int = 0) -> None:
        """Start from sums as ``result`` returns them.

        Args:
            rows: the subject, ``bin``, sums and maxima; their width is that of ``index``.
            last_s: time of the last event so far, s.
            index: index of the width, if the width was not given.
        """
        self._last_s = last_s
        self._index = max(index, 0)
        self._parts = [rows]
        self._widen_to(self._index_for(last_s))

    def result(self, width_s: float, end_s: float = math.inf) -> pl.DataFrame:
        """Subject, bin (i64, number of the bin), and the sums and maxima, in order of time.

        Args:
            width_s: width of merged bins, s: a multiple of the present width.
            end_s: end of the last bin, s; events at exactly that time belong to it.
        """
        self._merge()
        merged = self._merged(self._parts[0], round(width_s / self.width_s))
        if math.isfinite(end_s):
            last = number_of_bin(end_s, width_s, before=True)
            clipped = merged.with_columns(pl.col("bin").clip(upper_bound=last))
            merged = self._merged(clipped, 1)
        return merged.sort("bin", self._subject)

    def _bin(self) -> pl.Expr:
        return (pl.col("time_s") * (1 / self.width_s) + _ROUNDING).cast(pl.Int64).alias("bin")

    def _index_for(self, last_s: float) -> int:
        index = self._index
        while self._given_s is None and last_s >= MOST_BINS * widths_ms(index) / 1e3:
            index += 1
        return index

    def _merge(self) -> None:
        if len(self._parts) > 1:
            self._parts = [self._merged(pl.concat(self._parts), 1)]
        while self._given_s is None and self._parts and self._parts[0].height > _MOST_ROWS:
            self._widen_to(self._index + 1)

    def _widen_to(self, index: int) -> None:
        if index > self._index:
            ratio = widths_ms(index) // widths_ms(self._index)
            self._index = index
            if self._parts:
                self._parts = [self._merged(pl.concat(self._parts), ratio)]

    def _merged(self, rows: pl.DataFrame, ratio: int) -> pl.DataFrame:
        bins = rows.with_columns(pl.col("bin") // ratio) if ratio > 1 else rows
        return bins.group_by(self._subject, "bin").agg(self._merges)
