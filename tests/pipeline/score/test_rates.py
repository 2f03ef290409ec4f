"""How often verdicts err and how many stay open, on synthetic repetitions of known truth.

Means and deviations of 10,000 sets of normal values stand for the sets; a few sets are judged
whole, to show that the rule in this file is that of the code.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Sequence

import polars as pl
import pytest

from bdpbench.score.chance import LEVEL, Gap, Parts, gap, level_at, p_values, quantile

DRAWS = 10_000
SIZES = (2, 3, 4, 8, 16, 32)
LOOKS = [4, 8, 12, 20]
BOUNDS = (-1.5, 1.5)  # deviations of a single repetition
SAMPLING = 3 * (LEVEL * (1 - LEVEL) / DRAWS) ** 0.5  # three standard errors of a rate

Judge = Callable[[pl.DataFrame, int, float], pl.DataFrame]


@functools.cache
def drawn(comparisons: int = 1) -> pl.DataFrame:
    """Means and deviations of the first n of 32 values, for each of some comparisons."""
    source = random.Random(58)
    columns = {}
    for each in range(comparisons):
        sums = squares = pl.zeros(DRAWS, eager=True)
        for n in range(1, max(SIZES) + 1):
            values = pl.Series([source.gauss(0, 1) for _ in range(DRAWS)])
            sums, squares = sums + values, squares + values**2
            if n in SIZES or n in LOOKS:
                columns[f"mean{each}_{n}"] = sums / n
                columns[f"error{each}_{n}"] = ((squares - sums**2 / n) / (n - 1) / n).sqrt()
    return pl.DataFrame(columns)


def within(truth: float, n: int, level: float) -> tuple[pl.Expr, pl.Expr]:
    """Whether a number is reproduced, and missed, if its mean is really ``truth``."""
    mean, error = pl.col(f"mean0_{n}") + truth, pl.col(f"error0_{n}")
    one, two = quantile(level, n - 1), quantile(level / 2, n - 1)
    inside = (mean - one * error >= BOUNDS[0]) & (mean + one * error <= BOUNDS[1])
    outside = (mean - two * error > BOUNDS[1]) | (mean + two * error < BOUNDS[0])
    return inside, outside


def all_positive(truths: Sequence[float], n: int, level: float) -> tuple[pl.Expr, pl.Expr]:
    """Whether a statement of several comparisons holds, and fails."""
    each = [
        (pl.col(f"mean{at}_{n}") + truth, pl.col(f"error{at}_{n}"))
        for at, truth in enumerate(truths)
    ]
    one, many = quantile(level, n - 1), quantile(level / len(truths), n - 1)
    holds = pl.all_horizontal(mean >= one * error for mean, error in each)
    return holds, pl.any_horizontal(mean <= -many * error for mean, error in each)


def rates(verdicts: tuple[pl.Expr, pl.Expr], frame: pl.DataFrame) -> tuple[float, float]:
    found = frame.select(a=verdicts[0].mean(), b=verdicts[1].mean())
    return found["a"][0], found["b"][0]


def test_ever_fewer_numbers_are_undecided_and_false_verdicts_stay_rare() -> None:
    undecided = []
    for n in SIZES:
        reproduced, missed = rates(within(0.0, n, LEVEL), drawn())
        undecided.append(1 - reproduced - missed)
        assert missed <= LEVEL + SAMPLING
        for at_bound in (BOUNDS[0], BOUNDS[1]):
            reproduced, missed = rates(within(at_bound, n, LEVEL), drawn())
            assert reproduced <= LEVEL + SAMPLING
            assert missed <= LEVEL + SAMPLING
    assert undecided == sorted(undecided, reverse=True)
    assert (undecided[0] > 0.8, undecided[-1] < 0.001) == (True, True)


def test_ever_fewer_statements_are_undecided_and_false_verdicts_stay_rare() -> None:
    undecided = []
    for n in SIZES:
        holds, fails = rates(all_positive([1.0, 1.0, 1.0], n, LEVEL), drawn(3))
        undecided.append(1 - holds - fails)
        holds, _ = rates(all_positive([0.0, 9.0, 9.0], n, LEVEL), drawn(3))
        assert holds <= LEVEL + SAMPLING  # one of them is just false
        _, fails = rates(all_positive([0.0, 0.0, 0.0], n, LEVEL), drawn(3))
        assert fails <= LEVEL + SAMPLING  # all are just true
    assert undecided == sorted(undecided, reverse=True)
    assert (undecided[0] > 0.8, undecided[-1] < 0.001) == (True, True)


@pytest.mark.parametrize("truth", [0.0, BOUNDS[1]])
def test_looking_again_until_it_is_decided_raises_no_rate(truth: float) -> None:
    """Decided at any look is more often than at the one where somebody stops."""
    looks = [within(truth, *level_at(n, LOOKS)) for n in LOOKS]
    reproduced, missed = (pl.any_horizontal(look[side] for look in looks) for side in (0, 1))
    ever = rates((reproduced, missed), drawn())
    assert ever[1] <= LEVEL + SAMPLING
    if truth:
        assert ever[0] <= LEVEL + SAMPLING
    else:
        assert ever[0] > 0.98


def test_the_rule_of_these_rates_is_that_of_verdicts() -> None:
    source = random.Random(59)
    for n in (2, 4, 7):
        for truth in (-2.0, 0.0, 0.5, 1.4):
            values = [source.gauss(truth, 1) for _ in range(n)]
            mean = sum(values) / n
            error = (sum((each - mean) ** 2 for each in values) / (n - 1) / n) ** 0.5
            frame = pl.DataFrame({f"mean0_{n}": [mean], f"error0_{n}": [error]})
            parts = [
                Parts([Gap(gap, gap > 0) for gap in (each - BOUNDS[0], BOUNDS[1] - each)])
                for each in values
            ]
            found = p_values(parts)
            decided = (found.holds <= LEVEL, found.fails <= LEVEL)
            assert rates(within(0.0, n, LEVEL), frame) == decided


@pytest.mark.parametrize(
    ("pairs", "holds", "fails"),
    [
        # Of -b - a each repetition has 3, of -b + a 1, 5 and 3, so that t = 1.5 √3 with two degrees
        # of freedom, which has 0.0609 above; either sign of b may be shown, and of a be wrong.
        ([(-1.0, -2.0), (1.0, -4.0), (0.0, -3.0)], 2 * 0.0609, 1.0),
        ([(-2.0, 1.0), (-4.0, -1.0), (-3.0, 0.0)], 1.0, 2 * 0.0609),
    ],
)
def test_magnitudes_are_compared_by_the_means_of_signed_values(
    pairs: list[tuple[float, float]], holds: float, fails: float
) -> None:
    parts = [gap(*pair, "s", either=(True, True)) for pair in pairs]
    found = p_values(parts)
    assert (found.holds, found.fails) == pytest.approx((holds, fails), abs=1e-3)
    assert parts[0].holds is (abs(pairs[0][0]) < abs(pairs[0][1]))
    assert parts[0].margin == (0.5 if holds < 1 else -0.5)
