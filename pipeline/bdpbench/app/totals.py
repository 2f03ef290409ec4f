"""The totals of a scorecard in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from bdpbench.contracts.scorecard import KINDS, Scorecard
from bdpbench.units import several

Counts: TypeAlias = Mapping[Any, int]
"""Verdict → how many numbers or statements have it."""


def totals_sentence(scorecard: Scorecard) -> str:
    """The scorecard's totals in a few sentences of Markdown; a terminal shows them without ``**``.

    >>> card: Scorecard = {
    ...     "schema_version": 1, "study": "", "tier": "", "numbers": [], "claims": [],
    ...     "totals": {"reproduced": 8, "close": 1, "not_reproduced": 1, "not_run": 2},
    ...     "claim_totals": {"holds": 3, "fails": 1, "not_run": 0}, "history": [], "skill": [],
    ...     "kind_totals": {}, "claim_kind_totals": {"blind": {"holds": 3, "fails": 1}},
    ... }
    >>> totals_sentence(card)
    'Of 12 numbers: **8 reproduced, 1 close, 1 not reproduced**, 2 not run. Of 4 statements: \
**3 hold, 1 fails**. **3 of 4 blind statements** hold.'
    >>> totals_sentence({**card, "totals": {}, "claim_totals": {}})
    'The study lists no published numbers.'
    """
    numbers, claims = scorecard["totals"], scorecard["claim_totals"]
    sentences = []
    if any(numbers.values()):
        sentences.append(
            f"Of {several(sum(numbers.values()), 'number')}: **{numbers['reproduced']} reproduced, "
            f"{numbers['close']} close, {numbers['not_reproduced']} not reproduced**"
            f"{_some(numbers, 'undecided', 'not_run')}."
        )
    if any(claims.values()):
        sentences.append(
            f"Of {several(sum(claims.values()), 'statement')}: **{claims['holds']} "
            f"hold{'s' if claims['holds'] == 1 else ''}, {claims['fails']} "
            f"fail{'s' if claims['fails'] == 1 else ''}**{_some(claims, 'undecided', 'not_run')}."
        )
    if not sentences:
        return "The study lists no published numbers."
    return " ".join([*sentences, *_kind_sentences(scorecard)])


def _kind_sentences(scorecard: Scorecard) -> list[str]:
    """How many of the blind and of the fitted numbers and statements are confirmed.

    What was not run is left out.
    """
    numbers, claims = scorecard["kind_totals"], scorecard["claim_kind_totals"]
    found = [
        _kinds(numbers, "reproduced", "number", ("is reproduced", "are reproduced")),
        _kinds(claims, "holds", "statement", ("holds", "hold")),
    ]
    return [each for each in found if each]


def _kinds(totals: Mapping[Any, Counts], came: str, noun: str, verbs: tuple[str, str]) -> str:
    """One sentence about numbers or about statements; "" if none was run.

    >>> blind, fitted = {"holds": 3, "fails": 1, "undecided": 1}, {"holds": 1}
    >>> _kinds({"blind": blind, "fitted": fitted}, "holds", "statement", ("holds", "hold"))
    '**3 of 5 blind statements** (1 undecided) hold, and **1 of 1 fitted statement**.'
    """
    parts: list[str] = []
    for kind in KINDS:
        counts = totals.get(kind, {})
        of = sum(counts.values()) - counts.get("not_run", 0)
        if of:
            undecided = f" ({counts['undecided']} undecided)" if counts.get("undecided") else ""
            plural = "" if of == 1 else "s"
            verb = "" if parts else f" {verbs[0 if 1 in (counts[came], of) else 1]}"
            said = f"**{counts[came]} of {of} {kind} {noun}{plural}**"
            parts.append(f"{said}{undecided}{verb}")
    return f"{', and '.join(parts)}." if parts else ""


def _some(counts: Counts, *verdicts: str) -> str:
    """The counts that are not zero, e.g. ", 3 undecided, 1 not run"; may be ""."""
    found = ((each, counts.get(each, 0)) for each in verdicts)
    return "".join(f", {count} {each.replace('_', ' ')}" for each, count in found if count)
