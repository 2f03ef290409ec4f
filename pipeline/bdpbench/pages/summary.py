"""The summary of a report: what was reproduced and what was not, blind and fitted, and why."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from bdpbench.contracts.scorecard import (
    CLAIM_VERDICTS,
    NUMBER_VERDICTS,
    Kind,
    Scorecard,
    is_narrow,
    is_repeated,
)
from bdpbench.pages.experiments import Experiment
from bdpbench.pages.scored import ClaimRow, NumberRow
from bdpbench.pages.text import Total, distinct, totals
from bdpbench.units import MINUS

Entry = TypeVar("Entry", NumberRow, ClaimRow)

MEANING: dict[Kind, str] = {
    "blind": "the definition is the study's own, or was chosen without this value in view",
    "fitted": "the definition was chosen with this value in view",
}

REACH = 3.0
"""Half widths of the bounds at which the axis ends; numbers farther off are drawn at its end."""

PLOT_WIDTH = 400.0
DOT = 8.0
_NAME_HEIGHT = 15.0
_GAP = 5.0
_HIGHEST_STACK = 4


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
    """What the first section of the page says of verdicts, besides their counts.

    ``misses`` counts numbers outside their bounds and ``reasons`` are theirs, the most frequent
    first, unknown ones last; ``absent`` names what was not run, and how much of it. ``by_chance``
    are undecided, ``hairs`` are decided by a small margin and their spread is not measured, each
    with its anchor and id; ``narrow`` counts small margins.
    """

    misses: int
    reasons: tuple[Reason, ...]
    absent: tuple[tuple[str, str], ...]
    by_chance: tuple[tuple[str, str], ...] = ()
    hairs: tuple[tuple[str, str], ...] = ()
    narrow: int = 0


def summarize(
    numbers: Sequence[NumberRow], claims: Sequence[ClaimRow], experiments: Sequence[Experiment]
) -> Summary:
    """The summary of a scorecard's rows and the experiments of its tier."""
    misses = [row for row in numbers if row.verdict.key in ("close", "not_reproduced")]
    misses.sort(key=lambda row: -row.distance)
    rows: list[NumberRow | ClaimRow] = [*numbers, *claims]
    narrow = [row for row in rows if is_narrow(row.entry)]
    return Summary(
        misses=len(misses),
        reasons=tuple(_reasons(misses)),
        absent=tuple(_absent(numbers, claims, experiments)),
        by_chance=tuple(_link(row) for row in rows if row.verdict.key == "undecided"),
        hairs=tuple(_link(row) for row in narrow if not is_repeated(row.entry)),
        narrow=len(narrow),
    )


def _link(row: NumberRow | ClaimRow) -> tuple[str, str]:
    """Anchor and id of an entry."""
    if isinstance(row, ClaimRow):
        return f"claim-{row.claim['id']}", row.claim["id"]
    return f"number-{row.number['id']}", row.number["id"]


def _reasons(misses: Sequence[NumberRow]) -> list[Reason]:
    by_reason: dict[str, list[NumberRow]] = {}
    for row in misses:
        by_reason.setdefault(row.number["known_miss"], []).append(row)
    found = [
        Reason(
            text=text,
            count=len(rows),
            where=distinct(row.number["where"] for row in rows),
            protocols=distinct(each for row in rows for each in row.protocols),
            first=rows[0].number["id"],
        )
        for text, rows in by_reason.items()
    ]
    return sorted(found, key=lambda reason: (not reason.text, -reason.count))


def in_doubt(rows: Sequence[Entry]) -> list[Entry]:
    """Numbers, or statements, in the order in which a reader might doubt them.

    Misses by distance come first, then what is undecided, then unexpected matches, then numbers by
    their closeness to a bound, and last those that were not run.
    """
    order = {"not_reproduced": 0, "fails": 0, "close": 1, "undecided": 2, "not_run": 5}

    def doubt(row: Entry) -> tuple[int, float]:
        if isinstance(row, ClaimRow):
            return order.get(row.verdict.key, 4), 0.0
        rank = order.get(row.verdict.key, 3 if row.number["known_miss"] else 4)
        return rank, -row.distance

    return sorted(rows, key=doubt)


def _absent(
    numbers: Sequence[NumberRow], claims: Sequence[ClaimRow], experiments: Sequence[Experiment]
) -> Iterator[tuple[str, str]]:
    for each in experiments:
        if each.absent:
            yield each.title, f"{each.absent} of {len(each.runs)} runs have no results yet"
    for what, rows in (("Numbers", numbers), ("Statements", claims)):
        not_run = sum(row.verdict.key == "not_run" for row in rows)
        if not_run:
            yield what, f"{not_run} of {len(rows)} need runs that are missing"


