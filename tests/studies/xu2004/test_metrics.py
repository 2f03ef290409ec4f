"""Metrics of the first slow start, the first rise and acknowledged data, worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import polars as pl
import pytest
from tests.pipeline.metrics.conftest import SAW_TOOTH, Build, Values, measured

Measure = Callable[..., Values]

FLOW, LINK = "flow:0", "link:bottleneck"


def numbers(table: str, samples: list[tuple[float, int]], flow: int = 0) -> pl.LazyFrame:
    column = {"sequence": "seq", "acknowledged": "ack"}[table]
    frame = pl.DataFrame(samples, schema={"time_s": pl.Float64, column: pl.Int64}, orient="row")
    return frame.with_columns(pl.lit(flow, dtype=pl.Int32).alias("flow")).lazy()


def drops(samples: list[tuple[float, int]]) -> pl.LazyFrame:
    frame = pl.DataFrame(
        samples, schema={"time_s": pl.Float64, "drops": pl.Int64}, orient="row"
    ).with_columns(pkts=pl.lit(0, dtype=pl.Int64), link=pl.lit("bottleneck"))
    return frame.lazy()


def threshold(samples: list[tuple[float, float]], flow: int = 0) -> pl.LazyFrame:
    schema = {"time_s": pl.Float64, "ssthresh_pkts": pl.Float64}
    frame = pl.DataFrame(samples, schema=schema, orient="row")
    return frame.with_columns(pl.lit(flow, dtype=pl.Int32).alias("flow")).lazy()


@pytest.fixture
def build() -> type[Build]:
    return Build


@pytest.fixture
def measure() -> Measure:
    return partial(measured, study="xu2004")


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("first_cut_after", 250.0),
        ("first_recovery_time", 2.5),  # 1.5 → 4, the first full peak
        ("full_peak_interval", 2.0),  # 4 → 6
        ("congestion_time", 0.5),  # 4 → 4.5, the only cut before the full peak at 6
        ("first_full_cut_ratio", 0.5),  # 1,000 → 500
    ],
)
def test_metrics_of_cwnd(measure: Measure, metric: str, expected: float) -> None:
    saw_tooth = {"cwnd": Build.table({0: Build.cwnd(SAW_TOOTH)})}
    assert measure(saw_tooth)[metric, FLOW] == pytest.approx(expected)


@pytest.fixture
def slow_start(build: Any) -> dict[str, pl.LazyFrame]:
    """A flow that sets its ssthresh to 455 packets, because of a loss, between 2 and 3 s.

    It was also set to 300 at 1 s, with only 1 packet in flight before, which is not a loss.
    """
    cwnd = [(0.0, 1), (1.0, 256), (2.0, 512), (3.0, 455), (10.0, 460)]
    return {
        "cwnd": build.table({0: build.cwnd(cwnd)}),
        "ssthresh": threshold([(0.0, 40000), (1.0, 300), (2.0, 300), (3.0, 455), (10.0, 227)]),
        "sequence": numbers("sequence", [(0.0, 0), (1.0, 510), (2.0, 1022), (10.0, 1821)]),
        "queue": drops([(0.0, 0), (1.0, 0), (2.0, 57), (3.0, 257), (10.0, 257)]),
    }


def test_slow_start_ends_with_the_sample_before_a_loss_sets_ssthresh(
    slow_start: dict[str, pl.LazyFrame], measure: Measure
) -> None:
    values = measure(slow_start)
    assert values["slow_start_end", FLOW] == 2.0
    assert values["first_ssthresh", FLOW] == 455.0
    # Packets 0 to 1,022 make 1,023; 57 of them had been dropped by 2 s.
    assert values["loss_rate_in_slow_start", FLOW] == pytest.approx(100 * 57 / 1023)


def test_the_first_rise_begins_at_what_all_losses_before_it_have_left(
    build: Any, measure: Measure
) -> None:
    # Losses at 2 and 3 s, then a rise to 950 of 1,000 packets, which are cut to 475.
    cwnd = [(0.0, 1), (1.0, 512), (2.0, 256), (3.0, 1), (4.0, 41), (8.0, 950), (10.0, 475)]
    after = [(0.0, 40000), (1.0, 40000), (2.0, 256), (3.0, 41), (4.0, 41), (8.0, 41), (10.0, 475)]
    tables = {"cwnd": build.table({0: build.cwnd(cwnd)}), "ssthresh": threshold(after)}
    assert measure(tables)["rise_ssthresh", FLOW] == 41.0
    # Where cwnd comes to rest without a peak, as Vegas's does, the last ssthresh counts.
    tables["cwnd"] = build.table({0: build.cwnd([*cwnd[:5], (8.0, 950), (10.0, 950)])})
    assert measure(tables)["rise_ssthresh", FLOW] == 475.0
    tables["cwnd"] = build.table({0: build.cwnd([*cwnd[:5], (8.0, 45), (10.0, 47)])})
    assert measure(tables)["rise_ssthresh", FLOW] is None


def test_a_flow_that_stays_in_slow_start_has_no_end_of_it(
    slow_start: dict[str, pl.LazyFrame], measure: Measure
) -> None:
    values = measure({**slow_start, "ssthresh": threshold([(0.0, 40000), (10.0, 40000)])})
    for metric in ("slow_start_end", "first_ssthresh", "loss_rate_in_slow_start"):
        assert values[metric, FLOW] is None


def test_a_flow_that_has_sent_nothing_has_no_loss_rate(
    slow_start: dict[str, pl.LazyFrame], measure: Measure
) -> None:
    silent = numbers("sequence", [(0.0, -1), (10.0, -1)])
    assert measure({**slow_start, "sequence": silent})["loss_rate_in_slow_start", FLOW] is None


def test_drops_of_several_flows_are_not_told_apart(
    build: Any, slow_start: dict[str, pl.LazyFrame], measure: Measure
) -> None:
    other = threshold([(0.0, 40000), (2.0, 100), (10.0, 100)], flow=1)
    cwnd = build.cwnd([(0.0, 64), (2.0, 100), (10.0, 108)])
    two = {
        **slow_start,
        "ssthresh": pl.concat([slow_start["ssthresh"], other]),
        "cwnd": build.table({0: cwnd, 1: cwnd}),
    }
    values = measure(two)
    assert ("loss_rate_in_slow_start", FLOW) not in values
    assert values["slow_start_end", "flow:1"] == 0.0


def test_losses_before_the_first_retransmission_come_from_the_trace(measure: Measure) -> None:
    flows = pl.DataFrame(
        {
            "subject": ["flow:0", "acks:0"],
            "kind": ["data", "acks"],
            "started_s": [0.5, 0.6],
            "slow_start_end_s": [0.75, None],
            "slow_start_pkts": [1000, 0],
            "slow_start_drops": [140, 0],
        }
    )
    values = measure({"packet_flows": flows.lazy()})
    assert values["slow_start_duration", FLOW] == pytest.approx(0.25)
    assert values["slow_start_loss_rate", FLOW] == pytest.approx(0.14)
    assert {subject for _, subject in values} == {FLOW}


def test_recovery_ends_where_cwnd_comes_to_rest(build: Any, measure: Measure) -> None:
    # The cut is at 2 s; from 7.5 s on cwnd holds 1,000 packets, 990 of which are there at 6 s.
    rest = [(0.0, 1), (1.0, 100), (2.0, 50), (6.0, 990), (7.0, 1000), (9.0, 1000), (10.0, 1000)]
    values = measure({"cwnd": build.table({0: build.cwnd(rest)})})
    assert values["first_recovery_time", FLOW] == 4.0
    # With a buffer of 200 packets, full means 0.9 of 1,200 packets, more than the peak at 1,079.
    tops = [(0.0, 1), (1.0, 600), (2.0, 300), (4.0, 1079), (5.0, 500), (8.0, 1080), (10.0, 900)]
    values = measure({"cwnd": build.table({0: build.cwnd(tops)})}, buffer_pkts=200)
    assert values["first_recovery_time", FLOW] == 6.0
    # A flow without a full peak after its first one has not recovered.
    once = [(0.0, 1), (1.0, 950), (2.0, 475), (6.0, 700), (8.0, 750), (9.0, 800), (10.0, 850)]
    values = measure({"cwnd": build.table({0: build.cwnd(once)})})
    assert values["first_recovery_time", FLOW] is None


def test_all_cuts_between_two_full_peaks_are_congestion(build: Any, measure: Measure) -> None:
    # Full peaks at 1 and 8 s, with cuts at 1.5, 3 and 4.5 s between them. The cut at 3 s starts
    # from 901 packets, also a full level, but only what the previous cut left.
    cwnd = [(1.0, 1030), (1.5, 901), (2.5, 901), (3.0, 1), (4.0, 500), (4.5, 400), (8.0, 990)]
    cwnd += [(8.5, 866), (10.0, 870)]
    values = measure({"cwnd": build.table({0: build.cwnd(cwnd)})})
    assert values["congestion_time", FLOW] == 3.5
    assert values["full_peak_interval", FLOW] == 7.0


def test_overall_utilization_is_of_the_whole_run(build: Any, measure: Measure) -> None:
    bins = build.bins([0, 0, 0, 0, 0, 100, 100, 100, 100, 50])  # of 100 Mbit/s
    values = measure({"utilization": build.table({"bottleneck": bins})})
    assert values["overall_utilization", LINK] == pytest.approx(45)
    assert values["utilization", LINK] == pytest.approx(90)


def test_acknowledged_data_of_the_second_half(measure: Measure) -> None:
    acks = numbers("acknowledged", [(0.0, -1), (4.9, 900), (5.0, 999), (7.0, 1500), (10.0, 2249)])
    # 1,250 packets of 1,000 bytes from 5 to 10 s: 10 Mbit in 5 s.
    values = measure({"acknowledged": acks}, packet_bytes=1000)
    assert values["acknowledged_rate", FLOW] == pytest.approx(2)


def test_goodput_of_the_whole_run_begins_with_the_flow(build: Any, measure: Measure) -> None:
    # Samples of packets 0 to 1,249, which are 1,250, from 2 s to 7 s: 10 Mbit in 5 s.
    rows = [(1.0, 99.0), (2.5, 4.0), (7.0, 1249.0)]
    samples = pl.DataFrame(rows, schema=["time_s", "value"], orient="row")
    recorded = samples.with_columns(flow=pl.lit(0, pl.Int32), name=pl.lit("ack_")).lazy()
    tables = {"recorded": recorded, "facts": build.facts({"flow:0": {"start": 2.0}})}
    found = measure(tables, packet_bytes=1000, duration_s=7)
    assert found["overall_goodput", FLOW] == pytest.approx(2)
    assert ("overall_goodput", FLOW) not in measure(
        tables, packet_bytes=1000, duration_s=7, size_1_pkts=1250
    )
