"""Response functions and means over repetitions: what is drawn, and when nothing is."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

from bdpbench.metrics.groups import over_repetitions
from bdpbench.pages.names import find_sweep
from bdpbench.pages.sweep_charts import Swept, interval_chart
from bdpbench.pages.texts import read_protocols


def _row(inputs: Any, run: dict[str, Any], metric: str, value: float) -> dict[str, Any]:
    template = inputs.metrics.to_dicts()[0]
    given = {"metric": metric, "subject": "flow:0", "definition": f"{metric}/1", "value": value}
    return {**template, **given, "run_id": run["run_id"], "scenario": run["scenario"]}


def _data(spec: dict[str, Any], layer: int) -> list[dict[str, Any]]:
    """Rows of a layer; equal data exist only once, under a name."""
    data = spec["layer"][layer].get("data") or spec["data"]
    rows: list[dict[str, Any]] = spec["datasets"][data["name"]]
    return rows


@pytest.fixture
def lossy(inputs: Any) -> Any:
    """The synthetic study with six runs on HS-TCP's response function in RFC 3649."""
    runs = [run for run in inputs.plan["runs"] if run["scenario"] == "buffer_size"]
    rows = [
        _row(inputs, run, metric, value)
        for i, run in enumerate(runs)
        # Table 1 of RFC 3649: 0.12/p^0.835 is 38 packets at 1e-3, 12,279 at 1e-6.
        for metric, value in (
            ("loss_event_rate", 10.0 ** -(i + 1)),
            ("mean_cwnd", 0.12 * 10 ** (0.835 * (i + 1))),
            ("packets_added_per_rtt", 10.0 + i),
        )
    ]
    inputs.metrics = pl.concat([inputs.metrics, pl.DataFrame(rows, schema=inputs.metrics.schema)])
    return inputs


def test_runs_of_one_flow_are_points_beside_the_published_functions(lossy: Any) -> None:
    chart, growth = lossy.sections().laws
    lines, points = (_data(chart.content["spec"], layer) for layer in (0, 1))
    assert len(points) == 6
    encoding = chart.content["spec"]["layer"][1]["encoding"]
    assert [encoding[axis]["scale"]["type"] for axis in "xy"] == ["log", "log"]
    ends = [(line["x"], line["y"]) for line in lines if line["series"] == "HS-TCP"]
    # From the smallest rate, 1e-6, to the one with 38 packets, where HS-TCP equals standard TCP.
    assert ends[0] == pytest.approx((1e-6, 12_279), rel=0.01)
    assert ends[1][1] == pytest.approx(38)
    assert "RFC 3649, section 5" in chart.caption
    # Growth over the window; as no run has the share given up at a loss, there is no third chart.
    assert growth.metrics == ("mean_cwnd", "packets_added_per_rtt")
    drawn = [(point["x"], point["y"]) for point in _data(growth.content["spec"], 0)]
    assert drawn[0] == (pytest.approx(0.12 * 10**0.835), 10.0)


def test_flows_that_lose_nothing_show_no_function(inputs: Any) -> None:
    run = inputs.plan["runs"][0]
    rows = [_row(inputs, run, "loss_event_rate", 0.0), _row(inputs, run, "mean_cwnd", 9.0)]
    inputs.metrics = pl.concat([inputs.metrics, pl.DataFrame(rows, schema=inputs.metrics.schema)])
    assert inputs.sections().laws == []


def test_the_response_functions_meet_where_their_papers_say() -> None:
    laws = {each.name: each.response for each in read_protocols() if each.response}
    standard = next(law for name, law in laws.items() if "SACK" in name)
    fast = next(law for name, law in laws.items() if name.startswith("HighSpeed"))

    def window(law: Any, rate: float) -> float:
        return float(law.coefficient / rate**law.exponent)

    # RFC 3649: both have 38 packets at a rate of 1e-3, and HS-TCP has 83,000 at 1e-7.
    assert window(standard, 1e-3) == pytest.approx(38, rel=0.02)
    assert window(fast, 1e-3) == pytest.approx(38, rel=0.02)
    assert window(fast, 1e-7) == pytest.approx(83_000, rel=0.02)


def test_repeated_runs_become_bars_with_their_intervals(inputs: Any) -> None:
    sections = inputs.sections()
    template = next(run for run in inputs.plan["runs"] if run["scenario"] == "single_flow")
    runs = [
        {
            **template,
            "run_id": f"{n:016x}",
            "parameters": {**template["parameters"], "substream": n},
        }
        for n in (1, 2, 3)
    ]
    rows = [
        {**_row(inputs, run, "utilization", 89.0 + n), "unit": "%"} for n, run in enumerate(runs)
    ]
    metrics = pl.DataFrame(rows, schema=inputs.metrics.schema)
    means = over_repetitions(metrics, runs)
    swept = Swept(runs, find_sweep(runs), metrics, sections.data.names, repetitions=means)
    chart = interval_chart("x", "utilization", swept)
    assert chart is not None
    (bar,) = _data(chart.content["spec"], 0)
    assert (bar["label"], bar["mean"], bar["runs"]) == ("HS-TCP", 90.0, 3)
    # t(0.975, 2) = 4.303 and s = 1
    assert bar["upper"] - bar["mean"] == pytest.approx(4.303 / math.sqrt(3), abs=0.001)
    assert interval_chart("x", "jain_index", swept) is None
