"""Specifications of charts: thresholds, scales, and no need for a network."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import jsonschema
import pytest
from tests.pipeline.pages import golden

from bdpbench.errors import BdpbenchError
from bdpbench.pages.analysis import samples_spec
from bdpbench.pages.curves import thresholds, time_specs
from bdpbench.pages.exports import Charts
from bdpbench.pages.inputs import read_captions
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


def test_specifications_over_time_are_what_they_were_and_vega_lite() -> None:
    """Each in what differs from those before; altair's schema refuses unknown keys."""
    import altair as alt  # here because it takes half a second

    specs = {**time_specs(read_captions()), "samples": samples_spec("cwnd_", has_phases=True)}
    lines: list[str] = []
    seen: set[str] = set()
    for name, spec in specs.items():
        alt.Root.validate(spec)
        assert "http" not in json.dumps(spec)
        lines += [f"# {name}", *golden.layers_of(spec, seen)]
    golden.compare("specs.txt", "\n".join(lines))
    spec["layer"][0]["encoding"]["x"]["sclae"] = {}
    with pytest.raises(jsonschema.ValidationError, match="sclae"):
        alt.Root.validate(spec)


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
