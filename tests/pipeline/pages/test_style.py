"""Colours of the style sheet: contrast of text required by WCAG 2.2 (1.4.3, level AA)."""

from __future__ import annotations

import itertools
import re

import pytest

from bdpbench.pages.text import read_asset

AA = 4.5
VERDICTS = ("reproduced", "close", "not-reproduced", "not-run")
PAIRS = [
    *itertools.product(("ink", "quiet", "link"), ("paper", "raised", "faint")),
    *((verdict, ground) for verdict in VERDICTS for ground in (f"{verdict}-wash", "raised")),
    ("ink", "close-wash"),
]


def _luminance(colour: str) -> float:
    """Relative luminance as defined by WCAG 2.2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("schemes", [1, 2], ids=["light", "dark"])
def test_text_has_contrast(schemes: int) -> None:
    blocks = re.findall(r":root \{(.*?)\}", read_asset("static/report.css"), re.DOTALL)
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", "".join(blocks[:schemes])))
    for pair in PAIRS:
        darker, lighter = sorted(_luminance(colours[each]) for each in pair)
        assert (lighter + 0.05) / (darker + 0.05) >= AA, pair
