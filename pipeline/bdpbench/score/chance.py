"""What chance decides: tests of means of repetitions, which are equally good and independent.

A verdict rests on comparisons, each of which has a *gap* in each repetition: by how much the value
that has to be larger is. Student's t is the mean of its gaps over the mean's standard error, so it
is right for any correlation of the two values within a repetition. What needs all of its
comparisons is shown by the worst of them (intersection-union: Berger and Hsu 1996; of two bounds:
two one-sided tests, Schuirmann 1987) and is shown to be wrong by the one farthest off, at its share
of the level (Bonferroni); of what needs any of them, the same is true the other way round.
"""

from __future__ import annotations

import functools
import math
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

LEVEL = 0.05
"""Of that share of what is just true or just false a verdict may say the opposite."""


@dataclass(frozen=True)
class Gap:
    """One comparison: positive if it holds; 0 may be either. Infinite where a value is missing.

    ``margin`` is the share of the larger of its two values by which it holds (positive) or fails.
    It is infinite where no shift of a value would matter, since something happens, or never does.
    """

    value: float
    holds: bool
    margin: float = math.inf


@dataclass(frozen=True)
class Parts:
    """Comparisons of which all have to hold, or any; None for those whose runs are missing."""

    of: Sequence[Part | None]
    any: bool = False

    @property
    def holds(self) -> bool | None:
        """Whether they hold, taken as they are; None if that hangs on missing runs."""
        found = [each.holds if each else None for each in self.of]
        return self.any if self.any in found else None if None in found else not self.any

    @property
    def margin(self) -> float:
        """That of the closest comparison if they hold, or else of the one that fails by most."""
        found = [each.margin for each in self.of if each]
        return max(found, default=math.inf) if self.any else min(found, default=math.inf)


Part = Gap | Parts


def gap(
    least: float | None,
    most: float | None,
    unit: str,
    *,
    room: float = 0.0,
    strict: bool = False,
    either: tuple[bool, bool] = (False, False),
) -> Part:
    """Whether ``least`` is below ``most`` and some room; magnitudes may be of ``either`` sign.

    A magnitude is the larger of a value and its opposite, so that comparisons are of means. A share
    or an index has a margin as it is where the other value is 0 or has the other sign, since it
    would otherwise always differ by all of itself.

    >>> gap(3.0, 4.0, "1").margin, gap(-0.01, 0.0, "1").margin, gap(None, 4.0, "s").margin
    (0.25, 0.01, -inf)
    """
    margin = -math.inf
    if least is not None and most is not None:
        below = (abs(least) if either[0] else least) - min(room, 0.0)
        above = (abs(most) if either[1] else most) + max(room, 0.0)
        own = unit == "1" and below * above <= 0
        size = 1.0 if own else max(abs(below), abs(above))
        margin = above - below
        margin = margin if math.isinf(margin) else margin / size if size else 0.0

    def of_signs(own: int, other: int) -> Gap:
        if least is None or most is None:
            return Gap(-math.inf, holds=False, margin=margin)
        found = other * most + room - own * least
        return Gap(found, found > 0 or (not strict and found == 0), margin)

    of_least, of_most = ((1, -1) if each else (1,) for each in either)
    if not any(either):
        return of_signs(1, 1)
    return Parts([Parts([of_signs(own, other) for own in of_least]) for other in of_most], any=True)


def ends_of(unit: str) -> tuple[float, float]:
    """The smallest and the largest value of what has a unit, if it is a share."""
    return {"1": (0.0, 1.0), "%": (0.0, 100.0)}.get(unit, (-math.inf, math.inf))


class PValues(NamedTuple):
    """How probable means at least as far on a side are if the truth is on the other one.

    ``holds`` is small where the repetitions show that it holds, ``fails`` where it does not.
    """

    holds: float
    fails: float


