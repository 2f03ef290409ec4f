"""Entries of the scorecard as rows: published numbers and statements, with words for verdicts.

Templates read what ``scorecard.json`` has from ``number`` and ``claim``; a row adds what follows
from it, and the names.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bdpbench.contracts.scorecard import (
    Evidence,
    Scorecard,
    ScoredClaim,
    ScoredNumber,
    rows_of,
)
from bdpbench.pages.names import Names, RunLink, subject_name
from bdpbench.pages.text import (
    VERDICTS,
    Verdict,
    distinct,
    format_deviation,
    format_number,
    joined,
    value_text,
)
from bdpbench.units import with_unit


@dataclass(frozen=True)
class Scored:
    """What rows of numbers and of statements have in common.

    ``protocols`` are the labels of those that it concerns, ``search``
    is the text that a filter searches; ``readings`` are the names of other readings of the study,
    each with the entry by it.
    """

    verdict: Verdict
    protocols: tuple[str, ...]
    search: str
    readings: tuple[tuple[str, ScoredNumber | ScoredClaim], ...]


@dataclass(frozen=True)
class NumberRow(Scored):
    """One published number and its verdict; see ``scorecard.json`` for ``number``.

    ``parts`` are the rows of the single runs of a number that several runs have to show.
    """

    number: ScoredNumber
    metric: str
    condition: str
    scenario: str
    published: str
    measured: str
    deviation: str
    runs: tuple[RunLink, ...]
    parts: tuple[NumberRow, ...] = ()

    @property
    def entry(self) -> ScoredNumber:
        """What the scorecard has of it."""
        return self.number

    @property
    def distance(self) -> float:
        """Distance of the scorecard; infinite if there is none, as the metric has no value."""
        distance = self.number["distance"]
        return math.inf if distance is None else distance

    def widths(self, value: float) -> float:
        """How far a value is from the print, in widths of the bounds, which are from -1 to 1."""
        number, away = self.number, value - self.number["published"]
        side = abs(number["upper" if away > 0 else "lower"] - number["published"])
        return away / (side or (number["upper"] - number["lower"]) / 2 or abs(away) or 1.0)

    @property
    def rows(self) -> tuple[NumberRow, ...]:
        """The rows of the runs that have to show the number; itself if there is only one."""
        return self.parts or (self,)


@dataclass(frozen=True)
class ClaimRow(Scored):
    """One statement of the study; see ``scorecard.json`` for ``claim``."""

    claim: ScoredClaim

    @property
    def entry(self) -> ScoredClaim:
        """What the scorecard has of it."""
        return self.claim


@dataclass(frozen=True)
class CauseRow:
    """A cause, the statements that fail by it, and values that show it."""

    title: str
    text: str
    claims: tuple[ClaimRow, ...]
    evidence: tuple[Evidence, ...] = ()


def cause_rows(scorecard: Scorecard, claims: Sequence[ClaimRow]) -> list[CauseRow]:
    """The causes by which statements fail, and last the statements that no cause explains."""
    failing = {row.claim["id"]: row for row in claims if row.verdict.key == "fails"}
    rows = [
        CauseRow(each["cause"], each["text"], of, tuple(each["evidence"]))
        for each in scorecard.get("causes", [])
        if (of := tuple(failing.pop(claim) for claim in each["of"] if claim in failing))
    ]
    if rows and failing:
        rows.append(CauseRow("Not explained", "No cause is known.", tuple(failing.values())))
    return rows


def number_rows(scorecard: Scorecard, names: Names) -> list[NumberRow]:
    """Rows of the table of published numbers, in the order of the scorecard."""
    return [
        replace(_number_row(each, names), readings=_readings(each["id"], "numbers", scorecard))
        for each in scorecard["numbers"]
    ]


def claim_rows(scorecard: Scorecard, names: Names) -> list[ClaimRow]:
    """Rows of the list of statements, in the order of the scorecard."""
    return [
        replace(_claim_row(each, names), readings=_readings(each["id"], "claims", scorecard))
        for each in scorecard["claims"]
    ]


def _readings(
    name: str, kind: Literal["numbers", "claims"], scorecard: Scorecard
) -> tuple[tuple[str, ScoredNumber | ScoredClaim], ...]:
    return tuple(
        (varied, each)
        for varied, read in scorecard.get("readings", {}).items()
        for each in read[kind]
        if each["id"] == name and each["verdict"] != "not_run"
    )


def _claim_row(claim: ScoredClaim, names: Names) -> ClaimRow:
    verdict = VERDICTS[claim["verdict"]]
    protocols = tuple(names.protocol(key) for key in claim["protocols"])
    told = [claim["id"], claim["where"], claim["statement"], claim["explanation"]]
    told += [claim["known_miss"], *protocols, verdict.label, claim["kind"]]
    return ClaimRow(
        verdict=verdict,
        protocols=protocols,
        search=" ".join(map(str, told)).lower(),
        readings=(),
        claim=claim,
    )


def _number_row(number: ScoredNumber, names: Names) -> NumberRow:
    """A row with the rows of its runs."""
    if not number.get("parts"):
        return _row(number, names)
    parts = tuple(_row(each, names) for each in rows_of(number))
    row = _row(number, names)
    return replace(
        row,
        parts=parts,
        protocols=distinct(each for part in parts for each in part.protocols),
        condition=joined(row.condition, f"{len(parts)} runs"),
        measured=_span(parts),
        search=" ".join([row.search, *(part.search for part in parts)]),
    )


def _span(parts: Sequence[NumberRow]) -> str:
    """The range of the values of a number's runs, from the smallest to the largest."""
    known = sorted(
        (part.number["measured"], part.measured)
        for part in parts
        if part.number["measured"] is not None
    )
    lacking = len(parts) - len(known)
    if not known:
        return "–"
    least, most = known[0], known[-1]
    like = parts[0].number["published"]
    start = f"{format_number(least[0], like=like)} to " if least[1] != most[1] else ""
    return f"{start}{most[1]}" + (f", {lacking} without a value" if lacking else "")


