"""Metrics of this study alone, for series that can be checked by hand."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from tests.pipeline.metrics.conftest import SAW_TOOTH, Build, measured

FLOW, LINK = "flow:0", "link:b"
measure = partial(measured, study="sharma2006")


def of_cwnd(metric: str, samples: list[tuple[float, float]], **changes: Any) -> float | None:
    """A metric of a run that is as long as its only flow's cwnd."""
    tables = {"cwnd": Build.table({0: Build.cwnd(samples)})}
    return measure(tables, duration_s=samples[-1][0], drop_packet=20, **changes)[metric, FLOW]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("time_to_90pct_cwnd_after_drop", 3.0),
        ("second_full_peak", 900.0),
        ("first_cut_ratio", 0.5),
        ("second_cut_ratio", 0.5),  # 1,000 → 500
        # 720 → 950 from 6.5 to 8 s, fifteen RTTs
        ("growth_per_rtt", 100 * ((950 / 720) ** (1 / 15) - 1)),
        ("time_back_to_first_peak", 1.5),  # 475 packets: 1.5 → 3
        ("plateau_time", 1.5),  # 525 packets: 1.5 → 3
    ],
)
def test_metrics_of_cwnd(metric: str, expected: float) -> None:
    assert of_cwnd(metric, SAW_TOOTH) == pytest.approx(expected)


def test_a_first_ascent_before_the_drop_does_not_count_as_after_it() -> None:
    samples = [(1.0, 950), (2.0, 475), (5.0, 900), (10.0, 901)]
    assert of_cwnd("time_to_90pct_cwnd", samples) == 1.0
    assert of_cwnd("time_to_90pct_cwnd_after_drop", samples) == 5.0
    tables = {"cwnd": Build.table({0: Build.cwnd(samples)})}
    assert ("time_to_90pct_cwnd_after_drop", FLOW) not in measure(tables)  # without a drop


def test_back_at_the_first_peak_means_within_five_per_cent() -> None:
    samples = [(1.0, 100.0), (2.0, 50.0), (3.0, 94.9), (4.0, 95.0)]
    assert of_cwnd("time_back_to_first_peak", samples) == 4.0 - 2.0
    assert of_cwnd("time_back_to_first_peak", samples[:-1]) is None


def test_a_plateau_lasts_until_cwnd_is_clear_of_its_peak() -> None:
    # 5 % above a peak of 100 is 105.
    samples = [(0.0, 50.0), (1.0, 100.0), (2.0, 80.0), (5.0, 104.9), (6.0, 105.0), (7.0, 60.0)]
    assert of_cwnd("plateau_time", samples) == 6.0 - 2.0
    assert of_cwnd("plateau_time", samples[:-2]) is None
    assert of_cwnd("plateau_time", samples[:2]) is None  # no cut


def test_growth_is_per_round_trip_and_compound() -> None:
    # The full peak is 200; later 100 → 121 in 2 s, two RTTs of 1 s, is 10 % each.
    samples = [(0.0, 200.0), (1.0, 100.0), (3.0, 150.0), (4.0, 100.0), (6.0, 121.0), (7.0, 100.0)]
    growth = of_cwnd("growth_per_rtt", samples, rtt_ms=1000, bdp_pkts=200)
    assert growth == pytest.approx(10.0)
    # No ascent lies between two cuts in turn.
    in_turn = [(0.0, 100.0), (1.0, 80.0), (2.0, 60.0), (3.0, 60.0)]
    assert of_cwnd("growth_per_rtt", in_turn, rtt_ms=500, bdp_pkts=100) is None


@pytest.mark.parametrize(
    ("mbps", "expected"),
    [
        ([50, 90, 95, 50, 60, 90], 6.0),  # 50 and 60: 2 s below
        ([90, 50, 90, 50, 50, 90, 50], 1.0),  # 1 s below, although a longer time below follows
        ([90, 50, 50, 90, 50, 50, 90], 7.0),  # the end of the run is not a fall below
        ([90, 50, 50], None),  # but the time below at the end counts
        ([50, 60, 80], None),
    ],
)
def test_a_level_is_kept_if_the_next_time_below_it_is_short(
    mbps: list[float], expected: float | None
) -> None:
    tables = {"utilization": Build.table({"b": Build.bins(mbps)})}
    values = measure(tables, duration_s=len(mbps))
    assert values["time_to_90pct_utilization_kept", LINK] == expected


