"""Cells → their ranks, the judged figures, and the answers to RFC 9743's questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, cast

import polars as pl

from bdpbench.contracts.evaluation import (
    Answer,
    Column,
    Criterion,
    CriterionFile,
    Evaluation,
    Figure,
    Judgement,
    Ranked,
    found_of,
    group_of,
    never_reached,
)
from bdpbench.contracts.judged import places
from bdpbench.pages.text import format_number
from bdpbench.units import with_unit

Prints: TypeAlias = Mapping[tuple[str, str, str, str], float]
"""(study, run id, metric, subject) → the number that the study prints for it."""


def judged(evaluation: Evaluation, cells: pl.DataFrame, prints: Prints) -> Judgement:
    """An evaluation with the ranks of its cells, and what follows from them."""
    columns, labels = evaluation.columns, evaluation.labels
    order = list(labels)
    ranked = cast("list[Ranked]", cells.to_dicts())
    groups: dict[tuple[object, ...], list[Ranked]] = {}
    by_column: dict[tuple[str, str, str], list[Ranked]] = {}
    for cell in ranked:
        about = (cell["metric"], cell["subject"])
        printed = (prints.get((cell["study"], run, *about)) for run in cell["run_ids"])
        own = next((each for each in printed if each is not None), None)
        cell |= {"rank": None, "of": 0, "place": "", "unsure": False, "printed": own}
        groups.setdefault(group_of(cell), []).append(cell)
        by_column.setdefault((cell["study"], cell["part"], cell["column"]), []).append(cell)
    for place, group in groups.items():
        _rank(group, columns[cast("tuple[str, str, str]", place[:3])])
    for group in by_column.values():
        group.sort(key=lambda cell: order.index(cell["protocol"]))
    figures, criteria = [], []
    for study in evaluation.studies:
        for key, figure in study.figures.items():
            at = (study.key, figure.part, figure.column)
            if at in columns:
                figures.append(Figure(key, figure.text, columns[at], by_column.get(at, [])))
        for key, told in study.criteria.items():
            at = (study.key, told.part or "", told.column or "")
            of = study.names.get(told.of, told.of)
            found = by_column.get(at, [])
            criteria.append(_criterion(key, told, columns.get(at), found, of, labels))
    return Judgement(evaluation, ranked, figures, criteria)


def _rank(cells: Sequence[Ranked], column: Column) -> None:
    """Rank the cells of a group; what was never reached has a rank, too."""
    placed = [each for each in cells if each["value"] is not None or never_reached(each["why"])]
    found = [found_of(each) for each in placed]
    for cell in cells:
        cell["of"] = len(placed)
    for cell, place in zip(placed, places(found, column.judged), strict=True):
        known = place.known if column.better else ""
        cell |= {"rank": place.rank, "place": known, "unsure": bool(place.unsure)}


def _criterion(
    key: str,
    told: CriterionFile,
    column: Column | None,
    cells: Sequence[Ranked],
    of: str,
    labels: Mapping[str, str],
) -> Criterion:
    """A question with the answers of all protocols; ``of`` is the one that its rule names."""
    if told.part is None:
        return Criterion(key, told)
    own = [each for each in (told.least, told.most) if each is not None]
    by_protocol: dict[str, list[Ranked]] = {}
    for cell in cells:
        by_protocol.setdefault(cell["protocol"], []).append(cell)
    reference = _worst(told, by_protocol.get(of, ()))
    relative = [told.times * reference] if told.times and reference is not None else []
    # Of its own bound and what another protocol has, the one that is easier to meet.
    bound = (max if told.least is None else min)(own + relative)
    unit = column.unit if column else ""
    side, what = "at most" if told.least is None else "at least", f"{own[0]:g}"
    rule = f"{side} {with_unit(what, unit)}"
    if told.times is not None:
        times = "" if told.times == 1 else f"{told.times:g} times "
        rule += f", or {times}what {labels.get(of, told.of)} has"
        if reference is None:
            rule += ", which is not known"
        else:
            value, limit = (with_unit(format_number(each), unit) for each in (reference, bound))
            rule += f" ({value}); that is {side} {limit}"
    answers = [_answer(told, bound, name, found) for name, found in by_protocol.items()]
    known = bound if column else None
    return Criterion(key, told, unit, rule, known, reference, answers, column, cells)


def _worst(told: CriterionFile, cells: Iterable[Ranked]) -> float | None:
    """The worst value of some cells by the rule of a criterion; None if they have none."""
    known = [each["value"] for each in cells if each["value"] is not None]
    return (max if told.least is None else min)(known, default=None)


def _answer(told: CriterionFile, bound: float, name: str, cells: Sequence[Ranked]) -> Answer:
    """What the worst cell of a protocol says."""
    worst = _worst(told, cells)
    why = next((each["why"] for each in cells if each["why"]), "")
    if worst is None or (why and not never_reached(why)):
        worst, passes = None, None
    else:
        passes = not why and (worst <= bound if told.least is None else worst >= bound)
    runs = [run_id for each in cells for run_id in each["run_ids"]]
    ends = [end for each in cells for end in found_of(each).ends]
    sides = {end <= bound if told.least is None else end >= bound for end in ends}
    # The protocol that the bound is taken from is on it.
    by_chance = not why and len(sides) > 1 and worst != bound
    return Answer(name, passes, worst, runs, why, by_chance)
