"""Which runs and rows belong to a number or a claim."""

from __future__ import annotations

import polars as pl
import pytest

from bdpbench.contracts.plan import Plan, Scalar
from bdpbench.errors import BdpbenchError
from bdpbench.score.claims import Selector
from bdpbench.score.lookup import Lookup

LATE = Selector(scenario="one", select={"protocol": "Reno"}, metric="time_to_90pct_cwnd")


@pytest.mark.parametrize(("longest_s", "found"), [(500, 0), (50, 1)])
def test_never_is_no_finding_of_a_run_cut_short(
    plan: Plan, metrics: pl.DataFrame, longest_s: int, found: int
) -> None:
    # The run ended at 50 s, before it got there.
    plan["scenarios"]["one"]["longest_s"] = longest_s
    for run in plan["runs"]:
        run["parameters"]["duration_s"] = 50
    assert len(Lookup(plan, metrics).all(LATE)) == found


def test_a_value_counts_however_long_the_run_was(plan: Plan, metrics: pl.DataFrame) -> None:
    plan["scenarios"]["one"]["longest_s"] = 500
    for run in plan["runs"]:
        run["parameters"]["duration_s"] = 50
    asked = Selector(scenario="one", select={"protocol": "Reno"}, metric="utilization")
    row = Lookup(plan, metrics).one(asked)
    assert row is not None
    assert row.value == 50.0


@pytest.mark.parametrize(
    ("select", "found"),
    [
        ({}, ["a", "b", "c", "d"]),
        ({"protocol": "HS"}, ["a", "b", "c"]),
        ({"buffer_pkts": 40}, ["a", "d"]),
        ({"buffer_pkts": "40.0"}, ["a", "d"]),
        ({"buffer_pkts": "200"}, ["b"]),  # the run says 200.0
        ({"protocol": "Reno", "buffer_pkts": 40}, ["d"]),
        ({"protocol": "Reno", "buffer_pkts": 500}, []),
        ({"protocol": "40"}, []),
    ],
)
def test_runs_are_found_by_the_values_of_their_parameters(
    plan: Plan, metrics: pl.DataFrame, select: dict[str, Scalar], found: list[str]
) -> None:
    asked = Selector(scenario="one", select=select, metric="utilization")
    assert [run["run_id"] for run in Lookup(plan, metrics).runs(asked)] == found


def test_a_run_counts_as_often_as_it_has_values_in_a_mean(
    plan: Plan, metrics: pl.DataFrame
) -> None:
    plan["runs"][0]["alike"] = {"buffer_pkts": [10, 20]}
    lookup = Lookup(plan, metrics)
    asked = Selector(scenario="one", select={"protocol": "HS"}, metric="utilization")
    found = lookup.mean(asked, ["buffer_pkts"])
    assert found is not None
    # 88 with 10, 20 and 40 packets, then 95 and 99.
    assert found.value == pytest.approx((3 * 88 + 95 + 99) / 5)
    at_ten = Selector(scenario="one", select={"buffer_pkts": 10}, metric="utilization")
    one = lookup.one(at_ten)
    assert one is not None
    assert one.run_id == "a"


def test_a_mean_is_not_known_before_all_of_its_runs_are(plan: Plan, metrics: pl.DataFrame) -> None:
    asked = Selector(scenario="one", select={"protocol": "HS"}, metric="utilization")
    rest = metrics.filter(pl.col("run_id") != "b")
    assert Lookup(plan, rest).mean(asked, ["buffer_pkts"]) is None


@pytest.mark.parametrize(
    ("over", "said"),
    [("buffer_pkts", "of a and of d differ in more"), ("buffer_pkt", "did you mean 'buffer_pkts'")],
)
def test_a_mean_over_more_than_is_named_is_refused(
    plan: Plan, metrics: pl.DataFrame, over: str, said: str
) -> None:
    asked = Selector(scenario="one", metric="utilization")
    with pytest.raises(BdpbenchError, match=said):
        Lookup(plan, metrics).mean(asked, [over])
