"""The atlas in words."""

from __future__ import annotations

from typing import Any

import pytest

from bdpbench.pages import atlas as words


def _number(**given: Any) -> Any:
    return {
        "published": 14.58,
        "lower": 14.48,
        "upper": 14.68,
        "unit": "s",
        "observed": [],
        **given,
    }


def test_a_printed_number_has_its_unit_and_tells_that_it_is_a_bound() -> None:
    assert words.printed(_number()) == "14.58 s"
    assert words.printed(_number(published=0.95, lower=0.95, upper=1, unit="1")) == "at least 0.95"
    assert words.printed(_number(published=200, lower=200, upper=200, unit="packets")) == (
        "200 packets"
    )
    assert words.printed(_number(published=None)) == ""


def test_what_was_measured_is_told_as_far_as_it_goes() -> None:
    assert words.observed(_number(observed=[("", "s", 14.571, 14.571)])) == ["14.57 s"]
    assert words.observed(_number(observed=[("", "s", 58.0, 71.5)])) == ["58.00 to 71.50 s"]
    assert words.observed(_number(observed=[("", "s", None, None)])) == ["never reached"]
    statement = _number(published=None, observed=[("Time", "s", 1.0, 2.0)] * 5)
    assert words.observed(statement) == ["Time: 1 to 2 s"] * 3 + ["and 2 more metrics"]


@pytest.mark.parametrize(
    ("found", "kind", "told"),
    [
        ("stated", "blind", "blind: stated by the study"),
        ("chosen before", "blind", "blind: chosen before any run"),
        ("chosen on", "fitted", "fitted: chosen on this value"),
        ("chosen on", "blind", "blind: chosen on other values"),
    ],
)
def test_how_a_definition_was_found(found: str, kind: str, told: str) -> None:
    assert words.origin(_number(found=found, kind=kind)) == told
