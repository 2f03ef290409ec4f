"""Two results beside each other: which metrics moved beyond their bounds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from bdpbench.archive.side import Bounds, Key, Side, Value

COMPARISON_VERSION = 1

ROUNDING = 1e-9
"""In the unit of any metric less than was measured: what is left of sums that should be 0."""


@dataclass(frozen=True)
class Tolerance:
    """How far a metric without a published number may move.

    Attributes:
        share: of its size in the first result.
        asymmetry: absolute, for asymmetries: they lie in [-1, 1], many of them near 0.
    """

    share: float
    asymmetry: float

    def of(self, metric: str, value: float) -> float:
        """Largest distance from ``value`` that is not beyond."""
        if metric.startswith("asymmetry"):
            return self.asymmetry
        return max(self.share * abs(value), ROUNDING)


@dataclass(frozen=True)
class Moved:
    """A metric whose value differs.

    Attributes:
        first, second: values; None where it was never reached.
        change, change_pct: second minus first, and that in percent of the first.
        number, lower, upper: the published number with its bounds, where it has one.
        beyond: whether it moved beyond its bounds.
        why: what it was judged by.
    """

    key: Key
    unit: str
    first: float | None
    second: float | None
    change: float | None
    change_pct: float | None
    number: str
    lower: float | None
    upper: float | None
    beyond: bool
    why: str


@dataclass(frozen=True)
class Comparison:
    """What two results have in common, and what not.

    Attributes:
        first, second: their names.
        compared: how many metrics both have with one unit and definition.
        moved: those whose values differ, beyond their bounds first.
        redefined: metric, first and second reading, for units or definitions that differ.
        only_first, only_second: (scenario, metric) → values that the other does not have.
        facts: name, first, second, for versions, builds and checksums that differ.
        parameters: run, parameter, first, second, for runs that are configured otherwise.
    """

    first: str
    second: str
    compared: int
    moved: tuple[Moved, ...]
    redefined: tuple[tuple[str, str, str], ...]
    only_first: Mapping[tuple[str, str], int]
    only_second: Mapping[tuple[str, str], int]
    facts: tuple[tuple[str, str, str], ...]
    parameters: tuple[tuple[str, str, str, str], ...]

    @property
    def beyond(self) -> tuple[Moved, ...]:
        """What moved beyond its bounds."""
        return tuple(each for each in self.moved if each.beyond)

    def as_dict(self) -> dict[str, Any]:
        """Content of the JSON file."""
        return {
            "schema_version": COMPARISON_VERSION,
            "first": self.first,
            "second": self.second,
            "compared": self.compared,
            "beyond": len(self.beyond),
            "moved": [{**each.key._asdict(), **_without_key(each)} for each in self.moved],
            "redefined": [_named(each, "metric", "first", "second") for each in self.redefined],
            "only_first": _counts(self.only_first),
            "only_second": _counts(self.only_second),
            "facts": [_named(each, "name", "first", "second") for each in self.facts],
            "parameters": [
                _named(each, "run", "parameter", "first", "second") for each in self.parameters
            ],
        }


def _without_key(moved: Moved) -> dict[str, Any]:
    return {name: value for name, value in asdict(moved).items() if name != "key"}


def _named(values: tuple[str, ...], *names: str) -> dict[str, str]:
    return dict(zip(names, values, strict=True))


def _counts(counts: Mapping[tuple[str, str], int]) -> list[dict[str, Any]]:
    return [
        {"scenario": scenario, "metric": metric, "values": count}
        for (scenario, metric), count in counts.items()
    ]


def compare(first: Side, second: Side, tolerance: Tolerance) -> Comparison:
    """Put two results beside each other.

    A metric with a published number has moved beyond its bounds when its value changes sides: from
    within to outside, back, or from one side to the other; and where both values lie outside on
    one side, when they are farther apart than ``tolerance``. A metric without one moves beyond its
    bounds when it moves farther than ``tolerance``. To come to be reached, or not to be reached any
    more, is beyond every bound. Bounds are those of the first result.
    """
    both = [key for key in first.values if key in second.values]
    same = [key for key in both if _reading(first.values[key]) == _reading(second.values[key])]
    moved = [
        _moved(key, first.values[key], second.values[key], first.bounds.get(key), tolerance)
        for key in same
        if first.values[key].value != second.values[key].value
    ]
    return Comparison(
        first=first.name,
        second=second.name,
        compared=len(same),
        moved=tuple(sorted(moved, key=_rank)),
        redefined=tuple(dict.fromkeys(_redefined(first, second, both))),
        only_first=_alone(first, second),
        only_second=_alone(second, first),
        facts=tuple(_other_facts(first, second)),
        parameters=tuple(_reconfigured(first, second)),
    )


def _reading(value: Value) -> tuple[str, str]:
    return value.unit, value.definition


def _rank(moved: Moved) -> tuple[bool, bool, float]:
    """Beyond bounds first, published numbers first among them, the farthest first among those."""
    size = float("inf") if moved.change_pct is None else abs(moved.change_pct)
    return not moved.beyond, not moved.number, -size


def _moved(
    key: Key, first: Value, second: Value, bounds: Bounds | None, tolerance: Tolerance
) -> Moved:
    a, b = first.value, second.value
    change = None if a is None or b is None else b - a
    beyond, why = _judge(key.metric, a, b, bounds, tolerance)
    return Moved(
        key=key,
        unit=first.unit,
        first=a,
        second=b,
        change=change,
        change_pct=100 * change / abs(a) if change is not None and a else None,
        number=bounds.number if bounds else "",
        lower=bounds.lower if bounds else None,
        upper=bounds.upper if bounds else None,
        beyond=beyond,
        why=why,
    )


def _judge(
    metric: str, a: float | None, b: float | None, bounds: Bounds | None, tolerance: Tolerance
) -> tuple[bool, str]:
    if a is None or b is None:
        return True, "not reached any more" if b is None else "reached now"
    limit = tolerance.of(metric, a)
    far = abs(b - a) > limit
    if bounds is None:
        return far, f"no published number; {'more' if far else 'no more'} than {limit:.4g}"
    sides = _side_of(a, bounds), _side_of(b, bounds)
    if sides[0] != sides[1]:
        return True, f"{sides[0]} to {sides[1]} its bounds"
    if sides[0] == "within":
        return False, "within its bounds"
    return far, f"{sides[0]} its bounds; {'more' if far else 'no more'} than {limit:.4g}"


def _side_of(value: float, bounds: Bounds) -> str:
    if value < bounds.lower:
        return "below"
    return "above" if value > bounds.upper else "within"


def _redefined(first: Side, second: Side, both: list[Key]) -> Iterator[tuple[str, str, str]]:
    for key in both:
        a, b = _reading(first.values[key]), _reading(second.values[key])
        if a != b:
            yield key.metric, f"{a[1]} in {a[0]}", f"{b[1]} in {b[0]}"


def _alone(side: Side, other: Side) -> dict[tuple[str, str], int]:
    return dict(
        Counter((key.scenario, key.metric) for key in side.values if key not in other.values)
    )


def _different(a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for name in dict.fromkeys([*a, *b]):
        if a.get(name, "") != b.get(name, ""):
            yield name, a.get(name, ""), b.get(name, "")


def _other_facts(first: Side, second: Side) -> Iterator[tuple[str, str, str]]:
    """Facts that differ; where a side does not tell all, only those that both tell."""
    for name, a, b in _different(first.facts, second.facts):
        if (a and b) or (first.told and second.told):
            yield name, a, b
    if first.told != second.told:
        words = {True: "told", False: "not told"}
        yield "versions and checksums", words[first.told], words[second.told]


def _reconfigured(first: Side, second: Side) -> Iterator[tuple[str, str, str, str]]:
    for (scenario, run), parameters in first.parameters.items():
        others = second.parameters.get((scenario, run))
        if others is None:
            continue
        told = {name: json.dumps(value) for name, value in parameters.items()}
        for each in _different(told, {name: json.dumps(value) for name, value in others.items()}):
            yield (f"{scenario}: {run}", *each)
