"""Each verdict at its boundary; expected values follow from the fixture's four runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from tests.pipeline.score.conftest import published_number

from bdpbench.contracts.plan import Plan
from bdpbench.contracts.scorecard import NUMBER_VERDICTS, ScoredPart
from bdpbench.errors import BdpbenchError
from bdpbench.score import Expectations, PublishedNumber, score
from bdpbench.score.published import Origin


def _verdict(plan: Plan, metrics: pl.DataFrame, **changes: Any) -> dict[str, Any]:
    card = score(plan, metrics, Expectations([published_number(**changes)]))
    (number,) = card["numbers"]
    assert card["totals"][number["verdict"]] == 1
    return dict(number)


@pytest.mark.parametrize(
    ("value", "lower", "upper", "verdict"),
    [
        (88.5, 88.0, 89.0, "reproduced"),  # measured 88 is the lower bound itself
        (88.5, 88.01, 89.0, "close"),  # misses them by 0.01, and they are 0.99 wide
        (92.5, 90.0, 94.0, "close"),  # by 2, half of 4
        (92.5, 90.1, 94.0, "not_reproduced"),  # by 2.1, more than half of 3.9
        (88.5, 88.2, 88.2, "not_reproduced"),  # bounds without a width have no neighbourhood
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


@pytest.mark.parametrize(
    ("value", "lower", "upper", "distance"),
    [
        (88, 80, 90, 0.0),
        (88, 88, 90, None),  # the print is its own lower bound: there is no distance below it
        (86, 80, 87, 2.0),  # 2 above, where the bound is 1 above
        (90, 86, 95, 0.5),  # 2 below, where the bound is 4 below
        (86, 80, 86, None),
    ],
)
def test_the_distance_is_in_units_of_that_to_the_bound(
    plan: Plan,
    metrics: pl.DataFrame,
    value: float,
    lower: float,
    upper: float,
    distance: float | None,
) -> None:
    number = _verdict(plan, metrics, value=value, lower=lower, upper=upper)
    assert number["distance"] == distance


def test_a_deviation_from_zero_has_no_percentage(plan: Plan, metrics: pl.DataFrame) -> None:
    number = _verdict(plan, metrics, value=0, lower=-1, upper=1)
    assert (number["deviation"], number["deviation_pct"]) == (88.0, None)
    assert _verdict(plan, metrics, value=-100, lower=-101, upper=1)["deviation_pct"] == 188


def test_a_time_that_is_never_reached_is_not_reproduced(plan: Plan, metrics: pl.DataFrame) -> None:
    changes: dict[str, Any] = {"metric": "time_to_90pct_cwnd", "subject": "flow:0", "unit": "s"}
    number = _verdict(plan, metrics, select={"protocol": "Reno"}, **changes)
    assert (number["verdict"], number["reason"]) == (
        "not_reproduced",
        "never reached in this run",
    )


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


HS_40 = {"protocol": "HS", "buffer_pkts": "40"}  # measured 88 %
HS_200 = {"protocol": "HS", "buffer_pkts": "200"}  # measured 95 %


def _parts(lower: float, upper: float) -> list[PublishedNumber]:
    common = {"part_of": "both", "value": 91.5, "lower": lower, "upper": upper}
    return [
        published_number(id="first", select=HS_40, **common),
        published_number(id="second", select=HS_200, **common),
    ]


@pytest.mark.parametrize(
    ("lower", "upper", "verdict", "measured", "shown"),
    [
        (88.0, 95.0, "reproduced", 88.0, 2),  # both on a bound, and equally far from 91.5
        (89.0, 95.0, "close", 88.0, 1),  # 88 misses them by 1, 95 lies within
        (90.0, 94.0, "close", 88.0, 0),
    ],
)
def test_a_number_of_several_runs_counts_once_and_is_what_the_worst_of_them_is(
    plan: Plan,
    metrics: pl.DataFrame,
    lower: float,
    upper: float,
    verdict: str,
    measured: float,
    shown: int,
) -> None:
    card = score(plan, metrics, Expectations(_parts(lower, upper)))
    (number,) = card["numbers"]
    assert (number["id"], number["verdict"], number["measured"]) == ("both", verdict, measured)
    assert number["select"] == {"protocol": "HS"}  # common to all runs
    assert sum(card["totals"].values()) == card["totals"][number["verdict"]] == 1
    assert [each["id"] for each in number["parts"]] == ["first", "second"]
    assert number["run_ids"] == [run for part in number["parts"] for run in part["run_ids"]]
    assert number["reason"].startswith(f"{shown} of 2 runs show it")


def test_a_number_of_which_a_run_is_missing_is_not_run_unless_another_fails(
    plan: Plan, metrics: pl.DataFrame
) -> None:
    def verdict(lower: float, upper: float) -> str:
        first, _ = _parts(lower, upper)
        absent = published_number(
            id="second", part_of="both", scenario="empty", value=91.5, lower=lower, upper=upper
        )
        (number,) = score(plan, metrics, Expectations([first, absent]))["numbers"]
        return number["verdict"]

    assert verdict(88.0, 95.0) == "not_run"
    assert verdict(89.5, 95.0) == "close"


def test_a_number_of_several_runs_says_what_its_parts_say(
    plan: Plan, metrics: pl.DataFrame
) -> None:
    first, second = _parts(90.0, 95.0)
    chosen = Origin("chosen on", ("second",))
    parts = [
        replace(first, known_miss="odd", note="one", origin=chosen),
        replace(second, known_miss="odd", note="two", origin=chosen),
    ]
    (number,) = score(plan, metrics, Expectations(parts))["numbers"]
    assert (number["known_miss"], number["note"], number["kind"]) == ("odd", "one two", "fitted")
    assert number["reason"] == "1 of 2 runs show it. Odd."
    assert number["verdict"] == "close"
    blind = [replace(each, origin=Origin("chosen on", ("x",))) for each in parts]
    (number,) = score(plan, metrics, Expectations(blind))["numbers"]
    assert number["kind"] == "blind"
    of_spread = {"alone", "spread", "readings"}  # which these have not
    assert set(number["parts"][0]) == set(ScoredPart.__annotations__) - of_spread
    assert [each["measured"] for each in number["parts"]] == [88.0, 95.0]


def test_blind_and_fitted_numbers_are_counted_apart(plan: Plan, metrics: pl.DataFrame) -> None:
    chosen = Origin("chosen on", ("fit*",))
    numbers = [
        published_number(id="fitted", origin=chosen),
        published_number(id="blind-miss", origin=chosen, value=50.0, lower=49.0, upper=51.0),
        published_number(id="told", origin=Origin("stated")),
    ]
    card = score(plan, metrics, Expectations(numbers))
    assert [number["kind"] for number in card["numbers"]] == ["fitted", "blind", "blind"]
    assert [number["chosen_on"] for number in card["numbers"]] == [["fit*"], ["fit*"], []]
    empty = dict.fromkeys(NUMBER_VERDICTS, 0)
    assert card["kind_totals"] == {
        "blind": {**empty, "reproduced": 1, "not_reproduced": 1},
        "fitted": {**empty, "reproduced": 1},
    }


def test_skill_compares_the_counts_with_the_best_constant(
    plan: Plan, metrics: pl.DataFrame
) -> None:
    # Measured 88, 88, 95, 95 and 95; a constant of 95 would lie in three bounds, 87 in two.
    numbers = [
        published_number(id="a", value=88.0, lower=87.0, upper=89.0),
        published_number(id="b", value=87.0, lower=86.0, upper=87.5),
        published_number(id="c", value=96.0, lower=95.0, upper=97.0, select=HS_200),
        published_number(id="d", value=97.0, lower=95.0, upper=98.0, select=HS_200),
        published_number(id="e", value=94.5, lower=94.0, upper=95.0, select=HS_200),
    ]
    (skill,) = score(plan, metrics, Expectations(numbers)).get("skill", [])
    assert (skill["numbers"], skill["reproduced"]) == (5, 4)
    assert (skill["constant"], skill["constant_reproduced"]) == (95.0, 3)
    # Ranks of the print 2, 1, 4, 5, 3 and of the runs 1.5, 1.5, 4, 4, 4.
    assert skill["rank_correlation"] == pytest.approx(0.8660254)
    assert score(plan, metrics, Expectations(numbers[:4])).get("skill") == []
