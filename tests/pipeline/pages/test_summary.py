"""The summary: what deviates and fails first, and where each number stands."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from tests.pipeline.pages.synthetic import Inputs

from bdpbench.pages.inputs import read_captions
from bdpbench.pages.names import Names
from bdpbench.pages.scored import NumberRow, number_rows
from bdpbench.pages.summary import DOT, Overview, overview, summarize
from bdpbench.pages.text import VERDICTS


@pytest.fixture
def rows(inputs: Inputs) -> list[NumberRow]:
    return number_rows(inputs.scorecard, _names(inputs))


def _names(inputs: Inputs) -> Names:
    return Names(inputs.plan, read_captions(), inputs.definitions)


def _row(rows: list[NumberRow], verdict: str, **number: Any) -> NumberRow:
    return replace(rows[0], verdict=VERDICTS[verdict], number={**rows[0].number, **number})


def test_a_reason_leads_to_its_farthest_miss(rows: list[NumberRow]) -> None:
    found = summarize(
        [
            _row(rows, "not_reproduced", id="near", distance=9.99, known_miss="A reason."),
            _row(rows, "not_reproduced", id="far", distance=20.4, known_miss="A reason."),
            _row(rows, "close", id="close", distance=4 / 3, known_miss="Another one."),
            _row(rows, "not_reproduced", id="no value", distance=None, known_miss=""),
            _row(rows, "reproduced", id="inside", distance=0.5, known_miss="Nothing."),
        ],
        [],
        [],
    )
    assert found.misses == 4
    assert [(each.text, each.count, each.first) for each in found.reasons] == [
        ("A reason.", 2, "far"),
        ("Another one.", 1, "close"),
        ("", 1, "no value"),
    ]


def test_percentages_differ_by_points(inputs: Inputs) -> None:
    (number, *_) = inputs.scorecard["numbers"]
    told = {**number, "published": 6.0, "measured": 5.5, "deviation": -0.5, "deviation_pct": -8.333}
    for unit, expected in (("%", "−0.5 points"), ("s", "−0.5 s")):
        (row,) = number_rows({"numbers": [{**told, "unit": unit}]}, _names(inputs))
        assert row.deviation == expected
        assert row.deviation_percent == "−8.3\u202f%"


def _picture(row: NumberRow, *deviations: tuple[float | None, float | None]) -> Overview:
    rows = [
        replace(
            row,
            number={
                **row.number,
                "deviation": deviation,
                "distance": distance,
                "measured": None if deviation is None else 1.0,
            },
        )
        for deviation, distance in deviations
    ]
    found = overview(rows)
    assert found is not None
    return found


def test_dots_are_stacked_and_hide_one_another_nowhere(rows: list[NumberRow]) -> None:
    found = _picture(rows[0], *[(0.0, 0.0)] * 23)
    (strip,) = found.strips
    places = [(each.x, each.y) for each in strip.dots]
    assert max(Counter(x for x, _ in places).values()) == 4
    assert all(strip.top < y < strip.top + strip.height for _, y in places)
    apart = [
        max(abs(one[0] - two[0]), abs(one[1] - two[1]))
        for one, two in itertools.combinations(places, 2)
    ]
    assert min(apart) >= DOT - 4


def test_without_results_there_is_no_picture(rows: list[NumberRow]) -> None:
    assert overview([]) is None
    assert overview([_row(rows, "not_run", measured=None)]) is None


def test_a_number_of_a_case_is_about_the_protocols_of_its_runs(inputs: Inputs) -> None:
    run_ids = {run["label"]: run["run_id"] for run in inputs.plan["runs"]}

    def protocols(*labels: str) -> tuple[str, ...]:
        number = inputs.scorecard["numbers"][0]
        own = {"select": {"case_number": "3"}, "run_ids": [run_ids[each] for each in labels]}
        scorecard = {**inputs.scorecard, "numbers": [{**number, **own}]}
        return number_rows(scorecard, _names(inputs))[0].protocols

    assert protocols("HS-TCP and Scalable TCP, 30 s") == ("HS-TCP", "Scalable TCP")
    assert protocols("HS-TCP, 30 s", "Scalable TCP, 30 s") == ()
