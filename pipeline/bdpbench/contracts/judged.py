"""Which of two values of a metric is better, and whether they differ at all.

A metric declares this once, with its definition; tables, sentences, colours and the ranks of
evaluations follow from it by ``places``, the one rule for ties.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NotRequired, get_args

from typing_extensions import TypedDict

Better = Literal["more", "less", "nearest", ""]
BETTER: tuple[str, ...] = get_args(Better)

USUAL_APART = 0.02
"""Smallest difference of a metric that declares none, as a share of the larger value."""

_ROUNDING = 1e-9


class JudgedDocument(TypedDict):
    """How the values of a metric are judged, in documents.

    ``better`` is more, less, nearest (to ``reference``), or "" where neither is. ``apart`` is the
    smallest difference that counts: in per cent points for %, as it is for a ratio (unit 1), and as
    a share of the larger value for all other units. ``reference`` is what values are compared with,
    null without one.
    """

    better: Better
    apart: NotRequired[float]
    reference: NotRequired[float | None]


@dataclass(frozen=True)
class Judged:
    """How the values of a metric are judged, see ``JudgedDocument``; ``unit`` is the metric's."""

    better: Better = ""
    apart: float = 0.0
    reference: float | None = None
    unit: str = ""

    def distance(self, value: float) -> float:
        """How far a value is from the reference; a ratio of half is as far from 1 as a double.

        >>> distance = Judged("nearest", 0.05, 1.0, "1").distance
        >>> distance(2.0) == distance(0.5) < distance(0.25), distance(0.0)
        (True, inf)
        """
        reference = self.reference or 0.0
        if reference > 0 and self.better == "nearest":
            return abs(math.log(value / reference)) if value > 0 else math.inf
        return abs(value - reference)

    def cost(self, value: float) -> float:
        """A number that is the smaller the better the value; of the value itself if neither is."""
        if self.better == "nearest":
            return self.distance(value)
        return value if self.better == "less" else -value

    def lead(self, value: float, other: float) -> float:
        """By how much a value is better than another, 0 if not by a difference that counts.

        >>> Judged("more", 1.0, None, "%").lead(99.98, 99.9)
        0.0
        >>> Judged("less", 0.05, None, "s").lead(0.6, 5.5) > 0
        True
        """
        value, other = rounded(value), rounded(other)
        lead = self.cost(other) - self.cost(value)
        apart = self.apart or USUAL_APART
        if self.unit not in ("%", "1") or not self.apart:
            apart *= max(abs(value), abs(other))
        return lead if lead > 0 and lead >= apart * (1 - _ROUNDING) else 0.0


def judged_of(document: JudgedDocument, unit: str) -> Judged:
    """What a document says of a metric with a unit."""
    apart, reference = document.get("apart", 0.0), document.get("reference")
    return Judged(document["better"], apart, reference, unit)


def direction(judged: Judged) -> str:
    """Which values are better, in words; "" where neither are.

    >>> direction(Judged("nearest", 0.05, 1.0)), direction(Judged("less", 0.05))
    ('the nearer to 1, the better', 'less is better')
    """
    if judged.better == "nearest":
        return f"the nearer to {judged.reference:g}, the better"
    return f"{judged.better} is better" if judged.better else ""


def rounded(value: float, spread: float = 0.0) -> float:
    """A value as pages show it: three significant digits, and all digits before the point.

    Of what varies by ``spread`` from run to run, no more digits than the first two of that.

    >>> rounded(97.534), rounded(0.0184321), rounded(9409.98)
    (97.5, 0.0184, 9410.0)
    >>> rounded(-0.8683, 1.35), rounded(0.838, 0.33), rounded(97.53, 0.001)
    (-0.9, 0.84, 97.5)
    """
    found = float(f"{value:.3g}") if abs(value) < 1000 else float(round(value))
    return round(found, 1 - math.floor(math.log10(spread))) if spread > 0 else found


@dataclass(frozen=True)
class Found:
    """A value, None if it was never reached, and the interval of single runs, if there is one."""

    value: float | None
    low: float | None = None
    high: float | None = None

    def overlaps(self, other: Found) -> bool:
        """Whether the intervals of two values have a common point."""
        if self.value is None or other.value is None:
            return self.value is other.value
        (low, high), (other_low, other_high) = self.ends, other.ends
        return low <= other_high and other_low <= high

    @property
    def ends(self) -> tuple[float, float]:
        """The interval; without one, the value itself."""
        value = self.value or 0.0
        return (
            value if self.low is None else self.low,
            value if self.high is None else self.high,
        )


@dataclass(frozen=True)
class Place:
    """A place among several values.

    Attributes:
        rank: 1 plus the number of values that are better by a difference that counts; values that
            look the same share one, and what was never reached comes last.
        end: ``first`` if others are worse and none is better, ``last`` if it is the other way
            round, else "".
        unsure: positions of the values of other ranks whose intervals overlap with this one's, so
            that the order of the two is open.
        ahead, behind: how many values are worse and better, with intervals that do not overlap.
    """

    rank: int
    end: Literal["first", "last", ""]
    unsure: tuple[int, ...]
    ahead: int
    behind: int

    @property
    def known(self) -> Literal["first", "last", ""]:
        """The end, if no interval leaves it open."""
        return "" if self.unsure else self.end


def places(values: Sequence[Found], judged: Judged) -> list[Place]:
    """The places of some values of a metric, in their order; of equals, the largest are first.

    >>> judged = Judged("more", 1.0, None, "%")
    >>> found = places([Found(97.33), Found(97.29, 80.0, 99.0), Found(85.0), Found(70.0)], judged)
    >>> [(each.rank, each.end, each.known) for each in found]
    [(1, 'first', 'first'), (1, 'first', ''), (3, '', ''), (4, 'last', 'last')]
    """

    def is_better(one: Found, other: Found) -> bool:
        if one.value is None or other.value is None:
            return one.value is not None and other.value is None
        return judged.lead(one.value, other.value) > 0

    found: list[Place] = []
    for own in values:
        better = [n for n, each in enumerate(values) if is_better(each, own)]
        worse = [n for n, each in enumerate(values) if is_better(own, each)]
        end: Literal["first", "last", ""] = ""
        if bool(better) != bool(worse):
            end = "last" if better else "first"
        unsure = {n for n in (*better, *worse) if own.overlaps(values[n])}
        ahead, behind = (len({*each} - unsure) for each in (worse, better))
        found.append(Place(1 + len(better), end, tuple(sorted(unsure)), ahead, behind))
    return found