def test_variation_of_the_queue() -> None:
    tables = {"queue": Build.table({"b": Build.queue([0, 0, 0, 9, 0, 7, 5, 0, 6, 8])})}
    # Mean 5.2; squares 3.24 + 0.04 + 27.04 + 0.64 + 7.84 = 38.8; sqrt(38.8/5)/5.2
    assert measure(tables)["queue_variation", LINK] == pytest.approx(0.53571, abs=1e-5)


def test_flows_share_from_the_second_one_s_start_on() -> None:
    # From 2 s on: (8 · 90)/8 = 90 and (3 · 70 + 5 · 30)/8 = 45.
    first = Build.bins([99, 99, 90, 90, 90, 90, 90, 90, 90, 90])
    second = Build.bins([0, 0, 70, 70, 70, 30, 30, 30, 30, 30])
    values = measure({"throughput": Build.table({1: second, 0: first})}, flow2_start_s=2)
    assert values["asymmetry_from_flow2_start", "run"] == pytest.approx(1 / 3)  # 45/135
    assert values["convergence_time", "run"] is None  # eight seconds contain no window of ten
    # 13 against 7 gives |A| = 6/20 = 0.3; the first ten seconds of that end at 13 s.
    rates = {0: Build.bins([20, 20, 20, *[13] * 17]), 1: Build.bins([0, 0, 0, *[7] * 17])}
    values = measure({"throughput": Build.table(rates)}, flow2_start_s=2, duration_s=20)
    assert values["convergence_time", "run"] == 11.0
    idle = Build.bins([0] * 10)
    values = measure({"throughput": Build.table({0: idle, 1: idle})}, flow2_start_s=5)
    assert values["asymmetry_from_flow2_start", "run"] is None
    assert values["convergence_time", "run"] is None


def kept(windows: list[float]) -> float | None:
    """The crossing that lasts of one flow, whose cwnd is sampled every 0.25 s."""
    samples = [(0.25 * i, window) for i, window in enumerate(windows)]
    return of_cwnd("time_to_90pct_cwnd_after_drop_kept", samples, bdp_pkts=100)


# The window is full before the drop, which does not count; the drop leaves half of it.
BEFORE = [95.0] * 8 + [50.0] * 4


@pytest.mark.parametrize(
    ("after", "start_s"),
    [
        ([90.0] * 6, 3.0),
        # Five samples last 1 s, six 1.25 s.
        ([90.0] * 5 + [88.0] + [90.0] * 6, 4.5),
        ([90.0] * 5 + [88.0] * 6, None),
        ([89.0] * 12, None),
    ],
)
def test_a_stay_of_less_than_1_25_s_is_no_crossing_that_lasts(
    after: list[float], start_s: float | None
) -> None:
    assert kept(BEFORE + after) == start_s


def test_without_a_cut_there_is_none() -> None:
    assert kept([95.0] * 20) is None


def test_the_rtt_of_a_flow_decides_what_one_cut_is() -> None:
    two_falls = Build.cwnd([(0.0, 100), (1.0, 80), (1.15, 60), (10.0, 61)])
    tables = {"cwnd": Build.table({0: two_falls, 1: two_falls})}
    values = measure(tables, rtt_1_ms=100, rtt_2_ms=200)
    assert values["first_cut_ratio", "flow:0"] == 0.8  # 0.15 s is more than 100 ms
    assert values["first_cut_ratio", "flow:1"] == 0.6  # and less than 200 ms


@pytest.mark.parametrize(("mbps", "expected"), [([197.9, 198, 200], 2.0), ([0, 0], None)])
def test_the_largest_throughput_is_that_of_a_second(mbps: list[float], expected: float) -> None:
    tables = {"throughput": Build.table({0: Build.bins(mbps)})}
    assert measure(tables, duration_s=len(mbps))["time_to_max_throughput", FLOW] == expected
