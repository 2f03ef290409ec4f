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


def _metrics(metric: str, runs: list[dict[str, Any]], values: list[float | None]) -> pl.DataFrame:
    definition = DEFINITIONS[metric]
    rows = [
        (run["run_id"], run["scenario"], metric, "x", value, definition.unit, 0, 1, definition.id)
        for run, value in zip(runs, values, strict=True)
    ]
    return pl.DataFrame(rows, schema=METRICS_SCHEMA, orient="row")


def _found(frame: pl.DataFrame) -> list[tuple[str, str, float | None]]:
    assert frame.schema == METRICS_SCHEMA
    assert set(frame["subject"]) <= {"run"}
    return frame.select("run_id", "metric", "value").rows()


def _buffers(*values: int) -> list[dict[str, Any]]:
    return [_run(f"b{value}", "buffers", buffer_pkts=value) for value in values]


@pytest.mark.parametrize(
    ("utilization", "expected"),
    [
        ([88.8, 90.1, 100], ("b200", 200.0)),
        ([88.8, 90.0, 100], ("b500", 500.0)),  # more than 90 % only there
        ([90.5, 99.0, 100], ("b40", 40.0)),
        ([50.0, 60.0, 70.0], ("b500", None)),  # nowhere in the sweep
        ([50.0, None, 95.0], ("b500", 500.0)),
    ],
)
def test_the_smallest_sufficient_buffer(
    utilization: list[float | None], expected: tuple[str, float | None]
) -> None:
    runs = _buffers(*SWEEP)
    metrics = _metrics("utilization", runs, utilization)
    found = _found(measure_groups(metrics, reversed(runs)))
    assert found == [(expected[0], "min_buffer_90pct", expected[1])]


def test_a_smaller_buffer_that_was_not_simulated_leaves_it_open() -> None:
    runs = _buffers(*SWEEP)
    without_200 = _metrics("utilization", [runs[0], runs[2]], [88.8, 100])
    assert _found(measure_groups(without_200, runs)) == []
    # 40 packets suffice, whatever the result for 200 would be.
    enough = _metrics("utilization", [runs[0], runs[2]], [91.0, 100])
    assert _found(measure_groups(enough, runs)) == [("b40", "min_buffer_90pct", 40.0)]


def test_the_study_may_sweep_more_than_the_tier_does() -> None:
    runs = _buffers(40, 500)
    metrics = _metrics("utilization", runs, [88.8, 100])
    sweeps = {"buffers": {"buffer_pkts": SWEEP}}
    assert _found(measure_groups(metrics, runs, sweeps)) == []
    assert _found(measure_groups(metrics, runs)) == [("b500", "min_buffer_90pct", 500.0)]


def test_one_buffer_is_no_sweep() -> None:
    runs = _buffers(40)
    assert _found(measure_groups(_metrics("utilization", runs, [50.0]), runs)) == []


def test_protocols_and_scenarios_have_sweeps_of_their_own() -> None:
    runs = [
        *_buffers(40, 200),
        _run("s40", "buffers", protocol="Scalable", buffer_pkts=40),
        _run("s200", "buffers", protocol="Scalable", buffer_pkts=200.0),
        _run("o200", "other", buffer_pkts=200),
    ]
    metrics = _metrics("utilization", runs, [80.0, 95.0, 91.0, 99.0, 99.0])
    assert _found(measure_groups(metrics, runs)) == [
        ("b200", "min_buffer_90pct", 200.0),
        ("s40", "min_buffer_90pct", 40.0),
    ]


def _rtts(**values: int) -> list[dict[str, Any]]:
    return [
        _run(name, "rtt", rtt_ms=rtt, bottleneck_delay_ms=rtt / 2, buffer_pkts=rtt, bdp_pkts=rtt)
        for name, rtt in values.items()
    ]


def test_the_border_rtts_are_compared() -> None:
    runs = _rtts(long=220, middle=100, short=20)
    metrics = _metrics(REACHED_METRIC, runs, [33.5, 50.0, 2.5])
    # The buffers and BDPs of this sweep follow from the RTT; utilization was not measured.
    assert _found(measure_groups(metrics, runs)) == [("long", "rtt_border_difference", 31.0)]


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([33.7, 50.0, None], -16.3),  # 20 ms never reaches it, so the next larger RTT counts
        ([None, 50.0, 2.7], None),  # the largest RTT never does
    ],
)
def test_the_smallest_rtt_is_the_smallest_that_gets_there(
    times: list[float | None], expected: float | None
) -> None:
    runs = _rtts(long=220, middle=100, short=20)
    metrics = _metrics(REACHED_METRIC, runs, times)
    ((run_id, metric, value),) = _found(measure_groups(metrics, runs))
    assert (run_id, metric) == ("long", "rtt_border_difference")
    assert value == (None if expected is None else pytest.approx(expected))


def test_with_no_rtt_that_gets_there_nothing_is_compared() -> None:
    runs = _rtts(long=220, middle=100, short=20)
    metrics = _metrics(REACHED_METRIC, runs, [None, None, None])
    assert _found(measure_groups(metrics, runs)) == [("long", "rtt_border_difference", None)]


def test_a_smaller_rtt_that_was_not_simulated_might_have_got_there() -> None:
    runs = _rtts(long=220, middle=60, short=20)
    metrics = _metrics(REACHED_METRIC, [runs[0], runs[2]], [33.7, None])
    assert _found(measure_groups(metrics, runs)) == []


