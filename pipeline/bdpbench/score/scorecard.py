"""The scorecard: a verdict for every published number and every claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

import polars as pl

from bdpbench.contracts.plan import Plan
from bdpbench.contracts.scorecard import (
    CLAIM_VERDICTS,
    CLOSE_ASYMMETRY,
    CLOSE_SHARE,
    KINDS,
    NUMBER_VERDICTS,
    SCORECARD_VERSION,
    ClaimVerdict,
    NumberVerdict,
    Scorecard,
    ScoredClaim,
    ScoredNumber,
    is_asymmetry,
)
from bdpbench.errors import BdpbenchError
from bdpbench.score.claims import Claim
from bdpbench.score.evaluate import evaluate
from bdpbench.score.history import History
from bdpbench.score.lookup import Lookup, Measured
from bdpbench.score.origin import resolved
from bdpbench.score.parts import together
from bdpbench.score.published import PublishedNumber
from bdpbench.score.spread import Spreads


def score(
    plan: Plan,
    metrics: pl.DataFrame,
    published: Sequence[PublishedNumber],
    claims: Sequence[Claim],
    history: History | None = None,
    spreads: Spreads | None = None,
) -> Scorecard:
    """Scorecard of a plan, as in ``scorecard.json``.

    Args:
        plan: as in ``plan.json``.
        metrics: run_id, scenario, metric, subject, value, unit, …, definition.
        published: the study's numbers.
        claims: the study's claims.
        history: changes since numbers and statements were first listed.
        spreads: what was varied, and for which numbers.

    Raises:
        BdpbenchError: for a selector that names something the study does not have, or that is
            ambiguous, and for a number in another unit than its metric.
    """
    lookup = Lookup(plan, metrics)
    ids = _ids(published, claims)
    rows = [(each.part_of, _score_number(each, lookup, ids)) for each in published]
    for row, number in zip(rows, published, strict=True):
        _add_spread(row[1], number, spreads, lookup)
    numbers = together(rows)
    statements = [_score_claim(each, lookup, ids) for each in claims]
    totals = Counter(each["verdict"] for each in numbers)
    claim_totals = Counter(each["verdict"] for each in statements)
    kinds = Counter((each.get("kind"), each["verdict"]) for each in numbers)
    claim_kinds = Counter((each.get("kind"), each["verdict"]) for each in statements)
    return {
        "schema_version": SCORECARD_VERSION,
        "study": plan["study"],
        "tier": plan["tier"],
        "totals": {verdict: totals[verdict] for verdict in NUMBER_VERDICTS},
        "claim_totals": {verdict: claim_totals[verdict] for verdict in CLAIM_VERDICTS},
        "numbers": numbers,
        "claims": statements,
        "kind_totals": {
            kind: {verdict: kinds[kind, verdict] for verdict in NUMBER_VERDICTS} for kind in KINDS
        },
        "claim_kind_totals": {
            kind: {verdict: claim_kinds[kind, verdict] for verdict in CLAIM_VERDICTS}
            for kind in KINDS
        },
        "history": history.documents(ids) if history else [],
    }


def score_rows(
    plan: Plan, metrics: pl.DataFrame, published: Sequence[PublishedNumber]
) -> list[ScoredNumber]:
    """Verdicts of single rows of ``published.csv``, without combining parts of a printed number.

    Raises:
        BdpbenchError: as ``score`` does.
    """
    lookup = Lookup(plan, metrics)
    ids = _ids(published, ())
    return [_score_number(each, lookup, ids) for each in published]


def _ids(published: Sequence[PublishedNumber], claims: Sequence[Claim]) -> list[str]:
    """Ids of printed numbers, of the rows that are their parts, and of statements; each once."""
    rows = (each for number in published for each in (number.part_of, number.id) if each)
    return list(dict.fromkeys([*rows, *(claim.text.id for claim in claims)]))


def _score_number(number: PublishedNumber, lookup: Lookup, ids: Collection[str]) -> ScoredNumber:
    where = f"published.csv, {number.id}"
    found = lookup.one(number, where)
    if found is not None and found.unit != number.unit:
        raise BdpbenchError(
            f"unit: the number is in {number.unit!r}, and {number.metric} is measured in "
            f"{found.unit!r}",
            where=where,
        )
    verdict, reason = _verdict(number, found)
    measured = found.value if found else None
    deviation = None if measured is None else measured - number.value
    in_percent = None
    if deviation is not None and number.value != 0:
        in_percent = 100 * deviation / abs(number.value)
    return {
        "id": number.id,
        "where": number.where,
        "page": number.page,
        "scenario": number.scenario,
        "select": dict(number.select),
        "metric": number.metric,
        "subject": number.subject,
        "lower": number.lower,
        "upper": number.upper,
        "unit": number.unit,
        "how": number.how,
        "why": number.why,
        "known_miss": number.known_miss,
        "note": number.note,
        "published": number.value,
        "definition": found.definition if found else "",
        "measured": measured,
        "deviation": deviation,
        "deviation_pct": in_percent,
        "distance": _distance(number, measured),
        "verdict": verdict,
        "reason": reason,
        "run_ids": [found.run_id] if found else [],
        "found": number.origin.found,
        "chosen_on": resolved(number.origin.chosen_on, ids),
        "kind": number.origin.kind(number.id, number.part_of),
    }


def _distance(number: PublishedNumber, measured: float | None) -> float | None:
    """Distance: 1 at the bound, 2 as far outside of it as the published number is inside.

    This makes seconds comparable with asymmetries near 0.
    """
    if measured is None:
        return None
    room = abs((number.upper if measured > number.value else number.lower) - number.value)
    return abs(measured - number.value) / room if room > 0 else None


def _verdict(number: PublishedNumber, found: Measured | None) -> tuple[NumberVerdict, str]:
    if found is None:
        return "not_run", "no run of this tier measures it"
    if found.value is None:
        return "not_reproduced", number.known_miss or "never reached in this run"
    if number.lower <= found.value <= number.upper:
        unexpected = "unexpected match: it is listed as a known miss" if number.known_miss else ""
        return "reproduced", unexpected or "within its bounds"
    verdict: NumberVerdict = "close" if _is_close(number, found.value) else "not_reproduced"
    return verdict, number.known_miss or "outside its bounds"


def _is_close(number: PublishedNumber, measured: float) -> bool:
    deviation = abs(measured - number.value)
    if is_asymmetry(number.metric):
        return deviation <= CLOSE_ASYMMETRY
    return deviation <= CLOSE_SHARE * abs(number.value)


_CLAIM_VERDICTS: dict[bool | None, ClaimVerdict] = {True: "holds", False: "fails", None: "not_run"}


def _add_spread(
    row: ScoredNumber, number: PublishedNumber, spreads: Spreads | None, lookup: Lookup
) -> None:
    """Add the spreads to a scored row."""
    found = spreads.of(row, number, lookup) if spreads else []
    if found:
        row["spread"] = found


def _score_claim(claim: Claim, lookup: Lookup, ids: Collection[str]) -> ScoredClaim:
    finding = evaluate(claim.condition, lookup, f"claims.yaml, {claim.text.id}")
    return {
        "id": claim.text.id,
        "where": claim.text.where,
        "page": claim.text.page,
        "statement": claim.text.statement,
        "known_miss": claim.text.known_miss,
        "verdict": _CLAIM_VERDICTS[finding.holds],
        "explanation": finding.explanation,
        "protocols": sorted(set(_protocols_of(claim))),
        "evidence": [
            {"label": label, "value": each.value, "unit": each.unit, "run_id": each.run_id}
            for label, each in finding.evidence
        ],
        "found": claim.origin.found,
        "chosen_on": resolved(claim.origin.chosen_on, ids),
        "kind": claim.origin.kind(claim.text.id),
    }


def _protocols_of(claim: Claim) -> Iterator[str]:
    """Protocols that the selectors of a claim name."""
    for question in claim.questions:
        for name, value in question.asked.select.items():
            if name.startswith("protocol"):
                yield str(value)
