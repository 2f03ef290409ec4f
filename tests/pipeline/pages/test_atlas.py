"""The atlas in words, and its chart."""

from __future__ import annotations

from typing import Any

import pytest

from bdpbench.pages import atlas as words
from bdpbench.pages.atlas import share_charts
from bdpbench.pages.notebook import offline_chart


def _conditions(**given: Any) -> Any:
    return {
        "scenarios": ["One"],
        "bottleneck_mbps": [],
        "rtts_ms": [],
        "buffer_pkts": [],
        "buffer_bdp": [],
        "queues": [],
        "flows": [],
        "other": [],
        "runs": 1,
        "tier": "paper",
        **given,
    }


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"bottleneck_mbps": [10.0, 250.0]}, ["10 and 250 Mbit/s"]),
        ({"bottleneck_mbps": [1.0, 10.0, 100.0, 1000.0]}, ["1 to 1,000 Mbit/s"]),
        ({"rtts_ms": [[16.0], [42.0], [80.0]]}, ["RTT 16, 42 and 80 ms"]),
        ({"rtts_ms": [[162.0, 16.0], [162.0, 82.0]]}, ["RTT 162 beside 16 and 82 ms"]),
        ({"rtts_ms": [[50.0], [50.0, 2.0]]}, ["RTT 50 ms, and 50 beside 2 ms"]),
        ({"rtts_ms": [[30.0, 50.0, 90.0]]}, ["RTT 30 to 90 ms in one run"]),
        ({"buffer_pkts": [40.0]}, ["buffer 40 packets"]),
        ({"buffer_pkts": [40.0], "buffer_bdp": [0.0051]}, ["buffer 0.0051 BDP (40 packets)"]),
        ({"flows": [1], "queues": ["DropTail"]}, ["DropTail", "1 flow"]),
        ({"flows": [2], "other": ["second flow at 50 s"]}, ["2 flows", "second flow at 50 s"]),
    ],
)
def test_conditions_in_words(given: dict[str, Any], told: list[str]) -> None:
    assert words.conditions_in_words(_conditions(**given)) == told


def _number(**given: Any) -> Any:
    return {
        "kind": "number",
        "published": 14.58,
        "lower": 14.48,
        "upper": 14.68,
        "unit": "s",
        "observed": [],
        **given,
    }


def _observed(least: float | None, most: float | None, unit: str = "s") -> Any:
    return {"metric": "Time", "unit": unit, "least": least, "most": most, "values": 2}


def test_a_printed_number_has_its_unit_and_tells_that_it_is_a_bound() -> None:
    assert words.printed(_number()) == "14.58 s"
    assert words.printed(_number(published=0.95, lower=0.95, upper=1, unit="1")) == "at least 0.95"
    assert words.printed(_number(published=200, lower=200, upper=200, unit="packets")) == (
        "200 packets"
    )
    assert words.printed(_number(kind="statement", published=None)) == ""


def test_what_was_measured_is_told_as_far_as_it_goes() -> None:
    assert words.observed(_number(observed=[_observed(14.571, 14.571)])) == ["14.57 s"]
    assert words.observed(_number(observed=[_observed(58.0, 71.5)])) == ["58.00 to 71.50 s"]
    assert words.observed(_number(observed=[_observed(None, None)])) == ["never reached"]
    statement = _number(kind="statement", published=None, observed=[_observed(1.0, 2.0)] * 5)
    assert words.observed(statement) == ["Time: 1 to 2 s"] * 3 + ["and 2 more metrics"]


@pytest.mark.parametrize(
    ("found", "test", "told"),
    [
        ("stated", "blind", "stated"),
        ("chosen before", "blind", "chosen before any run"),
        ("chosen on", "fitted", "chosen with this value in view"),
        ("chosen on", "blind", "chosen on other values"),
    ],
)
def test_how_a_definition_was_found(found: str, test: str, told: str) -> None:
    assert words.origin(_number(found=found, test=test)) == told


def test_studies_are_named_as_texts_name_them() -> None:
    def cited(authors: str) -> str:
        study: Any = {"authors": authors, "year": 2007, "title": "Mine"}
        return words.cited(study)

    assert cited("Pankaj Sharma") == "Sharma (2007)"
    assert cited("A. First, B. Second") == "First and Second (2007)"
    assert cited("Baruch Even, Yee-Ting Li, Douglas J. Leith") == "Even et al. (2007)"
    assert cited("") == "Mine"


def _point(protocol: str, what: str, rtt_ratio: float) -> Any:
    return {
        "study": "mine2020",
        "protocol": protocol,
        "sender": "Mine",
        "what": what,
        "rtt_ratio": rtt_ratio,
        "ratio": 0.5,
        "told": "a run",
    }


def test_a_chart_is_vega_lite_and_stands_for_two_points_or_more() -> None:
    protocols: Any = [{"key": key, "name": key.upper()} for key in ("a", "b")]
    points = [_point("a", "printed", 1), _point("a", "measured", 2.5), _point("b", "printed", 1)]
    (chart,) = share_charts(points, protocols, ["mine2020"])
    assert chart.title == "A with itself"
    assert chart.caption == "1 printed and 1 measured of mine2020."
    content: Any = chart.content
    offline_chart(content["spec"])
    (rows,) = content["spec"]["datasets"].values()
    assert [(row["x"], row["what"]) for row in rows] == [(1, "printed"), (2.5, "measured")]
