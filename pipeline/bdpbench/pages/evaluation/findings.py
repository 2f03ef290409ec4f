"""What an evaluation says about a protocol, in sentences, and what changed since an earlier one.

The rules are all here, and the page states them:

- A protocol is *best* in a figure if no protocol has a better value, and *worst* if none has a
  worse one, by a difference that counts (``contracts/judged.py``), and if no interval overlaps with
  one of another place: overlapping ones leave the order of two protocols open.
- RFC 9743 asks for consensus that a protocol meets its criteria (section 5) in general use
  (section 6): what it does not meet there would *keep it from deployment*. In the special cases of
  section 7 the RFC may let it pass nevertheless: these *limit* where it can be used.
- A protocol is *good for* what a column of a part stands for (``good`` of ``evaluate.yaml``) if it
  is better there than two thirds of all others by a difference that counts and that no interval
  leaves open, and *bad for* it if it is worse than as many. One run without repetitions counts as
  an interval of a tenth of its value. It *harms* those whom a criterion is about (``harms``) that
  it does not meet, and perhaps if an end of the interval meets it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeGuard

from bdpbench.contracts.evaluation import (
    Answer,
    Column,
    Criterion,
    Figure,
    Judgement,
    Ranked,
    found_of,
    group_of,
    never_reached,
)
from bdpbench.contracts.judged import Found, Judged, places
from bdpbench.pages.text import format_number, joined, listed, value_text
from bdpbench.units import with_unit

SPECIAL_CASES = "7"
"""The section of RFC 9743 whose cases may be excepted."""

MOST, FEW = 2 / 3, 4
"""Of how many others a protocol is better that is good for something, and how many it takes."""

ONE_RUN = 0.1
"""What one run without repetitions leaves open, as a share of its value."""

KEEPS, LIMITS = "would keep it from deployment", "limits where it can be used"


@dataclass(frozen=True)
class Findings:
    """What is said about one evaluated protocol.

    Attributes:
        summary: one or two sentences with the counts.
        failed: criteria that it does not meet, each with its answer and what that means.
        unknown: figures and criteria without a value of it: title, why, and the id of the element
            that shows it, "" if there is none.
    """

    summary: str
    failed: Sequence[tuple[Criterion, Answer, str]]
    unknown: Sequence[tuple[str, str, str]]


def findings_of(judgement: Judgement, protocol: str) -> Findings:
    """What an evaluation says about one of its protocols, by its key."""
    known = [(each, value_of(each, protocol)) for each in judgement.figures]
    places = [(each, value) for each, value in known if value]
    answered = [
        (each, answer)
        for each in judgement.criteria
        for answer in each.answers
        if answer.protocol == protocol
    ]
    failed = [(each, answer, _meaning(each)) for each, answer in answered if answer.passes is False]
    passed = sum(answer.passes is True for _, answer in answered)
    label = judgement.evaluation.labels[protocol]
    return Findings(
        summary=f"{_compared(label, places)} {_met(passed, [each for *_, each in failed])}",
        failed=failed,
        unknown=[
            *_without_value(places),
            *(
                (each.file.question, answer.why or "no run of it is there", criterion_anchor(each))
                for each, answer in answered
                if answer.passes is None
            ),
        ],
    )


@dataclass(frozen=True)
class Character:
    """What a protocol is good and bad for, and whom it harms or perhaps harms, in words."""

    good: Sequence[str]
    bad: Sequence[str]
    harms: Sequence[str]
    perhaps: Sequence[str]

    @property
    def sentences(self) -> str:
        """The same in sentences."""
        sides = (("good", self.good), ("bad", self.bad))
        does = "; ".join(f"{side} for {listed(each, len(each))}" for side, each in sides if each)
        does = does or "neither better nor worse than most"
        only_perhaps = self.harmed.startswith("perhaps ")
        harms = self.harmed.replace("perhaps ", "perhaps harms ", only_perhaps)
        return f"It is {does}. It {'' if only_perhaps else 'harms '}{harms or 'nobody'}."

    @property
    def harmed(self) -> str:
        """Whom it harms; "" if nobody."""
        perhaps = f"perhaps {listed(self.perhaps, len(self.perhaps))}" if self.perhaps else ""
        return joined(listed(self.harms, len(self.harms)), perhaps)


def characters_of(judgement: Judgement) -> dict[str, Character]:
    """Key of each protocol → what is said of it; nothing if no column and no criterion asks."""
    strong, weak = _sides(judgement)
    harms, perhaps = (defaultdict[str, list[str]](list) for _ in range(2))
    asked = [each for each in judgement.criteria if each.file.harms]
    for criterion, answer in ((each, answer) for each in asked for answer in each.answers):
        own = next((e for e in criterion.values if e["protocol"] == answer.protocol), None)
        if own is not None and _is_beside_itself(judgement, own):
            continue
        if answer.passes is False or answer.by_chance:
            (perhaps if answer.by_chance else harms)[answer.protocol].append(criterion.file.harms)
    return {
        key: Character(
            strong[key],
            weak[key],
            list(dict.fromkeys(harms[key])),
            [each for each in dict.fromkeys(perhaps[key]) if each not in harms[key]],
        )
        for key in judgement.evaluation.labels
        if strong or weak or asked
    }


def _sides(judgement: Judgement) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Key of a protocol → what it is good for, and what it is bad for."""
    columns = judgement.evaluation.columns
    groups = defaultdict[tuple[object, ...], list[Ranked]](list)
    for cell in judgement.cells:
        has_place = cell["value"] is not None or never_reached(cell["why"])
        if has_place and columns[cell["study"], cell["part"], cell["column"]].good:
            groups[group_of(cell)].append(cell)
    good, bad = (defaultdict[str, list[str]](list) for _ in range(2))
    for cells in groups.values():
        column = columns[cells[0]["study"], cells[0]["part"], cells[0]["column"]]
        found = places([_with_room(found_of(each)) for each in cells], column.judged)
        enough = MOST * max(len(cells) - 1, FEW)
        for cell, place in zip(cells, found, strict=True):
            if _is_beside_itself(judgement, cell):
                continue
            for count, told in ((place.ahead, good), (place.behind, bad)):
                if count >= enough:
                    told[cell["protocol"]].append(column.good)
    return good, bad


