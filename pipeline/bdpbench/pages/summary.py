"""The summary of a report: what was reproduced and what was not, blind and fitted, and why."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import polars as pl

from bdpbench.contracts.scorecard import (
    CLAIM_VERDICTS,
    NUMBER_VERDICTS,
    Kind,
    Scorecard,
    is_narrow,
    is_repeated,
)
from bdpbench.pages.experiments import Experiment
from bdpbench.pages.names import Captions
from bdpbench.pages.scored import ClaimRow, NumberRow
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
from bdpbench.pages.text import Total, distinct, joined, totals

Entry = TypeVar("Entry", NumberRow, ClaimRow)

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


@dataclass(frozen=True)
class Reason:
    """Numbers that are outside their bounds for one reason, which is "" if unknown.

    Attributes:
        text: the reason.
        count: how many numbers.
        where: places of the study that print them, each once.
        protocols: their protocols, each once.
        first: id of the number with the largest distance.
    """

    text: str
    count: int
    where: tuple[str, ...]
    protocols: tuple[str, ...]
    first: str

    @property
    def short(self) -> str:
        """Its first sentence, or the first part of it, without what follows a colon."""
        return re.split(r"(?<=[^.\d])[.:;](?:\s|$)", self.text, maxsplit=1)[0].rstrip(".")


@dataclass(frozen=True)
class Summary:
    """What the first section of the page says of verdicts, besides their counts.

    ``misses`` counts numbers outside their bounds, most often ``often`` (a metric, and how many);
    ``reasons`` are theirs, the most frequent first, unknown ones last; ``absent`` names what was
    not run, and how much of it. ``by_chance`` are undecided, ``hairs`` are decided by a small
    margin and their spread is not measured, each with its anchor and id; ``narrow`` counts small
    margins.
    """

    misses: int
    reasons: tuple[Reason, ...]
    absent: tuple[tuple[str, str], ...]
    often: tuple[str, int] = ("", 0)
    by_chance: tuple[tuple[str, str], ...] = ()
    hairs: tuple[tuple[str, str], ...] = ()
    narrow: int = 0


def summarize(
    numbers: Sequence[NumberRow], claims: Sequence[ClaimRow], experiments: Sequence[Experiment]
) -> Summary:
    """The summary of a scorecard's rows and the experiments of its tier."""
    misses = [row for row in numbers if row.verdict.key in ("close", "not_reproduced")]
    misses.sort(key=lambda row: -row.distance)
    rows: list[NumberRow | ClaimRow] = [*numbers, *claims]
    narrow = [row for row in rows if is_narrow(row.entry)]
    return Summary(
        misses=len(misses),
        reasons=tuple(_reasons(misses)),
        often=Counter(row.metric for row in misses).most_common(1)[0] if misses else ("", 0),
        absent=tuple(_absent(numbers, claims, experiments)),
        by_chance=tuple(_link(row) for row in rows if row.verdict.key == "undecided"),
        hairs=tuple(_link(row) for row in narrow if not is_repeated(row.entry)),
        narrow=len(narrow),
    )


def _link(row: NumberRow | ClaimRow) -> tuple[str, str]:
    """Anchor and id of an entry."""
    if isinstance(row, ClaimRow):
        return f"claim-{row.claim['id']}", row.claim["id"]
    return f"number-{row.number['id']}", row.number["id"]


def _reasons(misses: Sequence[NumberRow]) -> list[Reason]:
    by_reason: dict[str, list[NumberRow]] = {}
    for row in misses:
        by_reason.setdefault(row.number["known_miss"], []).append(row)
    found = [
        Reason(
            text=text,
            count=len(rows),
            where=distinct(row.number["where"] for row in rows),
            protocols=distinct(each for row in rows for each in row.protocols),
            first=rows[0].number["id"],
        )
        for text, rows in by_reason.items()
    ]
    return sorted(found, key=lambda reason: (not reason.text, -reason.count))


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
                **_span(row),
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


def _span(row: NumberRow) -> dict[str, float]:
    """How far a number, and the ends of the interval of its mean, are away; at most ``REACH``."""
    own = row.number["measured"] or 0.0
    of_means = [each for each in row.number.get("spread", []) if each.get("repetitions")]
    ends = [end for each in of_means for end in (each["least"], each["most"])] or [own]
    told = {"away": own, "low": min(ends), "high": max(ends)}
    return {key: round(max(-REACH, min(REACH, row.widths(each))), 3) for key, each in told.items()}


@dataclass(frozen=True)
class Counts:
    """Verdicts of the ``of`` entries that a reading judges, and those on the judged runs."""

    noun: str
    of: int
    read: tuple[Total, ...]
    judged: tuple[Total, ...]


@dataclass(frozen=True)
class ReadingRow:
    """Another reading in the summary.

    Attributes:
        name: what it changes.
        counts: of numbers and of statements; empty if no run is finished.
        changed: those that it decides otherwise, each with its anchor and id.
    """

    name: str
    counts: tuple[Counts, ...]
    changed: tuple[tuple[str, str], ...]


def reading_rows(scorecard: Scorecard) -> list[ReadingRow]:
    """The other readings, in the order of the scorecard."""
    readings = scorecard.get("readings", {})
    return [_reading(name, read, scorecard) for name, read in readings.items()]


def _reading(name: str, read: Scorecard, scorecard: Scorecard) -> ReadingRow:
    counts: list[Counts] = []
    changed: list[tuple[str, str]] = []
    kinds = (
        ("number", "numbers", read["numbers"], scorecard["numbers"], NUMBER_VERDICTS),
        ("claim", "statements", read["claims"], scorecard["claims"], CLAIM_VERDICTS),
    )
    for kind, noun, by_reading, judged, verdicts in kinds:
        known = {each["id"]: each["verdict"] for each in by_reading}
        both = [(each, known[each["id"]]) for each in judged if each["id"] in known]
        both = [(each, verdict) for each, verdict in both if verdict != "not_run"]
        if both:
            by_it = totals(Counter(verdict for _, verdict in both), verdicts)
            own = totals(Counter(each["verdict"] for each, _ in both), verdicts)
            counts.append(Counts(noun, len(both), tuple(by_it), tuple(own)))
        changed += [
            (f"{kind}-{each['id']}", each["id"])
            for each, verdict in both
            if verdict != each.get("alone", each["verdict"])
        ]
    return ReadingRow(name, tuple(counts), tuple(changed))
