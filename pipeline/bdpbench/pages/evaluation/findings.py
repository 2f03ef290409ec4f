"""What the figures and criteria of an evaluation say about a protocol, in sentences.

The rules are all here, and the page states them:

- A protocol is *best* in a figure if no protocol has a better value, and *worst* if none has a
  worse one, by a difference that counts (``contracts/judged.py``), and if no interval overlaps with
  one of another place: overlapping ones leave the order of two protocols open.
- RFC 9743 asks for consensus that a protocol meets its criteria (section 5) in general use
  (section 6): what it does not meet there would *keep it from deployment*. In the special cases of
  section 7 the RFC may let it pass nevertheless: these *limit* where it can be used. What it does
  not meet of sections 5.1.1 and 5.2 makes it a *danger to others*.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from bdpbench.contracts.evaluation import Answer, Criterion, Figure, Judgement, Ranked
from bdpbench.pages.text import format_number
from bdpbench.units import with_unit

SPECIAL_CASES = "7"
"""The section of RFC 9743 whose cases may be excepted."""

DANGERS = ("5.1.1", "5.2")
"""The sections of RFC 9743 about the collapse of the network and about what others get: a protocol
that does not meet them is called a danger to others."""

KEEPS, LIMITS = "would keep it from deployment", "limits where it can be used"
DANGER = "as a danger to others"


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
    places = [(each, value) for each in judgement.figures for value in values_of(each, protocol)]
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
        unknown=[*_without_value(places), *_without_answer(answered)],
    )


def values_of(figure: Figure, protocol: str) -> list[Ranked]:
    """A protocol's value of a figure; none if the figure does not list the protocol."""
    return [each for each in figure.values if each["protocol"] == protocol]


def _meaning(criterion: Criterion) -> str:
    """What it means that a criterion is not met."""
    section = f"{criterion.file.section}."
    if section.startswith(f"{SPECIAL_CASES}."):
        return LIMITS
    danger = any(section.startswith(f"{each}.") for each in DANGERS)
    return f"{KEEPS}, {DANGER}" if danger else KEEPS


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
        danger = f", {DANGER}" if any(DANGER in each for each in failed) else ""
        ending = f"; {keeps} of the others {KEEPS}{danger}"
    return f"It {met} of {criteria} of RFC 9743 that could be judged{ending}."


def figure_anchor(figure: Figure) -> str:
    """Id of the chart of a figure."""
    return f"chart-figure-{figure.key}"


def shown(value: float | None, unit: str) -> str:
    """A value for a sentence."""
    return with_unit(format_number(value), unit)


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


def section_of(criterion: Criterion) -> str:
    """The section of RFC 9743 in words, or the sections."""
    section = criterion.file.section
    return f"{'sections' if ' and ' in section else 'section'} {section}"


def _without_value(
    places: Sequence[tuple[Figure, Ranked]],
) -> Iterator[tuple[str, str, str]]:
    for figure, value in places:
        if not is_known(value["value"]) and value["rank"] is None:
            is_drawn = any(is_known(each["value"]) for each in figure.values)
            why, anchor = value["why"] or "it has no value", figure_anchor(figure)
            yield figure.column.title, why, anchor if is_drawn else ""


def _without_answer(
    answered: Sequence[tuple[Criterion, Answer]],
) -> Iterator[tuple[str, str, str]]:
    for criterion, answer in answered:
        if answer.passes is None:
            why = answer.why or "no run of it is there"
            yield criterion.file.question, why, criterion_anchor(criterion)