def _is_beside_itself(judgement: Judgement, cell: Ranked) -> bool:
    """Whether a column is about one protocol of its study, and the cell is that one's.

    Two flows of it share by symmetry. What another study calls the same is another protocol.
    """
    evaluation = judgement.evaluation
    column = evaluation.columns[cell["study"], cell["part"], cell["column"]]
    source = next(e.source for e in evaluation.protocols if e.key == cell["protocol"])
    return any(
        source == f"{cell['study']}:{value}" for values in column.only.values() for value in values
    )


def _with_room(found: Found) -> Found:
    if found.value is None or found.low is not None:
        return found
    ends = sorted((found.value * (1 - ONE_RUN), found.value * (1 + ONE_RUN)))
    return Found(found.value, *ends)


def value_of(figure: Figure, protocol: str) -> Ranked | None:
    """A protocol's value of a figure; None if the figure does not list the protocol."""
    return next((each for each in figure.values if each["protocol"] == protocol), None)


def _meaning(criterion: Criterion) -> str:
    """What it means that a criterion is not met."""
    return LIMITS if criterion.file.section.split(".")[0] == SPECIAL_CASES else KEEPS


def is_known(value: float | None) -> TypeGuard[float]:
    """Whether there is a number that can be compared."""
    return value is not None and math.isfinite(value)


