"""Each verdict at its boundary; expected values follow from the fixture's four runs."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from tests.pipeline.score.conftest import published_number

from bdpbench.contracts.plan import Plan
from bdpbench.contracts.scorecard import NUMBER_VERDICTS
from bdpbench.errors import BdpbenchError
from bdpbench.score import Expectations, PublishedNumber, score


def _verdict(plan: Plan, metrics: pl.DataFrame, **changes: Any) -> dict[str, Any]:
    card = score(plan, metrics, Expectations([published_number(**changes)]))
    (number,) = card["numbers"]
    assert card["totals"][number["verdict"]] == 1
    return dict(number)


@pytest.mark.parametrize(
    ("value", "lower", "upper", "verdict", "distance"),
    [
        (88.5, 88.0, 89.0, "reproduced", 1.0),  # measured 88 is the lower bound itself
        (88.5, 88.01, 89.0, "close", 0.5 / 0.49),  # misses them by 0.01, and they are 0.99 wide
        (92.5, 90.0, 94.0, "close", 4.5 / 2.5),  # by 2, half of 4
        (92.5, 90.1, 94.0, "not_reproduced", 4.5 / 2.4),  # by 2.1, more than half of 3.9
        (88.2, 88.2, 88.2, "not_reproduced", None),  # bounds without width have no neighbourhood
        (88, 80, 90, "reproduced", 0.0),
        (88, 88, 90, "reproduced", None),  # the print is its own bound: no distance below it
        (86, 80, 87, "close", 2.0),  # 2 above, where the bound is 1 above
        (90, 86, 95, "reproduced", 0.5),  # 2 below, where the bound is 4 below
        (86, 80, 86, "close", None),
    ],
)
def test_the_distance_decides(
    plan: Plan,
    metrics: pl.DataFrame,
    value: float,
    lower: float,
    upper: float,
    verdict: str,
    distance: float | None,
) -> None:
    number = _verdict(plan, metrics, value=value, lower=lower, upper=upper)
    assert (number["verdict"], number["run_ids"]) == (verdict, ["a"])
    assert number["distance"] == (distance if distance is None else pytest.approx(distance))
    assert number["deviation"] == pytest.approx(88 - value)
    assert number["deviation_pct"] == pytest.approx(100 * (88 - value) / value)


def test_a_deviation_from_zero_has_no_percentage(plan: Plan, metrics: pl.DataFrame) -> None:
    number = _verdict(plan, metrics, value=0, lower=-1, upper=1)
    assert (number["deviation"], number["deviation_pct"]) == (88.0, None)
    assert _verdict(plan, metrics, value=-100, lower=-101, upper=1)["deviation_pct"] == 188


NEVER = {"metric": "time_to_90pct_cwnd", "subject": "flow:0", "unit": "s"}


@pytest.mark.parametrize(
    ("changes", "verdict", "reason"),
    [
        ({"select": {"protocol": "Reno"}, **NEVER}, "not_reproduced", "never reached in this run"),
        ({"value": 50, "lower": 49, "upper": 51, "known_miss": "odd"}, "not_reproduced", "odd"),
        ({"value": 50, "lower": 49, "upper": 51}, "not_reproduced", "outside its bounds"),
        ({"known_miss": "odd"}, "reproduced", "unexpected match: it is listed as a known miss"),
        ({}, "reproduced", "within its bounds"),
        ({"scenario": "empty"}, "not_run", "no run of this tier measures it"),
    ],
)
def test_a_verdict_has_a_reason(
    plan: Plan, metrics: pl.DataFrame, changes: dict[str, Any], verdict: str, reason: str
) -> None:
    number = _verdict(plan, metrics, **changes)
    assert (number["verdict"], number["reason"]) == (verdict, reason)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"select": {"protocol": "HS"}}, "ambiguous selector: utilization fits 3 rows"),
        ({"unit": "Mbit/s"}, "n: unit: the number is in 'Mbit/s', and utilization is measured in"),
    ],
)
def test_what_only_the_runs_show_to_be_wrong_is_refused(
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
    ("lower", "upper", "verdict", "margin", "shown"),
    [
        (88.0, 95.0, "reproduced", 0, 2),  # both on a bound, and equally far from 91.5
        (89.0, 95.0, "close", -1 / 3, 1),  # 88 misses them by 1, 95 lies within
        (90.0, 94.0, "close", -1, 0),
    ],
)
def test_a_number_of_several_runs_counts_once_and_is_what_the_worst_of_them_is(
    plan: Plan,
    metrics: pl.DataFrame,
    lower: float,
    upper: float,
    verdict: str,
    margin: float,
    shown: int,
) -> None:
    card = score(plan, metrics, Expectations(_parts(lower, upper)))
    (number,) = card["numbers"]
    assert (number["id"], number["verdict"], number["measured"]) == ("both", verdict, 88.0)
    assert number["margin"] == pytest.approx(margin)
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
    for name, kind in (("second", "fitted"), ("x", "blind")):
        chosen = {"known_miss": "odd", "found": "chosen on", "chosen_on": [name]}
        rows = [
            row.model_copy(update={**chosen, "note": note})
            for row, note in zip(_parts(90.0, 95.0), ("one", "two"), strict=True)
        ]
        (number,) = score(plan, metrics, Expectations(rows))["numbers"]
        assert (number["known_miss"], number["note"]) == ("odd", "one two")
        assert (number["kind"], {each["kind"] for each in number["parts"]}) == (kind, {kind})
        assert number["reason"] == "1 of 2 runs show it. Odd."
        assert number["verdict"] == "close"
        assert [each["measured"] for each in number["parts"]] == [88.0, 95.0]


def test_blind_and_fitted_numbers_are_counted_apart(plan: Plan, metrics: pl.DataFrame) -> None:
    chosen: Any = {"found": "chosen on", "chosen_on": ["fit*"]}
    numbers = [
        published_number(id="fitted", **chosen),
        published_number(id="blind-miss", **chosen, value=50.0, lower=49.0, upper=51.0),
        published_number(id="told"),
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
