"""Numbers, names and the atlas in words; expected texts are written by hand from the rules."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from bdpbench.pages import atlas as words
from bdpbench.pages.names import ParameterWords, subject_name
from bdpbench.pages.text import format_bytes, format_deviation, format_number, format_percent

SPACE = "\N{NARROW NO-BREAK SPACE}"
WORDS = ParameterWords({"rtt_ms": "RTT"}, {"alpha": "packets", "protocol": ""})


def _like(value: float | None, like: float | None = None) -> str:
    return format_number(value, like=like)


@pytest.mark.parametrize(
    ("made", "given", "text"),
    [
        (_like, (14.5712, 14.58), "14.57"),
        (_like, (621.97, 622.0), "622"),
        (_like, (88.7519, 88.76), "88.75"),
        (_like, (9409.98,), "9,410"),
        (_like, (9409.98, 9409.98), "9,409.98"),
        (_like, (49.6, 49.63), "49.60"),
        (_like, (-0.9621, -0.964), "−0.9621"),
        (_like, (0.0,), "0"),
        (_like, (0.0123449,), "0.01234"),
        (_like, (None, 1.0), "–"),
        (_like, (math.nan,), "–"),
        (_like, (math.inf,), "–"),
        (format_deviation, (-0.0100001, 14.57, 14.58), "−0.01"),
        (format_deviation, (0.57, 14.57, 14.0), "+0.57"),
        (format_deviation, (1e-12, 200.0, 200.0), "0"),
        (format_deviation, (35.2, 85.0, 49.8), "+35.2"),
        (format_deviation, (None, None, 622.0), "–"),
        # The sign and small deviations stay.
        (format_percent, (70.68,), f"+70.7{SPACE}%"),
        (format_percent, (-0.069,), f"−0.07{SPACE}%"),
        (format_percent, (-0.001,), f"0.00{SPACE}%"),
        (format_percent, (None,), "–"),
        (format_bytes, (999,), "999 B"),
        (format_bytes, (1000,), "1 kB"),
        (format_bytes, (123_456,), "123.5 kB"),
        (format_bytes, (2_500_000_000,), "2.5 GB"),
        # A unit is that of the declaration, or of the name.
        (WORDS.value, ("rtt_ms", 100), "100 ms"),
        (WORDS.value, ("alpha", 12595.5), "12,595.5 packets"),
        (WORDS.value, ("protocol", "HS"), "HS"),
        (WORDS.name, ("rtt_ms",), "RTT"),
        (WORDS.name, ("new_thing_ms",), "new thing"),
        (WORDS.with_value, ("alpha", -8), "alpha −8 packets"),
        (subject_name, ("flow:1",), "flow 2"),
        (subject_name, ("link:bottleneck",), "bottleneck"),
    ],
)
def test_words_of_numbers_and_names(made: Callable[..., Any], given: Any, text: Any) -> None:
    assert made(*given) == text


PRINTED: dict[str, Any] = {"published": 14.58, "lower": 14.48, "upper": 14.68, "unit": "s"}
MET = [("Time", "s", 1.0, 2.0)] * 5


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "14.58 s"),
        ({"published": 0.95, "lower": 0.95, "upper": 1, "unit": "1"}, "at least 0.95"),
        ({"published": 200, "lower": 200, "upper": 200, "unit": "packets"}, "200 packets"),
        ({"published": None}, ""),
        ({"observed": [("", "s", 14.571, 14.571)]}, ["14.57 s"]),
        ({"observed": [("", "s", 58.0, 71.5)]}, ["58.00 to 71.50 s"]),
        ({"observed": [("", "s", None, None)]}, ["never reached"]),
        ({"published": None, "observed": MET}, ["Time: 1 to 2 s"] * 3 + ["and 2 more metrics"]),
        ({"found": "stated", "kind": "blind"}, "blind: stated by the study"),
        ({"found": "chosen before", "kind": "blind"}, "blind: chosen before any run"),
        ({"found": "chosen on", "kind": "fitted"}, "fitted: chosen on this value"),
        ({"found": "chosen on", "kind": "blind"}, "blind: chosen on other values"),
    ],
)
def test_numbers_measurements_and_definitions_in_words(given: Any, told: Any) -> None:
    entry: Any = PRINTED | given
    tell = words.origin if "found" in given else words.observed if "observed" in given else None
    assert (tell or words.printed)(entry) == told
