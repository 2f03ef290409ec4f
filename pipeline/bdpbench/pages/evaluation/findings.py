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

from bdpbench.contracts.evaluation import Answer, Criterion, Evaluation, Figure, FigureValue
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
    best: tuple[Finding, ...]
    worst: tuple[Finding, ...]
    keeps: tuple[Finding, ...]
    limits: tuple[Finding, ...]
    unknown: tuple[Finding, ...]


def findings_of(evaluation: Evaluation, protocol: str) -> Findings:
    """What an evaluation says about one of its protocols.

    Args:
        evaluation: the document.
        protocol: key of the protocol.
    """
    labels = evaluation.labels
    places = [
        (figure, value)
        for figure in evaluation.figures
        if (value := value_of(figure, protocol)) is not None
    ]
    ranked = [(figure, value) for figure, value in places if _is_ranked(figure, value)]
    best = [each for each in ranked if each[1].place == "first"]
    worst = [each for each in ranked if each[1].place == "last"]
    answered = list(_answers(evaluation, protocol))
    failed = [(each, answer) for each, answer in answered if answer.passes is False]
    keeps = [each for each in failed if not is_special(each[0])]
    limits = [each for each in failed if is_special(each[0])]
    passed = sum(answer.passes is True for _, answer in answered)
    return Findings(
        summary=_summary(labels[protocol], ranked, best, worst, passed, failed, keeps),
        best=tuple(_of_figure(*each, labels, first=True) for each in best),
        worst=tuple(_of_figure(*each, labels, first=False) for each in worst),
        keeps=tuple(_of_criterion(*each) for each in keeps),
        limits=tuple(_of_criterion(*each) for each in limits),
        unknown=(*_without_value(places), *_without_answer(answered)),
    )


def value_of(figure: Figure, protocol: str) -> FigureValue | None:
    """A protocol's value of a figure; None if the figure does not list the protocol."""
    return next((each for each in figure.values if each.protocol == protocol), None)


def nearest(figures: Sequence[Figure], protocol: str, others: Iterable[str]) -> str:
    """The other protocol whose ranks in the judged figures differ least from a protocol's.

    Returns:
        Its key; "" if none has enough figures in common with it.
    """
    ranks = [{each.protocol: each.rank for each in figure.values} for figure in figures]
    distances = {}
    for other in others:
        pairs = [(found.get(protocol), found.get(other)) for found in ranks]
        known = [abs(mine - theirs) for mine, theirs in pairs if mine and theirs]
        if len(known) >= _FEWEST_FIGURES:
            distances[other] = statistics.fmean(known)
    return min(distances, key=distances.__getitem__, default="")


def is_special(criterion: Criterion) -> bool:
    """Whether a criterion is of a special case of RFC 9743."""
    return criterion.section.split(".")[0] == SPECIAL_CASES


def is_danger(criterion: Criterion) -> bool:
    """Whether a protocol that does not meet a criterion is a danger to others."""
    section = f"{criterion.section}."
    return any(section.startswith(f"{each}.") for each in DANGERS)


def _is_ranked(figure: Figure, value: FigureValue) -> bool:
    """Whether a protocol has a rank; one that never reached what is measured has one, too."""
    return bool(figure.better) and value.rank is not None


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
        compared = f"Of {figures}, {label} is best in {_some(best)} and worst in {_some(worst)}."
    judged = passed + len(failed)
    if not judged:
        return f"{compared} No criterion of RFC 9743 could be judged."
    criteria = "the one criterion" if judged == 1 else f"the {judged} criteria"
    met = f"meets {_some(range(passed))}" if failed else "meets each"
    ending = "."
    if keeps:
        danger = ", as a danger to others" if any(is_danger(each) for each, _ in keeps) else ""
        ending = f"; {len(keeps)} of the others would keep it from deployment{danger}."
    return f"{compared} It {met} of {criteria} of RFC 9743 that could be judged{ending}"


def _some(counted: Sequence[object]) -> str:
    return str(len(counted)) if counted else "none"


def _of_figure(
    figure: Figure, value: FigureValue, labels: Mapping[str, str], *, first: bool
) -> Finding:
    sharing = [
        labels[each.protocol]
        for each in figure.values
        if each.rank == value.rank and each is not value
    ]
    words = [f"{figure.title}: {_value_text(figure, value)}"]
    words.append(f"{ordinal(value.rank or 0)} of {value.of}{_shared(sharing)}")
    words += _neighbour(figure, value, labels, first=first)
    return Finding(", ".join(words) + ".", figure_anchor(figure))


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


def _shared(labels: Sequence[str]) -> str:
    return f", together with {listed(labels)}" if labels else ""


def _neighbour(
    figure: Figure, value: FigureValue, labels: Mapping[str, str], *, first: bool
) -> Iterator[str]:
    """Who comes next, seen from the first or the last place."""
    others = [
        each for each in figure.values if _is_ranked(figure, each) and each.rank != value.rank
    ]
    if others:
        other = (min if first else max)(others, key=lambda each: each.rank or 0)
        where = "the next" if first else "the one before"
        yield f"{where} is {labels[other.protocol]} with {_value_text(figure, other)}"


def _value_text(figure: Figure, value: FigureValue) -> str:
    """A value with its unit, or why a protocol with a rank has none."""
    return shown(value.value, figure.unit) if is_known(value.value) else value.why


def _answers(evaluation: Evaluation, protocol: str) -> Iterator[tuple[Criterion, Answer]]:
    for criterion in evaluation.criteria:
        for answer in criterion.answers:
            if answer.protocol == protocol:
                yield criterion, answer


def criterion_anchor(criterion: Criterion) -> str:
    """Id of a criterion's row."""
    return f"criterion-{criterion.key}"


def _of_criterion(criterion: Criterion, answer: Answer) -> Finding:
    """What a criterion that is not met means."""
    value = shown(answer.worst, criterion.unit)
    measured = f"{value}, where the rule is" if is_known(answer.worst) else "the rule is"
    ending = " It is a danger to others." if is_danger(criterion) else ""
    return Finding(
        f"{criterion.question} No: {measured} {criterion.rule} "
        f"(RFC 9743, {section_of(criterion)}).{ending}",
        criterion_anchor(criterion),
    )


def section_of(criterion: Criterion) -> str:
    """The section of RFC 9743 in words, or the sections."""
    section = criterion.section
    return f"{'sections' if ' and ' in section else 'section'} {section}"


def _without_value(places: Sequence[tuple[Figure, FigureValue]]) -> Iterator[Finding]:
    for figure, value in places:
        if not is_known(value.value) and value.rank is None:
            why = value.why or "it has no value"
            is_drawn = any(is_known(each.value) for each in figure.values)
            yield Finding(f"{figure.title}: {why}.", figure_anchor(figure) if is_drawn else "")


def _without_answer(answered: Sequence[tuple[Criterion, Answer]]) -> Iterator[Finding]:
    for criterion, answer in answered:
        if answer.passes is None:
            why = answer.why or "no run of it is there"
            yield Finding(f"{criterion.question}: {why}.", criterion_anchor(criterion))
