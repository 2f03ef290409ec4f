"""Which runs are charted together, and how their lines are told apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.data_of import yaml_of
from tests.pipeline.pages import golden

from bdpbench.pages.curves import curves, plan_views, time_chart
from bdpbench.pages.inputs import read_captions
from bdpbench.pages.names import Names, find_sweep

PROTOCOLS = {
    "HS": {"label": "HS-TCP", "colour": "#0000ff"},
    "Scalable": {"label": "Scalable TCP", "colour": "#ff0000"},
}
PLAN: Any = {"protocols": PROTOCOLS, "parameters": {}, "scenarios": {}, "runs": []}
NAMES = Names(PLAN, read_captions(), [])


def test_views_and_lines_are_what_they_were() -> None:
    lines = []
    for case in yaml_of(Path(__file__).with_name("curves.yaml").read_text()):
        runs: list[Any] = [
            {"run_id": key, "label": f"run {key}", "parameters": {"duration_s": 5, **own}}
            for key, own in case["runs"].items()
        ]
        sweep, table = find_sweep(runs), case.get("table", "cwnd")
        points = {subject: {"t": [0.0], "v": [0.0]} for subject in case.get("subjects", ["flow:0"])}
        lines.append(f"# {case['case']}: {sweep.main} {sweep.others}")
        for view in plan_views(runs, sweep, NAMES):
            series = {run["run_id"]: {table: points} for run in view.runs}
            lines.append(f"  view {view.title}: {' '.join(series)}")
            drawn = curves(view, table, series, sweep, NAMES)
            lines += [f"    {golden.flat(each)}" for each in drawn]
    golden.compare("curves.txt", "\n".join(lines))


def test_a_caption_speaks_of_dashed_lines_only_where_there_are_any() -> None:
    given = {"run_id": "a", "label": "a"}
    runs: Any = [
        {**given, "parameters": {"buffer_pkts": each, "duration_s": 5}} for each in (40, 200)
    ]
    assert "dashed buffer size" in time_chart("one", "queue", runs[:1], [], {}, NAMES).caption
    assert "dashed" not in time_chart("both", "queue", runs, [], {}, NAMES).caption


def test_an_unknown_protocol_has_the_dashes_of_the_first() -> None:
    assert NAMES.dash("unknown") == NAMES.dash("HS") != NAMES.dash("Scalable")
