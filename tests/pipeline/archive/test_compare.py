"""Which values count as moved beyond their bounds, on examples that can be checked by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bdpbench.archive.compare import Tolerance, compare
from bdpbench.archive.side import Bounds, Key, Side, Value
from bdpbench.contracts.reports import Comparison

TOLERANCE = Tolerance(share=0.05, asymmetry=0.05)
KEY = Key("single_flow", "HS-TCP", "time_to_90pct_cwnd", "flow:0")


def _side(value: float | None, name: str = "a", **given: object) -> Side:
    facts: dict[str, object] = {
        "values": {KEY: Value(value, "s", "time_to_90pct_cwnd/1", "0" * 16)},
        "bounds": {},
        "parameters": {},
        "facts": {},
    }
    return Side(name=name, **{**facts, **given})  # type: ignore[arg-type]


def _compare(a: float | None, b: float | None, *bounds: float) -> Comparison:
    held = {KEY: Bounds("t1-hs", *bounds)} if bounds else {}
    return compare(_side(a, bounds=held), _side(b, "b"), TOLERANCE)


@pytest.mark.parametrize(
    ("a", "b", "bounds", "beyond"),
    [
        # With a published number, what counts is the side of its bounds, not the distance.
        (14.57, 14.60, (14.48, 14.68), False),
        (14.67, 14.69, (14.48, 14.68), True),
        (14.69, 14.67, (14.48, 14.68), True),
        (10.0, 20.0, (14.48, 14.68), True),
        # Outside the bounds before and after: 5 % of 20 s is 1 s.
        (20.0, 20.9, (14.48, 14.68), False),
        (20.0, 21.1, (14.48, 14.68), True),
        # Without a published number: 5 % of 10 s is 0.5 s.
        (10.0, 10.4, (), False),
        (10.0, 10.6, (), True),
        (10.0, 9.6, (), False),
        (10.0, 9.4, (), True),
        (0.0, 1e-6, (), True),
        # What binary rounding leaves of a sum that should be 0.
        (1.05e-16, 0.0, (), False),
        # Reached in only one of the two.
        (None, 14.0, (14.48, 14.68), True),
        (14.5, None, (), True),
    ],
)
def test_what_is_beyond(
    a: float | None, b: float | None, bounds: tuple[float, ...], beyond: bool
) -> None:
    found = _compare(a, b, *bounds)
    assert [each["beyond"] for each in found["moved"]] == [beyond]


def test_asymmetries_are_held_to_a_distance() -> None:
    key = Key("two_flows", "HS-TCP", "asymmetry", "run")
    for b, beyond in ((0.04, False), (0.06, True)):
        sides = [
            _side(None, values={key: Value(value, "1", "asymmetry/1", "0" * 16)})
            for value in (0.0, b)
        ]
        assert [each["beyond"] for each in compare(*sides, TOLERANCE)["moved"]] == [beyond]


@given(
    value=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    bounds=st.none() | st.tuples(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9)),
)
def test_equal_values_never_move(value: float | None, bounds: tuple[float, float] | None) -> None:
    found = _compare(value, value, *(sorted(bounds) if bounds else ()))
    assert (found["compared"], found["moved"]) == (1, [])


def test_units_and_definitions_that_differ_are_told_and_not_compared() -> None:
    other = {KEY: Value(9000.0, "ms", "time_to_90pct_cwnd/2", "1" * 16)}
    found = compare(_side(9.0), _side(None, values=other), TOLERANCE)
    assert found["compared"] == 0
    assert found["redefined"] == [
        {
            "metric": "time_to_90pct_cwnd",
            "first": "time_to_90pct_cwnd/1 in s",
            "second": "time_to_90pct_cwnd/2 in ms",
        }
    ]


def test_what_one_side_has_alone_is_counted() -> None:
    more = {
        KEY: Value(1.0, "s", "time_to_90pct_cwnd/1", "0"),
        KEY._replace(run="H-TCP"): Value(1.0, "s", "time_to_90pct_cwnd/1", "1"),
    }
    found = compare(_side(1.0), _side(None, values=more), TOLERANCE)
    alone = {"scenario": "single_flow", "metric": "time_to_90pct_cwnd", "values": 1}
    assert (found["only_first"], found["only_second"]) == ([], [alone])


def test_builds_and_parameters_that_differ_are_told() -> None:
    a = _side(1.0, facts={"ns-2 build": "1"}, parameters={("s", "HS"): {"buffer_pkts": 40}})
    b = _side(1.0, facts={"ns-2 build": "2"}, parameters={("s", "HS"): {"buffer_pkts": 50}})
    found = compare(a, b, TOLERANCE)
    assert found["facts"] == [{"name": "ns-2 build", "first": "1", "second": "2"}]
    assert found["parameters"] == [
        {"run": "s: HS", "parameter": "buffer_pkts", "first": "40", "second": "50"}
    ]


def test_what_an_older_result_does_not_tell_is_no_difference() -> None:
    told = {"ns-2 build": "1", "commit": "abc"}
    found = compare(_side(1.0, facts=told), _side(1.0, told=False, facts={}), TOLERANCE)
    assert found["facts"] == [
        {"name": "versions and checksums", "first": "told", "second": "not told"}
    ]
