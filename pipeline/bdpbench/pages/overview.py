"""One picture of all numbers: their distances from the published ones, in widths of the bounds."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bdpbench.pages.verdicts import NumberRow

REACH = 3.0
"""Half widths of the bounds at which the axis ends; numbers farther off are drawn at its end."""

PLOT_WIDTH = 560.0
DOT = 8.0
LABEL_WIDTH = 250.0
_GAP = 7.0
_HIGHEST_STACK = 4


@dataclass(frozen=True)
class Dot:
    """One number: its position, in px from the left and the top of its row."""

    row: NumberRow
    x: float
    y: float
    beyond: int


@dataclass(frozen=True)
class Strip:
    """The numbers of one experiment; ``top`` and ``height`` in px."""

    title: str
    top: float
    height: float
    dots: tuple[Dot, ...]


@dataclass(frozen=True)
class Overview:
    """The picture: ``width`` and ``height`` in px; ``lower`` and ``upper`` are the bounds in px."""

    strips: tuple[Strip, ...]
    width: float
    height: float
    left: float
    lower: float
    upper: float
    middle: float


def overview(numbers: Sequence[NumberRow]) -> Overview | None:
    """The picture of all numbers, with a row per experiment; None if none of them was run."""
    rows: dict[str, list[NumberRow]] = {}
    for row in numbers:
        rows.setdefault(row.scenario, []).append(row)
    strips: list[Strip] = []
    top = 0.0
    for title, own in rows.items():
        strip = _strip(title, top, own)
        if strip.dots:
            strips.append(strip)
            top += strip.height
    if not strips:
        return None
    ends = (_across(-1.0), _across(1.0))
    width = LABEL_WIDTH + PLOT_WIDTH
    return Overview(tuple(strips), width, top, LABEL_WIDTH, *ends, _across(0.0))


def _strip(title: str, top: float, rows: Sequence[NumberRow]) -> Strip:
    stacks: Counter[int] = Counter()
    dots = []
    for row in sorted(rows, key=lambda row: abs(_widths(row) or 0.0)):
        widths = _widths(row)
        if widths is None:
            continue
        across = _across(max(-REACH, min(REACH, widths)))
        own = round(across / DOT)
        column = _free(own, stacks)
        beyond = (widths > REACH) - (widths < -REACH)
        x = round(across, 1) if column == own else column * DOT
        dots.append(Dot(row, x, stacks[column] * DOT, beyond))
        stacks[column] += 1
    height = max(stacks.values(), default=1) * DOT + 2 * _GAP
    bottom = top + height - _GAP - DOT / 2
    standing = tuple(replace(each, y=bottom - each.y) for each in dots)
    return Strip(title, top, height, standing)


def _free(column: int, stacks: Counter[int]) -> int:
    """The column, or the nearest with room: dots that would overlap are stacked."""
    steps = (side * step for step in itertools.count() for side in (1, -1))
    return next(column + step for step in steps if stacks[column + step] < _HIGHEST_STACK)


def _widths(row: NumberRow) -> float | None:
    """Signed distance in the scorecard's measure: within its bounds a number is from -1 to 1."""
    number = row.number
    deviation = number["deviation"]
    if number["measured"] is None or deviation is None:
        return None
    distance = number.get("distance")
    size = (math.inf if deviation else 0.0) if distance is None else distance
    return math.copysign(size, deviation)


def _across(widths: float) -> float:
    return LABEL_WIDTH + (widths + REACH) / (2 * REACH) * (PLOT_WIDTH - 2 * DOT) + DOT