def _row(number: ScoredNumber, names: Names) -> NumberRow:
    verdict, selected = VERDICTS[number["verdict"]], number["select"]
    of_runs = {names.run(each).protocols for each in number["run_ids"]}
    # A number of "case 3" is about those that meet in its runs, if these are the same in all.
    protocols = names.protocols_in(selected) or (of_runs.pop() if len(of_runs) == 1 else ())
    unit, published = number["unit"], number["published"]
    metric, scenario = names.metric(number["metric"]), names.scenario(number["scenario"])
    condition = _condition(selected, number["subject"], names)
    told = [number["id"], number["where"], number["metric"], metric, *protocols, condition]
    told += [scenario, verdict.label, number["note"], number["reason"], number["kind"]]
    percent = number["unit"] == "%"  # percentages differ by points; the deviation in % is beside it
    deviation = format_deviation(number["deviation"], number["measured"], published)
    return NumberRow(
        verdict=verdict,
        protocols=protocols,
        search=" ".join(map(str, told)).lower(),
        readings=(),
        number=number,
        metric=metric,
        condition=condition,
        scenario=scenario,
        published=value_text(published, unit, published),
        measured=value_text(number["measured"], unit, published),
        deviation=deviation
        if deviation == "–"
        else with_unit(deviation, "points" if percent else unit),
        runs=tuple(map(names.run, number["run_ids"])),
    )


def _condition(selected: Mapping[str, str], subject: str, names: Names) -> str:
    parts = [
        names.parameters.with_value(name, value)
        for name, value in selected.items()
        if not name.startswith("protocol")
    ]
    if subject.startswith("flow:") and "protocol_2" in selected:
        parts.append(subject_name(subject))
    return ", ".join(parts)
