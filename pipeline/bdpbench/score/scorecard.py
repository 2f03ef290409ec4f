"""The scorecard: a verdict for every published number and every claim."""

from __future__ import annotations

import math
import statistics
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
    Scorecard,
    ScoredClaim,
    ScoredNumber,
    ScoredSpread,
    ShownByMeans,
    Skill,
    rows_of,
)
from bdpbench.score.causes import CAUSES_NAME
from bdpbench.score.chance import LEVEL, Parts, ends_of, gap, interval_of_mean, p_values
from bdpbench.score.claims import Claim
from bdpbench.score.expectations import CLAIMS_NAME, Expectations, require_unit
from bdpbench.score.lookup import Asked, Lookup, Measured, located
from bdpbench.score.published import PUBLISHED_NAME, PublishedNumber
from bdpbench.score.spreads import SPREAD_NAME, Groups, Repeats, Repetitions, Sample, SpreadEntry
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
    plan: Plan,
    metrics: pl.DataFrame,
    expected: Expectations,
    groups: Groups | None = None,
    ahead: int = 0,
) -> Scorecard:
    """Scorecard of a plan, as in ``scorecard.json``.

    Args:
        plan: as in ``plan.json``.
        metrics: run_id, scenario, metric, subject, value, unit, …, definition.
        expected: what the study prints and states.
        groups: computes metrics of several runs from those of single runs, for repetitions.
        ahead: by how many looks: as if the repetitions so far came again until then.

    Raises:
        BdpbenchError: for a selector that names something the study does not have, or that is
            ambiguous, and for a number in another unit than its metric.
    """
    entries = expected.spreads
    repetitions = Repetitions(plan, metrics, expected.metrics, groups, ahead)
    parts = Counter(number.whole for number in expected.numbers)
    rows = [
        (each.whole, _score_number(each, parts[each.whole], entries, repetitions))
        for each in expected.numbers
    ]
    numbers = _printed_numbers(rows)
    statements = [_score_claim(each, entries, repetitions) for each in expected.claims]
    reasons = {claim: cause.text for cause in expected.causes for claim in cause.of}
    for each in statements:
        each["known_miss"] = each["known_miss"] or reasons.get(each["id"], "")
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
    if expected.causes:
        with located(CAUSES_NAME):
            card["causes"] = [each.scored(repetitions.once) for each in expected.causes]
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


def _score_number(
    number: PublishedNumber,
    parts: int,
    entries: Sequence[SpreadEntry],
    repetitions: Repetitions,
) -> ScoredNumber:
    """A scored row; ``parts`` is the number of rows of its printed number."""
    entries = [each for each in entries if each.is_of(number.id)]
    with located(f"{PUBLISHED_NAME}, {number.id}"):
        found = repetitions.once.one(number)
        if found is not None:
            require_unit(number, found.unit)
    with located(f"{SPREAD_NAME}, {number.id}"):
        sample = repetitions.sample(entries if found else [], [number])
        values = [each.value for own in sample.each if (each := own.one(number))]
    # A share is never above all of it, so that such a bound can be missed by no mean.
    once = found.value if found else None
    is_end = number.upper == max(ends_of(number.unit)) and (once or 0.0) <= number.upper
    found = sample.judged.one(number)
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
    scored = cast("ScoredNumber", row)
    if values:
        _decide_by_chance(scored, values, math.inf if is_end else number.upper, sample, parts)
    if others := _readings_of(scored, number, entries, repetitions.once):
        scored["spread"] = [*scored.get("spread", []), *others]
    return scored


