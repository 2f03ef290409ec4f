"""Which runs are charted together, and how their lines are told apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.pipeline.pages import golden

from bdpbench.pages.curves import curves, plan_views, time_chart
from bdpbench.pages.inputs import read_captions
from bdpbench.pages.names import Names, Sweep, find_sweep

PROTOCOLS = {
    "HS": {"label": "HS-TCP", "colour": "#0000ff"},
    "Scalable": {"label": "Scalable TCP", "colour": "#ff0000"},
}
PLAN: Any = {"protocols": PROTOCOLS, "parameters": {}, "scenarios": {}, "runs": []}
NAMES = Names(PLAN, read_captions(), [])


def _run(run_id: str, **parameters: Any) -> dict[str, Any]:
    return {"run_id": run_id, "label": f"run {run_id}", "parameters": parameters}


def _alike(keys: Iterable[Any], **given: Any) -> list[dict[str, Any]]:
    """Runs whose parameters are these, "" for those of the key."""
    return [
        _run(str(key), **{name: key if each == "" else each for name, each in given.items()})
        for key in keys
    ]


_SWEEP = [
    _run(f"{protocol[0]}{rtt}", protocol=protocol, rtt_ms=rtt, buffer_pkts=rtt * 15)
    for protocol in PROTOCOLS
    for rtt in (20, 220)
]
_PAIRS = [_run(f"{a}-{b}", protocol_1=a, protocol_2=b) for a in PROTOCOLS for b in PROTOCOLS]
_BOTH: dict[str, Any] = {"protocol_1": "HS", "protocol_2": "Scalable"}
_OWN = {f"flow_protocol_{nth}": key for nth, key in enumerate(("HS", "HS", "Scalable"), 1)}
_FLOWS = ["flow:0", "flow:1", "flow:2"]
CASES: dict[str, tuple[list[dict[str, Any]], str, list[str]]] = {
    "without a sweep all protocols share one view, whatever they last": (
        [_run("a", protocol="HS", duration_s=50), _run("b", protocol="Scalable", duration_s=30)],
        "cwnd",
        _FLOWS[:1],
    ),
    "a sweep is shown by value and by protocol": (_SWEEP, "cwnd", _FLOWS[:1]),
    "a second independent parameter splits the series": (
        [
            _run(f"{rtt}{flow}", protocol="HS", rtt_ms=rtt, varied_flow=flow)
            for rtt in (20, 60, 220)
            for flow in (0, 1)
        ],
        "cwnd",
        _FLOWS[:1],
    ),
    "a sweep of words is shown by value": (
        _alike(["DropTail", "RED"], protocol="HS", queue=""), "queue", ["link:x"]
    ),
    "pairs are shown one by one, flows in the colour of their protocol": (
        _PAIRS, "cwnd", _FLOWS[:2]
    ),
    "of many flows each has the name of its own protocol": (
        [_run("a", **_BOTH, **_OWN)], "cwnd", _FLOWS
    ),
    "the link of a pair belongs to neither": ([_run("a", **_BOTH)], "queue", ["link:x"]),
    "repetitions are told apart by their run": (
        _alike([1, 2], protocol="HS", substream=""), "cwnd", _FLOWS[:1]
    ),
    "runs that name no protocol are drawn all the same": (
        [_run("a", flows=2)], "cwnd", _FLOWS[:2]
    ),
}  # fmt: skip


def test_views_and_lines_are_what_they_were() -> None:
    lines = []
    for name, (runs, table, subjects) in CASES.items():
        sweep = find_sweep(runs)
        lines.append(f"# {name}: {sweep.main} {sweep.others}")
        for view in plan_views(runs, sweep, NAMES):
            lines.append(f"  view {view.title}: {' '.join(run['run_id'] for run in view.runs)}")
            points = {subject: {"t": [0.0], "v": [0.0]} for subject in subjects}
            series = {run["run_id"]: {table: points} for run in view.runs}
            drawn = curves(view, table, series, sweep, NAMES)
            lines += [f"    {golden.flat(each)}" for each in drawn]
    golden.compare("curves.txt", "\n".join(lines))


def test_an_unknown_protocol_has_the_dashes_of_the_first() -> None:
    assert NAMES.dash("unknown") == NAMES.dash("HS") != NAMES.dash("Scalable")


def test_parameters_that_follow_from_another_are_no_sweep_of_their_own() -> None:
    runs = _alike([20, 220], protocol="HS", rtt_ms="", buffer_pkts="", duration_s="", bdp_pkts="")
    assert find_sweep(runs) == Sweep("rtt_ms", ())


def test_a_caption_speaks_of_dashed_lines_only_where_there_are_any() -> None:
    runs: Any = [_run("a", duration_s=5, buffer_pkts=40), _run("b", duration_s=5, buffer_pkts=200)]
    assert "dashed buffer size" in time_chart("one", "queue", runs[:1], [], {}, NAMES).caption
    assert "dashed" not in time_chart("both", "queue", runs, [], {}, NAMES).caption
