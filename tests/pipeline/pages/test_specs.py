"""Specifications of charts: thresholds, scales, and no need for a network."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jsonschema
import polars as pl
import pytest
from tests.pipeline.pages import golden

from bdpbench.errors import BdpbenchError
from bdpbench.pages.analysis import samples_spec
from bdpbench.pages.curves import line_spec, thresholds, time_specs
from bdpbench.pages.exports import Charts
from bdpbench.pages.inputs import read_captions
from bdpbench.pages.matrix_charts import Axes, valued_matrix, winner_matrix
from bdpbench.pages.specs import number
from bdpbench.pages.sweep_charts import (
    Abscissa,
    interval_bars,
    sweep_spec,
    tradeoff_spec,
)
from bdpbench.pages.texts import StudyPage

CDF = {"min_th_pkts": 15.0, "max_th_pkts": 45.0}


@pytest.mark.parametrize(
    ("table", "runs", "filled", "lines"),
    [
        # 0.9 · 7,775 = 6,997.5 packets (sharma2006, section 4.7.1), which all runs share.
        ("cwnd", [{"bdp_pkts": 7775.0}] * 2, 0.9, {6997.5: "90 % of the BDP, 6,997.5 packets"}),
        ("cwnd", [{"bdp_pkts": 7775.0}], None, {}),  # a study that fills no path
        ("queue", [{"buffer_pkts": 40}, {"buffer_pkts": 200}], 0.9, {}),
        ("sequence", [{"bottleneck_mbps": 622}], 0.9, {}),
        # 0.95 · 622 = 590.9
        (
            "utilization",
            [{"bottleneck_mbps": 622}],
            0.95,
            {622.0: "capacity, 622 Mbit/s", 590.9: "95 % of capacity, 590.9 Mbit/s"},
        ),
        ("utilization", [{"bottleneck_mbps": 622}], None, {622.0: "capacity, 622 Mbit/s"}),
        (
            "red_average",
            [CDF],
            None,
            {15.0: "lower threshold, 15 packets", 45.0: "upper threshold, 45 packets"},
        ),
        ("red_average", [CDF, {}], None, {}),
        ("throughput", [{"bottleneck_mbps": 9, "bottleneck_mbps_changes": "5"}], None, {}),
        ("throughput", [{"bottleneck_mbps": 9, "bottleneck_2_mbps": 5}], None, {}),
    ],
)
def test_thresholds_are_those_that_all_runs_share(
    table: str, runs: Any, filled: float | None, lines: dict[float, str]
) -> None:
    captions = read_captions(StudyPage(filled_share=filled))
    found = thresholds(table, [{"parameters": each} for each in runs], captions)
    assert {each["v"]: each["label"] for each in found} == lines


_INTERVALS = pl.DataFrame(
    {"x": [16.0], "lower": [14.0], "value": [16.0], "upper": [18.0], "runs": [3], "series": "HS"}
)


def _sweep(
    values: list[float], label: str = "", intervals: pl.DataFrame | None = None
) -> dict[str, Any]:
    measured = pl.DataFrame(
        {"x": values, "value": values, "series": "HS", "run_id": "a", "run": "run a"}
    )
    published = pl.DataFrame(
        schema={
            **dict.fromkeys(("x", "value", "lower", "upper"), pl.Float64),
            "series": pl.String,
            "verdict": pl.String,
        }
    )
    abscissa = Abscissa("buffer (packets)", "buffer", label)
    styles = {"HS": ("#0000ff", (1, 0))}
    return sweep_spec(measured, published, styles, abscissa, "y", intervals)


_ROW = {"run_id": "a", "run": "run a"}
_POINTS = pl.DataFrame({"x": [0.1], "y": [2.0], "series": "HS", **_ROW})
_CELLS = pl.DataFrame(
    {"panel": [""], "row": ["A"], "column": ["B"], "value": [0.5], "text": "0.5", **_ROW}
)
_MEANS = pl.DataFrame(
    {"label": ["A"], "mean": [2.0], "lower": [1.0], "upper": [3.0], "runs": [3], "run_id": "a"}
)
_PANEL = _CELLS.with_columns(panel=pl.lit("P"))
_WON = _PANEL.with_columns(winner=pl.lit("A"), second=pl.lit("B"), best=1.0, lead=0.5)
_AXES = Axes(["A"], ["B"], ("first", "second"), "utilization (%)")
_PANELS = replace(_AXES, panels=["P"])
_XY = (number("x", "delay"), number("y", "rate"))
_STYLE = {"HS": ("#0000ff", (1, 0))}


def _validate(spec: dict[str, Any]) -> None:
    import altair as alt  # here because it takes half a second

    alt.Root.validate(spec)


MADE: dict[str, Callable[[], dict[str, Any]]] = {
    "lines": lambda: line_spec("time (s)", "cwnd (packets)"),
    "means": lambda: line_spec("time (s)", "throughput (Mbit/s)", "step-before"),
    "shares of transfers": lambda: line_spec("s", "share (%)", "step-after", logarithmic=True),
    "sweep": lambda: _sweep([16.0, 168.0]),
    # 6.1 / 0.5 and 6 / 0.5 are on both sides of 12; a logarithm has no zero.
    "wide sweep": lambda: _sweep([0.5, 6.1]),
    "narrow sweep": lambda: _sweep([0.5, 6.0]),
    "from zero": lambda: _sweep([0.0, 7776.0]),
    "intervals, but 16 is less than half of 40": lambda: _sweep([16.0, 40.0], "", _INTERVALS),
    "sweep of pairs": lambda: _sweep([16.0, 168.0], "162:{x}"),
    "repetitions": lambda: _sweep([16.0, 168.0], intervals=_INTERVALS),
    "laws": lambda: tradeoff_spec(_POINTS, _STYLE, *_XY, laws=_POINTS.drop("run_id", "run")),
    "tradeoff": lambda: tradeoff_spec(_POINTS.with_columns(at=pl.lit(1.0)), _STYLE, *_XY),
    "matrix": lambda: valued_matrix(_CELLS, _AXES, (0, 100)),
    "diverging matrix": lambda: valued_matrix(_CELLS, _AXES, (-1, 1), 0.0),
    "panels": lambda: valued_matrix(_PANEL, _PANELS, (-1, 1), 0.0),
    "winners": lambda: winner_matrix(_WON, _PANELS, {"A": "#0000ff"}),
    "bars": lambda: interval_bars(_MEANS, ["A"], ["#0000ff"], "goodput (Mbit/s)"),
    "samples": lambda: samples_spec("cwnd_", has_phases=True),
}


def test_specifications_are_what_they_were_and_vega_lite() -> None:
    """Each in what differs from those before; altair's schema refuses unknown keys."""
    import altair as alt  # here because it takes half a second

    lines: list[str] = []
    seen: set[str] = set()
    for name, make in MADE.items():
        spec = make()
        alt.Root.validate(spec)
        lines += [f"# {name}", *golden.layers_of(spec, seen)]
        own = {
            f"  {k}: {golden.flat(v)}" for k, v in spec.items() if k not in ("layer", "datasets")
        }
        lines += sorted(own - seen)
        seen |= own
    for table, spec in time_specs(read_captions()).items():
        assert "http" not in json.dumps(spec)
        lines.append(f"{table}: {spec['layer'][0]['encoding']['y']['title']}")
    golden.compare("specs.txt", "\n".join(lines))
    spec["layer"][0]["encoding"]["x"]["sclae"] = {}
    with pytest.raises(jsonschema.ValidationError, match="sclae"):
        alt.Root.validate(spec)


