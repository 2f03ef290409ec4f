"""Each verdict at its boundary; expected values are arithmetic on the fixture's four runs."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from bdpbench.contracts.plan import Plan
from bdpbench.errors import BdpbenchError
from bdpbench.score import PublishedNumber, score


def _number(**changes: Any) -> PublishedNumber:
    facts: dict[str, Any] = {
        "id": "n",
        "where": "Table 1",
        "page": "98",
        "scenario": "one",
        "select": {"protocol": "HS", "buffer_pkts": "40"},
        "metric": "utilization",
        "subject": "link:bottleneck",
        "value": 88.0,
        "lower": 87.0,
        "upper": 89.0,
        "unit": "%",
        "how": "stated",
        "why": "",
        "known_miss": "",
        "note": "",
    }
    return PublishedNumber(**{**facts, **changes})


def _verdict(plan: Plan, metrics: pl.DataFrame, **changes: Any) -> dict[str, Any]:
    card = score(plan, metrics, [_number(**changes)], [])
    (number,) = card["numbers"]
    assert card["totals"][number["verdict"]] == 1
    return dict(number)


@pytest.mark.parametrize(
    ("value", "lower", "upper", "verdict"),
    [
        (88.5, 88.0, 89.0, "reproduced"),  # measured 88 is the lower bound itself
        (88.5, 88.01, 89.0, "close"),  # off by 0.6 %
        (92.6, 92.5, 92.7, "close"),  # off by 4.6 = 4.97 % of 92.6
        (92.7, 92.6, 92.8, "not_reproduced"),  # off by 4.7 = 5.07 % of 92.7
    ],
)
def test_the_distance_decides(
    plan: Plan,
    metrics: pl.DataFrame,
    value: float,
    lower: float,
    upper: float,
    verdict: str,
) -> None:
    number = _verdict(plan, metrics, value=value, lower=lower, upper=upper)
    assert number["verdict"] == verdict
    assert number["deviation"] == pytest.approx(88 - value)
    assert number["deviation_pct"] == pytest.approx(100 * (88 - value) / value)
    assert number["run_ids"] == ["a"]


def test_an_asymmetry_is_close_by_its_absolute_distance(plan: Plan, metrics: pl.DataFrame) -> None:
    # Measured -0.02; 0.02 is 200 % off, yet only 0.04 away.
    changes = {"metric": "asymmetry", "subject": "run", "unit": "1", "lower": 0.01, "upper": 0.03}
    assert _verdict(plan, metrics, value=0.02, **changes)["verdict"] == "close"


def test_numbers_compare_by_value(plan: Plan, metrics: pl.DataFrame) -> None:
    select = {"protocol": "HS", "buffer_pkts": "200"}  # the run says 200.0
    number = _verdict(plan, metrics, select=select, value=95.0, lower=95.0, upper=95.0)
    assert number["verdict"] == "reproduced"


def test_a_time_that_is_never_reached_is_not_reproduced(plan: Plan, metrics: pl.DataFrame) -> None:
    changes: dict[str, Any] = {"metric": "time_to_90pct_cwnd", "subject": "flow:0", "unit": "s"}
    number = _verdict(plan, metrics, select={"protocol": "Reno"}, **changes)
    assert (number["verdict"], number["reason"]) == (
        "not_reproduced",
        "never reached in this run",
    )


def test_a_scenario_without_runs_is_not_run(plan: Plan, metrics: pl.DataFrame) -> None:
    number = _verdict(plan, metrics, scenario="empty")
    assert (number["verdict"], number["measured"]) == ("not_run", None)


def test_a_known_miss_carries_its_reason_and_an_unexpected_match_is_told(
    plan: Plan, metrics: pl.DataFrame
) -> None:
    missed = _verdict(
        plan, metrics, value=50.0, lower=49.0, upper=51.0, known_miss="the print is odd"
    )
    assert (missed["verdict"], missed["reason"]) == ("not_reproduced", "the print is odd")
    matched = _verdict(plan, metrics, known_miss="the print is odd")
    assert matched["verdict"] == "reproduced"
    assert "unexpected match" in matched["reason"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"select": {"protocol": "HS"}}, "ambiguous selector: utilization fits 3 rows"),
        ({"select": {"protocl": "HS"}}, r"unknown parameter 'protocl'[\s\S]*'protocol'"),
        ({"scenario": "ones"}, r"unknown scenario 'ones'[\s\S]*'one'"),
        ({"unit": "Mbit/s"}, "n: unit: the number is in 'Mbit/s', and utilization is measured in"),
    ],
)
def test_a_selector_that_cannot_be_meant_is_refused(
    plan: Plan, metrics: pl.DataFrame, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(BdpbenchError, match=said):
        _verdict(plan, metrics, **changes)
