"""The atlas in words: numbers with units, conditions, verdicts, and how definitions were found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bdpbench.contracts.atlas import (
    AtlasEntry,
    CitedStudy,
    Conditions,
    Observed,
    OurRelation,
    RelationKind,
    Standing,
)
from bdpbench.pages.text import format_number, with_unit

_MOST_LISTED = 3
_MOST_OBSERVED = 3


@dataclass(frozen=True)
class Mark:
    """A badge: a class of the style sheet, a symbol and a word."""

    key: str
    label: str
    symbol: str


RELATIONS: Mapping[RelationKind, Mark] = {
    "contradict": Mark("not_reproduced", "studies contradict", "≠"),
    "conditions": Mark("close", "conditions differ", "△"),
    "agree": Mark("reproduced", "studies agree", "="),
}

OURS: Mapping[OurRelation, Mark] = {
    "agree": Mark("reproduced", "our runs agree", "="),
    "conditions": Mark("close", "our runs show each", "△"),
    "one side": Mark("reproduced", "our runs show one side", "✓"),
    "contradict": Mark("not_reproduced", "our runs contradict", "≠"),
    "none": Mark("not_reproduced", "our runs show none", "✗"),
    "in part": Mark("close", "our runs show it in part", "≈"),
    "open": Mark("not_run", "not run enough", "○"),
}

STANDINGS: Mapping[Standing, Mark] = {
    "shown": Mark("reproduced", "reproduced", "✓"),
    "in part": Mark("close", "in part", "≈"),
    "not shown": Mark("not_reproduced", "not reproduced", "✗"),
    "not run": Mark("not_run", "not run", "○"),
}


def printed(entry: AtlasEntry) -> str:
    """The printed number of an entry with its unit; "" for a statement."""
    value = entry["published"]
    if value is None:
        return ""
    number = with_unit(format_number(value, like=value), entry["unit"])
    return f"at least {number}" if _is_least(entry) else number


def _is_least(entry: AtlasEntry) -> bool:
    """Whether a study printed only a lower bound, below which no value is allowed."""
    lower, upper = entry["lower"], entry["upper"]
    return entry["published"] == lower and lower != upper


def observed(entry: AtlasEntry) -> list[str]:
    """What was measured, one line for each metric; for a number without the metric's name."""
    named = entry["kind"] == "statement"
    lines = [_span(each, entry["published"], named=named) for each in entry["observed"]]
    more = len(lines) - _MOST_OBSERVED
    return [*lines[:_MOST_OBSERVED], f"and {more} more metrics"] if more > 0 else lines


def _span(each: Observed, like: float | None, *, named: bool) -> str:
    ends = [each["least"], each["most"]]
    known = [format_number(end, like=like) for end in ends if end is not None]
    text = " to ".join(dict.fromkeys(known))
    text = with_unit(text, each["unit"]) if text else "never reached"
    return f"{each['metric']}: {text}" if named else text


def origin(entry: AtlasEntry) -> str:
    """How a definition was found, in a few words."""
    if entry["found"] != "chosen on":
        return {"stated": "stated", "chosen before": "chosen before any run"}[entry["found"]]
    if entry["test"] == "fitted":
        return "chosen with this value in view"
    return "chosen on other values"


def conditions_in_words(found: Conditions) -> list[str]:
    """Conditions as short phrases: rate, RTTs, buffer, queue, flows, and what else is varied."""
    phrases = [
        _quantity(found["bottleneck_mbps"], "Mbit/s"),
        _rtts(found["rtts_ms"]),
        _buffer(found),
        ", ".join(found["queues"][:_MOST_LISTED]),
        _flows(found["flows"]),
        *found["other"],
    ]
    return [each for each in phrases if each]


def _quantity(values: Sequence[float], unit: str) -> str:
    return with_unit(_numbers(values), unit) if values else ""


def _numbers(values: Sequence[float]) -> str:
    """A few values one by one, many as a range."""
    shown = [format_number(each) for each in values]
    if len(shown) > _MOST_LISTED:
        return f"{shown[0]} to {shown[-1]}"
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def _rtts(found: Sequence[Sequence[float]]) -> str:
    """RTTs: a single one if all flows have the same; of two that differ, one beside the other."""
    same = sorted({each[0] for each in found if len(each) == 1})
    pairs = [each for each in found if len(each) == 2]
    many = [each for each in found if len(each) > 2]
    parts = [_quantity(same, "ms")] if same else []
    parts += [f"{_side(pairs, 0)} beside {_side(pairs, 1)} ms"] if pairs else []
    every = sorted({rtt for each in many for rtt in each})
    ends = [format_number(each) for each in (*every[:1], *every[-1:])]
    parts += [f"{' to '.join(ends)} ms in one run"] if many else []
    return f"RTT {', and '.join(parts)}" if parts else ""


def _side(pairs: Sequence[Sequence[float]], which: int) -> str:
    return _numbers(sorted({each[which] for each in pairs}))


def _buffer(found: Conditions) -> str:
    packets, shares = found["buffer_pkts"], found["buffer_bdp"]
    if not shares:
        return f"buffer {_quantity(packets, 'packets')}" if packets else ""
    told = f"buffer {_quantity(shares, 'BDP')}"
    return f"{told} ({_quantity(packets, 'packets')})" if packets else told


def _flows(counts: Sequence[int]) -> str:
    if not counts:
        return ""
    return (
        "1 flow" if list(counts) == [1] else f"{_numbers([float(each) for each in counts])} flows"
    )


_VERDICTS = {
    "reproduced": "reproduced",
    "close": "close",
    "not_reproduced": "not reproduced",
    "holds": "hold",
    "fails": "fail",
    "not_run": "not run",
}


_SINGULAR = ("holds", "fails")


def tally(counts: Mapping[str, int]) -> str:
    """Counts of verdicts in words.

    >>> tally({"holds": 3, "not_run": 1})
    '3 hold, 1 not run'
    """
    return ", ".join(
        f"{count} {verdict if count == 1 and verdict in _SINGULAR else _VERDICTS[verdict]}"
        for verdict, count in counts.items()
    )


_NUMERALS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def counted(count: int, noun: str, nouns: str) -> str:
    """A count with its noun, small numbers in words.

    >>> counted(1, "study", "studies"), counted(5, "study", "studies"), counted(25, "a", "as")
    ('one study', 'five studies', '25 as')
    """
    number = _NUMERALS[count] if count < len(_NUMERALS) else str(count)
    return f"{number} {noun if count == 1 else nouns}"


_MOST_AUTHORS = 2


def cited(study: CitedStudy) -> str:
    """The citation of a study in a text, e.g. "Even et al. (2007)"; its title if it cites none."""
    names = [each.split()[-1] for each in study["authors"].split(",") if each.split()]
    if not names:
        return study["title"]
    told = " and ".join(names) if len(names) <= _MOST_AUTHORS else f"{names[0]} et al."
    return f"{told} ({study['year']})"
