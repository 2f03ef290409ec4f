"""Matrices of pairs and points: what is in a cell, what is not run, what has no chart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from bdpbench.metrics import DEFINITIONS
from bdpbench.pages.assets import read_captions
from bdpbench.pages.matrices import Matrix
from bdpbench.pages.matrix_groups import matrix_groups
from bdpbench.pages.names import Names

KEYS = ("A", "B")
TITLES: Any = [each.as_document() for each in DEFINITIONS.values()]
PAIRS = {
    "scenario": "pairs",
    "metric": "asymmetry",
    "rows": {"parameter": "protocol_1", "title": "starts first"},
    "columns": {"parameter": "protocol_2", "title": "starts second"},
    "ends": [-1, 1],
    "about_zero": True,
    "between": "before",
}
STATED = Matrix.model_validate(
    {
        **PAIRS,
        "stated": {
            "title": "Region",
            "where": "Figure 1",
            "levels": 5,
            "cells": {"A": {"A": 1, "B": 4}},
        },
        "points": {"metric": "fairness_points", "ranking": [["B"], ["A"]]},
    }
)


def _run(first: str, second: str, **parameters: Any) -> dict[str, Any]:
    run_id = f"{first}{second}{parameters}"
    values = {"protocol_1": first, "protocol_2": second, "duration_s": 500, **parameters}
    label = f"{first} and {second}"
    return {"run_id": run_id, "scenario": "pairs", "label": label, "parameters": values}


def _plan(runs: list[dict[str, Any]]) -> dict[str, Any]:
    protocols = {key: {"label": f"{key}-TCP", "colour": "#123456"} for key in KEYS}
    return {
        "protocols": protocols,
        "scenarios": {"pairs": {"title": "Pairs"}},
        "runs": runs,
        "parameters": {},
    }


def _metrics(values: dict[tuple[str, str], float | None]) -> pl.DataFrame:
    rows = [
        {"run_id": run_id, "metric": metric, "value": value}
        for (run_id, metric), value in values.items()
    ]
    schema = {"run_id": pl.String, "metric": pl.String, "value": pl.Float64}
    return pl.DataFrame(rows, schema=schema)


def _groups(
    inputs: Any,
    runs: list[dict[str, Any]],
    values: dict[tuple[str, str], float | None],
    *matrices: Matrix,
) -> list[Any]:
    plan: Any = _plan(runs)
    finished = {run_id for run_id, _ in values}
    given = replace(
        inputs.frozen(),
        plan=plan,
        metrics=_metrics(values),
        study=replace(inputs.study, matrices=matrices),
    )
    return matrix_groups(given, finished, Names(plan, read_captions(), TITLES))


def _cells(chart: Any) -> list[tuple[Any, ...]]:
    (rows,) = chart.content["spec"]["datasets"].values()
    return [(row["row"], row["column"], row["text"]) for row in rows]


RUNS = [_run(first, second) for first in KEYS for second in KEYS]


def test_the_first_flow_is_the_row_and_its_gain_positive(inputs: Any) -> None:
    (group,) = _groups(
        inputs,
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


def test_pairs_that_were_not_run_keep_their_place(inputs: Any) -> None:
    (group,) = _groups(inputs, RUNS, {(RUNS[1]["run_id"], "asymmetry"): 0.5})
    axis = group.charts[0].content["spec"]["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert axis == ["A-TCP", "B-TCP"]


def test_without_a_run_there_is_no_empty_chart(inputs: Any) -> None:
    (group,) = _groups(inputs, RUNS, {})
    assert (group.finished, group.planned, group.charts) == (0, 4, ())


def test_flows_that_sent_nothing_have_no_cell(inputs: Any) -> None:
    (group,) = _groups(inputs, RUNS, {(RUNS[0]["run_id"], "asymmetry"): None})
    assert group.charts == ()


def test_what_is_stated_stands_beside_its_own_scenario_only(inputs: Any) -> None:
    values = {(RUNS[0]["run_id"], "asymmetry"): 0.1}
    (group,) = _groups(inputs, RUNS, values, STATED)
    assert _cells(group.charts[1]) == [("A-TCP", "A-TCP", "1"), ("A-TCP", "B-TCP", "4")]
    elsewhere = STATED.model_copy(update={"scenario": "others"})
    (group,) = _groups(inputs, RUNS, values, elsewhere)
    assert len(group.charts) == 1


def test_each_condition_has_its_matrix(inputs: Any) -> None:
    runs = [_run(a, b, buffer_pkts=buffer) for buffer in (40, 7776) for a in KEYS for b in KEYS]
    (group,) = _groups(inputs, runs, {(run["run_id"], "asymmetry"): 0.1 for run in runs})
    assert [chart.title for chart in group.charts] == [
        "Asymmetry of the two flows, buffer 40 packets",
        "Asymmetry of the two flows, buffer 7,776 packets",
    ]


def test_points_come_in_the_printed_order(inputs: Any) -> None:
    values = {(RUNS[0]["run_id"], "fairness_points"): 20.0}
    values |= {(RUNS[3]["run_id"], "fairness_points"): 12.0}
    (group,) = _groups(inputs, RUNS, values, STATED)
    bars = group.charts[-1].content["spec"]
    (rows,) = bars["datasets"].values()
    assert [(row["protocol"], row["text"]) for row in rows] == [
        ("B-TCP", "12; printed rank 1"),
        ("A-TCP", "20; printed rank 2"),
    ]


@pytest.mark.parametrize("pair", [("A", "A"), ("B", "B")])
def test_scenarios_of_one_protocol_are_no_pairs(inputs: Any, pair: tuple[str, str]) -> None:
    assert _groups(inputs, [_run(*pair)], {}) == []


def test_any_two_parameters_make_a_matrix(inputs: Any) -> None:
    """Utilization over buffer and RTT, one matrix a protocol, numbers in their order."""
    runs = [
        {
            "run_id": f"{key}{rtt}{buffer}",
            "scenario": "pairs",
            "label": f"{key} {rtt} {buffer}",
            "parameters": {"protocol": key, "rtt_ms": rtt, "buffer_pkts": buffer},
        }
        for key in KEYS
        for rtt in (220, 20)
        for buffer in (1555, 40)
    ]
    matrix = Matrix.model_validate(
        {
            "scenario": "pairs",
            "metric": "utilization",
            "rows": {"parameter": "rtt_ms", "title": "RTT"},
            "columns": {"parameter": "buffer_pkts", "title": "buffer"},
            "ends": [0, 100],
            "stated": {
                "title": "Use",
                "where": "Table 9",
                "levels": [{"words": "poor", "up_to": 50}, {"words": "good", "up_to": 100}],
                "cells": {20: {40: 1}, 220: {1555: 2}},
            },
        }
    )
    values = {(str(run["run_id"]), "utilization"): 50.0 + i for i, run in enumerate(runs)}
    (group,) = _groups(inputs, runs, values, matrix)
    assert [chart.title for chart in group.charts] == [
        "Link utilization, protocol A",
        "Link utilization, protocol B",
        "Use, Table 9",
    ]
    assert _cells(group.charts[0])[0] == ("220 ms", "1,555 packets", "50")
    encoding = group.charts[0].content["spec"]["layer"][0]["encoding"]
    assert encoding["y"]["scale"]["domain"] == ["20 ms", "220 ms"]
    assert encoding["x"]["scale"]["domain"] == ["40 packets", "1,555 packets"]
    assert encoding["color"]["scale"]["domain"] == [0, 100]
    assert _cells(group.charts[2]) == [
        ("20 ms", "40 packets", "1"),
        ("220 ms", "1,555 packets", "2"),
    ]
    assert group.charts[2].caption == "1: poor, up to 50; 2: good, up to 100."
