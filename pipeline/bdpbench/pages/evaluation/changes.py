"""What differs between two evaluations of a protocol: what a change of it changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from bdpbench.contracts.evaluation import Column, Criterion, Evaluation, Figure, FigureValue, Part
from bdpbench.contracts.judged import Judged
from bdpbench.pages.evaluation.findings import figure_anchor, is_known, ordinal, shown, value_of
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
    pairs = _pairs(before, now)
    found = [
        change
        for first, second in pairs
        for figure in now.figures
        if (change := _of_figure(before, figure, first, second)) is not None
    ]
    criteria = [
        change
        for pair in pairs
        for each in now.criteria
        for change in _of_criterion(before, each, *pair)
    ]
    cells, counts = _of_cells(cells_before, cells_now, dict(pairs), now)
    labels = before.labels, now.labels
    return Changes(
        pairs=tuple((labels[0][first], labels[1][second]) for first, second in pairs),
        figures=tuple(found),
        criteria=tuple(criteria),
        cells=tuple(cells),
        same=counts["same"],
        within=counts["within"],
        only=counts["only"],
    )


def _pairs(before: Evaluation, now: Evaluation) -> list[tuple[str, str]]:
    keys = [[each.key for each in one.evaluated] for one in (before, now)]
    if all(len(each) == 1 for each in keys):
        return [(keys[0][0], keys[1][0])]
    return [(key, key) for key in keys[1] if key in keys[0]]


def _of_figure(before: Evaluation, figure: Figure, first: str, second: str) -> Change | None:
    earlier = next((each for each in before.figures if each.key == figure.key), None)
    values = (value_of(earlier, first) if earlier else None, value_of(figure, second))
    if all(each is None or not is_known(each.value) for each in values):
        return None
    ends = [(None,) * 3 if each is None else (each.value, each.low, each.high) for each in values]
    return Change(
        what=figure.title,
        anchor=figure_anchor(figure),
        before=_ranked(values[0], figure.unit),
        now=_ranked(values[1], figure.unit),
        move=moved(*ends, judged=figure.judged),
    )


def _ranked(value: FigureValue | None, unit: str) -> str:
    if value is None or not is_known(value.value):
        return "–"
    place = f", {ordinal(value.rank)} of {value.of}" if value.rank else ""
    return f"{shown(value.value, unit)}{place}"


def moved(
    before: tuple[float | None, float | None, float | None],
    now: tuple[float | None, float | None, float | None],
    *,
    judged: Judged,
) -> Move:
    """How a value with its interval moved.

    Args:
        before: value, lower and upper end; None without a value, or without an interval.
        now: the same of the later evaluation.
        judged: how the values are judged; a difference that does not count is within, too.

    >>> moved((1.0, 0.9, 1.1), (1.05, 1.0, 1.2), judged=Judged("less", 0.02))
    'within'
    >>> moved((1.0, None, None), (2.0, None, None), judged=Judged("less", 0.02))
    'worse'
    """
    first, second = before[0], now[0]
    if first == second:
        return "same"
    if first is None or second is None or not (is_known(first) and is_known(second)):
        return "other"
    low, high = (_end(before, 1), _end(before, 2)), (_end(now, 1), _end(now, 2))
    if low[0] <= high[1] and high[0] <= low[1]:
        return "within"
    if not judged.better:
        return "other"
    if judged.lead(second, first):
        return "better"
    return "worse" if judged.lead(first, second) else "within"


def _end(ends: tuple[float | None, float | None, float | None], which: int) -> float:
    """An end of an interval; the value itself if there is no interval."""
    found = ends[which]
    return float(ends[0] or 0.0) if found is None or not is_known(found) else found


def _of_criterion(
    before: Evaluation, criterion: Criterion, first: str, second: str
) -> list[Change]:
    earlier = next((each for each in before.criteria if each.key == criterion.key), None)
    passes = (_passes(earlier, first), _passes(criterion, second))
    if passes[0] == passes[1]:
        return []
    move: Move = "other" if None in passes else ("better" if passes[1] else "worse")
    words = {True: "meets it", False: "does not meet it", None: "not known"}
    return [
        Change(
            what=criterion.question,
            anchor=f"criterion-{criterion.key}",
            before=words[passes[0]],
            now=words[passes[1]],
            move=move,
        )
    ]


def _passes(criterion: Criterion | None, protocol: str) -> bool | None:
    answers = criterion.answers if criterion else []
    return next((each.passes for each in answers if each.protocol == protocol), None)


def _of_cells(
    before: pl.DataFrame, now: pl.DataFrame, pairs: Mapping[str, str], evaluation: Evaluation
) -> tuple[list[Change], dict[str, int]]:
    """Cells of the compared protocols that moved, and the numbers of the others."""
    labels = evaluation.labels
    columns = {
        (study.key, key, name): (part, column)
        for study in evaluation.studies
        for key, part in study.parts.items()
        for name, column in part.columns.items()
    }
    judged = {(each.study, each.part, each.column) for each in evaluation.figures}
    kept = [*_PLACE, "protocol", "value", "low", "high"]
    first = before.filter(pl.col("protocol").is_in(list(pairs))).select(kept)
    first = first.with_columns(protocol=pl.col("protocol").replace(dict(pairs)))
    second = now.filter(pl.col("protocol").is_in(list(pairs.values()))).select(kept)
    keys = [*_PLACE, "protocol"]
    every = second.join(
        first, on=keys, how="full", coalesce=True, nulls_equal=True, suffix="_before"
    )
    counts = {"same": 0, "within": 0, "only": 0}
    counts["only"] = every.height - second.join(first, on=keys, nulls_equal=True).height
    found = []
    for row in second.join(
        first, on=keys, nulls_equal=True, suffix="_before", maintain_order="left"
    ).iter_rows(named=True):
        place = (row["study"], row["part"], row["column"])
        if place not in columns or place in judged:
            continue
        change = _of_cell(row, *columns[place], labels)
        if change.move in ("same", "within"):
            counts[change.move] += 1
        else:
            found.append(change)
    return found, counts


def _of_cell(
    row: Mapping[str, Any], part: Part, column: Column, labels: Mapping[str, str]
) -> Change:
    x = "" if row["x"] is None else with_unit(format_number(row["x"]), part.x_unit)
    beside = f"beside {labels.get(row['beside'], row['beside'])}" if row["beside"] else ""
    where = joined(column.title, row["row"], beside, row["panel"], x)
    return Change(
        what=f"{part.title}: {where}",
        anchor=f"part-{row['study']}-{row['part']}",
        before=shown(row["value_before"], column.unit),
        now=shown(row["value"], column.unit),
        move=moved(
            (row["value_before"], row["low_before"], row["high_before"]),
            (row["value"], row["low"], row["high"]),
            judged=column.judged,
        ),
    )
