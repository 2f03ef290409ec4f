"""Matrices of pairs and points: the contents of cells, cells not run, and missing charts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
from tests.data_of import yaml_of
from tests.make import combinations
from tests.pipeline.pages import golden
from tests.pipeline.pages.synthetic import Inputs

from bdpbench.metrics import DEFINITIONS, METRICS_SCHEMA
from bdpbench.pages.inputs import ReportData
from bdpbench.pages.matrices import Matrix
from bdpbench.pages.matrix_charts import MatrixGroup, matrix_groups

TITLES: Any = [each.as_document() for each in DEFINITIONS.values()]
GRID: dict[str, Any] = {
    "scenario": "pairs",
    "metric": "total_throughput",
    "rows": {"parameter": "rtt_ms", "title": "RTT"},
    "columns": {"parameter": "buffer_pkts", "title": "buffer"},
}


def _grid(parameters: Mapping[str, list[Any]], alike: Any) -> list[dict[str, Any]]:
    """Runs with all combinations of values; the BDP and the time follow from the RTT."""
    runs = []
    for own in combinations(parameters):
        rtt_ms = own.get("rtt_ms", 10)
        label = ", ".join(f"{name} {value}" for name, value in own.items())
        given = {**own, "bdp_pkts": 5.0 * rtt_ms, "duration_s": 100 + rtt_ms}
        runs.append({"run_id": label, "scenario": "pairs", "label": label, "parameters": given})
    runs[0] |= {"alike": alike} if alike else {}
    return runs


def _groups(inputs: Inputs, case: Mapping[str, Any]) -> list[MatrixGroup]:
    runs, values = _grid(case["runs"], case.get("alike")), case["values"]
    if not isinstance(values, list):
        values = [run["parameters"].get(values, values) for run in runs]
    declared = [Matrix.model_validate({**GRID, **case["matrix"]})] if "matrix" in case else []
    metric = declared[0].metric if declared else "asymmetry"
    rows = [
        (run["run_id"], "pairs", metric, subject, value, "1")
        for run, value in zip(runs, values, strict=False)
        for subject in case.get("subjects", ["run"])
    ]
    names = ("run_id", "scenario", "metric", "subject", "value", "unit")
    schema = {name: METRICS_SCHEMA[name] for name in names}
    plan: Any = {
        "protocols": {key: {"label": f"{key}-TCP", "colour": "#123456"} for key in "AB"},
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


def test_matrices_show_what_they_showed(inputs: Inputs) -> None:
    lines: list[str] = []
    seen: set[str] = set()
    for case in yaml_of(Path(__file__).with_name("matrix_charts.yaml").read_text()):
        lines.append(f"\n# {case['case']}")
        for group in _groups(inputs, case):
            lines.append(f"{group.title}: {group.finished} of {group.planned}")
            lines += [golden.told(chart, 3, seen) for chart in group.charts]
    golden.compare("matrices.txt", "\n".join(lines))
