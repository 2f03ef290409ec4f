"""The atlas in words."""

from __future__ import annotations

from typing import Any

import pytest

from bdpbench.pages import atlas as words

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
