"""Points of a series packed into few bytes of text, which the page's script unpacks."""

from __future__ import annotations

import base64
import itertools
import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

Packed: TypeAlias = dict[str, float | str]

# Times and values are rounded to steps of at most this share of their range, which is finer than a
# pixel of any screen: 500 s give steps of 0.01 s, a window of 9,410 packets steps of 0.2.
STEPS = 65_535
SMALLEST_VALUE = 1e-12
"""Nothing smaller, in any unit, is drawn; 0 is packed instead."""

SMALLEST_TIME_STEP_S = 1e-3

_SEVEN_BITS = 0x7F
_MORE_FOLLOWS = 0x80


def pack(times_s: Sequence[float], values: Sequence[float]) -> Packed:
    """Points as differences in steps, seven bits per byte, least significant first, in base64.

    Sampled and reduced series have small differences, most of which need one or two bytes, whereas
    a decimal number needs six or seven.

    Args:
        times_s: times in ascending order, s.
        values: finite values, in any unit; as many as ``times_s``.

    Returns:
        ``dt`` (s) and ``dv`` (unit of the values), the steps, and ``t`` and ``v``, the differences
            between consecutive rounded points, starting from 0. A difference d of values is written
            as 2d, or as -2d - 1 if it is negative.
    """
    dt = max(SMALLEST_TIME_STEP_S, _decimal_step(max(times_s, default=0.0), (1,)))
    dv = _decimal_step(max(map(abs, values), default=0.0), (1, 2, 5))
    return {
        "dt": dt,
        "dv": dv,
        "t": _base64(_differences(times_s, dt)),
        "v": _base64([2 * d if d >= 0 else -2 * d - 1 for d in _differences(values, dv)]),
    }


def unpack(packed: Packed) -> tuple[list[float], list[float]]:
    """Times (s) and values of packed points, each a whole number of steps.

    >>> unpack(pack([0.0, 0.5, 2.5], [10.0, 12.0, 3.0]))
    ([0.0, 0.5, 2.5], [10.0, 12.0, 3.0])
    """
    codes = _counts(str(packed["v"]))
    values = (-(code + 1) // 2 if code % 2 else code // 2 for code in codes)
    return (
        _running(_counts(str(packed["t"])), float(packed["dt"])),
        _running(values, float(packed["dv"])),
    )


def end_of(packed: Packed) -> float:
    """The last time (s) of packed points, which is the largest.

    >>> end_of(pack([0.0, 0.5, 2.5], [10.0, 12.0, 3.0]))
    2.5
    """
    return _running([sum(_counts(str(packed["t"])))], float(packed["dt"]))[0]


def start_of(packed: Packed) -> float:
    """The first time (s) of packed points, which is the smallest.

    >>> start_of(pack([0.5, 2.5], [12.0, 3.0]))
    0.5
    """
    return _running(itertools.islice(_counts(str(packed["t"])), 1), float(packed["dt"]))[0]


def _counts(text: str) -> Iterator[int]:
    count = shift = 0
    for byte in base64.b64decode(text):
        count |= (byte & _SEVEN_BITS) << shift
        shift += 7
        if not byte & _MORE_FOLLOWS:
            yield count
            count = shift = 0


def _running(differences: Iterable[int], step: float) -> list[float]:
    """Sums of differences in steps; division by an integer keeps 12.34 exact."""
    per_unit = round(1 / step) if step < 1 else 1
    factor = 1.0 if step < 1 else step
    return [count * factor / per_unit for count in itertools.accumulate(differences)]


def _decimal_step(largest: float, leading: Sequence[int]) -> float:
    """Smallest step with one of the ``leading`` digits such that ``STEPS`` steps reach ``largest``.

    >>> _decimal_step(9409.98, (1, 2, 5)), _decimal_step(500.0, (1,)), _decimal_step(0.0, (1,))
    (0.2, 0.01, 1.0)
    """
    if largest < SMALLEST_VALUE:
        return 1.0
    exponent = math.floor(math.log10(largest / STEPS))
    steps = (float(f"{digit}e{exponent + up}") for up in (0, 1) for digit in leading)
    return next(step for step in steps if step * STEPS >= largest)


def _differences(numbers: Sequence[float], step: float) -> Iterable[int]:
    counts = [round(number / step) for number in numbers]
    return map(operator.sub, counts, itertools.chain((0,), counts))


class _Codes(dict[int, bytes]):
    """Count → its bytes, cached because series have the same differences over and over."""

    def __missing__(self, count: int) -> bytes:
        packed, rest = bytearray(), count
        while rest > _SEVEN_BITS:
            packed.append(rest & _SEVEN_BITS | _MORE_FOLLOWS)
            rest >>= 7
        packed.append(rest)
        self[count] = bytes(packed)
        return self[count]


_CODES = _Codes()


def _base64(counts: Iterable[int]) -> str:
    return base64.b64encode(b"".join(map(_CODES.__getitem__, counts))).decode("ascii")
