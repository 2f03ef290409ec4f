"""Matrices of pairs and points: the contents of cells, cells not run, and missing charts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
from tests.pipeline.pages import golden
from tests.pipeline.pages.synthetic import Inputs

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
    inputs: Inputs,
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


def _sum(own: dict[str, Any]) -> float:
    return float(sum(value for value in own.values() if isinstance(value, int)))


_TWO = _grid(rtt_ms=[10, 20], buffer_pkts=[5])
_QUEUES = _grid(rtt_ms=[10, 20], buffer_pkts=[5, 50], queue=["DropTail", "RED"])
_REPEATED = _grid(rtt_ms=[10, 20, 30], buffer_pkts=[5], protocol=KEYS, substream=[1, 2])
_ALIKE = [{**run, "alike": {"buffer_pkts": [3, 4]}} for run in _TWO[:1]] + _TWO[1:]
_PANELS = _grid(rtt_ms=[10, 20, 30], buffer_pkts=list(range(1, 11)), flows=[1, 2, 3])
# Of the last cell three of four runs are there, of both competitors; of the first all.
_LACKING = (_REPEATED[:8], [float(place) for place in range(7)])
_AHEAD = [51.0, 49, 31, 29, 21, 19, 26, 24, 11, 9, 11.5, 9.5]  # A or B, twice at each RTT
_FAIR = {"metric": "fair_share_ratio"}
_WINNER = {"winner": {"among": "protocol"}}
CASES: dict[str, tuple[Any, ...]] = {
    "of pairs, one is not run; the first flow is the row and its gain positive": (
        PAIRS, [0.0, 0.514, -0.996]
    ),
    "pairs that were not run keep their place": (PAIRS, [0.5]),
    "nothing is run": (PAIRS, []),
    "flows sent nothing": (PAIRS, [None]),
    "of one protocol, they are no pairs": (_grid(protocol_1=["A"], protocol_2=["A"]), []),
    "each condition has its matrix": (
        _grid(buffer_pkts=[40, 7776], protocol_1=KEYS, protocol_2=KEYS), lambda own: 0.1
    ),
    "any two parameters; numbers ascend; light where the link is full": (
        _grid(protocol=KEYS, rtt_ms=[220, 20], buffer_pkts=[1555, 40]),
        [50.0 + place for place in range(8)],
        {"metric": "utilization", "ends": [0, 100]},
    ),
    "repetitions are one cell": (
        _grid(rtt_ms=[10, 20], buffer_pkts=[5], substream=[1, 2]), _sum, {}
    ),
    "values on both sides of 1, which is fair": (_TWO, [0.6, 1.2], _FAIR),
    "below it, nearer to 1 is lighter": (_TWO, [0.4, 0.7], _FAIR),
    "and above": (_TWO, [2.0, 5.0], _FAIR),
    "a run stands in the cells of all its values": (_ALIKE, _sum, {}),
    "what it leaves open has charts of its own, but not what follows from the RTT": (
        _QUEUES, _sum, {}
    ),
    "or is left out": (_QUEUES, _sum, {"only": {"queue": ["RED"]}}),
    "or is a mean": (_QUEUES, lambda own: 2.0 * (own["queue"] == "RED"), {"mean_over": ["queue"]}),
    "of three panels of ten columns two fit beside each other": (
        _PANELS, lambda own: float(own["flows"]), {"panels": "flows"}
    ),
    "who is ahead by how much; a quarter of the largest lead": (
        _REPEATED, _AHEAD, {"winner": {"among": "protocol", "least_lead": 1}}
    ),
    "the metric says that less is better": (_REPEATED, _AHEAD, {"metric": "mean_queue", **_WINNER}),
    "who is alone in a cell wins nothing": (
        _grid(rtt_ms=[10], buffer_pkts=[5], protocol=["A"]), [1.0], _WINNER
    ),
    "several flows have a matrix each": (
        _grid(rtt_ms=[10], buffer_pkts=[5, 50]), [15.0, 60.0], {}, ["flow:0", "flow:1"]
    ),
    "a mean that lacks a run stays empty": (*_LACKING, {"mean_over": ["protocol"]}),
    "so does a competition": (*_LACKING, _WINNER),
}  # fmt: skip


def test_matrices_show_what_they_showed(inputs: Inputs) -> None:
    lines = []
    for name, case in CASES.items():
        lines.append(f"\n# {name}")
        for group in _groups(inputs, *case):
            lines.append(f"{group.title}: {group.finished} of {group.planned}")
            lines += [golden.told(chart, 4) for chart in group.charts]
    golden.compare("matrices.txt", "\n".join(lines))