def p_values(repetitions: Sequence[Part]) -> PValues:
    """What the same comparisons in each of some repetitions show together.

    >>> p_values([Gap(1.0, True), Gap(3.0, True)])  # t = 2 with one degree of freedom
    PValues(holds=0.14758361765043326, fails=0.8524163823495667)
    >>> p_values([Gap(-1.0, False)] * 2)  # nothing varies
    PValues(holds=1.0, fails=0.0)
    """
    first = repetitions[0]
    if isinstance(first, Gap):
        return _of_gaps([each for each in repetitions if isinstance(each, Gap)])
    every = [each.of for each in repetitions if isinstance(each, Parts)]
    known = [each for each in zip(*every, strict=True) if each[0]]
    found = [p_values([each for each in own if each]) for own in known]
    holds, fails = [each.holds for each in found], [each.fails for each in found]
    if first.any:
        return PValues(min(1.0, len(found) * min(holds)), max(fails))
    return PValues(max(holds, default=0.0), min(1.0, len(found) * min(fails, default=1.0)))


def _of_gaps(gaps: Sequence[Gap]) -> PValues:
    """Where some repetitions never reach a value, the others can only show the same side."""
    values = [each.value for each in gaps]
    if min(values) == max(values):
        return PValues(0.0, 1.0) if gaps[0].holds else PValues(1.0, 0.0)
    known = [each for each in values if math.isfinite(each)]
    above = below = 1.0
    if len(known) > 1:
        error = statistics.stdev(known) / math.sqrt(len(known))
        mean = statistics.fmean(known)
        above = tail(mean / error if error else math.copysign(math.inf, mean), len(known) - 1)
        below = 1 - above
    return PValues(1.0 if -math.inf in values else above, 1.0 if math.inf in values else below)


def tail(t: float, freedom: int) -> float:
    """Probability that Student's t with some degrees of freedom is above a value.

    Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.

    >>> round(tail(2.353363434801824, 3), 12), round(tail(-2.0859634472658364, 20), 12)
    (0.05, 0.975)
    """
    angle = math.atan(abs(t) / math.sqrt(freedom))
    odd, square = freedom % 2, math.cos(angle) ** 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for at in range(2 + odd, freedom + 1, 2):
        total += term
        term *= square * (at - 1) / at
    inside = math.sin(angle) * total
    inside = 2 / math.pi * (angle + inside) if odd else inside
    return max(1 - inside, sys.float_info.min) / 2 if t > 0 else (1 + inside) / 2


@functools.lru_cache(maxsize=256)
def quantile(above: float, freedom: int) -> float:
    """The value above which Student's t has a probability of less than a half, by bisection.

    >>> round(quantile(0.025, 3), 9)
    3.182446305
    """
    least, most = 0.0, 1.0
    while tail(most, freedom) > above:
        most *= 2
    for _ in range(60):
        middle = (least + most) / 2
        least, most = (middle, most) if tail(middle, freedom) > above else (least, middle)
    return most


def interval_of_mean(values: Sequence[float], level: float = LEVEL) -> tuple[float, float]:
    """The interval that holds the mean of two or more values but for a share ``level`` of times."""
    mean, freedom = statistics.fmean(values), len(values) - 1
    error = statistics.stdev(values) / math.sqrt(len(values)) if min(values) < max(values) else 0.0
    half = quantile(level / 2, freedom) * error if error else 0.0
    return mean - half, mean + half


def level_at(repetitions: int, looks: Sequence[int]) -> tuple[int, float]:
    """How many of some repetitions count, and the level of what they decide.

    Each look of those who add repetitions until something is decided may err. So each spends that
    part of the level which is its new repetitions' part of the most (Lan and DeMets 1983, linear,
    with Bonferroni's sum in place of the looks' joint distribution), and all together no more than
    the level, whatever made somebody go on. Between looks the repetitions of the last one count.

    >>> [level_at(n, [4, 8, 12, 20]) for n in (3, 4, 11, 24)]
    [(3, 0.0), (4, 0.01), (8, 0.01), (20, 0.02)]
    >>> level_at(7, [])
    (7, 0.05)
    """
    past = [0, *(each for each in looks if each <= repetitions)]
    if not looks or len(past) == 1:
        return repetitions, 0.0 if looks else LEVEL
    return past[-1], LEVEL * (past[-1] - past[-2]) / looks[-1]