def kind_rows(scorecard: Scorecard) -> list[dict[str, object]]:
    """What came of the blind, and of the fitted, entries that were run; none without entries."""
    rows = []
    for kind, meaning in MEANING.items():
        own = scorecard["kind_totals"].get(kind, {})
        said = scorecard["claim_kind_totals"].get(kind, {})
        if any([*own.values(), *said.values()]):
            of, of_claims = (sum(each.values()) - each.get("not_run", 0) for each in (own, said))
            told = {"kind": kind, "meaning": meaning, "numbers": own, "claims": said}
            rows.append({**told, "of": of, "of_claims": of_claims})
    return rows


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
    """The picture: ``width`` and ``height`` in px; ``lower`` and ``upper`` are the bounds in px.

    ``ticks`` are places and texts of its axis, in half widths of the bounds.
    """

    strips: tuple[Strip, ...]
    width: float
    height: float
    lower: float
    upper: float
    middle: float
    ticks: tuple[tuple[float, str], ...]


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
    reach = range(-int(REACH), int(REACH) + 1)
    ticks = tuple(
        (_across(each), f"{each:+d}".replace("-", MINUS) if each else "0") for each in reach
    )
    return Overview(tuple(strips), PLOT_WIDTH, top, *ends, _across(0.0), ticks)


def _strip(title: str, top: float, rows: Sequence[NumberRow]) -> Strip:
    stacks: Counter[int] = Counter()
    dots = []
    shown = [(row, row.widths) for row in rows]
    known = [(row, widths) for row, widths in shown if widths is not None]
    for row, widths in sorted(known, key=lambda each: abs(each[1])):
        across = _across(max(-REACH, min(REACH, widths)))
        own = round(across / DOT)
        column = _free(own, stacks)
        beyond = (widths > REACH) - (widths < -REACH)
        x = round(across, 1) if column == own else column * DOT
        dots.append(Dot(row, x, stacks[column] * DOT, beyond))
        stacks[column] += 1
    height = _NAME_HEIGHT + max(stacks.values(), default=1) * DOT + 2 * _GAP
    bottom = top + height - _GAP - DOT / 2
    standing = tuple(replace(each, y=bottom - each.y) for each in dots)
    return Strip(title, top, height, standing)


def _free(column: int, stacks: Counter[int]) -> int:
    """The column, or the nearest with room: dots that would overlap are stacked."""
    steps = (side * step for step in itertools.count() for side in (1, -1))
    return next(column + step for step in steps if stacks[column + step] < _HIGHEST_STACK)


def _across(widths: float) -> float:
    return (widths + REACH) / (2 * REACH) * (PLOT_WIDTH - 2 * DOT) + DOT


@dataclass(frozen=True)
class Counts:
    """Verdicts of the ``of`` entries that a reading judges, and those on the judged runs."""

    noun: str
    of: int
    read: tuple[Total, ...]
    judged: tuple[Total, ...]


@dataclass(frozen=True)
class ReadingRow:
    """Another reading in the summary.

    Attributes:
        name: what it changes.
        counts: of numbers and of statements; empty if no run is finished.
        changed: those that it decides otherwise, each with its anchor and id.
    """

    name: str
    counts: tuple[Counts, ...]
    changed: tuple[tuple[str, str], ...]


def reading_rows(scorecard: Scorecard) -> list[ReadingRow]:
    """The other readings, in the order of the scorecard."""
    readings = scorecard.get("readings", {})
    return [_reading(name, read, scorecard) for name, read in readings.items()]


def _reading(name: str, read: Scorecard, scorecard: Scorecard) -> ReadingRow:
    counts: list[Counts] = []
    changed: list[tuple[str, str]] = []
    kinds = (
        ("number", "numbers", read["numbers"], scorecard["numbers"], NUMBER_VERDICTS),
        ("claim", "statements", read["claims"], scorecard["claims"], CLAIM_VERDICTS),
    )
    for kind, noun, by_reading, judged, verdicts in kinds:
        known = {each["id"]: each["verdict"] for each in by_reading}
        both = [(each, known[each["id"]]) for each in judged if each["id"] in known]
        both = [(each, verdict) for each, verdict in both if verdict != "not_run"]
        if both:
            by_it = totals(Counter(verdict for _, verdict in both), verdicts)
            own = totals(Counter(each["verdict"] for each, _ in both), verdicts)
            counts.append(Counts(noun, len(both), tuple(by_it), tuple(own)))
        changed += [
            (f"{kind}-{each['id']}", each["id"])
            for each, verdict in both
            if verdict != each.get("alone", each["verdict"])
        ]
    return ReadingRow(name, tuple(counts), tuple(changed))
