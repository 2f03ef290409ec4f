"""Metrics of runs with a few samples, worked out by hand in the comments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from tests.pipeline.metrics.conftest import SAW_TOOTH

from bdpbench.errors import BdpbenchError
from bdpbench.metrics import DEFINITIONS, METRICS_SCHEMA, measure_run

Measure = Callable[..., dict[tuple[str, str], Any]]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("time_to_90pct_cwnd", 3.0),
        ("time_to_max_cwnd", 4.0),  # the first full peak, not the largest one
        ("first_cut_time", 1.0),  # the peak at 500
        ("first_full_peak", 1000.0),
        ("later_cut_ratio", 0.76),  # median of 0.5, 0.8 and 722/950 = 0.76
        ("recovery_time", 1.5),  # 6.5 → 8; the cut at 4.5 s belongs to the first full peak
        # 900, 720, 950, 722 and 800, with mean 818.4; the sum of their squared deviations is
        # 43,291.2
        ("cwnd_variation", (43291.2 / 5) ** 0.5 / 818.4),
        ("max_cwnd", 1000.0),
    ],
)
def test_metrics_of_cwnd(
    saw_tooth: dict[str, pl.LazyFrame], measure: Measure, metric: str, expected: float
) -> None:
    assert measure(saw_tooth)[metric, "flow:0"] == pytest.approx(expected)


def test_a_flow_without_losses_is_at_its_top_when_it_settles(build: Any, measure: Measure) -> None:
    samples = [(0.0, 1), (4.0, 980), (4.1, 990), (5.0, 1000), (8.0, 1000), (10.0, 1000)]
    settled = {"cwnd": build.table({0: build.cwnd(samples)})}
    assert measure(settled)["time_to_max_cwnd", "flow:0"] == 4.1  # 99 % of 1,000
    # The last quarter, from 7.5 s on, is still rising.
    rising = {"cwnd": build.table({0: build.cwnd([*samples[:-1], (10.0, 1100)])})}
    assert measure(rising)["time_to_max_cwnd", "flow:0"] is None
    # Constant, but below 90 % of the BDP.
    low = {"cwnd": build.table({0: build.cwnd([(0.0, 1), (8.0, 700), (10.0, 700)])})}
    assert measure(low)["time_to_max_cwnd", "flow:0"] is None


@pytest.mark.parametrize(("buffer_pkts", "expected"), [(100, 2.5), (120, None)])
def test_the_first_recovery_ends_at_a_peak_that_nearly_fills_path_and_buffer(
    saw_tooth: dict[str, pl.LazyFrame], measure: Measure, buffer_pkts: int, expected: float | None
) -> None:
    # 90 % of 1,100 and 1,120 are 990 and 1,008; the peak of 1,000 is 2.5 s after the first cut.
    values = measure(saw_tooth, "xu2004", buffer_pkts=buffer_pkts)
    assert values["first_recovery_time", "flow:0"] == expected


def test_a_flow_that_never_gets_there_has_no_times(build: Any, measure: Measure) -> None:
    values = measure({"cwnd": build.table({0: build.cwnd([(0.0, 1), (10.0, 1)])})})
    assert values.pop(("max_cwnd", "flow:0")) == 1.0
    assert values.pop(("cwnd_variation", "flow:0")) == 0.0
    assert set(values.values()) == {None}


def test_metrics_of_the_link(build: Any, measure: Measure) -> None:
    mbps = [50, 95, 99, 60, 80, 70, 90, 100, 100, 100]
    values = measure({"utilization": build.table({"bottleneck": build.bins(mbps)})})
    link = "link:bottleneck"
    assert values["time_to_90pct_utilization", link] == 2.0
    assert values["max_throughput", link] == 100.0
    assert values["utilization", link] == 92.0  # (70 + 90 + 100 + 100 + 100)/5 of 100 Mbit/s


def test_metrics_of_the_queue(build: Any, measure: Measure) -> None:
    queue = build.queue([0, 0, 0, 9, 0, 7, 5, 0, 6, 8])
    values = measure({"queue": build.table({"b": queue})})
    assert values["queue_empty_share", "link:b"] == 0.2  # of 7, 5, 0, 6, 8
    assert values["mean_queue", "link:b"] == 5.2


def test_fairness(build: Any, measure: Measure) -> None:
    # Second half: 90 and 30.
    first = build.bins([99, 99, 90, 90, 90, 90, 90, 90, 90, 90])
    second = build.bins([0, 0, 70, 70, 70, 30, 30, 30, 30, 30])
    tables = {"throughput": build.table({1: second, 0: first})}
    values = measure(tables)
    assert values["mean_throughput", "flow:0"] == 90
    assert values["mean_throughput", "flow:1"] == 30
    assert values["asymmetry", "run"] == 0.5  # 60/120
    assert values["jain_index", "run"] == pytest.approx(0.8)  # 120²/(2 · 9,000)


def test_one_flow_shares_with_nobody_and_three_have_no_asymmetry(
    build: Any, measure: Measure
) -> None:
    bins = build.bins([10] * 10)
    one = measure({"throughput": build.table({0: bins})})
    three = measure({"throughput": build.table({0: bins, 1: bins, 2: bins})})
    assert {metric for metric, subject in one if subject == "run"} == set()
    assert {metric for metric, subject in three if subject == "run"} == {
        "jain_index",
        "min_max_throughput_ratio",
        "time_to_converge",
        "total_throughput",
    }


def test_flows_without_packets_are_null_not_a_crash(build: Any, measure: Measure) -> None:
    idle = build.bins([0] * 10)
    values = measure({"throughput": build.table({0: idle, 1: idle})})
    assert values["mean_throughput", "flow:0"] == 0
    for metric in ("asymmetry", "jain_index"):
        assert values[metric, "run"] is None


def test_rows_say_what_they_are(build: Any, saw_tooth: dict[str, pl.LazyFrame]) -> None:
    tables = {**saw_tooth, "utilization": build.table({"b": build.bins([100] * 10)})}
    parameters = {"duration_s": 10, "bottleneck_mbps": 100, "rtt_ms": 100, "bdp_pkts": 1000}
    frame = measure_run(parameters, tables, run_id="abc", scenario="single")
    assert frame.schema == METRICS_SCHEMA
    assert set(frame["run_id"]) == {"abc"}
    assert set(frame["scenario"]) == {"single"}
    for row in frame.iter_rows(named=True):
        definition = DEFINITIONS[row["metric"]]
        assert (row["unit"], row["definition"]) == (definition.unit, definition.id)
        assert row["subject"].split(":")[0] == definition.subject
        half = row["metric"] in {"utilization", "cwnd_variation"}
        assert (row["start_s"], row["end_s"]) == ((5.0 if half else 0.0), 10.0)


def test_tables_without_metrics_are_left_alone(measure: Measure) -> None:
    assert measure({"packets": pl.LazyFrame({"event": ["r"]})}) == {}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"bdp_pkts": "large"}, "run r: parameter bdp_pkts is 'large': its metrics need a number"),
        ({"rtt_1_ms": -1}, "parameter rtt_1_ms is -1: expected more than 0"),
        ({"rtt_ms": "fast"}, "parameter rtt_ms is 'fast'"),
        ({"duration_s": 0}, "parameter duration_s is 0: expected more than 0"),
        ({"duration_s": 12}, "table cwnd of flow 0 ends at 10 s, the run lasts 12 s"),
    ],
)
def test_parameters_that_do_not_fit_are_told(
    saw_tooth: dict[str, pl.LazyFrame], measure: Measure, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(BdpbenchError, match=said):
        measure(saw_tooth, **changes)


def test_the_last_sample_may_be_one_interval_before_the_end(build: Any, measure: Measure) -> None:
    cwnd = build.cwnd([(0.0, 1), (4.0, 2), (8.0, 3)])
    values = measure({"cwnd": build.table({0: cwnd})}, duration_s=12)  # when the next would be
    assert values["max_cwnd", "flow:0"] == 3.0


def test_a_run_of_fifty_thousand_samples_is_measured(build: Any, measure: Measure) -> None:
    """500 s of cwnd at intervals of 0.01 s."""
    # Teeth that rise from 500 to 1,000 packets in 10 s, for 500 s.
    cwnd = build.cwnd([(index / 100, 500 + (index % 1000) / 2) for index in range(50_001)])
    tables = {
        "cwnd": build.table({0: cwnd}),
        "queue": build.table({"b": build.queue(range(500))}),
        "utilization": build.table({"b": build.bins([622.0] * 500)}),
        "throughput": build.table({0: build.bins([622.0] * 500)}),
    }
    values = measure(tables, duration_s=500)
    assert values["recovery_time", "flow:0"] == pytest.approx(9.99)  # from 20 s to 29.99 s


def test_a_point_of_a_response_function(build: Any, measure: Measure) -> None:
    # Cuts at 2 s, and at 6 s and 8 s, which are in the second half, (5, 10] s.
    points = [(0.0, 100), (2.0, 50), (6.0, 40), (8.0, 30), (10.0, 31)]
    tables = {
        "cwnd": build.table({0: build.cwnd(points)}),
        "throughput": build.table({0: build.bins([8.0] * 10)}),
    }
    values = measure(tables, packet_bytes=1000)
    # 8 Mbit/s of 1,000 bytes are 1,000 packets a second: 2 cuts in 5,000.
    assert values["loss_event_rate", "flow:0"] == pytest.approx(2 / 5000)
    assert 30 <= (values["mean_cwnd", "flow:0"] or 0) <= 50
    assert values["mean_cut_share", "flow:0"] == pytest.approx((10 / 50 + 10 / 40) / 2)
    silent = {**tables, "throughput": build.table({0: build.bins([0.0] * 10)})}
    assert measure(silent, packet_bytes=1000)["loss_event_rate", "flow:0"] is None


def test_growth_between_cuts_in_packets(build: Any, measure: Measure) -> None:
    # From 10 packets at 6.1 s to 28 at 7.9 s, in 18 RTTs of 100 ms.
    rise = [(6.1 + 0.1 * i, 10.0 + i) for i in range(19)]
    points = [(0.0, 20.0), (6.0, 20.0), *rise, (8.0, 14.0), (10.0, 14.0)]
    tables = {
        "cwnd": build.table({0: build.cwnd(points)}),
        "throughput": build.table({0: build.bins([8.0] * 10)}),
    }
    values = measure(tables, packet_bytes=1000)
    assert values["packets_added_per_rtt", "flow:0"] == pytest.approx(1.0)
    assert values["mean_cut_share", "flow:0"] == pytest.approx(0.5)


def test_a_metric_without_its_parameter_or_table_is_absent(
    saw_tooth: dict[str, pl.LazyFrame], measure: Measure
) -> None:
    without = measure(saw_tooth, bdp_pkts=None)
    assert ("time_to_90pct_cwnd", "flow:0") not in without
    assert without["first_cut_time", "flow:0"] == 1.0  # needs no BDP
    assert measure(saw_tooth, rtt_ms=None).keys() == {
        ("time_to_90pct_cwnd", "flow:0"),  # needs an RTT, by which cuts are told apart
        ("max_cwnd", "flow:0"),
        ("cwnd_variation", "flow:0"),
    }
    assert {metric for metric, _ in measure({})} == set()


def test_rows_stand_by_series_then_flow_then_metric(build: Any, measure: Measure) -> None:
    cwnd = build.cwnd(SAW_TOOTH)
    bins = build.bins([10] * 10)
    flows = dict.fromkeys([10, 2], cwnd)
    tables = {"throughput": build.table({0: bins}), "cwnd": build.table(flows)}
    keys = list(measure(tables))
    of_cwnd = [each for each in keys if each[1] in ("flow:2", "flow:10")]
    assert of_cwnd == keys[: len(of_cwnd)]
    assert [subject for _, subject in of_cwnd] == sorted(
        (subject for _, subject in of_cwnd), key=["flow:2", "flow:10"].index
    )
