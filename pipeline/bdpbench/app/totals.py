"""The totals of a scorecard in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from bdpbench.contracts.scorecard import KINDS, ClaimVerdict, Kind, NumberVerdict, Scorecard


def totals_sentence(scorecard: Scorecard) -> str:
    """The scorecard's totals in two sentences of Markdown, for README files.

    >>> card: Scorecard = {
    ...     "schema_version": 1, "study": "", "tier": "", "numbers": [], "claims": [],
    ...     "totals": {"reproduced": 8, "close": 1, "not_reproduced": 1, "not_run": 2},
    ...     "claim_totals": {"holds": 3, "fails": 1, "not_run": 0},
    ...     "kind_totals": {}, "claim_kind_totals": {}, "history": [], "skill": [],
    ... }
    >>> totals_sentence(card)
    'Of 12 numbers: **8 reproduced, 1 close, 1 not reproduced**, 2 not run. Of 4 statements: \
**3 hold, 1 fails**.'
    >>> totals_sentence({**card, "totals": {}, "claim_totals": {}})
    'The study lists no published numbers.'
    >>> totals_sentence({**card, "totals": {}})
    'Of 4 statements: **3 hold, 1 fails**.'
    """
    if not _has_verdicts(scorecard):
        return "The study lists no published numbers."
    return " ".join([_verdicts_sentence(scorecard), *kind_sentences(scorecard, "**")])


def kind_sentences(scorecard: Scorecard, strong: str = "") -> list[str]:
    """How many of the blind and of the fitted numbers and statements are confirmed.

    Empty if no number was run, and for a scorecard that does not distinguish them.

    Args:
        scorecard: its totals, without what was not run, are counted.
        strong: marks around a count, ``**`` for Markdown.

    >>> card: Scorecard = {
    ...     "schema_version": 1, "study": "", "tier": "", "numbers": [], "claims": [],
    ...     "totals": {}, "claim_totals": {}, "kind_totals": {
    ...         "blind": {"reproduced": 61, "close": 3, "not_reproduced": 10, "not_run": 4},
    ...         "fitted": {"reproduced": 1, "close": 0, "not_reproduced": 0, "not_run": 0},
    ...     }, "claim_kind_totals": {},
    ... }
    >>> kind_sentences(card)
    ['61 of 74 blind numbers are reproduced, and 1 of 1 fitted number.']
    """
    numbers = {
        kind: (each["reproduced"], sum(each.values()) - each["not_run"], each.get("undecided", 0))
        for kind, each in scorecard["kind_totals"].items()
    }
    claims = {
        kind: (each["holds"], sum(each.values()) - each["not_run"], each.get("undecided", 0))
        for kind, each in scorecard["claim_kind_totals"].items()
    }
    found = [
        _kinds_sentence(numbers, "number", ("is reproduced", "are reproduced"), strong),
        _kinds_sentence(claims, "statement", ("holds", "hold"), strong),
    ]
    return [each for each in found if each]


def _kinds_sentence(
    counts: Mapping[Kind, tuple[int, int, int]], noun: str, verbs: tuple[str, str], strong: str
) -> str:
    """E.g. "61 of 74 blind numbers are reproduced, and 1 of 1 fitted number."; may be "".

    >>> _kinds_sentence({"blind": (0, 1, 0)}, "statement", ("holds", "hold"), "")
    '0 of 1 blind statement holds.'
    >>> _kinds_sentence({"blind": (3, 5, 1)}, "statement", ("holds", "hold"), "")
    '3 of 5 blind statements (1 undecided) hold.'
    """
    parts: list[str] = []
    for kind in KINDS:
        came, of, undecided = counts.get(kind, (0, 0, 0))
        if of:
            verb = "" if parts else f" {verbs[0 if 1 in (came, of) else 1]}"
            plural = "" if of == 1 else "s"
            apart = f" ({undecided} undecided)" if undecided else ""
            parts.append(f"{strong}{came} of {of} {kind} {noun}{plural}{strong}{apart}{verb}")
    return f"{', and '.join(parts)}." if parts else ""


def _verdicts_sentence(scorecard: Scorecard) -> str:
    numbers, claims = scorecard["totals"], scorecard["claim_totals"]
    sentences = []
    if any(numbers.values()):
        sentences.append(
            f"Of {sum(numbers.values())} numbers: **{numbers['reproduced']} reproduced, "
            f"{numbers['close']} close, {numbers['not_reproduced']} not reproduced**"
            f"{_apart(numbers)}."
        )
    if any(claims.values()):
        sentences.append(
            f"Of {sum(claims.values())} statements: **{claims['holds']} "
            f"hold{'s' if claims['holds'] == 1 else ''}, {claims['fails']} "
            f"fail{'s' if claims['fails'] == 1 else ''}**{_apart(claims)}."
        )
    return " ".join(sentences)


def totals_lines(scorecard: Scorecard) -> Sequence[str]:
    """The scorecard's totals in a line or two for a terminal.

    >>> totals_lines({
    ...     "schema_version": 1, "study": "", "tier": "", "numbers": [], "claims": [],
    ...     "totals": {"reproduced": 0}, "claim_totals": {"holds": 0},
    ... })
    ('numbers: none published to compare with',)
    """
    totals, claims = scorecard["totals"], scorecard["claim_totals"]
    if not _has_verdicts(scorecard):
        return ("numbers: none published to compare with",)
    return (
        f"numbers: {totals['reproduced']} reproduced, {totals['close']} close, "
        f"{totals['not_reproduced']} not reproduced{_undecided(totals)}, "
        f"{totals['not_run']} not run in this tier",
        f"claims: {claims['holds']} hold, {claims['fails']} fail{_undecided(claims)}, "
        f"{claims['not_run']} not run in this tier",
        *kind_sentences(scorecard),
    )


def _has_verdicts(scorecard: Scorecard) -> bool:
    """Whether the study has published values that can be judged."""
    return any([*scorecard["totals"].values(), *scorecard["claim_totals"].values()])


def _apart(counts: Mapping[NumberVerdict, int] | Mapping[ClaimVerdict, int]) -> str:
    """What neither came nor missed, e.g. ", 3 undecided, 1 not run"; may be ""."""
    found = dict(cast("Mapping[str, int]", counts))
    kinds = (("undecided", "undecided"), ("not_run", "not run"))
    return "".join(f", {found[key]} {words}" for key, words in kinds if found.get(key))


def _undecided(counts: Mapping[NumberVerdict, int] | Mapping[ClaimVerdict, int]) -> str:
    found = dict(cast("Mapping[str, int]", counts)).get("undecided", 0)
    return f", {found} undecided" if found else ""
