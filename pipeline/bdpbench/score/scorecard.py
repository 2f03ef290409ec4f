"""The scorecard: a verdict for every published number and every claim."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeVar, cast

import polars as pl

from bdpbench.contracts.plan import Plan
from bdpbench.contracts.scorecard import (
    CLAIM_VERDICTS,
    CLOSE_HALF_WIDTHS,
    KINDS,
    LEAST_FOR_SKILL,
    NUMBER_VERDICTS,
    SCORECARD_VERSION,
    ClaimVerdict,
    Kind,
    NumberVerdict,
    RepeatedVerdicts,
    Scorecard,
    ScoredClaim,
    ScoredNumber,
    ScoredSpread,
    Skill,
    rows_of,
)
from bdpbench.score.claims import Claim, Finding
from bdpbench.score.expectations import CLAIMS_NAME, Expectations, require_unit
from bdpbench.score.lookup import Asked, Lookup, Measured, located
from bdpbench.score.published import PUBLISHED_NAME, PublishedNumber
from bdpbench.score.spreads import SPREAD_NAME, Groups, Repeats, Repetitions, SpreadEntry
from bdpbench.units import several

_CLAIM_VERDICTS: dict[bool | None, ClaimVerdict] = {True: "holds", False: "fails", None: "not_run"}

# A number has the verdict of its worst run; a missing run leaves it open.
_WORST_FIRST: tuple[NumberVerdict, ...] = (
    "not_reproduced",
    "close",
    "not_run",
    "undecided",
    "reproduced",
)

_OF_NUMBER = (
    *("id", "where", "page", "scenario", "select", "metric", "subject", "lower", "upper", "unit"),
    *("how", "why", "known_miss", "note"),
)


def score(
    plan: Plan, metrics: pl.DataFrame, expected: Expectations, groups: Groups | None = None
) -> Scorecard:
    """Scorecard of a plan, as in ``scorecard.json``.

    Args:
        plan: as in ``plan.json``.
        metrics: run_id, scenario, metric, subject, value, unit, …, definition.
        expected: what the study prints and states.
        groups: computes metrics of several runs from those of single runs, for repetitions.

    Raises:
        BdpbenchError: for a selector that names something the study does not have, or that is
            ambiguous, and for a number in another unit than its metric.
    """
    wanted = expected.metrics
    lookup = Lookup(plan, metrics.filter(pl.col("metric").is_in(list(wanted))))
    entries = expected.spreads
    repetitions = Repetitions(plan, metrics, wanted, groups)
    rows = []
    for number in expected.numbers:
        row = _score_number(number, lookup)
        if spread := _spreads_of(row, number, entries, lookup, repetitions):
            row["spread"] = spread
            _decide_by_chance(row)
        rows.append((number.whole, row))
    numbers = _printed_numbers(rows)
    statements = [_score_claim(each, lookup, entries, repetitions) for each in expected.claims]
    card: Scorecard = {
        "schema_version": SCORECARD_VERSION,
        "study": plan["study"],
        "tier": plan["tier"],
        "totals": _totals(numbers, NUMBER_VERDICTS),
        "claim_totals": _totals(statements, CLAIM_VERDICTS),
        "numbers": numbers,
        "claims": statements,
        "kind_totals": {kind: _totals(numbers, NUMBER_VERDICTS, kind) for kind in KINDS},
        "claim_kind_totals": {kind: _totals(statements, CLAIM_VERDICTS, kind) for kind in KINDS},
        "history": [each.document(expected.ids) for each in expected.history],
        "skill": _skills(numbers),
    }
    for entry in entries:
        if entry.reading is not None:
            by_it = _by_reading(entry, entry.reading, plan, expected, repetitions)
            card.setdefault("readings", {})[entry.varied] = by_it
    return card


Verdict = TypeVar("Verdict", NumberVerdict, ClaimVerdict)


def _totals(
    entries: Iterable[ScoredNumber | ScoredClaim],
    verdicts: Sequence[Verdict],
    kind: Kind | None = None,
) -> dict[Verdict, int]:
    """How many entries, of one kind or of all, have each verdict."""
    found = Counter(each["verdict"] for each in entries if kind in (None, each["kind"]))
    return {verdict: found[verdict] for verdict in verdicts}


def _by_reading(
    entry: SpreadEntry,
    reading: Repeats,
    plan: Plan,
    expected: Expectations,
    repetitions: Repetitions,
) -> Scorecard:
    """The scorecard of those numbers and statements for which another reading has all runs."""
    metrics, judged = repetitions.reading(reading)

    def lacks(name: str, asked: Sequence[Asked]) -> bool:
        return not (entry.is_of(name) and repetitions.are_among(asked, judged))

    left_out = {each.whole for each in expected.numbers if lacks(each.id, [each])}
    numbers = [each for each in expected.numbers if each.whole not in left_out]
    asked = {each.text.id: [own for _, own in each.questions] for each in expected.claims}
    claims = [each for each in expected.claims if not lacks(each.text.id, asked[each.text.id])]
    return score(plan, metrics, Expectations(numbers, claims))


def _score_number(number: PublishedNumber, lookup: Lookup) -> ScoredNumber:
    with located(f"{PUBLISHED_NAME}, {number.id}"):
        found = lookup.one(number)
        if found is not None:
            require_unit(number, found.unit)
    verdict, reason = _verdict(number, found)
    measured = found.value if found else None
    deviation = None if measured is None else measured - number.value
    in_percent = None
    if deviation is not None and number.value != 0:
        in_percent = 100 * deviation / abs(number.value)
    row = {
        **{name: getattr(number, name) for name in _OF_NUMBER},
        "published": number.value,
        "definition": found.definition if found else "",
        "measured": measured,
        "deviation": deviation,
        "deviation_pct": in_percent,
        "distance": _distance(number, measured),
        "margin": _margin(number, measured),
        "verdict": verdict,
        "reason": reason,
        "run_ids": [found.run_id] if found else [],
        "found": number.found,
        "chosen_on": number.chosen_on,
        "kind": number.kind(number.id, number.part_of),
    }
    return cast("ScoredNumber", row)


def _distance(number: PublishedNumber, measured: float | None) -> float | None:
    """Distance: 1 at the bound, 2 as far outside of it as the published number is inside.

    This makes seconds comparable with asymmetries near 0.
    """
    if measured is None:
        return None
    room = abs((number.upper if measured > number.value else number.lower) - number.value)
    return abs(measured - number.value) / room if room > 0 else None


def _margin(number: PublishedNumber, measured: float | None) -> float | None:
    """How far inside (positive) or outside of its bounds a value is, in their half widths."""
    half_width = (number.upper - number.lower) / 2
    if measured is None or not half_width:
        return None
    return min(measured - number.lower, number.upper - measured) / half_width


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
    """The same for all quantities: missed by half of the width of the bounds at most."""
    outside = max(number.lower - measured, measured - number.upper)
    return outside <= CLOSE_HALF_WIDTHS * (number.upper - number.lower) / 2


def _printed_numbers(rows: Iterable[tuple[str, ScoredNumber]]) -> list[ScoredNumber]:
    """Scored rows combined into printed numbers, in the order of their first rows.

    A printed number that several runs have to show counts once, with the runs as its parts. Each
    row comes with the id of its printed number.
    """
    groups: dict[str, list[ScoredNumber]] = {}
    for whole, row in rows:
        groups.setdefault(whole, []).append(row)
    return [
        parts[0] if parts[0]["id"] == key else _printed_number(key, parts)
        for key, parts in groups.items()
    ]


def _printed_number(key: str, rows: Sequence[ScoredNumber]) -> ScoredNumber:
    kind: Kind = "fitted" if any(row["kind"] == "fitted" for row in rows) else "blind"
    common = {
        name: value
        for name, value in rows[0]["select"].items()
        if all(row["select"].get(name) == value for row in rows)
    }
    margins = [each for row in rows if (each := row["margin"]) is not None]
    return {
        **min(rows, key=_badness),
        "id": key,
        "select": common,
        "reason": _reason(rows),
        "known_miss": _joined(row["known_miss"] for row in rows if row["known_miss"]),
        "note": _joined(row["note"] for row in rows if row["note"]),
        "run_ids": list(dict.fromkeys(each for row in rows for each in row["run_ids"])),
        "kind": kind,
        "margin": min(margins) if margins else None,
        "parts": [{**row, "kind": kind} for row in rows],
    }


def _badness(row: ScoredNumber) -> tuple[int, float]:
    """Sort key, smallest for the row that decides: by verdict, then by distance."""
    distance = row["distance"]
    return _WORST_FIRST.index(row["verdict"]), -(math.inf if distance is None else distance)


def _reason(rows: Sequence[ScoredNumber]) -> str:
    """How many of the runs show the number, and the reasons of those that do not."""
    shown = sum(row["verdict"] == "reproduced" for row in rows)
    reasons = (row["reason"] for row in rows if row["verdict"] != "reproduced")
    sentences = (f"{each[:1].upper()}{each[1:].removesuffix('.')}." for each in reasons)
    return " ".join([f"{shown} of {len(rows)} runs show it.", *dict.fromkeys(sentences)])


def _joined(texts: Iterable[str]) -> str:
    """Texts joined in order, each once."""
    return " ".join(dict.fromkeys(texts))


def _skills(numbers: Iterable[ScoredNumber]) -> list[Skill]:
    """For each quantity of which enough numbers were measured, in order of their first ones."""
    quantities: dict[tuple[str, str], list[ScoredNumber]] = {}
    for row in (each for number in numbers for each in rows_of(number)):
        if row["measured"] is not None:
            quantities.setdefault((row["metric"], row["unit"]), []).append(row)
    return [
        _skill(metric, unit, rows)
        for (metric, unit), rows in quantities.items()
        if len(rows) >= LEAST_FOR_SKILL
    ]


def _skill(metric: str, unit: str, rows: Sequence[ScoredNumber]) -> Skill:
    # The most bounds overlap at one of their lower ends.
    constant = max(
        sorted(row["lower"] for row in rows),
        key=lambda value: sum(row["lower"] <= value <= row["upper"] for row in rows),
    )
    measured = [(row, each) for row in rows if (each := row["measured"]) is not None]
    pairs = pl.DataFrame([(row["published"], value) for row, value in measured], orient="row")
    correlation = pairs.select(pl.corr(*pairs.columns, method="spearman")).item()
    return {
        "metric": metric,
        "unit": unit,
        "numbers": len(rows),
        "reproduced": sum(row["lower"] <= value <= row["upper"] for row, value in measured),
        "constant": constant,
        "constant_reproduced": sum(row["lower"] <= constant <= row["upper"] for row in rows),
        "rank_correlation": None if math.isnan(correlation) else correlation,
    }


def _spreads_of(
    row: ScoredNumber,
    number: PublishedNumber,
    entries: Sequence[SpreadEntry],
    lookup: Lookup,
    repetitions: Repetitions,
) -> list[ScoredSpread]:
    """The spreads of a scored row: ranges with two ends, one of which may be its own value."""
    found: list[ScoredSpread] = []
    own = row["measured"]
    for entry in entries:
        repeats = entry.repeats
        if entry.reading or not entry.is_of(number.id) or (own is None and not repeats):
            continue
        with located(f"{SPREAD_NAME}, {number.id}"):
            rows = _varied_rows(entry, number, lookup, repetitions)
        known = [each.value for each in rows if each.value is not None]
        values, source = known if own is None else [own, *known], entry.source
        if entry.least is not None and entry.most is not None:
            values = [entry.least, entry.most]
        elif repeats:
            source = _counted(rows, "repetition", repeats.source([number]))
        elif entry.runs:
            source = _counted(rows, "run", entry.runs.scenario)
        if len(values) < (1 if repeats and rows else 2):
            continue
        least, most = min(values), max(values)
        found.append(
            {
                "varied": entry.varied,
                "least": least,
                "most": most,
                "source": source,
                "holds_print": row["lower"] <= most and least <= row["upper"],
                "repetitions": len(rows) if repeats else 0,
            }
        )
        if repeats and len(known) < len(rows):
            found[-1]["without_value"] = len(rows) - len(known)
    return found


def _varied_rows(
    entry: SpreadEntry, number: PublishedNumber, lookup: Lookup, repetitions: Repetitions
) -> list[Measured]:
    """What an entry has in place of a number: of repetitions, or what it asks for itself."""
    if entry.repeats is None or entry.metric:
        return lookup.all(entry.asked_of(number))
    lookups = repetitions.of(entry.repeats, [number])
    return [each for each in (known.one(number) for known in lookups) if each]


def _counted(rows: Sequence[Measured], noun: str, scenario: str) -> str:
    """How many runs there are of a scenario, in words."""
    without = sum(each.value is None for each in rows)
    said = f"{several(len(rows), noun)} of {scenario}"
    return said + (f", {without} of them without a value" if without else "")


def _decide_by_chance(row: ScoredNumber) -> None:
    """Make a number undecided whose repetitions are reproduced in part, in place."""
    spreads = [each for each in row.get("spread", []) if each.get("repetitions")]
    ends = [end for each in spreads for end in (each["least"], each["most"])]
    inside = bool(ends) and min(ends) <= row["upper"] and row["lower"] <= max(ends)
    outside = (
        row["measured"] is None
        or any(each.get("without_value") for each in spreads)
        or any(not row["lower"] <= end <= row["upper"] for end in ends)
    )
    if inside and outside:
        row["alone"], row["verdict"] = row["verdict"], "undecided"
        row["reason"] = "equally good runs are within its bounds and outside of them"


def _score_claim(
    claim: Claim,
    lookup: Lookup,
    entries: Sequence[SpreadEntry],
    repetitions: Repetitions,
) -> ScoredClaim:
    with located(f"{CLAIMS_NAME}, {claim.text.id}"):
        finding = claim.condition.finding(lookup)
    verdict = _CLAIM_VERDICTS[finding.holds]
    repeated = _repeated(claim, finding, entries, repetitions) if verdict != "not_run" else []
    is_other = any(each["fails" if finding.holds else "holds"] for each in repeated)
    protocols = {
        str(value)
        for _, asked in claim.questions
        for name, value in asked.select.items()
        if name.startswith("protocol")
    }
    scored: ScoredClaim = {
        "id": claim.text.id,
        "where": claim.text.where,
        "page": claim.text.page,
        "statement": claim.text.statement,
        "known_miss": claim.text.known_miss,
        "verdict": "undecided" if is_other else verdict,
        "explanation": finding.explanation,
        "protocols": sorted(protocols),
        "evidence": [
            {"label": label, "value": each.value, "unit": each.unit, "run_id": each.run_id}
            for label, each in finding.evidence
        ],
        "found": claim.text.found,
        "chosen_on": claim.text.chosen_on,
        "kind": claim.text.kind(claim.text.id),
        "margin": _finite(finding.margin),
    }
    if is_other:
        scored["alone"] = verdict
    if repeated:
        scored["repeated"] = repeated
    return scored


def _repeated(
    claim: Claim, finding: Finding, entries: Sequence[SpreadEntry], repetitions: Repetitions
) -> list[RepeatedVerdicts]:
    """The verdicts on a statement with repetitions in place of its runs.

    Repetitions of other runs than those that decide it say nothing about its spread.
    """
    found: list[RepeatedVerdicts] = []
    asked = [each for _, each in claim.questions]
    for entry in entries:
        if entry.placed is None or entry.repeats is None or not entry.is_of(claim.text.id):
            continue
        with located(f"{SPREAD_NAME}, {claim.text.id}"):
            lookups = repetitions.of(entry.repeats, asked)
        judged = [
            each for own in lookups if (each := claim.condition.finding(own)).holds is not None
        ]
        moved = any(each.margin != finding.margin for each in judged)
        if moved or (judged and repetitions.covers(entry.repeats, asked)):
            found.append(_verdicts(entry.varied, entry.repeats.source(asked), judged))
    return found


def _verdicts(varied: str, source: str, judged: Sequence[Finding]) -> RepeatedVerdicts:
    margins = [each.margin for each in judged if each.margin is not None]
    holds = sum(each.holds is True for each in judged)
    return {
        "varied": varied,
        "source": f"{several(len(judged), 'repetition')} of {source}",
        "holds": holds,
        "fails": len(judged) - holds,
        "least": _finite(min(margins)),
        "most": _finite(max(margins)),
    }


def _finite(margin: float | None) -> float | None:
    return margin if margin is not None and math.isfinite(margin) else None
