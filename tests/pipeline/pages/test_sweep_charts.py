"""Metrics over sweeps and repetitions, and laws: what is drawn, and when nothing is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

from bdpbench.metrics.groups import over_repetitions
from bdpbench.pages.names import Sweep, find_sweep
from bdpbench.pages.sweep_charts import Swept, interval_chart, sweep_chart, tradeoff_chart
from bdpbench.pages.texts import read_protocols

ROW = {"subject": "run", "unit": "%", "start_s": 0.0, "end_s": 30.0, "definition": "any/1"}


def _runs(inputs: Any, *cases: dict[str, Any]) -> list[Any]:
    """Runs of one flow with these parameters, None for one that they do not have."""
    template = next(run for run in inputs.plan["runs"] if run["scenario"] == "single_flow")
    return [
        {
            **template,
            "run_id": f"{place:016x}",
            "parameters": {
                name: value
                for name, value in {**template["parameters"], **case}.items()
                if value is not None
            },
        }
        for place, case in enumerate(cases)
    ]


def _over_rtts(inputs: Any, repetitions: int = 1) -> list[Any]:
    substreams = range(1, repetitions + 1)
    return _runs(inputs, *({"rtt_ms": r, "substream": s} for r in (20, 100) for s in substreams))


def _swept(
    inputs: Any, runs: list[Any], *given: tuple[str, Sequence[Any]], subjects: Sequence[str] = ()
) -> Swept:
    """Runs with values of metrics; of each of these links, else of the runs."""
    rows = [
        {
            **ROW,
            "run_id": run["run_id"],
            "scenario": run["scenario"],
            "metric": metric,
            "value": value,
            "subject": subject,
        }
        for metric, values in given
        for run, value in zip(runs, values, strict=True)
        for subject in subjects or ["run"]
    ]
    metrics, names = pl.DataFrame(rows), inputs.sections().data.names
    means = over_repetitions(metrics, runs)
    return Swept(runs, find_sweep(runs), metrics, names, repetitions=means)


def _charts(inputs: Any, values: list[Any]) -> tuple[Any, Any]:
    """The curve and the bars of a sweep over two RTTs with three repetitions each."""
    swept = _swept(inputs, _over_rtts(inputs, 3), ("utilization", values))
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
    note = "Bars go from the smallest to the largest of 3 repetitions. There is none where "
    assert (curve.note, bars.note) == (f"{note}repetitions are exactly equal.",) * 2
    # The individual runs are shown as well.
    assert len(_rows(curve, "run_id")) == 6
    shown = [(bar["label"], bar["mean"], bar["lower"], bar["upper"]) for bar in _rows(bars, "mean")]
    assert shown == [("HS-TCP, RTT 20 ms", 81, 80, 82), ("HS-TCP, RTT 100 ms", 90, 90, 90)]


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
    swept = _swept(inputs, _over_rtts(inputs), ("utilization", [80, 90]))
    curve = sweep_chart("x", "utilization", swept)
    assert curve is not None
    assert curve.note == ""
    assert interval_chart("x", "jain_index", swept) is None


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
        assert chart.note.endswith(note.format(_over_rtts(inputs)[0]["label"]))


def test_several_series_of_a_protocol_differ_in_dashes_and_lightness(inputs: Any) -> None:
    cases = ({"rtt_ms": rtt, "queue": queue} for queue in ("DropTail", "RED") for rtt in (20, 100))
    swept = _swept(inputs, _runs(inputs, *cases), ("utilization", [80, 90, 85, 95]))
    chart: Any = sweep_chart("x", "utilization", swept)
    line = chart.content["spec"]["layer"][0]["encoding"]
    assert len(set(line["color"]["scale"]["range"])) == 2
    assert len({tuple(each) for each in line["strokeDash"]["scale"]["range"]}) == 2


def test_what_follows_from_a_sweep_is_no_sweep(inputs: Any) -> None:
    queues = ({"queue": "DropTail"}, {"queue": "RED", "min_th_pkts": 5.0})
    runs = _runs(inputs, *({**each, "rtt_ms": rtt_ms} for each in queues for rtt_ms in (20, 100)))
    assert find_sweep(runs, swept=["rtt_ms", "queue"]).others == ("queue",)
    assert "min_th_pkts" in find_sweep(runs).others


def test_the_number_of_a_case_is_a_name_and_no_axis(inputs: Any) -> None:
    """A case of a paper stands for a rate and a buffer: its number orders nothing."""
    names = ("case_number", "bottleneck_mbps", "buffer_pkts", "flows")
    cases = ((1, 1000, 500), (2, 1000, 50), (3, 500, 500), (4, 500, 50))
    values = [(*case, flows) for case in cases for flows in (5, 10, 20)]
    runs = _runs(inputs, *(dict(zip(names, each, strict=True)) for each in values))
    assert find_sweep(runs) == Sweep("flows", ("case_number",))
    # Where one parameter alone tells the number, or none does, it stays.
    assert find_sweep(runs, swept=["case_number", "flows"]).main == "case_number"
    at_one_rate = [run for run in runs if run["parameters"]["bottleneck_mbps"] == 500]
    stays = find_sweep(at_one_rate, swept=["case_number", "buffer_pkts"])
    assert stays == Sweep("buffer_pkts", ())


def _with_metrics(inputs: Any, runs: Sequence[Any], **given: Sequence[float]) -> Any:
    """The synthetic study with more metrics of the only flow of runs."""
    flow = {**ROW, "subject": "flow:0"}
    rows = [
        {
            **flow,
            "run_id": run["run_id"],
            "scenario": run["scenario"],
            "metric": name,
            "value": each,
        }
        for name, values in given.items()
        for run, each in zip(runs, values, strict=True)
    ]
    inputs.metrics = pl.concat([inputs.metrics, pl.DataFrame(rows, schema=inputs.metrics.schema)])
    return inputs


def _data(chart: Any, layer: int) -> list[dict[str, Any]]:
    """Rows of a layer; equal data exist only once, under a name."""
    spec = chart.content["spec"]
    data = spec["layer"][layer].get("data") or spec["data"]
    rows: list[dict[str, Any]] = spec["datasets"][data["name"]]
    return rows


def test_runs_of_one_flow_are_points_beside_the_published_functions(inputs: Any) -> None:
    runs = [run for run in inputs.plan["runs"] if run["scenario"] == "buffer_size"]
    # Table 1 of RFC 3649: 0.12/p^0.835 is 38 packets at 1e-3, 12,279 at 1e-6.
    lossy = _with_metrics(
        inputs,
        runs,
        loss_event_rate=[10.0**-n for n in range(1, 7)],
        mean_cwnd=[0.12 * 10 ** (0.835 * n) for n in range(1, 7)],
        packets_added_per_rtt=[10.0 + n for n in range(6)],
    )
    chart, growth = lossy.sections().laws
    assert len(_data(chart, 1)) == 6
    encoding = chart.content["spec"]["layer"][1]["encoding"]
    assert [encoding[axis]["scale"]["type"] for axis in "xy"] == ["log", "log"]
    ends = [(line["x"], line["y"]) for line in _data(chart, 0) if line["series"] == "HS-TCP"]
    # From the smallest rate, 1e-6, to the one with 38 packets, where HS-TCP equals standard TCP.
    assert ends[0] == pytest.approx((1e-6, 12_279), rel=0.01)
    assert ends[1][1] == pytest.approx(38)
    assert "RFC 3649, section 5" in chart.caption
    # Growth over the window; as no run has the share given up at a loss, there is no third chart.
    assert growth.metrics == ("mean_cwnd", "packets_added_per_rtt")
    drawn = [(point["x"], point["y"]) for point in _data(growth, 0)]
    assert drawn[0] == (pytest.approx(0.12 * 10**0.835), 10.0)


def test_flows_that_lose_nothing_show_no_function(inputs: Any) -> None:
    first = inputs.plan["runs"][:1]
    assert _with_metrics(inputs, first, loss_event_rate=[0.0], mean_cwnd=[9]).sections().laws == []


def test_the_response_functions_meet_where_their_papers_say() -> None:
    laws = {each.name: each.response for each in read_protocols() if each.response}
    standard = next(law for name, law in laws.items() if "SACK" in name)
    fast = next(law for name, law in laws.items() if name.startswith("HighSpeed"))
    # RFC 3649: both have 38 packets at a rate of 1e-3, and HS-TCP has 83,000 at 1e-7.
    for law, rate, pkts in ((standard, 1e-3, 38), (fast, 1e-3, 38), (fast, 1e-7, 83_000)):
        assert law.coefficient / rate**law.exponent == pytest.approx(pkts, rel=0.02)


def _tradeoff(inputs: Any, runs: list[Any], delays: list[Any], *subjects: str) -> Any:
    """The chart of utilizations, 80 and on, against delays; a run has these subjects of links."""
    values = ("utilization", [80.0 + i for i in range(len(runs))])
    swept = _swept(inputs, runs, values, ("mean_queueing_delay", delays), subjects=subjects)
    return tradeoff_chart("x", "mean_queueing_delay", "utilization", swept)


def test_a_metric_is_drawn_against_another(inputs: Any) -> None:
    chart = _tradeoff(inputs, _over_rtts(inputs), [9.0, 5.0], "link:bottleneck")
    points = sorted(_rows(chart, "x"), key=lambda each: each["x"])
    assert [(p["x"], p["y"], p["at"]) for p in points] == [(5, 81, 100), (9, 80, 20)]
    assert len({p["series"] for p in points}) == 1
    layers = chart.content["spec"]["layer"]
    assert [each["mark"]["type"] for each in layers[:2]] == ["line", "point"]
    assert "against" in chart.title
    # What was not reached is no point.
    assert _tradeoff(inputs, _over_rtts(inputs), [9.0, None], "link:bottleneck") is None
    # Repetitions are points without a line.
    (layer,) = _tradeoff(inputs, _over_rtts(inputs, 2), [9.0, 8, 5, 4]).content["spec"]["layer"]
    assert layer["mark"]["type"] == "point"


def test_each_link_of_a_run_is_a_series_of_a_tradeoff(inputs: Any) -> None:
    links = ["link:bottleneck_1", "link:bottleneck_2"]
    chart = _tradeoff(inputs, _over_rtts(inputs), [9.0, 5.0], *links)
    assert len(_rows(chart, "x")) == 4
    assert len({each["series"] for each in _rows(chart, "x")}) == 2


def test_pairs_with_the_same_other_have_the_colours_of_those_that_differ(inputs: Any) -> None:
    pairs = ({"protocol": None, "protocol_1": "HS", "protocol_2": key} for key in ("HS", "BIC"))
    chart = _tradeoff(inputs, _runs(inputs, *pairs), [9.0, 5.0])
    colours = chart.content["spec"]["layer"][1]["encoding"]["color"]["scale"]["range"]
    names = inputs.sections().data.names
    assert colours == [names.colour("HS"), names.colour("BIC")]