def test_times_to_the_largest_throughput_are_compared_at_the_same_borders() -> None:
    runs = _rtts(long=220, middle=60, short=20)
    metrics = pl.concat(
        [
            _metrics(REACHED_METRIC, runs, [11.0, 2.1, None]),
            _metrics("time_to_max_throughput", runs, [21.0, 3.0, 9.0]),
        ]
    )
    assert _found(measure_groups(metrics, runs)) == [
        ("long", "rtt_border_difference", pytest.approx(8.9)),
        ("long", "rtt_max_throughput_difference", 18.0),
    ]


def test_without_a_border_run_there_is_no_difference() -> None:
    runs = _rtts(long=220, middle=100, short=20)
    metrics = _metrics(REACHED_METRIC, runs[:2], [33.7, 2.7])
    assert _found(measure_groups(metrics, runs)) == []


def test_a_drop_is_compared_with_the_run_without_it() -> None:
    runs = [
        _run("plain", "single_flow", duration_s=30),
        _run("dropped", "single_drop", duration_s=60, drop_packet=20_000),
        _run("other", "single_flow", protocol="Scalable"),
    ]
    metrics = _metrics("time_to_max_cwnd", runs, [19.0, 53.0, 16.74])
    assert _found(measure_groups(metrics, runs)) == [("dropped", "drop_delay", 34.0)]


def test_a_run_too_short_to_see_the_peak_gives_way_to_a_longer_one() -> None:
    runs = [
        _run("short", "single_flow", duration_s=10),
        _run("long", "single_flow", duration_s=30),
        _run("dropped", "single_drop", duration_s=60, drop_packet=20_000),
    ]
    metrics = _metrics("time_to_max_cwnd", runs, [None, 19.0, 53.0])
    assert _found(measure_groups(metrics, runs)) == [("dropped", "drop_delay", 34.0)]


def test_a_drop_delays_90_per_cent_too() -> None:
    runs = [
        _run("plain", "single_flow"),
        _run("dropped", "single_drop", drop_packet=20_000),
    ]
    metrics = pl.concat(
        [
            _metrics("time_to_90pct_cwnd", runs, [9.5, 3.0]),
            _metrics("time_to_90pct_cwnd_after_drop", runs[1:], [30.75]),
        ]
    )
    assert _found(measure_groups(metrics, runs)) == [("dropped", "drop_delay_90pct", 21.25)]


def _pairs(**asymmetries: float | None) -> tuple[list[dict[str, Any]], pl.DataFrame]:
    """Runs of pairs: "A_B" means that A is first, then B."""
    runs = []
    for name in asymmetries:
        first, second = name.split("_")
        parameters = {"protocol": None, "protocol_1": first, "protocol_2": second}
        runs.append(_run(name, "pairs", **parameters))
    return runs, _metrics("asymmetry", runs, list(asymmetries.values()))


def test_points_are_regions_summed_over_all_pairs() -> None:
    # Regions 1, 3, 5 and 2; a pair of equals counts for both flows: 2 · 1 + 3 + 5, 3 + 5 + 2 · 2.
    runs, metrics = _pairs(A_A=0.1, A_B=-0.5, B_A=0.9, B_B=0.3)
    assert _found(measure_groups(metrics, runs)) == [
        ("A_A", "fairness_points", 10.0),
        ("B_B", "fairness_points", 12.0),
    ]


def test_points_need_all_pairs() -> None:
    for runs, metrics in (
        _pairs(A_A=0.1, A_B=-0.5, B_B=0.3),
        _pairs(A_A=0.1, A_B=-0.5, B_A=None, B_B=0.3),
        _pairs(A_A=0.1),
    ):
        assert _found(measure_groups(metrics, runs)) == []


def test_a_drop_alone_has_no_delay() -> None:
    runs = [_run("dropped", "single_drop", drop_packet=20_000)]
    assert _found(measure_groups(_metrics("time_to_max_cwnd", runs, [53.0]), runs)) == []


def test_metrics_of_runs_that_are_not_in_the_plan_are_left_alone() -> None:
    runs = _buffers(*SWEEP)
    assert _found(measure_groups(_metrics("utilization", runs, [1, 95, 99]), [])) == []


def test_no_metrics_give_no_groups() -> None:
    assert _found(measure_groups(pl.DataFrame(schema=METRICS_SCHEMA), _buffers(40))) == []


def test_a_sweep_of_words_is_refused() -> None:
    runs = [_run("a", "buffers", buffer_pkts="large"), _run("b", "buffers", buffer_pkts=40)]
    with pytest.raises(BdpbenchError, match="parameter buffer_pkts is 'large'"):
        measure_groups(_metrics("utilization", runs, [1.0, 2.0]), runs)


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
    metrics = _metrics("flows_utilization", runs, [90.0, 95.0])
    other = _run("r3", "one", substream=1, protocol="BIC")  # of which there is one alone
    found = measure_groups(metrics, [*runs, other], definitions=REPETITIONS)
    assert _found(found) == [("r1", "repeated_flows_utilization", 92.5)]
    missing = measure_groups(
        metrics.filter(pl.col("run_id") != "r2"), runs, definitions=REPETITIONS
    )
    assert _found(missing) == []