def _compared(label: str, places: Sequence[tuple[Figure, Ranked]]) -> str:
    """In how many figures a protocol has the first or the last place."""
    ranked = [
        value["place"]
        for figure, value in places
        if figure.column.better and value["rank"] is not None
    ]
    if not ranked:
        return f"{label} has no figure that can be compared with another protocol's."
    figures = "one figure" if len(ranked) == 1 else f"{len(ranked)} figures"
    best, worst = (ranked.count(place) or "none" for place in ("first", "last"))
    return f"Of {figures}, {label} is best in {best} and worst in {worst}."


def _met(passed: int, failed: Sequence[str]) -> str:
    """How many criteria are met, and what those mean that are not."""
    judged = passed + len(failed)
    if not judged:
        return "No criterion of RFC 9743 could be judged."
    criteria = "the one criterion" if judged == 1 else f"the {judged} criteria"
    met = f"meets {passed or 'none'}" if failed else "meets each"
    ending = ""
    if keeps := sum(each != LIMITS for each in failed):
        ending = f"; {keeps} of the others {KEEPS}"
    return f"It {met} of {criteria} of RFC 9743 that could be judged{ending}."


def figure_anchor(figure: Figure) -> str:
    """Id of the chart of a figure."""
    return f"chart-figure-{figure.key}"


def ordinal(rank: int) -> str:
    """A place in words.

    >>> [ordinal(each) for each in (1, 2, 3, 4, 11, 12, 13, 21, 112)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '112th']
    """
    teens = rank % 100 in (11, 12, 13)
    return f"{rank}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(rank % 10, 'th')}"


def criterion_anchor(criterion: Criterion) -> str:
    """Id of a criterion's row."""
    return f"criterion-{criterion.key}"


def _without_value(places: Sequence[tuple[Figure, Ranked]]) -> Iterator[tuple[str, str, str]]:
    for figure, value in places:
        if not is_known(value["value"]) and value["rank"] is None:
            is_drawn = any(is_known(each["value"]) for each in figure.values)
            why, anchor = value["why"] or "it has no value", figure_anchor(figure)
            yield figure.column.title, why, anchor if is_drawn else ""


# -------------------------------------------------------------------- since an earlier one

Move = Literal["better", "worse", "other", "within", "same"]

MOVES: Mapping[Move, str] = {
    "better": "better",
    "worse": "worse",
    "other": "moved",
    "within": "within the intervals",
    "same": "the same",
}
"""How a value moved, in words: ``within`` if the intervals of both overlap."""


class Change(NamedTuple):
    """A figure or cell before and now, in words."""

    what: str
    anchor: str
    before: str
    now: str
    move: Move


@dataclass(frozen=True)
class Changes:
    """Differences of two evaluations.

    Attributes:
        pairs: labels of the protocols that are compared, before and now.
        figures: all judged figures, moved or not.
        criteria: title, and answers before and now, of criteria with another answer.
        cells: cells that moved beyond their intervals, but for those of the figures.
        same, within: how many cells did not move, or within their intervals.
        only: how many cells only one of the two has.
    """

    pairs: Sequence[tuple[str, str]]
    figures: Sequence[Change]
    criteria: Sequence[Change]
    cells: Sequence[Change]
    same: int
    within: int
    only: int


def changes_of(before: Judgement, now: Judgement) -> Changes:
    """What moved from one evaluation to another, for the protocols that both evaluate.

    A protocol is the same if it has the same key, or if both evaluate a single one.
    """
    first, second = ([each.key for each in one.evaluation.evaluated] for one in (before, now))
    same = {key: key for key in second if key in first}
    pairs = dict(zip(first, second, strict=True)) if len(first) == len(second) == 1 else same
    was = {
        (group_of(each), pairs[each["protocol"]]): each
        for each in before.cells
        if each["protocol"] in pairs
    }
    own = [each for each in now.cells if each["protocol"] in pairs.values()]
    both = [(was[at], each) for each in own if (at := (group_of(each), each["protocol"])) in was]
    cells = list(_of_cells(both, now))
    moves = [each.move for each in cells]
    labels = [one.evaluation.labels for one in (before, now)]
    return Changes(
        pairs=[(labels[0][old], labels[1][new]) for old, new in pairs.items()],
        figures=[each for pair in pairs.items() for each in _of_figures(before, now, *pair)],
        criteria=[each for pair in pairs.items() for each in _of_criteria(before, now, *pair)],
        cells=[each for each in cells if each.move not in ("same", "within")],
        same=moves.count("same"),
        within=moves.count("within"),
        only=len(was) + len(own) - 2 * len(both),
    )


