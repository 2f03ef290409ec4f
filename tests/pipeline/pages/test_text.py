"""Numbers as readers see them; expected texts are written by hand from the rules of rounding."""

from __future__ import annotations

import math

import pytest

from bdpbench.pages.names import ParameterWords, flow_pair, subject_name
from bdpbench.pages.text import format_bytes, format_deviation, format_number, format_percent


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


def test_parameters_take_their_unit_from_their_declaration_or_from_their_name() -> None:
    words = ParameterWords({"rtt_ms": "RTT"}, {"alpha": "packets", "protocol": ""})
    assert words.value("rtt_ms", 100) == "100 ms"
    assert words.value("alpha", 12595.5) == "12,595.5 packets"
    assert words.value("protocol", "HS") == "HS"
    assert words.name("rtt_ms") == "RTT"
    assert words.name("new_thing_ms") == "new thing"
    assert words.with_value("alpha", -8) == "alpha −8 packets"


@pytest.mark.parametrize(
    ("parameter", "pair"),
    [
        ("rtt_1_ms", ("rtt_1_ms", "rtt_2_ms", "rtt_ms")),
        ("access_delay_2_ms", ("access_delay_1_ms", "access_delay_2_ms", "access_delay_ms")),
        ("weight_2", ("weight_1", "weight_2", "weight")),
        ("rtt_ms", None),
        ("flow2_start_s", None),
        ("rtt_3_ms", None),
    ],
)
def test_parameters_of_two_flows_are_known_by_their_number(
    parameter: str, pair: tuple[str, str, str] | None
) -> None:
    assert flow_pair(parameter) == pair


def test_flows_are_numbered_from_one() -> None:
    assert subject_name("flow:1") == "flow 2"
    assert subject_name("link:bottleneck") == "bottleneck"
