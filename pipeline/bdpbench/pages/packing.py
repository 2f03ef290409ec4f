"""Points of a series as differences in steps, which the page's script adds up."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterable, Sequence
from typing import TypedDict

# Times and values are rounded to steps of at most this share of their range, which is finer than a
# pixel of any screen: 500 s give steps of 0.05 s, a window of 9,410 packets steps of 1.
STEPS = 16_383
SMALLEST_VALUE = 1e-12
"""Nothing smaller, in any unit, is drawn; 0 is packed instead."""

SMALLEST_TIME_STEP_S = 1e-3


class Packed(TypedDict):
    """Points: ``dt`` (s) and ``dv`` (unit of the values) are the steps.

    ``t`` and ``v`` are the differences between consecutive rounded points, starting from 0.
    """

    dt: float
    dv: float
    t: list[int]
    v: list[int]


def pack(times_s: Sequence[float], values: Sequence[float]) -> Packed:
    """Points as differences in steps, most of which have one or two digits.

    Args:
        times_s: times in ascending order, s.
        values: finite values, in any unit; as many as ``times_s``.
    """
    dt = max(SMALLEST_TIME_STEP_S, _decimal_step(max(times_s, default=0.0)))
    dv = _decimal_step(max(map(abs, values), default=0.0))
    return {"dt": dt, "dv": dv, "t": _differences(times_s, dt), "v": _differences(values, dv)}


def unpack(packed: Packed) -> tuple[list[float], list[float]]:
    """Times (s) and values of packed points, each a whole number of steps.

    >>> unpack(pack([0.0, 0.5, 2.5], [10.0, 12.0, 3.0]))
    ([0.0, 0.5, 2.5], [10.0, 12.0, 3.0])
    """
    return _running(packed["t"], packed["dt"]), _running(packed["v"], packed["dv"])


def end_of(packed: Packed) -> float:
    """The last time (s) of packed points, which is the largest.

    >>> end_of(pack([0.0, 0.5, 2.5], [10.0, 12.0, 3.0]))
    2.5
    """
    return _running([sum(packed["t"])], packed["dt"])[0]


def start_of(packed: Packed) -> float:
    """The first time (s) of packed points, which is the smallest.

    >>> start_of(pack([0.5, 2.5], [12.0, 3.0]))
    0.5
    """
    return _running(packed["t"][:1], packed["dt"])[0]


def _running(differences: Iterable[int], step: float) -> list[float]:
    """Sums of differences in steps; division by an integer keeps 12.34 exact."""
    per_unit = round(1 / step) if step < 1 else 1
    factor = 1.0 if step < 1 else step
    return [count * factor / per_unit for count in itertools.accumulate(differences)]


def _decimal_step(largest: float) -> float:
    """Smallest step of 1, 2 or 5 times a power of ten such that ``STEPS`` reach ``largest``.

    >>> _decimal_step(9409.98), _decimal_step(500.0), _decimal_step(0.0)
    (1.0, 0.05, 1.0)
    """
    if largest < SMALLEST_VALUE:
        return 1.0
    exponent = math.floor(math.log10(largest / STEPS))
    steps = (float(f"{digit}e{exponent + up}") for up in (0, 1) for digit in (1, 2, 5))
    return next(step for step in steps if step * STEPS >= largest)


def _differences(numbers: Sequence[float], step: float) -> list[int]:
    counts = [round(number / step) for number in numbers]
    return list(map(operator.sub, counts, itertools.chain((0,), counts)))
