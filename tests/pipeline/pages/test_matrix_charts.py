"""Matrices of pairs and points: the contents of cells, cells not run, and missing charts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from bdpbench.metrics import DEFINITIONS, METRICS_SCHEMA
from bdpbench.pages.inputs import ReportData
from bdpbench.pages.matrices import Matrix
from bdpbench.pages.matrix_charts import matrix_groups

KEYS = ["A", "B"]
TITLES: Any = [each.as_document() for each in DEFINITIONS.values()]
GRID: dict[str, Any] = {
    "scenario": "pairs",
    "metric": "total_throughput",
    "rows": {"parameter": "rtt_ms", "title": "RTT"},
    "columns": {"parameter": "buffer_pkts", "title": "buffer"},
}


def _grid(**parameters: list[Any]) -> list[dict[str, Any]]:
    """Runs with all combinations of values; the BDP and the time follow from the RTT."""
    runs = []
    for values in itertools.product(*parameters.values()):
        own = dict(zip(parameters, values, strict=True))
        rtt_ms = own.get("rtt_ms", 10)
        label = ", ".join(f"{name} {value}" for name, value in own.items())
        more = {"bdp_pkts": 5.0 * rtt_ms, "duration_s": 100 + rtt_ms}
        runs.append(
            {"run_id": label, "scenario": "pairs", "label": label, "parameters": {**own, **more}}
        )
    return runs


PAIRS = _grid(protocol_1=KEYS, protocol_2=KEYS)


def _groups(
    inputs: Any,
    runs: list[dict[str, Any]],
    values: Sequence[float | None] | Callable[[dict[str, Any]], float],
    matrix: dict[str, Any] | None = None,
    subjects: Sequence[str] = ("run",),
) -> list[Any]:
    """Groups of matrices of runs, the first of which have these values; the others are not run."""
    given = [values(run["parameters"]) for run in runs] if callable(values) else values
    declared = [] if matrix is None else [Matrix.model_validate({**GRID, **matrix})]
    metric = declared[0].metric if declared else "asymmetry"
    rows = [
        (run["run_id"], "pairs", metric, subject, value, "1")
        for run, value in zip(runs, given, strict=False)
        for subject in subjects
    ]
    names = ("run_id", "scenario", "metric", "subject", "value", "unit")
    schema = {name: METRICS_SCHEMA[name] for name in names}
    plan: Any = {
        "protocols": {key: {"label": f"{key}-TCP", "colour": "#123456"} for key in KEYS},
        "scenarios": {"pairs": {"title": "Pairs"}},
        "runs": runs,
        "parameters": {},
    }
    data = replace(
        inputs.frozen(),
        plan=plan,
        metrics=pl.DataFrame(rows, schema=schema, orient="row"),
        definitions=TITLES,
        run_info=dict.fromkeys(run_id for run_id, *_ in rows),
        study=replace(inputs.study, matrices=declared),
    )
    return matrix_groups(ReportData(data, 200))


def _charts(inputs: Any, runs: list[dict[str, Any]], values: Any, **matrix: Any) -> Any:
    (group,) = _groups(inputs, runs, values, matrix)
    return group.charts


def _rows(chart: Any) -> list[dict[str, Any]]:
    """The cells in the data of a chart."""
    data = chart.content["spec"]["datasets"].values()
    return next(rows for rows in data if "run_id" in rows[0])


def _cells(chart: Any) -> list[tuple[Any, ...]]:
    return [(row["row"], row["column"], row["text"]) for row in _rows(chart)]


def _scale(chart: Any, channel: str = "color") -> Any:
    return chart.content["spec"]["layer"][0]["encoding"][channel]["scale"]


def test_the_first_flow_is_the_row_and_its_gain_positive(inputs: Any) -> None:
    (group,) = _groups(inputs, PAIRS, [0.0, 0.514, -0.996])
    assert (group.finished, group.planned) == (3, 4)
    (matrix,) = group.charts
    assert _cells(matrix) == [
        ("A-TCP", "A-TCP", "0.00"),
        ("A-TCP", "B-TCP", "0.51"),
        ("B-TCP", "A-TCP", "−1.00"),
    ]
    assert _scale(matrix)["domain"] == [-1, -0.5, 0, 0.5, 1]
    assert _scale(matrix)["range"][2] == "#ffffff"
    assert "A-TCP and B-TCP: 0.51" in matrix.alternative


def test_pairs_that_were_not_run_keep_their_place(inputs: Any) -> None:
    (group,) = _groups(inputs, PAIRS, [0.5])
    assert _scale(group.charts[0], "y")["domain"] == ["A-TCP", "B-TCP"]
    # Without a value there is no empty chart: nothing is run, or flows sent nothing.
    for values in ([], [None]):
        (group,) = _groups(inputs, PAIRS, values)
        assert (group.finished, group.planned, group.charts) == (len(values), 4, ())
    for key in KEYS:  # of one protocol, they are no pairs
        assert _groups(inputs, _grid(protocol_1=[key], protocol_2=[key]), []) == []


def test_each_condition_has_its_matrix(inputs: Any) -> None:
    runs = _grid(buffer_pkts=[40, 7776], protocol_1=KEYS, protocol_2=KEYS)
    (group,) = _groups(inputs, runs, lambda own: 0.1)
    assert [chart.title for chart in group.charts] == [
        "Asymmetry of the two flows, buffer 40 packets",
        "Asymmetry of the two flows, buffer 7,776 packets",
    ]


def test_any_two_parameters_make_a_matrix(inputs: Any) -> None:
    """Utilization over buffer and RTT, one matrix per protocol, with numbers in ascending order."""
    runs = _grid(protocol=KEYS, rtt_ms=[220, 20], buffer_pkts=[1555, 40])
    values = [50.0 + place for place, _ in enumerate(runs)]
    charts = _charts(inputs, runs, values, metric="utilization", ends=[0, 100])
    assert [chart.title for chart in charts] == [
        "Link utilization, A-TCP",
        "Link utilization, B-TCP",
    ]
    assert _cells(charts[0])[0] == ("220 ms", "1,555 packets", "50")
    assert _scale(charts[0], "y")["domain"] == ["20 ms", "220 ms"]
    assert _scale(charts[0], "x")["domain"] == ["40 packets", "1,555 packets"]
    assert _scale(charts[0])["domain"] == pytest.approx([0, 100 / 3, 200 / 3, 100])
    # Light where the link is full, as its metric declares.
    assert _scale(charts[0])["range"][-1] == "#ffffd9"


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
    ends = pytest.approx([11.5, 11.5 + 10 / 3, 21.5 - 10 / 3, 21.5])
    assert _scale(chart)["domain"] == ends


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
    (chart,) = _charts(inputs, runs, values, metric="fair_share_ratio")
    assert _scale(chart)["domain"] == pytest.approx(domain)
    assert (_scale(chart)["range"][0], _scale(chart)["range"][-1]) == ends


def test_a_run_stands_in_the_cells_of_all_its_values(inputs: Any) -> None:
    runs = _grid(rtt_ms=[10, 20], buffer_pkts=[5], protocol=["HS"])
    runs[0]["alike"] = {"buffer_pkts": [3, 4]}
    (chart,) = _charts(inputs, runs, lambda own: own["rtt_ms"])
    shown = [("10 ms", 5, "10"), ("10 ms", 3, "10"), ("10 ms", 4, "10"), ("20 ms", 5, "20")]
    assert _cells(chart) == [(row, f"{pkts} packets", text) for row, pkts, text in shown]


def test_what_a_matrix_leaves_open_has_charts_of_its_own_or_a_mean(inputs: Any) -> None:
    runs = _grid(rtt_ms=[10, 20], buffer_pkts=[5, 50], queue=["DropTail", "RED"])
    # Neither the BDP nor the time is a condition, as both follow from the RTT.
    by_queue = [chart.title for chart in _charts(inputs, runs, lambda own: 1.0)]
    assert by_queue == [f"Total throughput, queue {queue}" for queue in ("DropTail", "RED")]
    only = _charts(inputs, runs, lambda own: 1.0, only={"queue": ["RED"]})
    assert [chart.title for chart in only] == ["Total throughput"]
    (mean,) = _charts(inputs, runs, lambda own: 2.0 * (own["queue"] == "RED"), mean_over=["queue"])
    assert {text for *_, text in _cells(mean)} == {"1"}


def test_panels_stand_side_by_side_on_one_scale(inputs: Any) -> None:
    runs = _grid(rtt_ms=[10, 20], buffer_pkts=[5, 50], protocol=["B", "A"])
    (chart,) = _charts(
        inputs, runs, lambda own: own["rtt_ms"] + (own["protocol"] == "A"), panels="protocol"
    )
    # Panels in the order of the study, with a gap between them and a line of titles above.
    across = ["0|5 packets", "0|50 packets", "1|", "1|5 packets", "1|50 packets"]
    assert _scale(chart, "x")["domain"] == across
    assert _scale(chart, "y")["domain"] == ["0|", "0|10 ms", "0|20 ms"]
    cells = {(row["x"], row["y"]): (row["panel"], row["value"]) for row in _rows(chart)}
    assert cells["0|5 packets", "0|10 ms"] == ("A-TCP", 11)
    assert cells["1|50 packets", "0|20 ms"] == ("B-TCP", 20)
    heads = [rows for rows in chart.content["spec"]["datasets"].values() if "title" in rows[0]]
    titles = [(row["x"], row["title"]) for row in heads[0]]
    assert titles == [("0|5 packets", "A-TCP"), ("1|5 packets", "B-TCP")]
    assert _scale(chart)["domain"] == pytest.approx([10, 10 + 11 / 3, 21 - 11 / 3, 21])
    assert "A-TCP: 10 ms and 5 packets: 11" in chart.alternative


def test_many_panels_go_on_below_and_narrow_cells_have_no_numbers(inputs: Any) -> None:
    runs = _grid(rtt_ms=[10, 20, 30], buffer_pkts=list(range(1, 11)), flows=[1, 2, 3, 4])
    (chart,) = _charts(inputs, runs, lambda own: 1.0 * own["flows"], panels="flows")
    # Two panels of ten columns and a gap fit into a line of at most 22.
    assert len(_scale(chart, "x")["domain"]) == 21
    assert len(_scale(chart, "y")["domain"]) == 2 * (1 + 3)
    layers = [layer["mark"]["type"] for layer in chart.content["spec"]["layer"]]
    assert layers == ["rect", "text"]
    third = {row["y"] for row in _rows(chart) if row["panel"] == "flows 3"}
    assert third == {"1|10 ms", "1|20 ms", "1|30 ms"}


def test_the_map_of_winners_tells_who_is_ahead_by_how_much(inputs: Any) -> None:
    runs = _grid(rtt_ms=[10, 20, 30], buffer_pkts=[5], protocol=KEYS, substream=[1, 2])
    table = {("A", 10): 50.0, ("B", 10): 30.0, ("A", 20): 20.0, ("B", 20): 25.0}
    table |= {("A", 30): 10.0, ("B", 30): 10.5}

    def value(own: dict[str, Any]) -> float:
        return table[own["protocol"], own["rtt_ms"]] + (1 if own["substream"] == 1 else -1)

    (chart,) = _charts(inputs, runs, value, winner={"among": "protocol", "least_lead": 1})
    assert chart.title == "Total throughput: protocol with the largest"
    columns = ("row", "winner", "best", "second", "lead", "text", "share")
    assert [tuple(row[each] for each in columns) for row in _rows(chart)] == [
        ("10 ms", "A-TCP", 50, "B-TCP", 20, "+20", 1),
        ("20 ms", "B-TCP", 25, "A-TCP", 5, "+5", 0.25),  # a quarter of the largest lead
        ("30 ms", "nobody is ahead", 10.5, "B-TCP and A-TCP", 0.5, "=", 0),
    ]
    # A click opens a run of the winner.
    assert "protocol B" in _rows(chart)[1]["run_id"]
    assert chart.note == (
        "A lead of less than 1 does not count as a win. A value is the mean of 2 runs."
    )
    assert chart.content["labels"] == ["A-TCP", "B-TCP", "nobody is ahead"]
    # Which value wins is declared by the metric.
    among = {"among": "protocol"}
    (least,) = _charts(inputs, runs, value, metric="mean_queue", winner=among)
    assert least.title == "Mean queue: protocol with the smallest"
    assert [row["winner"] for row in _rows(least)] == ["B-TCP", "A-TCP", "A-TCP"]
    # Who is alone in a cell wins nothing.
    assert _groups(inputs, _grid(rtt_ms=[10], buffer_pkts=[5], protocol=["A"]),
                   [1.0], {"winner": among}) == []  # fmt: skip


def test_a_metric_of_several_flows_has_a_matrix_each(inputs: Any) -> None:
    runs = _grid(rtt_ms=[10], buffer_pkts=[5, 50])
    (group,) = _groups(inputs, runs, [15.0, 60.0], {}, ["flow:0", "flow:1"])
    titles = [chart.title for chart in group.charts]
    assert titles == ["Total throughput, flow 1", "Total throughput, flow 2"]
    assert [text for *_, text in _cells(group.charts[1])] == ["15", "60"]


@pytest.mark.parametrize("matrix", [{"mean_over": ["protocol"]}, {"winner": {"among": "protocol"}}])
def test_cells_that_lack_a_run_stay_empty(inputs: Any, matrix: dict[str, Any]) -> None:
    # Of the last cell three of four runs are there, of both competitors; of the first all.
    runs = _grid(rtt_ms=[10, 20], buffer_pkts=[5], protocol=KEYS, substream=[1, 2])
    (chart,) = _charts(inputs, runs, [float(place) for place in range(7)], **matrix)
    assert {row["row"] for row in _rows(chart)} == {"10 ms"}
    assert chart.note.endswith("1 cell is empty until all of its runs have been simulated.")
