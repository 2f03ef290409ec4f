"""The summary of a report: what was reproduced and what was not, blind and fitted, and why."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from bdpbench.contracts.reports import KeptRun, TakenOverCounts
from bdpbench.contracts.runs import RunRecord
from bdpbench.contracts.scorecard import (
    CLAIM_VERDICTS,
    KINDS,
    NUMBER_VERDICTS,
    Change,
    Kind,
    Scorecard,
)
from bdpbench.pages.experiments import Experiment
from bdpbench.pages.numbers import NumberRow
from bdpbench.pages.statements import ClaimRow
from bdpbench.pages.text import Total, totals

MISSES_SHOWN = 8

MEANING: dict[Kind, str] = {
    "blind": "the definition is the study's own, or was chosen without this value in view",
    "fitted": "the definition was chosen with this value in view",
}

REACH = 3.0
"""Half widths of the bounds at which the axis ends; numbers farther off are drawn at its end."""

PLOT_WIDTH = 560.0
DOT = 8.0
LABEL_WIDTH = 250.0
_GAP = 7.0
_HIGHEST_STACK = 4


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


@dataclass(frozen=True)
class KindRow:
    """Verdicts of the blind, or of the fitted, numbers and statements of a study.

    Attributes:
        kind, meaning: which kind, and what it means.
        numbers, claims: the verdicts that occur, with their counts.
        came, of: how many numbers are reproduced, and how many were run.
        held, of_claims: how many statements hold, and how many were evaluated.
    """

    kind: Kind
    meaning: str
    numbers: tuple[Total, ...]
    claims: tuple[Total, ...]
    came: int
    of: int
    held: int
    of_claims: int


def kind_rows(scorecard: Scorecard) -> list[KindRow]:
    """One row per kind; none for a scorecard without kinds or without entries."""
    numbers = scorecard.get("kind_totals", {})
    claims = scorecard.get("claim_kind_totals", {})
    rows = []
    for kind in KINDS:
        own, said = numbers.get(kind, {}), claims.get(kind, {})
        if not any([*own.values(), *said.values()]):
            continue
        rows.append(
            KindRow(
                kind=kind,
                meaning=MEANING[kind],
                numbers=tuple(totals(own, NUMBER_VERDICTS)),
                claims=tuple(totals(said, CLAIM_VERDICTS)),
                came=own.get("reproduced", 0),
                of=sum(own.values()) - own.get("not_run", 0),
                held=said.get("holds", 0),
                of_claims=sum(said.values()) - said.get("not_run", 0),
            )
        )
    return rows


@dataclass(frozen=True)
class ChangeRow:
    """A change as shown on the page.

    Attributes:
        change: as in ``scorecard.json``.
        of: links to the numbers and statements concerned, each with its id.
    """

    change: Change
    of: tuple[tuple[str, str], ...]


def change_rows(scorecard: Scorecard) -> list[ChangeRow]:
    """The changes, latest first."""
    claims = {claim["id"] for claim in scorecard["claims"]}
    return [
        ChangeRow(change, tuple((_anchor(each, claims), each) for each in change["of"]))
        for change in reversed(scorecard.get("history", []))
    ]


def _anchor(name: str, claims: Collection[str]) -> str:
    return f"{'claim' if name in claims else 'number'}-{name}"


def definition_origins(numbers: Sequence[NumberRow]) -> Mapping[str, str]:
    """Metric → how its definition was found, if numbers of the study are measured by it."""
    counts: dict[str, dict[str, int]] = {}
    for row in numbers:
        found = row.number.get("found")
        if found is not None:
            own = counts.setdefault(row.number["metric"], {})
            said = found if found != "chosen on" else f"{found}: {row.kind}"
            own[said] = own.get(said, 0) + 1
    return {metric: _told(own) for metric, own in counts.items()}


_WORDS = {
    "stated": "stated by the study for {}",
    "chosen before": "chosen before any run was looked at for {}",
    "chosen on: fitted": "chosen with the values of {} in view",
    "chosen on: blind": "a blind test for {}",
}


def _told(counts: Mapping[str, int]) -> str:
    """E.g. "Chosen with the values of 2 numbers in view; a blind test for 5 numbers."."""
    parts = [
        words.format(f"{counts[key]} number{'' if counts[key] == 1 else 's'}")
        for key, words in _WORDS.items()
        if key in counts
    ]
    sentence = "; ".join(parts)
    return f"{sentence[:1].upper()}{sentence[1:]}."


def count_taken_over(records: Collection[RunRecord] | Collection[KeptRun]) -> TakenOverCounts:
    """Count the runs taken over, and the runs of their kinds that were simulated again.

    A run that was simulated again counts as such, even if its old files are kept.
    """
    sources = [record["taken_over"] for record in records if "taken_over" in record]
    again = {run_id for source in sources for run_id in source["sample"]}
    return {
        "runs": sum("taken_over" in each and each["run_id"] not in again for each in records),
        "sample": sorted(again),
        "ns2_build_ids": sorted({source["build_id"] for source in sources}),
    }


def taken_over_sentence(records: Collection[RunRecord] | Collection[KeptRun]) -> str:
    """Which builds simulated the runs taken over, and what confirms their outputs; may be ""."""
    counts = count_taken_over(records)
    taken, sample = counts["runs"], counts["sample"]
    if not sample:
        return ""
    source = (
        "taken over from results with older run ids, which ns-2 build "
        f"{' and '.join(counts['ns2_build_ids'])} simulated"
    )
    if not taken:
        return (
            f"The {len(records)} runs are {source}: simulated again under the ids given here, all "
            "gave the same bytes."
        )
    return (
        f"{taken} of the {len(records)} runs are {source}: {len(sample)} runs of the same kinds, "
        f"simulated again under the ids given here, gave the same bytes, and the {taken} were not "
        "simulated again."
    )


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
