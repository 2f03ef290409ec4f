"""Which runs are charted together, and how their lines are told apart."""

from __future__ import annotations

from typing import Any

from bdpbench.pages.curves import curves, plan_views, time_chart
from bdpbench.pages.inputs import read_captions
from bdpbench.pages.names import Names, find_sweep

PROTOCOLS = {
    "HS": {"label": "HS-TCP", "colour": "#0000ff"},
    "Scalable": {"label": "Scalable TCP", "colour": "#ff0000"},
}
PLAN: Any = {"protocols": PROTOCOLS, "parameters": {}, "scenarios": {}, "runs": []}
NAMES = Names(PLAN, read_captions(), [])


def _run(run_id: str, **parameters: Any) -> dict[str, Any]:
    return {"run_id": run_id, "label": f"run {run_id}", "parameters": parameters}


def _views(runs: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    views = plan_views(runs, find_sweep(runs), NAMES)
    return [(view.title, [run["run_id"] for run in view.runs]) for view in views]


def test_without_a_sweep_all_protocols_share_one_view() -> None:
    runs = [
        _run("a", protocol="HS", duration_s=50),
        _run("b", protocol="Scalable", duration_s=30),
    ]
    assert _views(runs) == [("", ["a", "b"])]


def test_a_sweep_is_shown_by_value_and_by_protocol() -> None:
    runs = [
        _run(f"{protocol[0]}{rtt}", protocol=protocol, rtt_ms=rtt, buffer_pkts=rtt * 15)
        for protocol in PROTOCOLS
        for rtt in (20, 220)
    ]
    assert _views(runs) == [
        ("RTT 20 ms", ["H20", "S20"]),
        ("RTT 220 ms", ["H220", "S220"]),
        ("HS-TCP, all values", ["H20", "H220"]),
        ("Scalable TCP, all values", ["S20", "S220"]),
    ]


def test_parameters_that_follow_from_another_are_no_sweep_of_their_own() -> None:
    runs = [
        _run(
            str(rtt), protocol="HS", rtt_ms=rtt, buffer_pkts=rtt * 15, duration_s=rtt, bdp_pkts=rtt
        )
        for rtt in (20, 220)
    ]
    sweep = find_sweep(runs)
    assert (sweep.main, sweep.others) == ("rtt_ms", ())


def test_a_second_independent_parameter_splits_the_series() -> None:
    runs = [
        _run(f"{rtt}{flow}", protocol="HS", rtt_ms=rtt, varied_flow=flow)
        for rtt in (20, 60, 220)
        for flow in (0, 1)
    ]
    sweep = find_sweep(runs)
    assert (sweep.main, sweep.others) == ("rtt_ms", ("varied_flow",))
    assert sweep.describe(runs[0], NAMES.parameters) == "RTT 20 ms, varied flow 0"


def test_a_sweep_of_words_is_shown_by_value() -> None:
    runs = [_run(queue, protocol="HS", queue=queue) for queue in ("DropTail", "RED")]
    assert _views(runs) == [("queue DropTail", ["DropTail"]), ("queue RED", ["RED"])]


def test_pairs_of_protocols_are_shown_one_by_one() -> None:
    runs = [
        _run(f"{first}-{second}", protocol_1=first, protocol_2=second)
        for first in PROTOCOLS
        for second in PROTOCOLS
    ]
    assert [ids for _, ids in _views(runs)] == [[run["run_id"]] for run in runs]


def _curves(runs: list[dict[str, Any]], table: str, subjects: list[str]) -> list[Any]:
    sweep = find_sweep(runs)
    view = plan_views(runs, sweep, NAMES)[0]
    points = {subject: {"t": [0.0], "v": [0.0]} for subject in subjects}
    series = {run["run_id"]: {table: points} for run in runs}
    return curves(view, table, series, sweep, NAMES)


def test_flows_of_a_pair_have_the_colour_of_their_protocol() -> None:
    runs = [_run("a", protocol_1="HS", protocol_2="Scalable")]
    lines = _curves(runs, "cwnd", ["flow:0", "flow:1"])
    assert [(line["label"], line["colour"]) for line in lines] == [
        ("HS-TCP, flow 1", "#0000ff"),
        ("Scalable TCP, flow 2", "#ff0000"),
    ]


def test_of_many_flows_each_has_the_name_of_its_own_protocol() -> None:
    """The label of the run's second protocol, which is that of flow 3 here, does not matter."""
    own = {"flow_protocol_1": "HS", "flow_protocol_2": "HS", "flow_protocol_3": "Scalable"}
    runs = [_run("a", protocol_1="HS", protocol_2="Scalable", **own)]
    lines = _curves(runs, "cwnd", ["flow:0", "flow:1", "flow:2"])
    assert [line["label"] for line in lines] == [
        "HS-TCP, flow 1",
        "HS-TCP, flow 2",
        "Scalable TCP, flow 3",
    ]


def test_flows_of_one_protocol_differ_by_their_dash() -> None:
    lines = _curves([_run("a", protocol_1="HS", protocol_2="HS")], "cwnd", ["flow:0", "flow:1"])
    assert {line["colour"] for line in lines} == {"#0000ff"}
    assert len({tuple(line["dash"]) for line in lines}) == 2


def test_the_link_of_a_pair_belongs_to_neither_protocol() -> None:
    lines = _curves([_run("a", protocol_1="HS", protocol_2="Scalable")], "queue", ["link:x"])
    assert lines[0]["label"] == "HS-TCP and Scalable TCP"
    assert lines[0]["colour"] not in ("#0000ff", "#ff0000")


def test_repetitions_are_told_apart_by_their_run() -> None:
    runs = [_run("a", protocol="HS", substream=1), _run("b", protocol="HS", substream=2)]
    labels = [line["label"] for line in _curves(runs, "cwnd", ["flow:0"])]
    assert labels == ["HS-TCP, random substream 1", "HS-TCP, random substream 2"]


def test_runs_that_name_no_protocol_are_drawn_all_the_same() -> None:
    lines = _curves([_run("a", flows=2)], "cwnd", ["flow:0", "flow:1"])
    assert [line["label"] for line in lines] == ["run a, flow 1", "run a, flow 2"]
    assert len({line["colour"] for line in lines}) == 2


def test_a_protocol_has_its_dashes_in_charts_over_time_too() -> None:
    runs = [_run("a", protocol="HS"), _run("b", protocol="Scalable")]
    series = {run["run_id"]: {"cwnd": {"flow:0": {}}} for run in runs}
    (view,) = plan_views(runs, find_sweep(runs), NAMES)
    lines = curves(view, "cwnd", series, find_sweep(runs), NAMES)
    assert [line["dash"] for line in lines] == [
        NAMES.dash("HS"),
        NAMES.dash("Scalable"),
    ]
    assert len({tuple(line["dash"]) for line in lines}) == 2


def test_flows_of_one_protocol_in_a_run_differ_in_their_dashes() -> None:
    run = _run("a", protocol_1="Scalable", protocol_2="Scalable")
    series = {"a": {"cwnd": {"flow:0": {}, "flow:1": {}}}}
    (view,) = plan_views([run], find_sweep([run]), NAMES)
    first, second = curves(view, "cwnd", series, find_sweep([run]), NAMES)
    assert first["dash"] == NAMES.dash("Scalable")
    assert second["dash"] not in {NAMES.dash(key) for key in PROTOCOLS}
    assert first["colour"] == second["colour"]


def test_a_caption_speaks_of_dashed_lines_only_where_there_are_any() -> None:
    runs: Any = [_run("a", duration_s=5, buffer_pkts=40), _run("b", duration_s=5, buffer_pkts=200)]
    assert "dashed buffer size" in time_chart("one", "queue", runs[:1], [], {}, NAMES).caption
    assert "dashed" not in time_chart("both", "queue", runs, [], {}, NAMES).caption
