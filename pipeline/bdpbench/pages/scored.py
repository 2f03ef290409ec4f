"""Entries of the scorecard as rows, and their summary: what was reproduced, what was not, and why.

Templates read what ``scorecard.json`` has from ``number`` and ``claim``; a row adds what follows
from it, names and words for verdicts.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import polars as pl

from bdpbench.contracts.scorecard import (
    CLAIM_VERDICTS,
    NUMBER_VERDICTS,
    Kind,
    Scorecard,
    ScoredClaim,
    ScoredNumber,
    is_narrow,
    is_repeated,
    rows_of,
)
from bdpbench.pages.experiments import Experiment
from bdpbench.pages.names import Captions, Names, RunLink, subject_name
from bdpbench.pages.specs import (
    FAINT,
    Chart,
    Encoding,
    coloured,
    layer,
    layered,
    number,
    spec_content,
    text,
)
from bdpbench.pages.text import (
    VERDICTS,
    Verdict,
    distinct,
    format_deviation,
    format_number,
    joined,
    totals,
    value_text,
)
from bdpbench.units import with_unit

Entry = TypeVar("Entry", "NumberRow", "ClaimRow")

MEANING: dict[Kind, str] = {
    "blind": "the definition is the study's own, or was chosen without this value in view",
    "fitted": "the definition was chosen with this value in view",
}

REACH = 3.0
"""Half widths of the bounds at which the axis ends; numbers farther off are drawn at its end."""

FEWEST = 3
"""Fewest numbers that make a chart."""

_HEIGHT = 190
_LOOKS = {
    "reproduced": ("#17663a", "circle"),
    "undecided": ("#5b3f8f", "square"),
    "close": ("#7a5200", "diamond"),
    "not_reproduced": ("#a3211b", "triangle-up"),
}


@dataclass(frozen=True, kw_only=True)
class Scored:
    """What rows of numbers and of statements have in common.

    ``protocols`` are the labels of those that it concerns, ``search``
    is the text that a filter searches; ``readings`` are the names of other readings of the study,
    each with the entry by it.
    """

    verdict: Verdict
    protocols: tuple[str, ...]
    search: str
    readings: tuple[tuple[str, ScoredNumber | ScoredClaim], ...] = ()


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
class ClaimRow(Scored):
    """One statement of the study; see ``scorecard.json`` for ``claim``."""

    claim: ScoredClaim

    @property
    def entry(self) -> ScoredClaim:
        """What the scorecard has of it."""
        return self.claim


def cause_rows(scorecard: Scorecard, claims: Sequence[ClaimRow]) -> list[dict[str, object]]:
    """The causes by which statements fail, and last the statements that no cause explains.

    Returns:
        ``title`` and ``text`` of each, the rows of its ``claims``, and the ``evidence`` for it.
    """
    failing = {row.claim["id"]: row for row in claims if row.verdict.key == "fails"}
    rows: list[dict[str, object]] = []
    for each in scorecard.get("causes", []):
        if of := [failing.pop(claim) for claim in each["of"] if claim in failing]:
            told = {"title": each["cause"], "text": each["text"], "evidence": each["evidence"]}
            rows.append({**told, "claims": of})
    if rows and failing:
        told = {"title": "Not explained", "text": "No cause is known.", "evidence": []}
        rows.append({**told, "claims": [*failing.values()]})
    return rows


def number_rows(scorecard: Scorecard, names: Names) -> list[NumberRow]:
    """Rows of the table of published numbers, in the order of the scorecard."""
    return [
        replace(_number_row(each, names), readings=_readings(each["id"], "numbers", scorecard))
        for each in scorecard["numbers"]
    ]


def claim_rows(scorecard: Scorecard, names: Names) -> list[ClaimRow]:
    """Rows of the list of statements, in the order of the scorecard."""
    rows = []
    for claim in scorecard["claims"]:
        verdict = VERDICTS[claim["verdict"]]
        protocols = tuple(names.protocol(key) for key in claim["protocols"])
        told = [claim["id"], claim["where"], claim["statement"], claim["explanation"]]
        told += [claim["known_miss"], *protocols, verdict.label, claim["kind"]]
        rows.append(
            ClaimRow(
                verdict=verdict,
                protocols=protocols,
                search=" ".join(map(str, told)).lower(),
                readings=_readings(claim["id"], "claims", scorecard),
                claim=claim,
            )
        )
    return rows


def _readings(
    name: str, kind: Literal["numbers", "claims"], scorecard: Scorecard
) -> tuple[tuple[str, ScoredNumber | ScoredClaim], ...]:
    return tuple(
        (varied, each)
        for varied, read in scorecard.get("readings", {}).items()
        for each in read[kind]
        if each["id"] == name and each["verdict"] != "not_run"
    )


def _number_row(number: ScoredNumber, names: Names) -> NumberRow:
    """A row with the rows of its runs."""
    row = _row(number, names)
    if not number.get("parts"):
        return row
    parts = tuple(_row(each, names) for each in rows_of(number))
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


def summarize(
    numbers: Sequence[NumberRow], claims: Sequence[ClaimRow], experiments: Sequence[Experiment]
) -> dict[str, object]:
    """What the first section of the page says of verdicts, besides their counts.

    Returns:
        ``misses``, how many numbers are outside their bounds, most ``often`` of a metric; their
            ``reasons``, the most frequent first, unknown ones last; ``absent``, what was not run,
            and how much of it; what is undecided ``by_chance``, and ``hairs``, decided by a small
            margin while their spread is not measured, as anchors and ids; and ``narrow``, how many
            margins are small.
    """
    misses = [row for row in numbers if row.verdict.key in ("close", "not_reproduced")]
    misses.sort(key=lambda row: -row.distance)
    rows: list[NumberRow | ClaimRow] = [*numbers, *claims]
    narrow = [row for row in rows if is_narrow(row.entry)]
    return {
        "misses": len(misses),
        "reasons": _reasons(misses),
        "often": Counter(row.metric for row in misses).most_common(1)[0] if misses else ("", 0),
        "absent": list(_absent(numbers, claims, experiments)),
        "by_chance": [_link(row) for row in rows if row.verdict.key == "undecided"],
        "hairs": [_link(row) for row in narrow if not is_repeated(row.entry)],
        "narrow": len(narrow),
    }


def _link(row: NumberRow | ClaimRow) -> tuple[str, str]:
    """Anchor and id of an entry."""
    if isinstance(row, ClaimRow):
        return f"claim-{row.claim['id']}", row.claim["id"]
    return f"number-{row.number['id']}", row.number["id"]


def _reasons(misses: Sequence[NumberRow]) -> list[dict[str, Any]]:
    """The reasons for misses, "" if unknown: how many numbers, where, of whom, and the farthest.

    ``short`` is the first sentence, or the first part of it, without what follows a colon.
    """
    by_reason: dict[str, list[NumberRow]] = {}
    for row in misses:
        by_reason.setdefault(row.number["known_miss"], []).append(row)
    found = [
        {
            "text": text,
            "short": re.split(r"(?<=[^.\d])[.:;](?:\s|$)", text, maxsplit=1)[0].rstrip("."),
            "count": len(rows),
            "where": distinct(row.number["where"] for row in rows),
            "protocols": distinct(each for row in rows for each in row.protocols),
            "first": rows[0].number["id"],
        }
        for text, rows in by_reason.items()
    ]
    return sorted(found, key=lambda reason: (not reason["text"], -reason["count"]))


def in_doubt(rows: Sequence[Entry]) -> list[Entry]:
    """Numbers, or statements, in the order in which a reader might doubt them.

    Misses by distance come first, then what is undecided, then unexpected matches, then numbers by
    their closeness to a bound, and last those that were not run.
    """
    order = {"not_reproduced": 0, "fails": 0, "close": 1, "undecided": 2, "not_run": 5}

    def doubt(row: Entry) -> tuple[int, float]:
        if isinstance(row, ClaimRow):
            return order.get(row.verdict.key, 4), 0.0
        rank = order.get(row.verdict.key, 3 if row.number["known_miss"] else 4)
        return rank, -row.distance

    return sorted(rows, key=doubt)


def _absent(
    numbers: Sequence[NumberRow], claims: Sequence[ClaimRow], experiments: Sequence[Experiment]
) -> Iterator[tuple[str, str]]:
    for each in experiments:
        if each.absent:
            yield each.title, f"{each.absent} of {len(each.runs)} runs have no results yet"
    for what, rows in (("Numbers", numbers), ("Statements", claims)):
        not_run = sum(row.verdict.key == "not_run" for row in rows)
        if not_run:
            yield what, f"{not_run} of {len(rows)} need runs that are missing"


def kind_rows(scorecard: Scorecard) -> list[dict[str, object]]:
    """What came of the blind, and of the fitted, entries that were run; none without entries."""
    rows = []
    for kind, meaning in MEANING.items():
        own = scorecard["kind_totals"].get(kind, {})
        said = scorecard["claim_kind_totals"].get(kind, {})
        if any([*own.values(), *said.values()]):
            of, of_claims = (sum(each.values()) - each.get("not_run", 0) for each in (own, said))
            told = {"kind": kind, "meaning": meaning, "numbers": own, "claims": said}
            rows.append({**told, "of": of, "of_claims": of_claims})
    return rows


def printed_chart(numbers: Sequence[NumberRow], captions: Captions) -> Chart | None:
    """All numbers that were run, the largest miss first: printed against measured.

    Returns:
        The chart; None of fewer numbers than ``FEWEST``, which a sentence tells.
    """
    known = [row for row in numbers if row.number["measured"] is not None]
    known.sort(key=lambda row: -abs(row.widths(row.number["measured"] or 0.0)))
    if len(known) < FEWEST:
        return None
    counts = Counter(row.verdict for row in known)
    looks = {
        f"{verdict.label} ({counts[verdict]})": _LOOKS[verdict.key]
        for verdict in sorted(counts, key=lambda each: each.rank)
    }
    rows = pl.DataFrame(
        [
            {
                "place": place,
                "verdict": f"{row.verdict.label} ({counts[row.verdict]})",
                **_away(row),
                "protocol": " and ".join(row.protocols),
                "what": joined(row.number["where"], row.metric, row.condition),
                "published": row.published,
                "measured": row.measured,
                "number": row.number["id"],
            }
            for place, row in enumerate(known, start=1)
        ]
    )
    domain = {"domain": [-REACH, REACH]}
    away = number("away", "measured − printed (half widths)", scale=domain,
                  axis={"values": [-3, -2, -1, 0, 1, 2, 3], "grid": False})  # fmt: skip
    abscissa = f"{len(known)} numbers, the largest miss first"
    base: Encoding = {
        "x": number("place", abscissa, scale={"domain": [0, len(known) + 1]},
                    axis={"labels": False, "ticks": False, "grid": False}),
        "y": away,
        "color": coloured("verdict", {name: colour for name, (colour, _) in looks.items()},
                          title=None, legend={"symbolSize": 70}),
    }  # fmt: skip
    shapes = {"domain": list(looks), "range": [shape for _, shape in looks.values()]}
    words = ("what", "protocol", "published", "measured", "verdict")
    point = {
        **base,
        "shape": text("verdict", None, scale=shapes, legend={"symbolSize": 70}),
        "tooltip": [text(each, each) for each in words],
    }
    ends: Encoding = {**base, "y": {**away, "field": "low"}, "y2": {"field": "high"}}
    bounds = pl.DataFrame([{"low": -1.0, "high": 1.0, "print": 0.0}])
    spec = layered(
        layer("rect", "bounds", {"y": ends["y"], "y2": ends["y2"]}, color="#e3f2e8"),
        layer("rule", "bounds", {"y": {**away, "field": "print"}}, color=FAINT, strokeDash=[3, 3]),
        layer("rule", "numbers", ends, strokeWidth=1.4, opacity=0.55),
        layer("point", "numbers", point, filled=True, size=42, opacity=1, cursor="pointer"),
        height=_HEIGHT,
        rows={"bounds": bounds, "numbers": rows},
    )
    reproduced = sum(row.verdict.key == "reproduced" for row in known)
    return Chart(
        chart_id="printed-against-measured",
        title=f"{reproduced} of {len(known)} printed numbers are reproduced",
        caption=captions.charts["printed"]["caption"],
        alternative=f"Printed against measured: {'; '.join(looks)}; all are in the table below.",
        content=spec_content(spec, list(looks)),
    )


def _away(row: NumberRow) -> dict[str, float]:
    """How far a number, and the ends of the interval of its mean, are away; at most ``REACH``."""
    own = row.number["measured"] or 0.0
    of_means = [each for each in row.number.get("spread", []) if each.get("repetitions")]
    ends = [end for each in of_means for end in (each["least"], each["most"])] or [own]
    told = {"away": own, "low": min(ends), "high": max(ends)}
    return {key: round(max(-REACH, min(REACH, row.widths(each))), 3) for key, each in told.items()}


def reading_rows(
    scorecard: Scorecard, numbers: Sequence[NumberRow], claims: Sequence[ClaimRow]
) -> list[dict[str, object]]:
    """The other readings, in the order of the scorecard.

    Returns:
        ``name`` of each; ``counts`` of the numbers and of the statements that it judges, with their
            totals by it and on the judged runs; and those ``changed`` to another verdict, as
            anchors and ids.
    """
    found = list[dict[str, object]]()
    of_kind = (("numbers", numbers, NUMBER_VERDICTS), ("statements", claims, CLAIM_VERDICTS))
    for name in scorecard.get("readings", {}):
        counts, changed = [], list[tuple[str, str]]()
        for noun, rows, verdicts in of_kind:
            both = [(row, dict(row.readings)[name]) for row in rows if name in dict(row.readings)]
            if both:
                read = totals(Counter(each["verdict"] for _, each in both), verdicts)
                own = totals(Counter(row.verdict.key for row, _ in both), verdicts)
                counts.append({"noun": noun, "of": len(both), "read": read, "judged": own})
            changed += [
                _link(row)
                for row, each in both
                if each["verdict"] != row.entry.get("alone", row.entry["verdict"])
            ]
        found.append({"name": name, "counts": counts, "changed": changed})
    return found
