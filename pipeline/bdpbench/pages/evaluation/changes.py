"""What differs between two evaluations of a protocol: what a change of it changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from bdpbench.contracts.evaluation import Column, Judgement, Ranked, found_of, group_of
from bdpbench.contracts.judged import Found, Judged
from bdpbench.pages.evaluation.findings import (
    criterion_anchor,
    figure_anchor,
    is_known,
    ordinal,
    shown,
    values_of,
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
    earlier = {each.key: values_of(each, old) for each in before.figures}
    for figure in now.figures:
        both = [
            (*found, None)[0] for found in (earlier.get(figure.key, ()), values_of(figure, new))
        ]
        if any(each and is_known(each["value"]) for each in both):
            then, own = (_told(each, figure.column, is_ranked=True) for each in both)
            move = moved(found_of(both[0]), found_of(both[1]), figure.column.judged)
            yield Change(figure.column.title, figure_anchor(figure), then, own, move)


def _told(cell: Ranked | None, column: Column, *, is_ranked: bool = False) -> str:
    if cell is None or not is_known(cell["value"]):
        return "–"
    rank = cell["rank"] if is_ranked else None
    return shown(cell["value"], column.unit) + (
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
