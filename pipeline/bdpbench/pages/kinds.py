"""Blind and fitted numbers and statements, counted separately."""

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
        kind, meaning: which kind, and what it means.
        numbers, claims: the verdicts that occur, with their counts.
        came, of: how many numbers are reproduced, and how many were run.
        held, of_claims: how many statements hold, and how many were evaluated.
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
    """One row per kind; none for a scorecard without kinds or without entries."""
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
