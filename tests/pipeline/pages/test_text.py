"""Numbers as readers see them. Expected texts are written by hand from the rules of rounding."""

from __future__ import annotations

import math

import pytest

from bdpbench.pages.text import (
    format_bytes,
    format_deviation,
    format_number,
    format_percent,
    parameter_name,
    parameter_value,
    subject_name,
)


@pytest.mark.parametrize(
    ("value", "like", "text"),
    [
        (14.5712, 14.58, "14.57"),
        (621.97, 622.0, "622"),
        (88.7519, 88.76, "88.75"),
        (9409.98, None, "9,410"),
        (9409.98, 9409.98, "9,409.98"),
        (49.6, 49.63, "49.60"),
        (-0.9621, -0.964, "−0.9621"),
        (0.0, None, "0"),
        (0.0123449, None, "0.01234"),
        (None, 1.0, "–"),
        (math.nan, None, "–"),
        (math.inf, None, "–"),
    ],
)
def test_format_number(value: float | None, like: float | None, text: str) -> None:
    assert format_number(value, like=like) == text


@pytest.mark.parametrize(
    ("deviation", "measured", "published", "text"),
    [
        (-0.0100001, 14.57, 14.58, "−0.01"),
        (0.57, 14.57, 14.0, "+0.57"),
        (1e-12, 200.0, 200.0, "0"),
        (35.2, 85.0, 49.8, "+35.2"),
        (None, None, 622.0, "–"),
    ],
)
def test_format_deviation(
    deviation: float | None, measured: float | None, published: float, text: str
) -> None:
    assert format_deviation(deviation, measured, published) == text


def test_format_percent_keeps_the_sign_and_small_deviations() -> None:
    space = "\N{NARROW NO-BREAK SPACE}"
    assert format_percent(70.68) == f"+70.7{space}%"
    assert format_percent(-0.069) == f"−0.07{space}%"
    assert format_percent(-0.001) == f"0.00{space}%"
    assert format_percent(None) == "–"


def test_sizes_are_decimal() -> None:
    assert format_bytes(999) == "999 B"
    assert format_bytes(123_456) == "123.5 kB"
    assert format_bytes(2_500_000_000) == "2.5 GB"


def test_parameters_take_their_unit_from_the_run_or_from_their_name() -> None:
    assert parameter_value("rtt_ms", 100) == "100 ms"
    assert parameter_value("bdp_pkts", 12595.5, {"bdp_pkts": "packets"}) == "12,595.5 packets"
    assert parameter_value("protocol", "HS") == "HS"
    assert parameter_name("rtt_ms", {"rtt_ms": "RTT"}) == "RTT"
    assert parameter_name("new_thing_ms", {}) == "new thing"


def test_flows_are_numbered_from_one() -> None:
    assert subject_name("flow:1") == "flow 2"
    assert subject_name("link:bottleneck") == "bottleneck"
