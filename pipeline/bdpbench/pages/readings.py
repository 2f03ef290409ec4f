"""Other readings of a study: their verdicts beside the judged ones."""

from __future__ import annotations

from dataclasses import dataclass

from bdpbench.contracts.scorecard import ScoredClaim, ScoredNumber
from bdpbench.pages.text import VERDICTS, Verdict, format_number
from bdpbench.units import with_unit


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
