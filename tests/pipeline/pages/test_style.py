"""Colours of the style sheet: contrast of text required by WCAG 2.2 (1.4.3, level AA)."""

from __future__ import annotations

import re

import pytest

from bdpbench.pages.text import read_asset

AA = 4.5
VERDICTS = ("reproduced", "close", "not-reproduced", "not-run")
PAIRS = [
    *(
        (text, ground)
        for text in ("ink", "quiet", "link")
        for ground in ("paper", "raised", "faint")
    ),
    *((verdict, f"{verdict}-wash") for verdict in VERDICTS),
    *((verdict, "raised") for verdict in VERDICTS),
    ("ink", "close-wash"),
]


def _colours(scheme: str) -> dict[str, str]:
    blocks = re.findall(r":root \{(.*?)\}", read_asset("static/report.css"), re.DOTALL)
    light, dark = (dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", block)) for block in blocks[:2])
    return light if scheme == "light" else {**light, **dark}


def _luminance(colour: str) -> float:
    """Relative luminance as defined by WCAG 2.2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(scheme: str) -> None:
    colours = _colours(scheme)
    for pair in PAIRS:
        darker, lighter = sorted(_luminance(colours[each]) for each in pair)
        assert (lighter + 0.05) / (darker + 0.05) >= AA, pair
