"""Blind and fitted numbers and statements, counted apart."""

from __future__ import annotations

from dataclasses import dataclass

from bdpbench.contracts.scorecard import (
    CLAIM_VERDICTS,
    KINDS,
    NUMBER_VERDICTS,
    Kind,
    Scorecard,
)
from bdpbench.pages.verdicts import Total, totals

MEANING: dict[Kind, str] = {
    "blind": "the definition is the study's own, or was chosen without this value in view",
    "fitted": "the definition was chosen with this value in view",
}


@dataclass(frozen=True)
class KindRow:
    """Verdicts of the blind, or of the fitted, numbers and statements of a study.

    Attributes:
        kind, meaning: which, and what that says.
        numbers, claims: verdicts that some have, with their counts.
        came, of: numbers that are reproduced, of those that were run.
        held, of_claims: statements that hold, of those that were evaluated.
    """

    kind: Kind
    meaning: str
    numbers: tuple[Total, ...]
    claims: tuple[Total, ...]
    came: int
    of: int
    held: int
    of_claims: int


def kind_rows(scorecard: Scorecard) -> list[KindRow]:
    """A row a kind; none for a scorecard that does not tell them apart, or has nothing."""
    numbers = scorecard.get("kind_totals", {})
    claims = scorecard.get("claim_kind_totals", {})
    rows = []
    for kind in KINDS:
        own, said = numbers.get(kind, {}), claims.get(kind, {})
        if not any([*own.values(), *said.values()]):
            continue
        rows.append(
            KindRow(
                kind=kind,
                meaning=MEANING[kind],
                numbers=tuple(totals(own, NUMBER_VERDICTS)),
                claims=tuple(totals(said, CLAIM_VERDICTS)),
                came=own.get("reproduced", 0),
                of=sum(own.values()) - own.get("not_run", 0),
                held=said.get("holds", 0),
                of_claims=sum(said.values()) - said.get("not_run", 0),
            )
        )
    return rows
