"""A metric over a repeated sweep: means, intervals, and a note if nothing differs."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from bdpbench.metrics.groups import over_repetitions
from bdpbench.pages.names import Sweep, find_sweep
from bdpbench.pages.sweep_charts import Swept, interval_chart, sweep_chart

RTTS = (20, 100)


def _runs(inputs: Any, repetitions: int = 3) -> list[Any]:
    template = next(run for run in inputs.plan["runs"] if run["scenario"] == "single_flow")
    return [
        {
            **template,
            "run_id": f"{rtt_ms}-{substream}",
            "parameters": {**template["parameters"], "rtt_ms": rtt_ms, "substream": substream},
        }
        for rtt_ms in RTTS
        for substream in range(1, repetitions + 1)
    ]


def _metrics(runs: list[Any], values: list[float]) -> pl.DataFrame:
    rows = [
        {
            "run_id": run["run_id"],
            "scenario": run["scenario"],
            "metric": "utilization",
            "subject": "run",
            "value": value,
            "unit": "%",
            "start_s": 0.0,
            "end_s": 30.0,
            "definition": "utilization/1",
        }
        for run, value in zip(runs, values, strict=True)
    ]
    return pl.DataFrame(rows)


def _charts(inputs: Any, values: list[float]) -> tuple[Any, Any]:
    """The curve and the bars of a sweep over two RTTs with three repetitions each."""
    runs, names = _runs(inputs), inputs.sections().data.names
    metrics, sweep = _metrics(runs, values), find_sweep(runs)
    means = over_repetitions(metrics, runs)
    swept = Swept(runs, sweep, metrics, names, repetitions=means)
    return sweep_chart("x", "utilization", swept), interval_chart("y", "utilization", swept)


def _rows(chart: Any, column: str) -> list[dict[str, Any]]:
    data = chart.content["spec"]["datasets"].values()
    return [row for rows in data for row in rows if column in row]


def test_means_have_intervals_where_repetitions_differ(inputs: Any) -> None:
    curve, bars = _charts(inputs, [80, 81, 82, 90, 90, 90])
    # Student's t(0.975, 2) = 4.3027 and s = 1: 4.3027/sqrt(3) = 2.4841.
    (interval,) = _rows(curve, "upper")
    assert (interval["x"], interval["value"], interval["runs"]) == (20, 81, 3)
    assert interval["upper"] == pytest.approx(83.4841, abs=1e-4)
    assert interval["lower"] == pytest.approx(78.5159, abs=1e-4)
    note = (
        "Bars are 95 % confidence intervals of means over 3 repetitions. There is none where "
        "repetitions are exactly equal."
    )
    assert (curve.note, bars.note) == (note, note)
    # The individual runs are shown as well.
    assert len(_rows(curve, "run_id")) == 6


def test_equal_repetitions_have_a_word_and_no_interval(inputs: Any) -> None:
    # In binary, the mean of three times 0.1 is 0.10000000000000002.
    curve, bars = _charts(inputs, [0.1, 0.1, 0.1, 90, 90, 90])
    assert _rows(curve, "upper") == []
    assert {(bar["lower"], bar["upper"]) for bar in _rows(bars, "upper")} == {(0.1, 0.1), (90, 90)}
    for chart in (curve, bars):
        assert chart.note == (
            "The 3 repetitions are exactly equal, because nothing random affects this metric; "
            "there is no interval."
        )


def test_runs_that_nobody_repeats_say_nothing_of_it(inputs: Any) -> None:
    runs = _runs(inputs, repetitions=1)
    metrics, sweep = _metrics(runs, [80, 90]), find_sweep(runs)
    names, means = inputs.sections().data.names, over_repetitions(metrics, runs)
    swept = Swept(runs, sweep, metrics, names, repetitions=means)
    curve = sweep_chart("x", "utilization", swept)
    assert curve is not None
    assert curve.note == ""


def test_several_series_of_a_protocol_differ_in_dashes_and_lightness(inputs: Any) -> None:
    runs = [
        {
            **run,
            "run_id": f"{run['run_id']}-{queue}",
            "parameters": {**run["parameters"], "queue": queue},
        }
        for queue in ("DropTail", "RED")
        for run in _runs(inputs, repetitions=1)
    ]
    metrics, names = _metrics(runs, [80, 90, 85, 95]), inputs.sections().data.names
    curve = sweep_chart("x", "utilization", Swept(runs, find_sweep(runs), metrics, names))
    assert curve is not None
    line = curve.content["spec"]["layer"][0]["encoding"]  # type: ignore[typeddict-item]
    assert len(set(line["color"]["scale"]["range"])) == 2
    assert len({tuple(each) for each in line["strokeDash"]["scale"]["range"]}) == 2


def test_what_follows_from_a_sweep_is_no_sweep(inputs: Any) -> None:
    runs = [
        {**run, "parameters": {**run["parameters"], "queue": queue, "min_th_pkts": least}}
        for queue, least in (("DropTail", None), ("RED", 5.0))
        for run in _runs(inputs, repetitions=1)
    ]
    assert find_sweep(runs, swept=["rtt_ms", "queue"]).others == ("queue",)
    assert "min_th_pkts" in find_sweep(runs).others


def test_the_number_of_a_case_is_a_name_and_no_axis(inputs: Any) -> None:
    """A case of a paper stands for a rate and a buffer: its number orders nothing."""
    cases = ((1, 1000, 500), (2, 1000, 50), (3, 500, 500), (4, 500, 50))
    template = _runs(inputs, repetitions=1)[0]
    runs = [
        {
            **template,
            "parameters": {
                **template["parameters"],
                "case_number": number,
                "bottleneck_mbps": rate,
                "buffer_pkts": buffer,
                "flows": flows,
            },
        }
        for number, rate, buffer in cases
        for flows in (5, 10, 20)
    ]
    assert find_sweep(runs) == Sweep("flows", ("case_number",))
    # Where one parameter alone tells the number, or none does, it stays.
    assert find_sweep(runs, swept=["case_number", "flows"]).main == "case_number"
    at_one_rate = [run for run in runs if run["parameters"]["bottleneck_mbps"] == 500]
    stays = find_sweep(at_one_rate, swept=["case_number", "buffer_pkts"])
    assert stays == Sweep("buffer_pkts", ())
