"""The summary names the largest deviations first, then what fails and what was not run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bdpbench.pages.experiments import experiments
from bdpbench.pages.inputs import ReportData, read_captions
from bdpbench.pages.names import Names
from bdpbench.pages.numbers import NumberRow, number_rows
from bdpbench.pages.statements import claim_rows
from bdpbench.pages.summary import summarize
from bdpbench.pages.text import VERDICTS


@pytest.fixture
def rows(inputs: Any) -> list[NumberRow]:
    return number_rows(inputs.scorecard, Names(inputs.plan, read_captions(), inputs.definitions))


def _row(rows: list[NumberRow], verdict: str, **number: Any) -> NumberRow:
    return replace(rows[0], verdict=VERDICTS[verdict], number={**rows[0].number, **number})


def test_misses_come_in_the_order_of_their_distance(rows: list[NumberRow]) -> None:
    found = summarize(
        [
            _row(rows, "not_reproduced", distance=9.99),
            _row(rows, "not_reproduced", distance=20.4),
            _row(rows, "close", distance=4 / 3),
            _row(rows, "not_reproduced", distance=None),
            _row(rows, "reproduced", distance=0.5),
        ],
        [],
        [],
    )
    assert [miss.distance_text for miss in found.misses] == ["–", "20", "10.0", "1.3"]


def test_what_fails_and_what_is_absent_is_said(inputs: Any) -> None:
    names = Names(inputs.plan, read_captions(), inputs.definitions)
    sections = experiments(ReportData(replace(inputs.frozen(), run_info={}), 200))
    claims = claim_rows(inputs.scorecard, names)
    found = summarize(number_rows(inputs.scorecard, names), claims, sections)
    assert [row.claim["verdict"] for row in found.failed] == [
        "fails" for claim in inputs.scorecard["claims"] if claim["verdict"] == "fails"
    ]
    texts = dict(found.absent)
    assert texts["Numbers"] == "1 of 5 need runs that are missing"


def test_a_perfect_study_has_nothing_to_explain(rows: list[NumberRow]) -> None:
    found = summarize([_row(rows, "reproduced")], [], [])
    assert (found.misses, found.failed, found.absent) == ((), (), ())


def test_percentages_differ_by_points(inputs: Any) -> None:
    (number, *_) = inputs.scorecard["numbers"]
    told = {**number, "published": 6.0, "measured": 5.5, "deviation": -0.5, "deviation_pct": -8.333}
    names = Names(inputs.plan, read_captions(), inputs.definitions)
    for unit, expected in (("%", "−0.5 points"), ("s", "−0.5 s")):
        (row,) = number_rows({"numbers": [{**told, "unit": unit}]}, names)
        assert row.deviation == expected
        assert row.deviation_percent == "−8.3\u202f%"
