"""The page of a comparison escapes every word, loads nothing and shows every part."""

from __future__ import annotations

from typing import Any

import pytest

from bdpbench.pages.comparison import comparison_page

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&"


def _moved(**given: Any) -> dict[str, Any]:
    return {
        "scenario": HOSTILE,
        "run": HOSTILE,
        "metric": "utilization",
        "subject": "link:bottleneck",
        "unit": "%",
        "first": 88.76,
        "second": 80.0,
        "change": -8.76,
        "change_pct": -9.87,
        "number": "t1-hs-40",
        "lower": 88.68,
        "upper": 88.84,
        "beyond": True,
        "why": "within to below its bounds",
        **given,
    }


@pytest.fixture
def html() -> str:
    return comparison_page(
        {
            "first": HOSTILE,
            "second": "b",
            "compared": 10,
            "beyond": 1,
            "moved": [_moved(), _moved(first=None, change=None, change_pct=None, number="")],
            "redefined": [{"metric": HOSTILE, "first": "a/1 in s", "second": "a/2 in s"}],
            "only_first": [{"scenario": "s", "metric": HOSTILE, "values": 3}],
            "only_second": [],
            "facts": [{"name": "ns-2 build", "first": "1", "second": HOSTILE}],
        },
        {"utilization": "Link utilization"},
    )


def test_values_stand_with_unit_bounds_and_verdict_and_all_else_is_text(
    html: str, parse_page: Any
) -> None:
    page = parse_page(html)
    assert page.open == []
    # The page's own script is the only one, and it loads nothing.
    assert len(page.all("script")) == 1
    assert page.all("img") == []
    assert page.text.count("alert(1)") >= 6
    targets = [each.get("href", "") or each.get("src", "") for each in page.all("link")]
    assert targets == ["data:,"]
    assert "default-src 'none'" in html
    assert "1 of 10 metrics moved beyond their bounds" in page.text
    values = ("88.76 %", "80 %", "−8.76 %", "88.68 to 88.84 %", "within to below", "not reached")
    assert [each for each in values if each not in page.text] == []