def _decide_by_chance(
    row: ScoredNumber, values: Sequence[float | None], upper: float, sample: Sample, parts: int
) -> None:
    """Judge a number by the mean of its repetitions, in place."""
    each = [Parts([gap(row["lower"], own, ""), gap(own, upper, "")]) for own in values]
    shown = p_values(each)
    if known := [own for own in values if own is not None]:
        level = sample.level or LEVEL
        kind = f"{100 * (1 - level):g} % interval of the mean of "
        source = kind + _counted(values, sample.source)
        ends = interval_of_mean(known, level)
        spread = _spread(row, sample.varied, ends, source, len(values))
        if len(known) > 1:
            spread["deviation"] = statistics.stdev(known)
        row["spread"] = [spread]
    is_inside = row["verdict"] == "reproduced"
    if (shown.holds if is_inside else shown.fails * parts) > sample.level:
        row["alone"], row["verdict"] = row["verdict"], "undecided"
        row["reason"] = "chance may have moved the mean of repetitions across its bounds"


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
    widths = [
        (row["upper"] - row["lower"]) / each["deviation"]
        for row in rows
        for each in row.get("spread", [])
        if each.get("deviation")
    ]
    return {
        "metric": metric,
        "unit": unit,
        "numbers": len(rows),
        "reproduced": sum(row["lower"] <= value <= row["upper"] for row, value in measured),
        "constant": constant,
        "constant_reproduced": sum(row["lower"] <= constant <= row["upper"] for row in rows),
        "rank_correlation": None if math.isnan(correlation) else correlation,
        "width": statistics.median(widths) if widths else None,
    }


def _readings_of(
    row: ScoredNumber, number: PublishedNumber, entries: Sequence[SpreadEntry], lookup: Lookup
) -> list[ScoredSpread]:
    """What other readings of a number give, which decide nothing, from its own value on."""
    found: list[ScoredSpread] = []
    own = row["measured"]
    for entry in entries:
        if entry.placed or own is None:
            continue
        least, most, source = entry.least, entry.most, entry.source
        if least is None or most is None:
            with located(f"{SPREAD_NAME}, {number.id}"):
                rows = [each.value for each in lookup.all(entry.asked_of(number))]
            known = [own, *(each for each in rows if each is not None)]
            if len(known) < 2:
                continue
            least, most = min(known), max(known)
            if entry.runs:
                source = _counted(rows, f"{several(len(rows), 'run')} of {entry.runs.scenario}")
        found.append(_spread(row, entry.varied, (least, most), source))
    return found


def _spread(
    row: ScoredNumber, varied: str, ends: tuple[float, float], source: str, repetitions: int = 0
) -> ScoredSpread:
    least, most = ends
    return {
        "varied": varied,
        "least": least,
        "most": most,
        "source": source,
        "holds_print": row["lower"] <= most and least <= row["upper"],
        "repetitions": repetitions,
    }


def _counted(values: Sequence[float | None], said: str) -> str:
    """What is said of some runs, and how many of them have no value."""
    without = values.count(None)
    return said + (f", {without} of them without a value" if without else "")


def _score_claim(
    claim: Claim, entries: Sequence[SpreadEntry], repetitions: Repetitions
) -> ScoredClaim:
    entries = [each for each in entries if each.is_of(claim.text.id)]
    with located(f"{CLAIMS_NAME}, {claim.text.id}"):
        sample = Sample(repetitions.once)
        finding = claim.condition.finding(sample.judged)
    if finding.holds is not None:
        with located(f"{SPREAD_NAME}, {claim.text.id}"):
            sample = repetitions.sample(entries, [each for _, each in claim.questions])
            finding = claim.condition.finding(sample.judged)
    verdict = _CLAIM_VERDICTS[finding.holds]
    shown = _shown(claim, sample) if sample.each else None
    is_open = shown is not None and shown["holds" if finding.holds else "fails"] > sample.level
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
        "verdict": "undecided" if is_open else verdict,
        "explanation": finding.explanation,
        "protocols": sorted(protocols),
        "evidence": [each.evidence(metric) for metric, each in finding.evidence],
        "found": claim.text.found,
        "chosen_on": claim.text.chosen_on,
        "kind": claim.text.kind(claim.text.id),
        "margin": finding.margin,
    }
    if is_open:
        scored["alone"] = verdict
    if shown is not None:
        scored["shown"] = shown
    return scored


def _shown(claim: Claim, sample: Sample) -> ShownByMeans:
    """What the repetitions of a statement's runs show."""
    parts = [claim.condition.finding(each).part for each in sample.each]
    found = p_values([each for each in parts if each is not None])
    return {
        "varied": sample.varied,
        "source": sample.source,
        "repetitions": len(sample.each),
        "level": sample.level,
        "holds": found.holds,
        "fails": found.fails,
    }