def _of_figures(before: Judgement, now: Judgement, old: str, new: str) -> Iterator[Change]:
    """All judged figures of a protocol that had or have a value, moved or not."""
    earlier = {each.key: value_of(each, old) for each in before.figures}
    for figure in now.figures:
        both = [earlier.get(figure.key), value_of(figure, new)]
        if any(each and is_known(each["value"]) for each in both):
            then, own = (_told(each, figure.column, is_ranked=True) for each in both)
            move = moved(found_of(both[0]), found_of(both[1]), figure.column.judged)
            yield Change(figure.column.title, figure_anchor(figure), then, own, move)


def _told(cell: Ranked | None, column: Column, *, is_ranked: bool = False) -> str:
    if cell is None or not is_known(cell["value"]):
        return "–"
    rank = cell["rank"] if is_ranked else None
    return value_text(cell["value"], column.unit) + (
        f", {ordinal(rank)} of {cell['of']}" if rank else ""
    )


def moved(before: Found, now: Found, judged: Judged) -> Move:
    """How a value with its interval moved; a difference that does not count is within, too.

    >>> moved(Found(1.0, 0.9, 1.1), Found(1.05, 1.0, 1.2), Judged("less", 0.02))
    'within'
    >>> moved(Found(1.0), Found(2.0), Judged("less", 0.02))
    'worse'
    """
    first, second = before.value, now.value
    if first == second:
        return "same"
    if first is None or second is None:
        return "other"
    if before.overlaps(now):
        return "within"
    if not judged.better:
        return "other"
    if judged.lead(second, first):
        return "better"
    return "worse" if judged.lead(first, second) else "within"


def _of_criteria(before: Judgement, now: Judgement, old: str, new: str) -> Iterator[Change]:
    """Criteria with another answer."""
    words = {True: "meets it", False: "does not meet it", None: "not known"}
    moves: dict[bool | None, Move] = {True: "better", False: "worse", None: "other"}
    then, own = (
        {(each.key, one.protocol): one.passes for each in found.criteria for one in each.answers}
        for found in (before, now)
    )
    for each in now.criteria:
        was, passes = then.get((each.key, old)), own.get((each.key, new))
        if was != passes:
            move = "other" if was is None else moves[passes]
            said = (words[was], words[passes])
            yield Change(each.file.question, criterion_anchor(each), *said, move)


def _of_cells(both: Sequence[tuple[Ranked, Ranked]], now: Judgement) -> Iterator[Change]:
    """Cells before and now, but for those of figures."""
    labels, studies = now.evaluation.labels, {each.key: each for each in now.evaluation.studies}
    for then, cell in both:
        study = studies[cell["study"]]
        part = study.parts[cell["part"]]
        column = part.columns[cell["column"]]
        if any(
            cell["part"] == f.part and cell["column"] == f.column for f in study.figures.values()
        ):
            continue
        where = joined(
            column.title,
            cell["row"],
            f"beside {labels[cell['beside']]}" if cell["beside"] else "",
            cell["panel"],
            "" if cell["x"] is None else with_unit(format_number(cell["x"]), part.x_unit),
        )
        move = moved(found_of(then), found_of(cell), column.judged)
        said = (_told(then, column), _told(cell, column))
        anchor = f"part-{study.key}-{cell['part']}"
        yield Change(f"{part.title}: {where}", anchor, *said, move)
