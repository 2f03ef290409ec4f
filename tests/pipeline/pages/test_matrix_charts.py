"""Matrices of pairs and points: the contents of cells, cells not run, and missing charts."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from pydantic import ValidationError

from bdpbench.metrics import DEFINITIONS, METRICS_SCHEMA
from bdpbench.pages.inputs import ReportData
from bdpbench.pages.matrices import Matrix
from bdpbench.pages.matrix_charts import matrix_groups

KEYS = ("A", "B")
EMPTY = pl.DataFrame(schema=METRICS_SCHEMA)
TITLES: Any = [each.as_document() for each in DEFINITIONS.values()]


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
        {
            "run_id": run_id,
            "scenario": "pairs",
            "metric": metric,
            "subject": "run",
            "value": value,
            "unit": "1",
        }
        for (run_id, metric), value in values.items()
    ]
    return pl.DataFrame(rows, schema_overrides={"value": pl.Float64}) if rows else EMPTY


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
        definitions=TITLES,
        run_info=dict.fromkeys(finished),
        study=replace(inputs.study, matrices=matrices),
    )
    return matrix_groups(ReportData(given, 200))


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
    assert "A-TCP and B-TCP: 0.51" in matrix.alternative


def test_pairs_that_were_not_run_keep_their_place(inputs: Any) -> None:
    (group,) = _groups(inputs, RUNS, {(RUNS[1]["run_id"], "asymmetry"): 0.5})
    axis = group.charts[0].content["spec"]["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert axis == ["0|A-TCP", "0|B-TCP"]


def test_without_a_run_there_is_no_empty_chart(inputs: Any) -> None:
    (group,) = _groups(inputs, RUNS, {})
    assert (group.finished, group.planned, group.charts) == (0, 4, ())


def test_flows_that_sent_nothing_have_no_cell(inputs: Any) -> None:
    (group,) = _groups(inputs, RUNS, {(RUNS[0]["run_id"], "asymmetry"): None})
    assert group.charts == ()


def test_each_condition_has_its_matrix(inputs: Any) -> None:
    runs = [_run(a, b, buffer_pkts=buffer) for buffer in (40, 7776) for a in KEYS for b in KEYS]
    (group,) = _groups(inputs, runs, {(run["run_id"], "asymmetry"): 0.1 for run in runs})
    assert [chart.title for chart in group.charts] == [
        "Asymmetry of the two flows, buffer 40 packets",
        "Asymmetry of the two flows, buffer 7,776 packets",
    ]


@pytest.mark.parametrize("pair", [("A", "A"), ("B", "B")])
def test_scenarios_of_one_protocol_are_no_pairs(inputs: Any, pair: tuple[str, str]) -> None:
    assert _groups(inputs, [_run(*pair)], {}) == []


def test_any_two_parameters_make_a_matrix(inputs: Any) -> None:
    """Utilization over buffer and RTT, one matrix per protocol, with numbers in ascending order."""
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
        }
    )
    values = {(str(run["run_id"]), "utilization"): 50.0 + i for i, run in enumerate(runs)}
    (group,) = _groups(inputs, runs, values, matrix)
    assert [chart.title for chart in group.charts] == [
        "Link utilization, A-TCP",
        "Link utilization, B-TCP",
    ]
    assert _cells(group.charts[0])[0] == ("220 ms", "1,555 packets", "50")
    encoding = group.charts[0].content["spec"]["layer"][0]["encoding"]
    assert encoding["y"]["scale"]["domain"] == ["0|20 ms", "0|220 ms"]
    assert encoding["x"]["scale"]["domain"] == ["0|40 packets", "0|1,555 packets"]
    scale = encoding["color"]["scale"]
    assert scale["domain"] == pytest.approx([0, 100 / 3, 200 / 3, 100])
    assert scale["range"][-1] == "#ffffd9"  # light where the link is full, as its metric declares


def _grid(**parameters: list[Any]) -> list[dict[str, Any]]:
    """Runs with all combinations of values; the BDP and the time follow from the RTT."""
    names = list(parameters)
    runs = []
    for values in itertools.product(*parameters.values()):
        own = dict(zip(names, values, strict=True))
        rtt_ms = own.get("rtt_ms", 10)
        label = ", ".join(f"{name} {value}" for name, value in own.items())
        more = {"bdp_pkts": 5.0 * rtt_ms, "duration_s": 100 + rtt_ms}
        runs.append(
            {"run_id": label, "scenario": "pairs", "label": label, "parameters": {**own, **more}}
        )
    return runs


GRID: dict[str, Any] = {
    "scenario": "pairs",
    "metric": "total_throughput",
    "rows": {"parameter": "rtt_ms", "title": "RTT"},
    "columns": {"parameter": "buffer_pkts", "title": "buffer"},
}


def _charts(inputs: Any, runs: list[dict[str, Any]], given: Any, **matrix: Any) -> Any:
    """Charts of a matrix; ``given`` maps the parameters of a run to its value."""
    (group,) = _declared(inputs, runs, given, **matrix)
    return group.charts


def _declared(inputs: Any, runs: list[dict[str, Any]], given: Any, **matrix: Any) -> list[Any]:
    """The group of a matrix, if it has a chart."""
    values = {(run["run_id"], "total_throughput"): given(run["parameters"]) for run in runs}
    return _groups(inputs, runs, values, Matrix.model_validate({**GRID, **matrix}))


def _rows(chart: Any) -> list[dict[str, Any]]:
    """The cells in the data of a chart."""
    found: list[dict[str, Any]] = next(
        rows for rows in chart.content["spec"]["datasets"].values() if "run_id" in rows[0]
    )
    return found


def test_repetitions_are_one_cell_and_told(inputs: Any) -> None:
    runs = _grid(rtt_ms=[10, 20], buffer_pkts=[5], substream=[1, 2])
    (chart,) = _charts(inputs, runs, lambda own: own["rtt_ms"] + own["substream"])
    assert _cells(chart) == [("10 ms", "5 packets", "11.5"), ("20 ms", "5 packets", "21.5")]
    assert chart.note == "A value is the mean of 2 runs."
    (first, _) = _rows(chart)
    assert first["run_id"] == runs[0]["run_id"]
    assert first["run"] == "mean of 2 runs; click to list them"
    listed = [line.split("\t") for line in first["runs"].split("\n")]
    assert listed == [[run["run_id"], run["label"]] for run in runs[:2]]
    # The cells decide the ends of the colour scale if the study gives none.
    scale = chart.content["spec"]["layer"][0]["encoding"]["color"]["scale"]
    assert scale["domain"] == pytest.approx([11.5, 11.5 + 10 / 3, 21.5 - 10 / 3, 21.5])


@pytest.mark.parametrize(
    ("values", "domain", "ends"),
    [
        ((0.6, 1.2), [0.6, 0.8, 1, 1.2, 1.4], ("#08519c", "#a63603")),  # on both sides of 1
        ((0.4, 0.7), [0.4, 0.5, 0.6, 0.7], ("#253494", "#ffffd9")),  # nearer to 1 is lighter
        ((2.0, 5.0), [2, 3, 4, 5], ("#ffffd9", "#253494")),
    ],
)
def test_colours_show_the_distance_from_what_a_metric_is_compared_with(
    inputs: Any, values: tuple[float, float], domain: list[float], ends: tuple[str, str]
) -> None:
    runs = _grid(rtt_ms=[10, 20], buffer_pkts=[5])
    known = dict(zip((10, 20), values, strict=True))
    matrix = Matrix.model_validate({**GRID, "metric": "fair_share_ratio"})
    metrics = {
        (str(run["run_id"]), "fair_share_ratio"): known[run["parameters"]["rtt_ms"]] for run in runs
    }
    (group,) = _groups(inputs, runs, metrics, matrix)
    scale = group.charts[0].content["spec"]["layer"][0]["encoding"]["color"]["scale"]
    assert scale["domain"] == pytest.approx(domain)
    assert (scale["range"][0], scale["range"][-1]) == ends


def test_a_run_stands_in_the_cells_of_all_its_values(inputs: Any) -> None:
    runs = _grid(rtt_ms=[10, 20], buffer_pkts=[5], protocol=["HS"])
    runs[0]["alike"] = {"buffer_pkts": [3, 4]}
    (chart,) = _charts(inputs, runs, lambda own: own["rtt_ms"])
    assert _cells(chart) == [
        ("10 ms", "5 packets", "10"),
        ("10 ms", "3 packets", "10"),
        ("10 ms", "4 packets", "10"),
        ("20 ms", "5 packets", "20"),
    ]


def test_what_a_matrix_leaves_open_has_charts_of_its_own_or_a_mean(inputs: Any) -> None:
    runs = _grid(rtt_ms=[10, 20], buffer_pkts=[5, 50], queue=["DropTail", "RED"])
    by_queue = _charts(inputs, runs, lambda own: 1.0)
    # Neither the BDP nor the time is a condition, as both follow from the RTT.
    assert [chart.title for chart in by_queue] == [
        "Total throughput, queue DropTail",
        "Total throughput, queue RED",
    ]
    only = _charts(inputs, runs, lambda own: 1.0, only={"queue": ["RED"]})
    assert [chart.title for chart in only] == ["Total throughput"]
    (mean,) = _charts(inputs, runs, lambda own: 2.0 * (own["queue"] == "RED"), mean_over=["queue"])
    assert {text for *_, text in _cells(mean)} == {"1"}


def test_panels_stand_side_by_side_on_one_scale(inputs: Any) -> None:
    runs = _grid(rtt_ms=[10, 20], buffer_pkts=[5, 50], protocol=["B", "A"])
    (chart,) = _charts(
        inputs,
        runs,
        lambda own: own["rtt_ms"] + (own["protocol"] == "A"),
        panels="protocol",
    )
    spec = chart.content["spec"]
    x, y = (spec["layer"][0]["encoding"][axis]["scale"]["domain"] for axis in "xy")
    # Panels in the order of the study, with a gap between them and a line of titles above.
    assert x == ["0|5 packets", "0|50 packets", "1|", "1|5 packets", "1|50 packets"]
    assert y == ["0|", "0|10 ms", "0|20 ms"]
    cells = {(row["x"], row["y"]): (row["panel"], row["value"]) for row in _rows(chart)}
    assert cells["0|5 packets", "0|10 ms"] == ("A-TCP", 11)
    assert cells["1|50 packets", "0|20 ms"] == ("B-TCP", 20)
    heads = [rows for rows in spec["datasets"].values() if "title" in rows[0]]
    assert [(row["x"], row["title"]) for row in heads[0]] == [
        ("0|5 packets", "A-TCP"),
        ("1|5 packets", "B-TCP"),
    ]
    domain = spec["layer"][0]["encoding"]["color"]["scale"]["domain"]
    assert domain == pytest.approx([10, 10 + 11 / 3, 21 - 11 / 3, 21])
    assert "A-TCP: 10 ms and 5 packets: 11" in chart.alternative


def test_many_panels_go_on_below_and_narrow_cells_have_no_numbers(inputs: Any) -> None:
    buffers, rtts = list(range(1, 11)), [10, 20, 30]
    runs = _grid(rtt_ms=rtts, buffer_pkts=buffers, flows=[1, 2, 3, 4])
    (chart,) = _charts(inputs, runs, lambda own: 1.0 * own["flows"], panels="flows")
    spec = chart.content["spec"]
    # Two panels of ten columns and a gap fit into a line of at most 22.
    assert len(spec["layer"][0]["encoding"]["x"]["scale"]["domain"]) == 21
    assert len(spec["layer"][0]["encoding"]["y"]["scale"]["domain"]) == 2 * (1 + 3)
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["rect", "text"]
    assert {row["y"] for row in _rows(chart) if row["panel"] == "flows 3"} == {
        "1|10 ms",
        "1|20 ms",
        "1|30 ms",
    }


def test_the_map_of_winners_tells_who_is_ahead_by_how_much(inputs: Any) -> None:
    runs = _grid(rtt_ms=[10, 20, 30], buffer_pkts=[5], protocol=["A", "B"], substream=[1, 2])
    table = {("A", 10): 50.0, ("B", 10): 30.0, ("A", 20): 20.0, ("B", 20): 25.0}
    table |= {("A", 30): 10.0, ("B", 30): 10.5}

    def value(own: dict[str, Any]) -> float:
        return table[own["protocol"], own["rtt_ms"]] + (1 if own["substream"] == 1 else -1)

    (chart,) = _charts(inputs, runs, value, winner={"among": "protocol", "least_lead": 1})
    assert chart.title == "Total throughput: protocol with the largest"
    told = [
        (row["row"], row["winner"], row["best"], row["second"], row["lead"], row["text"])
        for row in _rows(chart)
    ]
    assert told == [
        ("10 ms", "A-TCP", 50, "B-TCP", 20, "+20"),
        ("20 ms", "B-TCP", 25, "A-TCP", 5, "+5"),
        ("30 ms", "nobody is ahead", 10.5, "B-TCP and A-TCP", 0.5, "="),
    ]
    assert [row["share"] for row in _rows(chart)] == [1, 0.25, 0]  # of the largest lead; no win
    # A click opens a run of the winner.
    assert "protocol B" in _rows(chart)[1]["run_id"]
    assert chart.note == (
        "A lead of less than 1 does not count as a win. A value is the mean of 2 runs."
    )
    assert chart.content["labels"] == ["A-TCP", "B-TCP", "nobody is ahead"]
    # Which value wins is declared by the metric.
    of_queues = Matrix.model_validate(
        {**GRID, "metric": "mean_queue", "winner": {"among": "protocol"}}
    )
    values = {(run["run_id"], "mean_queue"): value(run["parameters"]) for run in runs}
    (least,) = _groups(inputs, runs, values, of_queues)[0].charts
    assert least.title == "Mean queue: protocol with the smallest"
    assert [row["winner"] for row in _rows(least)] == ["B-TCP", "A-TCP", "A-TCP"]


def test_who_is_alone_in_a_cell_wins_nothing(inputs: Any) -> None:
    runs = _grid(rtt_ms=[10], buffer_pkts=[5], protocol=["A"])
    assert _declared(inputs, runs, lambda own: 1.0, winner={"among": "protocol"}) == []


def test_a_metric_of_several_flows_has_a_matrix_each_or_that_of_one(inputs: Any) -> None:
    runs = _grid(rtt_ms=[10], buffer_pkts=[5, 50])
    rows = [
        {
            "run_id": run["run_id"],
            "scenario": "pairs",
            "metric": "total_throughput",
            "subject": f"flow:{flow}",
            "value": 10.0 * flow + run["parameters"]["buffer_pkts"],
            "unit": "Mbit/s",
        }
        for run in runs
        for flow in (0, 1)
    ]
    plan: Any = _plan(runs)

    def charts(**more: Any) -> Any:
        matrix = Matrix.model_validate({**GRID, **more})
        study = replace(inputs.study, matrices=[matrix])
        given = replace(
            inputs.frozen(),
            plan=plan,
            metrics=pl.DataFrame(rows),
            definitions=TITLES,
            run_info={str(run["run_id"]): None for run in runs},
            study=study,
        )
        return matrix_groups(ReportData(given, 200))[0].charts

    assert [chart.title for chart in charts()] == [
        "Total throughput, flow 1",
        "Total throughput, flow 2",
    ]
    assert [text for *_, text in _cells(charts()[1])] == ["15", "60"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"panels": "rtt_ms"}, "panels: rtt_ms is already part"),
        ({"mean_over": ["buffer_pkts"]}, "mean_over: buffer_pkts is already part"),
        ({"winner": {"among": "protocol"}, "ends": [0, 1]}, "winner: its colours"),
    ],
)
def test_what_does_not_go_together_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Matrix.model_validate({**GRID, **changes})


@pytest.mark.parametrize("matrix", [{"mean_over": ["protocol"]}, {"winner": {"among": "protocol"}}])
def test_cells_that_lack_a_run_stay_empty(inputs: Any, matrix: dict[str, Any]) -> None:
    # Of the first cell three of four runs are there, of both competitors; of the second all.
    runs = _grid(rtt_ms=[10, 20], buffer_pkts=[5], protocol=["A", "B"], substream=[1, 2])
    values = {(run["run_id"], "total_throughput"): float(i) for i, run in enumerate(runs)}
    del values[runs[3]["run_id"], "total_throughput"]
    declared = Matrix.model_validate({**GRID, **matrix})
    (group,) = _groups(inputs, runs, values, declared)
    (chart,) = group.charts
    assert {row["row"] for row in _rows(chart)} == {"20 ms"}
    assert chart.note.endswith("1 cell is empty until all of its runs have been simulated.")
