"""The first section of a report: the largest deviations, failed statements, missing runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bdpbench.pages.experiments import Experiment
from bdpbench.pages.verdicts import ClaimRow, NumberRow

MISSES_SHOWN = 8


@dataclass(frozen=True)
class Miss:
    """A number outside its bounds.

    ``distance`` is that of the scorecard, infinite if there is none because the metric has no
    value.
    """

    row: NumberRow
    distance: float
    distance_text: str


@dataclass(frozen=True)
class Absent:
    """An experiment that was not run, or not completely."""

    title: str
    text: str


@dataclass(frozen=True)
class Reason:
    """Numbers that are outside their bounds for one reason, which is "" if unknown.

    Attributes:
        text: the reason.
        count: how many numbers.
        where: places of the study that print them, each once.
        protocols: their protocols, each once.
        first: id of the number with the largest distance.
    """

    text: str
    count: int
    where: tuple[str, ...]
    protocols: tuple[str, ...]
    first: str


@dataclass(frozen=True)
class Summary:
    """The first section of the page; ``shown`` of the misses are visible initially.

    ``reasons`` are those of the misses, the most frequent first, unknown ones last.
    """

    misses: tuple[Miss, ...]
    reasons: tuple[Reason, ...]
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
    misses.sort(key=lambda miss: -miss.distance)
    return Summary(
        misses=tuple(misses),
        reasons=tuple(_reasons(misses)),
        failed=tuple(row for row in claims if row.verdict.key == "fails"),
        absent=tuple(_absent(numbers, claims, experiments)),
    )


def _reasons(misses: Sequence[Miss]) -> list[Reason]:
    by_reason: dict[str, list[NumberRow]] = {}
    for miss in misses:
        by_reason.setdefault(miss.row.number["known_miss"], []).append(miss.row)
    found = [
        Reason(
            text=text,
            count=len(rows),
            where=tuple(dict.fromkeys(row.number["where"] for row in rows)),
            protocols=tuple(dict.fromkeys(each for row in rows for each in row.protocols)),
            first=rows[0].number["id"],
        )
        for text, rows in by_reason.items()
    ]
    return sorted(found, key=lambda reason: (not reason.text, -reason.count))


def in_doubt(rows: Sequence[NumberRow]) -> list[NumberRow]:
    """Numbers in the order in which a reader might doubt them.

    Misses by distance come first, then unexpected matches, then numbers by their closeness to a
    bound, and last those that were not run.
    """

    def doubt(row: NumberRow) -> tuple[int, float]:
        order = {"not_reproduced": 0, "close": 1, "not_run": 4}
        rank = order.get(row.verdict.key, 2 if row.number["known_miss"] else 3)
        return rank, -_distance(row)

    return sorted(rows, key=doubt)


def claims_in_doubt(rows: Sequence[ClaimRow]) -> list[ClaimRow]:
    """Statements that fail, then those that hold, then those that were not evaluated."""
    return sorted(rows, key=lambda row: {"fails": 0, "holds": 1}.get(row.verdict.key, 2))


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
            text = f"{len(not_run)} of {len(rows)} need runs that are missing"
            found.append(Absent(what, text))
    return found
