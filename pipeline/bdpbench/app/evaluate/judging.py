"""Cells → the judged figures with their ranks, and the answers to RFC 9743's questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bdpbench.app.evaluate.cells import Cell
from bdpbench.contracts.evaluation import (
    Answer,
    Criterion,
    EvaluatedStudy,
    Figure,
    FigureValue,
    Part,
    never_reached,
)
from bdpbench.contracts.judged import Found, Judged, judged_of, places
from bdpbench.pages.text import format_number
from bdpbench.studies.evaluate import CriterionFile, FigureFile, Mirror
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
    told: FigureFile = mirror.file.figures[key]
    part = next((each for each in study["parts"] if each["key"] == told.part), None)
    if part is None:
        return None
    column = next(each for each in part["columns"] if each["key"] == told.column)
    of_column = {each["protocol"]: each for each in _of(cells, told.part, told.column)}
    values = [_value(name, of_column[name]) for name in names if name in of_column]
    _rank(values, judged_of(column, column["unit"]))
    return {
        "key": key,
        "title": column["title"],
        "unit": column["unit"],
        "better": column["better"],
        "apart": column.get("apart", 0.0),
        "reference": column.get("reference"),
        "text": told.text,
        "question": told.question,
        "study": mirror.key,
        "part": told.part,
        "column": told.column,
        "values": values,
    }


def _of(cells: Sequence[Cell], part: str, column: str) -> list[Cell]:
    return [each for each in cells if (each["part"], each["column"]) == (part, column)]


def _value(name: str, cell: Cell) -> FigureValue:
    return {
        "protocol": name,
        "value": cell["value"],
        "low": cell["low"],
        "high": cell["high"],
        "rank": None,
        "of": 0,
        "unsure": [],
        "runs": cell["run_ids"],
        "why": cell["why"],
    }


def _rank(values: Sequence[FigureValue], judged: Judged) -> None:
    """Ranks of the values, in place; what was never reached has one, too."""
    ranked = [
        each
        for each in values
        if each["value"] is not None or never_reached(each["value"], each["why"])
    ]
    found = [Found(each["value"], each["low"], each["high"]) for each in ranked]
    for each, place in zip(ranked, places(found, judged), strict=True):
        each["rank"] = place.rank
        each["unsure"] = [ranked[n]["protocol"] for n in place.unsure]
    for each in values:
        each["of"] = len(ranked)


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
    part = next((each for each in study["parts"] if each["key"] == told.part), None)
    answers: list[Answer] = []
    reference = bound = None
    if part is not None and told.part is not None and told.column is not None:
        of_column = _of(cells, told.part, told.column)
        reference = _worst(told, [each for each in of_column if each["protocol"] == of])
        bound = _bound(told, reference)
        for name in labels:
            own = [each for each in of_column if each["protocol"] == name]
            if own:
                answers.append(_answer(told, bound, name, own))
    return {
        "key": key,
        "title": told.question,
        "section": told.section,
        "text": told.text,
        "rule": _rule(told, _unit(part, told), labels.get(of, told.of), reference, bound),
        "bound": bound,
        "reference": reference,
        "source": told.source,
        "study": mirror.key if told.part else "",
        "part": told.part or "",
        "column": told.column or "",
        "answers": answers,
    }


def _unit(part: Part | None, told: CriterionFile) -> str:
    columns = part["columns"] if part is not None else []
    return next((each["unit"] for each in columns if each["key"] == told.column), "")


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
    if worst is None or (why and not never_reached(None, why)):
        return _as_answer(name, None, None, runs, why)
    if why:
        return _as_answer(name, False, worst, runs, why)
    passes = worst <= bound if told.least is None else worst >= bound
    return _as_answer(name, passes, worst, runs, "")


def _as_answer(
    name: str, passes: bool | None, worst: float | None, runs: list[str], why: str
) -> Answer:
    return {"protocol": name, "passes": passes, "worst": worst, "runs": runs, "why": why}
