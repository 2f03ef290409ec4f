"""Metrics over sweeps and repetitions, and laws: what is drawn, and when nothing is."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from bdpbench.metrics.groups import over_repetitions
from bdpbench.pages.names import Sweep, find_sweep
from bdpbench.pages.sweep_charts import Swept, interval_chart, sweep_chart, tradeoff_chart
from bdpbench.pages.texts import read_protocols

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
    (interval,) = _rows(curve, "upper")
    assert (interval["x"], interval["value"], interval["runs"]) == (20, 81, 3)
    # Student's would be from 78.5 to 83.5; beside 100 % or 0 s, it has values that cannot occur.
    assert (interval["lower"], interval["upper"]) == (80, 82)
    note = (
        "Bars go from the smallest to the largest of 3 repetitions. There is none where "
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


@pytest.mark.parametrize(
    ("values", "note"),
    [
        ([80, None, None, 90, 91, None], "Not reached: {0}; {0}; {0}."),
        ([None, None, 80, 90, None, None], "Not reached in 4 of 6 runs, such as {0}; {0}; {0}."),
    ],
)
def test_runs_that_never_reach_it_are_named_unless_they_are_many(
    inputs: Any, values: list[float], note: str
) -> None:
    for chart in filter(None, _charts(inputs, values)):
        assert chart.note.endswith(note.format(_runs(inputs)[0]["label"]))


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
    assert (bar["lower"], bar["upper"]) == (89.0, 91.0)
    assert interval_chart("x", "jain_index", swept) is None


def _tradeoff(inputs: Any, runs: list[Any], delays: list[Any], subjects: list[str]) -> Any:
    """The chart of utilizations, 80 and on, against delays; a run has these subjects of links."""
    rows = [
        {**row, "metric": metric, "unit": unit, "subject": subject, "value": value}
        for metric, unit, values in (
            ("utilization", "%", [80.0 + i for i in range(len(runs))]),
            ("mean_queueing_delay", "ms", delays),
        )
        for row, value in zip(_metrics(runs, delays).rows(named=True), values, strict=True)
        for subject in subjects
    ]
    swept = Swept(runs, find_sweep(runs), pl.DataFrame(rows), inputs.sections().data.names)
    return tradeoff_chart("x", "mean_queueing_delay", "utilization", swept)


def test_a_metric_is_drawn_against_another(inputs: Any) -> None:
    runs = _runs(inputs, repetitions=1)
    chart = _tradeoff(inputs, runs, [9.0, 5.0], ["link:bottleneck"])
    points = sorted(_rows(chart, "x"), key=lambda each: each["x"])
    assert [(p["x"], p["y"], p["at"]) for p in points] == [(5, 81, 100), (9, 80, 20)]
    assert len({p["series"] for p in points}) == 1
    layers = chart.content["spec"]["layer"]
    assert [each["mark"]["type"] for each in layers[:2]] == ["line", "point"]
    assert "against" in chart.title


def test_repetitions_are_points_without_a_line(inputs: Any) -> None:
    chart = _tradeoff(inputs, _runs(inputs, 2), [9.0, 8.0, 5.0, 4.0], ["link:bottleneck"])
    (points,) = chart.content["spec"]["layer"]
    assert points["mark"]["type"] == "point"


def test_what_was_not_reached_is_no_point_of_a_tradeoff(inputs: Any) -> None:
    runs = _runs(inputs, repetitions=1)
    assert _tradeoff(inputs, runs, [9.0, None], ["link:bottleneck"]) is None


def test_each_link_of_a_run_is_a_series_of_a_tradeoff(inputs: Any) -> None:
    links = ["link:bottleneck_1", "link:bottleneck_2"]
    chart = _tradeoff(inputs, _runs(inputs, repetitions=1), [9.0, 5.0], links)
    assert len(_rows(chart, "x")) == 4
    assert len({each["series"] for each in _rows(chart, "x")}) == 2


def test_pairs_with_the_same_other_have_the_colours_of_those_that_differ(inputs: Any) -> None:
    (run, _) = _runs(inputs, repetitions=1)
    who = {"protocol": None, "protocol_1": "HS"}
    runs = [
        {**run, "run_id": key, "parameters": {
            name: value for name, value in {**run["parameters"], **who, "protocol_2": key}.items()
            if value is not None
        }}
        for key in ("HS", "BIC")
    ]  # fmt: skip
    names = inputs.sections().data.names
    chart = _tradeoff(inputs, runs, [9.0, 5.0], ["run"])
    colours = chart.content["spec"]["layer"][1]["encoding"]["color"]["scale"]["range"]
    assert colours == [names.colour("HS"), names.colour("BIC")]
