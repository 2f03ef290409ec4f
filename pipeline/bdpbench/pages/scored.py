"""Entries of the scorecard as rows: published numbers and statements, with words for verdicts.

Templates read what ``scorecard.json`` has from ``number`` and ``claim``; a row adds what follows
from it, and the names.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bdpbench.contracts.scorecard import (
    NARROW_HALF_WIDTHS,
    NARROW_SHARE,
    Scorecard,
    ScoredClaim,
    ScoredNumber,
    ScoredSpread,
    ShownByMeans,
    is_narrow,
    is_repeated,
    rows_of,
)
from bdpbench.pages.names import Names, RunLink, subject_name
from bdpbench.pages.pictures import Picture, picture_of_claim, picture_of_number, share_in_words
from bdpbench.pages.text import (
    VERDICTS,
    Verdict,
    format_deviation,
    format_number,
    format_percent,
    origin_in_words,
    origin_keys,
    value_text,
)
from bdpbench.units import axis_title, with_unit


@dataclass(frozen=True)
class Scored:
    """What rows of numbers and of statements have in common.

    ``origin`` says how the definition was found, and ``origins`` are the filter options that it
    belongs to; ``margin`` says how far an entry is from another verdict, ``narrow`` whether that is
    little, and ``hair`` whether no repetition shows its spread then; ``picture`` shows its values;
    ``protocols`` are the labels of those that it concerns, ``search`` is the text that a filter
    searches; ``readings`` are the names of other readings of the study, each with the entry by it.
    """

    verdict: Verdict
    kind: str
    origin: str
    origins: tuple[str, ...]
    margin: str
    narrow: bool
    hair: bool
    picture: Picture | None
    protocols: tuple[str, ...]
    search: str
    readings: tuple[tuple[str, ScoredNumber | ScoredClaim], ...]


@dataclass(frozen=True)
class NumberRow(Scored):
    """One published number and its verdict; see ``scorecard.json`` for ``number``.

    ``spreads`` say how far the value moves, and ``in_spread`` whether a miss is within one of the
    spreads; ``parts`` are the rows of the single runs of a number that several runs have to show.
    """

    number: ScoredNumber
    metric: str
    condition: str
    scenario: str
    selector: str
    published: str
    measured: str
    deviation: str
    deviation_percent: str
    bounds: str
    runs: tuple[RunLink, ...]
    expectation: str
    spreads: tuple[str, ...] = ()
    in_spread: bool = False
    parts: tuple[NumberRow, ...] = ()

    @property
    def distance(self) -> float:
        """Distance of the scorecard; infinite if there is none, as the metric has no value."""
        distance = self.number["distance"]
        return math.inf if distance is None else distance

    @property
    def widths(self) -> float | None:
        """Signed distance in widths of the bounds, within which it is from -1 to 1."""
        deviation = self.number["deviation"]
        if self.number["measured"] is None or deviation is None:
            return None
        known = self.number["distance"] is not None
        return math.copysign(self.distance if known or deviation else 0.0, deviation)

    @property
    def rows(self) -> tuple[NumberRow, ...]:
        """The rows of the runs that have to show the number; itself if there is only one."""
        return self.parts or (self,)


@dataclass(frozen=True)
class ClaimRow(Scored):
    """One statement of the study; see ``scorecard.json`` for ``claim``.

    ``shown`` says what repetitions show.
    """

    claim: ScoredClaim
    shown: str = ""


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
        kind=claim["kind"],
        origin=origin_in_words(claim),
        origins=origin_keys(claim),
        margin=_margin_of_claim(claim),
        narrow=is_narrow(claim),
        hair=is_narrow(claim) and not is_repeated(claim),
        picture=picture_of_claim(claim),
        protocols=protocols,
        search=_search(told),
        readings=(),
        claim=claim,
        shown=_shown(claim["shown"]) if "shown" in claim else "",
    )


def _search(told: Iterable[object]) -> str:
    return " ".join(map(str, told)).lower()


def _margin_of_claim(claim: ScoredClaim) -> str:
    """By how much a statement holds or fails, in words; "" if it has no margin."""
    margin = claim["margin"]
    if margin is None:
        return ""
    verb = "Fails" if claim.get("alone", claim["verdict"]) == "fails" else "Holds"
    text = f"{verb} by {share_in_words(abs(margin))} of the larger value"
    return f"{text}{_narrow(claim, f'{100 * NARROW_SHARE:g} %')}."


def _narrow(entry: ScoredNumber | ScoredClaim, little: str) -> str:
    """What is said of a small margin."""
    if not is_narrow(entry):
        return ""
    known = "" if is_repeated(entry) else ", and the spread is not measured"
    return f": decided by less than {little}{known}"


def _shown(by: ShownByMeans) -> str:
    return (
        f"Judged by means of {by['source']}. Varied: {by['varied']}. It holds with p = "
        f"{by['holds']:.2g} and fails with p = {by['fails']:.2g}; {by['level']:.2g} decides."
    )


def _number_row(number: ScoredNumber, names: Names) -> NumberRow:
    """A row with the rows of its runs."""
    if not number.get("parts"):
        return _row(number, names)
    parts = tuple(_row(each, names) for each in rows_of(number))
    row = _row(number, names, [" and ".join(each.protocols) or each.condition for each in parts])
    return replace(
        row,
        parts=parts,
        protocols=tuple(dict.fromkeys(each for part in parts for each in part.protocols)),
        condition=", ".join(filter(None, [row.condition, f"{len(parts)} runs"])),
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


def _spread(spread: ScoredSpread, number: ScoredNumber) -> str:
    """How far a number moves, what was varied, and what follows."""
    ends = [format_number(spread[end], like=number["published"]) for end in ("least", "most")]
    span = with_unit(" to ".join(dict.fromkeys(ends)), number["unit"])
    repeated = spread.get("repetitions")
    kind = "" if repeated else "Another reading: it decides nothing. "
    noun = "interval" if repeated else "spread"
    reaches = "reaches" if spread["holds_print"] else "does not reach"
    source = f" Source: {spread['source']}." if spread["source"] else ""
    return (
        f"{span}. Varied: {spread['varied']}. {kind}The {noun} {reaches} the bounds of the printed "
        f"number.{source}"
    )


def _row(number: ScoredNumber, names: Names, labels: Sequence[str] = ()) -> NumberRow:
    verdict, selected = VERDICTS[number["verdict"]], number["select"]
    of_runs = {names.run(each).protocols for each in number["run_ids"]}
    # A number of "case 3" is about those that meet in its runs, if these are the same in all.
    protocols = names.protocols_in(selected) or (of_runs.pop() if len(of_runs) == 1 else ())
    unit, published = number["unit"], number["published"]
    metric, scenario = names.metric(number["metric"]), names.scenario(number["scenario"])
    condition, spreads = _condition(selected, number["subject"], names), number.get("spread", [])
    told = [number["id"], number["where"], number["metric"], metric, *protocols, condition]
    told += [scenario, verdict.label, number["note"], number["reason"], number["kind"]]
    percent = number["unit"] == "%"  # percentages differ by points; the deviation in % is beside it
    deviation = format_deviation(number["deviation"], number["measured"], published)
    ends = (format_number(number[end], like=number[end]) for end in ("lower", "upper"))
    shown = labels or [""] * len(rows_of(number))
    return NumberRow(
        verdict=verdict,
        kind=number["kind"],
        origin=origin_in_words(number),
        origins=origin_keys(number),
        margin=_margin_of_number(number),
        narrow=is_narrow(number),
        hair=is_narrow(number) and not is_repeated(number),
        picture=picture_of_number(number, shown, axis_title(metric, unit)),
        protocols=protocols,
        search=_search(told),
        readings=(),
        number=number,
        metric=metric,
        condition=condition,
        scenario=scenario,
        selector=";".join(f"{name}={value}" for name, value in selected.items()),
        published=value_text(published, unit, published),
        measured=value_text(number["measured"], unit, published),
        deviation=deviation
        if deviation == "–"
        else with_unit(deviation, "points" if percent else unit),
        deviation_percent=format_percent(number["deviation_pct"]),
        bounds=with_unit(" to ".join(ends), unit),
        runs=tuple(map(names.run, number["run_ids"])),
        expectation=_expectation(number),
        spreads=tuple(_spread(each, number) for each in spreads),
        in_spread=number["verdict"] in ("close", "not_reproduced")
        and any(each["holds_print"] for each in spreads),
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


def _margin_of_number(number: ScoredNumber) -> str:
    """How far a value is from the nearer bound, in words; "" if it has no margin."""
    margin = number["margin"]
    if margin is None:
        return ""
    size = f"{abs(margin):.2f}" if abs(margin) < 10 else f"{abs(margin):.0f}"
    text = f"{size} half widths {'inside' if margin >= 0 else 'outside'} the nearer bound"
    return text + _narrow(number, f"{NARROW_HALF_WIDTHS:g} of a half width")


def _expectation(number: ScoredNumber) -> str:
    """The meaning of a verdict if a miss was known before the run; "" otherwise."""
    if not number["known_miss"]:
        return ""
    return "unexpected match" if number["verdict"] == "reproduced" else "known miss"
