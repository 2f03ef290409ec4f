"""The published numbers of the scorecard as rows of a table, with words for values and verdicts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bdpbench.contracts.scorecard import (
    NARROW_HALF_WIDTHS,
    Scorecard,
    ScoredNumber,
    ScoredSpread,
    is_narrow,
    is_repeated,
    rows_of,
)
from bdpbench.pages.names import Names, RunLink, subject_name
from bdpbench.pages.pictures import Picture, picture_of_number
from bdpbench.pages.readings import ReadRow, read_numbers
from bdpbench.pages.text import (
    VERDICTS,
    Verdict,
    format_deviation,
    format_number,
    format_percent,
    origin_in_words,
    origin_keys,
)
from bdpbench.units import axis_title, with_unit

# How far the axis of a gauge reaches beyond the bounds, in widths of the bounds.
GAUGE_MARGIN = 0.75

# If both bounds are equal, the axis is this share of their value wide.
GAUGE_WIDTH_OF_EXACT = 0.05


@dataclass(frozen=True)
class Gauge:
    """Positions from 0 (left) to 100 of the bounds, the published and the measured number.

    ``beyond`` is -1 or 1 if the measured number is off the axis on that side, otherwise 0;
    ``spread`` reaches from the smallest to the largest value of all spreads, or is None.
    """

    lower: float
    upper: float
    published: float
    measured: float | None
    beyond: int
    spread: tuple[float, float] | None = None


@dataclass(frozen=True)
class SpreadText:
    """How far a number moves, in words: the range, what was varied, and what follows."""

    span: str
    varied: str
    finding: str
    source: str

    def __str__(self) -> str:
        parts = (f"{self.span}.", self.varied, self.finding, self.source)
        return " ".join(part for part in parts if part)


@dataclass(frozen=True)
class NumberRow:
    """One published number and its verdict; see ``scorecard.json`` for ``number``.

    ``kind`` is "blind" or "fitted"; ``origin`` says how the definition was found, and ``origins``
    are the filter options that it belongs to; ``spreads``
    say how far the value moves, and ``in_spread`` whether a miss is within one of the spreads;
    ``readings`` are the verdicts by other readings of the study; ``picture`` shows the spreads;
    ``margin`` says how far it is from its bounds, ``narrow`` whether that is little, and ``hair``
    whether no repetition shows its spread then; ``search`` is the text that a filter searches;
    ``parts`` are the rows of the single runs of a
    number that several runs have to show.
    """

    number: ScoredNumber
    verdict: Verdict
    metric: str
    condition: str
    scenario: str
    protocols: tuple[str, ...]
    selector: str
    published: str
    measured: str
    deviation: str
    deviation_percent: str
    bounds: str
    gauge: Gauge
    picture: Picture
    margin: str
    runs: tuple[RunLink, ...]
    expectation: str
    search: str
    kind: str = ""
    origins: tuple[str, ...] = ()
    origin: str = ""
    spreads: tuple[SpreadText, ...] = ()
    readings: tuple[ReadRow, ...] = ()
    in_spread: bool = False
    narrow: bool = False
    hair: bool = False
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
        size = self.distance if known or deviation else 0.0
        return math.copysign(size, deviation)

    @property
    def rows(self) -> tuple[NumberRow, ...]:
        """The rows of the runs that have to show the number; itself if there is only one."""
        return self.parts or (self,)


def number_rows(scorecard: Scorecard, names: Names) -> list[NumberRow]:
    """Rows of the table of published numbers, in the order of the scorecard."""
    return [_number_row(number, names) for number in scorecard["numbers"]]


def _number_row(number: ScoredNumber, names: Names) -> NumberRow:
    """A row with the rows of its runs."""
    if not number.get("parts"):
        return _row(number, names)
    parts = tuple(_row(each, names) for each in rows_of(number))
    row = _row(number, names, [" and ".join(each.protocols) or each.condition for each in parts])
    condition = ", ".join([*([row.condition] if row.condition else []), f"{len(parts)} runs"])
    return replace(
        row,
        parts=parts,
        protocols=tuple(dict.fromkeys(each for part in parts for each in part.protocols)),
        condition=condition,
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


def _spread(spread: ScoredSpread, number: ScoredNumber) -> SpreadText:
    ends = [format_number(spread[end], like=number["published"]) for end in ("least", "most")]
    reaches = "reaches" if spread["holds_print"] else "does not reach"
    kind = "" if spread.get("repetitions") else "Another reading: it decides nothing. "
    return SpreadText(
        span=with_unit(" to ".join(dict.fromkeys(ends)), number["unit"]),
        varied=f"Varied: {spread['varied']}.",
        finding=f"{kind}The spread {reaches} the bounds of the printed number.",
        source=f"Source: {spread['source']}." if spread["source"] else "",
    )


def _row(number: ScoredNumber, names: Names, labels: Sequence[str] = ()) -> NumberRow:
    verdict = VERDICTS[number["verdict"]]
    selected = number["select"]
    of_runs = {names.run(each).protocols for each in number["run_ids"]}
    # A number of "case 3" is about those that meet in its runs, if these are the same in all.
    protocols = names.protocols_in(selected) or (of_runs.pop() if len(of_runs) == 1 else ())
    unit, published = number["unit"], number["published"]
    metric = names.metric(number["metric"])
    condition = _condition(selected, number["subject"], names)
    return NumberRow(
        number=number,
        verdict=verdict,
        metric=metric,
        condition=condition,
        scenario=names.scenario(number["scenario"]),
        protocols=protocols,
        selector=";".join(f"{name}={value}" for name, value in selected.items()),
        published=with_unit(format_number(published, like=published), unit),
        measured=with_unit(format_number(number["measured"], like=published), unit)
        if number["measured"] is not None
        else "–",
        deviation=_deviation(number),
        deviation_percent=format_percent(number["deviation_pct"]),
        bounds=_bounds(number),
        gauge=gauge(
            number["lower"], number["upper"], published, number["measured"], _reach(number)
        ),
        picture=picture_of_number(
            number, labels or [""] * len(rows_of(number)), axis_title(metric, unit)
        ),
        margin=_margin(number),
        runs=tuple(names.run(run_id) for run_id in number["run_ids"]),
        expectation=_expectation(number),
        kind=number["kind"],
        origins=origin_keys(number),
        origin=origin_in_words(number),
        spreads=tuple(_spread(each, number) for each in number.get("spread", [])),
        readings=read_numbers(number),
        narrow=is_narrow(number),
        hair=is_narrow(number) and not is_repeated(number),
        in_spread=number["verdict"] in ("close", "not_reproduced")
        and any(each["holds_print"] for each in number.get("spread", [])),
        search=" ".join(
            str(part)
            for part in (
                number["id"],
                number["where"],
                number["metric"],
                metric,
                *protocols,
                condition,
                names.scenario(number["scenario"]),
                verdict.label,
                number["note"],
                number["reason"],
                number["kind"],
            )
        ).lower(),
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


def _deviation(number: ScoredNumber) -> str:
    text = format_deviation(number["deviation"], number["measured"], number["published"])
    # Percentages differ by percentage points; the deviation in % is beside it.
    unit = "points" if number["unit"] == "%" else number["unit"]
    return text if text == "–" else with_unit(text, unit)


def _bounds(number: ScoredNumber) -> str:
    ends = [format_number(number[end], like=number[end]) for end in ("lower", "upper")]
    return with_unit(f"{ends[0]} to {ends[1]}", number["unit"])


def _margin(number: ScoredNumber) -> str:
    """How far a value is from the nearer bound, in words; "" if it has no margin."""
    margin = number["margin"]
    if margin is None:
        return ""
    size = f"{abs(margin):.2f}" if abs(margin) < 10 else f"{abs(margin):.0f}"
    where = "inside" if margin >= 0 else "outside"
    text = f"{size} half widths {where} the nearer bound"
    if not is_narrow(number):
        return text
    known = "" if is_repeated(number) else ", and the spread is not measured"
    return f"{text}: decided by less than {NARROW_HALF_WIDTHS:g} of a half width{known}"


def _expectation(number: ScoredNumber) -> str:
    """The meaning of a verdict if a miss was known before the run; "" otherwise."""
    if not number["known_miss"]:
        return ""
    return "unexpected match" if number["verdict"] == "reproduced" else "known miss"


def _reach(number: ScoredNumber) -> tuple[float, float] | None:
    """The smallest and the largest value of all spreads of a number, or None."""
    spreads = number.get("spread", [])
    if not spreads:
        return None
    return min(each["least"] for each in spreads), max(each["most"] for each in spreads)


def gauge(
    lower: float,
    upper: float,
    published: float,
    measured: float | None,
    reach: tuple[float, float] | None = None,
) -> Gauge:
    """Place numbers on an axis that extends beyond the bounds by ``GAUGE_MARGIN`` of their width.

    Numbers off the axis are drawn at its end; ``beyond`` is the side of the measured number.
    """
    width = (upper - lower) or abs(published) * GAUGE_WIDTH_OF_EXACT or 1.0
    start, end = lower - GAUGE_MARGIN * width, upper + GAUGE_MARGIN * width

    def place(value: float) -> float:
        share = min(1.0, max(0.0, (value - start) / (end - start)))
        return round(100 * share, 1)

    off = 0 if measured is None else (measured > end) - (measured < start)
    position = None if measured is None else place(measured)
    spread = None if reach is None else (place(reach[0]), place(reach[1]))
    return Gauge(place(lower), place(upper), place(published), position, off, spread)
