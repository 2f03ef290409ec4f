"""What a reader wants to know first: the largest deviations, what fails, what was not run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bdpbench.pages.experiments import Experiment
from bdpbench.pages.verdicts import ClaimRow, NumberRow

MISSES_SHOWN = 8


@dataclass(frozen=True)
class Miss:
    """A number outside of its bounds.

    ``distance`` is that of the scorecard, infinite where it has none: where the metric never came
    to a value.
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
        for distance in (_distance(row),)
    ]
    return Summary(
        misses=tuple(sorted(misses, key=lambda miss: -miss.distance)),
        failed=tuple(row for row in claims if row.verdict.key == "fails"),
        absent=tuple(_absent(numbers, claims, experiments)),
    )


def _distance(row: NumberRow) -> float:
    distance = row.number.get("distance")
    return math.inf if distance is None else distance


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
