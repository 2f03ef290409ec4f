"""Small pictures of a verdict: bounds, print, value and spread on one axis with its unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from bdpbench.contracts.scorecard import ScoredClaim, ScoredNumber, rows_of
from bdpbench.pages.text import range_text, value_text
from bdpbench.units import MINUS, with_unit

WIDTH = 340.0
"""Of every picture, px; the page scales it."""

_INSET = 8.0
_PADDING = 0.08
_MOST_TICKS = 4
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)

Mark = Literal["bounds", "print", "value", "spread", "reading", "none"]


@dataclass(frozen=True)
class PictureRow:
    """One mark with its label and value in words, and the smallest and largest value that it shows.

    ``verdict`` is the class of a value; a mark without a place is "none".
    """

    label: str
    text: str
    mark: Mark
    values: tuple[float, ...] = ()
    verdict: str = ""


@dataclass(frozen=True)
class Picture:
    """Rows over one axis, whose title is ``axis``.

    ``band`` are the values within which a number is reproduced, ``line`` is the value at which a
    statement turns.
    """

    rows: tuple[PictureRow, ...]
    axis: str
    band: tuple[float, float] | None = None
    line: float | None = None

    @property
    def alternative(self) -> str:
        """The picture in words."""
        return "; ".join(f"{row.label}: {row.text}" for row in self.rows)

    @cached_property
    def _ends(self) -> tuple[float, float]:
        values = [value for row in self.rows for value in row.values]
        values += [] if self.line is None else [self.line]
        least, most = min(values), max(values)
        room = _PADDING * ((most - least) or abs(most) or 1.0)
        return least - room, most + room

    def place(self, value: float) -> float:
        """Where a value is, px from the left."""
        least, most = self._ends
        return round(_INSET + (value - least) / (most - least) * (WIDTH - 2 * _INSET), 1)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Values and labels of the axis."""
        return _ticks(*self._ends)


def picture_of_number(number: ScoredNumber, labels: Sequence[str], axis: str) -> Picture:
    """Bounds, print, the value of each run that has to show a number, and spreads.

    Args:
        number: as in ``scorecard.json``.
        labels: what tells the runs apart, in their order.
        axis: the quantity and its unit.
    """
    published, unit = number["published"], number["unit"]
    bounds = (number["lower"], number["upper"])
    rows = [
        PictureRow("Bounds", range_text(bounds, unit, exact=True), "bounds", bounds),
        PictureRow("Published", value_text(published, unit, published), "print", (published,)),
    ]
    for label, row in zip(labels, rows_of(number), strict=True):
        value, name = row["measured"], f"Measured{f', {label}' if label else ''}"
        if value is None:
            words_of_none = "not run" if row["verdict"] == "not_run" else "never reached"
            rows.append(PictureRow(name, words_of_none, "none"))
        else:
            rows.append(
                PictureRow(
                    name, value_text(value, unit, published), "value", (value,), row["verdict"]
                )
            )
        for each in row.get("spread", []):
            ends = (each["least"], each["most"])
            repeated = bool(each.get("repetitions"))
            kind = "Interval of the mean" if repeated else "Spread, another reading"
            name = f"{kind}{f', {label}' if label else ''}"
            told = range_text(ends, unit, published)
            rows.append(PictureRow(name, told, "spread" if repeated else "reading", ends))
    return Picture(tuple(rows), axis, band=bounds)


def picture_of_claim(claim: ScoredClaim) -> Picture | None:
    """The margin of a statement; None without a margin."""
    margin = claim["margin"]
    if margin is None:
        return None
    verdict = claim.get("alone", claim["verdict"])
    row = PictureRow("Margin", share_in_words(margin), "value", (100 * margin,), verdict)
    return Picture((row,), "fails below 0, holds above; % of the larger value", line=0.0)


def share_in_words(*shares: float) -> str:
    """Shares in per cent, with two digits.

    >>> share_in_words(-0.00123, 0.307)
    '−0.12 to 31 %'
    """
    texts = (f"{float(f'{100 * share:.2g}'):,g}".replace("-", MINUS) for share in shares)
    return with_unit(" to ".join(dict.fromkeys(texts)), "%")


def _ticks(least: float, most: float) -> list[tuple[float, str]]:
    """Round values on an axis, at most ``_MOST_TICKS``, with their texts.

    >>> _ticks(0.93, 1.01)
    [(0.94, '0.94'), (0.96, '0.96'), (0.98, '0.98'), (1.0, '1')]
    """
    power = 10.0 ** math.floor(math.log10((most - least) / _MOST_TICKS))
    for step in (factor * power for factor in (*_STEPS, 20.0)):
        numbers = range(math.ceil(least / step), math.floor(most / step) + 1)
        if len(numbers) <= _MOST_TICKS:
            values = [float(f"{number * step:.12g}") for number in numbers]
            return [(value, f"{value:,.10g}".replace("-", MINUS)) for value in values]
    return []
