"""The gauge of a number: the positions of its marks."""

from __future__ import annotations

from bdpbench.pages.numbers import gauge


def test_marks_stand_where_the_numbers_are() -> None:
    # With bounds 10 to 20 and a margin of 0.75 · 10 on both sides, the axis runs from 2.5 to 27.5:
    # 10 → 7.5 / 25 = 30 %, 20 → 70 %, 15 → 50 %, 17.5 → 60 %.
    marks = gauge(10.0, 20.0, 15.0, 17.5)
    assert (marks.lower, marks.upper, marks.published, marks.measured) == (30.0, 70.0, 50.0, 60.0)
    assert marks.beyond == 0


def test_a_number_off_the_axis_stands_at_its_end() -> None:
    assert (gauge(10.0, 20.0, 15.0, 99.0).measured, gauge(10.0, 20.0, 15.0, 99.0).beyond) == (
        100,
        1,
    )
    assert (gauge(10.0, 20.0, 15.0, -9.0).measured, gauge(10.0, 20.0, 15.0, -9.0).beyond) == (0, -1)


def test_exact_bounds_and_zero_have_an_axis_too() -> None:
    # 200 ± 0.75 · 5 % of 200: the number itself is in the middle.
    assert gauge(200.0, 200.0, 200.0, 200.0).measured == 50.0
    assert gauge(0.0, 0.0, 0.0, None).published == 50.0


def test_the_gauge_shows_how_far_a_spread_reaches() -> None:
    # The axis runs from 2.5 to 27.5: 75 % of the width between the bounds beyond each of them.
    assert gauge(10.0, 20.0, 15.0, 17.5, (12.5, 15.0)).spread == (40.0, 50.0)
    assert gauge(10.0, 20.0, 15.0, 17.5, (-99.0, 99.0)).spread == (0.0, 100.0)
    assert gauge(10.0, 20.0, 15.0, 17.5).spread is None
