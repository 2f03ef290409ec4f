"""Measures of a single series, checked by hand and against properties that always hold."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bdpbench.metrics.fairness import asymmetry, convergence_time, jain_index
from bdpbench.metrics.flows import recovery_times
from bdpbench.metrics.series import (
    find_cuts,
    first_time_at_least,
    in_window,
    settling_time,
    variation,
)

RTT_S = 0.1
rates = st.floats(0, 1e4, allow_nan=False)


def test_a_window_holds_its_end_and_not_its_start(build: Any) -> None:
    frame = build.bins([1, 2, 3, 4]).filter(in_window(1, 3))
    assert frame["time_s"].to_list() == [2.0, 3.0]


def test_the_level_itself_counts_as_reached(build: Any) -> None:
    bins = build.bins([10, 89.9, 90, 95])
    assert first_time_at_least(bins, "mbps", 90) == 3.0
    assert first_time_at_least(bins, "mbps", 95.1) is None


@pytest.mark.parametrize(
    ("cwnd", "merge_s", "cuts"),
    [
        # 20 → 10 and 15 → 9, each between two samples.
        ([(0, 10), (1, 20), (2, 10), (3, 15), (4, 9)], 0.1, [(1, 20, 2, 10), (3, 15, 4, 9)]),
        ([(0, 100), (1, 95.0)], 0.1, [(0, 100, 1, 95)]),  # exactly 5 % less
        ([(0, 100), (1, 95.1)], 0.1, []),  # 4.9 % less: no variant makes such small cuts
        # 100 → 70 at 0.01 s, 70 → 50 at 0.06 s: one loss event. 60 → 30 at 0.31 s is another.
        ([(0, 100), (0.01, 70), (0.05, 70), (0.06, 50), (0.3, 60), (0.31, 30), (0.4, 31)], 0.1,
         [(0, 100, 0.01, 50), (0.3, 60, 0.31, 30)]),
        ([(0, 100), (0.25, 70), (0.5, 50)], 0.25, [(0, 100, 0.25, 70), (0.25, 70, 0.5, 50)]),
        ([(0, 100), (0.25, 70), (0.5, 50)], 0.26, [(0, 100, 0.25, 50)]),
        ([(0, 100), (1, 1), (2, 2)], 0.1, [(0, 100, 1, 1)]),  # a timeout
    ],
)  # fmt: skip
def test_cuts(build: Any, cwnd: list[Any], merge_s: float, cuts: list[Any]) -> None:
    assert find_cuts(build.cwnd(cwnd), merge_s).rows() == cuts


def test_a_flow_without_losses_or_samples_has_no_cuts(build: Any) -> None:
    for cwnd in (build.cwnd([(0.0, 1), (1.0, 2)]), build.cwnd([])):
        cuts = find_cuts(cwnd, RTT_S)
        assert cuts.is_empty()
        assert recovery_times(cuts).is_empty()


def test_recovery_lasts_from_a_cut_to_the_next_peak(build: Any) -> None:
    cwnd = build.cwnd([(1.0, 20), (2.0, 10), (5.0, 20), (6.0, 10), (8.0, 20), (9.0, 10)])
    # 2 → 5 and 6 → 8; no peak follows the cut at 9
    assert recovery_times(find_cuts(cwnd, RTT_S)).to_list() == [3.0, 2.0]


def test_a_flow_settles_when_it_comes_within_one_per_cent_of_what_it_holds(build: Any) -> None:
    overshoot = [(1.0, 50.0), (2.0, 98.9), (3.0, 99.0), (4.0, 103.0), (5.0, 100.0), (6.0, 100.0)]
    assert settling_time(build.cwnd(overshoot), since_s=4) == 3.0  # 99 % of 100
    assert settling_time(build.cwnd(overshoot), since_s=3) is None  # 103 is 2 % off 101
    assert settling_time(build.cwnd(overshoot), since_s=6) is None  # no samples
    assert settling_time(build.cwnd([(1.0, 0.0), (2.0, 0.0)]), since_s=1) is None
    # 99.2 and 100.8 are within 1 % of their mean of 100.
    assert settling_time(build.cwnd([(1.0, 9.0), (2.0, 99.2), (3.0, 100.8)]), since_s=1) == 2.0


def test_a_straight_saw_tooth_from_half_to_full_varies_by_a_fifth() -> None:
    # (1/2)/sqrt(12) over 3/4, apart from the steps of a tooth of 1,000 samples.
    tooth = pl.Series([500 + each / 2 for each in range(1000)] * 3)
    assert variation(tooth) == pytest.approx(0.19245, abs=1e-3)
    assert variation(pl.Series([7.0, 7.0])) == 0.0
    for values in (pl.Series([], dtype=pl.Float64), pl.Series([0.0, 0.0])):
        assert variation(values) is None


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        # Windows of 2 s from 2 s on, with |A| of at most 0.5: 90 + 90 against 10 + 30 is 0.64, and
        # 90 + 90 against 30 + 30 is 0.5, at 5 s.
        ([0, 0, 10, 30, 30, 90], 3.0),
        ([0, 0, 10, 30, 20, 10], None),
        ([0, 0], None),
    ],
)
def test_flows_have_converged_after_a_fair_window(
    build: Any, second: list[float], expected: float | None
) -> None:
    first = build.bins([90] * len(second))
    found = convergence_time(first, build.bins(second), start_s=2, window_s=2, most=0.5)
    assert found == expected


def test_idle_flows_do_not_converge(build: Any) -> None:
    idle = build.bins([0, 0, 0, 0])
    assert convergence_time(idle, idle, start_s=0, window_s=2, most=0.5) is None


def test_asymmetry_and_jain_index() -> None:
    pairs = [(300.0, 100.0), (0.0, 100.0), (100.0, 100.0), (0.0, 0.0), (None, 100.0)]
    assert [asymmetry(*each) for each in pairs] == [0.5, -1.0, 0.0, None, None]  # 200/400
    rates = [[100.0] * 3, [100.0, 0.0, 0.0, 0.0], [1.0, 3.0], [0.0, 0.0], [1.0, None]]
    # 1/n, and 4²/(2 · 10).
    assert [jain_index(each) for each in rates] == [1.0, 0.25, pytest.approx(0.8), None, None]


@given(rates, rates)
def test_asymmetry_changes_its_sign_with_the_order(first: float, second: float) -> None:
    there, back = asymmetry(first, second), asymmetry(second, first)
    if first + second == 0:
        assert there is back is None
    else:
        assert there is not None
        assert there == -(back or 0.0)
        assert -1 <= there <= 1


@given(st.lists(rates, min_size=1, max_size=8))
def test_jain_index_lies_between_one_nth_and_one(throughputs: list[float]) -> None:
    index = jain_index(throughputs)
    if max(throughputs) == 0:
        assert index is None
    else:
        assert index is not None
        slack = 1e-9  # rounding of sums of eight terms
        assert 1 / len(throughputs) - slack <= index <= 1 + slack


@given(rates, rates)
def test_for_two_flows_jain_index_follows_from_asymmetry(first: float, second: float) -> None:
    """(x1+x2)²/(2(x1²+x2²)) = 1/(1+A²), since x1²+x2² = (x1+x2)²(1+A²)/2."""
    difference, index = asymmetry(first, second), jain_index([first, second])
    if difference is not None:
        assert index == pytest.approx(1 / (1 + difference**2), rel=1e-9)


@given(st.lists(rates, min_size=2, max_size=30), st.data())
def test_neighbouring_windows_split_the_bins(mbps: list[float], data: Any) -> None:
    frame = pl.DataFrame({"time_s": [0.1 * (i + 1) for i in range(len(mbps))], "mbps": mbps})
    cut = data.draw(st.floats(0, 3.1))
    parts = [
        frame.filter(in_window(start, end))["mbps"].to_list() for start, end in ((0, cut), (cut, 4))
    ]
    assert parts[0] + parts[1] == mbps


@given(st.lists(st.floats(1, 1e5), min_size=2, max_size=40), st.floats(0.01, 2))
def test_cuts_come_in_order_and_fall(pkts: list[float], merge_s: float) -> None:
    cwnd = pl.DataFrame({"time_s": [0.01 * i for i in range(len(pkts))], "cwnd_pkts": pkts})
    cuts = find_cuts(cwnd, merge_s)
    falls = [after <= 0.95 * before for before, after in pairwise(pkts)]
    assert cuts.is_empty() == (not any(falls))
    assert (cuts["peak_s"] < cuts["cut_s"]).all()
    starts = cuts["cut_s"].to_list()
    assert all(later - earlier >= merge_s for earlier, later in pairwise(starts))
