"""What a reader wants to know first: the largest deviations, what fails, what was not run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bdpbench.pages.experiments import Experiment
from bdpbench.pages.verdicts import ClaimRow, NumberRow

MISSES_SHOWN = 8


@dataclass(frozen=True)
class Miss:
    """A number outside of its bounds.

    ``distance`` is its deviation in half widths of the bounds, which makes seconds comparable with
    asymmetries near 0; infinite where the metric never came to a value.
    """

    row: NumberRow
    distance: float
    distance_text: str


@dataclass(frozen=True)
class Absent:
    """An experiment that was not run, or not as a whole."""

    title: str
    text: str


@dataclass(frozen=True)
class Summary:
    """The first section of the page; ``shown`` of the misses are visible at first."""

    misses: tuple[Miss, ...]
    failed: tuple[ClaimRow, ...]
    absent: tuple[Absent, ...]
    shown: int = MISSES_SHOWN


def summarize(
    numbers: Sequence[NumberRow], claims: Sequence[ClaimRow], experiments: Sequence[Experiment]
) -> Summary:
    """The summary of a scorecard's rows and the experiments of its tier."""
    misses = [
        Miss(row, distance, _distance_text(distance))
        for row in numbers
        if row.verdict.key in ("close", "not_reproduced")
        for distance in (_distance(row.number),)
    ]
    return Summary(
        misses=tuple(sorted(misses, key=lambda miss: -miss.distance)),
        failed=tuple(row for row in claims if row.verdict.key == "fails"),
        absent=tuple(_absent(numbers, claims, experiments)),
    )


def _distance(number: Mapping[str, Any]) -> float:
    """How far outside: 1 at the nearer bound, 2 as far outside of it as the number is inside."""
    published, measured = number["published"], number["measured"]
    if measured is None:
        return math.inf
    bound = number["upper"] if measured > published else number["lower"]
    room = abs(bound - published)
    return abs(measured - published) / room if room > 0 else math.inf


def _distance_text(distance: float) -> str:
    if math.isinf(distance):
        return "–"
    return f"{distance:.1f}" if distance < 10 else f"{distance:.0f}"


def _absent(
    numbers: Sequence[NumberRow], claims: Sequence[ClaimRow], experiments: Sequence[Experiment]
) -> list[Absent]:
    found = [
        Absent(each.title, f"{each.absent} of {len(each.runs)} runs have no results yet")
        for each in experiments
        if each.absent
    ]
    for what, rows in (("Numbers", numbers), ("Statements", claims)):
        not_run = [row for row in rows if row.verdict.key == "not_run"]
        if not_run:
            text = f"{len(not_run)} of {len(rows)} need runs that are not here"
            found.append(Absent(what, text))
    return found
