"""Metrics that compare runs: which runs belong together, and when there is no value."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from bdpbench.errors import BdpbenchError
from bdpbench.metrics import METRICS_SCHEMA, definitions_for
from bdpbench.metrics import measure_groups as measure_groups_of
from bdpbench.studies.load import find_study

DEFINITIONS = definitions_for(find_study("sharma2006"))
REPETITIONS = definitions_for(find_study("zhang2006"))
SWEEP = [40, 200, 500]
REACHED_METRIC = "time_to_90pct_utilization_kept"


def measure_groups(
    metrics: pl.DataFrame, runs: Any, sweeps: Any = None, definitions: Any = DEFINITIONS
) -> pl.DataFrame:
    return measure_groups_of(metrics, runs, sweeps, definitions)


def _run(run_id: str, scenario: str, **parameters: Any) -> dict[str, Any]:
    base = {"protocol": "HS", "duration_s": 500, "buffer_pkts": 1555, "rtt_ms": 100}
    return {"run_id": run_id, "scenario": scenario, "parameters": {**base, **parameters}}


def _metrics(
    values: dict[str, dict[str, float | None]], runs: list[dict[str, Any]]
) -> pl.DataFrame:
    """Metric → id of each run that was simulated → value."""
    scenarios = {run["run_id"]: run["scenario"] for run in runs}
    rows = []
    for metric, found in values.items():
        each = DEFINITIONS[metric]
        rows += [
            (run, scenarios[run], metric, "x", value, each.unit, 0, 1, each.id)
            for run, value in found.items()
        ]
    return pl.DataFrame(rows, schema=METRICS_SCHEMA, orient="row")


def _found(frame: pl.DataFrame) -> list[tuple[str, str, float | None]]:
    assert frame.schema == METRICS_SCHEMA
    assert set(frame["subject"]) <= {"run"}
    return frame.select("run_id", "metric", "value").rows()


def _buffers(*values: int) -> list[dict[str, Any]]:
    return [_run(f"b{value}", "buffers", buffer_pkts=value) for value in values]


def _rtts(**values: int) -> list[dict[str, Any]]:
    """Buffers and BDPs of this sweep follow from the RTT."""
    return [
        _run(name, "rtt", rtt_ms=rtt, bottleneck_delay_ms=rtt / 2, buffer_pkts=rtt, bdp_pkts=rtt)
        for name, rtt in values.items()
    ]


def _pairs(*names: str) -> list[dict[str, Any]]:
    """Runs of pairs: "A_B" means that A is first, then B."""
    return [
        _run(name, "pairs", protocol=None, protocol_1=name[0], protocol_2=name[2]) for name in names
    ]


ENOUGH, BORDER, LATEST = (
    "min_buffer_90pct",
    "rtt_border_difference",
    "rtt_max_throughput_difference",
)
U, REACHED, MAX, CWND = "utilization", REACHED_METRIC, "time_to_max_throughput", "time_to_max_cwnd"
OF_THREE, OF_RTTS = _buffers(*SWEEP), _rtts(long=220, middle=100, short=20)
OTHERS = [
    *_buffers(40, 200),
    _run("s40", "buffers", protocol="Scalable", buffer_pkts=40),
    _run("s200", "buffers", protocol="Scalable", buffer_pkts=200.0),
    _run("o200", "other", buffer_pkts=200),
]
PLAIN = _run("plain", "single_flow", duration_s=30)
SHORT = _run("short", "single_flow", duration_s=10)
DROPPED = _run("dropped", "single_drop", duration_s=60, drop_packet=20_000)
SCALABLE = _run("other", "single_flow", protocol="Scalable")
ALL_PAIRS = _pairs("A_A", "A_B", "B_A", "B_B")
# Runs, values of those that were simulated, and what is found.
CASES: dict[str, tuple[list[dict[str, Any]], dict[str, dict[str, float | None]], list[Any]]] = {
    "the smallest sufficient buffer": (
        OF_THREE, {U: {"b40": 88.8, "b200": 90.1, "b500": 100}}, [("b200", ENOUGH, 200.0)]),
    "90 % are not more than 90 %": (
        OF_THREE, {U: {"b40": 88.8, "b200": 90.0, "b500": 100}}, [("b500", ENOUGH, 500.0)]),
    "the smallest of all": (
        OF_THREE, {U: {"b40": 90.5, "b200": 99.0, "b500": 100}}, [("b40", ENOUGH, 40.0)]),
    "no buffer of the sweep": (
        OF_THREE, {U: {"b40": 50.0, "b200": 60.0, "b500": 70.0}}, [("b500", ENOUGH, None)]),
    "a buffer without a value": (
        OF_THREE, {U: {"b40": 50.0, "b200": None, "b500": 95.0}}, [("b500", ENOUGH, 500.0)]),
    "a smaller buffer was not simulated": (OF_THREE, {U: {"b40": 88.8, "b500": 100}}, []),
    "whatever the result of a larger one would be": (
        OF_THREE, {U: {"b40": 91.0, "b500": 100}}, [("b40", ENOUGH, 40.0)]),
    "one buffer is no sweep": (_buffers(40), {U: {"b40": 50.0}}, []),
    "protocols and scenarios have sweeps of their own": (
        OTHERS, {U: {"b40": 80.0, "b200": 95.0, "s40": 91.0, "s200": 99.0, "o200": 99.0}},
        [("b200", ENOUGH, 200.0), ("s40", ENOUGH, 40.0)]),
    "runs that are not in the plan": ([], {}, []),
    "border RTTs": (
        OF_RTTS, {REACHED: {"long": 33.5, "middle": 50.0, "short": 2.5}}, [("long", BORDER, 31.0)]),
    "the smallest RTT never gets there, so the next larger one counts": (
        OF_RTTS, {REACHED: {"long": 33.7, "middle": 50.0, "short": None}},
        [("long", BORDER, pytest.approx(-16.3))]),
    "the largest RTT never gets there": (
        OF_RTTS, {REACHED: {"long": None, "middle": 50.0, "short": 2.7}}, [("long", BORDER, None)]),
    "no RTT gets there": (
        OF_RTTS, {REACHED: dict.fromkeys(("long", "middle", "short"))},
        [("long", BORDER, None)]),
    "a smaller RTT that was not simulated might have got there": (
        OF_RTTS, {REACHED: {"long": 33.7, "short": None}}, []),
    "without a border run there is no difference": (
        OF_RTTS, {REACHED: {"long": 33.7, "middle": 2.7}}, []),
    "the largest throughput has the same borders": (
        OF_RTTS, {REACHED: {"long": 11.0, "middle": 2.1, "short": None},
                  MAX: {"long": 21.0, "middle": 3.0, "short": 9.0}},
        [("long", BORDER, pytest.approx(8.9)), ("long", LATEST, 18.0)]),
    "a drop is compared with the run without it": (
        [PLAIN, DROPPED, SCALABLE], {CWND: {"plain": 19.0, "dropped": 53.0, "other": 16.74}},
        [("dropped", "drop_delay", 34.0)]),
    "a run too short to see the peak gives way to a longer one": (
        [SHORT, PLAIN, DROPPED], {CWND: {"short": None, "plain": 19.0, "dropped": 53.0}},
        [("dropped", "drop_delay", 34.0)]),
    "a drop alone has no delay": ([DROPPED], {CWND: {"dropped": 53.0}}, []),
    "a drop delays 90 per cent, too": (
        [PLAIN, DROPPED], {"time_to_90pct_cwnd": {"plain": 9.5, "dropped": 3.0},
                           "time_to_90pct_cwnd_after_drop": {"dropped": 30.75}},
        [("dropped", "drop_delay_90pct", 21.25)]),
    # Regions 1, 3, 5 and 2; a pair of equals counts for both flows: 2 · 1 + 3 + 5, 3 + 5 + 2 · 2.
    "points are regions summed over all pairs": (
        ALL_PAIRS, {"asymmetry": {"A_A": 0.1, "A_B": -0.5, "B_A": 0.9, "B_B": 0.3}},
        [("A_A", "fairness_points", 10.0), ("B_B", "fairness_points", 12.0)]),
    "points need all pairs": (
        _pairs("A_A", "A_B", "B_B"), {"asymmetry": {"A_A": 0.1, "A_B": -0.5, "B_B": 0.3}}, []),
    "points need all values": (
        ALL_PAIRS, {"asymmetry": {"A_A": 0.1, "A_B": -0.5, "B_A": None, "B_B": 0.3}}, []),
    "points need two protocols": (_pairs("A_A"), {"asymmetry": {"A_A": 0.1}}, []),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_is_found_of_runs_that_belong_together(name: str) -> None:
    runs, values, expected = CASES[name]
    metrics = _metrics(values, runs)
    assert _found(measure_groups(metrics, reversed(runs))) == expected
    assert _found(measure_groups(metrics, [])) == []


def test_the_study_may_sweep_more_than_the_tier_does() -> None:
    runs = _buffers(40, 500)
    metrics = _metrics({U: {"b40": 88.8, "b500": 100}}, runs)
    assert _found(measure_groups(metrics, runs, {"buffers": {"buffer_pkts": SWEEP}})) == []
    assert _found(measure_groups(metrics, runs)) == [("b500", ENOUGH, 500.0)]


def test_a_sweep_of_words_is_refused() -> None:
    runs = [_run("a", "buffers", buffer_pkts="large"), _run("b", "buffers", buffer_pkts=40)]
    with pytest.raises(BdpbenchError, match="parameter buffer_pkts is 'large'"):
        measure_groups(_metrics({U: {"a": 1.0, "b": 2.0}}, runs), runs)


def _shares(runs: list[dict[str, Any]], shares: list[list[float]]) -> pl.DataFrame:
    """fair_share_ratio of each flow of each run."""
    definition = DEFINITIONS["fair_share_ratio"]
    rows = [
        (run["run_id"], "one", "fair_share_ratio", f"flow:{flow}", share, "1", 0, 1, definition.id)
        for run, found in zip(runs, shares, strict=True)
        for flow, share in enumerate(found)
    ]
    return pl.DataFrame(rows, schema=METRICS_SCHEMA, orient="row")


def _of_means(shares: pl.DataFrame, runs: list[dict[str, Any]]) -> list[float]:
    found = measure_groups(shares, runs, definitions=REPETITIONS)
    return found.filter(metric="repeated_max_min_jain_index")["value"].to_list()


def test_flows_that_take_turns_are_equal_over_repetitions() -> None:
    runs = [_run(f"r{number}", "one", substream=number) for number in (1, 2)]
    swapped = _shares(runs, [[1.0, 0.5], [0.5, 1.0]])  # 0.9 in either run
    assert _of_means(swapped, runs) == [1.0]
    # Means of 1 and 0: (1 + 0)^2/(2 (1 + 0)).
    ahead = _shares(runs, [[1.5, 0.0], [0.5, 0.0]])
    assert _of_means(ahead, runs) == [0.5]


def test_the_mean_over_repetitions_needs_all_of_them() -> None:
    runs = [_run(f"r{number}", "one", substream=number) for number in (1, 2)]
    metrics = _metrics({"flows_utilization": {"r1": 90.0, "r2": 95.0}}, runs)
    other = _run("r3", "one", substream=1, protocol="BIC")  # of which there is one alone
    found = measure_groups(metrics, [*runs, other], definitions=REPETITIONS)
    assert _found(found) == [("r1", "repeated_flows_utilization", 92.5)]
    missing = measure_groups(
        metrics.filter(pl.col("run_id") != "r2"), runs, definitions=REPETITIONS
    )
    assert _found(missing) == []
