"""The summary names the largest deviations first, what fails, and what was not run."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from bdpbench.pages.assets import read_captions
from bdpbench.pages.experiments import experiments
from bdpbench.pages.names import Names
from bdpbench.pages.summary import summarize
from bdpbench.pages.verdicts import VERDICTS, NumberRow, claim_rows, number_rows


@pytest.fixture
def rows(inputs: Any) -> list[NumberRow]:
    return number_rows(inputs.scorecard, Names(inputs.plan, read_captions()))


def _row(rows: list[NumberRow], verdict: str, **number: Any) -> NumberRow:
    return replace(rows[0], verdict=VERDICTS[verdict], number={**rows[0].number, **number})


def test_deviations_are_compared_in_half_widths_of_their_bounds(rows: list[NumberRow]) -> None:
    found = summarize(
        [
            # 6 of 12 s, bounds ±0.6 s: ten half widths below.
            _row(rows, "not_reproduced", published=12.0, lower=11.4, upper=12.6, measured=6.0),
            # 0.98 for 0.58, bounds ±0.02: twenty above, though only 0.4 away.
            _row(rows, "not_reproduced", published=0.58, lower=0.56, upper=0.6, measured=0.98),
            # Bounds of unequal sides: the nearer bound is 3 away, the measured number 4.
            _row(rows, "close", published=10.0, lower=9.0, upper=13.0, measured=14.0),
            _row(rows, "not_reproduced", published=5.0, lower=4.0, upper=6.0, measured=None),
            _row(rows, "reproduced", published=5.0, lower=4.0, upper=6.0, measured=5.0),
        ],
        [],
        [],
    )
    assert [miss.distance for miss in found.misses] == [
        math.inf,
        pytest.approx(20),
        pytest.approx(10),
        pytest.approx(4 / 3),
    ]
    assert [miss.distance_text for miss in found.misses] == ["–", "20", "10", "1.3"]


def test_what_fails_and_what_is_absent_is_said(inputs: Any) -> None:
    names = Names(inputs.plan, read_captions())
    sections = experiments(inputs.plan, inputs.metrics, inputs.scorecard, {}, names)
    claims = claim_rows(inputs.scorecard, names)
    found = summarize(number_rows(inputs.scorecard, names), claims, sections)
    assert [row.claim["verdict"] for row in found.failed] == [
        "fails" for claim in inputs.scorecard["claims"] if claim["verdict"] == "fails"
    ]
    texts = {each.title: each.text for each in found.absent}
    assert texts["Numbers"] == "1 of 5 need runs that are not here"


def test_a_perfect_study_has_nothing_to_explain(rows: list[NumberRow]) -> None:
    found = summarize([_row(rows, "reproduced")], [], [])
    assert (found.misses, found.failed, found.absent) == ((), (), ())


def test_percentages_differ_by_points(inputs: Any) -> None:
    (number, *_) = inputs.scorecard["numbers"]
    told = {**number, "published": 6.0, "measured": 5.5, "deviation": -0.5, "deviation_pct": -8.333}
    names = Names(inputs.plan, read_captions())
    for unit, expected in (("%", "−0.5 points"), ("s", "−0.5 s")):
        (row,) = number_rows({"numbers": [{**told, "unit": unit}]}, names)
        assert row.deviation == expected
        assert row.deviation_percent == "−8.3\u202f%"
