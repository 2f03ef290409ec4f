"""The totals of a scorecard in words."""

from __future__ import annotations

from collections.abc import Sequence

from bdpbench.contracts.scorecard import Scorecard


def totals_sentence(scorecard: Scorecard) -> str:
    """The scorecard's totals in two sentences of Markdown, for README files.

    >>> card: Scorecard = {
    ...     "schema_version": 1, "study": "", "tier": "", "numbers": [], "claims": [],
    ...     "totals": {"reproduced": 8, "close": 1, "not_reproduced": 1, "not_run": 2},
    ...     "claim_totals": {"holds": 3, "fails": 1, "not_run": 0},
    ... }
    >>> totals_sentence(card)
    'Of 12 numbers: **8 reproduced, 1 close, 1 not reproduced**, 2 not run. Of 4 statements: \
**3 hold, 1 fails**.'
    >>> totals_sentence({**card, "totals": {}, "claim_totals": {}})
    'The study lists no published numbers.'
    """
    numbers, claims = scorecard["totals"], scorecard["claim_totals"]
    if not _has_verdicts(scorecard):
        return "The study lists no published numbers."
    return (
        f"Of {sum(numbers.values())} numbers: **{numbers['reproduced']} reproduced, "
        f"{numbers['close']} close, {numbers['not_reproduced']} not reproduced**"
        f"{_not_run(numbers['not_run'])}. Of {sum(claims.values())} statements: "
        f"**{claims['holds']} hold{'s' if claims['holds'] == 1 else ''}, {claims['fails']} "
        f"fail{'s' if claims['fails'] == 1 else ''}**{_not_run(claims['not_run'])}."
    )


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
        f"{totals['not_reproduced']} not reproduced, {totals['not_run']} not run in this tier",
        f"claims: {claims['holds']} hold, {claims['fails']} fail, "
        f"{claims['not_run']} not run in this tier",
    )


def _has_verdicts(scorecard: Scorecard) -> bool:
    """Whether the study has anything published to be judged."""
    return any([*scorecard["totals"].values(), *scorecard["claim_totals"].values()])


def _not_run(count: int) -> str:
    return f", {count} not run" if count else ""
