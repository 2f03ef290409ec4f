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
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from bdpbench.contracts.evaluation import Answer, Criterion, Figure, Judgement, Ranked
from bdpbench.pages.text import format_number, listed
from bdpbench.units import with_unit

SPECIAL_CASES = "7"
"""The section of RFC 9743 whose cases may be excepted."""

DANGERS = ("5.1.1", "5.2")
"""The sections of RFC 9743 about the collapse of the network and about what others get: a protocol
that does not meet them is called a danger to others."""

_FEWEST_FIGURES = 3


@dataclass(frozen=True)
class Finding:
    """A sentence, and the id of the element that shows what it rests on, "" if there is none."""

    text: str
    anchor: str


@dataclass(frozen=True)
class Findings:
    """What is said about one evaluated protocol.

    Attributes:
        summary: one or two sentences with the counts.
        best, worst: figures in which it has the first or the last place.
        keeps: what would keep it from deployment.
        limits: special cases in which it does not meet a criterion.
        unknown: figures and criteria without a value of it, and why.
    """

    summary: str
    best: Sequence[Finding]
    worst: Sequence[Finding]
    keeps: Sequence[Finding]
    limits: Sequence[Finding]
    unknown: Sequence[Finding]


def findings_of(judgement: Judgement, protocol: str) -> Findings:
    """What an evaluation says about one of its protocols, by its key."""
    labels = judgement.evaluation.labels
    places = [(each, value) for each in judgement.figures for value in values_of(each, protocol)]
    ranked = [(figure, value) for figure, value in places if _is_ranked(figure, value)]
    best = [each for each in ranked if each[1]["place"] == "first"]
    worst = [each for each in ranked if each[1]["place"] == "last"]
    answered = [
        (each, answer)
        for each in judgement.criteria
        for answer in each.answers
        if answer.protocol == protocol
    ]
    failed = [(each, answer) for each, answer in answered if answer.passes is False]
    keeps = [each for each in failed if not _is_special(each[0])]
    passed = sum(answer.passes is True for _, answer in answered)
    return Findings(
        summary=_summary(labels[protocol], ranked, best, worst, passed, failed, keeps),
        best=[_of_figure(*each, labels, first=True) for each in best],
        worst=[_of_figure(*each, labels, first=False) for each in worst],
        keeps=[_of_criterion(*each) for each in keeps],
        limits=[_of_criterion(*each) for each in failed if _is_special(each[0])],
        unknown=[*_without_value(places), *_without_answer(answered)],
    )


def values_of(figure: Figure, protocol: str) -> list[Ranked]:
    """A protocol's value of a figure; none if the figure does not list the protocol."""
    return [each for each in figure.values if each["protocol"] == protocol]


def nearest(figures: Sequence[Figure], protocol: str, others: Iterable[str]) -> str:
    """The other protocol whose ranks in the judged figures differ least from a protocol's.

    Returns:
        Its key; "" if none has enough figures in common with it.
    """
    ranks = [{each["protocol"]: each["rank"] for each in figure.values} for figure in figures]
    distances = {}
    for other in others:
        pairs = [(found.get(protocol), found.get(other)) for found in ranks]
        known = [abs(mine - theirs) for mine, theirs in pairs if mine and theirs]
        if len(known) >= _FEWEST_FIGURES:
            distances[other] = statistics.fmean(known)
    return min(distances, key=distances.__getitem__, default="")


def _is_special(criterion: Criterion) -> bool:
    return criterion.file.section.split(".")[0] == SPECIAL_CASES


def _is_danger(criterion: Criterion) -> bool:
    section = f"{criterion.file.section}."
    return any(section.startswith(f"{each}.") for each in DANGERS)


def _is_ranked(figure: Figure, value: Ranked) -> bool:
    """Whether a protocol has a rank; one that never reached what is measured has one, too."""
    return bool(figure.column.better) and value["rank"] is not None


def is_known(value: float | None) -> TypeGuard[float]:
    """Whether there is a number that can be compared."""
    return value is not None and math.isfinite(value)