def test_charts_share_nothing_that_can_be_changed() -> None:
    first, second = _sweep([16.0, 168.0]), _sweep([20.0, 168.0])
    first["layer"][0]["encoding"]["x"]["title"] = "changed"
    first["config"]["legend"]["columns"] = 1
    first["layer"][0]["encoding"]["color"]["scale"]["range"].append("#ffffff")
    assert second == _sweep([20.0, 168.0])
    axis = second["layer"][0]["encoding"]["x"]["axis"]
    assert axis["values"] == [20.0, 168.0]
    assert [row["x"] for row in next(iter(second["datasets"].values()))] == [20.0, 168.0]


def test_a_notebook_gets_the_charts_of_a_report_as_altair(inputs: Any) -> None:
    import altair as alt

    charts = Charts(inputs.frozen())
    chart = charts.chart("buffer-size-sweep-utilization")
    assert isinstance(chart, alt.LayerChart)
    # Two protocols at three buffers.
    rows = max(chart.to_dict()["datasets"].values(), key=len)
    assert sorted({(row["series"], row["x"]) for row in rows}) == [
        (series, x) for series in ("HS-TCP", "Scalable TCP") for x in (40, 200, 1555)
    ]
    assert chart.properties(width=400).to_dict()["width"] == 400
    assert "buffer-size-sweep-utilization" in {each.name for each in charts.figures}
    with pytest.raises(BdpbenchError, match="did you mean 'buffer-size-sweep-utilization'"):
        charts.chart("buffer-size-sweep-utilisation")


def test_what_is_read_before_a_report_loads_no_altair() -> None:
    code = "import sys, bdpbench.pages, bdpbench.score; print('altair' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
