"""Cells → the judged figures with their ranks, and the answers to RFC 9743's questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bdpbench.contracts.evaluation import (
    Answer,
    Cell,
    Criterion,
    CriterionFile,
    EvaluatedStudy,
    Figure,
    FigureValue,
    Quantity,
    never_reached,
)
from bdpbench.contracts.judged import Found, Judged, places
from bdpbench.pages.text import format_number
from bdpbench.studies.evaluate import Mirror
from bdpbench.units import with_unit


def figure_of(
    mirror: Mirror, key: str, study: EvaluatedStudy, cells: Sequence[Cell], names: Iterable[str]
) -> Figure | None:
    """A judged figure with the values of all protocols; None if its part has no cells.

    Args:
        mirror: the study that declares it.
        key: of the figure.
        study: the study's parts.
        cells: all cells of the study.
        names: keys of the protocols, in the order of the document.
    """
    told = mirror.file.figures[key]
    part = study.parts.get(told.part)
    if part is None or told.column not in part.columns:
        return None
    column = part.columns[told.column]
    of_column = {each["protocol"]: each for each in _of(cells, told.part, told.column)}
    found = [of_column[name] for name in names if name in of_column]
    quantity = {name: getattr(column, name) for name in Quantity.model_fields}
    values = _ranked(found, column.judged)
    return Figure(**told.model_dump(), **quantity, key=key, study=mirror.key, values=values)


def _of(cells: Sequence[Cell], part: str, column: str) -> list[Cell]:
    return [each for each in cells if (each["part"], each["column"]) == (part, column)]


def _ranked(cells: Sequence[Cell], judged: Judged) -> list[FigureValue]:
    """Cells as values with their ranks; what was never reached has one, too."""
    ranked = [
        each
        for each in cells
        if each["value"] is not None or never_reached(each["value"], each["why"])
    ]
    found = [Found(each["value"], each["low"], each["high"]) for each in ranked]
    placed = dict(zip((each["protocol"] for each in ranked), places(found, judged), strict=True))
    values = []
    for each in cells:
        place = placed.get(each["protocol"])
        value = FigureValue(
            protocol=each["protocol"],
            value=each["value"],
            low=each["low"],
            high=each["high"],
            rank=place.rank if place else None,
            of=len(ranked),
            unsure=[ranked[n]["protocol"] for n in place.unsure] if place else [],
            place=place.known if place and judged.better else "",
            runs=each["run_ids"],
            why=each["why"],
        )
        values.append(value)
    return values


def criterion_of(
    mirror: Mirror,
    key: str,
    study: EvaluatedStudy,
    cells: Sequence[Cell],
    labels: Mapping[str, str],
    common: Mapping[str, str],
) -> Criterion:
    """A question of RFC 9743 with the answers of all protocols.

    Args:
        mirror: the study that declares it.
        key: of the criterion.
        study: the study's parts.
        cells: all cells of the study.
        labels: key → label of the protocols, in the order of the document.
        common: common name of a protocol of the study → its key in the document.
    """
    told, of = mirror.file.criteria[key], common.get(mirror.file.criteria[key].of, "")
    part = study.parts.get(told.part or "")
    answers: list[Answer] = []
    reference = bound = None
    unit = ""
    if part is not None and told.part and told.column in part.columns:
        of_column = _of(cells, told.part, told.column)
        unit = part.columns[told.column].unit
        reference = _worst(told, [each for each in of_column if each["protocol"] == of])
        bound = _bound(told, reference)
        for name in labels:
            own = [each for each in of_column if each["protocol"] == name]
            if own:
                answers.append(_answer(told, bound, name, own))
    return Criterion(
        **told.model_dump(),
        key=key,
        study=mirror.key if told.part else "",
        unit=unit,
        rule=_rule(told, unit, labels.get(of, told.of), reference, bound),
        bound=bound,
        reference=reference,
        answers=answers,
    )


def _worst(told: CriterionFile, cells: Sequence[Cell]) -> float | None:
    """The worst value of some cells by the rule of a criterion; None if they have none."""
    known = [each["value"] for each in cells if each["value"] is not None]
    if not known:
        return None
    return max(known) if told.least is None else min(known)


def _bound(told: CriterionFile, reference: float | None) -> float:
    """What a value must not be below, or above: its own bound, or another protocol's if easier."""
    bounds = [told.least if told.most is None else told.most]
    if told.times is not None and reference is not None:
        bounds.append(told.times * reference)
    known = [each for each in bounds if each is not None]
    return max(known) if told.least is None else min(known)


def _rule(
    told: CriterionFile, unit: str, of: str, reference: float | None, bound: float | None
) -> str:
    """The rule of a criterion in words, with what it comes to; "" if it has none."""
    if told.part is None:
        return ""
    side = "at most" if told.least is None else "at least"
    own = told.most if told.least is None else told.least
    words = f"{side} {with_unit(f'{own:g}', unit)}"
    if told.times is None:
        return words
    times = "" if told.times == 1 else f"{told.times:g} times "
    words = f"{words}, or {times}what {of} has"
    if reference is None:
        return f"{words}, which is not known"
    value, comes_to = (with_unit(format_number(each), unit) for each in (reference, bound))
    return f"{words} ({value}); that is {side} {comes_to}"


def _answer(told: CriterionFile, bound: float, name: str, own: Sequence[Cell]) -> Answer:
    """What the worst cell of a protocol says."""
    runs = [run_id for each in own for run_id in each["run_ids"]]
    worst = _worst(told, own)
    why = next((each["why"] for each in own if each["why"]), "")
    passes = None
    if worst is None or (why and not never_reached(None, why)):
        worst = None
    elif why:
        passes = False
    else:
        passes = worst <= bound if told.least is None else worst >= bound
    return Answer(protocol=name, passes=passes, worst=worst, runs=runs, why=why)