def _summary(
    label: str,
    ranked: Sequence[object],
    best: Sequence[object],
    worst: Sequence[object],
    passed: int,
    failed: Sequence[object],
    keeps: Sequence[tuple[Criterion, Answer]],
) -> str:
    if not ranked:
        compared = f"{label} has no figure that can be compared with another protocol's."
    else:
        figures = "one figure" if len(ranked) == 1 else f"{len(ranked)} figures"
        best_in, worst_in = len(best) or "none", len(worst) or "none"
        compared = f"Of {figures}, {label} is best in {best_in} and worst in {worst_in}."
    judged = passed + len(failed)
    if not judged:
        return f"{compared} No criterion of RFC 9743 could be judged."
    criteria = "the one criterion" if judged == 1 else f"the {judged} criteria"
    met = f"meets {passed or 'none'}" if failed else "meets each"
    ending = "."
    if keeps:
        danger = ", as a danger to others" if any(_is_danger(each) for each, _ in keeps) else ""
        ending = f"; {len(keeps)} of the others would keep it from deployment{danger}."
    return f"{compared} It {met} of {criteria} of RFC 9743 that could be judged{ending}"


def _of_figure(figure: Figure, value: Ranked, labels: Mapping[str, str], *, first: bool) -> Finding:
    """A first or last place, who shares it, and who comes next."""
    rank = value["rank"] or 0
    sharing = [
        labels[each["protocol"]]
        for each in figure.values
        if each["rank"] == rank and each is not value
    ]
    shared = f", together with {listed(sharing)}" if sharing else ""
    text = f"{figure.column.title}: {_value_text(figure, value)}, {ordinal(rank)} of {value['of']}"
    others = [each for each in figure.values if _is_ranked(figure, each) and each["rank"] != rank]
    if others:
        other = (min if first else max)(others, key=lambda each: each["rank"] or 0)
        where = "the next" if first else "the one before"
        shared += f", {where} is {labels[other['protocol']]} with {_value_text(figure, other)}"
    return Finding(f"{text}{shared}.", figure_anchor(figure))


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


def _value_text(figure: Figure, value: Ranked) -> str:
    """A value with its unit, or why a protocol with a rank has none."""
    known = is_known(value["value"])
    return shown(value["value"], figure.column.unit) if known else value["why"]


def criterion_anchor(criterion: Criterion) -> str:
    """Id of a criterion's row."""
    return f"criterion-{criterion.key}"


def _of_criterion(criterion: Criterion, answer: Answer) -> Finding:
    """What a criterion that is not met means."""
    value = shown(answer.worst, criterion.unit)
    measured = f"{value}, where the rule is" if is_known(answer.worst) else "the rule is"
    ending = " It is a danger to others." if _is_danger(criterion) else ""
    return Finding(
        f"{criterion.file.question} No: {measured} {criterion.rule} "
        f"(RFC 9743, {section_of(criterion)}).{ending}",
        criterion_anchor(criterion),
    )


def section_of(criterion: Criterion) -> str:
    """The section of RFC 9743 in words, or the sections."""
    section = criterion.file.section
    return f"{'sections' if ' and ' in section else 'section'} {section}"


def _without_value(places: Sequence[tuple[Figure, Ranked]]) -> Iterator[Finding]:
    for figure, value in places:
        if not is_known(value["value"]) and value["rank"] is None:
            why = value["why"] or "it has no value"
            is_drawn = any(is_known(each["value"]) for each in figure.values)
            anchor = figure_anchor(figure) if is_drawn else ""
            yield Finding(f"{figure.column.title}: {why}.", anchor)


def _without_answer(answered: Sequence[tuple[Criterion, Answer]]) -> Iterator[Finding]:
    for criterion, answer in answered:
        if answer.passes is None:
            why = answer.why or "no run of it is there"
            yield Finding(f"{criterion.file.question}: {why}.", criterion_anchor(criterion))
