"""The picture of all numbers: one dot for each, placed by its distance from its bounds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bdpbench.pages.inputs import read_captions
from bdpbench.pages.names import Names
from bdpbench.pages.numbers import NumberRow, number_rows
from bdpbench.pages.summary import DOT, Overview, overview


@pytest.fixture
def row(inputs: Any) -> NumberRow:
    names = Names(inputs.plan, read_captions(), inputs.definitions)
    return number_rows(inputs.scorecard, names)[0]


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


def test_a_dot_stands_at_its_distance(row: NumberRow) -> None:
    found = _picture(row, (-2.0, 1.0), (5.0, 0.5), (9.0, 40.0), (-1.0, None), (None, None))
    (strip,) = found.strips
    assert strip.title == row.scenario
    half = found.upper - found.middle
    assert found.middle - found.lower == pytest.approx(half)
    places = [(each.x, each.beyond) for each in strip.dots]
    # By size: half way to the upper bound, on the lower bound, beyond the ends.
    assert places == [
        (pytest.approx(found.middle + half / 2, abs=0.06), 0),
        (pytest.approx(found.lower, abs=0.06), 0),
        (pytest.approx(found.middle + 3 * half, abs=0.06), 1),
        (pytest.approx(found.middle - 3 * half, abs=0.06), -1),
    ]


def test_dots_are_stacked_and_hide_one_another_nowhere(row: NumberRow) -> None:
    found = _picture(row, *[(0.0, 0.0)] * 23)
    (strip,) = found.strips
    places = [(each.x, each.y) for each in strip.dots]
    assert len(places) == 23
    for index, (x, y) in enumerate(places):
        assert strip.top < y < strip.top + strip.height
        for other_x, other_y in places[:index]:
            assert max(abs(x - other_x), abs(y - other_y)) >= DOT - 4


def test_without_results_there_is_no_picture(row: NumberRow) -> None:
    assert overview([]) is None
    assert overview([replace(row, number={**row.number, "measured": None})]) is None
