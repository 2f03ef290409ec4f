"""Matrices of pairs and points: what is in a cell, what is not run, what has no chart."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from bdpbench.pages.assets import read_captions
from bdpbench.pages.comparison import pair_groups
from bdpbench.pages.names import Names
from bdpbench.pages.regions import Regions

KEYS = ("A", "B")
REGIONS = Regions(
    scenario="pairs",
    where="Figure 1",
    levels=5,
    pairs={"A": {"A": 1, "B": 4}},
    ranking=[["B"], ["A"]],
)


def _run(first: str, second: str, **parameters: Any) -> dict[str, Any]:
    run_id = f"{first}{second}{parameters}"
    values = {"protocol_1": first, "protocol_2": second, "duration_s": 500, **parameters}
    label = f"{first} and {second}"
    return {"run_id": run_id, "scenario": "pairs", "label": label, "parameters": values}


def _plan(runs: list[dict[str, Any]]) -> dict[str, Any]:
    protocols = {key: {"label": f"{key}-TCP", "colour": "#123456"} for key in KEYS}
    return {"protocols": protocols, "scenarios": {"pairs": {"title": "Pairs"}}, "runs": runs}


def _metrics(values: dict[tuple[str, str], float | None]) -> pl.DataFrame:
    rows = [
        {"run_id": run_id, "metric": metric, "value": value}
        for (run_id, metric), value in values.items()
    ]
    schema = {"run_id": pl.String, "metric": pl.String, "value": pl.Float64}
    return pl.DataFrame(rows, schema=schema)


def _groups(
    runs: list[dict[str, Any]],
    values: dict[tuple[str, str], float | None],
    regions: Regions | None = None,
) -> list[Any]:
    plan = _plan(runs)
    names = Names(plan, read_captions())
    finished = list(dict.fromkeys(run_id for run_id, _ in values))
    return pair_groups(plan, _metrics(values), finished, regions, names)


def _cells(chart: Any) -> list[tuple[Any, ...]]:
    (rows,) = chart.content["spec"]["datasets"].values()
    return [(row["row"], row["column"], row["text"]) for row in rows]


RUNS = [_run(first, second) for first in KEYS for second in KEYS]


def test_the_first_flow_is_the_row_and_its_gain_positive() -> None:
    (group,) = _groups(
        RUNS,
        {
            (RUNS[0]["run_id"], "asymmetry"): 0.0,
            (RUNS[1]["run_id"], "asymmetry"): 0.514,
            (RUNS[2]["run_id"], "asymmetry"): -0.996,
        },
    )
    assert (group.finished, group.planned) == (3, 4)
    (matrix,) = group.charts
    assert _cells(matrix) == [
        ("A-TCP", "A-TCP", "0.00"),
        ("A-TCP", "B-TCP", "0.51"),
        ("B-TCP", "A-TCP", "−1.00"),
    ]
    scale = matrix.content["spec"]["layer"][0]["encoding"]["color"]["scale"]
    assert scale["domain"] == [-1, -0.5, 0, 0.5, 1]
    assert scale["range"][2] == "#ffffff"
    assert "A-TCP before B-TCP: 0.51" in matrix.alternative


def test_pairs_that_were_not_run_keep_their_place() -> None:
    (group,) = _groups(RUNS, {(RUNS[1]["run_id"], "asymmetry"): 0.5})
    axis = group.charts[0].content["spec"]["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert axis == ["A-TCP", "B-TCP"]


def test_without_a_run_there_is_no_empty_chart() -> None:
    (group,) = _groups(RUNS, {})
    assert (group.finished, group.planned, group.charts) == (0, 4, ())


def test_flows_that_sent_nothing_have_no_cell() -> None:
    (group,) = _groups(RUNS, {(RUNS[0]["run_id"], "asymmetry"): None})
    assert group.charts == ()


def test_regions_stand_beside_their_own_scenario_only() -> None:
    values = {(RUNS[0]["run_id"], "asymmetry"): 0.1}
    (group,) = _groups(RUNS, values, REGIONS)
    assert _cells(group.charts[1]) == [("A-TCP", "A-TCP", "1"), ("A-TCP", "B-TCP", "4")]
    elsewhere = REGIONS.model_copy(update={"scenario": "others"})
    (group,) = _groups(RUNS, values, elsewhere)
    assert len(group.charts) == 1


def test_each_condition_has_its_matrix() -> None:
    runs = [_run(a, b, buffer_pkts=buffer) for buffer in (40, 7776) for a in KEYS for b in KEYS]
    (group,) = _groups(runs, {(run["run_id"], "asymmetry"): 0.1 for run in runs})
    assert [chart.title for chart in group.charts] == [
        "Asymmetry of the two flows, buffer 40 packets",
        "Asymmetry of the two flows, buffer 7,776 packets",
    ]


def test_points_come_in_the_printed_order() -> None:
    values = {(RUNS[0]["run_id"], "fairness_points"): 20.0}
    values |= {(RUNS[3]["run_id"], "fairness_points"): 12.0}
    (group,) = _groups(RUNS, values, REGIONS)
    bars = group.charts[-1].content["spec"]
    (rows,) = bars["datasets"].values()
    assert [(row["protocol"], row["text"]) for row in rows] == [
        ("B-TCP", "12; printed rank 1"),
        ("A-TCP", "20; printed rank 2"),
    ]


@pytest.mark.parametrize("pair", [("A", "A"), ("B", "B")])
def test_scenarios_of_one_protocol_are_no_pairs(pair: tuple[str, str]) -> None:
    assert _groups([_run(*pair)], {}) == []
