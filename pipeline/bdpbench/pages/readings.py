"""Other readings of a study: their verdicts beside the judged ones, and their counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bdpbench.contracts.scorecard import (
    CLAIM_VERDICTS,
    NUMBER_VERDICTS,
    Scorecard,
    ScoredClaim,
    ScoredNumber,
)
from bdpbench.pages.text import VERDICTS, Total, Verdict, format_number, totals
from bdpbench.units import with_unit

_NOT_RUN = "not_run"


@dataclass(frozen=True)
class ReadRow:
    """One number or statement by another reading: its verdict, and a value or a formula."""

    name: str
    verdict: Verdict
    text: str


def read_numbers(number: ScoredNumber) -> tuple[ReadRow, ...]:
    """A number by each other reading, with its value."""
    unit, published = number["unit"], number["published"]
    return tuple(
        ReadRow(
            each["varied"],
            VERDICTS[each["verdict"]],
            with_unit(format_number(each["measured"], like=published), unit)
            if each["measured"] is not None
            else "",
        )
        for each in number.get("readings", [])
    )


def read_claims(claim: ScoredClaim) -> tuple[ReadRow, ...]:
    """A statement by each other reading, with its condition."""
    return tuple(
        ReadRow(each["varied"], VERDICTS[each["verdict"]], each["explanation"])
        for each in claim.get("readings", [])
    )


@dataclass(frozen=True)
class Counts:
    """Verdicts of the ``of`` entries that a reading judges, and those on the judged runs."""

    noun: str
    of: int
    read: tuple[Total, ...]
    judged: tuple[Total, ...]


@dataclass(frozen=True)
class ReadingRow:
    """A reading in the summary.

    Attributes:
        name: what it changes.
        runs: how many runs it has.
        counts: of numbers and of statements; empty if no run is finished.
        changed: those that it decides otherwise, each with its anchor and id.
    """

    name: str
    runs: int
    counts: tuple[Counts, ...]
    changed: tuple[tuple[str, str], ...]


def reading_rows(scorecard: Scorecard) -> list[ReadingRow]:
    """The other readings, in the order of the scorecard."""
    return [
        _reading(each["varied"], each["runs"], scorecard) for each in scorecard.get("readings", [])
    ]


def _reading(name: str, runs: int, scorecard: Scorecard) -> ReadingRow:
    numbers = {
        each["id"]: (read["verdict"], each.get("alone", each["verdict"]), each["verdict"])
        for each in scorecard["numbers"]
        for read in each.get("readings", [])
        if read["varied"] == name and read["verdict"] != _NOT_RUN
    }
    claims = {
        each["id"]: (read["verdict"], each.get("alone", each["verdict"]), each["verdict"])
        for each in scorecard["claims"]
        for read in each.get("readings", [])
        if read["varied"] == name and read["verdict"] != _NOT_RUN
    }
    counts = (
        _counts("numbers", numbers.values(), NUMBER_VERDICTS),
        _counts("statements", claims.values(), CLAIM_VERDICTS),
    )
    return ReadingRow(
        name,
        runs,
        tuple(each for each in counts if each.of),
        (*_changed("number", numbers), *_changed("claim", claims)),
    )


_Verdicts = tuple[str, str, str]
"""Verdicts by the reading, on the judged runs alone, and on them with their repetitions."""


def _counts(noun: str, found: Iterable[_Verdicts], verdicts: tuple[str, ...]) -> Counts:
    known = list(found)
    read, judged = Counter(each[0] for each in known), Counter(each[2] for each in known)
    return Counts(noun, len(known), tuple(totals(read, verdicts)), tuple(totals(judged, verdicts)))


def _changed(kind: str, found: Mapping[str, _Verdicts]) -> Iterable[tuple[str, str]]:
    return ((f"{kind}-{key}", key) for key, (read, alone, _) in found.items() if read != alone)
