"""What differs between two evaluations of a protocol: what a change of it changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl

from bdpbench.contracts.evaluation import Criterion, Evaluation, Figure, FigureValue
from bdpbench.contracts.judged import Found, Judged
from bdpbench.pages.evaluation.findings import (
    criterion_anchor,
    figure_anchor,
    is_known,
    ordinal,
    shown,
    value_of,
)
from bdpbench.pages.text import format_number, joined
from bdpbench.units import with_unit

Move = Literal["better", "worse", "other", "within", "same"]

MOVES: Mapping[Move, str] = {
    "better": "better",
    "worse": "worse",
    "other": "moved",
    "within": "within the intervals",
    "same": "the same",
}
"""How a value moved, in words: ``within`` if the intervals of both overlap."""

_PLACE = ("study", "part", "column", "row", "beside", "panel", "x")


@dataclass(frozen=True)
class Change:
    """A figure or cell before and now, in words."""

    what: str
    anchor: str
    before: str
    now: str
    move: Move

    @property
    def words(self) -> str:
        """How it moved."""
        return MOVES[self.move]


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

    pairs: tuple[tuple[str, str], ...]
    figures: tuple[Change, ...]
    criteria: tuple[Change, ...]
    cells: tuple[Change, ...]
    same: int
    within: int
    only: int


def changes_of(
    before: Evaluation, cells_before: pl.DataFrame, now: Evaluation, cells_now: pl.DataFrame
) -> Changes:
    """What moved from one evaluation to another, for the protocols that both evaluate.

    A protocol is the same if it has the same key, or if both evaluate a single one.
    """
    keys = [[each.key for each in one.evaluated] for one in (before, now)]
    pairs = [(key, key) for key in keys[1] if key in keys[0]]
    if all(len(each) == 1 for each in keys):
        pairs = [(keys[0][0], keys[1][0])]
    figures = {each.key: each for each in before.figures}
    criteria = {each.key: each for each in before.criteria}
    found = [
        change
        for first, second in pairs
        for figure in now.figures
        if (change := _of_figure(figures.get(figure.key), figure, first, second)) is not None
    ]
    answers = [
        change
        for first, second in pairs
        for each in now.criteria
        if (change := _of_criterion(criteria.get(each.key), each, first, second)) is not None
    ]
    cells, only = _of_cells(cells_before, cells_now, dict(pairs), now)
    moves = [each.move for each in cells]
    return Changes(
        pairs=tuple((before.labels[first], now.labels[second]) for first, second in pairs),
        figures=tuple(found),
        criteria=tuple(answers),
        cells=tuple(each for each in cells if each.move not in ("same", "within")),
        same=moves.count("same"),
        within=moves.count("within"),
        only=only,
    )


def _of_figure(earlier: Figure | None, figure: Figure, first: str, second: str) -> Change | None:
    values = (value_of(earlier, first) if earlier else None, value_of(figure, second))
    if all(each is None or not is_known(each.value) for each in values):
        return None
    then, new = (Found(each.value, each.low, each.high) if each else Found(None) for each in values)
    return Change(
        what=figure.title,
        anchor=figure_anchor(figure),
        before=_ranked(values[0], figure.unit),
        now=_ranked(values[1], figure.unit),
        move=moved(then, new, figure.judged),
    )


def _ranked(value: FigureValue | None, unit: str) -> str:
    if value is None or not is_known(value.value):
        return "–"
    place = f", {ordinal(value.rank)} of {value.of}" if value.rank else ""
    return f"{shown(value.value, unit)}{place}"


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


def _of_criterion(
    earlier: Criterion | None, criterion: Criterion, first: str, second: str
) -> Change | None:
    then, now = (_passes(earlier, first) if earlier else None), _passes(criterion, second)
    words = {True: "meets it", False: "does not meet it", None: "not known"}
    moves: dict[bool | None, Move] = {True: "better", False: "worse", None: "other"}
    return (
        None
        if then == now
        else Change(
            what=criterion.question,
            anchor=criterion_anchor(criterion),
            before=words[then],
            now=words[now],
            move="other" if then is None else moves[now],
        )
    )


def _passes(criterion: Criterion, protocol: str) -> bool | None:
    answers = (each for each in criterion.answers if each.protocol == protocol)
    return next((each.passes for each in answers), None)


def _of_cells(
    before: pl.DataFrame, now: pl.DataFrame, pairs: Mapping[str, str], evaluation: Evaluation
) -> tuple[list[Change], int]:
    """Cells of the compared protocols but for those of figures, and how many only one side has."""
    keys, ends = [*_PLACE, "protocol"], ["value", "low", "high"]
    first = before.filter(pl.col("protocol").is_in(list(pairs))).select(*keys, *ends)
    first = first.with_columns(protocol=pl.col("protocol").replace(dict(pairs)))
    second = now.filter(pl.col("protocol").is_in(list(pairs.values()))).select(*keys, *ends)
    both = second.join(first, on=keys, nulls_equal=True, suffix="_before", maintain_order="left")
    judged = {(each.study, each.part, each.column) for each in evaluation.figures}
    parts = evaluation.parts
    found = []
    for row in both.iter_rows(named=True):
        part = parts.get((row["study"], row["part"]))
        if part is None or (row["study"], row["part"], row["column"]) in judged:
            continue
        column = part.columns[row["column"]]
        beside = evaluation.labels.get(row["beside"], row["beside"])
        where = joined(
            column.title,
            row["row"],
            f"beside {beside}" if beside else "",
            row["panel"],
            "" if row["x"] is None else with_unit(format_number(row["x"]), part.x_unit),
        )
        then = Found(*(row[f"{each}_before"] for each in ends))
        new = Found(*(row[each] for each in ends))
        change = Change(
            what=f"{part.title}: {where}",
            anchor=f"part-{row['study']}-{row['part']}",
            before=shown(then.value, column.unit),
            now=shown(new.value, column.unit),
            move=moved(then, new, column.judged),
        )
        found.append(change)
    return found, first.height + second.height - 2 * both.height
